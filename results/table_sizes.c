// SPDX-License-Identifier: GPL-2.0-only
#include "results/table_sizes.h"

#include <stdlib.h>
#include <string.h>

#include "results/counter.h"
#include "results/table.h"
#include "results/table_grid.h"
#include "results/util/cleanup.h"

#define SIZES_MAX 32
#define SIZE_PMD 2048

static const struct {
	const char *heading, *suffix;
	double unit;
	const char *metric, *pmd; /* the kernel's: of a size; where it has none, of vmstat */
} column[] = {
	{ "faults", "attempts", 1, NULL, NULL },
	{ "got it, %", "share", 1, NULL, NULL },
	{ "median, us", "median", 1000, NULL, NULL },
	{ "p99, us", "p99", 1000, NULL, NULL },
	{ "missed, us", "missed_median", 1000, NULL, NULL },
	{ "kernel: alloc", "anon_fault_alloc", 1, "mthp", "thp_fault_alloc" },
	{ "kernel: fallback", "anon_fault_fallback", 1, "mthp", "thp_fault_fallback" },
	{ "scanned a fault", "free_scanned", 1, NULL, NULL },
};

bool table_sizes_has(const char *metric)
{
	const struct counter *c = counter_find(metric);

	return c && str_starts(c->name, "fault_<size>_");
}

static int by_number(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return (x > y) - (x < y);
}

static void add_size(unsigned long *kb, size_t *n, unsigned long size)
{
	for (size_t i = 0; i < *n; i++)
		if (kb[i] == size)
			return;
	if (*n < SIZES_MAX)
		kb[(*n)++] = size;
}

/* Of any run of the cell, ascending. */
static size_t find_sizes(const struct runset *set, const struct table_cell *cell,
			 unsigned long kb[SIZES_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < set->nruns; i++) {
		const struct run *r = &set->run[i];

		if (r->verdict != VERDICT_OK || !table_cell_has(cell, r))
			continue;
		for (size_t m = 0; m < r->nmetrics; m++)
			if (table_sizes_has(r->metric[m].name))
				add_size(kb, &n, strtoul(r->metric[m].name + strlen("fault_"), NULL, 10));
	}
	qsort(kb, n, sizeof(*kb), by_number);
	return n;
}

static double *values(const struct runset *set, const struct table_cell *cell, size_t col,
		      unsigned long kb, size_t *n)
{
	cleanup_free char *name = str_printf("%s_%lukB_%s",
					     column[col].metric ? column[col].metric : "fault", kb,
					     column[col].suffix);
	double *v = table_values(set, cell, name, n);

	if (*n || !column[col].pmd || kb != SIZE_PMD)
		return v;
	free(v);
	return table_values(set, cell, column[col].pmd, n);
}

static void put_row(const struct runset *set, const struct table_cell *cell, struct grid *g,
		    unsigned long kb)
{
	cleanup_free char *label = str_printf("%lu kB", kb);
	size_t row = grid_add_row(g, label);

	for (size_t i = 0; i < ARRAY_SIZE(column); i++) {
		size_t n;
		cleanup_free double *v = values(set, cell, i, kb, &n);

		if (n)
			grid_set(g, row, i, table_number(stat_median(v, n) / column[i].unit));
	}
}

static void put_cell(const struct runset *set, const struct table_cell *cell, struct strbuf *sb)
{
	struct grid g = { .corner = "page size", .label_min = 9, .heading_max = 8 };
	unsigned long kb[SIZES_MAX];
	size_t n = find_sizes(set, cell, kb);

	grid_put_wrapped(sb, TABLE_INDENT, cell->label);
	for (size_t i = 0; i < ARRAY_SIZE(column); i++)
		grid_add_col(&g, column[i].heading, 6, 1);
	for (size_t i = 0; i < n; i++)
		put_row(set, cell, &g, kb[i]);
	if (n)
		grid_render(&g, sb);
	else
		strbuf_adds(sb, "    -\n");
	grid_free(&g);
}

void table_sizes(const struct runset *set, const struct table_cell *cell, size_t n,
		 struct strbuf *sb)
{
	for (size_t i = 0; i < n; i++) {
		if (i)
			strbuf_adds(sb, "\n");
		put_cell(set, &cell[i], sb);
	}
}
