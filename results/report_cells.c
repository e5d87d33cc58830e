// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/report_internal.h"
#include "results/table.h"
#include "results/table_cells.h"
#include "results/util/cleanup.h"

static bool same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* The run in the sets that were loaded whole, by the ids of the frame's set and run. */
static bool find_run(const struct report_input *in, const struct compare_run *cr,
		     struct report_run *out)
{
	const struct runset *of = &cr->frame->set;

	for (size_t s = 0; s < in->nsets; s++) {
		const struct runset *set = &in->set[s];

		if (!same(set->id, of->id))
			continue;
		for (size_t i = 0; i < set->nruns; i++) {
			if (!same(set->run[i].id, of->run[cr->index].id))
				continue;
			*out = (struct report_run){ set, &set->run[i] };
			return true;
		}
	}
	return false;
}

static struct report_cell *cell_add(struct report *r, char *label)
{
	r->cell = xreallocarray(r->cell, r->ncells + 1, sizeof(*r->cell));
	r->cell[r->ncells] = (struct report_cell){ .label = label, .typical = SIZE_MAX };
	return &r->cell[r->ncells++];
}

static void cell_add_run(struct report_cell *c, const struct report_run *run)
{
	c->run = xreallocarray(c->run, c->nruns + 1, sizeof(*c->run));
	c->run[c->nruns++] = *run;
	c->nok += run->run->verdict == VERDICT_OK;
}

static void cells_of_compare(struct report *r)
{
	const struct compare *c = r->in->compare;

	for (size_t s = 0; s < c->nsections; s++) {
		const struct compare_section *section = &c->section[s];

		for (size_t k = 0; k < c->ncols; k++) {
			const struct compare_cell *from = &section->cell[k];
			struct report_cell *cell;

			if (!from->nruns)
				continue;
			cell = cell_add(r, *section->label ? str_printf("%s, %s", section->label, c->col[k]) :
							     xstrdup(c->col[k]));
			for (size_t i = 0; i < from->nruns; i++) {
				struct report_run run;

				if (find_run(r->in, &from->run[i], &run))
					cell_add_run(cell, &run);
			}
		}
	}
}

static void cells_of_set(struct report *r, const struct runset *set)
{
	size_t n;
	struct table_cell *from = table_cells(set, &n);

	for (size_t k = 0; k < n; k++) {
		struct report_cell *cell;

		if (!from[k].nruns)
			continue;
		cell = cell_add(r, r->in->nsets > 1 ? str_printf("%s, %s", from[k].label, set->id) :
						      xstrdup(from[k].label));
		for (size_t i = 0; i < set->nruns; i++)
			if (table_cell_has(&from[k], &set->run[i]))
				cell_add_run(cell, &(struct report_run){ set, &set->run[i] });
	}
	table_cells_free(from, n);
}

static void metric_add(struct report *r, const char *name)
{
	const struct counter *c = counter_find(name);

	for (size_t i = 0; i < r->nmetrics; i++)
		if (strcmp(r->metric[i].name, name) == 0)
			return;
	r->metric = xreallocarray(r->metric, r->nmetrics + 1, sizeof(*r->metric));
	r->metric[r->nmetrics++] = (struct report_metric){
		.name = name,
		.title = c ? counter_title(name) : xstrdup(name),
		.unit = c ? c->unit : "",
	};
}

static void metrics_make(struct report *r)
{
	const struct report_input *in = r->in;

	for (size_t i = 0; in->compare && i < in->compare->nmetrics; i++)
		metric_add(r, in->compare->metric[i].name);
	if (in->compare)
		return;
	for (size_t i = 0; in->metric && in->metric[i]; i++)
		metric_add(r, in->metric[i]);
	for (size_t s = 0; !in->metric && s < in->nsets; s++)
		for (size_t i = 0; in->set[s].metric && in->set[s].metric[i]; i++)
			metric_add(r, in->set[s].metric[i]);
}

double *report_values(const struct report_cell *cell, const char *metric, size_t *n, size_t **run)
{
	double *v = xcalloc(cell->nruns + 1, sizeof(*v));

	if (run)
		*run = xcalloc(cell->nruns + 1, sizeof(**run));
	*n = 0;
	for (size_t i = 0; i < cell->nruns; i++) {
		const struct run *from = cell->run[i].run;
		const double *value = run_metric(from, metric);

		if (!value || !isfinite(*value) || from->verdict != VERDICT_OK)
			continue;
		if (run)
			(*run)[*n] = i;
		v[(*n)++] = *value;
	}
	return v;
}

/* Of an even number the lower of the two in the middle: it must be a run. */
static size_t typical_run(const struct report *r, const struct report_cell *cell)
{
	cleanup_free size_t *run = NULL;
	cleanup_free double *v = NULL;
	size_t n = 0;

	if (r->nmetrics)
		v = report_values(cell, r->metric[0].name, &n, &run);
	for (size_t i = 0; i < n; i++) {
		size_t below = 0;

		for (size_t k = 0; k < n; k++)
			below += v[k] < v[i] || (v[k] == v[i] && k < i);
		if (below == (n - 1) / 2)
			return run[i];
	}
	for (size_t i = 0; i < cell->nruns; i++)
		if (cell->run[i].run->verdict == VERDICT_OK)
			return i;
	return SIZE_MAX;
}

void report_cells_make(struct report *r)
{
	metrics_make(r);
	if (r->in->compare)
		cells_of_compare(r);
	else
		for (size_t s = 0; s < r->in->nsets; s++)
			cells_of_set(r, &r->in->set[s]);
	for (size_t i = 0; i < r->ncells; i++)
		r->cell[i].typical = typical_run(r, &r->cell[i]);
}

void report_cells_free(struct report *r)
{
	for (size_t i = 0; i < r->ncells; i++) {
		free(r->cell[i].label);
		free(r->cell[i].run);
	}
	for (size_t i = 0; i < r->nmetrics; i++)
		free(r->metric[i].title);
	free(r->cell);
	free(r->metric);
}

void report_run_name(const struct report *r, const struct report_run *run, struct strbuf *sb)
{
	if (r->in->nsets > 1) {
		html_text(sb, run->set->id);
		strbuf_adds(sb, "/");
	}
	html_text(sb, run->run->id);
}

void report_put_legend(struct report *r)
{
	struct strbuf *sb = &r->html;

	strbuf_adds(sb, "<ul class=\"legend\">\n");
	for (size_t i = 0; i < r->ncells && i < PLOT_COLOURS; i++) {
		strbuf_addf(sb, "<li><svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot key\""
				" viewBox=\"0 0 28 10\" aria-hidden=\"true\"><path class=\"l%zu\""
				" d=\"M0,5 28,5\"/></svg> ", i);
		html_text(sb, r->cell[i].label);
		strbuf_adds(sb, "</li>\n");
	}
	strbuf_adds(sb, "</ul>\n");
}
