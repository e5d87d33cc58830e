/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_METRICS_H
#define MMRIG_METRICS_H
/*
 * From the snapshots at the edges of the workload to the metrics of a run: one way for a run that
 * ends just now and for one that was stored years ago.
 */
#include "guest/wire.h"
#include "results/counter.h"

/* The files of one snapshot, as they came. Zero-initialise; samples_free(). */
struct samples {
	struct sample_file {
		char name[64];
		char *data; /* NUL-terminated behind len */
		size_t len;
		uint64_t mono_ns;
	} * file;
	size_t n;
};

/* The three snapshots that metrics are made of. */
struct edges {
	struct samples begin, end; /* of the workload */
	struct samples rest;	   /* the end of collect: kcompactd has come to rest */
};

/*
 * Keeps a copy of a sample that belongs to one of the three snapshots; a later one of the same name
 * replaces it. A guest can make no more of them than a few hundred, of 16 MiB together.
 */
void edges_take(struct edges *e, const struct wire_sample *sample);
void edges_free(struct edges *e);
/* NULL: the snapshot has no such file. */
const struct sample_file *samples_find(const struct samples *s, const char *name);
void samples_free(struct samples *s);

/*
 * kcompactd adds its counts up when a pass ends, and the workload may end before. The agent waits
 * for the passes and takes another snapshot; these counters (compact_daemon_*), and only these, are
 * taken over from there.
 */
void metrics_complete_daemon(const struct vmstat *rest, struct vmstat *end);

/*
 * Everything of the catalogue that the samples give, and notes in run.detail (counters that went
 * backwards or wrapped, lower bounds). Sorts of metrics: vmstat as counter_deltas() says; levels of
 * buddyinfo, pagetypeinfo, extfrag, zoneinfo, meminfo and slabinfo at the end; what pressure and
 * mTHP statistics rose by; then the derived.
 *
 * To bound their number: rows by migratetype, by node (but for single pages), of empty zones, and
 * of an mTHP size (but for its faults, splits and nr_anon) are left out where they are 0 at both
 * edges.
 */
void metrics_from_edges(const struct edges *e, struct run *r);
/* The parts of it that need only one file; data of the end, and of the begin or NULL. */
void metrics_buddyinfo(const struct sample_file *begin, const struct sample_file *end,
		       struct run *r);
void metrics_pagetypeinfo(const struct sample_file *begin, const struct sample_file *end,
			  struct run *r);
void metrics_extfrag(const char *name, const struct sample_file *end, struct run *r);
void metrics_zoneinfo(const struct sample_file *end, struct run *r);
void metrics_mthp(const struct samples *begin, const struct samples *end, struct run *r);

/* The metrics that the workload itself reported (run.workload_json; may be NULL). */
void metrics_from_workload(const char *workload_json, struct run *r);

#endif
