/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_REPORT_H
#define MMRIG_REPORT_H
/*
 * One page of HTML from stored runs, complete in itself: no script, no network, no file beside it.
 * It is well-formed XML too. Everything in it that comes from guests, scenarios and consoles is
 * escaped, and a Content-Security-Policy allows nothing but its own style sheet.
 *
 * Figures are drawn by gnuplot (gnuplot.h), but for two: the heat map of buddyinfo and the map of
 * pageblocks are thousands of rectangles, which gnuplot writes one by one, or as a bitmap; here all
 * of one colour are a single path.
 */
#include "results/compare.h"
#include "results/store.h"

struct report_input {
	struct store *store;	  /* samples and consoles are read from it */
	const struct runset *set; /* with everything that store_load_set() gives */
	size_t nsets;
	/*
	 * Of the same sets: its runs are found by the ids of set and run. NULL: nothing is compared,
	 * and the page sums the cells up.
	 */
	const struct compare *compare;
	const char *not_compared; /* why not; NULL: there is a single cell */
	const char *const *metric; /* without compare: NULL-terminated; NULL: those of the sets */
	const char *title;	  /* NULL: the scenarios' */
	const char *command;	  /* that makes the page again; may be NULL */
	const char *gnuplot;	  /* program; NULL: "gnuplot" */
};

/*
 * Appends the page. A run whose samples or console cannot be read is said in the page, and is no
 * error; gnuplot missing, failing or hanging is one (EXIT_NO_VERDICT).
 */
int report_write(const struct report_input *in, struct strbuf *html, struct error *err);

#endif
