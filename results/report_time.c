// SPDX-License-Identifier: GPL-2.0-only
/* Counters as rates, levels and pressure, over the time of the runs that are shown. */
#include <math.h>
#include <stdlib.h>

#include "results/report_internal.h"
#include "results/util/cleanup.h"

#define LINE_POINTS 600
#define FIGURE_WIDTH 520
#define FIGURE_HEIGHT 190
#define MARGIN_LEFT 52

/* A line as it is drawn. */
struct curve {
	double *x, *y;
	size_t n;
};

static void curve_free(struct curve *c)
{
	free(c->x);
	free(c->y);
}

/* The k-th of n points kept out of `all`, the first and the last among them. */
static size_t pick(size_t k, size_t n, size_t all)
{
	return n < 2 ? 0 : k * (all - 1) / (n - 1);
}

/*
 * Rates are means over the interval between two points that are kept, in the middle of it, so that
 * dropping points hides no event; what ran backwards makes a gap.
 */
static struct curve curve_make(const struct report_track *t, const struct report_line *line,
			       double scale)
{
	size_t n = t->n < LINE_POINTS ? t->n : LINE_POINTS;
	struct curve c = { xcalloc(n + 1, sizeof(double)), xcalloc(n + 1, sizeof(double)), 0 };

	for (size_t k = 0; k < n; k++) {
		size_t at = pick(k, n, t->n), before = k ? pick(k - 1, n, t->n) : at;
		double dv = line->v[at] - line->v[before], dt = t->t[at] - t->t[before];

		if (line->level) {
			c.x[c.n] = t->t[at];
			c.y[c.n++] = line->v[at] * scale;
		} else if (k) {
			c.x[c.n] = t->t[before] + dt / 2;
			c.y[c.n++] = dv >= 0 ? dv / dt * scale : NAN;
		}
	}
	return c;
}

/* One figure: which line of which track, of every run that is shown. */
struct panel {
	const char *title; /* ours or the catalogue's */
	const char *unit;
	size_t psi;  /* 0: vmstat; else 1 + index into psi[] */
	size_t line;
	double scale;
};

static const struct report_track *track_of(const struct panel *p, const struct report_series *s)
{
	return p->psi ? &s->psi[p->psi - 1] : &s->vmstat;
}

static bool has_line(const struct panel *p, const struct report_series *s)
{
	const struct report_track *t = s ? track_of(p, s) : NULL;

	return t && p->line < t->nlines && t->line[p->line].any && t->n > 1;
}

/* What the panel's y axis must hold; hi 0: nothing ever moved. */
static double panel_top(const struct report *r, const struct panel *p, bool *known)
{
	double top = 0;

	*known = false;
	for (size_t i = 0; i < r->nshown; i++) {
		const struct report_series *s = r->shown[i].series;
		struct curve c;

		if (!has_line(p, s))
			continue;
		*known = true;
		c = curve_make(track_of(p, s), &track_of(p, s)->line[p->line], p->scale);
		for (size_t k = 0; k < c.n; k++)
			if (c.y[k] > top)
				top = c.y[k];
		curve_free(&c);
	}
	return top;
}

struct span {
	double lo, hi;
};

static struct span time_span(const struct report *r)
{
	struct span s = { 0, 1 };

	for (size_t i = 0; i < r->nshown; i++) {
		const struct report_series *series = r->shown[i].series;

		if (!series)
			continue;
		if (series->vmstat.n)
			s.lo = fmin(s.lo, series->vmstat.t[0]);
		s.hi = fmax(s.hi, series->last_s);
	}
	return s;
}

/* The workload begins at 0 in all; its end is marked for the typical run of each cell. */
static void draw_edges(struct report *r)
{
	plot_edge(&r->plots, 0);
	for (size_t i = 0; i < r->nshown; i++)
		if (r->shown[i].typical && r->shown[i].series && r->shown[i].series->ended)
			plot_edge(&r->plots, r->shown[i].series->end_s);
}

static void put_panel(struct report *r, const struct panel *p, double top)
{
	cleanup_free char *name = str_printf("%s over time, %s", p->title, p->unit);
	cleanup_free char *most = plot_number(top);
	cleanup_free char *desc = str_printf("A line a run, a colour a cell; the highest point is %s.",
					     most);
	struct span span = time_span(r);
	size_t plot = plot_begin(&r->plots, &(struct plot_shape){ FIGURE_WIDTH, FIGURE_HEIGHT,
								  MARGIN_LEFT, name, desc });

	plot_axes(&r->plots, &(struct plot_axis){ span.lo, span.hi, false, TICKS_NUMBER },
		  &(struct plot_axis){ 0, top * 1.05, false, TICKS_NUMBER });
	draw_edges(r);
	for (size_t i = 0; i < r->nshown; i++) {
		const struct report_series *s = r->shown[i].series;
		struct curve c;

		if (!has_line(p, s))
			continue;
		c = curve_make(track_of(p, s), &track_of(p, s)->line[p->line], p->scale);
		plot_line(&r->plots, r->shown[i].cell, c.x, c.y, c.n);
		curve_free(&c);
	}
	plot_end(&r->plots);
	strbuf_adds(&r->html, "<figure>\n<figcaption>");
	html_text(&r->html, p->title);
	strbuf_adds(&r->html, " <small>");
	html_text(&r->html, p->unit);
	strbuf_adds(&r->html, "</small></figcaption>\n");
	plots_put(&r->html, plot);
	strbuf_adds(&r->html, "\n</figure>\n");
}

/* Draws it, or names it in one of the lists of what there is nothing to see of. */
static void take_panel(struct report *r, const struct panel *p, struct strbuf *still,
		       struct strbuf *absent)
{
	bool known;
	double top = panel_top(r, p, &known);
	struct strbuf *list = known ? still : absent;

	if (known && top > 0) {
		put_panel(r, p, top);
		return;
	}
	strbuf_adds(list, list->len ? ", " : "");
	html_text(list, p->title);
}

static void put_counters(struct report *r, const struct report_tracked *tracked, size_t n,
			 struct strbuf *still, struct strbuf *absent)
{
	for (size_t i = 0; i < n; i++) {
		const struct counter *c = tracked[i].counter;
		cleanup_free char *title = counter_title(tracked[i].name);
		cleanup_free char *unit = c->gauge ? xstrdup(c->unit) : str_printf("%s/s", c->unit);

		take_panel(r, &(struct panel){ title, unit, 0, i, 1 }, still, absent);
	}
}

static void put_pressure(struct report *r, struct strbuf *still, struct strbuf *absent)
{
	static const char *const what[] = { "memory", "io", "cpu" };

	for (size_t i = 0; i < ARRAY_SIZE(what); i++) {
		for (size_t line = 0; line < 2; line++) {
			cleanup_free char *title = str_printf("Pressure on %s, %s", what[i],
							      line ? "full" : "some");

			/* Microseconds a second, as per cent. */
			take_panel(r, &(struct panel){ title, "% of the time", 1 + i, line, 1e-4 },
				   still, absent);
		}
	}
}

static void put_which(struct report *r)
{
	struct strbuf *sb = &r->html;

	strbuf_adds(sb, "<p>Seconds from the begin of the workload. The thin upright lines are its begin,"
			" and its end in the typical run of each cell; before it are the end of the layout and"
			" the settling, behind it the collecting of results. Rates are means between two"
			" samples, at most 600 a line. ");
	if (r->overlay)
		strbuf_adds(sb, "All runs that ended ok are drawn, a line each");
	else
		strbuf_adds(sb, "One run of each cell is drawn, the one with the median of the first metric");
	if (r->ncells > PLOT_COLOURS)
		strbuf_addf(sb, "; of %zu cells the first %d", r->ncells, PLOT_COLOURS);
	strbuf_adds(sb, ":");
	for (size_t i = 0; i < r->nshown; i++) {
		strbuf_adds(sb, i ? ", " : " ");
		report_run_name(r, r->shown[i].run, sb);
	}
	strbuf_adds(sb, ".</p>\n");
	report_put_legend(r);
	if (r->faults.len)
		strbuf_addf(sb, "<p>Samples that cannot be read:</p>\n<ul class=\"warnings\">\n%s</ul>\n",
			    r->faults.data);
}

void report_put_time(struct report *r, const struct report_tracked *tracked, size_t ntracked)
{
	cleanup_strbuf struct strbuf still = STRBUF_INIT, absent = STRBUF_INIT;

	strbuf_adds(&r->html, "<section id=\"time\">\n<h2>Over time</h2>\n");
	if (!r->nshown) {
		strbuf_adds(&r->html, "<p>No run ended ok.</p>\n</section>\n");
		return;
	}
	put_which(r);
	strbuf_adds(&r->html, "<div class=\"grid\">\n");
	put_counters(r, tracked, ntracked, &still, &absent);
	put_pressure(r, &still, &absent);
	strbuf_adds(&r->html, "</div>\n");
	if (still.len)
		strbuf_addf(&r->html, "<p class=\"note\">At 0 all the time: %s.</p>\n", still.data);
	if (absent.len)
		strbuf_addf(&r->html, "<p class=\"note\">Not in these samples: %s.</p>\n", absent.data);
	strbuf_adds(&r->html, "</section>\n");
}
