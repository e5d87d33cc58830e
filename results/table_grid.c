// SPDX-License-Identifier: GPL-2.0-only
#include "results/table_grid.h"

#include <string.h>

#include "results/run_text.h"
#include "results/util/cleanup.h"

#define GRID_HEADING 22
#define GRID_LABEL 34

void grid_put_wrapped(struct strbuf *sb, size_t indent, const char *text)
{
	cleanup_free char *clean = run_text_printable(text);
	size_t n;
	char **lines = run_text_wrap(clean, TABLE_WIDTH - indent - 2, &n);

	for (size_t i = 0; i < n; i++)
		strbuf_addf(sb, "%*s%s\n", (int)(indent + (i ? 2 : 0)), "", lines[i]);
	run_text_lines_free(lines);
}

void grid_add_col(struct grid *g, const char *heading, size_t min, size_t gap)
{
	g->col = xreallocarray(g->col, g->ncols + 1, sizeof(*g->col));
	g->col[g->ncols++] = (struct grid_col){ run_text_printable(heading), min, gap };
}

size_t grid_add_row(struct grid *g, const char *label)
{
	g->label = xreallocarray(g->label, g->nrows + 1, sizeof(*g->label));
	g->label[g->nrows] = run_text_printable(label);
	g->text = xreallocarray(g->text, (g->nrows + 1) * g->ncols, sizeof(*g->text));
	for (size_t i = 0; i < g->ncols; i++)
		g->text[g->nrows * g->ncols + i] = xstrdup("-");
	return g->nrows++;
}

void grid_set(struct grid *g, size_t row, size_t col, char *text)
{
	char **at = &g->text[row * g->ncols + col];

	free(*at);
	*at = text;
}

void grid_free(struct grid *g)
{
	for (size_t i = 0; i < g->nrows * g->ncols; i++)
		free(g->text[i]);
	for (size_t i = 0; i < g->nrows; i++)
		free(g->label[i]);
	for (size_t i = 0; i < g->ncols; i++)
		free(g->col[i].heading);
	free(g->text);
	free(g->label);
	free(g->col);
	memset(g, 0, sizeof(*g));
}

static size_t widest_line(const char *s, size_t limit)
{
	size_t n, widest = 0;
	char **lines = run_text_wrap(s, limit, &n);

	for (size_t i = 0; i < n; i++)
		if (run_text_columns(lines[i]) > widest)
			widest = run_text_columns(lines[i]);
	run_text_lines_free(lines);
	return widest;
}

static size_t heading_limit(const struct grid *g)
{
	return g->heading_max ? g->heading_max : GRID_HEADING;
}

static size_t col_width(const struct grid *g, size_t col)
{
	size_t width = widest_line(g->col[col].heading, heading_limit(g));

	if (width < g->col[col].min)
		width = g->col[col].min;
	for (size_t i = 0; i < g->nrows; i++)
		if (run_text_columns(g->text[i * g->ncols + col]) > width)
			width = run_text_columns(g->text[i * g->ncols + col]);
	return width;
}

static size_t label_width(const struct grid *g)
{
	cleanup_free char *corner = run_text_printable(g->corner ? g->corner : "");
	size_t width = widest_line(corner, GRID_LABEL);

	if (width < g->label_min)
		width = g->label_min;
	for (size_t i = 0; i < g->nrows; i++)
		if (widest_line(g->label[i], GRID_LABEL) > width)
			width = widest_line(g->label[i], GRID_LABEL);
	return width;
}

static void end_line(struct strbuf *sb)
{
	while (sb->len && sb->data[sb->len - 1] == ' ')
		sb->len--;
	strbuf_adds(sb, "\n");
}

static void pad(struct strbuf *sb, size_t n)
{
	strbuf_addf(sb, "%*s", (int)n, "");
}

static size_t indent(const struct grid *g)
{
	return g->flush ? 0 : TABLE_INDENT;
}

static void put_left(struct strbuf *sb, const char *s, size_t width)
{
	size_t n = run_text_columns(s);

	strbuf_adds(sb, s);
	pad(sb, width > n ? width - n : 0);
}

static void put_right(struct strbuf *sb, const char *s, size_t width)
{
	size_t n = run_text_columns(s);

	pad(sb, width > n ? width - n : 0);
	strbuf_adds(sb, s);
}

/* One row of a block: the label may take several lines, the numbers stand in the last. */
static void put_row(const struct grid *g, struct strbuf *sb, size_t row, const size_t *width,
		    size_t labels, size_t from, size_t to)
{
	size_t n;
	char **lines = run_text_wrap(g->label[row], GRID_LABEL, &n);

	for (size_t i = 0; i < n; i++) {
		pad(sb, indent(g));
		put_left(sb, lines[i], labels);
		for (size_t c = from; i == n - 1 && c < to; c++) {
			pad(sb, g->col[c].gap);
			put_right(sb, g->text[row * g->ncols + c], width[c]);
		}
		end_line(sb);
	}
	run_text_lines_free(lines);
}

/* Headings of several lines stand on the bottom line; the corner's come first. */
static void put_headings(const struct grid *g, struct strbuf *sb, const size_t *width,
			 size_t labels, size_t from, size_t to)
{
	cleanup_free char *corner = run_text_printable(g->corner ? g->corner : "");
	char ***lines = xcalloc(g->ncols + 1, sizeof(*lines));
	size_t *n = xcalloc(g->ncols + 1, sizeof(*n)), most, ncorner;
	char **corner_lines = run_text_wrap(corner, GRID_LABEL, &ncorner);

	most = ncorner;
	for (size_t c = from; c < to; c++) {
		lines[c] = run_text_wrap(g->col[c].heading, heading_limit(g), &n[c]);
		most = n[c] > most ? n[c] : most;
	}
	for (size_t i = 0; i < most; i++) {
		pad(sb, indent(g));
		put_left(sb, i < most - ncorner ? "" : corner_lines[i - (most - ncorner)], labels);
		for (size_t c = from; c < to; c++) {
			size_t skip = most - n[c];

			pad(sb, g->col[c].gap);
			put_right(sb, i < skip ? "" : lines[c][i - skip], width[c]);
		}
		end_line(sb);
	}
	for (size_t c = from; c < to; c++)
		run_text_lines_free(lines[c]);
	run_text_lines_free(corner_lines);
	free(lines);
	free(n);
}

void grid_render(const struct grid *g, struct strbuf *sb)
{
	cleanup_free size_t *width = xcalloc(g->ncols, sizeof(*width));
	size_t labels = label_width(g), from = 0;

	for (size_t c = 0; c < g->ncols; c++)
		width[c] = col_width(g, c);
	while (from < g->ncols) {
		size_t to = from, columns = indent(g) + labels;

		while (to < g->ncols && (to == from ||
					 columns + g->col[to].gap + width[to] <= TABLE_WIDTH)) {
			columns += g->col[to].gap + width[to];
			to++;
		}
		if (from)
			strbuf_adds(sb, "\n");
		else if (g->over)
			strbuf_addf(sb, "%*s%s\n", (int)(indent(g) + labels + g->col[0].gap), "",
				    g->over);
		put_headings(g, sb, width, labels, from, to);
		for (size_t row = 0; row < g->nrows; row++)
			put_row(g, sb, row, width, labels, from, to);
		from = to;
	}
}
