/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_GROUPS_H
#define MMRIG_GROUPS_H
/*
 * Which pages to give back so that the buddy allocator holds just so many free blocks of an order:
 * aligned groups of 2^order page frames that are all ours, whose buddy keeps at least one page of
 * ours, so that the two never merge. Works on the bit maps of guest/region.h; libc only.
 */
#include <stdint.h>

#include "guest/layout.h"

/*
 * Picks up to n groups of an order, spread by the seed: their bits go from own and avail to pick, and
 * one page in each buddy is taken out of avail for good (not at GROUPS_TOP_ORDER, where nothing
 * merges). `block`: at most one group in each pageblock whose word in l->block is 1, and none
 * elsewhere; the word becomes 2. Returns how many.
 */
#define GROUPS_TOP_ORDER 10
uint64_t groups_pick(struct layout *l, unsigned int order, uint64_t n, uint64_t seed, bool block);

/* A permutation of [0, 2^bits), a pure function of seed; bits up to 32. */
uint32_t groups_permute(uint32_t i, unsigned int bits, uint64_t seed);

#endif
