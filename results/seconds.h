/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_RESULTS_SECONDS_H
#define MMRIG_RESULTS_SECONDS_H
/*
 * A series that the workload itself reported, "series": {"columns": [...], "rows": [[...]...]}, a
 * row a second, with the columns' names of vmstat(8). It comes from the guest: any number may be
 * wild, any row too short.
 */
#include "results/run.h"
#include "results/table_cells.h"
#include "results/util/str.h"

#define SECONDS_ROWS_MAX 1000
#define SECONDS_COLS_MAX 32

struct seconds_series {
	char *column[SECONDS_COLS_MAX];
	size_t ncolumns, nrows;
	double *v; /* [row * ncolumns + column]; NAN: no number */
};

/* False: the run has none; s is empty then. */
bool seconds_of_run(const struct run *r, struct seconds_series *s);
void seconds_free(struct seconds_series *s);
/* SIZE_MAX: there is no such column. */
size_t seconds_column(const struct seconds_series *s, const char *name);

/*
 * In the look of vmstat, of each cell's ok run with the median throughput; at most 60 rows of it,
 * evenly spaced. Nothing where no run has a series.
 */
void table_seconds(const struct runset *set, const struct table_cell *cell, size_t n,
		   struct strbuf *sb);

#endif
