// SPDX-License-Identifier: GPL-2.0-only
#include "results/compare_parts.h"
#include "results/compare_text.h"
#include "results/table_grid.h"
#include "results/table_seed.h"
#include "results/util/cleanup.h"

static void fill_row(const struct compare *c, size_t section, size_t col,
		     struct table_seed_row *row)
{
	const struct compare_value *stalls = compare_value_of(c, section, "allocstall", col);
	const struct compare_value *time = compare_value_of(c, section, "time", col);

	*row = (struct table_seed_row){ .stalls = stalls ? stalls->v : NULL,
					.nstalls = stalls ? stalls->n : 0,
					.time = time ? time->v : NULL,
					.ntime = time ? time->n : 0 };
}

char *compare_stalls(const struct compare *c)
{
	size_t n = c->nsections * c->ncols;
	struct table_seed_row *row = xcalloc(n + 1, sizeof(*row));
	char **label = xcalloc(n + 1, sizeof(*label));
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < n; i++) {
		size_t section = i / c->ncols, col = i % c->ncols;

		fill_row(c, section, col, &row[i]);
		row[i].label = label[i] = compare_cell_label(c, section, col);
	}
	compare_put_title(c, TABLE_INDENT, &sb);
	table_seed(c->row_title, row, n, &sb);
	compare_put_notes(c, TABLE_INDENT, &sb);
	for (size_t i = 0; i < n; i++)
		free(label[i]);
	free(label);
	free(row);
	return strbuf_steal(&sb);
}

const char *const *compare_stalls_metrics(void)
{
	static const char *const list[] = { "allocstall", "time", NULL };

	return list;
}
