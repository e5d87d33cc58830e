// SPDX-License-Identifier: GPL-2.0-only
#include <gsl/gsl_cdf.h>
#include <math.h>

#include "results/stats_internal.h"

/* The least n a side at which complete separation has 2 / C(2n, n) <= alpha. */
static double least_for(double alpha)
{
	double p = 1, n = 1;

	/* C(2n, n) = C(2n - 2, n - 1) * 2 (2n - 1) / n */
	while (p > alpha * (1 + 1e-12)) {
		n++;
		p *= n / (2 * (2 * n - 1));
	}
	return n;
}

static double to_differ(const struct stats_result *r, const struct stats_options *opt,
			size_t factor)
{
	double alpha = opt->alpha / factor, least = least_for(alpha), off = r->rank.delta / 2, z;

	if (fabs(r->rank.delta) == 1)
		return least;
	if (off == 0)
		return INFINITY;
	z = gsl_cdf_ugaussian_Qinv(alpha / 2) + gsl_cdf_ugaussian_Pinv(opt->power);
	return fmax(least, ceil(z * z / (6 * off * off)));
}

/* Both sides grown alike: the width goes with sqrt(1/n + 1/m). */
static double to_equal(const struct stats_result *r, const struct stats_options *opt)
{
	double room = r->margin - fabs(r->equivalence.estimate);
	double least = least_for(2 * opt->alpha);
	double half, now = 2 / (1.0 / r->base_units + 1.0 / r->head_units);

	if (r->equivalence.method == STATS_NONE)
		return least;
	half = fmax(r->equivalence.high - r->equivalence.estimate,
		    r->equivalence.estimate - r->equivalence.low);
	if (room <= 0)
		return INFINITY;
	return fmax(least, ceil(now * (half / room) * (half / room)));
}

size_t stats_more(const struct stats_result *r, const struct stats_options *opt, size_t factor)
{
	size_t fewer = r->base_units < r->head_units ? r->base_units : r->head_units;
	double need;

	if (fewer == 0 || isnan(r->margin))
		return 0;
	if (fabs(r->shift.estimate) <= r->margin)
		need = to_equal(r, opt);
	else
		need = to_differ(r, opt, factor ? factor : 1);
	need -= fewer;
	if (!(need <= STATS_MORE_MAX))
		return 0;
	return need < 1 ? 1 : (size_t)need;
}
