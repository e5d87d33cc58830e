/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_MEMMAP_H
#define MMRIG_MEMMAP_H
/*
 * The kernel's array of struct page, as /proc/kcore shows it. A free page that waits on a per-CPU list
 * has no flag in /proc/kpageflags, and most pages of the kernel's own have none: only the page's count
 * of references, and that it stands on a list, tell it apart. Of a piece of several pages that is none
 * compound the first alone is counted, and the others stand on no list. Where in struct page all that is,
 * the core's own note (VMCOREINFO) says; it is there since 4.19.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "guest/kcore.h"

#define MEMMAP_CHUNK 16384u /* bytes that are read at once */

struct memmap {
	int fd;
	size_t n;
	struct kcore_range range[KCORE_RANGES_MAX]; /* at: where the struct of the first page stands */
	uint32_t size, refcount, mapcount, lru; /* of struct page; where in it the three are: bytes */
	uint64_t begin; /* address of the struct of page frame 0 */
	uint64_t first, end; /* pfns of what `chunk` has */
	uint8_t chunk[MEMMAP_CHUNK];
};

/*
 * 0; or -1, and n is 0: no core, no note, no such array in it, or parts of it that do not fit together.
 * The file stays open.
 */
int memmap_open(struct memmap *m, const char *path);
/* What was read is forgotten: the next look is at what is there then. */
void memmap_refresh(struct memmap *m);
/*
 * Nobody holds the page, it is of no type, and it is on a list: for one without flags that is a per-CPU list.
 * false too where it cannot be told.
 */
bool memmap_is_free(struct memmap *m, uint64_t pfn);

#endif
