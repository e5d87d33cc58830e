// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables of the post on huge page allocation of August 2012. The rates are per cent, and what
 * stands in their brackets is the difference in points.
 */
#include <math.h>
#include <string.h>

#include "results/compare_parts.h"
#include "results/compare_rows.h"
#include "results/compare_text.h"
#include "results/util/cleanup.h"

static const struct counter_row pass_rows[] = {
	{ "Pass 1", "highalloc_pass1" },
	{ "Pass 2", "highalloc_pass2" },
	{ "while Rested", "highalloc_rested" },
	{ NULL, NULL },
};

static char *points(double base, double mean)
{
	return compare_percent_text(mean - base, false);
}

/* Whole numbers of pages; thousandths of a velocity; an efficiency is cut off, 99.99 is 99. */
static char *count(const char *metric, double mean)
{
	const struct counter *counter = counter_find(metric);

	if (isfinite(mean) && counter && strcmp(counter->unit, "%") == 0)
		return str_printf("%.0f%%", floor(mean));
	return compare_number(mean, counter && strcmp(counter->unit, "pages/s") == 0 ? 3 : 0);
}

static void put_passes(const struct compare *c, size_t section, struct strbuf *sb)
{
	static const struct pairs_style pairs = { .label = 12, .value = 9, .share = 6, .inset = 1 };
	static const struct rows_style style = { .value = rows_value, .share = points };
	struct pairs p;

	pairs_init(&p, c, &pairs);
	strbuf_adds(sb, "STRESS-HIGHALLOC\n");
	if (rows_add(&p, section, pass_rows, &style))
		pairs_render(&p, sb);
	else
		strbuf_adds(sb, "no run has a row of this table\n");
	pairs_free(&p);
}

static void put_vmstat(const struct compare *c, size_t section, struct strbuf *sb)
{
	static const struct pairs_style pairs = { .label = 40, .value = 12 };
	static const struct rows_style style = { .value = count };
	struct pairs p;

	pairs_init(&p, c, &pairs);
	strbuf_adds(sb, "\nMMTests Statistics: vmstat\n");
	if (rows_add(&p, section, counter_rows_highalloc, &style))
		pairs_render(&p, sb);
	else
		strbuf_adds(sb, "no run has a row of this table\n");
	pairs_free(&p);
}

char *compare_highalloc(const struct compare *c)
{
	struct strbuf sb = STRBUF_INIT;

	compare_put_title(c, 0, &sb);
	for (size_t s = 0; s < c->nsections; s++) {
		compare_put_section(c, s, 0, &sb);
		put_passes(c, s, &sb);
		put_vmstat(c, s, &sb);
	}
	strbuf_adds(&sb, "\nmeans over the runs, untested; in brackets points, + is better\n");
	compare_put_notes(c, 0, &sb);
	return strbuf_steal(&sb);
}

const char *const *compare_highalloc_metrics(void)
{
	static const char *list[32];
	size_t n = 0;

	rows_metrics(pass_rows, list, ARRAY_SIZE(list), &n);
	rows_metrics(counter_rows_highalloc, list, ARRAY_SIZE(list), &n);
	return list;
}
