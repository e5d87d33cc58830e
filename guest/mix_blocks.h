/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_MIX_BLOCKS_H
#define MMRIG_MIX_BLOCKS_H
/*
 * Which pageblocks the step `mix` chooses, and which of them hold a page of the kernel's. State of a
 * block in l->block: MIX_NONE ... MIX_TAKEN. l->aside: page frames of rings and pipes, which have no
 * flag, of all steps, since they stay; those of pipes get there as the counts come upon them.
 *
 * A block holds the kernel's pages where pageblocks_read() says so (l->map.kernels). Of what type slab is
 * no flag tells: those blocks hold reclaimable pages that held nothing before a step of that kind, and
 * something after it (l->reclaimable); all others unmovable ones, the guest's own included.
 */
#include <stdint.h>

#include "guest/layout.h"
#include "guest/pollute.h"

enum { MIX_NONE, MIX_CANDIDATE, MIX_CHOSEN, MIX_TAKEN };

struct mix {
	const struct pollute *p;
	bool (*holds)(uint32_t pfn); /* that of p */
	bool reclaimable;
	bool filled; /* and l->held_before has what was held then */
	uint64_t share_ppm, seed;
	unsigned int order, per_block;
	unsigned int group_order; /* of what is given back in a chosen block: order or more */
	/* Pageblocks that `where` selects a page of: all; to hold such pages; that do, at first, now. */
	uint64_t all, asked, before, held;
	uint64_t candidates; /* at the first choice */
	uint64_t chosen, taken; /* pageblocks */
	uint64_t inside, outside; /* pages of the kernel's in blocks that were chosen; aside elsewhere */
	uint64_t aside, aside_before; /* bits of l->aside: of this step, inside and outside; of earlier ones */
};

/* The bits of the pageblocks; 0 or -1. */
int mix_blocks_init(struct layout *l);
/* Pageblocks with RAM; and those that hold pages of the kind, as of the last pageblocks_read(). */
uint64_t mix_blocks_all(const struct layout *l);
uint64_t mix_blocks_held(const struct layout *l, bool reclaimable);

/*
 * Before anything is taken: m->all, asked, before and held, within the blocks that `where` selects a page
 * of. 0; -1 with errno: /proc/kpageflags cannot be read, or EDOM: `where` divides by zero.
 */
int mix_begin(struct layout *l, struct mix *m, const struct expr *where);
/*
 * With memory full. Reads again which blocks hold what; then so many blocks are chosen, by the seed, as
 * are missing; or those that were chosen and hold nothing yet are dropped, where others have got pages
 * instead.
 * Candidates are the blocks with a page in l->avail and no page of the kernel's, outside of the DMA
 * zone: what is free there is less than the margin above the watermarks, so that the kernel does not
 * get to it before the step ends. 0, or -1: /proc/kpageflags cannot be read.
 */
int mix_choose(struct layout *l, struct mix *m);
/* Reads m->held. 0, or -1. */
int mix_count_held(struct layout *l, struct mix *m);
/*
 * After mix_count_taken() and mix_count_held(): so many hold such pages as were asked for (chosen ones
 * that hold nothing are dropped then), and the chosen ones as many as they should.
 */
bool mix_is_done(struct layout *l, struct mix *m);
/* At the end of a reclaimable step: what it has brought is marked in l->reclaimable. */
void mix_mark(struct layout *l, const struct mix *m);
/* Groups in every block that is CHOSEN but not TAKEN, per_block of them, to l->pick; how many. */
uint64_t mix_pick_groups(struct layout *l, struct mix *m);
/*
 * Leaves in l->avail the pages of the cushion only: at most `most` in blocks that are chosen, or hold
 * something already, since the kernel takes pages of the cushion too. Where these are fewer than
 * `least`, so many with others, in as few blocks as do. One page in four, and again one in eight: a block
 * that is half free is taken over as a whole, and then its pages go first. Returns how many.
 */
uint64_t mix_limit_cushion(struct layout *l, uint64_t most, uint64_t least, bool again);
/*
 * Reads the flags again: CHOSEN blocks with per_block pages of the kernel's become TAKEN; how many there
 * are. With holds, only such pages count.
 */
uint64_t mix_count_taken(struct layout *l, struct mix *m);
/* Counts inside, outside and aside. 0, or -1: /proc/kpageflags cannot be read. */
int mix_count_pages(struct layout *l, struct mix *m);

#endif
