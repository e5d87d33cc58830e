// SPDX-License-Identifier: GPL-2.0-only
/* mmrig layout check: builds the layout of a scenario, and shows what stands. */
#include <string.h>

#include "harness/cmd/layout_show.h"
#include "harness/cmd/output.h"
#include "harness/cmd/run_plan.h"
#include "results/util/cleanup.h"

struct check_args {
	struct plan_args plan;
	uint64_t seed;
	const char *output;
	bool json, quiet;
};

static const struct opt check_opts[] = {
	OPT_LIST("kernel", struct check_args, plan.kernel, "K",
		 "kernel to boot: a path, debian:VERSION, or a name of the cache"),
	OPT_LIST("set", struct check_args, plan.set, "KEY=VALUE",
		 "change a constant, an axis (KEY=A,B) or any key, as in step=8"),
	OPT_BYTES("memory", struct check_args, plan.memory, "SIZE", PLAN_MEMORY_HELP),
	OPT_U64("seed", struct check_args, seed, "N", 0, INT64_MAX, "seed of the layout"),
	OPT_CHOICE("accel", struct check_args, plan.accel, "auto|kvm|tcg",
		   "accelerator; auto boots the kernel once to find out"),
	OPT_STRING_LETTER('o', "output", struct check_args, output, "FILE.svg",
			  "the map of pageblocks as a picture; of a second cell FILE-2.svg, and so on"),
	OPT_FLAG("json", struct check_args, json, "print one JSON document and nothing else to stdout"),
	OPT_FLAG("quiet", struct check_args, quiet, "no progress"),
	OPT_END,
};

static int need_steps(const struct scenario_plan *plan, struct error *err)
{
	for (size_t i = 0; i < plan->nvariants; i++)
		if (!job_next(&plan->variant[i].job, NULL, "step"))
			return error_set(err, EXIT_USAGE, "%s: has no layout to check; list its steps below layout:", plan->file);
	return 0;
}

/* Every picture that there can be, before a kernel is fetched and a guest booted. */
static int check_output(const struct check_args *a, const struct scenario_plan *plan, struct error *err)
{
	size_t nkernels = a->plan.kernel.n ? a->plan.kernel.n : plan->nkernels ? plan->nkernels : 1;
	int ret = 0;

	if (!a->output)
		return 0;
	if (strcmp(a->output, "-") == 0)
		return error_set(err, EXIT_USAGE, "--output -: the standard output is for the table; give the name of a file");
	for (size_t i = 0; ret == 0 && i < nkernels * plan->nvariants; i++) {
		cleanup_free char *path = layout_picture_path(a->output, i);

		ret = command_check_output(path, (const char *const *)plan->read, err);
		if (ret == 0)
			ret = command_check_output(path, a->plan.kernel.item, err);
	}
	return ret == 0 ? command_check_form(a->output, ".svg", "the picture is SVG", err) : ret;
}

struct building {
	const char *scenario;
	const struct check_args *a;
	const struct scenario_plan *plan;
};

static int build(void *arg, struct plan_kernels *pk, struct progress *progress, struct error *err)
{
	const struct building *b = arg;
	const struct check_args *a = b->a;
	const struct scenario_plan *plan = b->plan;
	const char *scenario = b->scenario;
	cleanup_free char *command = str_printf("mmrig layout check %s", scenario);
	cleanup_free char *reproduce = plan_reproduce("mmrig layout check", scenario, &a->plan);
	/* Times are of no interest here, so a busy host does no harm. */
	const struct engine_options o = { .accel = plan_accel(&a->plan), .runs = 1, .seed = a->seed,
					  .allow_starved = true, .command = command, .reproduce = reproduce,
					  .takes_no_runs = true, .left_out = pk->left_out, .kept = pk->kept };
	unsigned int counts[VERDICT_COUNT] = { 0 };
	struct runset set = { 0 };
	bool interrupted = false;
	size_t differing;
	int ret = engine_run(&o, plan, pk->kernel, pk->n, progress, &set, &interrupted, &differing, err);

	progress_clear(progress);
	for (size_t i = 0; i < set.nruns; i++)
		counts[set.run[i].verdict] += !runset_superseded(&set, i);
	if (ret == 0)
		ret = layout_show(&set, a->output, a->json, err);
	if (ret == 0)
		ret = interrupted ? EXIT_INTERRUPTED : (int)verdict_exit_of_set(counts);
	runset_free(&set);
	return ret;
}

static int check_run(const struct command *self, int argc, char **argv, struct error *err)
{
	struct check_args a = { .seed = 1, .plan.accel = "auto", .plan.layout_only = true };
	struct scenario_plan plan = { 0 };
	struct building b = { NULL, &a, &plan };
	int npos, ret = opt_parse(self, argc, argv, &a, &npos, 1, 1, err);

	if (ret == 0)
		ret = plan_load(argv[0], &a.plan, &plan, err);
	if (ret == 0)
		ret = need_steps(&plan, err);
	if (ret == 0)
		ret = check_output(&a, &plan, err);
	b.scenario = argv[0];
	if (ret == 0)
		ret = plan_make(&a.plan, &plan, a.quiet, build, &b, err);
	scenario_plan_free(&plan);
	opt_list_free(&a.plan.kernel);
	opt_list_free(&a.plan.set);
	return ret;
}

const struct command command_layout_check = {
	.name = "check",
	.args = "SCENARIO|LAYOUT",
	.summary = "build the layout in a guest, and show asked, got and the map of pageblocks",
	.text = "Takes a scenario by its name or the path of a YAML file, which need have nothing but layout:, or"
		" a layout of mmrig list layouts by its name, with its constants as they stand unless --set"
		" changes them. The workload is not run.\n"
		"\n"
		"Every step reads the kernel's own books again (pagemap, kpageflags, zoneinfo) and reports asked"
		" versus got, the error, and the tolerance by which it was judged: that of the scenario, or 2%"
		" (shape: its own tolerance, else the scenario's, else 5%). Below stands the map of all"
		" pageblocks, a letter a pageblock. A layout that is off by more gives the exit status 4; the"
		" steps behind are shown as not reached, and the map, and the picture that says so, are of where"
		" it stopped. The run is kept like any other.\n"
		"\n"
		"    mmrig layout check sparse --set step=8 --kernel debian:7.3 -o sparse.svg\n",
	.opts = check_opts,
	.run = check_run,
};
