/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_REGION_H
#define MMRIG_REGION_H
/*
 * The pages that the layout holds: taking them, giving them back, and where they stand. Sets of page
 * frames are bit maps over all pfns, made and faulted in by layout_init() like the rest.
 */
#include <stdbool.h>
#include <stdint.h>

#include "guest/layout.h"

/* Of /proc/kpageflags: bits of include/uapi/linux/kernel-page-flags.h. */
#define KPF_SLAB_BIT (1ULL << 7)
#define KPF_BUDDY_BIT (1ULL << 10)
#define KPF_PGTABLE_BIT (1ULL << 26)

static inline bool bit_test(const uint8_t *map, uint32_t i)
{
	return map[i / 8] >> i % 8 & 1;
}

static inline void bit_set(uint8_t *map, uint32_t i)
{
	map[i / 8] |= (uint8_t)(1u << i % 8);
}

static inline void bit_clear(uint8_t *map, uint32_t i)
{
	map[i / 8] &= (uint8_t)~(1u << i % 8);
}

/*
 * So many of so many, one after the other: each is asked for once, and exactly `want` of `left` say
 * yes; which ones is a pure function of the seed and of the keys in their order.
 */
struct sample {
	uint64_t left, want, seed;
};
bool sample_take(struct sample *s, uint32_t key);
/*
 * `count` and `share` of a step's line: how many of n candidates; all where neither is given.
 * -1 with r->why: fewer candidates than the count, or both keys.
 */
int64_t sample_size(const struct job_line *line, uint64_t n, struct step_report *r);

/* The bit maps; 0 or -1. */
int region_init(struct layout *l);
/*
 * Faults in base pages, first where pages were given back before, then behind the filled part, and
 * reads where they stand. Returns how many (fewer when the address space is used up), -1 with errno.
 */
int64_t region_take(struct layout *l, uint64_t pages);
/*
 * Reads the pfns of pages that have just been faulted in; those that were given back by an earlier
 * step are no longer free. 0 or -1.
 */
int region_taken(struct layout *l, size_t from, size_t n);
/*
 * Gives back the pages whose pfn has its bit in l->pick (never pinned ones), in the order of their
 * addresses; pick is empty afterwards. l->pfn is not changed: region_reread() finds them gone. 0, or
 * -1 with errno.
 */
int region_give_picked(struct layout *l);
/* Reads pagemap again: how many pages are gone since, each marked as freed. -1: cannot be read. */
int64_t region_reread(struct layout *l);
/*
 * After a step in which the kernel or another process took pages: those given back before that are no
 * longer on the free lists are not ours to account for. 0, or -1: /proc/kpageflags cannot be read.
 */
int region_prune_freed(struct layout *l);
/*
 * After a step that claims how much is free, and in what pieces, but not where: the kernel takes and
 * moves a thousand pages in the next second, so no proof can hold it to the place of each.
 */
void region_forget_freed(struct layout *l);
/*
 * A step that takes pages for its own time: those held before are marked (LAYOUT_CHOSEN) so that the
 * others can be told; picking sets the bits of the others in l->pick and takes the marks away.
 */
void region_mark_held(struct layout *l);
void region_pick_not_held(struct layout *l);
/* Pages held by zone of l->zones. */
void region_count_zones(const struct layout *l, uint64_t count[ZONES_MAX]);
/*
 * l->own: the pages held; l->avail: those of them that `where` selects and that are not pinned;
 * l->pick: none. -1: division by zero.
 */
int region_map(struct layout *l, const struct expr *where);

#endif
