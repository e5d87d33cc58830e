// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/stats_internal.h"
#include "results/util/cleanup.h"

int stats_check(const double *v, size_t n, struct error *err)
{
	for (size_t i = 0; i < n; i++) {
		if (!(fabs(v[i]) <= STATS_VALUE_MAX))
			return error_set(err, EXIT_USAGE,
					 "value %zu of %zu: %g is no usable number", i + 1, n,
					 v[i]);
	}
	return 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The bits of a double as a number that orders like it: radix sorting needs no comparisons. */
static uint64_t sort_key(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits >> 63 ? ~bits : bits | 1ULL << 63;
}

static double sort_value(uint64_t key)
{
	uint64_t bits = key >> 63 ? key & ~(1ULL << 63) : ~key;
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

#define RADIX_BITS 11
#define RADIX (1U << RADIX_BITS)
#define RADIX_MIN 256 /* below, qsort() is faster */

/* One pass over a digit, stable; false where all have the same digit and nothing was moved. */
static bool radix_pass(const uint64_t *from, uint64_t *to, size_t n, unsigned int shift)
{
	uint32_t at[RADIX] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		at[from[i] >> shift & (RADIX - 1)]++;
	if (at[from[0] >> shift & (RADIX - 1)] == n)
		return false;
	for (unsigned int d = 0; d < RADIX; d++) {
		uint32_t count = at[d];

		at[d] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[at[from[i] >> shift & (RADIX - 1)]++] = from[i];
	return true;
}

static void radix_sort(double *v, size_t n)
{
	cleanup_free uint64_t *a = xreallocarray(NULL, n, sizeof(*a));
	cleanup_free uint64_t *b = xreallocarray(NULL, n, sizeof(*b));

	for (size_t i = 0; i < n; i++)
		a[i] = sort_key(v[i]);
	for (unsigned int shift = 0; shift < 64; shift += RADIX_BITS) {
		uint64_t *swap = a;

		if (!radix_pass(a, b, n, shift))
			continue;
		a = b;
		b = swap;
	}
	for (size_t i = 0; i < n; i++)
		v[i] = sort_value(a[i]);
}

/* What was sorted once is given to several of the functions here. */
static bool is_sorted(const double *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i] < v[i - 1])
			return false;
	return true;
}

double *stats_sorted(const double *v, size_t n)
{
	double *sorted = xreallocarray(NULL, n ? n : 1, sizeof(*sorted));

	if (n)
		memcpy(sorted, v, n * sizeof(*sorted));
	if (is_sorted(sorted, n))
		return sorted;
	if (n < RADIX_MIN || n > UINT32_MAX)
		qsort(sorted, n, sizeof(*sorted), by_value);
	else
		radix_sort(sorted, n);
	return sorted;
}

double stats_sorted_median(const double *v, size_t n)
{
	if (n == 0)
		return NAN;
	if (n % 2)
		return v[n / 2];
	return v[n / 2 - 1] + (v[n / 2] - v[n / 2 - 1]) / 2;
}

/* Around the first value: a column of equal values has exactly that mean, and no deviation. */
static double mean_of(const double *v, size_t n)
{
	double sum = 0;

	if (n == 0)
		return NAN;
	for (size_t i = 0; i < n; i++)
		sum += v[i] - v[0];
	return v[0] + sum / n;
}

static double stddev_of(const double *v, size_t n, double mean)
{
	double sum = 0;

	if (n < 2)
		return NAN;
	for (size_t i = 0; i < n; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	return sqrt(sum / (n - 1));
}

/* v sorted: the first one tells whether all are above 0. */
static double hmean_of(const double *v, size_t n)
{
	double sum = 0;

	if (n == 0 || v[0] <= 0)
		return NAN;
	if (v[0] == v[n - 1])
		return v[0];
	/* Relative to the least: 1 / v of a tiny value would not be finite. */
	for (size_t i = 0; i < n; i++)
		sum += v[0] / v[i];
	return v[0] * (n / sum);
}

static double hstddev_of(const double *v, size_t n, double hmean)
{
	double sum = 0;

	if (n < 2 || isnan(hmean))
		return NAN;
	/* Not hmean / v - 1, which is mere rounding where the values differ little. */
	for (size_t i = 0; i < n; i++)
		sum += (hmean - v[i]) / v[i] * ((hmean - v[i]) / v[i]);
	return hmean * sqrt(sum / n);
}

static double coeffvar_of(const struct stats_summary *s)
{
	if (s->n < 2)
		return NAN;
	if (s->mean != 0)
		return 100 * s->stddev / fabs(s->mean);
	return s->stddev == 0 ? 0 : NAN;
}

int stats_summarise(const double *v, size_t n, enum counter_better better,
		    struct stats_summary *out, struct error *err)
{
	cleanup_free double *sorted = NULL;
	size_t best = n * 95 / 100;
	const double *from;

	if (stats_check(v, n, err) < 0)
		return -1;
	sorted = stats_sorted(v, n);
	*out = (struct stats_summary){ .n = n,
				       .min = NAN,
				       .max = NAN,
				       .best95 = NAN,
				       .best95_hmean = NAN };
	if (n) {
		out->min = sorted[0];
		out->max = sorted[n - 1];
	}
	out->mean = mean_of(sorted, n);
	out->median = stats_sorted_median(sorted, n);
	out->stddev = stddev_of(sorted, n, out->mean);
	out->coeffvar = coeffvar_of(out);
	out->hmean = hmean_of(sorted, n);
	out->hstddev = hstddev_of(sorted, n, out->hmean);
	if (best == 0)
		best = n;
	if (better != BETTER_NEITHER) {
		from = better == BETTER_HIGHER ? sorted + (n - best) : sorted;
		out->best95 = mean_of(from, best);
		out->best95_hmean = hmean_of(from, best);
	}
	return 0;
}
