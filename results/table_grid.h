/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_TABLE_GRID_H
#define MMRIG_TABLE_GRID_H
/*
 * A plain text table: labels to the left, numbers to the right under headings, indented by four (but see flush),
 * at most 78 columns wide: columns that do not fit stand in further blocks below. All text is
 * copied and made printable.
 */
#include "results/util/str.h"

#define TABLE_WIDTH 78
#define TABLE_INDENT 4

struct grid_col {
	char *heading;
	size_t min, gap; /* least width, blanks in front */
};

struct grid {
	const char *over;    /* a heading above the first block's columns; NULL: none */
	const char *corner;  /* heading of the labels; NULL: none */
	bool flush;	     /* not indented */
	size_t label_min;
	size_t heading_max; /* headings are wrapped to this width; 0: 22 */
	struct grid_col *col;
	size_t ncols;
	char **label;
	char **text; /* nrows x ncols */
	size_t nrows;
};

/* One line of text, made printable and wrapped to 78; what follows the first is two columns further in. */
void grid_put_wrapped(struct strbuf *sb, size_t indent, const char *text);

void grid_add_col(struct grid *g, const char *heading, size_t min, size_t gap);
/* Only once all columns are there. Returns the row; its texts start as "-". */
size_t grid_add_row(struct grid *g, const char *label);
/* Takes the heap string over. */
void grid_set(struct grid *g, size_t row, size_t col, char *text);
void grid_render(const struct grid *g, struct strbuf *sb);
void grid_free(struct grid *g);

#endif
