/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_PROCFS_H
#define MMRIG_PROCFS_H
/*
 * What the layout engine reads of the kernel's own accounts. Fixed sizes, no allocation after
 * zones_open(). Free pages of a zone are those of its buddy lists; the pages that sit on the
 * per-CPU lists come apart (they are free too, but no buddy list shows them).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZONES_MAX 64 /* of 8 nodes, with those that are empty */

struct zone {
	int node;
	char name[16];
	int index; /* enum expr_zone of guest/expr.h */
	uint64_t free, min, low, high, managed, spanned, start_pfn;
	uint64_t reserve; /* lowmem_reserve against a request that may use every zone, pages */
	uint64_t pcp;	  /* on the per-CPU lists, pages */
	uint64_t whole;	  /* free pages in buddies of at least a pageblock */
	uint64_t cma;	  /* free pages of type CMA, which are in `free` too */
};

struct zones {
	struct zone zone[ZONES_MAX];
	size_t n;
};

/* Whole read of /proc/zoneinfo and buddyinfo. 0 or -1. pageblock_order: see pageblock_order(). */
int zones_read(struct zones *z, unsigned int pageblock_order);
/* From text, for tests; both NUL-terminated. */
void zones_parse_zoneinfo(struct zones *z, const char *text);
void zones_parse_buddyinfo(struct zones *z, const char *text, unsigned int pageblock_order);

/* Free blocks by order, all zones together; orders above ORDERS - 1 are counted as so many of that. */
#define ORDERS 11
int free_blocks_read(uint64_t blocks[ORDERS]);
void free_blocks_parse(const char *buddyinfo, uint64_t blocks[ORDERS]);

/* The sum of those of /proc/vmstat's keys that begin so and are there; 0 where none is. */
uint64_t vmstat_sum(const char *const *prefix, size_t n);
uint64_t vmstat_parse_sum(const char *text, const char *const *prefix, size_t n);

/* Sums over zones. */
uint64_t zones_free(const struct zones *z);
uint64_t zones_pcp(const struct zones *z);
uint64_t zones_low(const struct zones *z);
uint64_t zones_high(const struct zones *z);
uint64_t zones_managed(const struct zones *z);
uint64_t zones_cma(const struct zones *z);
/*
 * Pages in whole free pageblocks that an ordinary request may take: those of a zone that
 * lowmem_reserve keeps to itself (DMA on all but the smallest machines) do not count. With
 * vm.defrag_mode these are what unmovable allocations live on; the watermarks do not shield them,
 * because they are compared with all free pages.
 */
uint64_t zones_whole_blocks(const struct zones *z);
/*
 * Pages that an ordinary request may take without waking anybody: above the low watermark and what
 * lowmem_reserve keeps, zone by zone; pages of type CMA are for movable requests only. Counting in the
 * 442 pages that the DMA zone of a 512 MiB guest keeps, or what sits on the list of another CPU, made a fill to 0 bytes end in an OOM kill.
 */
uint64_t zones_room(const struct zones *z);
/*
 * Pages of room below which nothing should be taken by whoever takes all that there is: one refill of
 * a per-CPU list and the page tables take more than was asked for, and what then waits on the list of
 * another CPU is of no use. With 64, taking 65 pages ended in an OOM kill beside 830 free ones;
 * without it, a fill to 1 MiB did in 5 of 18 guests of 512 MiB under 7.3.
 */
#define ZONES_LEAST_ROOM 384
const struct zone *zones_of_pfn(const struct zones *z, uint64_t pfn);

#define RAM_RANGES_MAX 256

/* Where RAM is: pfns [first, end), ascending. */
struct ram {
	struct ram_range {
		uint64_t first, end;
	} range[RAM_RANGES_MAX];
	size_t n;
};

/*
 * The "System RAM" of /proc/iomem, in whole pages. 0, or -1 with n == 0 where it does not say (only
 * root is told addresses).
 */
int ram_read(struct ram *r);
void ram_parse(struct ram *r, const char *text);

/* "Page block order: 9" of /proc/pagetypeinfo; 9 when it cannot be read. */
unsigned int pageblock_order(void);
/* Small text file; bytes read (NUL added) or -1. */
long file_slurp(const char *path, char *buf, size_t room);
/* The number that stands in a small file, or dflt. */
int64_t file_number(const char *path, int64_t dflt);
int file_put(const char *path, const char *text);

#endif
