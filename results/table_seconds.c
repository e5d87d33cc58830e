// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdlib.h>

#include "results/seconds.h"
#include "results/table_grid.h"
#include "results/util/cleanup.h"

#define ROWS_SHOWN 60

static const struct {
	const char *name;
	int width;
} shown[] = {
	{ "s", 5 },  { "r", 4 },  { "b", 3 },  { "free", 8 }, { "cache", 8 }, { "bi", 6 },
	{ "bo", 8 }, { "in", 6 }, { "cs", 6 }, { "us", 3 },   { "sy", 4 },    { "id", 4 },
	{ "wa", 3 }, { "written", 8 },
};

static double throughput(const struct run *r)
{
	const double *v = run_metric(r, "stream_throughput");

	return v ? *v : NAN;
}

struct ranked {
	double key;
	const struct run *run;
};

static int by_key(const void *a, const void *b)
{
	double x = ((const struct ranked *)a)->key, y = ((const struct ranked *)b)->key;

	return (x > y) - (x < y);
}

/* The lower of the two middle ones; NULL: no run of the cell has a throughput. */
static const struct run *typical(const struct runset *set, const struct table_cell *cell)
{
	cleanup_free struct ranked *list = xcalloc(set->nruns + 1, sizeof(*list));
	size_t n = 0;

	for (size_t i = 0; i < set->nruns; i++) {
		const struct run *r = &set->run[i];

		if (r->verdict == VERDICT_OK && table_cell_has(cell, r) && isfinite(throughput(r)))
			list[n++] = (struct ranked){ throughput(r), r };
	}
	qsort(list, n, sizeof(*list), by_key);
	return n ? list[(n - 1) / 2].run : NULL;
}

static void put_row(const struct seconds_series *s, size_t row, struct strbuf *sb)
{
	strbuf_adds(sb, "  ");
	for (size_t c = 0; c < ARRAY_SIZE(shown); c++) {
		size_t at = seconds_column(s, shown[c].name);
		double v = at < s->ncolumns ? s->v[row * s->ncolumns + at] : NAN;

		if (isfinite(v) && fabs(v) < 1e12)
			strbuf_addf(sb, "%*.0f", shown[c].width, v);
		else
			strbuf_addf(sb, "%*s", shown[c].width, "-");
	}
	strbuf_adds(sb, "\n");
}

static void put_series(const struct seconds_series *s, struct strbuf *sb)
{
	size_t step = (s->nrows + ROWS_SHOWN - 1) / ROWS_SHOWN;

	strbuf_adds(sb, "  ");
	for (size_t c = 0; c < ARRAY_SIZE(shown); c++)
		strbuf_addf(sb, "%*s", shown[c].width, shown[c].name);
	strbuf_adds(sb, "\n");
	for (size_t i = 0; i < s->nrows; i += step)
		put_row(s, i, sb);
}

void table_seconds(const struct runset *set, const struct table_cell *cell, size_t n,
		   struct strbuf *sb)
{
	for (size_t i = 0; i < n; i++) {
		const struct run *r = typical(set, &cell[i]);
		struct seconds_series s;
		cleanup_free char *head = NULL;

		if (!r || !seconds_of_run(r, &s))
			continue;
		head = str_printf("%s, run %s, a row a second; free and cache kB, bi and bo KiB, "
				  "written MiB", cell[i].label, r->id ? r->id : "?");
		strbuf_adds(sb, "\n");
		grid_put_wrapped(sb, TABLE_INDENT, head);
		put_series(&s, sb);
		seconds_free(&s);
	}
}
