/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_TABLE_CELLS_H
#define MMRIG_TABLE_CELLS_H
/* A run set seen as cells, in the order of its tables: by variant, in it by kernel. */
#include "results/run.h"

struct table_cell {
	size_t kernel, variant;
	char *label;
	size_t nruns, nok; /* recorded; those that enter statistics */
};

/* All cells that were to be run, also those without a run; *n may be 0. Runs whose indices are wild belong to none. */
struct table_cell *table_cells(const struct runset *set, size_t *n);
void table_cells_free(struct table_cell *cell, size_t n);
bool table_cell_has(const struct table_cell *cell, const struct run *r);
/* The metric's values over the cell's ok runs, heap; *n may be 0. */
double *table_values(const struct runset *set, const struct table_cell *cell, const char *metric,
		     size_t *n);
/* "86", "1544", "43,230", "12.6"; heap. Counts from 10,000 up get separators. */
char *table_number(double value);
/* The median as text, "-" where no run has the metric. */
char *table_median(const struct runset *set, const struct table_cell *cell, const char *metric);
/* "4.6-4.8", or "4.6" where both print the same; "-" where no run has the metric. */
char *table_range(const struct runset *set, const struct table_cell *cell, const char *metric,
		  int decimals);
/* Decimals for a column of seconds: one, and more where all values are small. */
int table_decimals(const struct runset *set, const char *metric);
/* The same of values: the range of n of them; decimals for a column whose largest is `most`. */
char *table_range_of(const double *v, size_t n, int decimals);
int table_decimals_for(double most);
/* "create_p99, ns": the name, and the unit unless it is plain counting. */
char *table_heading(const char *metric);

#endif
