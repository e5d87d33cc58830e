// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>

#include "results/stats_internal.h"
#include "results/table.h"
#include "results/util/cleanup.h"

double stat_median(const double *v, size_t n)
{
	cleanup_free double *sorted = n ? stats_sorted(v, n) : NULL;

	return n ? stats_sorted_median(sorted, n) : NAN;
}
