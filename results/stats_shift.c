// SPDX-License-Identifier: GPL-2.0-only
/*
 * Order statistics of all differences head - base without storing them. Sorted, base descending and
 * head ascending, they form a matrix that ascends in rows and columns (rounding is monotone), so
 * that the number below a value is counted along one staircase. A pivot drawn from what is left
 * divides it; once no more than 2 (n + m) are left, those are gathered.
 */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/stats_internal.h"
#include "results/util/cleanup.h"

#define SAMPLE 15

struct differences {
	double *base; /* descending */
	double *head; /* ascending */
	size_t n, m;
	size_t *from, *to;    /* of each head value: the base values still in question */
	size_t *below, *upto; /* scratch: differences below the pivot, and up to it */
};

static void differences_make(struct differences *d, const double *base, size_t n,
			     const double *head, size_t m)
{
	double *ascending = stats_sorted(base, n);

	*d = (struct differences){ .n = n, .m = m };
	d->base = xreallocarray(NULL, n, sizeof(*d->base));
	for (size_t i = 0; i < n; i++)
		d->base[i] = ascending[n - 1 - i];
	free(ascending);
	d->head = stats_sorted(head, m);
	d->from = xreallocarray(NULL, m, sizeof(*d->from));
	d->to = xreallocarray(NULL, m, sizeof(*d->to));
	d->below = xreallocarray(NULL, m, sizeof(*d->below));
	d->upto = xreallocarray(NULL, m, sizeof(*d->upto));
}

static void differences_free(struct differences *d)
{
	free(d->base);
	free(d->head);
	free(d->from);
	free(d->to);
	free(d->below);
	free(d->upto);
}

static double difference(const struct differences *d, size_t j, size_t i)
{
	return d->head[j] - d->base[i];
}

/* The r-th of those in question, in any order. */
static double pick(const struct differences *d, size_t r)
{
	size_t j = 0;

	while (r >= d->to[j] - d->from[j]) {
		r -= d->to[j] - d->from[j];
		j++;
	}
	return difference(d, j, d->from[j] + r);
}

static void count_around(struct differences *d, double pivot, size_t *below, size_t *upto)
{
	size_t b = d->n, u = d->n;

	*below = *upto = 0;
	for (size_t j = 0; j < d->m; j++) {
		while (b > 0 && difference(d, j, b - 1) >= pivot)
			b--;
		while (u > 0 && difference(d, j, u - 1) > pivot)
			u--;
		*below += d->below[j] = b;
		*upto += d->upto[j] = u;
	}
}

/* Hoare's selection: v[k] as if v were sorted. */
static double select_kth(double *v, size_t n, size_t k)
{
	size_t low = 0, high = n - 1;

	while (low < high) {
		double pivot = v[low + (high - low) / 2];
		size_t i = low, j = high;

		while (i <= j) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i <= j) {
				double t = v[i];

				v[i++] = v[j];
				v[j] = t;
				if (j-- == 0)
					break;
			}
		}
		if (j != SIZE_MAX && k <= j)
			high = j;
		else if (k >= i)
			low = i;
		else
			break;
	}
	return v[k];
}

static double gathered_kth(const struct differences *d, size_t k, size_t left)
{
	cleanup_free double *v = xreallocarray(NULL, left, sizeof(*v));
	size_t count = 0;

	for (size_t j = 0; j < d->m; j++)
		for (size_t i = d->from[j]; i < d->to[j]; i++)
			v[count++] = difference(d, j, i);
	return select_kth(v, count, k);
}

static size_t random_below(uint64_t *state, size_t n)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (*state >> 33) % n;
}

/*
 * One of the `left` in question, likely to stand near the k-th of them: of a small sample the one
 * at the same share. Rows are not weighed by what is left in them; a worse pivot costs time only.
 */
static double pivot_near(const struct differences *d, size_t k, size_t left, uint64_t *state)
{
	double sample[SAMPLE];
	size_t count = 0;

	for (int tries = 0; count < SAMPLE && tries < 4 * SAMPLE; tries++) {
		size_t j = random_below(state, d->m), width = d->to[j] - d->from[j];

		if (width)
			sample[count++] = difference(d, j, d->from[j] + random_below(state, width));
	}
	if (count == 0)
		return pick(d, random_below(state, left));
	return select_kth(sample, count, (size_t)((double)k / left * count));
}

/* The k-th difference from 0, ascending. The pivots have no influence on the result. */
static double kth(struct differences *d, size_t k)
{
	size_t left = d->n * d->m, few = 2 * (d->n + d->m), before = 0;
	uint64_t state = 1;

	for (size_t j = 0; j < d->m; j++) {
		d->from[j] = 0;
		d->to[j] = d->n;
	}
	while (left > few) {
		double pivot = pivot_near(d, k - before, left, &state);
		size_t below, upto;

		count_around(d, pivot, &below, &upto);
		if (k >= below && k < upto)
			return pivot;
		if (k < below) {
			memcpy(d->to, d->below, d->m * sizeof(*d->to));
			left = below - before;
		} else {
			memcpy(d->from, d->upto, d->m * sizeof(*d->from));
			left -= upto - before;
			before = upto;
		}
	}
	return gathered_kth(d, k - before, left);
}

/* The next larger or equal one, given the k-th. */
static double kth_next(struct differences *d, size_t k, double value)
{
	double next = INFINITY;
	size_t below, upto;

	count_around(d, value, &below, &upto);
	if (k + 1 < upto)
		return value;
	for (size_t j = 0; j < d->m; j++) {
		if (d->upto[j] < d->n)
			next = fmin(next, difference(d, j, d->upto[j]));
	}
	return next;
}

static double median(struct differences *d)
{
	size_t pairs = d->n * d->m;
	double low, high;

	if (pairs % 2)
		return kth(d, pairs / 2);
	low = kth(d, pairs / 2 - 1);
	high = kth_next(d, pairs / 2 - 1, low);
	return low + (high - low) / 2;
}

/*
 * How many of the ordered differences each end of the interval leaves out, plus one: the largest c
 * with 2 P(U <= c - 1) <= alpha, the very shifts that the two-sided test rejects. 0: none.
 */
static size_t cut_exact(const double *prob, size_t pairs, double alpha, double *outside)
{
	double sum = 0;
	size_t c = 0;

	/* An alpha met exactly (2/20 = 0.1) must not fail by a rounding. */
	while (c < (pairs + 1) / 2 && 2 * (sum + prob[c]) <= alpha * (1 + 1e-12))
		sum += prob[c++];
	*outside = 2 * sum;
	return c;
}

static size_t cut_normal(double n, double m, double alpha, double *outside)
{
	double mean = n * m / 2, sigma = sqrt(n * m * (n + m + 1) / 12);
	double c = floor(mean + sigma * gsl_cdf_ugaussian_Pinv(alpha / 2) + 0.5);

	if (c < 1)
		return 0;
	*outside = 2 * gsl_cdf_ugaussian_P((c - 0.5 - mean) / sigma);
	return (size_t)c;
}

/* prob: of U without ties; NULL: too large to count. */
static void interval(struct differences *d, const double *prob, double level,
		     struct stats_shift *out)
{
	size_t pairs = d->n * d->m, c;
	double outside = 0;

	if (prob)
		c = cut_exact(prob, pairs, 1 - level, &outside);
	else
		c = cut_normal(d->n, d->m, 1 - level, &outside);
	if (c == 0)
		return;
	out->method = prob ? STATS_EXACT : STATS_NORMAL;
	out->confidence = 1 - outside;
	out->low = kth(d, c - 1);
	out->high = kth(d, pairs - c);
}

static int check_shift(const double *base, size_t n, const double *head, size_t m,
		       const double *level, size_t nlevels, struct error *err)
{
	if (stats_check(base, n, err) < 0)
		return error_wrap(err, "base");
	if (stats_check(head, m, err) < 0)
		return error_wrap(err, "head");
	for (size_t i = 0; i < nlevels; i++) {
		if (!(level[i] > 0 && level[i] < 1))
			return error_set(err, EXIT_USAGE,
					 "confidence level %g is not between 0 and 1", level[i]);
	}
	return 0;
}

int stats_shifts(const double *base, size_t n, const double *head, size_t m, const double *level,
		 struct stats_shift *out, size_t nlevels, struct error *err)
{
	cleanup_free double *prob = NULL;
	struct differences d;
	double estimate;

	if (check_shift(base, n, head, m, level, nlevels, err) < 0)
		return -1;
	for (size_t i = 0; i < nlevels; i++)
		out[i] = (struct stats_shift){ .estimate = NAN, .low = NAN, .high = NAN };
	if (n == 0 || m == 0)
		return 0;
	prob = n < m ? stats_null_untied(n, m) : stats_null_untied(m, n);
	differences_make(&d, base, n, head, m);
	estimate = median(&d);
	for (size_t i = 0; i < nlevels; i++) {
		out[i].estimate = estimate;
		interval(&d, prob, level[i], &out[i]);
	}
	differences_free(&d);
	return 0;
}

int stats_shift(const double *base, size_t n, const double *head, size_t m, double level,
		struct stats_shift *out, struct error *err)
{
	return stats_shifts(base, n, head, m, &level, out, 1, err);
}
