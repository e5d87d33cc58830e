/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_ENGINE_H
#define MMRIG_ENGINE_H
/*
 * From a plan to a run set: which runs, in which order, and each of them made.
 *
 * A cell is one kernel x one variant. Runs are interleaved: repetition by repetition, and within
 * one over variants and kernels, so that a drift of the host hits all cells alike.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "harness/engine/progress.h"
#include "harness/image/toolbox.h"
#include "harness/kernel/kernel.h"
#include "harness/scenario/scenario.h"
#include "harness/vm/vm.h"
#include "results/store.h"

struct engine_options {
	const char *qemu;	/* NULL: from PATH */
	enum vm_accel accel;	/* AUTO: probe */
	unsigned int runs;	/* repetitions a cell */
	uint64_t seed;		/* repetition k (from 0) has seed + k */
	const char *results;	/* folder; NULL: the default */
	const char *resume;	/* a run set to go on with, or NULL */
	const char *command;	/* as typed, for the record */
	bool fork;		/* one layout for many runs, where the kernel and backend can */
	unsigned int layouts;	/* with fork: layouts a cell; 0: 1 */
	bool deterministic;	/* same inputs and seed, same bits */
	bool allow_starved;	/* a starved host does not make a run infra */
	bool verify;		/* make every run twice and compare; implies deterministic */
	unsigned int jobs;	/* VMs at once; 0: as many as have CPUs of their own */
	const bool *left_out;	/* [kernel * variants + variant]: cells that are not run; NULL: none */
	const struct run_kernel *kept; /* [kernel]: files that the set keeps; NULL: none */
	const char *reproduce;	/* the same without --runs, --seed, --kernel and axes: a prefix */
	bool takes_no_runs;	/* reproduce is of a command without --runs */
};

/* What one run is made of; the engine owns it all. */
struct engine_cell {
	size_t kernel, variant;
};

struct engine_kernel {
	struct kernel kernel;
	char *initrd; /* base image, cached */
	enum vm_channel channel;
	char *lacks;  /* a module that the scenario needs and this kernel lacks; NULL: nothing */
};

struct engine {
	const struct scenario_plan *plan;
	struct engine_kernel *kernel;
	size_t nkernels;
	struct engine_cell *cell; /* those that are run, in the order of the plan */
	size_t ncells;
	enum vm_accel accel;
	bool deterministic, allow_starved;
	char *qemu, *qemu_version, *host, *agent;
	struct toolbox toolbox; /* image NULL: the workload runs no programs */
	double scale; /* of the deadlines */
	struct store *store;
	struct progress *progress;
	struct runset *set;
	struct attempt *attempts; /* in the air */
	uv_loop_t loop;
	uv_signal_t on_int, on_term, on_hup;
	int interrupts; /* how many times the user asked to end */
};

/* The plan's largest guest: host_check_memory(). engine_run() does it again, just before the first VM. */
int engine_check_memory(const struct scenario_plan *plan, struct error *err);

/*
 * Makes the runs. *set is filled with every finished run and belongs to the caller, also on error
 * (whatever finished before it). Returns 0, or -1 with err; an interrupted set returns 0 and has
 * *interrupted set. *differing is set with o->verify: pairs of runs that were not the same.
 */
int engine_run(const struct engine_options *o, const struct scenario_plan *plan,
	       struct kernel *kernels, size_t nkernels, struct progress *progress,
	       struct runset *set, bool *interrupted, size_t *differing, struct error *err);

/* Fills e->cell: by variant, in it by kernel; without those that are left out (schedule.c). */
void engine_plan_cells(struct engine *e, const struct engine_options *o);
/* Every run of the set, scheduled (schedule.c). */
int engine_schedule(struct engine *e, const struct engine_options *o, struct error *err);
/* Identity of a run in this slot, its attempt'th try (from 0). */
struct run engine_new_run(struct engine *e, const struct engine_options *o, unsigned int slot,
			  unsigned int attempt, const struct engine_cell *cell, uint64_t seed);

/*
 * Compares the runs of a set made with verify pair by pair: every snapshot and sample, their guest
 * times, the workload's result and the console, byte for byte. One line a pair to the progress.
 * *differing: how many pairs differ.
 */
int engine_verify(struct engine *e, size_t *differing, struct error *err);

#endif
