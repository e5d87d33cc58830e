// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "results/stats_fixture.h"

#define V(...) ((const double[]){ __VA_ARGS__ })
#define SIDE(...) V(__VA_ARGS__), ARRAY_SIZE(V(__VA_ARGS__))

/* ---- published values ---- */

/* Two sides without ties and with U = u: so many pairs have head above base. */
static double p_at(size_t n, size_t m, size_t u)
{
	cleanup_free double *base = xcalloc(n, sizeof(*base)), *head = xcalloc(m, sizeof(*head));

	for (size_t i = 0; i < n; i++)
		base[i] = 10.0 * (i + 1);
	for (size_t j = 0, left = u; j < m; j++) {
		size_t above = left < n ? left : n;

		head[j] = 10.0 * above + 1 + (m - j) * 5.0 / m;
		left -= above;
	}
	struct stats_rank r = rank_of(base, n, head, m);

	assert_true(r.u == u);
	assert_false(r.ties);
	assert_int_equal(r.method, STATS_EXACT);
	return r.p;
}

/*
 * H. B. Mann and D. R. Whitney, On a test of whether one of two random variables is stochastically
 * larger than the other, Annals of Mathematical Statistics 18 (1947), table I: P(U <= u), 3 digits.
 */
static void test_mann_whitney_table(void **state)
{
	static const double three[] = { .050, .100, .200, .350, .500 };
	static const double four[] = { .014, .029, .057, .100, .171, .243, .343, .443 };
	static const double five[] = { .004, .008, .016, .028, .048, .075, .111,
				       .155, .210, .274, .345, .421, .500 };

	for (size_t u = 0; u < ARRAY_SIZE(three); u++)
		assert_true(fabs(p_at(3, 3, u) / 2 - three[u]) <= .00051);
	for (size_t u = 0; u < ARRAY_SIZE(four); u++)
		assert_true(fabs(p_at(4, 4, u) / 2 - four[u]) <= .00051);
	for (size_t u = 0; u < ARRAY_SIZE(five); u++)
		assert_true(fabs(p_at(5, 5, u) / 2 - five[u]) <= .00051);
}

/*
 * Largest U that is significant, two-sided. D. Auble, Extended tables for the Mann-Whitney
 * statistic, Bulletin of the Institute of Educational Research, Indiana University 1 (1953), as
 * printed in S. Siegel, Nonparametric Statistics for the Behavioral Sciences (1956), table K.
 */
static void test_critical_values(void **state)
{
	static const struct {
		size_t n, m, u05, u01;
	} row[] = {
		{ 5, 5, 2, 0 },	    { 6, 6, 5, 2 },	{ 7, 7, 8, 4 },	      { 8, 8, 13, 7 },
		{ 9, 9, 17, 11 },   { 10, 10, 23, 16 }, { 12, 12, 37, 27 },   { 15, 15, 64, 51 },
		{ 16, 16, 75, 60 }, { 18, 18, 99, 81 }, { 20, 20, 127, 105 }, { 8, 12, 22, 15 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		assert_true(p_at(row[i].n, row[i].m, row[i].u05) <= .05);
		assert_true(p_at(row[i].n, row[i].m, row[i].u05 + 1) > .05);
		assert_true(p_at(row[i].n, row[i].m, row[i].u01) <= .01);
		assert_true(p_at(row[i].n, row[i].m, row[i].u01 + 1) > .01);
		expect_near(p_at(row[i].m, row[i].n, row[i].u05),
			    p_at(row[i].n, row[i].m, row[i].u05), 1e-12, "sides swapped");
	}
	assert_true(p_at(4, 4, 0) <= .05);
	assert_true(p_at(4, 4, 1) > .05);
	assert_true(p_at(3, 3, 0) > .05);
}

/*
 * M. Hollander and D. A. Wolfe, Nonparametric Statistical Methods, 2nd edition (1999), examples
 * 4.1, 4.3 and 4.4: permeability of the human chorioamnion, at term and at 12 to 26 weeks.
 * One-sided p = .1272; the shift -.305; the interval of 96 % (-.76, .15).
 */
static void test_hollander_wolfe(void **state)
{
	static const double term[] = { .80, .83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, .73, 1.46 };
	static const double weeks[] = { 1.15, .88, .90, .74, 1.21 };
	struct stats_rank r = rank_of(term, 10, weeks, 5);
	struct stats_shift s = shift_of(term, 10, weeks, 5, .95);

	assert_true(r.u == 15);
	assert_true(fabs(r.p / 2 - .1272) < .00005);
	expect_near(s.estimate, -.305, 1e-12, "shift");
	expect_near(s.low, -.76, 1e-12, "low");
	expect_near(s.high, .15, 1e-12, "high");
	assert_true(fabs(s.confidence - .96) < .005);
	assert_int_equal(s.method, STATS_EXACT);
}

/* ---- summaries ---- */

static struct stats_summary summary(const double *v, size_t n, enum counter_better better)
{
	struct stats_summary s;

	assert_int_equal(stats_summarise(v, n, better, &s, NULL), 0);
	return s;
}

static void test_summary(void **state)
{
	struct stats_summary s = summary(SIDE(2, 4, 4, 4, 5, 5, 7, 9), BETTER_LOWER);

	assert_true(s.n == 8 && s.min == 2 && s.max == 9 && s.mean == 5 && s.median == 4.5);
	expect_near(s.stddev, sqrt(32.0 / 7), 1e-15, "stddev");
	expect_near(s.coeffvar, 20 * sqrt(32.0 / 7), 1e-14, "coeffvar");
	/* floor(0.95 * 8) = 7 of the best */
	expect_near(s.best95, 31.0 / 7, 1e-15, "best95");
	s = summary(SIDE(2, 4, 4, 4, 5, 5, 7, 9), BETTER_HIGHER);
	expect_near(s.best95, 38.0 / 7, 1e-15, "best95");
	assert_true(isnan(summary(SIDE(1, 2), BETTER_NEITHER).best95));
	/* Harmonic of 1, 2, 4: 3 / 1.75; reciprocals deviate by 5, -1, -4 twelfths. */
	s = summary(SIDE(1, 4, 2), BETTER_HIGHER);
	expect_near(s.hmean, 12.0 / 7, 1e-15, "hmean");
	expect_near(s.hstddev, 144.0 / 49 * sqrt(42.0 / 144 / 3), 1e-15, "hstddev");
	expect_near(s.best95_hmean, 8.0 / 3, 1e-15, "best of 2 and 4");
}

static void test_summary_of_little(void **state)
{
	struct stats_summary s = summary(NULL, 0, BETTER_LOWER);

	assert_true(s.n == 0 && isnan(s.min) && isnan(s.max) && isnan(s.mean) && isnan(s.median));
	assert_true(isnan(s.stddev) && isnan(s.coeffvar) && isnan(s.best95) && isnan(s.hmean));
	s = summary(SIDE(7), BETTER_LOWER);
	assert_true(s.min == 7 && s.max == 7 && s.mean == 7 && s.median == 7 && s.best95 == 7);
	assert_true(s.hmean == 7 && isnan(s.hstddev) && isnan(s.stddev) && isnan(s.coeffvar));
	/* 0.1 is no binary fraction: a sum of ten is not ten times it. */
	s = summary(SIDE(.1, .1, .1, .1, .1, .1, .1, .1, .1, .1), BETTER_LOWER);
	assert_true(s.mean == .1 && s.stddev == 0 && s.coeffvar == 0 && s.hmean == .1);
	assert_true(s.hstddev == 0);
	s = summary(SIDE(0, 0, 0), BETTER_LOWER);
	assert_true(s.mean == 0 && s.stddev == 0 && s.coeffvar == 0 && isnan(s.hmean));
	s = summary(SIDE(-1, 1), BETTER_LOWER);
	assert_true(isnan(s.coeffvar) && isnan(s.hmean));
	s = summary(SIDE(-2, -4), BETTER_LOWER);
	expect_near(s.coeffvar, 100 * sqrt(2) / 3, 1e-13, "coeffvar is no negative");
	s = summary(SIDE(1e-310, 1), BETTER_LOWER);
	assert_true(isfinite(s.hmean) && s.hmean > 0 && isfinite(s.hstddev));
}

/* Long lists are sorted without comparisons: order statistics of negatives, zeros, ties and extremes. */
static void test_long_lists(void **state)
{
	enum { N = 1001 };
	struct stats_summary s;
	double v[N];

	/* 0 .. 1000 in a scrambled order: 617 and 1001 have no common divisor. */
	for (size_t i = 0; i < N; i++)
		v[i] = (double)(i * 617 % N) - 500;
	assert_int_equal(stats_summarise(v, N, BETTER_LOWER, &s, NULL), 0);
	assert_true(s.min == -500 && s.max == 500 && s.median == 0 && s.mean == 0);
	/* The lowest 950 of them: -500 .. 449. */
	assert_true(s.best95 == -25.5);
	for (size_t i = 0; i < N; i++)
		v[i] = ldexp(v[i] < 0 ? -1 : 1, (int)fabs(v[i]) % 300 - 150);
	assert_int_equal(stats_summarise(v, N, BETTER_LOWER, &s, NULL), 0);
	assert_true(s.min == -ldexp(1, 149) && s.max == ldexp(1, 149));
	/* 500 are below zero, so the 501st is the least above it. */
	assert_true(s.median == ldexp(1, -150));
}

static void test_refused(void **state)
{
	static const double bad[] = { NAN, INFINITY, -INFINITY, 1e151, -1e300 };
	const struct stats_options usual = STATS_OPTIONS_DEFAULT;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		const double v[] = { 1, bad[i], 2 };
		struct stats_sample b = { .value = V(1, 2), .n = 2 }, h = { .value = v, .n = 3 };
		cleanup_error struct error err = ERROR_INIT;
		struct stats_summary s;
		struct stats_rank r;
		struct stats_shift sh;
		struct stats_result res;

		assert_int_equal(stats_summarise(v, 3, BETTER_LOWER, &s, NULL), -1);
		assert_int_equal(stats_rank_test(v, 3, b.value, 2, &r, NULL), -1);
		assert_int_equal(stats_rank_test(b.value, 2, v, 3, &r, NULL), -1);
		assert_int_equal(stats_shift(v, 3, b.value, 2, .95, &sh, NULL), -1);
		assert_int_equal(stats_compare(&h, &b, BETTER_LOWER, &usual, &res, NULL), -1);
		assert_int_equal(stats_compare(&b, &h, BETTER_LOWER, &usual, &res, &err), -1);
		assert_int_equal(err.status, EXIT_USAGE);
		assert_non_null(strstr(err.text, "head: value 2 of 3"));
	}
}

static void test_options_refused(void **state)
{
	static const struct stats_options bad[] = {
		{ .alpha = 0, .power = .8 },
		{ .alpha = .5, .power = .8 },
		{ .alpha = NAN, .power = .8 },
		{ .alpha = .05, .power = 1 },
		{ .alpha = .05, .power = .8, .margin = -1 },
		{ .alpha = .05, .power = .8, .margin = NAN },
		{ .alpha = .05, .power = .8, .margin_relative = INFINITY },
	};
	struct stats_sample s = { .value = V(1, 2), .n = 2 };
	struct stats_result r;
	struct stats_shift sh;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(stats_compare(&s, &s, BETTER_LOWER, &bad[i], &r, NULL), -1);
	assert_int_equal(stats_shift(V(1), 1, V(2), 1, 1, &sh, NULL), -1);
	assert_int_equal(stats_shift(V(1), 1, V(2), 1, NAN, &sh, NULL), -1);
}

/* ---- ranks and shifts ---- */

static void test_ties(void **state)
{
	/* Of 1 1 1 2, head holds the 2 in 3 of 6 splits: U is 1 or 3, each with 1/2. */
	struct stats_rank r = rank_of(SIDE(1, 1), SIDE(1, 2));

	assert_true(r.ties && r.u == 3 && r.delta == .5);
	expect_near(r.p, 1, 1e-12, "p");
	/*
	 * U = 14 of 16. As extreme are the splits with 5, 6, 7 and any of the five zeros in head: 5
	 * of the C(8, 4) = 70.
	 */
	r = rank_of(SIDE(0, 0, 0, 0), SIDE(0, 5, 6, 7));
	assert_true(r.ties && r.u == 14);
	expect_near(r.p, 2 * 5.0 / 70, 1e-12, "p");
	/* A tie within a side alone is one too. */
	r = rank_of(SIDE(1, 1, 1, 1), SIDE(2, 2, 2, 2));
	assert_true(r.ties && r.u == 16 && r.delta == 1);
	expect_near(r.p, 2.0 / 70, 1e-12, "p");
	assert_int_equal(r.method, STATS_EXACT);
	/* A huge group of equal values beside one. */
	cleanup_free double *zeros = xcalloc(100000, sizeof(*zeros));
	r = rank_of(zeros, 100000, SIDE(1));
	assert_int_equal(r.method, STATS_EXACT);
	expect_near(r.p, 2.0 / 100001, 1e-12, "p");
}

static void test_little(void **state)
{
	struct stats_rank r = rank_of(NULL, 0, SIDE(1, 2));
	struct stats_shift s = shift_of(SIDE(1, 2), NULL, 0, .95);

	assert_true(isnan(r.u) && isnan(r.p) && isnan(r.delta));
	assert_int_equal(r.method, STATS_NONE);
	assert_true(isnan(s.estimate) && isnan(s.low) && isnan(s.high) && s.confidence == 0);
	r = rank_of(SIDE(1), SIDE(5));
	assert_true(r.p == 1 && r.u == 1 && r.delta == 1);
	s = shift_of(SIDE(1), SIDE(5), .95);
	assert_true(s.estimate == 4 && isnan(s.low) && s.method == STATS_NONE);
	r = rank_of(SIDE(3, 3, 3), SIDE(3, 3, 3));
	assert_true(r.p == 1 && r.delta == 0 && r.u == 4.5);
	/* Three a side: 2/20 outside, so 90 % can be had and 95 % cannot. */
	s = shift_of(SIDE(1, 2, 3), SIDE(11, 12, 14), .90);
	expect_near(s.confidence, .90, 1e-12, "confidence");
	assert_true(s.low == 8 && s.high == 13 && s.estimate == 10);
	assert_int_equal(shift_of(SIDE(1, 2, 3), SIDE(11, 12, 14), .95).method, STATS_NONE);
}

/* i * step % n is a permutation of 0 .. n-1 when step and n have no common divisor. */
static double *shuffled(size_t n, size_t step, double offset)
{
	double *v = xcalloc(n, sizeof(*v));

	for (size_t i = 0; i < n; i++)
		v[i] = (double)(i * step % n) + offset;
	return v;
}

static void test_large(void **state)
{
	cleanup_free double *base = shuffled(3001, 1009, 0), *head = shuffled(3001, 101, 100.5);
	struct stats_shift s = shift_of(base, 3001, head, 3001, .95);
	struct stats_rank r = rank_of(base, 3001, head, 3001);

	/*
	 * Differences are 100.5 + d, each d in 3001 - |d| pairs, so the median is at d = 0. Those
	 * up to d = -a are (3001 - a)(3002 - a) / 2. U has the mean 3001^2 / 2 = 4503000.5 and the
	 * deviation sqrt(3001^2 * 6003 / 12) = 67121.2; 1.96 of them less leaves out 4371444.
	 * 4370446 are up to a = 45, and 4373403 up to a = 44: low is 100.5 - 44.
	 */
	assert_true(s.estimate == 100.5);
	assert_int_equal(s.method, STATS_NORMAL);
	assert_true(s.low == 56.5 && s.high == 144.5);
	assert_true(s.confidence >= .9499 && s.confidence < .951);
	assert_int_equal(r.method, STATS_NORMAL);
	assert_true(r.p < 1e-4 && r.p > 0);
}

static void test_monte_carlo(void **state)
{
	double base[3000], head[40];
	struct stats_rank r, again;

	for (int i = 0; i < 3000; i++)
		base[i] = i % 50;
	for (int i = 0; i < 40; i++)
		head[i] = 9 + i;
	r = rank_of(base, 3000, head, 40);
	again = rank_of(base, 3000, head, 40);
	assert_int_equal(r.method, STATS_MONTE_CARLO);
	assert_int_equal(r.draws, STATS_DRAWS);
	assert_true(r.p == again.p);
	/*
	 * U: 60 v + 30 summed over v = 9 .. 48. Its deviation, the ties being negligible, is
	 * sqrt(40 * 3000 * 3041 / 12) = 5514.5; of 100,000 draws one tail strays by .0006.
	 */
	assert_true(r.u == 69600);
	expect_near(r.p, erfc(9599.5 / 5514.5 / sqrt(2)), .003, "p");
	/* The other way round the same splits are drawn, the same ranks looked at. */
	r = rank_of(head, 40, base, 3000);
	assert_true(r.u == 120000 - 69600 && r.p == again.p);
	/* From the other tail; a draw may hit the seen sum more often there, no more. */
	for (int i = 0; i < 3000; i++)
		base[i] = -base[i];
	for (int i = 0; i < 40; i++)
		head[i] = -head[i];
	r = rank_of(base, 3000, head, 40);
	assert_true(r.u == 120000 - 69600 && r.method == STATS_MONTE_CARLO);
	expect_near(r.p, again.p, .004, "p of the other tail");
	for (int i = 0; i < 3000; i++)
		base[i] = -base[i];
	/* Too large for that. */
	cleanup_free double *many = xcalloc(500, sizeof(*many));
	for (int i = 0; i < 500; i++)
		many[i] = 2 + i % 50;
	r = rank_of(base, 3000, many, 500);
	assert_int_equal(r.method, STATS_NORMAL);
	assert_true(r.p < .01 && r.draws == 0);
}

static void test_holm_absent(void **state)
{
	double p[] = { .01, NAN, .04, .03 };
	size_t factor[4];

	stats_holm(p, 4, p, factor);
	expect_near(p[0], .03, 1e-12, "first");
	assert_true(isnan(p[1]));
	expect_near(p[2], .06, 1e-12, "third, raised by the one before");
	expect_near(p[3], .06, 1e-12, "second");
	assert_true(factor[0] == 3 && factor[1] == 0 && factor[2] == 1 && factor[3] == 2);
	stats_holm(NULL, 0, NULL, NULL);
}

/* ---- outcomes ---- */

/* Allocation stalls of five runs a side: free pages on the free scanner's grid, and off it. */
static const double on_grid[] = { 49, 54, 34, 45, 42 };
static const double off_grid[] = { 3177, 1933, 1843, 2918, 1559 };

static void test_direction(void **state)
{
	struct stats_result r = compare_of(on_grid, 5, off_grid, 5, BETTER_LOWER, NULL);

	assert_int_equal(r.outcome, STATS_WORSE);
	assert_true(r.rank.delta == 1 && !r.grouped && r.beyond && r.more == 0);
	expect_near(r.rank.p, 2.0 / 252, 1e-12, "p");
	/* The 13th of 25 differences: 1933 less the median of the grid's. */
	assert_true(r.shift.estimate == 1933 - 45);
	assert_true(r.shift.low > 1500 && r.shift.high < 3143);
	r = compare_of(off_grid, 5, on_grid, 5, BETTER_LOWER, NULL);
	assert_int_equal(r.outcome, STATS_BETTER);
	r = compare_of(on_grid, 5, off_grid, 5, BETTER_HIGHER, NULL);
	assert_int_equal(r.outcome, STATS_BETTER);
	r = compare_of(on_grid, 5, off_grid, 5, BETTER_NEITHER, NULL);
	assert_int_equal(r.outcome, STATS_CHANGED);
}

static void test_same(void **state)
{
	static const double a[] = { 100, 100.1, 100.2, 100.3, 100.4 };
	static const double b[] = { 101, 101.1, 101.2, 101.3, 101.4 };
	static const double zero[] = { 0, 0, 0, 0, 0 };
	struct stats_options exact = STATS_OPTIONS_DEFAULT;
	struct stats_result r = compare_of(a, 5, b, 5, BETTER_LOWER, NULL);

	/* Certainly 1 % slower, and certainly within the 5 % that do not matter. */
	assert_true(r.rank.p < .01);
	assert_int_equal(r.outcome, STATS_SAME);
	exact.margin_relative = 0;
	assert_int_equal(compare_of(a, 5, b, 5, BETTER_LOWER, &exact).outcome, STATS_WORSE);
	exact.margin = 1.4;
	assert_int_equal(compare_of(a, 5, b, 5, BETTER_LOWER, &exact).outcome, STATS_SAME);
	exact.margin = 1.1;
	assert_int_equal(compare_of(a, 5, b, 5, BETTER_LOWER, &exact).outcome, STATS_WORSE);
	assert_int_equal(compare_of(zero, 5, zero, 5, BETTER_LOWER, NULL).outcome, STATS_SAME);
	assert_int_equal(compare_of(a, 1, a, 1, BETTER_LOWER, NULL).outcome, STATS_INCONCLUSIVE);
	r = compare_of(zero, 2, zero, 2, BETTER_LOWER, NULL);
	assert_int_equal(r.outcome, STATS_INCONCLUSIVE);
	/* 90 % needs 2 / C(2n, n) <= .1: three a side. */
	assert_int_equal(r.more, 1);
}

static void test_more(void **state)
{
	static const double wide[] = { 90, 95, 100, 105, 110 };
	struct stats_options o = STATS_OPTIONS_DEFAULT;
	struct stats_result r;

	/* Apart already: the fourth makes 2/70. */
	r = compare_of(SIDE(1, 2, 3), SIDE(11, 12, 13), BETTER_LOWER, NULL);
	assert_int_equal(r.outcome, STATS_INCONCLUSIVE);
	assert_int_equal(r.more, 1);
	/* P = 13/16: (1.95996 + .84162)^2 / (6 * .3125^2) = 13.4, so 14 a side. */
	r = compare_of(SIDE(10, 20, 30, 40), SIDE(11, 42, 43, 44), BETTER_LOWER, NULL);
	assert_true(r.rank.u == 13);
	assert_int_equal(r.outcome, STATS_INCONCLUSIVE);
	assert_int_equal(r.more, 10);
	/* The interval of 90 % is +-10, five a side; for a margin of 5 four times as many. */
	r = compare_of(wide, 5, wide, 5, BETTER_LOWER, NULL);
	assert_true(r.equivalence.low == -10 && r.equivalence.high == 10 && r.margin == 5);
	assert_int_equal(r.more, 15);
	/* U = 25 of 49 would need 12,570 a side. */
	o.margin_relative = 0;
	r = compare_of(SIDE(10, 20, 30, 40, 50, 60, 70), SIDE(5, 15, 25, 35, 55, 75, 76),
		       BETTER_LOWER, &o);
	assert_true(r.rank.u == 25 && r.shift.estimate != 0);
	assert_int_equal(r.outcome, STATS_INCONCLUSIVE);
	assert_int_equal(r.more, 0);
	/* No margin and no difference: no number of runs can show it. */
	r = compare_of(wide, 5, wide, 5, BETTER_LOWER, &o);
	assert_int_equal(r.outcome, STATS_INCONCLUSIVE);
	assert_int_equal(r.more, 0);
	r = compare_of(wide, 5, NULL, 0, BETTER_LOWER, NULL);
	assert_int_equal(r.outcome, STATS_INCONCLUSIVE);
	assert_true(r.more == 0 && isnan(r.p_adjusted) && r.margin == 5);
	r = compare_of(NULL, 0, wide, 5, BETTER_LOWER, NULL);
	assert_int_equal(r.outcome, STATS_INCONCLUSIVE);
	assert_true(isnan(r.margin));
}

static void test_correct(void **state)
{
	static const double noise[] = { 10, 60, 35, 80, 50 }, other[] = { 20, 75, 30, 55, 65 };
	const struct stats_options o = STATS_OPTIONS_DEFAULT;
	struct stats_result r[60];

	r[0] = compare_of(on_grid, 5, off_grid, 5, BETTER_LOWER, NULL);
	for (int i = 1; i < 60; i++)
		r[i] = compare_of(noise, 5, other, 5, BETTER_LOWER, NULL);
	stats_correct(r, 6, &o);
	expect_near(r[0].p_adjusted, 6 * 2.0 / 252, 1e-12, "of six");
	assert_int_equal(r[0].outcome, STATS_WORSE);
	stats_correct(r, 20, &o);
	expect_near(r[0].p_adjusted, 20 * 2.0 / 252, 1e-12, "of twenty");
	assert_int_equal(r[0].outcome, STATS_INCONCLUSIVE);
	/* .05 / 20 = .0025: 2 / C(12, 6) = .00216 is the first below. */
	assert_int_equal(r[0].more, 1);
	assert_true(r[1].p_adjusted == 1);
	/* .05 / 60 = .00083: 2 / C(14, 7) = .00058. */
	stats_correct(r, 60, &o);
	assert_int_equal(r[0].more, 2);
	/* What cannot change costs nothing. */
	for (int i = 1; i < 60; i++)
		r[i] = compare_of(V(7, 7, 7, 7, 7), 5, V(7, 7, 7, 7, 7), 5, BETTER_LOWER, NULL);
	stats_correct(r, 60, &o);
	expect_near(r[0].p_adjusted, 2.0 / 252, 1e-12, "alone");
	assert_int_equal(r[0].outcome, STATS_WORSE);
	assert_true(r[1].p_adjusted == 1 && r[1].outcome == STATS_SAME);
}

/* ---- groups ---- */

static struct stats_result grouped(const double *base, const size_t *bl, size_t n,
				   const double *head, const size_t *hl, size_t m)
{
	const struct stats_options o = STATS_OPTIONS_DEFAULT;
	struct stats_sample b = { base, n, bl }, h = { head, m, hl };
	struct stats_result r;

	assert_int_equal(stats_compare(&b, &h, BETTER_LOWER, &o, &r, NULL), 0);
	return r;
}

static void test_one_layout(void **state)
{
	static const size_t one[5] = { 3, 3, 3, 3, 3 }, each[5] = { 0, 1, 2, 3, 4 };
	const struct stats_options o = STATS_OPTIONS_DEFAULT;
	struct stats_result r = grouped(on_grid, one, 5, off_grid, one, 5), both[2];

	assert_true(r.grouped && !r.beyond && r.base_units == 1 && r.head_units == 1);
	assert_int_equal(r.outcome, STATS_INCONCLUSIVE);
	expect_near(r.within.p, 2.0 / 252, 1e-12, "within these layouts");
	assert_true(r.within.delta == 1 && r.within_shift.low > 1500);
	assert_true(r.rank.p == 1 && r.shift.method == STATS_NONE);
	/* Four layouts a side are the least. */
	assert_int_equal(r.more, 3);
	/* One layout against five: still nothing of layouts. */
	r = grouped(on_grid, one, 5, off_grid, each, 5);
	assert_true(r.grouped && !r.beyond && r.head_units == 5);
	assert_int_equal(r.outcome, STATS_INCONCLUSIVE);
	/* It does not burden the correction of another. */
	both[0] = r;
	both[1] = grouped(on_grid, each, 5, off_grid, each, 5);
	assert_true(!both[1].grouped);
	stats_correct(both, 2, &o);
	assert_true(isnan(both[0].p_adjusted));
	expect_near(both[1].p_adjusted, 2.0 / 252, 1e-12, "alone in its list");
	assert_int_equal(both[1].outcome, STATS_WORSE);
	/* All equal within one layout is not "same" for others. */
	r = grouped(V(7, 7, 7, 7, 7), one, 5, V(7, 7, 7, 7, 7), one, 5);
	assert_int_equal(r.outcome, STATS_INCONCLUSIVE);
}

static void test_layouts(void **state)
{
	/* Medians 2, 5, 8, 11 against 21, 25, 28, 31; forks unequally many, layouts mixed up. */
	static const double base[] = { 1, 4, 7, 11, 3, 6, 9, 2, 5 };
	static const size_t bl[] = { 0, 1, 2, 3, 0, 1, 2, 0, 1 };
	static const double head[] = { 21, 25, 28, 31, 0, 99, 24, 26 };
	static const size_t hl[] = { 0, 1, 2, 3, 0, 0, 1, 1 };
	struct stats_result r = grouped(base, bl, 9, head, hl, 8);

	assert_true(r.grouped && r.beyond && r.base_units == 4 && r.head_units == 4);
	expect_near(r.rank.p, 2.0 / 70, 1e-12, "p");
	/* Differences of the medians: the 8th and 9th of 16 are 20 and 20. */
	expect_near(r.shift.estimate, 20, 1e-12, "shift");
	assert_int_equal(r.outcome, STATS_WORSE);
	assert_true(r.within.delta < 1);
	assert_true(r.base.n == 9 && r.head.n == 8);
	/* Two layouts a side: 2 of 6 splits are as extreme, however many forks. */
	r = grouped(V(1, 2, 3, 4, 5, 6), (const size_t[]){ 0, 0, 0, 1, 1, 1 }, 6,
		    V(11, 12, 13, 14, 15, 16), (const size_t[]){ 0, 0, 0, 1, 1, 1 }, 6);
	assert_true(r.beyond);
	expect_near(r.rank.p, 1.0 / 3, 1e-12, "p");
	expect_near(r.within.p, 2.0 / 924, 1e-12, "within");
	assert_int_equal(r.outcome, STATS_INCONCLUSIVE);
	assert_int_equal(r.more, 2);
}

static void test_layout_names(void **state)
{
	static const char *const from[] = { "L1", NULL, "L2", "L1", NULL, "L2", "L1" };
	size_t l[7];

	stats_layouts(from, 7, l);
	assert_true(l[0] == l[3] && l[0] == l[6] && l[2] == l[5] && l[0] != l[2]);
	assert_true(l[1] != l[4] && l[1] != l[0] && l[1] != l[2] && l[4] != l[0] && l[4] != l[2]);
}

static void test_names(void **state)
{
	assert_string_equal(stats_outcome_name(STATS_INCONCLUSIVE), "inconclusive");
	assert_string_equal(stats_outcome_name(STATS_CHANGED), "changed");
	assert_string_equal(stats_method_name(STATS_NONE), "-");
	assert_string_equal(stats_method_name(STATS_NORMAL), "normal");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mann_whitney_table),
		cmocka_unit_test(test_critical_values),
		cmocka_unit_test(test_hollander_wolfe),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_summary_of_little),
		cmocka_unit_test(test_long_lists),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_options_refused),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_little),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_monte_carlo),
		cmocka_unit_test(test_holm_absent),
		cmocka_unit_test(test_direction),
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_more),
		cmocka_unit_test(test_correct),
		cmocka_unit_test(test_one_layout),
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_layout_names),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
