/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_RUN_H
#define MMRIG_RUN_H
/*
 * What is recorded of a run, and of a run set. The engine fills it, the store keeps it, tables are
 * made of it. Strings belong to the struct; run_free(), runset_free().
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/wire.h"
#include "results/verdict.h"

#define STEP_NOT_REACHED "not reached"	 /* a step before it failed, or the guest was lost in one */
#define STEP_NOT_FINISHED "not finished" /* it was begun, and the guest said no more of it */

struct metric {
	char *name; /* canonical, results/counter.h, or the workload's own */
	double value;
};

/* A file of what a kernel was built of. */
struct run_kept {
	char *name;
	char *text; /* until it is stored; NULL in what is loaded: it stands in the store */
	size_t len;
};

struct run_kernel {
	char *name, *release, *build_id, *image, *image_hash, *config_hash, *provenance;
	char *folder; /* below kernels/ of the run set; NULL: nothing is kept of it */
	struct run_kept *kept; /* patches, local changes, config */
	size_t nkept;
};

struct run_value { /* one axis of the variant */
	char *name, *text;
};

struct run {
	char *id;	/* "0001" ..., unique in the run set; the first member, for bsearch() */
	size_t cell;	/* index: kernel x variant */
	size_t kernel;	/* index into runset.kernel */
	size_t variant; /* index into runset.variant */
	uint64_t seed;
	enum verdict verdict;
	char *why;	    /* what happened, one line; NULL for ok */
	char *detail;	    /* splat lines, layout report ...; may be NULL */
	char *accel;	    /* "tcg" */
	char *qemu_version, *qemu_command, *host;
	char *reproduce;    /* the mmrig command that repeats this one run */
	double started, ended; /* host wall clock, seconds since the epoch */
	double phase[PHASE_COUNT]; /* guest seconds; < 0: not reached. boot: host seconds, exec to hello */
	double host_cpu;    /* CPU seconds of QEMU */
	/* Of the host during the run, shares of 1; < 0: not known. */
	double host_wait;   /* QEMU's threads: ready to run but waiting for a CPU */
	double host_steal;  /* all CPUs: taken by the hypervisor below */
	double host_memory; /* PSI memory, full */
	double host_load;   /* load average over 1 minute at the end */
	double restore_s;     /* a fork: host seconds from exec to the agent's first word; 0: no fork */
	uint64_t dirty_bytes; /* a fork's own memory: what it changed of its template; 0: no fork */
	char *forked_from;  /* the layout's template; NULL: a run of its own */
	struct metric *metric;
	size_t nmetrics;
	/*
	 * Array of the WIRE_STEP payloads of steps that are done, and {"index","step","state"} for those
	 * that are not (STEP_NOT_REACHED, STEP_NOT_FINISHED); may be NULL.
	 */
	char *layout_json;
	/* What the workload told; "partial": true in it: it did not come to its end. May be NULL. */
	char *workload_json;
	char *profile_json; /* of harness/engine/profile.h; may be NULL */
	char *splats_json;   /* array of the kernel's reports, worst or not; NULL: there were none */
	/* /proc/sys/kernel/tainted at the agent's first and last word. */
	bool taint_before_known, taint_after_known;
	uint64_t taint_before, taint_after;
	char **no_effect;    /* counters that had to move and did not; NULL-terminated, may be NULL */
};

struct run_variant {
	char *label;
	struct run_value *value;
	size_t nvalues;
	uint64_t memory_bytes;
	unsigned int cpus;
};

struct runset {
	char *id; /* "20261130-171500-alias-tmpfs-3f2a", sortable, unique */
	char *scenario, *title, *scenario_text, *command;
	char *table_style, *row_title;
	char **metric; /* shown first; NULL-terminated */
	struct run_kernel *kernel;
	size_t nkernels;
	struct run_variant *variant;
	size_t nvariants;
	bool *left_out;	   /* [kernel * nvariants + variant]: a cell that is not run; NULL: none */
	unsigned int runs; /* repetitions asked per cell */
	struct run *run;   /* finished ones, in the order of the plan */
	size_t nruns;
};

/*
 * A later try of the same slot exists (ids "0003", "0003.2"): this one said nothing, is shown, and
 * does not count for the exit status.
 */
bool runset_superseded(const struct runset *set, size_t i);
/* Of kernel x variant: is it to be run? How many of them are. */
bool runset_has_cell(const struct runset *set, size_t kernel, size_t variant);
size_t runset_cells(const struct runset *set);
/* Gives a kernel a file to be kept; copies name and text. */
void run_kernel_keep(struct run_kernel *k, const char *name, const char *text, size_t len);
void run_kernel_free(struct run_kernel *k);
void run_free(struct run *r);
/* "DW", as the kernel prints its taint flags; "?" for one that has no letter here. Heap. */
char *run_taint_letters(uint64_t taint);
void runset_free(struct runset *s);
/* NULL when the run has no such metric: absent is not zero. */
const double *run_metric(const struct run *r, const char *name);
/* Adds or replaces; a value that is not finite is no value and is not taken. */
void run_set_metric(struct run *r, const char *name, double value);

#endif
