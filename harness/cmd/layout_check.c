// SPDX-License-Identifier: GPL-2.0-only
/* mmrig layout check: builds the layout of a scenario, and shows what stands. */
#include <stdio.h>
#include <string.h>

#include "harness/cmd/run_plan.h"
#include "results/layout_table.h"
#include "results/pageblocks_map.h"
#include "results/run_text.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

struct check_args {
	struct plan_args plan;
	uint64_t seed;
	const char *output;
	bool quiet;
};

static const struct opt check_opts[] = {
	OPT_LIST("kernel", struct check_args, plan.kernel, "K",
		 "kernel to boot: a path, debian:VERSION, or a name of the cache"),
	OPT_LIST("set", struct check_args, plan.set, "KEY=VALUE",
		 "change a constant, an axis (KEY=A,B) or any key of the scenario"),
	OPT_BYTES("memory", struct check_args, plan.memory, "SIZE", "memory of the guest, as in 8G"),
	OPT_U64("seed", struct check_args, seed, "N", 0, INT64_MAX, "seed of the layout"),
	OPT_CHOICE("accel", struct check_args, plan.accel, "auto|kvm|tcg",
		   "accelerator; auto boots the kernel once to find out"),
	OPT_STRING_LETTER('o', "output", struct check_args, output, "FILE.svg",
			  "the map of pageblocks as a picture; of a second cell FILE-2.svg, and so on"),
	OPT_FLAG("quiet", struct check_args, quiet, "no progress"),
	OPT_END,
};

/* The map that was taken when the layout stood. */
static int take_map(void *arg, const struct wire_sample *sample)
{
	if (sample->phase <= PHASE_LAYOUT && strcmp(sample->name, "pageblocks") == 0)
		pageblocks_add(arg, sample->data, sample->len);
	return sample->phase > PHASE_LAYOUT;
}

/* "map.svg", then "map-2.svg". */
static char *picture_path(const char *path, size_t cell)
{
	size_t stem = strlen(path) - (str_ends(path, ".svg") ? strlen(".svg") : 0);

	return cell ? str_printf("%.*s-%zu.svg", (int)stem, path, cell + 1) : xstrdup(path);
}

static void print_run(const struct runset *set, const struct run *r, const char *label,
		      const struct pageblocks *map)
{
	cleanup_free char *table = layout_table(r), *picture = pageblocks_text(map);
	cleanup_free char *why = r->why ? run_text_printable(r->why) : NULL;

	printf("%s: %s%s%s\n\n%s\n%s\n", label, verdict_name(r->verdict), why ? ": " : "", why ? why : "",
	       table, picture);
}

static int show_run(struct store *s, const struct runset *set, size_t i, const char *output,
		    struct error *err)
{
	const struct run *r = &set->run[i];
	cleanup_free char *variant = run_text_printable(set->variant[r->variant].label);
	cleanup_free char *label = str_printf("%s, %s%s%s", set->scenario, set->kernel[r->kernel].name,
					      *variant ? ", " : "", variant);
	cleanup_free char *picture = NULL, *path = NULL;
	struct pageblocks map = { 0 };
	int ret = store_each_sample(s, set->id, r->id, take_map, &map, err);

	if (ret >= 0) {
		print_run(set, r, label, &map);
		ret = 0;
	}
	if (ret == 0 && output) {
		picture = pageblocks_svg(&map, label);
		path = picture_path(output, i);
		ret = file_write_atomic(path, picture, strlen(picture), 0644, err);
	}
	pageblocks_free(&map);
	return ret;
}

static int show(const struct runset *set, const char *output, struct error *err)
{
	struct store *s;
	int ret = store_open(NULL, false, &s, err);

	if (ret < 0)
		return -1;
	for (size_t i = 0; ret == 0 && i < set->nruns; i++)
		ret = show_run(s, set, i, output, err);
	store_close(s);
	return ret;
}

/* The layout alone: no workload, and so nothing that the workload must move. */
static int drop_workload(struct scenario_plan *plan, struct error *err)
{
	for (size_t i = 0; i < plan->nvariants; i++) {
		if (!job_next(&plan->variant[i].job, NULL, "step"))
			return error_set(err, EXIT_USAGE, "%s: has no layout to check", plan->name);
		job_remove(&plan->variant[i].job, "workload");
		job_remove(&plan->variant[i].job, "moves");
	}
	for (char **m = plan->moves; m && *m; m++) {
		free(*m);
		*m = NULL;
	}
	return 0;
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
	cleanup_free char *reproduce = plan_reproduce(scenario, &a->plan);
	/* Times are of no interest here, so a busy host does no harm. */
	const struct engine_options o = { .accel = plan_accel(&a->plan), .runs = 1, .seed = a->seed,
					  .allow_starved = true, .command = command, .reproduce = reproduce,
					  .left_out = pk->left_out, .kept = pk->kept };
	unsigned int counts[VERDICT_COUNT] = { 0 };
	struct runset set = { 0 };
	bool interrupted = false;
	size_t differing;
	int ret = engine_run(&o, plan, pk->kernel, pk->n, progress, &set, &interrupted, &differing, err);

	progress_clear(progress);
	for (size_t i = 0; i < set.nruns; i++)
		counts[set.run[i].verdict]++;
	if (ret == 0)
		ret = show(&set, a->output, err);
	if (ret == 0)
		ret = interrupted ? EXIT_INTERRUPTED : (int)verdict_exit_of_set(counts);
	runset_free(&set);
	return ret;
}

static int check_run(const struct command *self, int argc, char **argv, struct error *err)
{
	struct check_args a = { .seed = 1, .plan = { .accel = "auto", .layout_only = true } };
	struct scenario_plan plan = { 0 };
	struct building b = { NULL, &a, &plan };
	int npos, ret = opt_parse(self, argc, argv, &a, &npos, 1, 1, err);

	if (ret == 0)
		ret = plan_load(argv[0], &a.plan, &plan, err);
	if (ret == 0)
		ret = drop_workload(&plan, err);
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
	.args = "SCENARIO",
	.summary = "build the layout in a guest, and show asked, got and the map of pageblocks",
	.text = "Every step reads the kernel's own books again (pagemap, kpageflags, zoneinfo) and reports"
		" asked versus got. Below stands the map of all pageblocks, a letter a pageblock. The"
		" workload is not run, and need not be there. A layout that is off by more than the scenario's"
		" tolerance gives the exit status 4. The run is kept like any other.",
	.opts = check_opts,
	.run = check_run,
};
