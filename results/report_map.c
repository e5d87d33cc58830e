// SPDX-License-Identifier: GPL-2.0-only
/* The map of pageblocks, before and after the workload: a square a block, or a few. */
#include <stdlib.h>
#include <string.h>

#include "results/pageblocks_map.h"
#include "results/report_internal.h"
#include "results/util/cleanup.h"

#define SQUARES_MAX 16384

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
	size_t rows = squares_rows(&g);

	squares_fill(&g, p);
	strbuf_adds(sb, "<figure>\n<figcaption>");
	html_text(sb, r->cell[shown->cell].label);
	strbuf_addf(sb, ", %s the workload <small>run ", when);
	report_run_name(r, shown->run, sb);
	strbuf_addf(sb, "</small></figcaption>\n<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot map\""
			" viewBox=\"0 0 %d %zu\" role=\"img\" aria-label=\"Pageblocks %s the workload, ",
		    SQUARES_SIDE, rows * SQUARES_SIDE / g.columns + 1, when);
	html_text(sb, r->cell[shown->cell].label);
	strbuf_addf(sb, "\"><desc>%u block%s a square, from block %u, %zu squares a row.</desc>\n", g.merged,
		    g.merged == 1 ? "" : "s", g.first, g.columns);
	squares_put(&g, sb);
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
	g = squares_of(first, end, SQUARES_MAX);
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
