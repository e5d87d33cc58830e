// SPDX-License-Identifier: GPL-2.0-only
/* Plain text of 78 columns: what goes below the "---" or above it. */
#include <string.h>

#include "results/compare_cells.h"
#include "results/compare_text.h"
#include "results/run_text.h"
#include "results/table_grid.h"
#include "results/util/cleanup.h"

static void put_line(struct strbuf *sb, const char *before, const char *text)
{
	cleanup_free char *line = str_printf("%s%s", before, text);
	cleanup_free char *clean = run_text_printable(line);
	size_t n;
	char **lines = run_text_wrap(clean, TABLE_WIDTH, &n);

	for (size_t i = 0; i < n; i++)
		strbuf_addf(sb, "%s%s\n", i ? "  " : "", lines[i]);
	run_text_lines_free(lines);
}

static void put_lines(struct strbuf *sb, const char *before, char *const *lines)
{
	for (; *lines; lines++)
		put_line(sb, before, *lines);
}

static void put_head(const struct compare *c, struct strbuf *sb)
{
	cleanup_free char *title = str_printf("%s%s%s", c->title, *c->context ? ": " : "", c->context);

	put_line(sb, "", title);
	put_lines(sb, "warning: ", c->warning);
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
	grid_set(g, row, 3, xstrdup(stats_outcome_name(r->outcome)));
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
		put_line(sb, "", s->label);
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
	char **remarks = compare_remarks(c);

	put_lines(&sb, "warning: ", c->warning);
	for (size_t s = 0; s < c->nsections; s++)
		put_section(c, s, false, &sb);
	put_lines(&sb, "", remarks);
	compare_remarks_free(remarks);
	return strbuf_steal(&sb);
}

char *compare_lkml(const struct compare *c)
{
	struct strbuf sb = STRBUF_INIT;
	char **remarks = compare_remarks(c), **not_ok = compare_not_ok(c);

	put_head(c, &sb);
	for (size_t s = 0; s < c->nsections; s++)
		put_section(c, s, true, &sb);
	put_lines(&sb, "", remarks);
	put_lines(&sb, "not ok, and in no number: ", not_ok);
	compare_remarks_free(remarks);
	compare_remarks_free(not_ok);
	return strbuf_steal(&sb);
}
