/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_COUNTER_H
#define MMRIG_COUNTER_H
/*
 * The catalogue: canonical names, and the sources of each by kernel era, which are SUMMED (others
 * overwrite, and lose stalls: allocstall is one counter before 4.8 and one a zone since).
 * Absent is not zero: a counter none of whose sources exists gives no metric.
 */
#include <math.h>

#include "results/run.h"
#include "results/util/str.h"

enum counter_better { BETTER_LOWER, BETTER_HIGHER, BETTER_NEITHER };

struct counter {
	/*
	 * "allocstall". Where many metrics are alike, a pattern: "free_order<order>_<zone>".
	 * <order>, <node> and <threads> stand for digits, <size> for "64kB", <zone> for a zone's name, <type>
	 * for letters and digits, <stat> for those and underscores.
	 */
	const char *name;
	const char *title; /* "Allocation stalls"; of a pattern, with the same <words> */
	const char *unit;  /* "events", "pages", "s" */
	enum counter_better better;
	bool gauge; /* a level, not a count: no delta, end value */
	/*
	 * Keys of vmstat (of meminfo where from_meminfo), NULL-terminated. "allocstall_*" is a
	 * prefix; "-kswapd_steal" subtracts; "--key" subtracts, and without it there is no metric.
	 */
	const char *const *sources;
	bool from_meminfo;
	bool of_run;	     /* the workload's own or the engine's, from no snapshot */
	const char *formula; /* of a derived metric, results/formula.h; else NULL */
	double at_zero;	     /* value of the formula where its divisor is 0; NAN: none */
};
extern const struct counter counter_table[];
extern const size_t counter_count;
/* NULL when unknown. A name that fits a pattern has the entry of the first such pattern. */
const struct counter *counter_find(const char *name);
/* The title with the words of this name in it: "Free pages of order 3, Normal". Caller frees. */
char *counter_title(const char *name);
/* Nearest known metric name, or NULL; workload metrics included. */
const char *counter_nearest(const char *name);

/* Rows of a table that people know: what it calls them, and the metric that stands there. */
struct counter_row {
	const char *row, *metric;
};
/* The block "MMTests Statistics: vmstat" (there with "Ops " in front), in its order, NULL last. */
extern const struct counter_row counter_rows_mmtests[];
/* The tables of the posts on defrag_mode (April 2025) and on huge page allocation (August 2012). */
extern const struct counter_row counter_rows_defrag[], counter_rows_highalloc[];

/*
 * One parsed /proc/vmstat (or meminfo, or mTHP statistics): key -> value, in the order of the file.
 * Hostile input is survived: rows that are no "key value" are skipped, and so is a last row without
 * a newline, whose number may be cut off; of two rows of one key the first stands. -1 when there is
 * no row at all.
 */
struct vmstat {
	struct vmstat_row {
		char key[64];
		uint64_t value;
	} * row;
	size_t n;
	uint16_t *slot; /* hash of the key -> index of the row + 1 */
	size_t slots;	/* a power of two */
};
int vmstat_parse(const void *data, size_t len, struct vmstat *v);
/* "Active(anon):   6991828 kB": keys with brackets, a colon and a unit. */
int meminfo_parse(const void *data, size_t len, struct vmstat *v);
void vmstat_free(struct vmstat *v);
const uint64_t *vmstat_get(const struct vmstat *v, const char *key);
/* Does the key match the source (see above)? Its minus signs are not looked at. */
bool counter_source_matches(const char *source, const char *key);

/*
 * Adds to the run, for every catalogue entry with sources in vmstat: deltas end - begin (gauges:
 * end), and for every other key its own delta under its own name (nr_*: end), 0 too, since one that
 * stood still is not absent. A counter that goes backwards (and is no level) is left out and named
 * in run.detail, apart where it looks like a 32-bit counter that wrapped; so is a level that is
 * below zero, which the kernel prints as a number near 2^64.
 */
void counter_deltas(const struct vmstat *begin, const struct vmstat *end, struct run *r);
/* The levels that come from meminfo. */
void counter_meminfo(const struct vmstat *end, struct run *r);
/*
 * Then the derived ones. seconds: from the snapshot of vmstat at the begin to the one at the end,
 * not the workload's own time, or a velocity would be too high; <= 0: not known.
 */
void counter_formulas(double seconds, struct run *r);

#define COUNTER_BACKWARDS "counters that went backwards, left out"
#define COUNTER_BOUNDS "lower bounds only, the kernel stopped counting"
/* Appends "what: names" as a line of run.detail; nothing when names is empty. */
void counter_note(struct run *r, const char *what, const struct strbuf *names);
/* Is this line of run.detail one that the parsers made? */
bool counter_is_note(const char *line);

#endif
