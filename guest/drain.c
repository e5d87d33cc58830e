// SPDX-License-Identifier: GPL-2.0-only
/*
 * Emptying the per-CPU free lists. drop_caches, compact_memory and memory offlining would do it
 * too, but they reclaim, compact, or need a zone to spare. Instead the lists' limit is lowered
 * (vm.percpu_pagelist_high_fraction), and a few pages are freed on each CPU: the kernel then cuts
 * the list back to its limit. The limit is put back afterwards.
 */
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest/layout.h"

#define FRACTION "/proc/sys/vm/percpu_pagelist_high_fraction"
#define TOUCH_PAGES 256u

/* Allocates and frees a batch on this CPU, page by page, so that frees meet the new limit. */
static void churn(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		uint8_t *p = mmap(NULL, TOUCH_PAGES * 4096, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return;
		madvise(p, TOUCH_PAGES * 4096, MADV_NOHUGEPAGE);
		for (unsigned int k = 0; k < TOUCH_PAGES; k++)
			*(volatile uint8_t *)(p + k * 4096) = 1;
		munmap(p, TOUCH_PAGES * 4096);
	}
}

const char *drain_pcp(struct layout *l, uint64_t *left)
{
	char saved[32] = "0";
	cpu_set_t all, one;
	bool lowered;

	file_slurp(FRACTION, saved, sizeof(saved));
	lowered = file_put(FRACTION, "1000000") == 0;
	if (lowered && sched_getaffinity(0, sizeof(all), &all) == 0) {
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
			if (!CPU_ISSET(cpu, &all))
				continue;
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			if (sched_setaffinity(0, sizeof(one), &one) == 0)
				churn(4);
		}
		sched_setaffinity(0, sizeof(all), &all);
		zones_read(&l->zones, l->block_order);
		file_put(FRACTION, strcmp(saved, "0\n") == 0 ? "0" : saved);
	} else {
		zones_read(&l->zones, l->block_order);
	}
	*left = zones_pcp(&l->zones);
	return lowered ? "percpu_pagelist_high_fraction" : "not drained: no percpu_pagelist_high_fraction";
}
