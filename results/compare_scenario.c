// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the scenarios of run sets differ, key by key: a set keeps its scenario as YAML, as it was
 * expanded.
 */
#include <string.h>
#include <yaml.h>

#include "results/compare_internal.h"
#include "results/util/cleanup.h"

#define KEYS_MAX 10000 /* of one scenario; what goes beyond is not compared */
#define DEPTH_MAX 32

struct keys {
	struct key {
		char *path, *text;
	} * key;
	size_t n;
};

/* What may differ: the kernels, how often, what is shown, and what are axes of their own. */
static bool key_counts(const char *path)
{
	static const char *const alone[] = { "name", "title", "kernel", "runs", "vm.memory", "vm.cpus",
					     "vm.least" };
	static const char *const below[] = { "table.", "metrics.", "vary.", "kernels.", "leave_out." };

	for (size_t i = 0; i < ARRAY_SIZE(alone); i++)
		if (strcmp(path, alone[i]) == 0)
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(below); i++)
		if (str_starts(path, below[i]))
			return false;
	return true;
}

static void keys_add(struct keys *k, const char *path, const char *text)
{
	if (!key_counts(path) || k->n >= KEYS_MAX)
		return;
	k->key = xreallocarray(k->key, k->n + 1, sizeof(*k->key));
	k->key[k->n++] = (struct key){ xstrdup(path), xstrdup(text) };
}

static void walk(yaml_document_t *doc, int index, const char *path, int depth, struct keys *k)
{
	yaml_node_t *node = yaml_document_get_node(doc, index);
	size_t n = 0;

	if (!node || depth > DEPTH_MAX)
		return;
	if (node->type == YAML_SCALAR_NODE) {
		keys_add(k, path, (const char *)node->data.scalar.value);
	} else if (node->type == YAML_SEQUENCE_NODE) {
		for (yaml_node_item_t *i = node->data.sequence.items.start;
		     i < node->data.sequence.items.top; i++) {
			cleanup_free char *sub = str_printf("%s.%zu", path, ++n);

			walk(doc, *i, sub, depth + 1, k);
		}
	} else if (node->type == YAML_MAPPING_NODE) {
		for (yaml_node_pair_t *i = node->data.mapping.pairs.start;
		     i < node->data.mapping.pairs.top; i++) {
			yaml_node_t *key = yaml_document_get_node(doc, i->key);
			cleanup_free char *sub = NULL;

			if (!key || key->type != YAML_SCALAR_NODE)
				continue;
			sub = str_printf("%s%s%s", path, *path ? "." : "",
					 (const char *)key->data.scalar.value);
			walk(doc, i->value, sub, depth + 1, k);
		}
	}
}

static int key_order(const void *a, const void *b)
{
	return strcmp(((const struct key *)a)->path, ((const struct key *)b)->path);
}

/* A text that is no YAML is one key, so that two such sets still differ or do not. */
static void keys_read(const char *text, struct keys *k)
{
	yaml_parser_t parser;
	yaml_document_t doc;

	*k = (struct keys){ 0 };
	if (!text || !yaml_parser_initialize(&parser))
		return;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
	if (yaml_parser_load(&parser, &doc)) {
		yaml_node_t *root = yaml_document_get_root_node(&doc);

		if (root)
			walk(&doc, (int)(root - doc.nodes.start) + 1, "", 0, k);
		yaml_document_delete(&doc);
	} else {
		keys_add(k, "text", text);
	}
	yaml_parser_delete(&parser);
	if (k->n)
		qsort(k->key, k->n, sizeof(*k->key), key_order);
}

static void keys_free(struct keys *k)
{
	for (size_t i = 0; i < k->n; i++) {
		free(k->key[i].path);
		free(k->key[i].text);
	}
	free(k->key);
}

static const char *keys_text(const struct keys *k, const char *path)
{
	const struct key wanted = { (char *)path, NULL };
	const struct key *found = k->n ? bsearch(&wanted, k->key, k->n, sizeof(*k->key), key_order) :
					 NULL;

	return found ? found->text : NULL;
}

struct lookup {
	const struct frame *frame;
	const struct keys *keys; /* [frame] */
	const char *path;
};

static const char *key_value(const void *arg, const struct compare_run *run)
{
	const struct lookup *l = arg;

	return keys_text(&l->keys[run->frame - l->frame], l->path);
}

static bool differs(const struct keys *keys, size_t n, const char *path)
{
	const char *first = keys_text(&keys[0], path);

	for (size_t i = 1; i < n; i++) {
		const char *other = keys_text(&keys[i], path);

		if (!first != !other || (first && strcmp(first, other) != 0))
			return true;
	}
	return false;
}

static bool same_scenario(const struct frame *frame, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (!frame[i].set.scenario || !frame[0].set.scenario ||
		    strcmp(frame[i].set.scenario, frame[0].set.scenario) != 0)
			return false;
	return true;
}

/* Of scenarios with different names every key may differ, and the name says it all. */
void points_add_scenario(struct points *p, const struct frame *frame, size_t nframes)
{
	struct keys *keys;

	if (nframes < 2 || !same_scenario(frame, nframes))
		return;
	keys = xcalloc(nframes, sizeof(*keys));
	for (size_t i = 0; i < nframes; i++)
		keys_read(frame[i].set.scenario_text, &keys[i]);
	for (size_t i = 0; i < nframes; i++)
		for (size_t k = 0; k < keys[i].n; k++) {
			struct lookup l = { frame, keys, keys[i].key[k].path };

			if (!points_find(p, l.path) && differs(keys, nframes, l.path))
				points_add(p, l.path, AXIS_SHARED, key_value, &l);
		}
	for (size_t i = 0; i < nframes; i++)
		keys_free(&keys[i]);
	free(keys);
}
