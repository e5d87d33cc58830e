// SPDX-License-Identifier: GPL-2.0-only
/*
 * The per-CPU free lists. They hold up to 100 MiB of free pages that no buddy list shows, and their
 * refills break up blocks. drop_caches, compact_memory and memory offlining would empty them, but
 * they reclaim, compact, or need a zone to spare; and a list is only cut back when a page is freed
 * to it, on its CPU and in its zone, so freeing a few pages afterwards misses lists. Instead their
 * limit is held at its lowest (vm.percpu_pagelist_high_fraction) for as long as the layout is
 * built, and put back at the end.
 */
#include <string.h>

#include "guest/layout.h"

#define FRACTION "/proc/sys/vm/percpu_pagelist_high_fraction"

static char saved[32];

bool pcp_limit_lower(void)
{
	if (file_slurp(FRACTION, saved, sizeof(saved)) <= 0)
		return false;
	saved[strcspn(saved, "\n")] = '\0';
	return file_put(FRACTION, "1000000") == 0;
}

void pcp_limit_restore(void)
{
	if (saved[0])
		file_put(FRACTION, saved);
}
