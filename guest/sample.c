// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>

#include "guest/cannot.h"
#include "guest/region.h"

bool sample_take(struct sample *s, uint32_t key)
{
	/* expr_rand() is below 2^32: with want == left always yes, with 0 never. */
	bool yes = (expr_rand(s->seed, key) * (unsigned __int128)s->left) >> 32 < s->want;

	s->left--;
	s->want -= yes;
	return yes;
}

int64_t sample_size(const struct job_line *line, uint64_t n, struct step_report *r)
{
	int64_t count = job_get_i64(line, "count", -1), share = job_get_i64(line, "share", -1);

	if (count >= 0 && share >= 0)
		return step_cannot(r, "count and share: one of them");
	if (share >= 0)
		return (int64_t)((n * (unsigned __int128)share + 500000) / 1000000);
	if (count < 0)
		return (int64_t)n;
	if ((uint64_t)count > n)
		return step_cannot(r, "count is %" PRId64 ", and there are %" PRIu64 " to choose from", count, n);
	return count;
}
