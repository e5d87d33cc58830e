/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_PROC_H
#define MMRIG_PROC_H
/*
 * What the neighbours of /proc/vmstat say. Their bytes come from a guest: whatever they are,
 * nothing beyond them is read, numbers stay in range, and a row that is none is skipped. All return
 * -1 when not one row could be read, and nothing is to be freed then. (vmstat, meminfo and the
 * statistics of mTHP, which are keys and values: results/counter.h.)
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROC_ORDERS_MAX 20 /* 17 on ia64 with 64K pages */
#define PROC_NAME_MAX 24
#define PROC_ROWS_MAX 512 /* 8 nodes of 4 zones have 192 of 6 types */

/*
 * One row of buddyinfo, pagetypeinfo or extfrag: a zone of a node. A row that a terminal wrapped is
 * put together again; one that is cut off (shorter than the others, or without its newline) is not
 * taken. A row of a zone that was there before (the head of another file) is not taken either.
 */
struct free_row {
	unsigned int node;
	char zone[PROC_NAME_MAX];
	char type[PROC_NAME_MAX];	 /* "" where the file knows none */
	unsigned int n;			 /* orders */
	uint64_t count[PROC_ORDERS_MAX]; /* free blocks of each order */
	double index[PROC_ORDERS_MAX];	 /* extfrag: -1: a request of this order would succeed */
	uint32_t at_least;		 /* bit per order: ">100000", the kernel stopped counting */
};
struct free_table {
	struct free_row *row;
	size_t n;
	bool several_nodes;
};
int buddyinfo_parse(const void *data, size_t len, struct free_table *t);
/* extfrag/unusable_index and extfrag/extfrag_index: fills index. */
int extfrag_parse(const void *data, size_t len, struct free_table *t);
void free_table_free(struct free_table *t);
/* The row of the same node, zone and type, or NULL. */
const struct free_row *free_table_find(const struct free_table *t, const struct free_row *like);

/* Types are those that the file names, in any number and order. */
struct pagetypeinfo {
	unsigned int pageblock_order; /* 0: not said */
	struct free_table free;
	struct free_table blocks; /* count[0]: pageblocks of the type */
};
int pagetypeinfo_parse(const void *data, size_t len, struct pagetypeinfo *p);
void pagetypeinfo_free(struct pagetypeinfo *p);

enum zone_field {
	ZONE_FREE,
	ZONE_MIN,
	ZONE_LOW,
	ZONE_HIGH,
	ZONE_BOOST,
	ZONE_SPANNED,
	ZONE_PRESENT,
	ZONE_MANAGED,
	ZONE_FREE_BLOCKS,
	ZONE_PCP,
	ZONE_FIELDS,
};
struct zone_row {
	unsigned int node;
	char zone[PROC_NAME_MAX];
	uint32_t have; /* bit per field: the file has it, and it is no negative number */
	uint64_t value[ZONE_FIELDS]; /* pages; ZONE_PCP: summed over the CPUs */
};
struct zone_table {
	struct zone_row *row;
	size_t n;
};
int zoneinfo_parse(const void *data, size_t len, struct zone_table *t);
void zone_table_free(struct zone_table *t);

/* /proc/pressure/X: microseconds since the boot. */
struct psi {
	bool some_known, full_known;
	uint64_t some_us, full_us;
};
int psi_parse(const void *data, size_t len, struct psi *p);

/* Sums over all caches of /proc/slabinfo. */
struct slab_totals {
	size_t caches;
	double objects, used_bytes, size_bytes, pages;
};
int slabinfo_parse(const void *data, size_t len, struct slab_totals *t);

#endif
