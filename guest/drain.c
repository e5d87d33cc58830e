// SPDX-License-Identifier: GPL-2.0-only
/*
 * The per-CPU free lists. They hold up to 100 MiB of free pages that no buddy list shows, and their
 * refills break up blocks. drop_caches, compact_memory and memory offlining would empty them, but
 * they reclaim, compact, or need a zone to spare; and a list is only cut back when a page is freed
 * to it, on its CPU and in its zone, so freeing a few pages afterwards misses lists. Instead their
 * limit is held at its lowest (vm.percpu_pagelist_high_fraction) for as long as the layout is
 * built, and put back at the end.
 *
 * Proactive compaction rests meanwhile (vm.compaction_proactiveness): it starts as soon as free memory
 * is in pieces, and had moved a tenth of the pages of a layout of single free pages before that was
 * done.
 */
#include <string.h>

#include "guest/layout.h"

static struct {
	const char *path, *value;
	char saved[32];
} knobs[] = {
	{ "/proc/sys/vm/percpu_pagelist_high_fraction", "1000000", "" },
	{ "/proc/sys/vm/compaction_proactiveness", "0", "" },
};
#define KNOBS (sizeof(knobs) / sizeof(knobs[0]))

bool pcp_limit_lower(void)
{
	bool done[KNOBS] = { false };

	for (size_t i = 0; i < KNOBS; i++) {
		if (file_slurp(knobs[i].path, knobs[i].saved, sizeof(knobs[i].saved)) <= 0)
			continue;
		knobs[i].saved[strcspn(knobs[i].saved, "\n")] = '\0';
		done[i] = file_put(knobs[i].path, knobs[i].value) == 0;
	}
	return done[0];
}

void pcp_limit_restore(void)
{
	for (size_t i = 0; i < KNOBS; i++)
		if (knobs[i].saved[0])
			file_put(knobs[i].path, knobs[i].saved);
}
