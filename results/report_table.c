// SPDX-License-Identifier: GPL-2.0-only
/* The tables: each set's own, and the comparison. */
#include <math.h>
#include <stdlib.h>

#include "results/compare_parts.h"
#include "results/report_internal.h"
#include "results/table.h"
#include "results/table_cells.h"
#include "results/util/cleanup.h"

static void put_range(struct strbuf *sb, const struct compare_value *value)
{
	cleanup_free char *median = table_number(value->summary.median);
	cleanup_free char *lo = table_number(value->summary.min);
	cleanup_free char *hi = table_number(value->summary.max);

	if (!value->n)
		strbuf_adds(sb, "<td>-</td>");
	else if (value->n == 1)
		strbuf_addf(sb, "<td>%s</td>", median);
	else
		strbuf_addf(sb, "<td>%s <small>(%s – %s)</small></td>", median, lo, hi);
}

static void put_change(struct strbuf *sb, const struct stats_result *res)
{
	double base = res->base.median;

	strbuf_adds(sb, "<td>");
	report_put_signed(sb, res->shift.estimate);
	/* From tenfold on, per cent say less than the numbers. */
	if (isfinite(res->shift.estimate) && isfinite(base) && base > 0 &&
	    fabs(res->shift.estimate) < 10 * base)
		strbuf_addf(sb, " (%+.1f %%)", 100 * res->shift.estimate / base);
	if (res->shift.method != STATS_NONE && isfinite(res->shift.low) && isfinite(res->shift.high)) {
		strbuf_adds(sb, " <small>[");
		report_put_signed(sb, res->shift.low);
		strbuf_adds(sb, ", ");
		report_put_signed(sb, res->shift.high);
		strbuf_adds(sb, "]</small>");
	}
	strbuf_adds(sb, "</td>");
}

static void put_p_cell(struct strbuf *sb, double p)
{
	if (!isfinite(p))
		strbuf_adds(sb, "<td>-</td>");
	else if (p < 0.001)
		strbuf_adds(sb, "<td>&lt; 0.001</td>");
	else
		strbuf_addf(sb, "<td>%.2g</td>", p);
}

static void put_result(struct strbuf *sb, const struct stats_result *res, bool quiet, const char *unit)
{
	const char *name = stats_outcome_name(res->outcome);

	if (quiet || !isfinite(res->shift.estimate)) {
		strbuf_adds(sb, "<td>-</td><td>-</td><td>-</td><td>-</td>");
		return;
	}
	put_change(sb, res);
	put_p_cell(sb, res->p_adjusted);
	if (isfinite(res->rank.delta))
		strbuf_addf(sb, "<td>%+.2f</td>", res->rank.delta);
	else
		strbuf_adds(sb, "<td>-</td>");
	strbuf_addf(sb, "<td class=\"%s\">%s", name, name);
	if (res->outcome == STATS_INCONCLUSIVE && res->more)
		strbuf_addf(sb, " <small>(about %zu more %ss a side)</small>", res->more, unit);
	strbuf_adds(sb, "</td>");
}

/* What a th of a column says: its label, and how many runs there are. */
static void put_column_head(const struct compare *c, const struct compare_section *s, size_t col,
			    const char *scope, struct strbuf *sb)
{
	strbuf_addf(sb, "<th scope=\"%s\">", scope);
	html_text(sb, c->col[col]);
	strbuf_addf(sb, " <small>%u of %zu ok%s</small></th>", s->cell[col].verdict[VERDICT_OK],
		    s->cell[col].nruns, col == c->baseline ? ", baseline" : "");
}

static void put_metric_head(const struct compare_metric *m, size_t rows, struct strbuf *sb)
{
	if (rows > 1)
		strbuf_addf(sb, "<th scope=\"rowgroup\" rowspan=\"%zu\">", rows);
	else
		strbuf_adds(sb, "<th scope=\"row\">");
	html_text(sb, m->title);
	if (*m->unit) {
		strbuf_adds(sb, " <small>");
		html_text(sb, m->unit);
		strbuf_adds(sb, "</small>");
	}
	strbuf_adds(sb, "</th>");
}

static const char result_heads[] = "<th scope=\"col\">Change</th><th scope=\"col\">p</th>"
				   "<th scope=\"col\">Cliff’s δ</th><th scope=\"col\">Outcome</th>";

/* Two columns stand beside each other: a row a metric. */
static void put_two(const struct compare *c, size_t section, struct strbuf *sb)
{
	size_t other = !c->baseline;

	strbuf_adds(sb, "<thead><tr><th scope=\"col\">Metric</th>");
	put_column_head(c, &c->section[section], c->baseline, "col", sb);
	put_column_head(c, &c->section[section], other, "col", sb);
	strbuf_addf(sb, "%s</tr></thead>\n<tbody>\n", result_heads);
	for (size_t m = 0; m < c->nmetrics; m++) {
		strbuf_adds(sb, "<tr>");
		put_metric_head(&c->metric[m], 1, sb);
		put_range(sb, compare_value(c, section, m, c->baseline));
		put_range(sb, compare_value(c, section, m, other));
		put_result(sb, compare_result(c, section, m, other), c->metric[m].quiet,
			   compare_unit(c, section, other));
		strbuf_adds(sb, "</tr>\n");
	}
	strbuf_adds(sb, "</tbody>\n");
}

/* More would not fit on a screen: a row a metric and column. */
static void put_many(const struct compare *c, size_t section, struct strbuf *sb)
{
	strbuf_addf(sb, "<thead><tr><th scope=\"col\">Metric</th><th scope=\"col\">Of</th>"
			"<th scope=\"col\">Median</th>%s</tr></thead>\n", result_heads);
	for (size_t m = 0; m < c->nmetrics; m++) {
		strbuf_adds(sb, "<tbody>\n");
		for (size_t k = 0; k < c->ncols; k++) {
			strbuf_adds(sb, "<tr>");
			if (k == 0)
				put_metric_head(&c->metric[m], c->ncols, sb);
			put_column_head(c, &c->section[section], k, "row", sb);
			put_range(sb, compare_value(c, section, m, k));
			put_result(sb, compare_result(c, section, m, k),
				   k == c->baseline || c->metric[m].quiet, compare_unit(c, section, k));
			strbuf_adds(sb, "</tr>\n");
		}
		strbuf_adds(sb, "</tbody>\n");
	}
}

static void put_section(const struct compare *c, size_t section, struct strbuf *sb)
{
	const struct compare_section *s = &c->section[section];

	strbuf_adds(sb, "<div class=\"scroll\" tabindex=\"0\">\n<table>\n<caption>");
	html_text(sb, *s->label ? s->label : c->title);
	strbuf_adds(sb, ": change against ");
	html_text(sb, c->col[c->baseline]);
	strbuf_adds(sb, "</caption>\n");
	(c->ncols == 2 ? put_two : put_many)(c, section, sb);
	strbuf_adds(sb, "</table>\n</div>\n");
}

static void put_comparison(const struct compare *c, struct strbuf *sb)
{
	strbuf_adds(sb, "<h3>Comparison</h3>\n");
	if (*c->context) {
		strbuf_adds(sb, "<p>All runs: ");
		html_text(sb, c->context);
		strbuf_adds(sb, ".</p>\n");
	}
	for (size_t s = 0; s < c->nsections; s++)
		put_section(c, s, sb);
	strbuf_addf(sb,
		    "<p class=\"note\">Median (least – most) of the runs that ended ok. Change:"
		    " Hodges-Lehmann shift [its confidence interval of %.3g %% or more]. p: Mann-Whitney,"
		    " corrected after Holm for %zu test%s. Cliff’s δ: +1 where every value is above the"
		    " baseline’s, -1 where every one is below. Same: within a margin of %.3g %%.</p>\n",
		    100 * (1 - c->stats.alpha), c->tests, c->tests == 1 ? "" : "s",
		    100 * c->stats.margin_relative);
}

void report_put_tables(struct report *r)
{
	struct strbuf *sb = &r->html;

	strbuf_adds(sb, "<section id=\"tables\">\n<h2>Tables</h2>\n");
	if (r->in->compare)
		put_comparison(r->in->compare, sb);
	for (size_t i = 0; i < r->in->nsets; i++) {
		cleanup_free char *text = table_runset(&r->in->set[i]);

		strbuf_adds(sb, "<h3>Run set ");
		html_text(sb, r->in->set[i].id);
		strbuf_adds(sb, "</h3>\n<pre tabindex=\"0\">");
		html_lines(sb, text, 0);
		strbuf_adds(sb, "</pre>\n");
	}
	strbuf_adds(sb, "</section>\n");
}
