// SPDX-License-Identifier: GPL-2.0-only
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>

#include "results/stats_internal.h"
#include "results/util/cleanup.h"

#define MONTE_CARLO_SIDE 200 /* values drawn each time */

/* Both sides together; `small` is the side of fewer values, whose rank sum is looked at. */
struct ranking {
	size_t small, large;
	size_t *tie; /* sizes of the groups of equal values, ascending */
	size_t ngroups;
	double *rank;	/* of the N places, from 0, tied ones share their mean */
	double u_small; /* pairs with the smaller side above */
};

static void ranking_free(struct ranking *r)
{
	free(r->tie);
	free(r->rank);
}

/* Ascending and merged: how many of a and of b are equal to the next value. */
static void next_group(const double *a, size_t n, size_t *i, const double *b, size_t m, size_t *j)
{
	double v = *i == n ? b[*j] : *j == m ? a[*i] : fmin(a[*i], b[*j]);

	while (*i < n && a[*i] == v)
		++*i;
	while (*j < m && b[*j] == v)
		++*j;
}

static void ranking_make(const double *small, size_t n, const double *large, size_t m,
			 struct ranking *r)
{
	cleanup_free double *a = stats_sorted(small, n), *b = stats_sorted(large, m);
	size_t i = 0, j = 0;

	*r = (struct ranking){ .small = n, .large = m };
	r->tie = xreallocarray(NULL, n + m, sizeof(*r->tie));
	r->rank = xreallocarray(NULL, n + m, sizeof(*r->rank));
	while (i < n || j < m) {
		size_t i0 = i, j0 = j, t;

		next_group(a, n, &i, b, m, &j);
		t = i - i0 + j - j0;
		for (size_t k = i0 + j0; k < i + j; k++)
			r->rank[k] = i0 + j0 + (t - 1) / 2.0;
		r->u_small += (i - i0) * (j0 + (j - j0) / 2.0);
		r->tie[r->ngroups++] = t;
	}
}

static double two_sided(double below, double above)
{
	return fmin(1, 2 * fmin(below, above));
}

static double two_tails(const double *prob, size_t at)
{
	double below = 0;

	for (size_t s = 0; s <= at; s++)
		below += prob[s];
	return two_sided(below, 1 - below + prob[at]);
}

/* From the nearer end: of U, or of its counterpart with up and down swapped. NAN: too much. */
static double exact_p(struct ranking *r)
{
	size_t pairs = r->small * r->large, at = (size_t)lrint(2 * r->u_small);
	cleanup_free double *prob = NULL;

	if (at > pairs)
		at = 2 * pairs - at;
	if (r->ngroups == r->small + r->large) {
		prob = stats_null_untied(r->small, r->large);
		return prob ? two_tails(prob, at / 2) : NAN;
	}
	if (2 * r->u_small > pairs) {
		for (size_t g = 0; g < r->ngroups / 2; g++) {
			size_t other = r->ngroups - 1 - g, t = r->tie[g];

			r->tie[g] = r->tie[other];
			r->tie[other] = t;
		}
	}
	prob = stats_null(r->small, r->large, r->tie, r->ngroups, at);
	return prob ? two_tails(prob, at) : NAN;
}

/* n of the N ranks at random, by a partial shuffle of the places. */
static double draw_sum(const struct ranking *r, size_t *place, gsl_rng *rng)
{
	size_t all = r->small + r->large;
	double sum = 0;

	for (size_t i = 0; i < r->small; i++) {
		size_t k = i + gsl_rng_uniform_int(rng, all - i), taken = place[k];

		place[k] = place[i];
		place[i] = taken;
		sum += r->rank[taken];
	}
	return sum;
}

/* Sums of half-integers are exact, so that they can be compared. */
static double monte_carlo_p(const struct ranking *r)
{
	size_t all = r->small + r->large;
	cleanup_free size_t *place = xreallocarray(NULL, all, sizeof(*place));
	double seen = r->u_small + r->small * (r->small - 1) / 2.0;
	unsigned int below = 0, above = 0;
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	gsl_rng_set(rng, STATS_SEED);
	for (size_t i = 0; i < all; i++)
		place[i] = i;
	for (int d = 0; d < STATS_DRAWS; d++) {
		double sum = draw_sum(r, place, rng);

		below += sum <= seen;
		above += sum >= seen;
	}
	gsl_rng_free(rng);
	return two_sided((1.0 + below) / (1.0 + STATS_DRAWS), (1.0 + above) / (1.0 + STATS_DRAWS));
}

static double normal_p(const struct ranking *r)
{
	double n = r->small, m = r->large, all = n + m, tied = 0, var, off;

	for (size_t g = 0; g < r->ngroups; g++)
		tied += pow(r->tie[g], 3) - r->tie[g];
	var = n * m / 12 * (all + 1 - tied / (all * (all - 1)));
	off = fabs(r->u_small - n * m / 2) - 0.5;
	if (var <= 0 || off <= 0)
		return 1;
	return fmin(1, 2 * gsl_cdf_ugaussian_Q(off / sqrt(var)));
}

static void find_p(struct ranking *r, struct stats_rank *out)
{
	out->method = STATS_EXACT;
	out->p = exact_p(r);
	if (!isnan(out->p))
		return;
	if (out->ties && r->small <= MONTE_CARLO_SIDE) {
		out->method = STATS_MONTE_CARLO;
		out->draws = STATS_DRAWS;
		out->p = monte_carlo_p(r);
	} else {
		out->method = STATS_NORMAL;
		out->p = normal_p(r);
	}
}

int stats_rank_test(const double *base, size_t n, const double *head, size_t m,
		    struct stats_rank *out, struct error *err)
{
	bool head_small = m <= n;
	struct ranking r;
	double pairs;

	if (stats_check(base, n, err) < 0)
		return error_wrap(err, "base");
	if (stats_check(head, m, err) < 0)
		return error_wrap(err, "head");
	*out = (struct stats_rank){ .u = NAN, .p = NAN, .delta = NAN };
	if (n == 0 || m == 0)
		return 0;
	pairs = (double)n * m;
	if (head_small)
		ranking_make(head, m, base, n, &r);
	else
		ranking_make(base, n, head, m, &r);
	out->u = head_small ? r.u_small : pairs - r.u_small;
	out->delta = 2 * out->u / pairs - 1;
	out->ties = r.ngroups < n + m;
	find_p(&r, out);
	ranking_free(&r);
	return 0;
}

const char *stats_method_name(enum stats_method m)
{
	static const char *const name[] = { "-", "exact", "Monte Carlo", "normal" };

	return (size_t)m < ARRAY_SIZE(name) ? name[m] : "-";
}

static int by_p(const void *a, const void *b)
{
	double x = **(const double *const *)a, y = **(const double *const *)b;

	return (x > y) - (x < y);
}

void stats_holm(const double *p, size_t n, double *adjusted, size_t *factor)
{
	cleanup_free const double **order = xreallocarray(NULL, n ? n : 1, sizeof(*order));
	cleanup_free double *copy = xreallocarray(NULL, n ? n : 1, sizeof(*copy));
	double worst = 0;
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		copy[i] = p[i];
		adjusted[i] = NAN;
		if (factor)
			factor[i] = 0;
		if (!isnan(copy[i]))
			order[count++] = &copy[i];
	}
	qsort(order, count, sizeof(*order), by_p);
	for (size_t k = 0; k < count; k++) {
		size_t i = order[k] - copy;

		worst = fmax(worst, fmin(1, *order[k] * (count - k)));
		adjusted[i] = worst;
		if (factor)
			factor[i] = count - k;
	}
}
