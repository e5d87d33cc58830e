// SPDX-License-Identifier: GPL-2.0-only
#include "results/table.h"

#include <string.h>

#include "results/beside.h"
#include "results/run_text.h"
#include "results/seconds.h"
#include "results/table_cells.h"
#include "results/table_grid.h"
#include "results/table_profile.h"
#include "results/table_seed.h"
#include "results/table_sizes.h"
#include "results/util/cleanup.h"

#define PLAIN_COLS 3

static void seed_head(const struct runset *set, const struct table_cell *cell, size_t n,
		      struct strbuf *sb)
{
	struct table_seed_row *row = xcalloc(n, sizeof(*row));

	for (size_t i = 0; i < n; i++) {
		row[i].label = cell[i].label;
		row[i].stalls = table_values(set, &cell[i], "allocstall", &row[i].nstalls);
		row[i].time = table_values(set, &cell[i], "time", &row[i].ntime);
	}
	table_seed(set->row_title, row, n, sb);
	for (size_t i = 0; i < n; i++) {
		free(row[i].stalls);
		free(row[i].time);
	}
	free(row);
}

enum style { STYLE_PLAIN, STYLE_SEED, STYLE_SIZES };

static enum style style_of(const struct runset *set)
{
	const char *name = set->table_style ? set->table_style : "";

	if (strcmp(name, "sizes") == 0)
		return STYLE_SIZES;
	return strcmp(name, "seed") == 0 ? STYLE_SEED : STYLE_PLAIN;
}

static bool in_head(const struct runset *set, enum style style, const char *metric)
{
	if (style == STYLE_SIZES)
		return table_sizes_has(metric);
	if (strcmp(metric, "time") == 0)
		return true;
	if (style == STYLE_SEED)
		return strcmp(metric, "allocstall") == 0;
	for (size_t i = 0, shown = 0; set->metric && set->metric[i] && shown < PLAIN_COLS; i++) {
		if (strcmp(set->metric[i], metric) == 0)
			return true;
		shown += strcmp(set->metric[i], "time") != 0;
	}
	return false;
}

/* Any other style: medians of the first metrics, range of the time; narrow, to fit one block. */
static void plain_head(const struct runset *set, const struct table_cell *cell, size_t n,
		       struct strbuf *sb)
{
	struct grid g = { .corner = set->row_title, .label_min = 21, .heading_max = 13 };
	const char *metric[PLAIN_COLS];
	size_t nmetrics = 0;

	for (size_t i = 0; set->metric && set->metric[i] && nmetrics < PLAIN_COLS; i++)
		if (strcmp(set->metric[i], "time") != 0)
			metric[nmetrics++] = set->metric[i];
	for (size_t i = 0; i < nmetrics; i++) {
		cleanup_free char *heading = table_heading(metric[i]);

		grid_add_col(&g, heading, 6, 2);
	}
	grid_add_col(&g, "time, s", 7, 2);
	for (size_t i = 0; i < n; i++) {
		size_t row = grid_add_row(&g, cell[i].label);

		for (size_t j = 0; j < nmetrics; j++)
			grid_set(&g, row, j, table_median(set, &cell[i], metric[j]));
		grid_set(&g, row, nmetrics, table_range(set, &cell[i], "time",
							table_decimals(set, "time")));
	}
	grid_render(&g, sb);
	grid_free(&g);
}

/* The set's other metrics: a row a metric, since their names are long. */
static void medians(const struct runset *set, const struct table_cell *cell, size_t n,
		    enum style style, struct strbuf *sb)
{
	struct grid g = { .corner = "median of", .label_min = 21 };

	for (size_t i = 0; i < n; i++)
		grid_add_col(&g, cell[i].label, 6, 2);
	for (size_t i = 0; set->metric && set->metric[i]; i++) {
		cleanup_free char *heading = table_heading(set->metric[i]);
		size_t row;

		if (in_head(set, style, set->metric[i]))
			continue;
		row = grid_add_row(&g, heading);
		for (size_t j = 0; j < n; j++)
			grid_set(&g, row, j, table_median(set, &cell[j], set->metric[i]));
	}
	if (g.nrows) {
		strbuf_adds(sb, "\n");
		grid_render(&g, sb);
	}
	grid_free(&g);
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* Forks of one layout are samples of the workload, not of the layout: said, where there are any. */
static void put_layouts(const struct runset *set, struct strbuf *sb)
{
	size_t forks = 0, layouts = 0;

	for (size_t i = 0; i < set->nruns; i++) {
		bool seen = false;

		if (!set->run[i].forked_from || set->run[i].verdict != VERDICT_OK)
			continue;
		forks++;
		for (size_t k = 0; k < i && !seen; k++)
			seen = set->run[k].forked_from && set->run[k].verdict == VERDICT_OK &&
			       strcmp(set->run[k].forked_from, set->run[i].forked_from) == 0;
		layouts += !seen;
	}
	if (forks)
		strbuf_addf(sb, "    %zu run%s forked from %zu layout%s: runs of one layout share it\n", forks,
			    plural(forks), layouts, plural(layouts));
}

static void put_beside(const struct runset *set, struct strbuf *sb)
{
	cleanup_free char *text = beside_text(set), *line = NULL;

	if (!text)
		return;
	line = str_printf("beside it: %s", text);
	grid_put_wrapped(sb, 4, line);
}

/* How many runs the numbers stand for. */
static void put_counts(const struct runset *set, const struct table_cell *cell, size_t n,
		       struct strbuf *sb)
{
	size_t least = cell[0].nok, most = cell[0].nok, asked = n * set->runs;

	for (size_t i = 1; i < n; i++) {
		least = cell[i].nok < least ? cell[i].nok : least;
		most = cell[i].nok > most ? cell[i].nok : most;
	}
	strbuf_adds(sb, "\n");
	if (least == most)
		strbuf_addf(sb, "    %zu run%s each\n", most, plural(most));
	else
		strbuf_addf(sb, "    %zu to %zu runs each\n", least, most);
	put_beside(set, sb);
	put_layouts(set, sb);
	if (set->nruns < asked)
		strbuf_addf(sb, "    unfinished: %zu of the %zu runs asked for were made\n",
			    set->nruns, asked);
}

static const char *label_of(const struct table_cell *cell, size_t n, const struct run *r)
{
	for (size_t i = 0; i < n; i++)
		if (table_cell_has(&cell[i], r))
			return cell[i].label;
	return "unknown cell";
}

/* Every run that is in no median, by verdict, with its reason. */
static void put_not_ok(const struct runset *set, const struct table_cell *cell, size_t n,
		       struct strbuf *sb)
{
	size_t count[VERDICT_COUNT] = { 0 };

	for (size_t i = 0; i < set->nruns; i++)
		count[set->run[i].verdict]++;
	if (count[VERDICT_OK] == set->nruns)
		return;
	strbuf_addf(sb, "    not ok, and in no number above: %zu of %zu runs\n",
		    set->nruns - count[VERDICT_OK], set->nruns);
	for (int v = 0; v < VERDICT_COUNT; v++) {
		if (v == VERDICT_OK || !count[v])
			continue;
		strbuf_addf(sb, "    %s: %zu\n", verdict_name((enum verdict)v), count[v]);
		for (size_t i = 0; i < set->nruns; i++) {
			const struct run *r = &set->run[i];
			cleanup_free char *line = NULL;

			if ((int)r->verdict != v)
				continue;
			line = str_printf("%s (%s, seed %ju): %s", r->id ? r->id : "?",
					  label_of(cell, n, r), (uintmax_t)r->seed,
					  r->why && *r->why ? r->why : "no reason recorded");
			grid_put_wrapped(sb, 6, line);
		}
	}
}

static bool says_no_effect(const struct run *r, const char *counter)
{
	for (size_t i = 0; r->no_effect && r->no_effect[i]; i++)
		if (strcmp(r->no_effect[i], counter) == 0)
			return true;
	return false;
}

static size_t count_no_effect(const struct runset *set, const struct table_cell *cell,
			      const char *counter, size_t upto, bool any_cell)
{
	size_t n = 0;

	for (size_t i = 0; i < upto; i++)
		n += (any_cell || table_cell_has(cell, &set->run[i])) &&
		     says_no_effect(&set->run[i], counter);
	return n;
}

static void put_no_effect(const struct runset *set, const struct table_cell *cell, size_t n,
			  struct strbuf *sb)
{
	for (size_t i = 0; i < set->nruns; i++) {
		char **counter = set->run[i].no_effect;

		for (; counter && *counter; counter++) {
			/* Said once, where it first comes up. */
			if (count_no_effect(set, NULL, *counter, i, true))
				continue;
			for (size_t c = 0; c < n; c++) {
				size_t hits =
					count_no_effect(set, &cell[c], *counter, set->nruns, false);
				cleanup_free char *line = NULL;

				if (!hits)
					continue;
				line = str_printf(
					"no effect: %s did not move in %zu of %zu run%s (%s)",
					*counter, hits, cell[c].nruns, plural(cell[c].nruns),
					cell[c].label);
				grid_put_wrapped(sb, 4, line);
			}
		}
	}
}

char *table_runset(const struct runset *set)
{
	static void (*const head[])(const struct runset *set, const struct table_cell *cell,
				    size_t n, struct strbuf *sb) = {
		[STYLE_PLAIN] = plain_head, [STYLE_SEED] = seed_head, [STYLE_SIZES] = table_sizes
	};
	enum style style = style_of(set);
	struct strbuf sb = STRBUF_INIT;
	struct table_cell *cell;
	size_t n;

	if (!set->nruns)
		return xstrdup("    no runs\n");
	cell = table_cells(set, &n);
	if (n) {
		head[style](set, cell, n, &sb);
		medians(set, cell, n, style, &sb);
		table_seconds(set, cell, n, &sb);
		table_profile(set, cell, n, &sb);
		put_counts(set, cell, n, &sb);
	}
	put_not_ok(set, cell, n, &sb);
	put_no_effect(set, cell, n, &sb);
	table_cells_free(cell, n);
	return strbuf_steal(&sb);
}
