// SPDX-License-Identifier: GPL-2.0-only
/* The map of pageblocks, before and after the workload: a square a block, or a few. */
#include <stdlib.h>
#include <string.h>

#include "results/report_internal.h"
#include "results/util/cleanup.h"

#define SIDE 512
#define SQUARES_MAX 16384

/* Squares in rows; each stands for `merged` blocks that follow one another. */
struct squares {
	uint32_t first, merged;
	size_t columns, n;
	uint8_t *state; /* enum pageblock_state; BLOCK_HOLE where nothing is */
};

static struct squares squares_of(uint32_t first, uint32_t end)
{
	struct squares g = { .merged = 1, .columns = 16 };
	size_t n;

	while ((end - first) / g.merged > SQUARES_MAX)
		g.merged *= 2;
	g.first = first / g.merged * g.merged;
	n = (end - g.first + g.merged - 1) / g.merged;
	while (g.columns * g.columns < n)
		g.columns *= 2;
	g.n = n;
	return g;
}

/* The pages of all blocks of a square together say what it is. */
static void squares_fill(struct squares *g, const struct pageblocks *p)
{
	g->state = xcalloc(g->n + 1, 1);
	memset(g->state, BLOCK_HOLE, g->n);
	for (size_t i = 0; i < p->n;) {
		size_t square = (p->block[i].block - g->first) / g->merged;
		uint64_t pages[PAGE_KINDS] = { 0 };

		for (; i < p->n && (p->block[i].block - g->first) / g->merged == square; i++)
			for (int k = 0; k < PAGE_KINDS; k++)
				pages[k] += p->block[i].pages[k];
		if (square < g->n)
			g->state[square] = (uint8_t)pageblock_state(pages);
	}
}

/* All squares of one state as one path; neighbours in a row are one rectangle. */
static void put_state(const struct squares *g, enum pageblock_state state, struct strbuf *sb)
{
	double side = (double)SIDE / (double)g->columns;
	bool any = false;

	for (size_t at = 0; at < g->n;) {
		size_t run = 0, column = at % g->columns;

		while (at + run < g->n && column + run < g->columns && g->state[at + run] == state)
			run++;
		if (!run) {
			at++;
			continue;
		}
		strbuf_addf(sb, "%sM%.4g,%.4gh%.4gv%.4gh-%.4gz", any ? "" : "<path d=\"",
			    (double)column * side, (double)(at / g->columns) * side, (double)run * side,
			    side, (double)run * side);
		any = true;
		at += run;
	}
	if (any)
		strbuf_addf(sb, "\" class=\"k%d\"/>\n", (int)state);
}

/* Lines between the squares, where those are large enough to be told apart. */
static void put_lines(const struct squares *g, size_t rows, struct strbuf *sb)
{
	double side = (double)SIDE / (double)g->columns;

	if (side < 4)
		return;
	strbuf_adds(sb, "<path class=\"sep\" d=\"");
	for (size_t i = 1; i < g->columns; i++)
		strbuf_addf(sb, "M%.4g,0V%.4g", (double)i * side, (double)rows * side);
	for (size_t i = 1; i < rows; i++)
		strbuf_addf(sb, "M0,%.4gH%d", (double)i * side, SIDE);
	strbuf_adds(sb, "\"/>\n");
}

static void put_counts(const struct pageblocks *p, struct strbuf *sb)
{
	size_t states[BLOCK_STATES];
	uint64_t pages[PAGE_KINDS];
	const char *between = "";

	pageblocks_count(p, states, pages);
	strbuf_addf(sb, "<p>%zu pageblocks: ", p->n);
	for (int i = 0; i < BLOCK_STATES; i++) {
		if (!states[i])
			continue;
		strbuf_addf(sb, "%s%zu %s", between, states[i], pageblock_state_names[i]);
		between = "; ";
	}
	strbuf_adds(sb, ". Pages: ");
	for (int k = 0; k < PAGE_KINDS; k++)
		strbuf_addf(sb, "%s%ju %s", k ? ", " : "", (uintmax_t)pages[k], page_kind_names[k]);
	strbuf_adds(sb, ".");
	if (p->bad)
		strbuf_addf(sb, " %zu line%s of the sample could not be read.", p->bad, p->bad == 1 ? "" : "s");
	strbuf_adds(sb, "</p>\n");
}

static void put_one(struct report *r, const struct report_shown *shown, const struct pageblocks *p,
		    const char *when, struct squares g)
{
	struct strbuf *sb = &r->html;
	size_t rows = (g.n + g.columns - 1) / g.columns;

	squares_fill(&g, p);
	strbuf_adds(sb, "<figure>\n<figcaption>");
	html_text(sb, r->cell[shown->cell].label);
	strbuf_addf(sb, ", %s the workload <small>run ", when);
	report_run_name(r, shown->run, sb);
	strbuf_addf(sb, "</small></figcaption>\n<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot map\""
			" viewBox=\"0 0 %d %zu\" role=\"img\" aria-label=\"Pageblocks %s the workload, ",
		    SIDE, rows * SIDE / g.columns + 1, when);
	html_text(sb, r->cell[shown->cell].label);
	strbuf_addf(sb, "\"><desc>%u block%s a square, from block %u, %zu squares a row.</desc>\n", g.merged,
		    g.merged == 1 ? "" : "s", g.first, g.columns);
	for (int i = 0; i < BLOCK_STATES; i++)
		put_state(&g, (enum pageblock_state)i, sb);
	put_lines(&g, rows, sb);
	strbuf_adds(sb, "</svg>\n");
	put_counts(p, sb);
	strbuf_adds(sb, "</figure>\n");
	free(g.state);
}

/* Both maps of a run in one grid, so that a block stands at one place in both. */
static uint32_t put_run(struct report *r, const struct report_shown *s)
{
	const struct pageblocks *a = &s->series->before, *b = &s->series->after;
	uint32_t first = a->n ? a->block[0].block : b->block[0].block;
	uint32_t end = a->n ? a->block[a->n - 1].block + 1 : 0;
	struct squares g;

	if (b->n && b->block[0].block < first)
		first = b->block[0].block;
	if (b->n && b->block[b->n - 1].block + 1 > end)
		end = b->block[b->n - 1].block + 1;
	g = squares_of(first, end);
	if (a->n)
		put_one(r, s, a, "before", g);
	if (b->n)
		put_one(r, s, b, "after", g);
	return g.merged;
}

static void put_legend(struct strbuf *sb)
{
	strbuf_adds(sb, "<ul class=\"legend\">\n");
	for (int i = 0; i < BLOCK_STATES; i++)
		strbuf_addf(sb, "<li><svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot key\" viewBox=\"0 0 28 10\""
				" aria-hidden=\"true\"><path class=\"k%d\" d=\"M0.5,0.5h27v9h-27z\"/></svg> %s</li>\n",
			    i, pageblock_state_names[i]);
	strbuf_adds(sb, "</ul>\n");
}

void report_put_map(struct report *r)
{
	struct strbuf *sb = &r->html;
	uint32_t merged = 1;
	bool any = false;

	strbuf_adds(sb, "<section id=\"pageblocks\">\n<h2>Pageblocks</h2>\n");
	for (size_t i = 0; i < r->nshown; i++) {
		const struct report_shown *s = &r->shown[i];
		uint32_t m;

		if (!s->typical || !s->series || (!s->series->before.n && !s->series->after.n))
			continue;
		if (!any) {
			strbuf_adds(sb, "<p>A square a pageblock, from low to high addresses, row by row. One run of"
					" each cell, the one with the median of the first metric. A block is called"
					" pinned where any page of it is, else unmovable where any is, else movable;"
					" pages on the free lists of the CPUs count as unmovable.</p>\n");
			put_legend(sb);
			strbuf_adds(sb, "<div class=\"grid\">\n");
		}
		any = true;
		m = put_run(r, s);
		merged = m > merged ? m : merged;
	}
	if (any)
		strbuf_adds(sb, "</div>\n");
	else
		strbuf_adds(sb, "<p>No run that is drawn has a sample of its pageblocks.</p>\n");
	if (merged > 1)
		strbuf_addf(sb, "<p class=\"note\">Up to %u blocks are one square.</p>\n", merged);
	strbuf_adds(sb, "</section>\n");
}
