// SPDX-License-Identifier: GPL-2.0-only
#include "results/stats.h"

#include <math.h>
#include <stdlib.h>

#include "results/stats_internal.h"
#include "results/util/cleanup.h"

const char *stats_outcome_name(enum stats_outcome o)
{
	static const char *const name[] = { "inconclusive", "same", "better", "worse", "changed" };

	return (size_t)o < ARRAY_SIZE(name) ? name[o] : "inconclusive";
}

static int check_options(const struct stats_options *o, struct error *err)
{
	/* alpha: an interval at 1 - 2 alpha must exist. */
	if (!(o->alpha > 0 && o->alpha < 0.5))
		return error_set(err, EXIT_USAGE, "alpha %g is not between 0 and 0.5", o->alpha);
	if (!(o->margin >= 0 && o->margin <= STATS_VALUE_MAX))
		return error_set(err, EXIT_USAGE, "margin %g is no distance", o->margin);
	if (!(o->margin_relative >= 0 && o->margin_relative <= 1e6))
		return error_set(err, EXIT_USAGE, "relative margin %g is no share",
				 o->margin_relative);
	if (!(o->power > 0 && o->power < 1))
		return error_set(err, EXIT_USAGE, "power %g is not between 0 and 1", o->power);
	return 0;
}

/* The larger side by ranks; the shift may be 0 while most runs differ. */
static enum stats_outcome direction(const struct stats_result *r)
{
	if (r->better == BETTER_NEITHER)
		return STATS_CHANGED;
	if ((r->rank.delta > 0) == (r->better == BETTER_HIGHER))
		return STATS_BETTER;
	return STATS_WORSE;
}

static void decide(struct stats_result *r, const struct stats_options *opt, size_t factor)
{
	const struct stats_shift *e = &r->equivalence;

	r->outcome = STATS_INCONCLUSIVE;
	if (r->beyond && e->method != STATS_NONE && e->low >= -r->margin && e->high <= r->margin)
		r->outcome = STATS_SAME;
	else if (r->beyond && r->p_adjusted <= opt->alpha * (1 + 1e-12) && r->rank.delta != 0)
		r->outcome = direction(r);
	r->more = r->outcome == STATS_INCONCLUSIVE ? stats_more(r, opt, factor) : 0;
}

static int rank_and_shift(const double *base, size_t n, const double *head, size_t m,
			  const struct stats_options *opt, struct stats_rank *rank,
			  struct stats_shift shift[2], struct error *err)
{
	const double level[] = { 1 - opt->alpha, 1 - 2 * opt->alpha };

	if (stats_rank_test(base, n, head, m, rank, err) < 0)
		return -1;
	return stats_shifts(base, n, head, m, level, shift, 2, err);
}

static int compare_units(const struct stats_sample *base, const struct stats_sample *head,
			 const struct units *b, const struct units *h,
			 const struct stats_options *opt, struct stats_result *r, struct error *err)
{
	struct stats_shift shift[2];

	r->grouped = b->grouped || h->grouped;
	r->base_units = b->n;
	r->head_units = h->n;
	r->beyond = !r->grouped || (b->n >= 2 && h->n >= 2);
	if (rank_and_shift(b->value, b->n, h->value, h->n, opt, &r->rank, shift, err) < 0)
		return -1;
	r->shift = shift[0];
	r->equivalence = shift[1];
	r->within = r->rank;
	r->within_shift = r->shift;
	if (!r->grouped)
		return 0;
	if (rank_and_shift(base->value, base->n, head->value, head->n, opt, &r->within, shift,
			   err) < 0)
		return -1;
	r->within_shift = shift[0];
	return 0;
}

int stats_compare(const struct stats_sample *base, const struct stats_sample *head,
		  enum counter_better better, const struct stats_options *opt,
		  struct stats_result *out, struct error *err)
{
	struct units b, h;
	int ret;

	if (check_options(opt, err) < 0)
		return -1;
	*out = (struct stats_result){ .better = better };
	if (stats_summarise(base->value, base->n, better, &out->base, err) < 0)
		return error_wrap(err, "base");
	if (stats_summarise(head->value, head->n, better, &out->head, err) < 0)
		return error_wrap(err, "head");
	out->margin = NAN;
	if (base->n)
		out->margin = fmax(opt->margin, opt->margin_relative * fabs(out->base.median));
	units_make(base, &b);
	units_make(head, &h);
	ret = compare_units(base, head, &b, &h, opt, out, err);
	units_free(&b);
	units_free(&h);
	if (ret < 0)
		return -1;
	out->p_adjusted = out->rank.p;
	decide(out, opt, 1);
	return 0;
}

static bool all_equal(const struct stats_result *r)
{
	return r->base.n && r->head.n &&
	       fmin(r->base.min, r->head.min) == fmax(r->base.max, r->head.max);
}

size_t stats_correct(struct stats_result *r, size_t n, const struct stats_options *opt)
{
	cleanup_free double *p = xreallocarray(NULL, n ? n : 1, sizeof(*p));
	cleanup_free size_t *factor = xreallocarray(NULL, n ? n : 1, sizeof(*factor));
	size_t tests = 0, single = 0;

	for (size_t i = 0; i < n; i++)
		p[i] = r[i].beyond && !all_equal(&r[i]) ? r[i].rank.p : NAN;
	for (size_t i = 0; i < n; i++) {
		tests += !isnan(p[i]);
		single += !r[i].beyond && !all_equal(&r[i]);
	}
	stats_holm(p, n, p, factor);
	for (size_t i = 0; i < n; i++) {
		/* With more layouts they would all be tests. */
		if (!r[i].beyond)
			factor[i] = tests + single;
		r[i].p_adjusted = r[i].beyond && all_equal(&r[i]) ? 1 : p[i];
		decide(&r[i], opt, factor[i]);
	}
	return tests;
}
