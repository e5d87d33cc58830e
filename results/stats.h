/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_STATS_H
#define MMRIG_STATS_H
/*
 * Statistics of one metric on two sides, base and head. Pure functions on arrays of doubles: no
 * state, nothing printed, the same answer for the same input, the Monte Carlo draws included.
 *
 * Input: every value finite and at most STATS_VALUE_MAX in size, else -1 with exit status 2. No
 * outlier is ever left out. n = 0 is no error: what cannot be said is NAN here, and "-" in a table.
 * An absent metric is n = 0 and not 0.0.
 *
 * A shift or a difference is always head - base. Ranks make no assumption about the form of the
 * distribution, only that the runs (or, of forks, the layouts) are independent.
 */
#include "results/counter.h"
#include "results/util/error.h"

#define STATS_VALUE_MAX 1e150 /* squares stay finite */

struct stats_summary {
	size_t n;
	/* NAN when n = 0 */
	double min, max, mean, median;
	double stddev;	 /* of the sample, divided by n - 1; NAN when n < 2 */
	double coeffvar; /* 100 * stddev / |mean|; NAN when n < 2; at mean 0: 0 if all are 0, else NAN */
	/*
	 * mmtests' BMean.95: the mean of the best floor(0.95 n) values, counted from the good end,
	 * and of all when that is 0. Without a better end (BETTER_NEITHER): NAN. mmtests itself
	 * takes one more value where higher is better; here both ends are cut alike.
	 */
	double best95;
	/* Harmonic mean and its stddev, hmean^2 * sqrt(sum (1/v - 1/hmean)^2 / n), as in mmtests. */
	double hmean;	     /* NAN unless all values are above 0 */
	double hstddev;	     /* NAN when hmean is, or n < 2 */
	double best95_hmean; /* the harmonic mean of the same best values */
};
int stats_summarise(const double *v, size_t n, enum counter_better better,
		    struct stats_summary *out, struct error *err);

/* How a p-value or an interval was found; tables say so. */
enum stats_method {
	STATS_NONE,	   /* a side is empty, or too small for the level asked */
	STATS_EXACT,	   /* the whole null distribution, ties included */
	STATS_MONTE_CARLO, /* `draws` random permutations, fixed seed */
	STATS_NORMAL,	   /* normal approximation, corrected for continuity and ties */
};
const char *stats_method_name(enum stats_method m); /* "-", "exact", "Monte Carlo", "normal" */

#define STATS_DRAWS 100000
#define STATS_SEED 20070612

/*
 * Mann-Whitney, two-sided: twice the smaller tail, at most 1. Exact is the permutation distribution
 * of U given the ties found, counted by dynamic programming (Streitberg and Roehmel's shift
 * algorithm), so that it needs no enumeration of C(n+m, n) splits; it is used up to about
 * n * m = 10,000, and further where one side is small. Beyond: Monte Carlo where there are ties and
 * the smaller side has at most 200 values, p = 2 * (1 + hits) / (1 + draws); else normal.
 */
struct stats_rank {
	double u;     /* pairs with head above base, an equal pair counts 1/2; NAN without pairs */
	double p;     /* NAN when a side is empty */
	double delta; /* Cliff's: P(head > base) - P(head < base); NAN when a side is empty */
	bool ties;    /* among all values, between sides or within one */
	enum stats_method method;
	unsigned int draws; /* of Monte Carlo, else 0 */
};
int stats_rank_test(const double *base, size_t n, const double *head, size_t m,
		    struct stats_rank *out, struct error *err);

/*
 * Hodges-Lehmann: the median of all n * m differences, and a distribution-free interval made of two
 * of them: those shifts that the Mann-Whitney test does not reject. Exact from the distribution of
 * U without ties, which keeps the level or more where there are ties (the interval is closed). In
 * (n + m) log time; the differences are not stored.
 */
struct stats_shift {
	double estimate;   /* NAN when a side is empty */
	double low, high;  /* NAN when method is STATS_NONE */
	double confidence; /* achieved, at least the one asked if exact; 0 when there is no interval */
	enum stats_method method;
};
/* level: 0.95 for a 95 % interval. */
int stats_shift(const double *base, size_t n, const double *head, size_t m, double level,
		struct stats_shift *out, struct error *err);

/*
 * Holm's step-down correction: adjusted[i] >= p[i], so that rejecting adjusted <= alpha keeps the
 * chance of any false alarm in the whole list at alpha, whatever the dependence. A NAN p is of a
 * test that was not made: it stays NAN and does not count in the list. p and adjusted may be one
 * array. factor (may be NULL): what p was multiplied with before the running maximum.
 */
void stats_holm(const double *p, size_t n, double *adjusted, size_t *factor);

/* The runs of one side. */
struct stats_sample {
	const double *value;
	size_t n;
	/*
	 * The layout that each run was forked from: equal numbers, one layout. The numbers of base
	 * and of head are not compared: a layout stands on one side. NULL: every run its own. The
	 * repetitions of one seed of a deterministic run are one sample too: give them one number.
	 */
	const size_t *layout;
};
/* Numbers from names (run.forked_from): equal names, equal numbers; NULL: a layout of its own. */
void stats_layouts(const char *const *forked_from, size_t n, size_t *layout);

struct stats_options {
	double alpha;		/* of the difference, corrected, and of each equivalence */
	double margin;		/* equivalent when the shift is within +- this, and ... */
	double margin_relative; /* ... this share of |median of base|: the larger of the two counts */
	double power;		/* chance of deciding with the runs that `more` asks for */
};
#define STATS_OPTIONS_DEFAULT { .alpha = 0.05, .margin_relative = 0.05, .power = 0.8 }

/*
 * same: the interval of the shift at 1 - 2 alpha lies within the margin (two one-sided rank tests
 * at alpha each). It stands before a difference: a difference that is proven to be smaller than the
 * margin is no regression. Otherwise better or worse (changed, where the metric has no better
 * direction) when Holm's p <= alpha. Otherwise nothing is known: inconclusive.
 */
enum stats_outcome {
	STATS_INCONCLUSIVE,
	STATS_SAME,
	STATS_BETTER,
	STATS_WORSE,
	STATS_CHANGED,
};
const char *stats_outcome_name(enum stats_outcome o);

/*
 * One metric. Grouped: forks of one layout are no independent samples, so the layout is the unit:
 * rank, shift and equivalence are of the medians of the layouts, each layout one value, which is a
 * permutation test that moves whole layouts between the sides; layouts weigh alike however many
 * forks they have. With a single layout on a side nothing can be said of layouts: the outcome is
 * inconclusive, and `within` says what holds between these very layouts.
 */
struct stats_result {
	enum counter_better better;
	struct stats_summary base, head; /* of runs, always */
	bool grouped;			 /* some layout has several forks */
	size_t base_units, head_units;	 /* layouts when grouped, else runs */
	struct stats_rank rank;		 /* of the units */
	struct stats_shift shift;	 /* of the units, at 1 - alpha */
	struct stats_shift equivalence;	 /* of the units, at 1 - 2 alpha */
	bool beyond;			 /* claims beyond these layouts are possible; true if not grouped */
	struct stats_rank within;	 /* grouped: of runs, for these layouts only; else as rank */
	struct stats_shift within_shift;
	double margin;	   /* absolute; NAN without a base */
	double p_adjusted; /* Holm, by stats_correct(); rank.p until then */
	enum stats_outcome outcome;
	/*
	 * Inconclusive: units (runs, or layouts when grouped) to add to each side to decide it with
	 * the chance `power`; 0: cannot be said. A shift within the margin: so many that the
	 * interval, which shrinks with the root of n, fits into it (without an interval: so many
	 * that there is one). One beyond: Noether's (1987)
	 *	n = (z_{1-alpha'/2} + z_power)^2 / (6 (P - 1/2)^2) a side
	 * with the P(base < head) observed, an equal pair for 1/2, and alpha' = alpha / Holm's
	 * factor; where all of one side lies above the other, and at least, so many that the exact
	 * test can reach alpha' at all. Both assume that the next runs are like those seen, equally
	 * many a side; above STATS_MORE_MAX nothing is said.
	 */
	size_t more;
};
#define STATS_MORE_MAX 1000

/* As if the metric were the only one. */
int stats_compare(const struct stats_sample *base, const struct stats_sample *head,
		  enum counter_better better, const struct stats_options *opt,
		  struct stats_result *out, struct error *err);
/*
 * Corrects the results of one table for one another and decides anew; with the options that they
 * were made with. Not in the list, since they can raise no alarm: those that allow no claim beyond
 * their layouts (p_adjusted NAN), and those with one value everywhere (1), as most counters that
 * the workload does not touch. Give the metrics that are shown, no more: each one costs.
 * Returns how many are in the list.
 */
size_t stats_correct(struct stats_result *r, size_t n, const struct stats_options *opt);

#endif
