// SPDX-License-Identifier: GPL-2.0-only
#include "harness/cmd/run_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/util/cleanup.h"

int plan_load(const char *name, const struct plan_args *a, struct scenario_plan *plan,
	      struct error *err)
{
	struct scenario *s;
	int ret = 0;

	if ((a->layout_only ? scenario_load_layout(name, &s, err) : scenario_load(name, &s, err)) < 0)
		return -1;
	for (size_t i = 0; ret == 0 && i < a->set.n; i++)
		ret = scenario_set(s, a->set.item[i], err);
	/*
	 * One vCPU: with two, QEMU 7.2's main loop and its vCPU thread race for expired timers, and the
	 * order of the vCPUs depends on who wins. 9 of 10 pairs of runs were the same, which is not all.
	 */
	if (ret == 0 && a->one_cpu) {
		ret = scenario_set(s, "vm.cpus=1", err);
		if (ret < 0)
			error_wrap(err, "--deterministic takes one CPU");
	}
	if (ret == 0)
		ret = scenario_expand(s, a->memory, plan, err);
	scenario_free(s);
	if (ret == 0 && a->one_cpu && plan->profile) {
		scenario_plan_free(plan);
		return error_set(err, EXIT_USAGE,
				 "profile asks the guest's CPUs where they are, which --deterministic"
				 " forbids; --set profile=false");
	}
	return ret;
}

char *plan_reproduce(const char *command, const char *scenario, const struct plan_args *a)
{
	/* A path, so that the line is good in any folder; a name is no path. */
	cleanup_free char *path = strchr(scenario, '/') || str_ends(scenario, ".yaml") ||
					  str_ends(scenario, ".yml") ? realpath(scenario, NULL) : NULL;
	struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "%s ", command);
	strbuf_add_quoted(&sb, path ? path : scenario);
	if (a->memory) {
		cleanup_free char *size = str_format_bytes(a->memory);

		strbuf_addf(&sb, " --memory %s", size);
	}
	if (strcmp(a->accel, "auto") != 0)
		strbuf_addf(&sb, " --accel %s", a->accel);
	for (size_t i = 0; i < a->set.n; i++) {
		strbuf_adds(&sb, " --set ");
		strbuf_add_quoted(&sb, a->set.item[i]);
	}
	return strbuf_steal(&sb);
}

enum vm_accel plan_accel(const struct plan_args *a)
{
	return strcmp(a->accel, "kvm") == 0 ? VM_ACCEL_KVM :
	       strcmp(a->accel, "tcg") == 0 ? VM_ACCEL_TCG :
					  VM_ACCEL_AUTO;
}

int plan_make(const struct plan_args *a, const struct scenario_plan *plan, bool quiet,
	      int (*make)(void *arg, struct plan_kernels *pk, struct progress *progress,
			  struct error *err),
	      void *arg, struct error *err)
{
	const struct progress_config pc = { .out = stderr, .is_tty = isatty(STDERR_FILENO) };
	struct progress *progress = quiet ? NULL : progress_new(&pc);
	struct plan_kernels pk = { 0 };
	int ret = engine_check_memory(plan, err); /* before minutes are spent on fetching a kernel */

	if (ret == 0)
		ret = plan_kernels_get(&a->kernel, plan, progress, &pk, err);
	if (ret == 0)
		ret = make(arg, &pk, progress, err);
	progress_finish(progress);
	plan_kernels_free(&pk);
	return ret;
}
