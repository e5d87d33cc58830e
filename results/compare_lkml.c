// SPDX-License-Identifier: GPL-2.0-only
/* Plain text of 78 columns: what goes below the "---" or above it. */
#include <string.h>

#include "results/compare_cells.h"
#include "results/compare_parts.h"
#include "results/compare_text.h"
#include "results/table_grid.h"
#include "results/util/cleanup.h"

static void put_remarks(const struct compare *c, struct strbuf *sb)
{
	char **remarks = compare_remarks(c);

	for (size_t i = 0; remarks[i]; i++)
		grid_put_wrapped(sb, 0, remarks[i]);
	compare_remarks_free(remarks);
}

static void put_head(const struct compare *c, struct strbuf *sb)
{
	cleanup_free char *title = str_printf("%s%s%s", c->title, *c->context ? ": " : "", c->context);

	grid_put_wrapped(sb, 0, title);
	strbuf_adds(sb, "\n");
}

static void put_medians(const struct compare *c, size_t section, struct strbuf *sb)
{
	struct grid g = { .flush = true, .corner = "median (min..max)", .label_min = 27 };

	for (size_t k = 0; k < c->ncols; k++)
		grid_add_col(&g, c->col[k], 10, 2);
	for (size_t m = 0; m < c->nmetrics; m++) {
		cleanup_free char *name = compare_cell_name(&c->metric[m]);
		size_t row = grid_add_row(&g, name);

		for (size_t k = 0; k < c->ncols; k++)
			grid_set(&g, row, k, compare_cell_median(compare_value(c, section, m, k)));
	}
	grid_render(&g, sb);
	grid_free(&g);
}

static void put_row(const struct compare *c, size_t section, size_t metric, size_t col, struct grid *g)
{
	const struct stats_result *r = compare_result(c, section, metric, col);
	size_t row = grid_add_row(g, c->metric[metric].name);

	grid_set(g, row, 0, compare_cell_shift(&c->metric[metric], r));
	grid_set(g, row, 1, compare_cell_interval(&c->metric[metric], r));
	grid_set(g, row, 2, compare_cell_p(r));
	grid_set(g, row, 3, xstrdup(compare_absent(r) ? "-" : stats_outcome_name(r->outcome)));
}

static void put_changes(const struct compare *c, size_t section, size_t col, struct strbuf *sb)
{
	cleanup_free char *interval = str_printf("%.4g %% CI", 100 * (1 - c->stats.alpha));
	cleanup_free char *corner =
		c->ncols > 2 ? str_printf("%s against %s", c->col[col], c->col[c->baseline]) :
			       str_printf("against %s", c->col[c->baseline]);
	struct grid g = { .flush = true, .corner = corner, .label_min = 27 };

	grid_add_col(&g, "change", 6, 2);
	grid_add_col(&g, interval, 9, 2);
	grid_add_col(&g, "p", 5, 2);
	grid_add_col(&g, "", 5, 2);
	for (size_t m = 0; m < c->nmetrics; m++)
		if (!c->metric[m].quiet)
			put_row(c, section, m, col, &g);
	if (g.nrows)
		grid_render(&g, sb);
	grid_free(&g);
}

/* A column without a run in this section has nothing to say. */
static void put_section(const struct compare *c, size_t section, bool medians, struct strbuf *sb)
{
	const struct compare_section *s = &c->section[section];
	bool first = !medians;

	if (*s->label) {
		grid_put_wrapped(sb, 0, s->label);
		strbuf_adds(sb, "\n");
	}
	if (medians)
		put_medians(c, section, sb);
	for (size_t k = 0; k < c->ncols; k++)
		if (k != c->baseline && s->cell[k].nruns) {
			strbuf_adds(sb, first ? "" : "\n");
			put_changes(c, section, k, sb);
			first = false;
		}
	strbuf_adds(sb, "\n");
}

char *compare_changes(const struct compare *c)
{
	struct strbuf sb = STRBUF_INIT;

	for (size_t s = 0; s < c->nsections; s++)
		put_section(c, s, false, &sb);
	put_remarks(c, &sb);
	return strbuf_steal(&sb);
}

char *compare_lkml(const struct compare *c)
{
	struct strbuf sb = STRBUF_INIT;

	put_head(c, &sb);
	for (size_t s = 0; s < c->nsections; s++)
		put_section(c, s, true, &sb);
	put_remarks(c, &sb);
	compare_put_notes(c, 0, &sb);
	return strbuf_steal(&sb);
}
