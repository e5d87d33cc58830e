// SPDX-License-Identifier: GPL-2.0-only
/*
 * The look of the post on merging pages early: what an administrator sees in buddyinfo and
 * unusable_index, before and after, each number the median over the runs.
 */
#include <string.h>

#include "results/compare_parts.h"
#include "results/compare_text.h"
#include "results/metrics.h"
#include "results/proc.h"
#include "results/table.h"
#include "results/table_grid.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

enum file { FILE_BUDDYINFO, FILE_UNUSABLE, FILE_COUNT };
#define EDGES 2

/* The parsed files of all runs of a cell; n 0 where a run lacks the file. */
struct cell_tables {
	struct free_table *table[FILE_COUNT][EDGES]; /* [run] */
	size_t nruns;	/* ok ones */
	size_t without; /* of them, have no samples of these files */
};

static void tables_free(struct cell_tables *t)
{
	for (int f = 0; f < FILE_COUNT; f++) {
		for (int e = 0; e < EDGES; e++) {
			for (size_t i = 0; i < t->nruns; i++)
				free_table_free(&t->table[f][e][i]);
			free(t->table[f][e]);
		}
	}
}

static int take_sample(void *arg, const struct wire_sample *sample)
{
	edges_take(arg, sample);
	return 0;
}

/* True: the run has one of the files at least. */
static bool parse_run(const struct edges *edges, struct cell_tables *t, size_t run)
{
	static const char *const name[] = { "buddyinfo", "extfrag/unusable_index" };
	static int (*const parse[])(const void *data, size_t len, struct free_table *t) = {
		buddyinfo_parse, extfrag_parse
	};
	bool any = false;

	for (int f = 0; f < FILE_COUNT; f++) {
		for (int e = 0; e < EDGES; e++) {
			const struct samples *s = e == 0 ? &edges->begin : &edges->end;
			const struct sample_file *file = samples_find(s, name[f]);

			if (file && parse[f](file->data, file->len, &t->table[f][e][run]) == 0)
				any = true;
		}
	}
	return any;
}

static int read_run(struct store *s, const struct runset *set, size_t run, struct edges *edges,
		    struct error *err)
{
	cleanup_free char *dir = path_join(store_root(s), set->id ? set->id : "");

	if (!set->id || !*set->id || strchr(set->id, '/') || !file_exists(dir))
		return error_set(err, EXIT_USAGE,
				 "run set %s is not in the store %s, and this form needs its"
				 " samples; name the store with MMRIG_RESULTS",
				 set->id && *set->id ? set->id : "(no id)", store_root(s));
	return store_each_sample(s, set->id, set->run[run].id, take_sample, edges, err);
}

static int read_cell(struct store *s, const struct compare_cell *cell, struct cell_tables *t,
		     struct error *err)
{
	for (int f = 0; f < FILE_COUNT; f++)
		for (int e = 0; e < EDGES; e++)
			t->table[f][e] = xcalloc(cell->nruns + 1, sizeof(struct free_table));
	for (size_t i = 0; i < cell->nruns; i++) {
		const struct runset *set = &cell->run[i].frame->set;
		struct edges edges = { 0 };
		int ret;

		if (set->run[cell->run[i].index].verdict != VERDICT_OK)
			continue;
		ret = read_run(s, set, cell->run[i].index, &edges, err);
		if (ret == 0)
			t->without += !parse_run(&edges, t, t->nruns++);
		edges_free(&edges);
		if (ret < 0)
			return -1;
	}
	return 0;
}

/* Over the runs that have this row and this order; false: none has. */
static bool median_of(const struct free_table *table, size_t n, const struct free_row *like,
		      unsigned int order, enum file file, double *median)
{
	cleanup_free double *v = xreallocarray(NULL, n ? n : 1, sizeof(*v));
	size_t have = 0;

	for (size_t i = 0; i < n; i++) {
		const struct free_row *row = free_table_find(&table[i], like);

		if (row && order < row->n)
			v[have++] = file == FILE_BUDDYINFO ? (double)row->count[order] :
							     row->index[order];
	}
	*median = stat_median(v, have);
	return have;
}

/* "Node 0, zone      DMA      3      0": as the kernel prints it, less the blank at the end. */
static void put_row(const struct free_table *table, size_t n, const struct free_row *like,
		    enum file file, struct strbuf *sb)
{
	double median;

	strbuf_addf(sb, "Node %u, zone %8s", like->node, like->zone);
	for (unsigned int order = 0;
	     order < PROC_ORDERS_MAX && median_of(table, n, like, order, file, &median); order++)
		strbuf_addf(sb, file == FILE_BUDDYINFO ? " %6.0f" : " %.3f", median);
	strbuf_adds(sb, "\n");
}

static bool seen_before(const struct free_table *table, size_t run, const struct free_row *row)
{
	for (size_t i = 0; i < run; i++)
		if (free_table_find(&table[i], row))
			return true;
	return false;
}

static void put_file(const struct free_table *table, size_t n, enum file file, struct strbuf *sb)
{
	static const char *const path[] = { "/proc/buddyinfo",
					    "/sys/kernel/debug/extfrag/unusable_index" };
	bool any = false;

	strbuf_addf(sb, "# cat %s\n", path[file]);
	for (size_t i = 0; i < n; i++) {
		for (size_t r = 0; r < table[i].n; r++) {
			if (seen_before(table, i, &table[i].row[r]))
				continue;
			put_row(table, n, &table[i].row[r], file, sb);
			any = true;
		}
	}
	if (!any)
		strbuf_adds(sb, "-\n");
}

static void put_cell(const struct compare *c, size_t section, size_t col,
		     const struct cell_tables *t, struct strbuf *sb)
{
	static const char *const edge[] = { "at the begin of the workload",
					    "at the end of the workload" };
	cleanup_free char *label = compare_cell_label(c, section, col);

	for (int e = 0; e < EDGES; e++) {
		cleanup_free char *head = str_printf("%s, %s, median of %zu run%s:", label, edge[e],
						     t->nruns - t->without,
						     t->nruns - t->without == 1 ? "" : "s");

		if (section || col || e)
			strbuf_adds(sb, "\n");
		grid_put_wrapped(sb, 0, head);
		for (int f = 0; f < FILE_COUNT; f++)
			put_file(t->table[f][e], t->nruns, (enum file)f, sb);
	}
	if (t->without)
		strbuf_addf(sb, "%zu of %zu runs without samples of these files\n", t->without,
			    t->nruns);
}

int compare_buddy(const struct compare *c, struct store *s, char **text, struct error *err)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;

	*text = NULL;
	compare_put_title(c, 0, &sb);
	for (size_t i = 0; i < c->nsections; i++) {
		for (size_t col = 0; col < c->ncols; col++) {
			struct cell_tables t = { 0 };
			int ret = read_cell(s, &c->section[i].cell[col], &t, err);

			if (ret == 0)
				put_cell(c, i, col, &t, &sb);
			tables_free(&t);
			if (ret < 0)
				return -1;
		}
	}
	compare_put_notes(c, 0, &sb);
	*text = strbuf_steal(&sb);
	return 0;
}
