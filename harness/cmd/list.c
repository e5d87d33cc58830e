// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "guest/registry.h"
#include "harness/cmd/help.h"
#include "harness/engine/progress.h"
#include "harness/scenario/scenario.h"
#include "results/counter.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

#define NAME_COLUMN 22

struct list_args {
	bool json;
};

static const struct opt list_opts[] = {
	OPT_FLAG("json", struct list_args, json, "print one JSON document"),
	OPT_END,
};

/* Workloads and layout steps say the same about themselves. */
struct entry {
	const char *name, *summary;
	const struct param_spec *params;
	size_t nparams;
	const char *const *needs, *const *moves;
};

static struct entry workload_entry(size_t i)
{
	const struct workload *w = workload_table[i];

	return (struct entry){ w->name, w->summary, w->params, w->nparams, w->needs, w->moves };
}

static struct entry layout_entry(size_t i)
{
	const struct layout_step *s = layout_steps[i];

	return (struct entry){ s->name, s->summary, s->params, s->nparams, s->needs, s->moves };
}

static const char *const param_kinds[] = {
	[PARAM_NUMBER] = "number",	 [PARAM_BYTES] = "bytes",   [PARAM_AMOUNT] = "amount",
	[PARAM_PREDICATE] = "predicate", [PARAM_CHOICE] = "choice", [PARAM_BOOL] = "bool",
	[PARAM_SHARE] = "share",	 [PARAM_TEXT] = "text",	    [PARAM_FILE] = "file",
};

static const char *const better_words[] = {
	[BETTER_LOWER] = "lower",
	[BETTER_HIGHER] = "higher",
	[BETTER_NEITHER] = "neither",
};

static bool has_range(const struct param_spec *p)
{
	return p->kind == PARAM_NUMBER || p->kind == PARAM_BYTES;
}

/* ---- text ---- */

/* A scenario is the user's own file, hence printable. */
static void add_row(struct strbuf *sb, const char *name, const char *text)
{
	size_t start = sb->len;

	progress_printable(sb, name);
	strbuf_adds(sb, " ");
	while (sb->len - start < NAME_COLUMN)
		strbuf_adds(sb, " ");
	progress_printable(sb, text ? text : "");
	while (sb->len && sb->data[sb->len - 1] == ' ')
		sb->data[--sb->len] = '\0';
	strbuf_adds(sb, "\n");
}

static void add_joined(struct strbuf *sb, const char *title, const char *const *words,
		       const char *between)
{
	if (!words || !*words)
		return;
	strbuf_adds(sb, title);
	for (const char *const *w = words; *w; w++)
		strbuf_addf(sb, "%s%s", w == words ? "" : between, *w);
}

static void add_kind(struct strbuf *sb, const struct param_spec *p)
{
	if (p->kind == PARAM_CHOICE)
		add_joined(sb, "", p->choices, "|");
	else
		strbuf_adds(sb, param_kinds[p->kind]);
	if (p->unit && strcmp(p->unit, param_kinds[p->kind]) != 0)
		strbuf_addf(sb, " of %s", p->unit);
	if (has_range(p) && p->max)
		strbuf_addf(sb, ", %" PRId64 " to %" PRId64, p->min, p->max);
	else if (has_range(p))
		strbuf_addf(sb, ", at least %" PRId64, p->min);
	if (!p->dflt)
		strbuf_adds(sb, ", required");
	else if (*p->dflt)
		strbuf_addf(sb, ", default %s", p->dflt);
}

static void add_param(struct strbuf *sb, const struct param_spec *p)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;

	strbuf_addf(sb, "    %-*s ", NAME_COLUMN - 5, p->name);
	strbuf_addf(&text, "%s (", p->summary);
	add_kind(&text, p);
	strbuf_adds(&text, ")");
	help_add_wrapped(sb, text.data, NAME_COLUMN, NAME_COLUMN);
}

static void add_entry(struct strbuf *sb, const struct entry *e)
{
	add_row(sb, e->name, e->summary);
	for (size_t i = 0; i < e->nparams && e->params[i].name; i++)
		add_param(sb, &e->params[i]);
	if (e->needs && *e->needs) {
		add_joined(sb, "    needs: ", e->needs, ", ");
		strbuf_adds(sb, "\n");
	}
	if (e->moves && *e->moves) {
		add_joined(sb, "    moves: ", e->moves, ", ");
		strbuf_adds(sb, "\n");
	}
}

/* " = a + b - c"; a name with two minus signs must exist, which is told in counter.h. */
static void add_sources(struct strbuf *sb, const char *const *sources)
{
	for (const char *const *s = sources; *s; s++) {
		bool minus = **s == '-';

		strbuf_adds(sb, s == sources ? " = " : minus ? " - " : " + ");
		strbuf_adds(sb, *s + strspn(*s, "-"));
	}
}

static void add_metric(struct strbuf *sb, const struct counter *c)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text, "%s (%s", c->title, c->unit);
	if (c->better != BETTER_NEITHER)
		strbuf_addf(&text, ", %s is better", better_words[c->better]);
	strbuf_adds(&text, c->gauge ? ", a level)" : ")");
	add_sources(&text, c->sources);
	if (c->formula)
		strbuf_addf(&text, " = %s", c->formula);
	if (c->formula && c->at_zero > 0)
		strbuf_addf(&text, ", %g where it divides by 0", c->at_zero);
	add_row(sb, c->name, text.data);
}

/* ---- JSON ---- */

/* A string that is not UTF-8 is shown escaped rather than lost. */
static json_t *json_text(const char *s)
{
	struct strbuf sb = STRBUF_INIT;
	cleanup_free char *shown = NULL;
	json_t *j = s ? json_string(s) : json_null();

	if (j)
		return j;
	progress_printable(&sb, s);
	shown = strbuf_steal(&sb);
	return json_string(shown);
}

static json_t *json_words(const char *const *words)
{
	json_t *array = json_array();

	for (; words && *words; words++)
		json_array_append_new(array, json_text(*words));
	return array;
}

static json_t *json_param(const struct param_spec *p)
{
	json_t *j = json_object();

	json_object_set_new(j, "name", json_text(p->name));
	json_object_set_new(j, "kind", json_text(param_kinds[p->kind]));
	json_object_set_new(j, "summary", json_text(p->summary));
	json_object_set_new(j, "required", json_boolean(!p->dflt));
	if (p->unit)
		json_object_set_new(j, "unit", json_text(p->unit));
	if (p->dflt && *p->dflt)
		json_object_set_new(j, "default", json_text(p->dflt));
	if (has_range(p))
		json_object_set_new(j, "min", json_integer(p->min));
	if (has_range(p) && p->max)
		json_object_set_new(j, "max", json_integer(p->max));
	if (p->choices)
		json_object_set_new(j, "choices", json_words(p->choices));
	return j;
}

static json_t *json_entry(const struct entry *e)
{
	json_t *j = json_object(), *params = json_array();

	for (size_t i = 0; i < e->nparams && e->params[i].name; i++)
		json_array_append_new(params, json_param(&e->params[i]));
	json_object_set_new(j, "name", json_text(e->name));
	json_object_set_new(j, "summary", json_text(e->summary));
	json_object_set_new(j, "params", params);
	json_object_set_new(j, "needs", json_words(e->needs));
	json_object_set_new(j, "moves", json_words(e->moves));
	return j;
}

static json_t *json_metric(const struct counter *c)
{
	json_t *j = json_object();

	json_object_set_new(j, "name", json_text(c->name));
	json_object_set_new(j, "title", json_text(c->title));
	json_object_set_new(j, "unit", json_text(c->unit));
	json_object_set_new(j, "better", json_text(better_words[c->better]));
	json_object_set_new(j, "gauge", json_boolean(c->gauge));
	json_object_set_new(j, "sources", json_words(c->sources));
	if (c->formula)
		json_object_set_new(j, "formula", json_text(c->formula));
	return j;
}

/* ---- the four lists: each fills one of the two ---- */

/* The names that --kernel takes, where there are several. */
static void add_kernels(struct strbuf *text, char *const *kernel)
{
	cleanup_strbuf struct strbuf all = STRBUF_INIT;

	for (size_t i = 0; kernel[i]; i++)
		strbuf_addf(&all, "%s%s", i ? ", " : "", kernel[i]);
	add_row(text, "    kernels:", all.data);
}

static int list_scenarios(struct strbuf *text, json_t *array, struct error *err)
{
	struct scenario_entry *list = NULL;
	size_t n = 0;

	if (scenario_list(&list, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		json_t *j = json_object();

		json_object_set_new(j, "name", json_text(list[i].name));
		json_object_set_new(j, "title", json_text(list[i].title));
		json_object_set_new(j, "path", json_text(list[i].path));
		json_object_set_new(j, "kernels", json_words((const char *const *)list[i].kernel));
		json_array_append_new(array, j);
		add_row(text, list[i].name, list[i].title);
		if (list[i].kernel && list[i].kernel[0] && list[i].kernel[1])
			add_kernels(text, list[i].kernel);
	}
	scenario_list_free(list, n);
	return 0;
}

static int list_workloads(struct strbuf *text, json_t *array, struct error *err)
{
	for (size_t i = 0; i < workload_count; i++) {
		struct entry e = workload_entry(i);

		add_entry(text, &e);
		json_array_append_new(array, json_entry(&e));
	}
	return 0;
}

/* Named ones, behind the steps that they are made of. */
static int list_named(struct strbuf *text, json_t *array, struct error *err)
{
	struct layout_entry *list;
	size_t n;

	if (layout_list(&list, &n, err) < 0)
		return -1;
	if (n)
		strbuf_adds(text, "\nNamed layouts, for layout: NAME of a scenario, or - NAME among its steps:\n\n");
	for (size_t i = 0; i < n; i++) {
		json_t *j = json_object();

		json_object_set_new(j, "name", json_text(list[i].name));
		json_object_set_new(j, "title", json_text(list[i].title));
		json_object_set_new(j, "constants", json_text(list[i].constants));
		json_object_set_new(j, "path", json_text(list[i].path));
		json_array_append_new(array, j);
		add_row(text, list[i].name, list[i].title);
		if (*list[i].constants)
			add_row(text, "    with:", list[i].constants);
	}
	layout_list_free(list, n);
	return 0;
}

static int list_layouts(struct strbuf *text, json_t *array, struct error *err)
{
	for (size_t i = 0; i < layout_step_count; i++) {
		struct entry e = layout_entry(i);

		add_entry(text, &e);
		json_array_append_new(array, json_entry(&e));
	}
	add_row(text, "repeat", "steps, several times; the constant round counts from 0");
	strbuf_adds(text, "    times             how often (number, 1 to 250, required)\n"
			  "    steps             the list of steps (required)\n");
	return list_named(text, array, err);
}

static int list_metrics(struct strbuf *text, json_t *array, struct error *err)
{
	for (size_t i = 0; i < counter_count; i++) {
		add_metric(text, &counter_table[i]);
		json_array_append_new(array, json_metric(&counter_table[i]));
	}
	return 0;
}

static const struct list {
	const char *name;
	int (*fill)(struct strbuf *text, json_t *array, struct error *err);
} lists[] = {
	{ "scenarios", list_scenarios },
	{ "workloads", list_workloads },
	{ "layouts", list_layouts },
	{ "metrics", list_metrics },
};

static const struct list *list_find(const char *name, struct error *err)
{
	const char *names[ARRAY_SIZE(lists)], *near;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		if (strcmp(lists[i].name, name) == 0)
			return &lists[i];
		names[i] = lists[i].name;
	}
	near = str_nearest(name, names, ARRAY_SIZE(names));
	error_set(err, EXIT_USAGE, "list: \"%s\" is none of scenarios, workloads, layouts, metrics",
		  name);
	if (near)
		error_hint(err, "did you mean %s?", near);
	return NULL;
}

static void print_json(const char *name, json_t *array)
{
	json_t *doc = json_object();
	cleanup_free char *text = NULL;

	json_object_set_new(doc, "schema", json_integer(1));
	json_object_set(doc, name, array);
	text = json_dumps(doc, JSON_INDENT(2));
	json_decref(doc);
	printf("%s\n", text ? text : "");
}

static int print_list(const struct list *list, bool json, struct error *err)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	json_t *array = json_array();
	int status = EXIT_GOOD;

	if (list->fill(&text, array, err) < 0)
		status = -1;
	else if (json)
		print_json(list->name, array);
	else
		fwrite(text.data, 1, text.len, stdout);
	json_decref(array);
	return status;
}

static int list_run(const struct command *self, int argc, char **argv, struct error *err)
{
	struct list_args args = { false };
	const struct list *list;

	if (opt_parse(self, argc, argv, &args, NULL, 1, 1, err) < 0)
		return -1;
	list = list_find(argv[0], err);
	return list ? print_list(list, args.json, err) : -1;
}

static int layout_list_run(const struct command *self, int argc, char **argv, struct error *err)
{
	struct list_args args = { false };

	if (opt_parse(self, argc, argv, &args, NULL, 0, 0, err) < 0)
		return -1;
	return print_list(list_find("layouts", err), args.json, err);
}

const struct command command_layout_list = {
	.name = "list",
	.summary = "list the steps of a layout, and the layouts that have a name",
	.text = "The same as mmrig list layouts.",
	.opts = list_opts,
	.run = layout_list_run,
};

const struct command command_list = {
	.name = "list",
	.args = "scenarios|workloads|layouts|metrics",
	.summary = "list what can be run, and what can be measured",
	.text = "Workloads and layout steps are shown with their parameters, what they need of the"
		" kernel, and the counters that they must move; a run in which such a counter stood"
		" still says so. A scenario is named by its file without .yaml, or by a path; where it has"
		" several kernels they stand below, by the names that mmrig run --kernel takes. Behind the"
		" steps stand the layouts that a scenario can name, with the constants that it can set;"
		" more of them are looked for in the folders of $MMRIG_LAYOUTS.\n"
		"\n"
		"Metrics are the sum of the keys shown, of those that the kernel has; with none of them"
		" the metric is absent, which is not 0. A name with a star stands for all keys that begin"
		" so, and a word in <> for a number or a name, as in free_order3_Normal. Of a formula,"
		" \"a | b\" is b where a is absent, and seconds are those between the two snapshots.\n",
	.opts = list_opts,
	.run = list_run,
};
