// SPDX-License-Identifier: GPL-2.0-only
/*
 * The null distribution of U by counting. Counts are doubles, far beyond 2^53 (C(200, 100) is
 * 9e58); with ties they are sums of positive numbers only, so that no digits are lost.
 */
#include <math.h>
#include <stdlib.h>

#include "results/stats_internal.h"
#include "results/util/cleanup.h"

/* Steps of the inner loops. N * (n + 1) * 2nm with ties: n = m = 100, some 20 ms and 16 MiB. */
#define TIED_WORK 4.1e8
/* n * nm without: n = m = 126, some ms; counts stay below 1e75. */
#define UNTIED_WORK 2e6

/* choose[j] = C(t, j), for j up to n: t may be large, n is the smaller side. */
static void binomials(size_t t, size_t n, double *choose)
{
	choose[0] = 1;
	for (size_t j = 1; j <= t && j <= n; j++)
		choose[j] = choose[j - 1] * (t - j + 1) / j;
}

/* State: how many values of the small side so far (n), and 2U so far. */
struct counting {
	size_t n, m;
	size_t width;  /* 2U from 0 up to the one asked for */
	double *count; /* (n + 1) x width */
};

static double *row_of(const struct counting *c, size_t i)
{
	return c->count + i * c->width;
}

/* i of `seen` values taken so far, and j of the next t, which are equal. */
static void take(struct counting *c, size_t seen, size_t t, size_t i, size_t j, double ways)
{
	size_t below = seen - i;
	/* Each of the j has `below` of the other side below it, and shares the tie with t - j. */
	size_t added = j * (2 * below + t - j), end = 2 * i * below + 1;
	const double *from = row_of(c, i);
	double *to = row_of(c, i + j) + added;

	if (below + t - j > c->m || added >= c->width)
		return;
	if (end > c->width - added)
		end = c->width - added;
	for (size_t s = 0; s < end; s++)
		to[s] += ways * from[s];
}

/* Descending in i, so that a row is read before it is added to. */
static void add_group(struct counting *c, size_t seen, size_t t, const double *choose)
{
	size_t top = seen < c->n ? seen : c->n;

	for (size_t i = top + 1; i-- > 0;) {
		if (seen - i > c->m)
			break;
		for (size_t j = 1; j <= t && i + j <= c->n; j++)
			take(c, seen, t, i, j, choose[j]);
	}
}

double *stats_null(size_t n, size_t m, const size_t *tie, size_t ngroups, size_t last)
{
	struct counting c = { .n = n, .m = m, .width = last + 1 };
	cleanup_free double *count = NULL;
	cleanup_free double *choose = NULL;
	double *prob, work = 0;
	size_t seen = 0;

	for (size_t g = 0; g < ngroups; g++)
		work += (double)(tie[g] < n ? tie[g] : n) * (n + 1) * (last + 1);
	if (work > TIED_WORK)
		return NULL;
	c.count = count = xcalloc((n + 1) * c.width, sizeof(*count));
	choose = xcalloc(n + 1, sizeof(*choose));
	count[0] = 1;
	for (size_t g = 0; g < ngroups; g++) {
		binomials(tie[g], n, choose);
		add_group(&c, seen, tie[g], choose);
		seen += tie[g];
	}
	binomials(n + m, n, choose);
	prob = xreallocarray(NULL, c.width, sizeof(*prob));
	for (size_t s = 0; s < c.width; s++)
		prob[s] = row_of(&c, n)[s] / choose[n];
	return prob;
}

/*
 * Without ties the counts are the coefficients of the Gaussian binomial, the product over i = 1 ..
 * n of (1 - q^(m+i)) / (1 - q^i). They rise up to the middle, so that what is subtracted there is
 * never larger than what stays: good to 1e-12 at n = m = 100, and exact as long as counts fit 2^53.
 */
double *stats_null_untied(size_t n, size_t m)
{
	size_t pairs = n * m, half = pairs / 2;
	double *prob, total = 0;

	if ((double)n * n * m > UNTIED_WORK)
		return NULL;
	prob = xcalloc(pairs + 1, sizeof(*prob));
	prob[0] = 1;
	for (size_t i = 1; i <= n; i++) {
		for (size_t s = half; s >= m + i; s--)
			prob[s] -= prob[s - m - i];
		for (size_t s = i; s <= half; s++)
			prob[s] += prob[s - i];
	}
	for (size_t s = 0; s <= half; s++)
		prob[pairs - s] = prob[s];
	for (size_t s = 0; s <= pairs; s++)
		total += prob[s];
	for (size_t s = 0; s <= pairs; s++)
		prob[s] /= total;
	return prob;
}
