// SPDX-License-Identifier: GPL-2.0-only
/* The distribution of each metric: every run a dot, the median a bar. */
#include <math.h>
#include <stdlib.h>

#include "results/report_internal.h"
#include "results/table.h"
#include "results/table_cells.h"
#include "results/util/cleanup.h"

#define FIGURE_WIDTH 520
#define STRIP_HEIGHT 40
#define STRIPS_MAX 48
#define LABEL_COLUMNS 36
#define JITTER 0.18

/* Spread over the height of a strip, the same in every report: the golden ratio's multiples. */
static double jitter(size_t i)
{
	double x = (double)(i + 1) * 0.6180339887498949;

	return (2 * (x - floor(x)) - 1) * JITTER;
}

struct spread {
	double lo, hi;
	size_t n;
};

static struct spread spread_of(const struct report *r, const char *metric, size_t ncells)
{
	struct spread s = { .lo = INFINITY, .hi = -INFINITY };

	for (size_t i = 0; i < ncells; i++) {
		size_t n;
		cleanup_free double *v = report_values(&r->cell[i], metric, &n, NULL);

		for (size_t k = 0; k < n; k++) {
			s.lo = fmin(s.lo, v[k]);
			s.hi = fmax(s.hi, v[k]);
		}
		s.n += n;
	}
	return s;
}

/* Linear, with room beside the outermost dots, from 0 where that is near; else logarithmic. */
static struct plot_axis axis_of(const struct spread *s)
{
	double room = 0.03 * (s->hi - s->lo);

	if (s->lo > 0 && s->hi / s->lo > 1000)
		return (struct plot_axis){ s->lo / 1.3, s->hi * 1.3, true, TICKS_NUMBER };
	if (s->lo >= 0 && s->lo < 0.5 * s->hi)
		return (struct plot_axis){ -room, s->hi + room, false, TICKS_NUMBER };
	return (struct plot_axis){ s->lo - room, s->hi + room, false, TICKS_NUMBER };
}

static void draw_strip(struct report *r, const struct report_cell *cell, size_t colour,
		       const char *metric, double base)
{
	size_t n;
	cleanup_free double *v = report_values(cell, metric, &n, NULL);
	cleanup_free double *y = xcalloc(n + 1, sizeof(*y));
	cleanup_free char *median = table_number(stat_median(v, n));
	cleanup_free char *name = html_short(cell->label, LABEL_COLUMNS), *label = NULL;

	for (size_t i = 0; i < n; i++)
		y[i] = base + jitter(i);
	plot_dots(&r->plots, colour, v, y, n);
	if (n)
		plot_bar(&r->plots, colour, stat_median(v, n), base - 0.32, base + 0.32);
	label = n ? str_printf("%s: median %s of %zu", name, median, n) :
		    str_printf("%s: no value", name);
	plot_text(&r->plots, base + 0.46, label);
}

static void put_metric(struct report *r, const struct report_metric *m, size_t ncells)
{
	struct spread s = spread_of(r, m->name, ncells);
	cleanup_free char *name = str_printf("Distribution of %s", m->title);
	cleanup_free char *lo = table_number(s.lo), *hi = table_number(s.hi);
	cleanup_free char *desc = str_printf("A dot a run, a row a cell, a bar at the median; %zu"
					     " values from %s to %s.", s.n, lo, hi);
	struct plot_axis x = axis_of(&s);
	size_t plot;

	if (!s.n) {
		strbuf_adds(&r->html, "<p>");
		html_text(&r->html, m->title);
		strbuf_adds(&r->html, ": no run has it.</p>\n");
		return;
	}
	plot = plot_begin(&r->plots, &(struct plot_shape){ FIGURE_WIDTH, (unsigned int)ncells * STRIP_HEIGHT + 40,
							   20, name, desc });
	plot_axes(&r->plots, &x, &(struct plot_axis){ 0.4, (double)ncells + 0.7, false, TICKS_NONE });
	for (size_t i = 0; i < ncells; i++)
		draw_strip(r, &r->cell[i], i, m->name, (double)(ncells - i));
	plot_end(&r->plots);
	strbuf_adds(&r->html, "<figure>\n<figcaption>");
	html_text(&r->html, m->title);
	strbuf_adds(&r->html, " <small>");
	html_text(&r->html, m->unit);
	strbuf_addf(&r->html, "%s</small></figcaption>\n", x.log ? " (logarithmic)" : "");
	plots_put(&r->html, plot);
	strbuf_adds(&r->html, "\n</figure>\n");
}

void report_put_values(struct report *r)
{
	size_t ncells = r->ncells < STRIPS_MAX ? r->ncells : STRIPS_MAX;

	strbuf_adds(&r->html, "<section id=\"values\">\n<h2>Distributions</h2>\n"
			      "<p>Every run that ended ok is a dot; the bar is the median.");
	if (ncells < r->ncells)
		strbuf_addf(&r->html, " The first %zu of %zu cells are drawn.", ncells, r->ncells);
	strbuf_adds(&r->html, "</p>\n<div class=\"grid\">\n");
	for (size_t i = 0; i < r->nmetrics; i++)
		put_metric(r, &r->metric[i], ncells);
	strbuf_adds(&r->html, "</div>\n</section>\n");
}
