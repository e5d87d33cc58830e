/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_HUGEALLOC_PROBER_H
#define MMRIG_HUGEALLOC_PROBER_H
/*
 * Asks for a huge page at a steady rate, times each fault, looks what it got, and gives it back. Mean and
 * standard deviation (of the sample, n - 1) by Welford's recurrence: Knuth, TAOCP 2, 4.2.2, (15), (16).
 */
#include "guest/histogram.h"
#include "workloads/alloc-order/method.h"

struct prober {
	struct alloc_state state;
	uint64_t period_ns, next_ns;
	uint64_t n, huge, max_ns;
	double mean_ns, squares; /* sum of squared distances from the mean */
	struct histogram took;
};

/* Both -1 after task_fail(). init() before the layout. */
int prober_init(struct prober *p, struct task_child *child, uint64_t per_second);
int prober_begin(struct prober *p);
/* All that are due; ms until the next one, or -1 after task_fail(). */
int prober_work(struct prober *p);
void prober_end(struct prober *p);

void prober_add(struct prober *p, uint64_t ns, bool huge);
/* 0 for less than two. */
double prober_stddev(const struct prober *p);
/* ",\"hugealloc_mean\":..." ; the characters written. */
size_t prober_metrics(const struct prober *p, char *out, size_t room);

#endif
