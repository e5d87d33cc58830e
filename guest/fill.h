/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_FILL_H
#define MMRIG_FILL_H
/*
 * The kinds of memory that the step `fill` takes. Only pages of anon and thp are the layout's own,
 * which other steps pin, give back, or put elsewhere; the rest stays as the kernel has it.
 *
 *	anon	base pages
 *	thp	whole free pageblocks, as huge pages
 *	shmem	a memfd, not mapped: page cache that only swap can take; movable
 *	file	page cache of a file that is clean and can be dropped: a file system in user space
 *		(FUSE), whose file reads as zeros, so that it needs neither a disk nor memory behind it
 *	slab	inodes (unmovable) and dentries (of the reclaimable type) of empty files on tmpfs: both
 *		stay as long as the files do
 *	hugetlb	the pool of huge pages (vm.nr_hugepages)
 */
#include "guest/layout.h"

struct fill_kind {
	const char *name, *how;
	bool own;    /* in the region: can be given back, so that `zone` can be had */
	bool blocks; /* takes whole pageblocks, one at a time */
	/* Around all of take(), or NULL. */
	void (*begin)(void);
	void (*end)(void);
	/* Takes some `pages` more. How many (by what was asked of the kernel), 0: no more, -1: errno. */
	int64_t (*take)(struct layout *l, uint64_t pages);
};

extern const struct fill_kind fill_anon, fill_thp, fill_shmem, fill_file, fill_slab, fill_hugetlb;

#endif
