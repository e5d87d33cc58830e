/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_RUN_PLAN_H
#define MMRIG_RUN_PLAN_H
/* What the commands that boot a scenario have in common: their options, the plan, the kernels. */
#include "harness/cmd/opt.h"
#include "harness/cmd/plan_kernels.h"
#include "harness/engine/engine.h"

struct plan_args {
	struct opt_list kernel, set; /* --kernel, --set */
	uint64_t memory;	     /* 0: the scenario's */
	const char *accel;	     /* "auto", "kvm", "tcg" */
	bool one_cpu;		     /* deterministic runs */
	bool layout_only;	     /* a scenario without workload will do */
};

int plan_load(const char *scenario, const struct plan_args *a, struct scenario_plan *plan,
	      struct error *err);
/* The part of the command that says what a single run is, without what differs from run to run. Heap. */
char *plan_reproduce(const char *scenario, const struct plan_args *a);
/*
 * Gets the kernels of the plan, calls make() with them, and lets go of them and of the progress;
 * returns what it returns, or -1.
 */
int plan_make(const struct plan_args *a, const struct scenario_plan *plan, bool quiet,
	      int (*make)(void *arg, struct plan_kernels *pk, struct progress *progress,
			  struct error *err),
	      void *arg, struct error *err);
enum vm_accel plan_accel(const struct plan_args *a);

#endif
