// SPDX-License-Identifier: GPL-2.0-only
/*
 * The look of mmtests, with other statistics behind it: the brackets of a mean become asterisks
 * where the corrected rank test says so, and nothing else; the vmstat block has means over the runs
 * (there: the least of them, row by row); what is absent has a "-", and so has a ratio to 0.
 */
#include <math.h>

#include "results/compare_parts.h"
#include "results/compare_rows.h"
#include "results/compare_text.h"
#include "results/table_grid.h"
#include "results/util/cleanup.h"

enum line { LINE_MIN, LINE_MEAN, LINE_STDDEV, LINE_COEFFVAR, LINE_MAX, LINE_BEST, LINE_COUNT };

static const char *line_name(enum line line, bool harmonic)
{
	static const char *const name[] = { "Min",	"Amean", "Stddev",
					    "CoeffVar", "Max",	 "BAmean-95" };

	if (harmonic && line == LINE_MEAN)
		return "Hmean";
	return harmonic && line == LINE_BEST ? "BHmean-95" : name[line];
}

static double line_value(enum line line, bool harmonic, const struct compare_value *v)
{
	const struct stats_summary *s = &v->summary;

	if (!v->n)
		return NAN;
	switch (line) {
	case LINE_MIN:
		return s->min;
	case LINE_MEAN:
		return harmonic ? s->hmean : s->mean;
	case LINE_STDDEV:
		return harmonic ? s->hstddev : s->stddev;
	case LINE_COEFFVAR:
		return harmonic ? 100 * s->hstddev / s->hmean : s->coeffvar;
	case LINE_MAX:
		return s->max;
	default:
		return harmonic ? s->best95_hmean : s->best95;
	}
}

/* Where higher is better; but there is no such mean of a value that is 0. */
static bool is_harmonic(const struct compare *c, size_t section, size_t metric)
{
	if (c->metric[metric].better != BETTER_HIGHER)
		return false;
	for (size_t i = 0; i < c->ncols; i++) {
		const struct compare_value *v = compare_value(c, section, metric, i);

		if (v->n && isnan(v->summary.hmean))
			return false;
	}
	return true;
}

static void add_line(struct pairs *p, size_t section, size_t metric, enum line line, bool harmonic)
{
	const struct compare *c = p->c;
	cleanup_free char *label = str_printf("%-9s %s", line_name(line, harmonic),
					      c->metric[metric].name);
	bool spread = line == LINE_STDDEV || line == LINE_COEFFVAR;
	enum counter_better better = spread ? BETTER_LOWER : c->metric[metric].better;
	double base = line_value(line, harmonic, compare_value(c, section, metric, c->baseline));
	size_t row = pairs_add(p, label);

	for (size_t i = 0; i < c->ncols; i++) {
		double value = line_value(line, harmonic, compare_value(c, section, metric, i));
		double off = compare_percent(base, value, better);
		bool star = compare_differs(compare_test(c, section, metric, i));

		pairs_set(p, row, i, compare_number(value, 2), compare_percent_text(off, false),
			  star && line == LINE_MEAN);
	}
}

static void add_metrics(struct pairs *p, size_t section)
{
	for (size_t m = 0; m < p->c->nmetrics; m++) {
		bool harmonic = is_harmonic(p->c, section, m);

		if (p->c->metric[m].quiet)
			continue;
		for (int line = 0; line < LINE_COUNT; line++)
			/* Where neither end is the better one there is no best share. */
			if (line != LINE_BEST || p->c->metric[m].better != BETTER_NEITHER)
				add_line(p, section, m, (enum line)line, harmonic);
	}
}

static void put_metrics(const struct compare *c, size_t section, struct strbuf *sb)
{
	static const struct pairs_style style = { .label = 19, .value = 11, .share = 8, .inset = 3,
						  .at_hyphen = true };
	struct pairs p;

	pairs_init(&p, c, &style);
	add_metrics(&p, section);
	if (p.nrows)
		pairs_render(&p, sb);
	pairs_free(&p);
}

static void put_block(const struct compare *c, size_t section, struct strbuf *sb)
{
	static const struct pairs_style pairs = { .label = 30, .value = 15, .at_hyphen = true };
	static const struct rows_style style = { .prefix = "Ops ", .value = rows_value };
	cleanup_free char *runs = compare_runs_text(c, section);
	struct pairs p;

	pairs_init(&p, c, &pairs);
	strbuf_adds(sb, "\nMMTests Statistics: vmstat\n");
	if (rows_add(&p, section, counter_rows_mmtests, &style)) {
		strbuf_addf(sb, "# mean over the runs, of %s each\n", runs);
		pairs_render(&p, sb);
	} else {
		strbuf_adds(sb, "# no run has a counter of this block\n");
	}
	pairs_free(&p);
}

static bool any_neither(const struct compare *c)
{
	for (size_t m = 0; m < c->nmetrics; m++)
		if (!c->metric[m].quiet && c->metric[m].better == BETTER_NEITHER)
			return true;
	return false;
}

static void put_key(const struct compare *c, struct strbuf *sb)
{
	strbuf_adds(sb, "\n");
	compare_put_star(c, sb);
	grid_put_wrapped(sb, 0, any_neither(c) ? "positive is better; more, where neither is" :
						    "positive is better");
}

char *compare_mmtests(const struct compare *c)
{
	struct strbuf sb = STRBUF_INIT;

	compare_put_title(c, 0, &sb);
	for (size_t s = 0; s < c->nsections; s++) {
		compare_put_section(c, s, 0, &sb);
		put_metrics(c, s, &sb);
		put_block(c, s, &sb);
	}
	put_key(c, &sb);
	compare_put_notes(c, 0, &sb);
	return strbuf_steal(&sb);
}

const char *const *compare_mmtests_metrics(void)
{
	static const char *list[128];
	size_t n = 0;

	rows_metrics(counter_rows_mmtests, list, ARRAY_SIZE(list), &n);
	return list;
}
