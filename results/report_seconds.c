// SPDX-License-Identifier: GPL-2.0-only
/* What the workload itself reported second by second, a line a cell, of its typical run. */
#include <math.h>

#include "results/report_internal.h"
#include "results/seconds.h"
#include "results/util/cleanup.h"

static const struct {
	const char *column, *caption, *unit;
} figure[] = {
	{ "r", "Run queue", "tasks" },
	{ "written", "Written", "MiB a second" },
	{ "sy", "CPU time of the system", "%" },
};

static double value_at(const struct seconds_series *s, size_t row, const char *column)
{
	size_t c = seconds_column(s, column);

	return c < s->ncolumns ? s->v[row * s->ncolumns + c] : NAN;
}

static void draw(struct report *r, size_t colour, const struct seconds_series *s,
		 const char *column)
{
	cleanup_free double *x = xcalloc(s->nrows + 1, sizeof(*x));
	cleanup_free double *y = xcalloc(s->nrows + 1, sizeof(*y));

	for (size_t i = 0; i < s->nrows; i++) {
		x[i] = value_at(s, i, "s");
		y[i] = value_at(s, i, column);
	}
	plot_line(&r->plots, colour, x, y, s->nrows);
}

static void put_figure(struct report *r, const struct seconds_series *s, size_t n, size_t f)
{
	const struct plot_shape shape = { 720, 200, 60, figure[f].caption,
					  "By the seconds of the workload; a line a cell." };
	double last = 0, most = 0;
	size_t plot = plot_begin(&r->plots, &shape);

	for (size_t i = 0; i < n; i++) {
		for (size_t row = 0; row < s[i].nrows; row++) {
			last = fmax(last, value_at(&s[i], row, "s"));
			most = fmax(most, value_at(&s[i], row, figure[f].column));
		}
	}
	plot_axes(&r->plots, &(struct plot_axis){ 0, last, false, TICKS_NUMBER },
		  &(struct plot_axis){ 0, 1.05 * most, false, TICKS_NUMBER });
	for (size_t i = 0; i < n; i++)
		if (s[i].nrows)
			draw(r, i, &s[i], figure[f].column);
	plot_end(&r->plots);
	strbuf_addf(&r->html, "<figure class=\"wide\">\n<figcaption>%s <small>%s, by second</small></figcaption>\n",
		    figure[f].caption, figure[f].unit);
	plots_put(&r->html, plot);
	strbuf_adds(&r->html, "\n</figure>\n");
}

void report_put_seconds(struct report *r)
{
	size_t n = r->ncells < PLOT_COLOURS ? r->ncells : PLOT_COLOURS;
	cleanup_free struct seconds_series *s = xcalloc(n + 1, sizeof(*s));
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		const struct report_cell *cell = &r->cell[i];

		if (cell->typical < cell->nruns)
			any |= seconds_of_run(cell->run[cell->typical].run, &s[i]);
	}
	if (any) {
		strbuf_adds(&r->html, "<section id=\"seconds\">\n<h2>Second by second</h2>\n");
		report_put_legend(r);
		for (size_t f = 0; f < ARRAY_SIZE(figure); f++)
			put_figure(r, s, n, f);
		strbuf_adds(&r->html, "</section>\n");
	}
	for (size_t i = 0; i < n; i++)
		seconds_free(&s[i]);
}
