// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

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

/* As in the post, the kernel that the others are held against goes without its name. */
static bool unnamed(const struct compare *c, size_t section, size_t col)
{
	return strcmp(c->by, "kernel") == 0 && col == c->baseline && c->ncols > 1 &&
	       *c->section[section].label;
}

static char *row_label(const struct compare *c, size_t section, size_t col)
{
	return unnamed(c, section, col) ? xstrdup(c->section[section].label) :
					  compare_cell_label(c, section, col);
}

static void put_unnamed(const struct compare *c, struct strbuf *sb)
{
	cleanup_free char *line = str_printf("rows without a kernel: %s", c->col[c->baseline]);

	for (size_t s = 0; s < c->nsections; s++)
		if (unnamed(c, s, c->baseline)) {
			strbuf_adds(sb, "\n");
			grid_put_wrapped(sb, TABLE_INDENT, line);
			return;
		}
}

/* A row a cell, but none for one of which no run was made: it was left out. */
char *compare_stalls(const struct compare *c)
{
	size_t cells = c->nsections * c->ncols, n = 0;
	struct table_seed_row *row = xcalloc(cells + 1, sizeof(*row));
	char **label = xcalloc(cells + 1, sizeof(*label));
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < cells; i++) {
		size_t section = i / c->ncols, col = i % c->ncols;

		if (!c->section[section].cell[col].nruns)
			continue;
		fill_row(c, section, col, &row[n]);
		label[n] = row_label(c, section, col);
		row[n].label = label[n];
		n++;
	}
	compare_put_title(c, TABLE_INDENT, &sb);
	table_seed(c->row_title, row, n, &sb);
	put_unnamed(c, &sb);
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
