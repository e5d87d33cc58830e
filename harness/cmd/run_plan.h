/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_RUN_PLAN_H
#define MMRIG_RUN_PLAN_H
/* What the commands that boot a scenario have in common: their options, the plan, the kernels. */
#include "harness/cmd/opt.h"
#include "harness/engine/engine.h"

#define PLAN_KERNELS_MAX 16

struct plan_args {
	struct opt_list kernel, set; /* --kernel, --set */
	uint64_t memory;	     /* 0: the scenario's */
	const char *accel;	     /* "auto", "kvm", "tcg" */
	bool one_cpu;		     /* deterministic runs */
};

int plan_load(const char *scenario, const struct plan_args *a, struct scenario_plan *plan,
	      struct error *err);
/* Those asked for, else the plan's own. Fills kernel[PLAN_KERNELS_MAX]; *n are the caller's, also on error. */
int plan_kernels(const struct plan_args *a, const struct scenario_plan *plan,
		 struct progress *progress, struct kernel *kernel, size_t *n, struct error *err);
/* The part of the command that says what a single run is, without what differs from run to run. Heap. */
char *plan_reproduce(const char *scenario, const struct plan_args *a);
/*
 * Fetches the kernels of the plan, calls make() with them, and lets go of them and of the progress;
 * returns what it returns, or -1.
 */
int plan_make(const struct plan_args *a, const struct scenario_plan *plan, bool quiet,
	      int (*make)(void *arg, struct kernel *kernel, size_t n, struct progress *progress,
			  struct error *err),
	      void *arg, struct error *err);
enum vm_accel plan_accel(const struct plan_args *a);

#endif
