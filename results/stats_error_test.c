// SPDX-License-Identifier: GPL-2.0-only
/*
 * Error rates by simulation: fixed seeds, so that a test that holds holds always. A rate p seen in
 * ROUNDS rounds strays by sqrt(p (1 - p) / ROUNDS); bounds lie three of these from the nominal one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <gsl/gsl_randist.h>

#include "results/stats_fixture.h"

#define ROUNDS 3000
#define ALPHA_BOUND (0.05 + 3 * 0.00398) /* sqrt(.05 * .95 / 3000) = .00398 */

static int setup(void **state)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	gsl_rng_set(rng, 4711);
	*state = rng;
	return 0;
}

static int teardown(void **state)
{
	gsl_rng_free(*state);
	return 0;
}

/* Skewed, as times and stalls are. */
static void draw(gsl_rng *rng, double *v, size_t n, double shift)
{
	for (size_t i = 0; i < n; i++)
		v[i] = exp(gsl_ran_gaussian(rng, 1)) + shift;
}

static void draw_counts(gsl_rng *rng, double *v, size_t n, double mean)
{
	for (size_t i = 0; i < n; i++)
		v[i] = gsl_ran_poisson(rng, mean);
}

static bool claims(const struct stats_result *r)
{
	return r->outcome == STATS_BETTER || r->outcome == STATS_WORSE;
}

static const struct stats_options no_margin = { .alpha = 0.05, .power = 0.8 };

static void test_null(void **state)
{
	double rate[2] = { 0 }, a[10], b[8];

	for (int i = 0; i < ROUNDS; i++) {
		struct stats_result r;

		draw(*state, a, 10, 0);
		draw(*state, b, 8, 0);
		r = compare_of(a, 10, b, 8, BETTER_LOWER, &no_margin);
		rate[0] += claims(&r) / (double)ROUNDS;
		draw_counts(*state, a, 10, 0.7);
		draw_counts(*state, b, 8, 0.7);
		r = compare_of(a, 10, b, 8, BETTER_LOWER, &no_margin);
		rate[1] += claims(&r) / (double)ROUNDS;
	}
	assert_true(rate[0] <= ALPHA_BOUND);
	assert_true(rate[1] <= ALPHA_BOUND);
	/* The exact size at 10 and 8 is .0434 (U <= 17); a test that never speaks would be no test. */
	assert_true(rate[0] >= .0434 - 3 * .0037);
}

/* Noether's number of runs a side has about the power asked for, and decides rightly. */
static void test_power(void **state)
{
	double better = 0, worse = 0, a[33], b[33];

	/* Normal, 0.75 deviations apart: P = Phi(.75 / sqrt 2) = .702, 7.85 / (6 * .202^2) = 32.1 */
	for (int i = 0; i < 1000; i++) {
		struct stats_result r;

		for (int k = 0; k < 33; k++) {
			a[k] = gsl_ran_gaussian(*state, 1);
			b[k] = gsl_ran_gaussian(*state, 1) + 0.75;
		}
		r = compare_of(a, 33, b, 33, BETTER_LOWER, &no_margin);
		worse += r.outcome == STATS_WORSE;
		better += r.outcome == STATS_BETTER;
	}
	assert_true(worse / 1000 >= .77 && worse / 1000 <= .90);
	assert_true(better == 0);
}

/* The true shift lies in the interval, with and without ties. */
static void test_coverage(void **state)
{
	double missed[2] = { 0 }, a[7], b[9];

	for (int i = 0; i < ROUNDS; i++) {
		struct stats_shift s;

		draw(*state, a, 7, 0);
		draw(*state, b, 9, 2.5);
		s = shift_of(a, 7, b, 9, .95);
		missed[0] += s.low > 2.5 || s.high < 2.5;
		draw_counts(*state, a, 7, 1.5);
		draw_counts(*state, b, 9, 1.5);
		for (int k = 0; k < 9; k++)
			b[k] += 4;
		s = shift_of(a, 7, b, 9, .95);
		missed[1] += s.low > 4 || s.high < 4;
	}
	assert_true(missed[0] / ROUNDS <= ALPHA_BOUND);
	assert_true(missed[0] / ROUNDS >= .02);
	assert_true(missed[1] / ROUNDS <= ALPHA_BOUND);
}

/* A shift right at the margin is called the same no more often than alpha; a small one often. */
static void test_equivalence(void **state)
{
	const struct stats_options o = { .alpha = 0.05, .power = 0.8, .margin = 1 };
	double wrong = 0, right = 0, a[12], b[12];

	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < 12; k++) {
			a[k] = gsl_ran_gaussian(*state, 0.8);
			b[k] = gsl_ran_gaussian(*state, 0.8);
		}
		right += compare_of(a, 12, b, 12, BETTER_LOWER, &o).outcome == STATS_SAME;
		for (int k = 0; k < 12; k++)
			b[k] += 1;
		wrong += compare_of(a, 12, b, 12, BETTER_LOWER, &o).outcome == STATS_SAME;
	}
	assert_true(wrong / ROUNDS <= ALPHA_BOUND);
	assert_true(right / ROUNDS >= .6);
}

/* A table of 20 metrics, nothing different: an alarm anywhere in the table is a false one. */
static void test_table_null(void **state)
{
	const int tables = 600;
	double alarms = 0, uncorrected = 0, a[8], b[8];

	for (int i = 0; i < tables; i++) {
		struct stats_result r[20];
		bool any = false, first = false;

		for (int k = 0; k < 20; k++) {
			draw(*state, a, 8, 0);
			draw(*state, b, 8, 0);
			r[k] = compare_of(a, 8, b, 8, BETTER_LOWER, &no_margin);
			first |= claims(&r[k]);
		}
		stats_correct(r, 20, &no_margin);
		for (int k = 0; k < 20; k++)
			any |= claims(&r[k]);
		alarms += any;
		uncorrected += first;
	}
	/* sqrt(.05 * .95 / 600) = .0089 */
	assert_true(alarms / tables <= .05 + 3 * .0089);
	assert_true(alarms > 0);
	assert_true(uncorrected / tables > .4);
}

/* One real difference in the table is still found. */
static void test_table_power(void **state)
{
	double found = 0, a[8], b[8];

	for (int i = 0; i < 200; i++) {
		struct stats_result r[20];

		for (int k = 0; k < 20; k++) {
			draw(*state, a, 8, 0);
			draw(*state, b, 8, k == 7 ? 20 : 0);
			r[k] = compare_of(a, 8, b, 8, BETTER_LOWER, &no_margin);
		}
		stats_correct(r, 20, &no_margin);
		found += r[7].outcome == STATS_WORSE;
	}
	assert_true(found / 200 >= .8);
}

/*
 * Layouts that differ, kernels that do not: forks of a layout are alike, and taken for independent
 * runs they alarm far too often. Layouts of unlike numbers of forks.
 */
static void test_grouped_null(void **state)
{
	static const size_t forks[] = { 5, 2, 8, 3, 6 };
	double alarms = 0, naive = 0, a[24], b[24];
	size_t la[24], lb[24];

	for (int i = 0; i < ROUNDS; i++) {
		struct stats_sample base = { a, 24, la }, head = { b, 24, lb };
		struct stats_result r;
		size_t at = 0;

		for (size_t l = 0; l < ARRAY_SIZE(forks); l++) {
			double of_a = gsl_ran_gaussian(*state, 2),
			       of_b = gsl_ran_gaussian(*state, 2);

			for (size_t k = 0; k < forks[l]; k++, at++) {
				la[at] = l;
				lb[at] = ARRAY_SIZE(forks) - l;
				a[at] = of_a + gsl_ran_gaussian(*state, 1);
				b[at] = of_b + gsl_ran_gaussian(*state, 1);
			}
		}
		assert_int_equal(at, 24);
		assert_int_equal(stats_compare(&base, &head, BETTER_LOWER, &no_margin, &r, NULL),
				 0);
		assert_true(r.grouped && r.beyond && r.base_units == 5);
		alarms += claims(&r);
		naive += r.within.p <= .05;
	}
	assert_true(alarms / ROUNDS <= ALPHA_BOUND);
	/* 2 P(U <= 2) at 5 and 5 is 8/252 = .0317: the size must be near it. */
	assert_true(alarms / ROUNDS >= .0317 - 3 * .0032);
	assert_true(naive / ROUNDS >= .3);
}

/* With one layout a side no claim at all, whatever the forks show. */
static void test_one_layout_null(void **state)
{
	static const size_t one[20];
	double a[20], b[20];

	for (int i = 0; i < 300; i++) {
		struct stats_sample base = { a, 20, one }, head = { b, 20, one };
		struct stats_result r;

		draw(*state, a, 20, gsl_ran_gaussian(*state, 2));
		draw(*state, b, 20, gsl_ran_gaussian(*state, 2));
		assert_int_equal(stats_compare(&base, &head, BETTER_LOWER, &no_margin, &r, NULL),
				 0);
		stats_correct(&r, 1, &no_margin);
		assert_int_equal(r.outcome, STATS_INCONCLUSIVE);
	}
}

#define RANDOM_TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RANDOM_TEST(test_null),		RANDOM_TEST(test_power),
		RANDOM_TEST(test_coverage),	RANDOM_TEST(test_equivalence),
		RANDOM_TEST(test_table_null),	RANDOM_TEST(test_table_power),
		RANDOM_TEST(test_grouped_null), RANDOM_TEST(test_one_layout_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
