// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "results/counter.h"
#include "results/table.h"
#include "results/table_cells.h"
#include "results/table_grid.h"
#include "results/util/cleanup.h"

/* The set's own first, then the catalogue's, then the others. */
struct delta_name {
	const char *name;
	size_t rank;
};

static size_t rank_of(const struct runset *set, const char *name)
{
	size_t own = 0;
	const struct counter *c = counter_find(name);

	for (; set->metric && set->metric[own]; own++)
		if (strcmp(set->metric[own], name) == 0)
			return own;
	return own + (c ? (size_t)(c - counter_table) : counter_count);
}

static int by_rank(const void *a, const void *b)
{
	const struct delta_name *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Every metric that some ok run has, once. */
static struct delta_name *collect_names(const struct runset *set, size_t *n)
{
	struct delta_name *names = NULL;
	size_t room = 0, kept = 0;

	*n = 0;
	for (size_t i = 0; i < set->nruns; i++) {
		const struct run *r = &set->run[i];

		for (size_t j = 0; r->verdict == VERDICT_OK && j < r->nmetrics; j++) {
			if (*n == room) {
				room = room ? 2 * room : 512;
				names = xreallocarray(names, room, sizeof(*names));
			}
			names[(*n)++] = (struct delta_name){ r->metric[j].name,
							     rank_of(set, r->metric[j].name) };
		}
	}
	if (*n)
		qsort(names, *n, sizeof(*names), by_rank);
	for (size_t i = 0; i < *n; i++)
		if (!kept || strcmp(names[kept - 1].name, names[i].name) != 0)
			names[kept++] = names[i];
	*n = kept;
	return names;
}

/* With one cell there is nothing to differ from: what moved at all. */
static bool worth_showing(char *const *median, size_t n)
{
	if (n == 1)
		return strcmp(median[0], "0") != 0;
	for (size_t i = 1; i < n; i++)
		if (strcmp(median[0], median[i]) != 0)
			return true;
	return false;
}

/* One of many alike, which the set did not ask for: free pages of order 3 in DMA32, say. */
static bool one_of_many(const struct runset *set, const char *name)
{
	const struct counter *c = counter_find(name);

	for (size_t own = 0; set->metric && set->metric[own]; own++)
		if (strcmp(set->metric[own], name) == 0)
			return false;
	return c && strchr(c->name, '<');
}

/* A row, or where it is one of many, one more that is only counted. */
static void add_metric(struct grid *g, const struct runset *set, const struct table_cell *cell,
		       size_t n, const char *name, size_t *counted)
{
	char **median = xcalloc(n, sizeof(*median));
	size_t row;

	for (size_t i = 0; i < n; i++)
		median[i] = table_median(set, &cell[i], name);
	if (worth_showing(median, n) && one_of_many(set, name)) {
		++*counted;
	} else if (worth_showing(median, n)) {
		cleanup_free char *heading = table_heading(name);

		row = grid_add_row(g, heading);
		for (size_t i = 0; i < n; i++)
			grid_set(g, row, i, STEAL(median[i]));
	}
	for (size_t i = 0; i < n; i++)
		free(median[i]);
	free(median);
}

char *table_deltas(const struct runset *set)
{
	struct grid g = { .corner = "median of", .label_min = 21 };
	struct strbuf sb = STRBUF_INIT;
	struct delta_name *names;
	struct table_cell *cell;
	size_t n, nnames, counted = 0;

	cell = table_cells(set, &n);
	names = collect_names(set, &nnames);
	for (size_t i = 0; i < n; i++)
		grid_add_col(&g, cell[i].label, 6, 2);
	for (size_t i = 0; n && i < nnames; i++)
		add_metric(&g, set, cell, n, names[i].name, &counted);
	if (g.nrows)
		grid_render(&g, &sb);
	else
		strbuf_adds(&sb, nnames && n > 1 ? "    no metric differs between the cells\n" :
			    nnames ? "    no metric moved\n" : "    no metrics\n");
	if (counted)
		strbuf_addf(&sb, "    and %zu by order, type, zone or size: --json has them\n",
			    counted);
	grid_free(&g);
	free(names);
	table_cells_free(cell, n);
	return strbuf_steal(&sb);
}
