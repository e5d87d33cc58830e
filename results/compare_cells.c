// SPDX-License-Identifier: GPL-2.0-only
#include "results/compare_cells.h"

#include <math.h>
#include <string.h>

#include "results/table_cells.h"
#include "results/util/cleanup.h"

#define TIMES_MAX 10 /* from here on "+1049%" says less than "+669" */

char *compare_cell_median(const struct compare_value *v)
{
	cleanup_free char *median = table_number(v->summary.median);
	cleanup_free char *least = table_number(v->summary.min), *most = table_number(v->summary.max);

	if (!v->n)
		return xstrdup("-");
	if (strcmp(least, most) == 0)
		return STEAL(median);
	return str_printf("%s (%s..%s)", median, least, most);
}

static bool in_percent(const struct compare_metric *m, const struct stats_result *r)
{
	double base = fabs(r->base.median);

	return base > 0 && strcmp(m->unit, "%") != 0 && fabs(r->shift.estimate) < TIMES_MAX * base;
}

static char *signed_percent(double part, double whole, const char *unit)
{
	double v = 100 * part / fabs(whole);

	return str_printf("%s%.*f%s", v > 0 ? "+" : "", fabs(v) >= 99.95 ? 0 : 1, v == 0 ? 0.0 : v, unit);
}

static char *signed_number(double v)
{
	cleanup_free char *number = table_number(v);

	return str_printf("%s%s", v > 0 ? "+" : "", number);
}

char *compare_cell_shift(const struct compare_metric *m, const struct stats_result *r)
{
	if (!isfinite(r->shift.estimate))
		return xstrdup("-");
	return in_percent(m, r) ? signed_percent(r->shift.estimate, r->base.median, "%") :
				  signed_number(r->shift.estimate);
}

char *compare_cell_interval(const struct compare_metric *m, const struct stats_result *r)
{
	cleanup_free char *low = NULL, *high = NULL;

	if (!isfinite(r->shift.low) || !isfinite(r->shift.high))
		return xstrdup("-");
	if (in_percent(m, r)) {
		low = signed_percent(r->shift.low, r->base.median, "");
		high = signed_percent(r->shift.high, r->base.median, "%");
	} else {
		low = signed_number(r->shift.low);
		high = signed_number(r->shift.high);
	}
	return str_printf("%s .. %s", low, high);
}

char *compare_cell_p(const struct stats_result *r)
{
	if (!isfinite(r->p_adjusted))
		return xstrdup("-");
	return r->p_adjusted < 0.001 ? xstrdup("<0.001") : str_printf("%.3f", r->p_adjusted);
}

char *compare_cell_delta(const struct stats_result *r)
{
	return isfinite(r->rank.delta) ? str_printf("%+.2f", r->rank.delta) : xstrdup("-");
}

char *compare_cell_name(const struct compare_metric *m)
{
	static const char *const plain[] = { "", "events", "pages", "blocks", "files", "index" };

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (strcmp(m->unit, plain[i]) == 0)
			return xstrdup(m->name);
	return str_printf("%s, %s", m->name, m->unit);
}

struct list {
	char **item;
	size_t n;
};

static void list_add(struct list *l, char *text)
{
	l->item = xreallocarray(l->item, l->n + 2, sizeof(*l->item));
	l->item[l->n++] = text;
	l->item[l->n] = NULL;
}

static char **list_done(struct list *l)
{
	return l->item ? l->item : xcalloc(1, sizeof(*l->item));
}

void compare_remarks_free(char **remarks)
{
	for (char **r = remarks; r && *r; r++)
		free(*r);
	free(remarks);
}

char *compare_counts(const struct compare *c)
{
	size_t least = SIZE_MAX, most = 0;

	for (size_t s = 0; s < c->nsections; s++)
		for (size_t k = 0; k < c->ncols; k++) {
			size_t n = c->section[s].cell[k].verdict[VERDICT_OK];

			if (!c->section[s].cell[k].nruns)
				continue;
			least = n < least ? n : least;
			most = n > most ? n : most;
		}
	if (least == most)
		return str_printf("%zu run%s each", most, most == 1 ? "" : "s");
	return str_printf("%zu to %zu runs each", least, most);
}

static char *place(const struct compare *c, size_t section, size_t col)
{
	const char *label = c->section[section].label;

	return str_printf("%s%s%s", c->col[col], *label ? ", " : "", label);
}

char **compare_not_ok(const struct compare *c)
{
	struct list l = { NULL, 0 };

	for (size_t s = 0; s < c->nsections; s++)
		for (size_t k = 0; k < c->ncols; k++)
			for (int v = 0; v < VERDICT_COUNT; v++) {
				const struct compare_cell *cell = &c->section[s].cell[k];
				cleanup_free char *where = NULL;

				if (v == VERDICT_OK || !cell->verdict[v])
					continue;
				where = place(c, s, k);
				list_add(&l, str_printf("%s: %u of %zu runs %s", where, cell->verdict[v],
							cell->nruns, verdict_name((enum verdict)v)));
			}
	return list_done(&l);
}

/* ---- remarks ---- */

static bool tested(const struct compare *c, size_t metric, size_t col)
{
	return col != c->baseline && !c->metric[metric].quiet;
}

/* Every result of the table, one after the other; NULL at the end. */
struct walk {
	const struct compare *c;
	size_t section, metric, col; /* of what was given */
	size_t next;
};

static const struct stats_result *walk_next(struct walk *w)
{
	size_t per = w->c->nmetrics * w->c->ncols;

	while (w->next < w->c->nsections * per) {
		size_t i = w->next++;

		w->section = i / per;
		w->metric = i % per / w->c->ncols;
		w->col = i % w->c->ncols;
		if (tested(w->c, w->metric, w->col))
			return compare_result(w->c, w->section, w->metric, w->col);
	}
	return NULL;
}

static void remark_method(const struct compare *c, struct list *l)
{
	bool used[STATS_NORMAL + 1] = { false };
	struct walk w = { .c = c };
	struct strbuf sb = STRBUF_INIT;
	const struct stats_result *r;
	const char *between = "";
	cleanup_free char *counts = compare_counts(c);

	while ((r = walk_next(&w)))
		used[r->rank.method] = true;
	strbuf_addf(&sb, "%s; change: Hodges-Lehmann, with %.4g %% confidence; p: Mann-Whitney (", counts,
		    100 * (1 - c->stats.alpha));
	for (int i = STATS_EXACT; i <= STATS_NORMAL; i++)
		if (used[i]) {
			strbuf_addf(&sb, "%s%s", between, stats_method_name((enum stats_method)i));
			between = ", ";
		}
	strbuf_addf(&sb, "%s), Holm over %zu test%s; same: the %.4g %% interval is within %.4g %%",
		    *between ? "" : "not made", c->tests, c->tests == 1 ? "" : "s",
		    100 * (1 - 2 * c->stats.alpha), 100 * c->stats.margin_relative);
	list_add(l, strbuf_steal(&sb));
}

static void remark_groups(const struct compare *c, struct list *l)
{
	struct walk w = { .c = c };
	const struct stats_result *r;
	bool grouped = false, within = false;

	while ((r = walk_next(&w))) {
		grouped |= r->grouped;
		within |= r->grouped && !r->beyond;
	}
	if (grouped && !within)
		list_add(l, xstrdup("runs of one layout or seed share it: the layouts and seeds are compared, "
				    "each by its median"));
	if (within)
		list_add(l, xstrdup("one layout or seed on a side: nothing is known of others; more of them "
				    "(--layouts, other seeds) would tell"));
}

/* "inconclusive: time (6 more runs a column would decide), files". */
static void remark_more(const struct compare *c, struct list *l)
{
	struct walk w = { .c = c };
	struct strbuf sb = STRBUF_INIT;
	const struct stats_result *r;
	const char *between = "";

	while ((r = walk_next(&w))) {
		const char *label = c->section[w.section].label;

		if (r->outcome != STATS_INCONCLUSIVE || !r->more)
			continue;
		strbuf_addf(&sb, "%s%s", between, c->metric[w.metric].name);
		if (*label || c->ncols > 2)
			strbuf_addf(&sb, " (%s%s%s)", c->ncols > 2 ? c->col[w.col] : "",
				    c->ncols > 2 && *label ? ", " : "", label);
		strbuf_addf(&sb, " +%zu", r->more);
		between = ", ";
	}
	if (!sb.len)
		return;
	list_add(l, str_printf("runs that each column needs more to decide what is inconclusive: %s", sb.data));
	strbuf_free(&sb);
}

char **compare_remarks(const struct compare *c)
{
	struct list l = { NULL, 0 };

	remark_method(c, &l);
	remark_groups(c, &l);
	remark_more(c, &l);
	return list_done(&l);
}
