// SPDX-License-Identifier: GPL-2.0-only
#include "results/compare.h"

#include <stdio.h>
#include <string.h>

#include "results/compare_internal.h"
#include "results/compare_parts.h"
#include "results/run_text.h"
#include "results/util/cleanup.h"

/* Where each run stands in the table to be. */
struct plan {
	struct points points;
	const struct axis *by;
	size_t *section; /* [run]; SIZE_MAX: none yet */
	size_t *sample;	 /* [section]: its first run */
	size_t nsections;
};

static bool by_variant(const struct axis *by)
{
	return strcmp(by->name, AXIS_VARIANT) == 0;
}

static bool by_cell(const struct axis *by)
{
	return strcmp(by->name, AXIS_CELL) == 0 && !by->of_variant;
}

/* Does the axis tell sections apart? */
static bool is_place(const struct axis *a, const struct axis *by)
{
	return a->kind == AXIS_PLACE && a != by && !by_cell(by) && !(a->of_variant && by_variant(by));
}

static bool same_place(const struct points *p, const struct axis *by, size_t a, size_t b)
{
	for (size_t i = 0; i < p->naxes; i++)
		if (is_place(&p->axis[i], by) && p->axis[i].at[a] != p->axis[i].at[b])
			return false;
	return true;
}

static void plan_sections(struct plan *pl)
{
	const struct points *p = &pl->points;

	pl->nsections = 0;
	for (size_t i = 0; i < p->nruns; i++) {
		size_t s = i && same_place(p, pl->by, i, i - 1) ? pl->section[i - 1] : 0;

		while (s < pl->nsections && !same_place(p, pl->by, i, pl->sample[s]))
			s++;
		pl->section[i] = s;
		if (s < pl->nsections)
			continue;
		pl->sample = xreallocarray(pl->sample, ++pl->nsections, sizeof(*pl->sample));
		pl->sample[s] = i;
	}
}

/* Is there a section in which two columns have runs? */
static bool plan_compares(const struct plan *pl)
{
	const struct points *p = &pl->points;

	for (size_t i = 0; i < p->nruns; i++)
		if (pl->by->at[i] != pl->by->at[pl->sample[pl->section[i]]])
			return true;
	return false;
}

static bool plan_try(struct plan *pl, const struct axis *by)
{
	pl->by = by;
	plan_sections(pl);
	return axis_varies(by) && plan_compares(pl);
}

/* Do runs of several run sets stand in one cell? Then the sets are what one wants to compare. */
static bool plan_pools(const struct plan *pl)
{
	const struct points *p = &pl->points;
	const struct axis *set = points_axis(p, AXIS_RUNSET);
	cleanup_free size_t *first = xcalloc(pl->nsections * pl->by->n, sizeof(*first));

	for (size_t i = 0; i < p->nruns; i++) {
		size_t *cell = &first[pl->section[i] * pl->by->n + pl->by->at[i]];

		if (*cell && set->at[*cell - 1] != set->at[i])
			return true;
		*cell = i + 1;
	}
	return false;
}

static int no_axis(const struct points *p, const char *name, struct error *err)
{
	cleanup_free const char **known = xcalloc(p->naxes, sizeof(*known));
	cleanup_free char *clean = run_text_printable(name);
	cleanup_strbuf struct strbuf all = STRBUF_INIT;
	const char *near;

	for (size_t i = 0; i < p->naxes; i++) {
		known[i] = p->axis[i].name;
		strbuf_addf(&all, "%s%s", i ? ", " : "", known[i]);
	}
	error_set(err, EXIT_USAGE, "--by %s: these runs have no such axis", clean);
	near = str_nearest(name, known, p->naxes);
	return near ? error_hint(err, "did you mean %s?", near) : error_hint(err, "they have %s", all.data);
}

static int plan_axis(struct plan *pl, const char *by, bool alone, struct error *err)
{
	static const char *const usual[] = { AXIS_KERNEL, AXIS_RUNSET, AXIS_VARIANT };
	const struct axis *a;

	if (by) {
		a = points_axis(&pl->points, by);
		if (!a)
			return no_axis(&pl->points, by, err);
		if (plan_try(pl, a) || (alone && a->n))
			return 0;
		if (!axis_varies(a))
			return error_set(err, EXIT_USAGE,
					 "nothing to compare: all runs have the same %s (%s); choose another axis with --by",
					 a->name, a->n ? a->value[0] : "none");
	} else {
		for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
			if (plan_try(pl, points_axis(&pl->points, usual[i])) &&
			    !(i == 0 && plan_pools(pl)))
				return 0;
		plan_try(pl, points_axis(&pl->points, AXIS_KERNEL));
		if (alone && pl->by->n)
			return 0;
	}
	return error_set(err, EXIT_USAGE,
			 "nothing to compare: no two columns have runs of the same kernel and variant; "
			 "give a second run set, or one with several kernels or variants");
}

/* ---- labels ---- */

/* The variant's label as its set has it; NULL without one. */
static const char *variant_label(const struct points *p, size_t i)
{
	const struct runset *set = &p->run[i].frame->set;
	size_t v = points_run(p, i)->variant;

	return v < set->nvariants ? set->variant[v].label : NULL;
}

/* The label of the first run at each value, where that tells the values apart. */
static bool variant_labels(const struct points *p, const struct axis *a, char **label)
{
	const char **found = xcalloc(a->n, sizeof(*found));
	bool good = true;

	for (size_t i = 0; i < p->nruns; i++) {
		const char *text = variant_label(p, i);

		if (!found[a->at[i]])
			found[a->at[i]] = text;
		else if (!text || strcmp(found[a->at[i]], text) != 0)
			good = false; /* another vary axis shows in the label */
	}
	for (size_t i = 0; i < a->n; i++) {
		good &= found[i] && *found[i];
		for (size_t j = 0; good && j < i; j++)
			good &= strcmp(found[i], found[j]) != 0;
	}
	for (size_t i = 0; good && i < a->n; i++)
		label[i] = run_text_printable(found[i]);
	free(found);
	return good;
}

/* "defrag_mode" of "sysctl.workload.vm.defrag_mode". */
static const char *last_word(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && dot[1] ? dot + 1 : path;
}

static void add_part(struct strbuf *sb, const char *text)
{
	cleanup_free char *clean = run_text_printable(text);

	strbuf_addf(sb, "%s%s", sb->len ? ", " : "", clean);
}

/* "pfn % 8 == 4, patched", of the first run at each value. */
static void cell_labels(const struct points *p, const struct axis *by, char **label)
{
	const struct axis *kernel = points_find(p, AXIS_KERNEL);

	for (size_t i = p->nruns; i-- > 0;) {
		const char *variant = variant_label(p, i);
		struct strbuf sb = STRBUF_INIT;

		if (variant && *variant)
			add_part(&sb, variant);
		if (axis_varies(kernel) || !sb.len)
			add_part(&sb, kernel->value[kernel->at[i]]);
		free(label[by->at[i]]);
		label[by->at[i]] = strbuf_steal(&sb);
	}
}

static void column_labels(const struct points *p, const struct axis *by, char **label)
{
	static const char *const bare[] = { AXIS_KERNEL, AXIS_RUNSET, AXIS_VARIANT, "memory", "accel",
					    "scenario", "host", "forked" };
	bool name = true;

	if ((by->of_variant || by_variant(by)) && variant_labels(p, by, label))
		return;
	if (by_cell(by)) {
		cell_labels(p, by, label);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(bare); i++)
		name &= strcmp(by->name, bare[i]) != 0;
	for (size_t i = 0; i < by->n; i++) {
		cleanup_free char *clean = run_text_printable(by->value[i]);

		label[i] = name ? str_printf("%s=%s", last_word(by->name), clean) : xstrdup(clean);
	}
}

static char *section_label(const struct plan *pl, size_t section)
{
	const struct points *p = &pl->points;
	size_t run = pl->sample[section];
	const char *variant = variant_label(p, run);
	struct strbuf sb = STRBUF_INIT;
	bool vary = false;

	for (size_t i = 0; i < p->naxes; i++) {
		const struct axis *a = &p->axis[i];

		if (!is_place(a, pl->by) || !axis_varies(a))
			continue;
		if (!a->of_variant) {
			add_part(&sb, a->value[a->at[run]]);
		} else if (pl->by->of_variant || !variant) {
			cleanup_free char *text = str_printf("%s=%s", a->name, a->value[a->at[run]]);

			add_part(&sb, text);
		} else {
			vary = true;
		}
	}
	if (vary)
		add_part(&sb, variant);
	strbuf_adds(&sb, "");
	return strbuf_steal(&sb);
}

/* ---- the runs ---- */

struct keyed {
	char *key;
	size_t at;
};

static int keyed_order(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Runs with the same key are one sample; NULL: a sample of its own. Heap. *unit: what they share. */
static char *sample_key(const struct compare_run *run, const char **unit)
{
	const struct run *r = &run->frame->set.run[run->index];

	*unit = r->forked_from ? "layout" : "seed";
	if (r->forked_from)
		return str_printf("%s/%s", run->frame->set.id, r->forked_from);
	if (r->accel && strcmp(r->accel, "tcg-icount") == 0)
		return str_printf("seed %ju", (uintmax_t)r->seed);
	return NULL;
}

/* group[i] of every run of the cell; equal numbers, one sample. */
static size_t *cell_groups(struct compare_cell *cell)
{
	struct keyed *k = xcalloc(cell->nruns ? cell->nruns : 1, sizeof(*k));
	size_t *group = xcalloc(cell->nruns ? cell->nruns : 1, sizeof(*group)), n = 0;

	for (size_t i = 0; i < cell->nruns; i++) {
		const char *unit;
		const struct compare_run *run = &cell->run[i];
		char *key = run->frame->set.run[run->index].verdict == VERDICT_OK ? sample_key(run, &unit) : NULL;

		group[i] = i;
		if (key) {
			k[n++] = (struct keyed){ key, i };
			cell->unit = unit;
		}
	}
	qsort(k, n, sizeof(*k), keyed_order);
	for (size_t i = 1; i < n; i++)
		if (strcmp(k[i].key, k[i - 1].key) == 0) {
			group[k[i].at] = group[k[i - 1].at];
			cell->grouped = true;
		}
	for (size_t i = 0; i < n; i++)
		free(k[i].key);
	free(k);
	return group;
}

static void fill_cells(const struct plan *pl, struct compare *c)
{
	const struct points *p = &pl->points;

	for (size_t i = 0; i < p->nruns; i++)
		c->section[pl->section[i]].cell[pl->by->at[i]].nruns++;
	for (size_t s = 0; s < c->nsections; s++)
		for (size_t k = 0; k < c->ncols; k++) {
			struct compare_cell *cell = &c->section[s].cell[k];

			cell->run = xcalloc(cell->nruns ? cell->nruns : 1, sizeof(*cell->run));
			cell->nruns = 0;
			cell->unit = "run";
		}
	for (size_t i = 0; i < p->nruns; i++) {
		struct compare_cell *cell = &c->section[pl->section[i]].cell[pl->by->at[i]];

		cell->run[cell->nruns++] = p->run[i];
		cell->verdict[points_run(p, i)->verdict]++;
	}
}

/* ---- the numbers ---- */

struct metric_columns {
	const struct frame *frame;
	const double **column; /* [frame] of one metric */
};

static void fill_value(const struct compare_cell *cell, const struct metric_columns *m,
		       struct compare_value *value)
{
	value->v = xcalloc(cell->nruns ? cell->nruns : 1, sizeof(*value->v));
	value->run = xcalloc(cell->nruns ? cell->nruns : 1, sizeof(*value->run));
	for (size_t i = 0; i < cell->nruns; i++) {
		const struct compare_run *run = &cell->run[i];
		const double *column = m->column[run->frame - m->frame];

		if (run->frame->set.run[run->index].verdict != VERDICT_OK || !column ||
		    !isfinite(column[run->index]))
			continue;
		value->v[value->n] = column[run->index];
		value->run[value->n++] = i;
	}
}

static void fill_values(const struct frame *frame, size_t nframes, struct compare *c)
{
	struct metric_columns m = { frame, xcalloc(nframes, sizeof(*m.column)) };

	for (size_t i = 0; i < c->nmetrics; i++) {
		for (size_t f = 0; f < nframes; f++)
			m.column[f] = frame_column(&frame[f], c->metric[i].name);
		for (size_t s = 0; s < c->nsections; s++)
			for (size_t k = 0; k < c->ncols; k++)
				fill_value(&c->section[s].cell[k], &m,
					   &c->section[s].value[i * c->ncols + k]);
	}
	free(m.column);
}

/* The groups of the runs that a value has; NULL where each stands for itself. */
static size_t *value_groups(const struct compare_value *value, const size_t *group)
{
	size_t *layout;

	if (!group)
		return NULL;
	layout = xcalloc(value->n ? value->n : 1, sizeof(*layout));
	for (size_t i = 0; i < value->n; i++)
		layout[i] = group[value->run[i]];
	return layout;
}

static int compare_one(struct compare *c, struct compare_section *s, size_t metric, size_t col,
		       size_t *const *group, struct error *err)
{
	struct compare_value *base = &s->value[metric * c->ncols + c->baseline];
	struct compare_value *head = &s->value[metric * c->ncols + col];
	cleanup_free size_t *base_layout = value_groups(base, group[c->baseline]);
	cleanup_free size_t *head_layout = value_groups(head, group[col]);
	struct stats_sample b = { base->v, base->n, base_layout }, h = { head->v, head->n, head_layout };
	struct stats_result *r = &s->result[metric * c->ncols + col];

	if (stats_compare(&b, &h, c->metric[metric].better, &c->stats, r, err) < 0)
		return error_wrap(err, "%s", c->metric[metric].name);
	return 0;
}

static int fill_section(struct compare *c, struct compare_section *s, struct error *err)
{
	size_t **group = xcalloc(c->ncols, sizeof(*group));
	int ret = 0;

	for (size_t k = 0; k < c->ncols; k++) {
		size_t *all = cell_groups(&s->cell[k]);

		if (s->cell[k].grouped)
			group[k] = STEAL(all);
		free(all);
	}
	for (size_t m = 0; ret == 0 && m < c->nmetrics; m++)
		for (size_t k = 0; ret == 0 && k < c->ncols; k++) {
			struct compare_value *v = &s->value[m * c->ncols + k];

			ret = stats_summarise(v->v, v->n, c->metric[m].better, &v->summary, err);
			if (ret < 0)
				error_wrap(err, "%s", c->metric[m].name);
			if (ret == 0 && k != c->baseline && !c->metric[m].quiet)
				ret = compare_one(c, s, m, k, group, err);
		}
	for (size_t k = 0; k < c->ncols; k++)
		free(group[k]);
	free(group);
	return ret;
}

/* One list of all tests of the table, corrected for one another, and back. */
static void correct(struct compare *c)
{
	struct stats_result *list = NULL;
	size_t n = 0;

	for (size_t s = 0; s < c->nsections; s++)
		for (size_t i = 0; i < c->nmetrics * c->ncols; i++)
			n += compare_test(c, s, i / c->ncols, i % c->ncols) != NULL;
	list = xcalloc(n ? n : 1, sizeof(*list));
	n = 0;
	for (size_t s = 0; s < c->nsections; s++)
		for (size_t i = 0; i < c->nmetrics * c->ncols; i++)
			if (compare_test(c, s, i / c->ncols, i % c->ncols))
				list[n++] = c->section[s].result[i];
	c->tests = stats_correct(list, n, &c->stats);
	n = 0;
	for (size_t s = 0; s < c->nsections; s++)
		for (size_t i = 0; i < c->nmetrics * c->ncols; i++)
			if (compare_test(c, s, i / c->ncols, i % c->ncols))
				c->section[s].result[i] = list[n++];
	free(list);
}

/* ---- all together ---- */

static int choose_baseline(struct compare *c, const char *name, struct error *err)
{
	size_t found = SIZE_MAX;
	const char *near;
	cleanup_free char *clean = NULL;

	if (!name)
		return 0;
	clean = run_text_printable(name);
	for (size_t k = 0; k < c->ncols; k++)
		if (strcmp(c->col[k], name) == 0) {
			c->baseline = k;
			return 0;
		}
	for (size_t k = 0; k < c->ncols; k++) {
		if (!*name || !strstr(c->col[k], name))
			continue;
		if (found != SIZE_MAX)
			return error_set(err, EXIT_USAGE, "--baseline %s: both %s and %s have that; give more of the name",
					 clean, c->col[found], c->col[k]);
		found = k;
	}
	if (found != SIZE_MAX) {
		c->baseline = found;
		return 0;
	}
	error_set(err, EXIT_USAGE, "--baseline %s: no such column", clean);
	near = str_nearest(name, (const char *const *)c->col, c->ncols);
	if (near)
		return error_hint(err, "did you mean %s?", near);
	error_hint(err, "there are %s", c->col[0]);
	for (size_t k = 1; k < c->ncols; k++)
		error_hint(err, "%s", c->col[k]);
	return -1;
}

static char **split_lines(const struct strbuf *sb)
{
	char **lines = xcalloc(1, sizeof(*lines));
	const char *p = sb->data, *end;
	size_t n = 0;

	for (; p && (end = strchr(p, '\n')); p = end + 1) {
		lines = xreallocarray(lines, n + 2, sizeof(*lines));
		lines[n++] = xstrndup(p, (size_t)(end - p));
		lines[n] = NULL;
	}
	return lines;
}

static char *all_titles(const struct frame *frame, size_t nframes)
{
	struct strbuf sb = STRBUF_INIT;

	for (size_t f = 0; f < nframes; f++) {
		bool seen = !frame[f].set.scenario;

		for (size_t k = 0; k < f && !seen; k++)
			seen = frame[k].set.scenario &&
			       strcmp(frame[k].set.scenario, frame[f].set.scenario) == 0;
		if (!seen)
			add_part(&sb, frame[f].set.scenario);
	}
	strbuf_adds(&sb, "");
	return strbuf_steal(&sb);
}

static void make_frame(const struct plan *pl, const struct frame *frame, size_t nframes,
		       struct compare *c)
{
	c->by = xstrdup(pl->by->name);
	c->title = all_titles(frame, nframes);
	c->context = compare_context(&pl->points, pl->by);
	c->row_title = frame[0].set.row_title;
	c->table_style = frame[0].set.table_style;
	c->ncols = pl->by->n;
	c->col = xcalloc(c->ncols, sizeof(*c->col));
	column_labels(&pl->points, pl->by, c->col);
	c->nsections = pl->nsections;
	c->section = xcalloc(c->nsections, sizeof(*c->section));
	for (size_t s = 0; s < c->nsections; s++) {
		c->section[s].label = section_label(pl, s);
		c->section[s].cell = xcalloc(c->ncols, sizeof(*c->section[s].cell));
	}
	fill_cells(pl, c);
}

static void make_room(struct compare *c)
{
	for (size_t s = 0; s < c->nsections; s++) {
		size_t n = c->nmetrics * c->ncols;

		c->section[s].value = xcalloc(n ? n : 1, sizeof(*c->section[s].value));
		c->section[s].result = xcalloc(n ? n : 1, sizeof(*c->section[s].result));
	}
}

static int any_ok(const struct points *p, struct error *err)
{
	for (size_t i = 0; i < p->nruns; i++)
		if (points_run(p, i)->verdict == VERDICT_OK)
			return 0;
	return error_set(err, EXIT_NO_VERDICT,
			 "none of %zu run%s is ok, so there is no number to compare; mmrig results show names the reasons",
			 p->nruns, p->nruns == 1 ? "" : "s");
}

static int make(const struct frame *frame, size_t nframes, const struct compare_options *opt,
		struct plan *pl, struct compare *c, struct error *err)
{
	cleanup_strbuf struct strbuf warning = STRBUF_INIT;

	points_make(frame, nframes, &pl->points);
	pl->section = xcalloc(pl->points.nruns ? pl->points.nruns : 1, sizeof(*pl->section));
	if (any_ok(&pl->points, err) < 0 || plan_axis(pl, opt->by, opt->alone, err) < 0)
		return -1;
	make_frame(pl, frame, nframes, c);
	if (choose_baseline(c, opt->baseline, err) < 0 ||
	    compare_check(&pl->points, pl->by, pl->section, pl->nsections, opt->force, &warning, err) < 0)
		return -1;
	compare_hints(&pl->points, pl->by, pl->section, pl->nsections, &warning);
	if (compare_choose_metrics(frame, nframes, opt, c, &warning, err) < 0)
		return -1;
	c->warning = split_lines(&warning);
	c->origin = points_origin(frame, nframes);
	make_room(c);
	fill_values(frame, nframes, c);
	for (size_t s = 0; s < c->nsections; s++)
		if (fill_section(c, &c->section[s], err) < 0)
			return -1;
	correct(c);
	return 0;
}

int compare_make(const struct frame *frame, size_t nframes, const struct compare_options *opt,
		 struct compare *out, struct error *err)
{
	struct plan pl = { 0 };
	int ret;

	*out = (struct compare){ .stats = opt->stats };
	ret = make(frame, nframes, opt, &pl, out, err);
	points_free(&pl.points);
	free(pl.section);
	free(pl.sample);
	if (ret < 0)
		compare_free(out);
	return ret;
}

static void section_free(const struct compare *c, struct compare_section *s)
{
	for (size_t k = 0; k < c->ncols; k++)
		free(s->cell[k].run);
	for (size_t i = 0; s->value && i < c->nmetrics * c->ncols; i++) {
		free(s->value[i].v);
		free(s->value[i].run);
	}
	free(s->label);
	free(s->cell);
	free(s->value);
	free(s->result);
}

void compare_free(struct compare *c)
{
	for (size_t s = 0; s < c->nsections; s++)
		section_free(c, &c->section[s]);
	for (size_t i = 0; i < c->nmetrics; i++)
		free(c->metric[i].title);
	for (size_t k = 0; k < c->ncols; k++)
		free(c->col[k]);
	for (char **w = c->warning; w && *w; w++)
		free(*w);
	for (char **o = c->origin; o && *o; o++)
		free(*o);
	free(c->origin);
	free(c->section);
	free(c->metric);
	free(c->col);
	free(c->warning);
	free(c->by);
	free(c->title);
	free(c->context);
	*c = (struct compare){ 0 };
}
