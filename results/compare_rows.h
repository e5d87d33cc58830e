/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_COMPARE_ROWS_H
#define MMRIG_COMPARE_ROWS_H
/* Rows of a table that people know (results/counter.h): means over the runs, by its names. */
#include "results/compare_pairs.h"
#include "results/counter.h"

struct rows_style {
	const char *prefix; /* in front of a row's name: "Ops " */
	/* The mean as text, heap. */
	char *(*value)(const char *metric, double mean);
	/* What stands in the brackets, heap; NULL: there are none. */
	char *(*share)(double base, double mean);
};

/* Adds those rows that any column has; returns how many. */
size_t rows_add(struct pairs *p, size_t section, const struct counter_row *rows,
		const struct rows_style *style);
/* Two decimals. */
char *rows_value(const char *metric, double mean);

/*
 * Appends the metrics of the rows to list (of `room` entries, filled up to *n, NULL behind); each
 * once. For the lists of compare_formats[]: made at every call, always the same.
 */
void rows_metrics(const struct counter_row *rows, const char **list, size_t room, size_t *n);

#endif
