/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_LAYOUT_H
#define MMRIG_LAYOUT_H
/*
 * The layout engine. It runs in a child of PID 1 that holds the memory for the rest of the VM's
 * life. Its bookkeeping (4 bytes a page of RAM for the pfn of each page that it holds, two bits a
 * page for what was freed and what is pinned and four more to choose with, some bytes a pageblock) is
 * allocated and faulted in before the first step.
 *
 * Each step reports asked and got; "got" is always read back from the kernel (pagemap,
 * kpageflags, zoneinfo), never computed from what was asked.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/cma.h"
#include "guest/expr.h"
#include "guest/job.h"
#include "guest/judge.h"
#include "guest/pageblocks.h"
#include "guest/procfs.h"
#include "guest/registry.h"
#include "guest/task.h"

/* Marks in layout.pfn[]; 30 bits of pfn reach 4 TiB. */
#define LAYOUT_PINNED 0x80000000u
#define LAYOUT_CHOSEN 0x40000000u /* within a pin step: about to be pinned */
#define LAYOUT_PFN(x) ((x) & 0x3fffffffu)
#define LAYOUT_GONE 0x3fffffffu /* no page here (any more) */

/* What the mix steps asked for, of each kind; see guest/mixed.h. */
enum { MIXED_UNMOVABLE, MIXED_RECLAIMABLE, MIXED_KINDS };
struct mixed {
	struct mixed_kind {
		bool any;
		uint64_t asked, before; /* pageblocks; before: held such pages when the step began */
		uint64_t type_ppm;	/* of the pageblocks, that should be of this type */
	} kind[MIXED_KINDS];
};

struct layout {
	struct task_child *child;
	const struct job *job;
	uint64_t seed;
	unsigned int block_order;
	uint32_t block_pages; /* pages in a pageblock */
	uint64_t tolerance_ppm; /* the scenario's, or the default; see guest/judge.h */
	bool tolerance_given;	/* the scenario says it */
	struct judgement judged; /* of the step that runs */
	int nsteps; /* reports sent so far */
	struct expr_const *consts; /* nconsts, and room for one more */
	size_t nconsts;

	uint8_t *region;     /* address space for the fill, as large as RAM */
	size_t region_pages; /* its size */
	size_t filled_pages; /* populated from its start on */
	uint32_t *pfn;	     /* by page of the region */
	uint32_t pfn_end;    /* one past the highest pfn of any zone */
	uint32_t *block;     /* scratch: one word a pageblock of the machine */
	uint8_t *freed;	     /* one bit a pfn: given back by a free step */
	uint64_t nfreed;
	uint8_t *pinned;     /* one bit a pfn: a pin of ours stands there */
	size_t nblocks;
	size_t hole; /* no page before it is gone and could be taken again */
	uint8_t *own, *avail, *pick, *aside; /* scratch of a step, one bit a pfn: see guest/region.h */
	uint8_t *reclaimable, *scope, *held_before; /* one bit a pageblock: see guest/mix_blocks.h */
	struct mixed mixed;

	struct zones zones;
	struct pageblocks map;
	struct cma cma; /* read once a step's `where` names it */
	bool has_movable; /* a populated ZONE_MOVABLE */
	int pagemap_fd;
};

/* What a step says of itself, JSON object bodies without the braces. */
struct step_report {
	char asked[512], got[512];
	char how[320];
	bool ok;
	bool cannot;   /* see guest/cannot.h */
	char why[256]; /* when not ok */
};

/* 0, or -1 when the step could not be done at all (report.why says why). */
typedef int (*layout_step_fn)(struct layout *l, const struct job_line *line, struct step_report *r);

/* Allocates and faults in the bookkeeping. A job without steps needs none, only what the map does. */
int layout_init(struct layout *l, struct task_child *child, const struct job *job);
/*
 * Runs every `step` line of the job, sending a STEP message before and after each, and the map of the
 * pageblocks, also where a step failed; TASK_DONE or WIRE_FAIL at the end. Without steps that map is all.
 */
int layout_run(struct layout *l);
/* The map once more, as of the end of this phase, and TASK_DONE. */
void layout_map(struct layout *l, enum wire_phase phase);

/* ---- for the steps ---- */

/* Reads the pfns of the filled region's pages [from, from + n) into l->pfn, keeping the marks. */
int layout_read_pfns(struct layout *l, size_t from, size_t n);
/* Where the next page of the region goes, moved on to a pageblock's edge; what is skipped is GONE. */
size_t layout_align(struct layout *l);
/*
 * Compiles the `where` of a line (all pages where absent); NULL with r->why on error.
 */
struct expr *layout_where(struct layout *l, const struct job_line *line, struct step_report *r);
/* out[i] = predicate at pfn[from + i], 0 for pages that are gone; handles zone, node and cma. -1: division by zero. */
int layout_select(struct layout *l, const struct expr *where, size_t from, size_t n, uint8_t *out);

/* Says that a step begins, so that the host knows how far a layout came. */
void layout_begin(struct layout *l, int index, const char *name);
/* A step may say itself what is wrong, and the judgement (guest/judge.h) tells by how much. */
void layout_complete_why(const struct layout *l, struct step_report *r);
/* Sends what a step says of itself. */
void layout_report(struct layout *l, int index, const char *name, uint64_t start_ns,
		   const struct step_report *r);

/*
 * Long-term pins of single pages, given as addresses; 0 or -1 with *why. *how: the method used.
 */
int pin_pages(void *const *page, size_t n, const char **how, char *why, size_t why_room);

/*
 * Holds the per-CPU lists at their shortest (about 250 pages each) while the layout is built, so
 * that free pages stand on the buddy lists; false where the kernel cannot (before 5.14). Proactive
 * compaction, which would undo the layout as it is built, rests meanwhile.
 */
bool pcp_limit_lower(void);
void pcp_limit_restore(void);

#endif
