/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_STATS_INTERNAL_H
#define MMRIG_STATS_INTERNAL_H
/* Between the stats_*.c files; nobody else includes this. */
#include "results/stats.h"

/* 0 when all are finite and not too large; -1 and EXIT_USAGE, naming the first that is not. */
int stats_check(const double *v, size_t n, struct error *err);
/* A sorted copy, heap; never NULL. */
double *stats_sorted(const double *v, size_t n);
/* Of a sorted array; NAN when n = 0. */
double stats_sorted_median(const double *v, size_t n);

/*
 * The null distribution of 2U (an integer also with ties): prob[s] for s in 0 .. last; U: the pairs
 * in which the side of n values is the higher. All N = n + m values form groups of equal ones,
 * ascending, of sizes tie[0..ngroups). n should be the smaller side. NULL when the work would be
 * too much; free() it.
 */
double *stats_null(size_t n, size_t m, const size_t *tie, size_t ngroups, size_t last);
/* Of U itself, without ties: prob[u] for u in 0 .. nm. */
double *stats_null_untied(size_t n, size_t m);

/* stats_shift() at several levels for the price of one. */
int stats_shifts(const double *base, size_t n, const double *head, size_t m, const double *level,
		 struct stats_shift *out, size_t nlevels, struct error *err);

/* stats_group.c: the units of a sample. */
struct units {
	double *value; /* the median of each layout */
	size_t n;
	bool grouped; /* a layout has several runs */
};
/* The values must be checked before. */
void units_make(const struct stats_sample *s, struct units *u);
void units_free(struct units *u);
/* stats_more.c: what struct stats_result.more says. factor: Holm's, at least 1. */
size_t stats_more(const struct stats_result *r, const struct stats_options *opt, size_t factor);

#endif
