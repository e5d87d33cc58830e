// SPDX-License-Identifier: GPL-2.0-only
/* buddyinfo over time: an order a row, the more free pages the stronger the colour. */
#include <math.h>
#include <stdlib.h>

#include "results/report_internal.h"
#include "results/util/cleanup.h"

#define WIDTH 520
#define LEFT 24
#define ROW 13
#define TOP 4
#define COLUMNS 160
#define LEVELS 8 /* by powers of 8: 1-7, 8-63, ... 2M and more */

/* 0: no page. */
static unsigned int level_of(double pages)
{
	unsigned int level = 1;

	if (!(pages >= 1))
		return 0;
	for (double top = 8; pages >= top && level < LEVELS; top *= 8)
		level++;
	return level;
}

struct heat {
	const struct report_series *s;
	size_t columns;
	double lo, hi; /* seconds */
};

/* The sample that stands for a column: the last one before its end. */
static const double *pages_at(const struct heat *h, size_t column, size_t *from)
{
	double end = h->lo + (h->hi - h->lo) * (double)(column + 1) / (double)h->columns;

	while (*from + 1 < h->s->buddy.n && h->s->buddy.t[*from + 1] <= end)
		(*from)++;
	return h->s->buddy.pages[*from];
}

/* All of one level as one path; columns of a row that are alike are one rectangle. */
static void put_level(const struct heat *h, unsigned int level, struct strbuf *sb)
{
	double w = (double)(WIDTH - LEFT) / (double)h->columns;
	bool any = false;

	for (unsigned int o = 0; o < h->s->buddy.orders; o++) {
		size_t from = 0, run = 0;

		for (size_t c = 0; c <= h->columns; c++) {
			bool in = c < h->columns && level_of(pages_at(h, c, &from)[o]) == level;

			if (!in && run)
				strbuf_addf(sb, "%sM%.1f,%uh%.1fv%dh-%.1fz", any ? "" : "<path d=\"",
					    LEFT + (double)(c - run) * w,
					    TOP + (h->s->buddy.orders - 1 - o) * ROW, (double)run * w, ROW - 1,
					    (double)run * w);
			any |= !in && run;
			run = in ? run + 1 : 0;
		}
	}
	if (any)
		strbuf_addf(sb, "\" class=\"h%u\"/>\n", level);
}

static void put_scales(const struct heat *h, struct strbuf *sb)
{
	unsigned int bottom = TOP + h->s->buddy.orders * ROW;
	double zero = LEFT + (WIDTH - LEFT) * (0 - h->lo) / (h->hi - h->lo);

	for (unsigned int o = 0; o < h->s->buddy.orders; o++)
		strbuf_addf(sb, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">%u</text>\n", LEFT - 5,
			    TOP + (h->s->buddy.orders - o) * ROW - 3, o);
	if (h->s->begun && zero >= LEFT && zero < WIDTH)
		strbuf_addf(sb, "<path class=\"ed\" d=\"M%.1f,%dV%u\"/>\n<text x=\"%.1f\" y=\"%u\">0</text>\n",
			    zero, TOP, bottom, zero, bottom + 13);
	if (h->s->ended && h->s->end_s > 0 && h->s->end_s <= h->hi)
		strbuf_addf(sb, "<path class=\"ed\" d=\"M%.1f,%dV%u\"/>\n",
			    LEFT + (WIDTH - LEFT) * (h->s->end_s - h->lo) / (h->hi - h->lo), TOP, bottom);
	strbuf_addf(sb, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">%.4g s</text>\n", WIDTH, bottom + 13,
		    h->hi);
}

static void put_one(struct report *r, const struct report_shown *shown)
{
	struct strbuf *sb = &r->html;
	struct heat h = { .s = shown->series };

	h.lo = h.s->buddy.t[0];
	h.hi = h.s->buddy.t[h.s->buddy.n - 1];
	h.columns = h.s->buddy.n < COLUMNS ? h.s->buddy.n : COLUMNS;
	strbuf_adds(sb, "<figure>\n<figcaption>");
	html_text(sb, r->cell[shown->cell].label);
	strbuf_adds(sb, " <small>run ");
	report_run_name(r, shown->run, sb);
	strbuf_addf(sb, "</small></figcaption>\n<svg xmlns=\"http://www.w3.org/2000/svg\""
			" class=\"plot\" viewBox=\"0 0 %d %u\" role=\"img\" aria-label=\"Free pages by order"
			" over time, ", WIDTH, TOP + h.s->buddy.orders * ROW + 18);
	html_text(sb, r->cell[shown->cell].label);
	strbuf_adds(sb, "\"><desc>An order a row, the highest on top; time to the right.</desc>\n");
	for (unsigned int level = 1; level <= LEVELS; level++)
		put_level(&h, level, sb);
	put_scales(&h, sb);
	strbuf_adds(sb, "</svg>\n</figure>\n");
}

static void put_legend(struct strbuf *sb)
{
	static const char *const of[] = { "none", "1 – 7", "8 – 63", "64 – 511", "512 – 4095", "4k – 32k",
					  "32k – 256k", "256k – 2M", "2M and more" };

	strbuf_adds(sb, "<ul class=\"legend\">\n");
	for (unsigned int i = 0; i <= LEVELS; i++)
		strbuf_addf(sb, "<li><svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot key\" viewBox=\"0 0 28 10\""
				" aria-hidden=\"true\"><path class=\"h%u\" d=\"M0.5,0.5h27v9h-27z\"/></svg> %s</li>\n",
			    i, of[i]);
	strbuf_adds(sb, "</ul>\n");
}

void report_put_heat(struct report *r)
{
	bool any = false;

	strbuf_adds(&r->html, "<section id=\"buddyinfo\">\n<h2>Free memory by order</h2>\n");
	for (size_t i = 0; i < r->nshown; i++) {
		const struct report_shown *s = &r->shown[i];

		if (!s->typical || !s->series || s->series->buddy.n < 2)
			continue;
		if (!any) {
			strbuf_adds(&r->html, "<p>buddyinfo, all zones of all nodes added up, in pages: an order a"
					      " row, time to the right, the upright lines the workload’s begin and"
					      " end. One run of each cell, the one with the median of the first"
					      " metric.</p>\n");
			put_legend(&r->html);
			strbuf_adds(&r->html, "<div class=\"grid\">\n");
		}
		any = true;
		put_one(r, s);
	}
	strbuf_adds(&r->html, any ? "</div>\n</section>\n" :
				    "<p>No run that is drawn has samples of buddyinfo.</p>\n</section>\n");
}
