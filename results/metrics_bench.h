/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_METRICS_BENCH_H
#define MMRIG_METRICS_BENCH_H
/* For the benchmark only. */
#include <time.h>

#include "results/counter.h"

/* Snapshots of vmstat parsed in a second of this thread's CPU time; 0 when the text is none. */
static inline double bench_vmstat_parse(const void *text, size_t len, unsigned int rounds)
{
	struct timespec a, b;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	for (unsigned int i = 0; i < rounds; i++) {
		struct vmstat v;

		if (vmstat_parse(text, len, &v) < 0)
			return 0;
		vmstat_free(&v);
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	return rounds / ((double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9);
}

#endif
