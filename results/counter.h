/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_COUNTER_H
#define MMRIG_COUNTER_H
/*
 * The catalogue: canonical names, and the sources of each by kernel era, which are SUMMED (others
 * overwrite, and lose stalls: allocstall is one counter before 4.8 and one a zone since).
 * Absent is not zero: a counter none of whose sources exists gives no metric.
 */
#include "results/run.h"

enum counter_better { BETTER_LOWER, BETTER_HIGHER, BETTER_NEITHER };

struct counter {
	const char *name;   /* "allocstall" */
	const char *title;  /* "Allocation stalls" */
	const char *unit;   /* "events", "pages", "s" */
	enum counter_better better;
	bool gauge;	    /* a level, not a count: no delta, end value */
	/* vmstat keys, NULL-terminated; "allocstall_*" is a prefix, "-kswapd_steal" subtracts. */
	const char *const *sources;
};
extern const struct counter counter_table[];
extern const size_t counter_count;
/* NULL when unknown. A zone of one node (free_order0_node1_Normal) has the entry of the zone. */
const struct counter *counter_find(const char *name);
/* Nearest known metric name, or NULL; workload metrics included. */
const char *counter_nearest(const char *name);

/*
 * One parsed /proc/vmstat: key -> value, sorted by key; hostile input is survived: rows that are no
 * "key value" are skipped, of two rows of one key the first stands. -1 when there is no row at all.
 */
struct vmstat {
	struct vmstat_row {
		char key[64];
		uint64_t value;
	} *row;
	size_t n;
};
int vmstat_parse(const void *data, size_t len, struct vmstat *v);
void vmstat_free(struct vmstat *v);
const uint64_t *vmstat_get(const struct vmstat *v, const char *key);

/*
 * Adds to the run, for every catalogue entry with a source: deltas end - begin (gauges: end), and
 * for every other vmstat key its own delta under its own name (nr_*: end), 0 too, since one that
 * stood still is not absent. A counter that goes backwards (and is no nr_* gauge) is left out and
 * named in run.detail.
 */
void counter_deltas(const struct vmstat *begin, const struct vmstat *end, struct run *r);
/*
 * Gauges from buddyinfo/zoneinfo at the end of the workload: "free_pages_order0", and per zone
 * "free_order0_DMA32", "free_order0_Normal" (pages), summed over nodes; where there is more than one
 * node also each apart, "free_order0_node1_Normal".
 */
void counter_buddyinfo(const void *data, size_t len, struct run *r);

#endif
