/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_PAGEBLOCKS_H
#define MMRIG_PAGEBLOCKS_H
/*
 * The map of all pageblocks: what the pages of each are. Sent as samples named "pageblocks", in
 * chunks that follow one another, each
 *
 *	pageblocks 1 order 9 first 512 blocks 512
 *	BLOCK FREE PINNED MOVABLE UNMOVABLE HOLE
 *	...
 *
 * The head has the version of the form, the order of a block of the map, the chunk's first block and
 * how many it covers. A line tells the pages of one block (block = pfn >> order); they make up
 * 1 << order. A block that is one hole has no line. The order is that of the pageblocks; where these
 * would be more than PAGEBLOCKS_MAX, the next larger ones of which there are no more, so that a map
 * has at most some 2 MiB.
 *
 * free:	on a buddy list (KPF_BUDDY, which the kernel shows for every page of a free block), or on a
 *		per-CPU list (no flag; guest/memmap.h tells)
 * pinned:	by our own layout; such a page alone, also where it is part of a huge page
 * movable:	compaction may move it: on an LRU list, or (it may be on its way there) anonymous or
 *		shmem
 * unmovable:	everything else: the kernel's own, reserved, page tables, slab, hugetlb (only
 *		alloc_contig_range() moves that). The pages of zsmalloc and balloons are among them, which can be
 *		moved but have no flag that tells, and file pages that wait for their LRU list (31 a CPU).
 *		Where /proc/kcore does not show the array of struct page, free pages on the per-CPU lists
 *		are too: some 100 a CPU while the layout stands, and later what the pagesets of zoneinfo
 *		say (one refill of a list takes up to 2016)
 * hole:	no RAM there, as /proc/iomem says. KPF_NOPAGE says so too, but not in every kernel: 7.3
 *		shows no flag at all
 *
 * The tail pages of a compound page are what its head is. Nothing stands still while the flags are
 * read: a page that moves meanwhile may be counted twice or not at all. The reading does nothing to
 * the machine: it allocates no memory, and the map is sent when all is read, lest the pages that the
 * sending takes wake kcompactd (vm.defrag_mode) meanwhile.
 */
#include <stddef.h>
#include <stdint.h>

#include "guest/memmap.h"
#include "guest/procfs.h"
#include "guest/task.h"

#define PAGEBLOCKS_MAX 65536u
#define PAGEBLOCKS_CHUNK 512u /* blocks a chunk */

enum page_kind { PAGE_FREE, PAGE_PINNED, PAGE_MOVABLE, PAGE_UNMOVABLE, PAGE_HOLE, PAGE_KINDS };

struct pageblocks {
	int kpageflags_fd;
	uint64_t pfn_end;   /* one past the highest pfn of any zone */
	unsigned int order; /* of a block of the map */
	uint64_t nblocks;
	uint32_t (*count)[PAGE_KINDS]; /* of each block */
	struct ram ram;
	struct memmap memmap; /* n 0: not to be had */
	const uint8_t *pinned, *freed; /* one bit a pfn; NULL: none */
	/*
	 * Of the pageblocks, not the blocks of the map: a bit for each that holds a page of the kernel's,
	 * which is one that counts as unmovable and is not hugetlb. NULL: not asked for.
	 */
	uint8_t *kernels;
	unsigned int kernels_order;
};

/* What a page is by its flags alone; head: what the page before it is, of which it may be the tail. */
enum page_kind page_kind(uint64_t flags, enum page_kind head);

/*
 * kpageflags_fd, pfn_end and ram are set, and order to that of a pageblock. Allocates and locks what
 * a map takes, 20 bytes a block and 116 KiB, so that it needs nothing when memory is scarce. 0 or -1.
 */
int pageblocks_init(struct pageblocks *p);

/*
 * Reads the flags of every page once. Returns how many of the pages in `freed` are on a buddy list
 * now; -1: /proc/kpageflags cannot be read. Progress is told through the child.
 */
int64_t pageblocks_read(struct pageblocks *p, struct task_child *child);

/* Sends what was read, through the child's pipe, as of the end of this phase. */
void pageblocks_send(const struct pageblocks *p, struct task_child *child, enum wire_phase phase);

#endif
