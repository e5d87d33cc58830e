/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_MIX_BLOCKS_H
#define MMRIG_MIX_BLOCKS_H
/*
 * Which pageblocks the step `mix` chooses, and which of them hold a page of the kernel's. State of a
 * block in l->block: MIX_NONE ... MIX_TAKEN. l->aside: page frames of rings and pipes, which have no
 * flag, of all steps, since they stay; those of pipes get there as the counts come upon them.
 */
#include <stdint.h>

#include "guest/layout.h"
#include "guest/pollute.h"

enum { MIX_NONE, MIX_CANDIDATE, MIX_CHOSEN, MIX_TAKEN };

struct mix {
	const struct pollute *p;
	bool (*holds)(uint32_t pfn); /* that of p */
	uint64_t share_ppm, seed;
	unsigned int order, per_block;
	unsigned int group_order; /* of what is given back in a chosen block: order or more */
	uint64_t candidates, asked, chosen, taken; /* pageblocks */
	uint64_t inside, outside; /* pages of the kernel's in blocks that were chosen; aside elsewhere */
	uint64_t aside, aside_before; /* bits of l->aside: of this step, inside and outside; of earlier ones */
};

/*
 * Candidates are the blocks with a page in l->avail and no page of slab, page tables, or l->aside,
 * outside of the DMA zone: what is free there is less than the margin above the watermarks, so that
 * the kernel does not get to it before the step ends. Of them the share is chosen, by the seed. 0, or -1: /proc/kpageflags cannot be read.
 */
int mix_choose(struct layout *l, struct mix *m);
/* Groups in every block that is CHOSEN but not TAKEN, per_block of them, to l->pick; how many. */
uint64_t mix_pick_groups(struct layout *l, struct mix *m);
/*
 * Leaves in l->avail the pages of the cushion only: at most `most`, of chosen blocks first, as few
 * blocks as do, since the kernel takes pages of the cushion too. One page in four: a block that is
 * half free is taken over as a whole, and then its pages go first.
 */
void mix_limit_cushion(struct layout *l, uint32_t most);
/*
 * Reads the flags again: CHOSEN blocks with per_block pages of the kernel's become TAKEN; how many there
 * are. With holds, only such pages count.
 */
uint64_t mix_count_taken(struct layout *l, struct mix *m);
/* Counts inside, outside and aside. 0, or -1: /proc/kpageflags cannot be read. */
int mix_count_pages(struct layout *l, struct mix *m);

#endif
