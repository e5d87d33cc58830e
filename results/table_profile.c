// SPDX-License-Identifier: GPL-2.0-only
#include "results/table_profile.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "results/table_grid.h"
#include "results/util/cleanup.h"

#define SHOWN 20
#define LABEL_MAX 40

struct hot {
	char *symbol;
	double *samples; /* by cell */
	double most;	 /* highest share of any cell */
};

struct hots {
	struct hot *hot;
	size_t n, ncells;
	double *all, *locks; /* by cell: samples */
};

static struct hot *hot_of(struct hots *h, const char *symbol)
{
	for (size_t i = 0; i < h->n; i++)
		if (strcmp(h->hot[i].symbol, symbol) == 0)
			return &h->hot[i];
	h->hot = xreallocarray(h->hot, h->n + 1, sizeof(*h->hot));
	h->hot[h->n] = (struct hot){ xstrdup(symbol), xcalloc(h->ncells, sizeof(double)), 0 };
	return &h->hot[h->n++];
}

static double positive(const json_t *o, const char *key)
{
	double v = json_number_value(json_object_get(o, key));

	return v > 0 && v < 1e15 ? v : 0;
}

static void add_run(struct hots *h, size_t cell, const struct run *r)
{
	json_t *o = r->profile_json ? json_loads(r->profile_json, 0, NULL) : NULL, *one;
	size_t i;

	h->all[cell] += positive(o, "samples");
	h->locks[cell] += positive(o, "locks");
	json_array_foreach(json_object_get(o, "top"), i, one) {
		const char *symbol = json_string_value(json_object_get(one, "symbol"));

		if (symbol && i < 100)
			hot_of(h, symbol)->samples[cell] += positive(one, "samples");
	}
	json_decref(o);
}

static int by_most(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	if (x->most != y->most)
		return x->most > y->most ? -1 : 1;
	return strcmp(x->symbol, y->symbol);
}

/* least: a count below it is not known to be one. */
static void put_shares(struct grid *g, const char *label, const struct hots *h,
		       const double *samples, double least)
{
	size_t row = grid_add_row(g, label);

	for (size_t c = 0; c < h->ncells; c++)
		if (samples[c] >= least && h->all[c] > 0)
			grid_set(g, row, c, str_printf("%.2f%%", 100 * samples[c] / h->all[c]));
}

static void put_table(const struct hots *h, const struct table_cell *cell, struct strbuf *sb)
{
	struct grid g = { .corner = "share of samples in", .label_min = 21 };

	for (size_t c = 0; c < h->ncells; c++)
		grid_add_col(&g, cell[c].label, 7, 2);
	for (size_t i = 0; i < h->n && i < SHOWN; i++) {
		cleanup_free char *label = str_printf("%.*s", LABEL_MAX, h->hot[i].symbol);

		put_shares(&g, label, h, h->hot[i].samples, 1);
	}
	put_shares(&g, "all waits for locks", h, h->locks, 0);
	strbuf_adds(sb, "\n");
	grid_render(&g, sb);
	grid_free(&g);
}

void table_profile(const struct runset *set, const struct table_cell *cell, size_t n,
		   struct strbuf *sb)
{
	struct hots h = { .ncells = n };

	h.all = xcalloc(n + 1, sizeof(double));
	h.locks = xcalloc(n + 1, sizeof(double));
	for (size_t c = 0; c < n; c++)
		for (size_t i = 0; i < set->nruns; i++)
			if (set->run[i].verdict == VERDICT_OK && table_cell_has(&cell[c], &set->run[i]))
				add_run(&h, c, &set->run[i]);
	for (size_t i = 0; i < h.n; i++)
		for (size_t c = 0; c < n; c++)
			if (h.all[c] > 0 && h.hot[i].samples[c] / h.all[c] > h.hot[i].most)
				h.hot[i].most = h.hot[i].samples[c] / h.all[c];
	if (h.n)
		qsort(h.hot, h.n, sizeof(*h.hot), by_most);
	if (h.n)
		put_table(&h, cell, sb);
	for (size_t i = 0; i < h.n; i++) {
		free(h.hot[i].symbol);
		free(h.hot[i].samples);
	}
	free(h.hot);
	free(h.all);
	free(h.locks);
}
