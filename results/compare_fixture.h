/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_COMPARE_FIXTURE_H
#define MMRIG_COMPARE_FIXTURE_H
/*
 * For unit tests: a struct compare made by hand. Include after cmocka.h.
 *
 *	struct compare c = compare_fixture("kernel", col, metric, section);
 *	fixture_values(&c, 0, "time", 1, v, n);
 *	fixture_test(&c);
 *	fixture_free(&c);
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/compare.h"
#include "results/counter.h"
#include "results/util/cleanup.h"

static inline size_t fixture_count(const char *const *list)
{
	size_t n = 0;

	while (list[n])
		n++;
	return n;
}

/* A name with a '?' in front is a quiet metric. All lists end with NULL. */
static inline struct compare compare_fixture(const char *by, const char *const *col,
					     const char *const *metric, const char *const *section)
{
	const struct stats_options usual = STATS_OPTIONS_DEFAULT;
	struct compare c = { .by = xstrdup(by),
			     .title = xstrdup("a-title"),
			     .context = xstrdup("kernel 7.3.4; 8G, 2 CPUs, tcg"),
			     .row_title = "free pages at",
			     .ncols = fixture_count(col),
			     .nmetrics = fixture_count(metric),
			     .nsections = fixture_count(section),
			     .stats = usual,
			     .warning = xcalloc(1, sizeof(*c.warning)) };

	c.col = xcalloc(c.ncols + 1, sizeof(*c.col));
	c.metric = xcalloc(c.nmetrics + 1, sizeof(*c.metric));
	c.section = xcalloc(c.nsections + 1, sizeof(*c.section));
	for (size_t i = 0; i < c.ncols; i++)
		c.col[i] = xstrdup(col[i]);
	for (size_t i = 0; i < c.nmetrics; i++) {
		const char *name = metric[i] + (*metric[i] == '?');
		const struct counter *known = counter_find(name);

		c.metric[i] = (struct compare_metric){
			.name = name,
			.title = counter_title(name),
			.unit = known ? known->unit : "",
			.better = known ? known->better : BETTER_NEITHER,
			.quiet = *metric[i] == '?',
		};
	}
	for (size_t i = 0; i < c.nsections; i++) {
		c.section[i].label = xstrdup(section[i]);
		c.section[i].cell = xcalloc(c.ncols + 1, sizeof(*c.section[i].cell));
		c.section[i].value = xcalloc(c.nmetrics * c.ncols + 1, sizeof(*c.section[i].value));
		c.section[i].result =
			xcalloc(c.nmetrics * c.ncols + 1, sizeof(*c.section[i].result));
	}
	return c;
}

static inline size_t fixture_metric(const struct compare *c, const char *name)
{
	for (size_t i = 0; i < c->nmetrics; i++)
		if (strcmp(c->metric[i].name, name) == 0)
			return i;
	fail_msg("the fixture has no metric %s", name);
	return 0;
}

static inline void fixture_values(struct compare *c, size_t section, const char *metric, size_t col,
				  const double *v, size_t n)
{
	size_t m = fixture_metric(c, metric);
	struct compare_value *value = &c->section[section].value[m * c->ncols + col];
	struct compare_cell *cell = &c->section[section].cell[col];

	value->v = xreallocarray(NULL, n ? n : 1, sizeof(*v));
	value->run = xcalloc(n ? n : 1, sizeof(*value->run));
	for (size_t i = 0; i < n; i++) {
		value->v[i] = v[i];
		value->run[i] = i;
	}
	value->n = n;
	if (cell->verdict[VERDICT_OK] < n) {
		cell->nruns += n - cell->verdict[VERDICT_OK];
		cell->verdict[VERDICT_OK] = (unsigned int)n;
	}
}

/* n values, `step` apart, whose mean and median is `mean`. */
static inline void fixture_around(struct compare *c, size_t section, const char *metric, size_t col,
				  double mean, double step, size_t n)
{
	cleanup_free double *v = xreallocarray(NULL, n, sizeof(*v));

	for (size_t i = 0; i < n; i++)
		v[i] = mean + step * ((double)i - (double)(n - 1) / 2);
	fixture_values(c, section, metric, col, v, n);
}

static inline void fixture_warn(struct compare *c, const char *text)
{
	size_t n = 0;

	while (c->warning[n])
		n++;
	c->warning = xreallocarray(c->warning, n + 2, sizeof(*c->warning));
	c->warning[n] = xstrdup(text);
	c->warning[n + 1] = NULL;
}

/* Summaries, tests against the baseline, and Holm's correction over all that is not quiet. */
static inline void fixture_test(struct compare *c)
{
	size_t all = c->nsections * c->nmetrics * c->ncols;
	cleanup_free struct stats_result *flat = xcalloc(all + 1, sizeof(*flat));
	cleanup_free struct stats_result **at = xcalloc(all + 1, sizeof(*at));
	size_t n = 0;

	for (size_t i = 0; i < all; i++) {
		size_t s = i / (c->nmetrics * c->ncols), k = i % (c->nmetrics * c->ncols);
		size_t m = k / c->ncols;
		struct compare_value *v = &c->section[s].value[k];
		struct compare_value *base = &c->section[s].value[m * c->ncols + c->baseline];
		struct stats_sample b = { .value = base->v, .n = base->n };
		struct stats_sample h = { .value = v->v, .n = v->n };
		enum counter_better better = c->metric[m].better;

		assert_int_equal(stats_summarise(v->v, v->n, better, &v->summary, NULL), 0);
		if (k % c->ncols == c->baseline || c->metric[m].quiet)
			continue;
		assert_int_equal(stats_compare(&b, &h, better, &c->stats, &flat[n], NULL), 0);
		at[n++] = &c->section[s].result[k];
	}
	stats_correct(flat, n, &c->stats);
	for (size_t i = 0; i < n; i++) {
		*at[i] = flat[i];
		c->tests += !isnan(flat[i].rank.p);
	}
}

static inline void fixture_free(struct compare *c)
{
	free(c->by);
	for (size_t s = 0; s < c->nsections; s++) {
		for (size_t i = 0; i < c->nmetrics * c->ncols; i++) {
			free(c->section[s].value[i].v);
			free(c->section[s].value[i].run);
		}
		for (size_t i = 0; i < c->ncols; i++)
			free(c->section[s].cell[i].run);
		free(c->section[s].label);
		free(c->section[s].cell);
		free(c->section[s].value);
		free(c->section[s].result);
	}
	for (size_t i = 0; i < c->ncols; i++)
		free(c->col[i]);
	for (size_t i = 0; i < c->nmetrics; i++)
		free(c->metric[i].title);
	for (size_t i = 0; c->warning[i]; i++)
		free(c->warning[i]);
	free(c->title);
	free(c->context);
	free(c->col);
	free(c->metric);
	free(c->section);
	free(c->warning);
}

/* The text has this line, whole. */
static inline void expect_line(const char *text, const char *line)
{
	size_t n = strlen(line);

	for (const char *p = text; *p;) {
		size_t len = strcspn(p, "\n");

		if (len == n && memcmp(p, line, n) == 0)
			return;
		p += len + (p[len] == '\n');
	}
	fprintf(stderr, "no line\n%s\nin:\n%s\n", line, text);
	fail();
}

static inline void expect_text(const char *got, const char *want)
{
	if (strcmp(got, want) == 0)
		return;
	fprintf(stderr, "got:\n%s\nwant:\n%s\n", got, want); /* fail_msg() holds but 1 KiB */
	fail();
}

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

#endif
