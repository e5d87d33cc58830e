// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/alloc-order/method.h"
#include "workloads/thpscale/round.h"

#define HUGE_ORDER 9

size_t thread_counts(unsigned int most, unsigned int counts[THREAD_COUNTS_MAX])
{
	static const unsigned int steps[] = { 1, 3, 5, 7, 12, 18, 24, 30 };
	size_t n = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && steps[i] < most; i++)
		counts[n++] = steps[i];
	counts[n++] = most;
	return n;
}

/* The pages from the first on that are there; a block has no hole. */
static unsigned int present_pages(const uint64_t *pagemap)
{
	unsigned int n = 0;

	while (n < HUGE_PAGES && pagemap[n] >> 63)
		n++;
	return n;
}

int fault_order(const uint64_t pagemap[HUGE_PAGES], const uint64_t flags[HUGE_PAGES])
{
	unsigned int n = present_pages(pagemap);

	for (int order = HUGE_ORDER; n && order > 0; order--)
		if (n >> order && alloc_is_block(pagemap, flags, (unsigned int)order))
			return order;
	return n ? 0 : -1;
}

enum fault_class fault_class_of(int order)
{
	if (order < 0)
		return FAULT_UNSEEN;
	return order == 0 ? FAULT_BASE : order < HUGE_ORDER ? FAULT_MTHP : FAULT_HUGE;
}
