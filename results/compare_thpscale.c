// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables of the post on compaction of January 2019: latency of huge page faults and share of
 * those that got one, by threads, as the run has them; then what compaction scanned.
 */
#include <stdlib.h>
#include <string.h>

#include "results/compare_parts.h"
#include "results/compare_rows.h"
#include "results/compare_text.h"
#include "results/util/cleanup.h"

static const struct counter_row scan_rows[] = {
	{ "Compaction migrate scanned", "compact_migrate_scanned" },
	{ "Compaction free scanned", "compact_free_scanned" },
	{ NULL, NULL },
};

struct by_threads {
	unsigned long threads;
	size_t metric;
};

static int by_number(const void *a, const void *b)
{
	const struct by_threads *x = a, *y = b;

	if (x->threads != y->threads)
		return x->threads < y->threads ? -1 : 1;
	return (x->metric > y->metric) - (x->metric < y->metric);
}

/* The metrics of a pattern in the order of their threads. Heap. */
static struct by_threads *find_metrics(const struct compare *c, const char *pattern, size_t *n)
{
	struct by_threads *found = xcalloc(c->nmetrics + 1, sizeof(*found));
	size_t prefix = strcspn(pattern, "<");

	*n = 0;
	for (size_t m = 0; m < c->nmetrics; m++) {
		const struct counter *counter = counter_find(c->metric[m].name);

		if (counter && strcmp(counter->name, pattern) == 0)
			found[(*n)++] = (struct by_threads){
				strtoul(c->metric[m].name + prefix, NULL, 10), m
			};
	}
	qsort(found, *n, sizeof(*found), by_number);
	return found;
}

static void add_row(struct pairs *p, size_t section, size_t metric, const char *label)
{
	const struct compare *c = p->c;
	const char *name = c->metric[metric].name;
	double base = compare_mean(c, section, name, c->baseline);
	size_t row = pairs_add(p, label);

	for (size_t i = 0; i < c->ncols; i++) {
		double mean = compare_mean(c, section, name, i);
		double off = compare_percent(base, mean, c->metric[metric].better);

		pairs_set(p, row, i, compare_number(mean, 2), compare_percent_text(off, false),
			  compare_differs(compare_test(c, section, metric, i)));
	}
}

/* prefix: "Amean     fault-both-", to which the threads are added. */
static size_t put_faults(const struct compare *c, size_t section, const char *pattern,
			 const char *prefix, struct strbuf *sb)
{
	static const struct pairs_style style = { .label = 19, .value = 11, .share = 8, .inset = 3,
						  .at_hyphen = true };
	size_t n;
	cleanup_free struct by_threads *found = find_metrics(c, pattern, &n);
	struct pairs p;

	pairs_init(&p, c, &style);
	for (size_t i = 0; i < n; i++) {
		cleanup_free char *label = str_printf("%s%lu", prefix, found[i].threads);

		add_row(&p, section, found[i].metric, label);
	}
	if (n) {
		pairs_render(&p, sb);
		strbuf_adds(sb, "\n");
	}
	pairs_free(&p);
	return n;
}

static void put_scans(const struct compare *c, size_t section, bool alone, struct strbuf *sb)
{
	static const struct pairs_style pairs = { .label = 26, .value = 15, .at_hyphen = true };
	static const struct rows_style style = { .value = rows_value };
	struct pairs p;

	pairs_init(&p, c, &pairs);
	if (rows_add(&p, section, scan_rows, &style))
		pairs_render(&p, sb);
	else
		strbuf_adds(sb, alone ? "no run has a row of this table\n" :
					"Compaction scanned: -\n");
	pairs_free(&p);
}

char *compare_thpscale(const struct compare *c)
{
	struct strbuf sb = STRBUF_INIT;

	compare_put_title(c, 0, &sb);
	for (size_t s = 0; s < c->nsections; s++) {
		size_t n;

		compare_put_section(c, s, 0, &sb);
		n = put_faults(c, s, "fault_both_<threads>", "Amean     fault-both-", &sb);
		n += put_faults(c, s, "huge_share_<threads>", "Percentage huge-", &sb);
		put_scans(c, s, n == 0, &sb);
	}
	if (c->tests)
		strbuf_adds(&sb, "\n");
	compare_put_star(c, &sb);
	compare_put_notes(c, 0, &sb);
	return strbuf_steal(&sb);
}

const char *const *compare_thpscale_metrics(void)
{
	static const char *list[] = { "fault_both_<threads>", "huge_share_<threads>", NULL, NULL,
				      NULL };
	size_t n = 2;

	rows_metrics(scan_rows, list, ARRAY_SIZE(list), &n);
	return list;
}

const char *const *compare_thpscale_tested(void)
{
	static const char *const list[] = { "fault_both_<threads>", NULL };

	return list;
}
