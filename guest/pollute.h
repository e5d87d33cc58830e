/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_POLLUTE_H
#define MMRIG_POLLUTE_H
/*
 * Ways to make the kernel itself allocate pages that cannot be moved, a few at a time. Where such a
 * page stands is seen in one of three ways: its kind has a flag in /proc/kpageflags; or it can be
 * mapped, and pagemap says it: then more() sets its bit in l->aside; or holds() tells it.
 */
#include <stdbool.h>
#include <stdint.h>

#include "guest/layout.h"

struct pollute {
	const char *name, *how;
	const char *migratetype;   /* "unmovable" or "reclaimable" */
	/* 0 or -1 with why. *order: as asked; out: what the kernel takes */
	int (*start)(unsigned int *order, char *why, size_t why_room);
	/* Some n more pages of 2^order; 0 or -1 with why. They stay for the life of the process. */
	int (*more)(struct layout *l, unsigned int order, unsigned int n, char *why, size_t why_room);
	/* Is this page frame, which has no flag, a page that more() got since start()? May be NULL. */
	bool (*holds)(uint32_t pfn);
	uint64_t (*made)(void); /* with holds: how many pages more() got since start() */
};

extern const struct pollute pollute_packet, pollute_pipes, pollute_tables, pollute_dentries;

#endif
