// SPDX-License-Identifier: GPL-2.0-only
/* YAML text to nodes and back, through libyaml. */
#include <string.h>
#include <yaml.h>

#include "harness/scenario/node.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

struct reader {
	const char *label;
	yaml_document_t *doc;
	size_t count;
	struct error *err;
};

static int mark_error(struct error *err, const char *label, yaml_mark_t mark, const char *text)
{
	return error_set(err, EXIT_USAGE, "%s:%zu:%zu: %s", label, mark.line + 1, mark.column + 1,
			 text);
}

static size_t characters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* Where column 1 of the text is; 0 where the text is not the source character by character. */
static int text_column(const yaml_node_t *y, const char *text)
{
	int quotes = y->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? 0 : 1;
	size_t wide = y->end_mark.column - y->start_mark.column;

	if (y->start_mark.line != y->end_mark.line || wide != characters(text) + 2 * (size_t)quotes)
		return 0;
	return (int)y->start_mark.column + 1 + quotes;
}

static struct node *convert(struct reader *r, int index, int depth);

static int fill_scalar(struct reader *r, struct node *n, const yaml_node_t *y)
{
	const char *text = (const char *)y->data.scalar.value;

	if (memchr(text, '\0', y->data.scalar.length))
		return mark_error(r->err, r->label, y->start_mark, "a NUL character in the text");
	n->text = xstrndup(text, y->data.scalar.length);
	n->quoted = y->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	n->text_column = text_column(y, n->text);
	return 0;
}

static int fill_list(struct reader *r, struct node *n, const yaml_node_t *y, int depth)
{
	for (yaml_node_item_t *i = y->data.sequence.items.start; i < y->data.sequence.items.top;
	     i++) {
		struct node *value = convert(r, *i, depth + 1);

		if (!value)
			return -1;
		node_add(n, NULL, value);
	}
	return 0;
}

static int add_pair(struct reader *r, struct node *n, struct node *key, int value_index, int depth)
{
	const struct node *same = NULL;
	struct node *value;

	if (key->kind != NODE_SCALAR)
		return node_error(r->err, key, "a key must be a word, not %s", node_kind_name(key));
	if (node_index(n, key->text) >= 0) {
		same = n->key[node_index(n, key->text)];
		return node_error(r->err, key, "\"%s\" is written twice; the first is in line %d",
				  key->text, same->line);
	}
	value = convert(r, value_index, depth + 1);
	if (!value)
		return -1;
	node_add(n, key, value);
	return 0;
}

static int fill_map(struct reader *r, struct node *n, const yaml_node_t *y, int depth)
{
	for (yaml_node_pair_t *p = y->data.mapping.pairs.start; p < y->data.mapping.pairs.top;
	     p++) {
		struct node *key = convert(r, p->key, depth + 1);

		if (!key)
			return -1;
		if (add_pair(r, n, key, p->value, depth) < 0) {
			node_free(key);
			return -1;
		}
	}
	return 0;
}

static bool is_tagged(const yaml_node_t *y)
{
	static const char *const usual[] = { YAML_STR_TAG, YAML_SEQ_TAG, YAML_MAP_TAG };

	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		if (y->tag && strcmp((const char *)y->tag, usual[i]) == 0)
			return false;
	return true;
}

static struct node *convert(struct reader *r, int index, int depth)
{
	cleanup_node struct node *n = NULL;
	const yaml_node_t *y = yaml_document_get_node(r->doc, index);
	enum node_kind kind = y->type == YAML_SCALAR_NODE   ? NODE_SCALAR :
			      y->type == YAML_SEQUENCE_NODE ? NODE_LIST :
							      NODE_MAP;
	int ret;

	if (++r->count > NODE_COUNT_MAX || depth > NODE_DEPTH_MAX) {
		mark_error(r->err, r->label, y->start_mark,
			   depth > NODE_DEPTH_MAX ?
				   "nested too deeply" :
				   "too large, aliases included; split the scenario");
		return NULL;
	}
	if (is_tagged(y)) {
		mark_error(r->err, r->label, y->start_mark,
			   "YAML tags are not used here; leave it out");
		return NULL;
	}
	n = node_new(kind, r->label, (int)y->start_mark.line + 1, (int)y->start_mark.column + 1);
	ret = kind == NODE_SCALAR ? fill_scalar(r, n, y) :
	      kind == NODE_LIST	  ? fill_list(r, n, y, depth) :
				    fill_map(r, n, y, depth);
	return ret < 0 ? NULL : STEAL(n);
}

/* libyaml gives no mark for bytes that are no text, only the offset. */
static yaml_mark_t mark_of_byte(const yaml_parser_t *p)
{
	const unsigned char *c = p->input.string.start, *end = p->input.string.end;
	yaml_mark_t mark = { 0 };

	if ((size_t)(end - c) > p->problem_offset)
		end = c + p->problem_offset;
	for (; c < end; c++) {
		mark.column += (*c & 0xc0) != 0x80;
		if (*c == '\n') {
			mark.line++;
			mark.column = 0;
		}
	}
	return mark;
}

static int parser_error(const yaml_parser_t *p, const char *label, struct error *err)
{
	const char *problem = p->problem ? p->problem : "not readable as YAML";

	if (p->error == YAML_MEMORY_ERROR)
		return error_set(err, EXIT_NO_VERDICT, "%s: out of memory", label);
	if (p->error == YAML_READER_ERROR)
		return mark_error(err, label, mark_of_byte(p), problem);
	return error_set(err, EXIT_USAGE, "%s:%zu:%zu: not valid YAML: %s%s%s", label,
			 p->problem_mark.line + 1, p->problem_mark.column + 1, problem,
			 p->context ? " " : "", p->context ? p->context : "");
}

static int read_first(yaml_parser_t *p, struct reader *r, struct node **root)
{
	const yaml_node_t *top;

	if (!yaml_parser_load(p, r->doc))
		return parser_error(p, r->label, r->err);
	top = yaml_document_get_root_node(r->doc);
	if (top && top->type == YAML_MAPPING_NODE) {
		*root = convert(r, 1, 0);
	} else {
		error_set(r->err, EXIT_USAGE, "%s:%zu:%zu: %s", r->label,
			  top ? top->start_mark.line + 1 : 1, top ? top->start_mark.column + 1 : 1,
			  top ? "a scenario is a map of keys such as name: and workload:" :
				"is empty; a scenario needs at least name: and workload:");
	}
	yaml_document_delete(r->doc);
	return *root ? 0 : -1;
}

static int refuse_second(yaml_parser_t *p, const char *label, struct error *err)
{
	yaml_document_t doc;
	const yaml_node_t *top;
	int ret = 0;

	if (!yaml_parser_load(p, &doc))
		return parser_error(p, label, err);
	top = yaml_document_get_root_node(&doc);
	if (top)
		ret = mark_error(err, label, top->start_mark,
				 "a second document; a file holds one scenario");
	yaml_document_delete(&doc);
	return ret;
}

/*
 * Depth and number of nodes, from the events, before the document is made: libyaml's scanner takes
 * time by the square of the depth of brackets (16 minutes for 1 MiB of them), and its loader by the
 * square of the number of anchors. What is no YAML is left for the loader to report.
 */
static int check_size(yaml_parser_t *p, const char *label, struct error *err)
{
	yaml_event_type_t type = YAML_NO_EVENT;
	size_t count = 0, depth = 0;
	int ret = 0;

	while (ret == 0 && type != YAML_STREAM_END_EVENT) {
		yaml_event_t ev;

		if (!yaml_parser_parse(p, &ev))
			return 0;
		type = ev.type;
		depth += type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT;
		depth -= type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT;
		if (depth > NODE_DEPTH_MAX)
			ret = mark_error(err, label, ev.start_mark, "nested too deeply");
		else if (++count > 2 * NODE_COUNT_MAX)
			ret = mark_error(err, label, ev.start_mark,
					 "too large; split the scenario");
		yaml_event_delete(&ev);
	}
	return ret;
}

static int load(yaml_parser_t *p, struct reader *r, struct node **root)
{
	int ret = read_first(p, r, root);

	if (ret == 0)
		ret = refuse_second(p, r->label, r->err);
	return ret;
}

/* A parser over the text for one of the two passes. */
static int open_parser(yaml_parser_t *p, const char *label, const char *text, size_t len,
		       struct error *err)
{
	if (!yaml_parser_initialize(p))
		return error_set(err, EXIT_NO_VERDICT, "%s: out of memory", label);
	yaml_parser_set_input_string(p, (const unsigned char *)text, len);
	return 0;
}

int node_parse(const char *label, const char *text, size_t len, struct node **root,
	       struct error *err)
{
	yaml_document_t doc;
	struct reader r = { .label = label, .doc = &doc, .err = err };
	yaml_parser_t p;
	int ret;

	*root = NULL;
	if (len > NODE_BYTES_MAX)
		return error_set(err, EXIT_USAGE, "%s: larger than 1 MiB; is it a scenario?",
				 label);
	if (open_parser(&p, label, text, len, err) < 0)
		return -1;
	ret = check_size(&p, label, err);
	yaml_parser_delete(&p);
	if (ret < 0 || open_parser(&p, label, text, len, err) < 0)
		return -1;
	ret = load(&p, &r, root);
	yaml_parser_delete(&p);
	if (ret < 0) {
		node_free(*root);
		*root = NULL;
	}
	return ret;
}

/* ---- back to text ---- */

static int emit_node(yaml_emitter_t *em, const struct node *n);

/* Plain wherever YAML allows, however it was written: what is written again reads the same. */
static int emit_scalar(yaml_emitter_t *em, const struct node *n)
{
	yaml_event_t ev;

	return yaml_scalar_event_initialize(&ev, NULL, NULL, (const yaml_char_t *)n->text,
					    (int)strlen(n->text), 1, 1, YAML_PLAIN_SCALAR_STYLE) &&
	       yaml_emitter_emit(em, &ev);
}

static int emit_children(yaml_emitter_t *em, const struct node *n)
{
	for (size_t i = 0; i < n->n; i++)
		if ((n->key && !emit_node(em, n->key[i])) || !emit_node(em, n->value[i]))
			return 0;
	return 1;
}

static int emit_node(yaml_emitter_t *em, const struct node *n)
{
	yaml_event_t ev;

	if (n->kind == NODE_SCALAR)
		return emit_scalar(em, n);
	if (n->kind == NODE_LIST)
		return yaml_sequence_start_event_initialize(&ev, NULL, NULL, 1,
							    YAML_BLOCK_SEQUENCE_STYLE) &&
		       yaml_emitter_emit(em, &ev) && emit_children(em, n) &&
		       yaml_sequence_end_event_initialize(&ev) && yaml_emitter_emit(em, &ev);
	return yaml_mapping_start_event_initialize(&ev, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE) &&
	       yaml_emitter_emit(em, &ev) && emit_children(em, n) &&
	       yaml_mapping_end_event_initialize(&ev) && yaml_emitter_emit(em, &ev);
}

static int write_strbuf(void *arg, unsigned char *data, size_t len)
{
	strbuf_add(arg, data, len);
	return 1;
}

int node_format(const struct node *root, char **text, struct error *err)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	yaml_emitter_t em;
	yaml_event_t ev;
	int good;

	if (!yaml_emitter_initialize(&em))
		return error_set(err, EXIT_NO_VERDICT, "out of memory");
	yaml_emitter_set_output(&em, write_strbuf, &sb);
	yaml_emitter_set_unicode(&em, 1);
	yaml_emitter_set_width(&em, -1);
	good = yaml_stream_start_event_initialize(&ev, YAML_UTF8_ENCODING) &&
	       yaml_emitter_emit(&em, &ev) &&
	       yaml_document_start_event_initialize(&ev, NULL, NULL, NULL, 1) &&
	       yaml_emitter_emit(&em, &ev) && emit_node(&em, root) &&
	       yaml_document_end_event_initialize(&ev, 1) && yaml_emitter_emit(&em, &ev) &&
	       yaml_stream_end_event_initialize(&ev) && yaml_emitter_emit(&em, &ev);
	yaml_emitter_delete(&em);
	if (!good)
		return error_set(err, EXIT_NO_VERDICT, "%s: cannot be written as YAML",
				 root->label);
	*text = strbuf_steal(&sb);
	return 0;
}
