// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"

static void set_number(struct job_line *line, const char *key, int64_t value)
{
	cleanup_free char *text = str_printf("%" PRId64, value);

	job_line_set(line, key, text);
}

static size_t list_length(const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

static int put_choice(const struct param_spec *p, const struct node *n, struct job_line *line,
		      struct error *err)
{
	cleanup_strbuf struct strbuf known = STRBUF_INIT;
	const char *nearest;

	for (const char *const *c = p->choices; *c; c++) {
		if (strcasecmp(*c, n->text) == 0) { /* zones as the kernel writes them, DMA32 */
			job_line_set(line, p->name, *c);
			return 0;
		}
	}
	nearest = str_nearest(n->text, p->choices, list_length(p->choices));
	for (const char *const *c = p->choices; *c; c++)
		strbuf_addf(&known, "%s%s", c == p->choices ? "" : ", ", *c);
	return node_error(err, n, "unknown value of %s \"%.60s\"; %s%s%sknown are: %s", p->name, n->text,
			  nearest ? "did you mean " : "", nearest ? nearest : "", nearest ? "? " : "",
			  known.data);
}

static int put_bool(const struct param_spec *p, const struct node *n, struct job_line *line,
		    struct error *err)
{
	bool yes = strcmp(n->text, "true") == 0;

	if (!yes && strcmp(n->text, "false") != 0)
		return node_error(err, n, "%s must be true or false", p->name);
	job_line_set(line, p->name, yes ? "1" : "0");
	return 0;
}

static int put_amount_in(const struct env *env, const struct param_spec *p, const char *unit,
			 const struct node *n, struct job_line *line, struct error *err)
{
	cleanup_free char *key = str_printf("%s_unit", p->name);
	bool percent = strcmp(unit, "percent") == 0;
	int64_t value;

	if (env_number(env, n, p->name, percent ? "per cent" : unit, percent ? INT64_MIN : 0, 0, &value, err) < 0)
		return -1;
	/* None, and all, are for the step to judge: of a zone there may be none left. */
	if (percent && (value < 0 || value > 100))
		return env_number(env, n, p->name, "per cent", 1, 99, &value, err);
	job_line_set(line, key, unit);
	set_number(line, p->name, value);
	return 0;
}

static int put_amount_map(const struct env *env, const struct param_spec *p, const struct node *n,
			  struct job_line *line, struct error *err)
{
	static const char *const units[] = AMOUNT_UNITS;
	cleanup_free char *what = str_printf("unit of %s", p->name);

	if (n->n != 1)
		return node_error(err, n->n ? n->key[1] : n,
				  "%s is one of bytes:, percent:, high: and "
				  "blocks:; here are %zu",
				  p->name, n->n);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(units[i], n->key[0]->text) != 0)
			continue;
		if (n->value[0]->kind != NODE_SCALAR || !*n->value[0]->text)
			return node_error(err, n->value[0], "%s must be an expression, not %s",
					  units[i], node_kind_name(n->value[0]));
		return put_amount_in(env, p, units[i], n->value[0], line, err);
	}
	return node_unknown(err, n->key[0], what, units, ARRAY_SIZE(units));
}

/* "5%" is per cent of RAM, all else bytes. */
static int put_amount(const struct env *env, const struct param_spec *p, const struct node *n,
		      struct job_line *line, struct error *err)
{
	cleanup_node struct node *number = NULL;

	if (n->kind == NODE_MAP)
		return put_amount_map(env, p, n, line, err);
	if (!str_ends(n->text, "%"))
		return put_amount_in(env, p, "bytes", n, line, err);
	number = node_scalar(n->label, n->column, n->text, strlen(n->text) - 1);
	number->line = n->line;
	number->text_column = n->text_column;
	return put_amount_in(env, p, "percent", number, line, err);
}

/* What is no plain number before the per cent sign is an expression. */
static int put_share(const struct env *env, const struct param_spec *p, const struct node *n,
		     struct job_line *line, struct error *err)
{
	cleanup_error struct error local = ERROR_INIT;
	cleanup_node struct node *number = NULL;
	int64_t ppm, percent;

	if (read_ppm(n, &ppm, &local) == 0) {
		set_number(line, p->name, ppm);
		return 0;
	}
	if (!str_ends(n->text, "%")) {
		error_move(err, &local);
		return -1;
	}
	number = node_scalar(n->label, n->column, n->text, strlen(n->text) - 1);
	number->line = n->line;
	number->text_column = n->text_column;
	if (env_number(env, number, p->name, "per cent", 0, 100, &percent, err) < 0)
		return -1;
	set_number(line, p->name, percent * 10000);
	return 0;
}

static int put_text(const struct env *env, const struct param_spec *p, const struct node *n,
		    struct job_line *line, struct error *err)
{
	cleanup_free char *text = NULL;

	if (env_template(env, n, &text, err) < 0)
		return -1;
	job_line_set(line, p->name, text);
	return 0;
}

static int put_file(const struct param_spec *p, const struct node *n, struct job_line *line,
		    struct error *err)
{
	cleanup_free char *text = path_text(n, p->name, err);

	if (!text)
		return -1;
	job_line_set(line, p->name, text);
	return 0;
}

static int put_param(const struct env *env, const struct param_spec *p, const struct node *written,
		     struct job_line *line, struct error *err)
{
	const struct node *n = env_text(env, written);
	int64_t value;

	switch (p->kind) {
	case PARAM_NUMBER:
	case PARAM_BYTES:
		if (env_number(env, n, p->name, p->kind == PARAM_BYTES ? "bytes" : p->unit, p->min,
			       p->max, &value, err) < 0)
			return -1;
		set_number(line, p->name, value);
		return 0;
	case PARAM_AMOUNT:
		return put_amount(env, p, n, line, err);
	case PARAM_PREDICATE:
		if (env_predicate(env, n, err) < 0)
			return -1;
		job_line_set(line, p->name, n->text);
		return 0;
	case PARAM_CHOICE:
		return put_choice(p, n, line, err);
	case PARAM_BOOL:
		return put_bool(p, n, line, err);
	case PARAM_SHARE:
		return put_share(env, p, n, line, err);
	case PARAM_TEXT:
		return put_text(env, p, n, line, err);
	case PARAM_FILE:
		return put_file(p, n, line, err);
	}
	return node_error(err, n, "%s: a parameter of a kind unknown to the driver", p->name);
}

static int put_default(const struct env *env, const struct param_spec *p,
		       const struct node *name_node, struct job_line *line, struct error *err)
{
	cleanup_node struct node *n = NULL;

	if (!p->dflt)
		return node_error(err, name_node, "%s needs %s: %s", name_node->text, p->name,
				  p->summary);
	if (!*p->dflt)
		return 0;
	n = node_scalar(name_node->label, name_node->column, p->dflt, strlen(p->dflt));
	n->line = name_node->line;
	return put_param(env, p, n, line, err);
}

int params_to_job(const struct env *env, const struct param_spec *spec, size_t nspec,
		  const struct node *name_node, const struct node *params, struct job_line *line,
		  struct error *err)
{
	for (size_t i = 0; i < nspec; i++) {
		const struct node *n = node_get(params, spec[i].name);
		int ret = n ? put_param(env, &spec[i], n, line, err) :
			      put_default(env, &spec[i], name_node, line, err);

		if (ret < 0)
			return -1;
	}
	return 0;
}
