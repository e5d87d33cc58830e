/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_PLAN_KERNELS_H
#define MMRIG_PLAN_KERNELS_H
/* The kernels of a plan, found, fetched or built; and which of its cells are run. */
#include "harness/cmd/opt.h"
#include "harness/engine/progress.h"
#include "harness/kernel/kernel.h"
#include "harness/scenario/scenario.h"
#include "results/run.h"

#define PLAN_KERNELS_MAX SCENARIO_KERNELS_MAX

struct plan_kernels {
	struct kernel kernel[PLAN_KERNELS_MAX];
	struct run_kernel kept[PLAN_KERNELS_MAX]; /* only the files that the run set is to keep */
	size_t n;
	bool *left_out; /* [kernel * nvariants + variant] */
};

/*
 * Those that `given` (--kernel) names, each of which may be the name of one of the plan's; without any,
 * the plan's own; without these, a kernel of Debian's. One of which no cell is run is left out, and
 * nothing is built before all that can be judged without building was. plan_kernels_free() also after
 * an error.
 */
int plan_kernels_get(const struct opt_list *given, const struct scenario_plan *plan,
		     struct progress *progress, struct plan_kernels *pk, struct error *err);
void plan_kernels_free(struct plan_kernels *pk);

#endif
