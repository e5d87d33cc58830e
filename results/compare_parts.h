/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_COMPARE_PARTS_H
#define MMRIG_COMPARE_PARTS_H
/* What the forms of a comparison have in common. Text that is added is printable. */
#include <sys/types.h>

#include "results/compare.h"
#include "results/util/str.h"

/* -1: the comparison does not have it. */
ssize_t compare_metric_index(const struct compare *c, const char *name);
/* NULL: the comparison does not have the metric. */
const struct compare_value *compare_value_of(const struct compare *c, size_t section,
					     const char *metric, size_t col);
/* The mean over the runs; NAN: none has it. */
double compare_mean(const struct compare *c, size_t section, const char *metric, size_t col);
/* NULL: the baseline's own, or values only. */
const struct stats_result *compare_test(const struct compare *c, size_t section, size_t metric,
					size_t col);
/* The corrected test says that there is a difference, and one beyond the margin. */
bool compare_differs(const struct stats_result *r);
/* Neither side has the metric. */
bool compare_absent(const struct stats_result *r);
/* What a sample of the column is called: "run", "layout", "seed". */
const char *compare_unit(const struct compare *c, size_t section, size_t col);
/* "3 more runs", "1 more layout"; NULL: nothing is to be said. Heap. */
char *compare_more(const struct stats_result *r, const char *unit);

/*
 * Per cent of |old| that new is off. Lower is better: less is positive; else more is. Equal: 0.
 * NAN: one is absent, or there is no ratio since old is 0.
 */
double compare_percent(double old, double new, enum counter_better better);
/* The same as text: two decimals and "%"; `sign`: with a plus; "-" for NAN. Heap. */
char *compare_percent_text(double percent, bool sign);
/* `decimals` places; "-" for what is no number. Heap. */
char *compare_number(double value, int decimals);

/* Title and context, each a line or more. */
void compare_put_title(const struct compare *c, size_t indent, struct strbuf *sb);
/* The label as a line, where there are several sections; an empty line before all but the first. */
void compare_put_section(const struct compare *c, size_t section, size_t indent, struct strbuf *sb);
/* What an asterisk of the mmtests looks says. */
void compare_put_star(const struct compare *c, struct strbuf *sb);
/*
 * Below the tables: how many runs a number stands for, the runs that are in none, by cell and
 * verdict; what was grouped; what kernels were built of; the warnings. A line each, wrapped to 78 columns.
 */
void compare_put_notes(const struct compare *c, size_t indent, struct strbuf *sb);
/* The same, unwrapped, for forms that do their own. NULL-terminated heap array of heap lines. */
char **compare_notes(const struct compare *c);
void compare_notes_free(char **notes);
/* "5", or "4 to 5": ok runs of the cells of one section. Heap. */
char *compare_runs_text(const struct compare *c, size_t section);
/* Section and column in one, the variant in front: "pfn % 8 == 4, patched". Heap. */
char *compare_cell_label(const struct compare *c, size_t section, size_t col);

#endif
