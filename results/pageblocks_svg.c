// SPDX-License-Identifier: GPL-2.0-only
/* The map of pageblocks as a picture that stands alone. */
#include <stdlib.h>

#include "results/pageblocks_map.h"
#include "results/report_html.h"
#include "results/run_text.h"
#include "results/util/cleanup.h"

#define SQUARES_MAX 16384
#define LINE 16	   /* of the caption */
#define ENTRY 20   /* of the legend */
#define COLUMNS 76 /* of text in the width of the drawing */

static const char *const colour[BLOCK_STATES] = { "#009e73", "#9fd0f0", "#56b4e9", "#eab38a",
						  "#d55e00", "#c5a5e0", "#8e44ad", "#e8e8e8" };

/* The lines of a text, and where the next one goes. */
static size_t put_text(struct strbuf *sb, const char *text, const char *class, size_t y)
{
	cleanup_free char *clean = run_text_printable(text);
	size_t n;
	char **lines = run_text_wrap(clean, COLUMNS, &n);

	for (size_t i = 0; i < n; i++, y += LINE) {
		strbuf_addf(sb, "<text class=\"%s\" x=\"0\" y=\"%zu\">", class, y + 12);
		html_text(sb, lines[i]);
		strbuf_adds(sb, "</text>\n");
	}
	run_text_lines_free(lines);
	return y;
}

static size_t put_caption(struct strbuf *sb, const struct squares *g, const char *title, const char *trouble)
{
	size_t y = put_text(sb, title, "title", 0);

	if (trouble)
		y = put_text(sb, trouble, "trouble", y);
	if (g->merged > 1) {
		cleanup_free char *scale = str_printf("A square is %u pageblocks.", g->merged);

		y = put_text(sb, scale, "note", y);
	}
	return y + 4;
}

static size_t put_legend(struct strbuf *sb, const struct pageblocks *p, size_t y)
{
	size_t states[BLOCK_STATES];

	pageblocks_count(p, states, NULL);
	for (int i = 0; i < BLOCK_STATES; i++, y += ENTRY) {
		strbuf_addf(sb, "<rect class=\"k%d\" x=\"0\" y=\"%zu\" width=\"28\" height=\"12\"/><text x=\"36\" y=\"%zu\">%s",
			    i, y + 8, y + 18, pageblock_state_names[i]);
		if (i != BLOCK_HOLE) /* blocks without any page are not told of */
			strbuf_addf(sb, ": %zu", states[i]);
		strbuf_adds(sb, "</text>\n");
	}
	return y + 8;
}

static void put_head(struct strbuf *sb, const char *title, size_t height)
{
	strbuf_addf(sb, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %zu\" role=\"img\">\n<title>",
		    SQUARES_SIDE, height);
	html_text(sb, title);
	strbuf_adds(sb, "</title>\n<style>text{font:12px sans-serif;fill:#444}.title{font-weight:bold}"
			".trouble{fill:#b00020}.sep{stroke:#fff;stroke-width:.8}");
	for (int i = 0; i < BLOCK_STATES; i++)
		strbuf_addf(sb, ".k%d{fill:%s}", i, colour[i]);
	strbuf_adds(sb, "</style>\n");
}

char *pageblocks_svg(const struct pageblocks *p, const char *title, const char *trouble)
{
	cleanup_strbuf struct strbuf body = STRBUF_INIT;
	struct strbuf sb = STRBUF_INIT;
	struct squares g;
	size_t y;

	if (!p->n)
		return NULL;
	g = squares_of(p->block[0].block, p->block[p->n - 1].block + 1, SQUARES_MAX);
	squares_fill(&g, p);
	y = put_caption(&body, &g, title, trouble);
	strbuf_addf(&body, "<g transform=\"translate(0,%zu)\">\n", y);
	squares_put(&g, &body);
	strbuf_adds(&body, "</g>\n");
	y = put_legend(&body, p, y + squares_rows(&g) * SQUARES_SIDE / g.columns);
	put_head(&sb, title, y);
	strbuf_add(&sb, body.data, body.len);
	strbuf_adds(&sb, "</svg>\n");
	free(g.state);
	return strbuf_steal(&sb);
}
