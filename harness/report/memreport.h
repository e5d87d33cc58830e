/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_MEMREPORT_H
#define MMRIG_MEMREPORT_H
/*
 * What somebody pasted about the memory of a machine: /proc/buddyinfo, pagetypeinfo, zoneinfo,
 * meminfo and vmstat, a Mem-Info dump, a page allocation failure, an OOM kill, a sysrq-m; with the
 * prefixes, quotes, wraps and cuts that logs and mails put on them. Every byte is hostile.
 *
 * Read in stages: decoded (mail.c), freed of prefixes (piece.c), put together where it was wrapped
 * (record.c), split into reports and read (reader.c and a file for each kind), judged (sums.c). A
 * number is taken only where its end is seen, so that a text that was cut off gives fewer numbers and
 * never other ones. What is odd, missing, repaired or contradictory is a remark. Of numbers that
 * contradict each other those that cannot be are left out (contradiction.c), and none is mended.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/util/error.h"

#define MEMREPORT_INPUT_MAX (16u << 20) /* bytes */
#define MEMREPORT_ORDERS 20		/* 17 on ia64 with 64K pages */
#define MEMREPORT_NAME_MAX 24
#define MEMREPORT_TEXT_MAX 200
#define MEMREPORT_ZONES_MAX 128
#define MEMREPORT_REPORTS_MAX 128
#define MEMREPORT_REMARKS_MAX 100 /* of a report; those beyond are counted */

enum memtype {
	MEMTYPE_UNMOVABLE,
	MEMTYPE_MOVABLE,
	MEMTYPE_RECLAIMABLE,
	MEMTYPE_HIGHATOMIC,
	MEMTYPE_CMA,
	MEMTYPE_ISOLATE,
	MEMTYPE_RESERVE, /* before 4.4 */
	MEMTYPE_OTHER,	 /* a vendor's own */
	MEMTYPES,
};
const char *memtype_name(enum memtype t); /* as pagetypeinfo has it; "other" */
char memtype_letter(enum memtype t);	  /* as a free list has it; '?' */

enum memzone_field {
	MEMZONE_FREE,
	MEMZONE_MIN, /* it, low and high are printed with the boost, and here without one that is said */
	MEMZONE_LOW,
	MEMZONE_HIGH,
	MEMZONE_BOOST, /* of the moment; not said before 5.16 */
	MEMZONE_SPANNED,
	MEMZONE_PRESENT,
	MEMZONE_MANAGED,
	MEMZONE_FREE_CMA,
	MEMZONE_LISTED, /* in kB: what the free list says it adds up to ("= 15908kB") */
	MEMZONE_FIELDS,
};
const char *memzone_field_name(enum memzone_field f); /* "min" */

struct memzone {
	unsigned int node;
	char name[MEMREPORT_NAME_MAX];
	size_t line;			    /* of the input, from 1: where it was met first */
	size_t list_line;		    /* where its free list is */
	unsigned int orders;		    /* known from order 0 on; 0: no free list */
	bool cut;			    /* counts are missing: the list, or a row of a type, is cut off */
	unsigned int whole;		    /* orders that are known in full; `orders` where it is not cut */
	uint64_t free[MEMREPORT_ORDERS];    /* blocks */
	uint32_t at_least;		    /* bit per order: the kernel stopped counting */
	uint8_t types[MEMREPORT_ORDERS];    /* bit per memtype: a free list showed its letter */
	unsigned int type_orders[MEMTYPES]; /* as orders, of by_type; 0: not said */
	uint64_t by_type[MEMTYPES][MEMREPORT_ORDERS]; /* blocks, of pagetypeinfo */
	bool types_whole;	   /* another zone's rows or the table of pageblocks followed */
	bool types_bad;		   /* a row of them was garbage */
	size_t type_line[MEMTYPES];
	uint32_t type_cut; /* bit per memtype: its row ends in what is no count */
	uint32_t have_blocks;	   /* bit per memtype */
	uint64_t blocks[MEMTYPES]; /* pageblocks */
	uint32_t have;		   /* bit per memzone_field */
	uint64_t value[MEMZONE_FIELDS]; /* pages of the machine, but for LISTED */
	size_t field_line[MEMZONE_FIELDS];
};

enum memevent_kind {
	MEMEVENT_NONE,
	MEMEVENT_FAILURE, /* page allocation failure */
	MEMEVENT_VMALLOC, /* vmalloc: allocation failure; it has no order */
	MEMEVENT_KMALLOC, /* possible memory allocation deadlock; order of its size */
	MEMEVENT_OOM,
	MEMEVENT_SYSRQ,
	MEMEVENT_STALL, /* hung task, lockup, RCU stall */
};
const char *memevent_name(enum memevent_kind k);

/* A gfp mask, decoded. Bare numbers are those of kernels before 4.6, which printed no names. */
struct gfp {
	enum memtype type; /* unmovable, movable or reclaimable */
	bool atomic;	   /* may use reserves and must not sleep */
	bool direct_reclaim;
	const char
		*zone; /* highest that it may use: "DMA", "DMA32", "Normal", "HighMem", "Movable" */
};
/* names: "GFP_KERNEL|__GFP_ZERO"; "" or NULL: the mask is all there is. */
void gfp_decode(uint64_t mask, const char *names, struct gfp *g);

struct memevent {
	enum memevent_kind kind;
	size_t line;
	bool borrowed; /* of the next report in the log: the header of this one is lost */
	bool have_order, have_gfp;
	unsigned int order;	       /* of the machine's pages */
	uint64_t bytes;		       /* vmalloc and kmalloc; 0: not said */
	char mask[MEMREPORT_TEXT_MAX]; /* "0xa20(GFP_ATOMIC)" */
	struct gfp gfp;
	char text[MEMREPORT_TEXT_MAX]; /* printable: the message of a stall */
};

enum memtotal {
	MEMTOTAL_RAM,	   /* "N pages RAM" */
	MEMTOTAL_RESERVED, /* "N pages reserved" */
	MEMTOTAL_FREE,	   /* "free:N" of Mem-Info */
	MEMTOTAL_FREE_PCP,
	MEMTOTAL_FREE_CMA,
	MEMTOTAL_CMA,	     /* "N pages cma reserved" */
	MEMTOTAL_MEMINFO_KB, /* MemTotal, in kB; a container's own, where it comes from one */
	MEMTOTAL_VMSTAT_FREE,
	MEMTOTALS,
};
const char *memtotal_name(enum memtotal t);

struct memreport {
	bool of_dump;	      /* has zones of a Mem-Info dump */
	size_t line;	      /* of the input: where it begins */
	unsigned int page_kb; /* 4 where nothing says */
	bool page_size_known;
	char release[64], arch[16]; /* "": not said */
	unsigned int pageblock_order;
	bool have_pageblock_order;
	unsigned int orders; /* that lists and rows have; 0: none is whole */
	struct memzone *zone; /* in the order of the text */
	size_t nzones;
	size_t lists_lost; /* free lists of zones that are not among these */
	struct memevent event;
	uint32_t have_total;
	uint64_t total[MEMTOTALS]; /* pages of the machine, but for MEMINFO_KB */
	size_t total_line[MEMTOTALS], blocks_line; /* the latter: where pageblocks are counted first */
	char **remark;		   /* "line 12: ..." */
	size_t nremarks, remarks_left_out;
	size_t data; /* how much is known, to compare reports of one input */
};

struct memreport_set {
	struct memreport *report; /* in the order of the input */
	size_t n, left_out;	  /* those beyond MEMREPORT_REPORTS_MAX */
	size_t best;		  /* index of the one with most data */
	char **remark;		  /* on the input as a whole */
	size_t nremarks;
};

/*
 * The whole of it. 0 when anything was understood, be it without a free list: n is 1 or more then.
 * EXIT_USAGE for an input that is empty, too large, no text, or says nothing about memory; the set
 * is empty then. `label` names the input in errors.
 */
int memreport_parse(const char *label, const void *data, size_t len, struct memreport_set *set,
		    struct error *err);
void memreport_set_free(struct memreport_set *set);

/* The zones that have a free list; kB in them. */
size_t memreport_lists(const struct memreport *r, uint64_t *kb);
/* EXIT_USAGE, with what was understood and what is missing, unless some free list holds a block. */
int memreport_need_lists(const char *label, const struct memreport *r, struct error *err);
/* "page allocation failure, order 0, GFP_ATOMIC"; heap, printable. */
char *memevent_describe(const struct memevent *e);
/* "/proc/buddyinfo of 3 zones, an OOM kill, kernel 5.4": what was understood; heap, printable. */
char *memreport_describe(const struct memreport *r);

/* ---- for a guest ---- */

#define MEMSCALE_ORDERS 11	  /* of a kernel with 4 KiB pages */
#define MEMSCALE_SHARE_ASSUMED 16 /* one page in so many, where the text gives no total */

enum memscale_base {
	MEMSCALE_MANAGED, /* free pages of managed (else present) pages of the zones with lists */
	MEMSCALE_RAM,	  /* of "pages RAM" */
	MEMSCALE_MEMINFO, /* of MemTotal */
	MEMSCALE_BLOCKS,  /* of the pageblocks that pagetypeinfo counts */
	MEMSCALE_ASSUMED,
};

/*
 * 64 MiB. What the kernel takes and gives back meanwhile, some hundred pages, is a part of it. Measured
 * on 7.3 and 6.12 in a guest of 1G, OOM reports: with 16 and 24 MiB `shape` missed its 5 % in all tries
 * in 3 and 2 builds of 12; with 32 lists without large blocks were 3-6 % off at each try, with 48 and 64
 * 1-3 %. Before 6.15 the kernel breaks up a free block of order 10 for a page of its own, in one build
 * of twelve at each try: 8 % of 48 MiB, 6 % of 64, and less of what is larger.
 */
#define MEMSCALE_PAGES_MIN 16384

/* What becomes of free pages that "free:" counts and that a list which is cut off does not show. */
enum memunlisted {
	MEMUNLISTED_REFUSE,   /* unless it is certain where they are, or they are few */
	MEMUNLISTED_SMALLEST, /* they are in the smallest blocks, or the largest, that they can be in */
	MEMUNLISTED_LARGEST,
	MEMUNLISTED_NONE, /* left out: at least the blocks of the lists; refused where the size is assumed */
};
#define MEMUNLISTED_FEW 20 /* one page in so many: counters and lists are read one after the other */

/* Of the pageblocks: a guest of 1G holds pages of its own kernel in 8 to 12 % of them, a larger one in fewer. */
#define MEMSCALE_GUEST_OWN 0.125

struct memscale {
	uint64_t memory_bytes;
	enum memscale_base base;
	/* Of the machine; base_kb 0 where it is assumed. free_kb is what the lists have, and unlisted_kb. */
	uint64_t free_kb, base_kb;
	uint64_t unlisted_kb; /* "free:" counts them, and the lists are cut off before them */
	uint64_t certain_kb;  /* of them: they can be of one order only, and are put there */
	uint64_t guessed_kb;  /* of them: put where it was asked for */
	uint32_t unlisted_in; /* bit per order of the guest where some were put */
	size_t lists_unknown; /* cut off or lost, and nothing says how much is missing */
	size_t unknown_line;  /* of one of them */
	enum memunlisted unlisted;
	bool refused;  /* pages and blocks are 0 */
	bool unsized;  /* so, since the lists are a part, and nothing says how large the machine is */
	bool at_least; /* more may be free */
	uint64_t cma_kb; /* left out: free blocks that the failed request could not take */
	uint64_t pages;	 /* 4 KiB: asked to be free in the guest */
	uint64_t blocks[MEMSCALE_ORDERS];
	bool raised;	 /* to MEMSCALE_PAGES_MIN */
	uint64_t min_kb; /* min watermarks of the guest in the machine's proportion; 0: not known */
	uint64_t machine_min_kb, machine_boost_kb; /* that they are made of: without the boost, and the boost */
	bool boost_unsaid; /* of some zone: it is at least so much, and the watermarks are no more than that */
	uint32_t have_mix;    /* bit per memtype */
	double mix[MEMTYPES]; /* share of all pageblocks */
	double held[MEMTYPES]; /* the same, without those that are free as a whole */
	bool held_less;	       /* fewer, since the free blocks of order 9 and 10 need the room */
};

struct memscale_ask {
	uint64_t memory_bytes, least_pages;
	enum memunlisted unlisted;
};

/*
 * The free lists for a guest of so many bytes: the share of memory that is free and its spread over
 * the orders (by pages) are those of the machine. Blocks of another page size count as the blocks of
 * 4 KiB pages that they are; those above order 10 as several of order 10. Rounded by largest
 * remainder: the blocks hold `pages`, less what does not fill a block of the lowest order in use.
 *
 * Where lists are cut off, the share is that of the "free:" of their zones. The pages are
 * raised to least_pages where they would be fewer (but not none).
 */
void memreport_scale_as(const struct memreport *r, const struct memscale_ask *ask, struct memscale *s);
/* The same, not raised, and refused where it is not certain. */
void memreport_scale(const struct memreport *r, uint64_t memory_bytes, struct memscale *s);
/* EXIT_USAGE, with what is not known, where it was refused. */
int memscale_need_lists(const char *label, const struct memscale *s, struct error *err);

/*
 * The guest to scale to where nobody asks for another: as large as the machine, in whole GiB, within
 * 1G and 4G; 2G where its size is not known. The larger the guest, the less weigh the pages that the
 * kernel takes and gives back beside the layout.
 */
uint64_t memreport_guest_bytes(const struct memreport *r);

/* "40512 of 1916044 kB are free, 2.11 % of the memory of its zones"; heap. */
char *memscale_describe(const struct memscale *s);
/* What became of the free pages that the lists do not show; NULL: there are none. */
char *memscale_describe_unlisted(const struct memscale *s);
/* How to have more said where the size of the machine is not; NULL: it is. */
char *memscale_describe_assumed(const struct memscale *s);

/* ---- what is made of it; heap ---- */

struct memimport {
	const char *label; /* the file's name, as given */
	const struct memreport_set *set;
	size_t chosen; /* index of the report */
	bool chosen_by_user;
	const struct memscale *scale; /* NULL: it has no free list */
	bool memory_by_user;
};
/* An account for people: zones, the failure, remarks, the scaled target. */
char *memreport_account(const struct memimport *m);
/* One JSON document of the same; `scenario` may be NULL. */
char *memreport_json(const struct memimport *m, const char *scenario);
/* A scenario that builds the free lists. */
char *memreport_scenario(const struct memimport *m);

#endif
