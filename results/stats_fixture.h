/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_STATS_FIXTURE_H
#define MMRIG_STATS_FIXTURE_H
/* For the unit tests of statistics; include after cmocka.h. */
#include <math.h>

#include "results/stats.h"
#include "results/util/cleanup.h"

/* NAN is expected by NAN. The tolerance is relative, and absolute below 1. */
static inline void expect_near(double got, double want, double tolerance, const char *what)
{
	if (isnan(want) ? !isnan(got) : !(fabs(got - want) <= tolerance * fmax(1, fabs(want))))
		fail_msg("%s: got %.17g, want %.17g", what, got, want);
}

static inline struct stats_rank rank_of(const double *base, size_t n, const double *head, size_t m)
{
	struct stats_rank r;

	assert_int_equal(stats_rank_test(base, n, head, m, &r, NULL), 0);
	return r;
}

static inline struct stats_shift shift_of(const double *base, size_t n, const double *head,
					  size_t m, double level)
{
	struct stats_shift s;

	assert_int_equal(stats_shift(base, n, head, m, level, &s, NULL), 0);
	return s;
}

static inline struct stats_result compare_of(const double *base, size_t n, const double *head,
					     size_t m, enum counter_better better,
					     const struct stats_options *opt)
{
	const struct stats_options usual = STATS_OPTIONS_DEFAULT;
	struct stats_sample b = { .value = base, .n = n }, h = { .value = head, .n = m };
	struct stats_result r;

	assert_int_equal(stats_compare(&b, &h, better, opt ? opt : &usual, &r, NULL), 0);
	return r;
}

#endif
