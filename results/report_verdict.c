// SPDX-License-Identifier: GPL-2.0-only
/* What a maintainer reads first: outcomes in words, how the runs ended, and what to mind. */
#include <math.h>
#include <stdlib.h>

#include "results/compare_parts.h"
#include "results/report_internal.h"
#include "results/table.h"
#include "results/table_cells.h"
#include "results/util/cleanup.h"

void report_put_signed(struct strbuf *sb, double v)
{
	cleanup_free char *text = table_number(v);

	strbuf_addf(sb, "%s%s", v > 0 ? "+" : "", text);
}

static void put_p(struct strbuf *sb, double p)
{
	if (!isfinite(p))
		return;
	if (p < 0.001)
		strbuf_adds(sb, ", p &lt; 0.001");
	else
		strbuf_addf(sb, ", p = %.2g", p);
}

static void put_interval(struct strbuf *sb, const struct stats_shift *s)
{
	cleanup_free char *confidence = str_printf("%.3g", 100 * s->confidence);

	if (s->method == STATS_NONE || !isfinite(s->low) || !isfinite(s->high))
		return;
	strbuf_addf(sb, ", %s %% CI ", confidence);
	report_put_signed(sb, s->low);
	strbuf_adds(sb, " to ");
	report_put_signed(sb, s->high);
}

static void put_finding(struct strbuf *sb, const struct compare_metric *m,
			const struct stats_result *res)
{
	html_text(sb, m->title);
	strbuf_adds(sb, " (");
	report_put_signed(sb, res->shift.estimate);
	if (*m->unit) {
		strbuf_adds(sb, " ");
		html_text(sb, m->unit);
	}
	if (res->outcome != STATS_SAME) {
		put_interval(sb, &res->shift);
		put_p(sb, res->p_adjusted);
	}
	strbuf_adds(sb, ")");
}

static const struct {
	enum stats_outcome outcome;
	const char *word;
} order[] = {
	{ STATS_WORSE, "Worse" }, { STATS_CHANGED, "Changed" }, { STATS_BETTER, "Better" },
	{ STATS_INCONCLUSIVE, "Inconclusive" }, { STATS_SAME, "Same" },
};

/* Bad news first; a metric that not both sides have is no news. */
static void put_findings(const struct compare *c, size_t section, size_t col, struct strbuf *sb)
{
	const struct stats_result *most = NULL; /* of the inconclusive: what would settle all of them */
	bool any = false;

	for (size_t o = 0; o < ARRAY_SIZE(order); o++) {
		const char *between = "";

		for (size_t m = 0; m < c->nmetrics; m++) {
			const struct stats_result *res = compare_result(c, section, m, col);

			if (c->metric[m].quiet || res->outcome != order[o].outcome ||
			    !isfinite(res->shift.estimate))
				continue;
			if (!*between)
				strbuf_addf(sb, " <b class=\"%s\">%s:</b> ",
					    stats_outcome_name(res->outcome), order[o].word);
			strbuf_adds(sb, between);
			put_finding(sb, &c->metric[m], res);
			between = ", ";
			any = true;
			if (res->outcome == STATS_INCONCLUSIVE && res->more > (most ? most->more : 0))
				most = res;
		}
		if (order[o].outcome == STATS_INCONCLUSIVE && most)
			strbuf_addf(sb, "; about %zu more %ss a side would settle it", most->more,
				    compare_unit(c, section, col));
		strbuf_adds(sb, *between ? "." : "");
	}
	strbuf_adds(sb, any ? "" : " they have no metric in common.");
}

static void put_compared(const struct compare *c, struct strbuf *sb)
{
	strbuf_adds(sb, "<ul class=\"verdict\">\n");
	for (size_t s = 0; s < c->nsections; s++) {
		for (size_t k = 0; k < c->ncols; k++) {
			if (k == c->baseline || !c->section[s].cell[k].nruns)
				continue;
			strbuf_adds(sb, "<li>");
			if (*c->section[s].label) {
				html_text(sb, c->section[s].label);
				strbuf_adds(sb, ": ");
			}
			strbuf_adds(sb, "<strong>");
			html_text(sb, c->col[k]);
			strbuf_adds(sb, " against ");
			html_text(sb, c->col[c->baseline]);
			strbuf_adds(sb, "</strong>.");
			put_findings(c, s, k, sb);
			strbuf_adds(sb, "</li>\n");
		}
	}
	strbuf_adds(sb, "</ul>\n");
}

static void put_cell_summary(const struct report *r, const struct report_cell *cell,
			     struct strbuf *sb)
{
	const char *between = "";

	strbuf_adds(sb, "<li><strong>");
	html_text(sb, cell->label);
	strbuf_adds(sb, "</strong>: ");
	for (size_t m = 0; m < r->nmetrics; m++) {
		size_t n;
		cleanup_free double *v = report_values(cell, r->metric[m].name, &n, NULL);
		cleanup_free char *median = table_number(stat_median(v, n));

		if (!n)
			continue;
		strbuf_adds(sb, between);
		html_text(sb, r->metric[m].title);
		strbuf_addf(sb, " %s", median);
		if (*r->metric[m].unit) {
			strbuf_adds(sb, " ");
			html_text(sb, r->metric[m].unit);
		}
		between = "; ";
	}
	strbuf_adds(sb, *between ? ".</li>\n" : "no run has a value.</li>\n");
}

static void put_alone(struct report *r)
{
	struct strbuf *sb = &r->html;

	strbuf_adds(sb, "<p>Nothing is compared: ");
	if (r->in->not_compared)
		html_text(sb, r->in->not_compared);
	else
		strbuf_adds(sb, "there is a single cell");
	strbuf_adds(sb, ". Medians over the runs that ended ok:</p>\n<ul class=\"verdict\">\n");
	for (size_t i = 0; i < r->ncells; i++)
		put_cell_summary(r, &r->cell[i], sb);
	strbuf_adds(sb, "</ul>\n");
}

/* "20 runs: 19 ok, 1 splat." */
static void put_counts(struct report *r)
{
	struct strbuf *sb = &r->html;
	unsigned int count[VERDICT_COUNT] = { 0 };
	const char *between = ": ";
	size_t n = 0;

	for (size_t i = 0; i < r->ncells; i++)
		for (size_t k = 0; k < r->cell[i].nruns; k++, n++)
			count[r->cell[i].run[k].run->verdict]++;
	strbuf_addf(sb, "<p>%zu run%s", n, n == 1 ? "" : "s");
	for (int v = 0; v < VERDICT_COUNT; v++) {
		if (!count[v])
			continue;
		strbuf_addf(sb, "%s%u %s", between, count[v], verdict_name((enum verdict)v));
		between = ", ";
	}
	strbuf_adds(sb, ".</p>\n");
}

static void put_warnings(const struct compare *c, struct strbuf *sb)
{
	if (!c->warning[0])
		return;
	strbuf_adds(sb, "<h3>Warnings</h3>\n<ul class=\"warnings\">\n");
	for (size_t i = 0; c->warning[i]; i++)
		html_element(sb, "li", c->warning[i]);
	strbuf_adds(sb, "\n</ul>\n");
}

void report_put_verdict(struct report *r)
{
	strbuf_adds(&r->html, "<section id=\"verdict\">\n<h2>Verdict</h2>\n");
	if (r->in->compare)
		put_compared(r->in->compare, &r->html);
	else
		put_alone(r);
	put_counts(r);
	if (r->in->compare)
		put_warnings(r->in->compare, &r->html);
	strbuf_adds(&r->html, "</section>\n");
}
