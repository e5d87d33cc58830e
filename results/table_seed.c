// SPDX-License-Identifier: GPL-2.0-only
#include "results/table_seed.h"

#include <math.h>

#include "results/table.h"
#include "results/table_cells.h"
#include "results/table_grid.h"

static double largest(const double *v, size_t n)
{
	double most = n ? v[0] : NAN;

	for (size_t i = 1; i < n; i++)
		most = fmax(most, v[i]);
	return most;
}

static int decimals_of(const struct table_seed_row *row, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < row[i].ntime; j++)
			most = fmax(most, fabs(row[i].time[j]));
	return table_decimals_for(most);
}

void table_seed(const char *title, const struct table_seed_row *row, size_t n, struct strbuf *sb)
{
	struct grid g = { .over = "allocstall", .corner = title, .label_min = 21 };
	int decimals = decimals_of(row, n);

	grid_add_col(&g, "median", 6, 2);
	grid_add_col(&g, "max", 5, 2);
	grid_add_col(&g, "time, s", 7, 6);
	for (size_t i = 0; i < n; i++) {
		size_t at = grid_add_row(&g, row[i].label);

		grid_set(&g, at, 0, table_number(stat_median(row[i].stalls, row[i].nstalls)));
		grid_set(&g, at, 1, table_number(largest(row[i].stalls, row[i].nstalls)));
		grid_set(&g, at, 2, table_range_of(row[i].time, row[i].ntime, decimals));
	}
	grid_render(&g, sb);
	grid_free(&g);
}
