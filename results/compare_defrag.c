// SPDX-License-Identifier: GPL-2.0-only
/* The table of the post on defrag_mode of April 2025. A change is new / old - 1, good or bad. */
#include "results/compare_parts.h"
#include "results/compare_rows.h"
#include "results/compare_text.h"
#include "results/util/cleanup.h"

static const struct counter_row workload_rows[] = {
	{ "Hugealloc Time mean", "hugealloc_mean" },
	{ "Hugealloc Time stddev", "hugealloc_stddev" },
	{ "Kbuild Real time", "kbuild_real" },
	{ "Kbuild User time", "kbuild_user" },
	{ "Kbuild System time", "kbuild_system" },
	{ NULL, NULL },
};

static char *change(double base, double mean)
{
	return compare_percent_text(compare_percent(base, mean, BETTER_HIGHER), true);
}

static void put_table(const struct compare *c, size_t section, struct strbuf *sb)
{
	static const struct pairs_style pairs = { .label = 38, .value = 12, .share = 10 };
	static const struct rows_style style = { .value = rows_value, .share = change };
	struct pairs p;

	pairs_init(&p, c, &pairs);
	if (rows_add(&p, section, workload_rows, &style) +
	    rows_add(&p, section, counter_rows_defrag, &style))
		pairs_render(&p, sb);
	else
		strbuf_adds(sb, "no run has a row of this table\n");
	pairs_free(&p);
}

char *compare_defrag(const struct compare *c)
{
	struct strbuf sb = STRBUF_INIT;

	compare_put_title(c, 0, &sb);
	for (size_t s = 0; s < c->nsections; s++) {
		compare_put_section(c, s, 0, &sb);
		put_table(c, s, &sb);
	}
	strbuf_adds(&sb, "\nmeans over the runs, untested; + is more\n");
	compare_put_notes(c, 0, &sb);
	return strbuf_steal(&sb);
}

const char *const *compare_defrag_metrics(void)
{
	static const char *list[64];
	size_t n = 0;

	rows_metrics(workload_rows, list, ARRAY_SIZE(list), &n);
	rows_metrics(counter_rows_defrag, list, ARRAY_SIZE(list), &n);
	return list;
}
