/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_COMPARE_PAIRS_H
#define MMRIG_COMPARE_PAIRS_H
/*
 * A table of the kind that mmtests and the posts have: a label to the left, and for each column of
 * the comparison a value and, in brackets, what it is against the baseline:
 *
 *	Amean     fault-both-3      3729.80 (   0.00%)     2872.13 *  23.00%*
 *
 * As wide as it needs to be. What is in a cell, and a heading, stands to the right in it. A heading
 * too long for its column takes several lines (the first may reach over the labels); nothing of it
 * is lost.
 */
#include "results/compare.h"
#include "results/util/str.h"

struct pairs_style {
	size_t label; /* least columns of the labels */
	size_t value; /* least columns of a value, the blanks in front of it included */
	size_t share; /* least columns within the brackets; 0: there are none */
	size_t inset; /* a heading ends so many columns before its cell does */
	bool at_hyphen; /* break too long a heading at its first hyphen, as mmtests does */
};

struct pairs {
	struct pairs_style style;
	const struct compare *c;
	struct pairs_row {
		char *label; /* NULL: an empty line */
		struct pairs_cell {
			char *value, *share;
			bool star;
		} *cell; /* [column] */
	} *row;
	size_t nrows;
};

void pairs_init(struct pairs *p, const struct compare *c, const struct pairs_style *style);
/* Returns the row; its cells start as "-". Label NULL: an empty line. */
size_t pairs_add(struct pairs *p, const char *label);
/* Takes the heap strings over; share may be NULL: "-". */
void pairs_set(struct pairs *p, size_t row, size_t col, char *value, char *share, bool star);
/* Headings and rows. */
void pairs_render(const struct pairs *p, struct strbuf *sb);
void pairs_free(struct pairs *p);

#endif
