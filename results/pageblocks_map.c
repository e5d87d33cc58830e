// SPDX-License-Identifier: GPL-2.0-only
#include "results/pageblocks_map.h"

#include <stdlib.h>
#include <string.h>

#include "results/util/cleanup.h"

#define ROW 64
#define ROWS_MAX 64

struct squares squares_of(uint32_t first, uint32_t end, size_t most)
{
	struct squares g = { .merged = 1, .columns = 16 };
	size_t n;

	while ((end - first) / g.merged > most)
		g.merged *= 2;
	g.first = first / g.merged * g.merged;
	n = (end - g.first + g.merged - 1) / g.merged;
	while (g.columns * g.columns < n)
		g.columns *= 2;
	g.n = n;
	return g;
}

void squares_fill(struct squares *g, const struct pageblocks *p)
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
	double side = (double)SQUARES_SIDE / (double)g->columns;
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
	double side = (double)SQUARES_SIDE / (double)g->columns;

	if (side < 4)
		return;
	strbuf_adds(sb, "<path class=\"sep\" d=\"");
	for (size_t i = 1; i < g->columns; i++)
		strbuf_addf(sb, "M%.4g,0V%.4g", (double)i * side, (double)rows * side);
	for (size_t i = 1; i < rows; i++)
		strbuf_addf(sb, "M0,%.4gH%d", (double)i * side, SQUARES_SIDE);
	strbuf_adds(sb, "\"/>\n");
}

size_t squares_rows(const struct squares *g)
{
	return (g->n + g->columns - 1) / g->columns;
}

void squares_put(const struct squares *g, struct strbuf *sb)
{
	for (int i = 0; i < BLOCK_STATES; i++)
		put_state(g, (enum pageblock_state)i, sb);
	put_lines(g, squares_rows(g), sb);
}

/* Small letter: some of its pages are free. */
static const char letter[BLOCK_STATES] = { '.', 'm', 'M', 'u', 'U', 'p', 'P', ' ' };

static void put_legend(const struct pageblocks *p, const struct squares *g, struct strbuf *sb)
{
	size_t states[BLOCK_STATES];
	uint64_t pages[PAGE_KINDS];

	pageblocks_count(p, states, pages);
	strbuf_adds(sb, "\n");
	if (g->merged > 1)
		strbuf_addf(sb, "a letter is %u pageblocks\n", g->merged);
	for (int i = 0; i < BLOCK_STATES; i++)
		if (states[i] && i != BLOCK_HOLE)
			strbuf_addf(sb, "%c %-24s %8zu pageblock%s\n", letter[i], pageblock_state_names[i],
				    states[i], states[i] == 1 ? "" : "s");
	for (int k = 0; k < PAGE_KINDS; k++)
		if (pages[k] && k != PAGES_HOLE)
			strbuf_addf(sb, "  %-24s %8ju pages\n", page_kind_names[k], (uintmax_t)pages[k]);
}

char *pageblocks_text(const struct pageblocks *p)
{
	struct strbuf sb = STRBUF_INIT;
	struct squares g;

	if (!p->n)
		return xstrdup("no map of pageblocks\n");
	g = squares_of(p->block[0].block / ROW * ROW, p->block[p->n - 1].block + 1, ROW * ROWS_MAX);
	g.columns = ROW;
	squares_fill(&g, p);
	for (size_t at = 0; at < g.n; at += ROW) {
		char line[ROW + 1];
		size_t n = g.n - at < ROW ? g.n - at : ROW;

		for (size_t i = 0; i < n; i++)
			line[i] = letter[g.state[at + i]];
		while (n && line[n - 1] == ' ')
			n--;
		if (n)
			strbuf_addf(&sb, "%8zu  %.*s\n", (size_t)g.first + at * g.merged, (int)n, line);
	}
	put_legend(p, &g, &sb);
	free(g.state);
	return strbuf_steal(&sb);
}
