// SPDX-License-Identifier: GPL-2.0-only
#include "results/compare_cells.h"

#include <math.h>
#include <string.h>

#include "results/compare_parts.h"
#include "results/table_cells.h"
#include "results/util/cleanup.h"

#define TIMES_MAX 10 /* from here on "+1049%" says less than "+669" */

/* Three digits and a letter from 100,000 on. */
static char *rounded(double v)
{
	static const char letter[] = "kMGTPE";
	double size = fabs(v);
	int step = -1;

	if (!isfinite(v) || size < 1e5 || size >= 1e18)
		return table_number(v);
	for (; size >= 999.5 && step < 5; step++)
		size /= 1000;
	return str_printf("%s%.*f%c", v < 0 ? "-" : "", size < 9.995 ? 2 : size < 99.95 ? 1 : 0, size,
			  letter[step]);
}

char *compare_cell_median(const struct compare_value *v)
{
	cleanup_free char *median = table_number(v->summary.median);
	cleanup_free char *least = rounded(v->summary.min), *most = rounded(v->summary.max);

	if (!v->n)
		return xstrdup("-");
	if (v->summary.min == v->summary.max)
		return STEAL(median);
	return str_printf("%s (%s..%s)", median, least, most);
}

static bool in_percent(const struct compare_metric *m, const struct stats_result *r)
{
	double base = fabs(r->base.median);

	double most = fabs(r->shift.estimate);

	if (isfinite(r->shift.low) && isfinite(r->shift.high))
		most = fmax(most, fmax(fabs(r->shift.low), fabs(r->shift.high)));
	return base > 0 && strcmp(m->unit, "%") != 0 && most < TIMES_MAX * base;
}

static char *signed_percent(double part, double whole, const char *unit)
{
	double v = 100 * part / fabs(whole);

	if (fabs(v) < 0.05)
		v = 0; /* no sign before what is printed as 0.0 */
	return str_printf("%s%.*f%s", v > 0 ? "+" : "", fabs(v) >= 99.95 ? 0 : 1, v, unit);
}

static char *signed_number(double v)
{
	cleanup_free char *number = rounded(v);

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

/* ---- remarks ---- */

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
		const struct stats_result *r;
		size_t i = w->next++;

		w->section = i / per;
		w->metric = i % per / w->c->ncols;
		w->col = i % w->c->ncols;
		r = compare_test(w->c, w->section, w->metric, w->col);
		if (r)
			return r;
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

	while ((r = walk_next(&w)))
		used[r->rank.method] = true;
	strbuf_addf(&sb, "change: Hodges-Lehmann, with %.4g %% confidence; p: Mann-Whitney (",
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

/* Forks of a single layout on a side. */
static void remark_groups(const struct compare *c, struct list *l)
{
	struct walk w = { .c = c };
	const struct stats_result *r;

	while ((r = walk_next(&w)))
		if (r->grouped && !r->beyond && r->base.n && r->head.n) {
			list_add(l, xstrdup("one layout or seed on a side: nothing is known of others; more of "
					    "them (--layouts, other seeds) would tell"));
			return;
		}
}

static void remark_more(const struct compare *c, struct list *l)
{
	struct walk w = { .c = c };
	struct strbuf sb = STRBUF_INIT;
	const struct stats_result *r;
	const char *between = "";

	while ((r = walk_next(&w))) {
		cleanup_free char *label = NULL;

		if (r->outcome != STATS_INCONCLUSIVE || !r->more)
			continue;
		strbuf_addf(&sb, "%s%s", between, c->metric[w.metric].name);
		if (c->ncols > 2) {
			label = compare_cell_label(c, w.section, w.col);
			strbuf_addf(&sb, " (%s)", label);
		} else if (*c->section[w.section].label) {
			strbuf_addf(&sb, " (%s)", c->section[w.section].label);
		}
		strbuf_addf(&sb, " +%zu %s%s", r->more, compare_unit(c, w.section, w.col), r->more == 1 ? "" : "s");
		between = ", ";
	}
	if (!sb.len)
		return;
	list_add(l, str_printf("what each column needs more to decide what is inconclusive: %s", sb.data));
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
