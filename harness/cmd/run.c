// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cmd/run_plan.h"
#include "results/compare_text.h"
#include "results/table.h"
#include "results/util/cleanup.h"

struct run_args {
	struct plan_args plan;
	uint64_t runs, seed;
	const char *resume, *qemu;
	uint64_t layouts, jobs;
	bool fork, deterministic, verify, allow_starved, json, quiet;
};

static const struct opt run_opts[] = {
	OPT_LIST("kernel", struct run_args, plan.kernel, "K",
		 "kernel to boot: a path, debian:VERSION, or a name of the cache or of the scenario's list"),
	OPT_U64("runs", struct run_args, runs, "N", 1, 10000, "repetitions of each cell"),
	OPT_LIST("set", struct run_args, plan.set, "KEY=VALUE",
		 "change a constant, an axis (KEY=A,B) or any key of the scenario"),
	OPT_BYTES("memory", struct run_args, plan.memory, "SIZE", PLAN_MEMORY_HELP),
	OPT_U64("seed", struct run_args, seed, "N", 0, INT64_MAX, "seed of the first repetition"),
	OPT_CHOICE("accel", struct run_args, plan.accel, "auto|kvm|tcg",
		   "accelerator; auto boots the kernel once to find out"),
	OPT_STRING("qemu", struct run_args, qemu, "PROGRAM", "QEMU to use instead of the one in PATH"),
	OPT_FLAG("fork", struct run_args, fork,
		 "build the layout once a cell, and fork every run from the laid-out VM"),
	OPT_U64("layouts", struct run_args, layouts, "M", 1, 1000, "with --fork: layouts a cell"),
	OPT_U64("jobs", struct run_args, jobs, "N", 1, 256,
		"VMs at once; without it, as many as have CPUs of their own"),
	OPT_FLAG("deterministic", struct run_args, deterministic,
		 "same kernel, QEMU, scenario and seed give the same bits; times are guest time"),
	OPT_FLAG("verify-determinism", struct run_args, verify,
		 "make every run twice and compare every snapshot byte for byte"),
	OPT_FLAG("allow-starved", struct run_args, allow_starved,
		 "keep runs during which the host was starved of CPUs (MMRIG_ALLOW_STARVED=1 too)"),
	OPT_STRING("resume", struct run_args, resume, "RUNSET", "go on with a run set that was interrupted"),
	OPT_FLAG("json", struct run_args, json, "print one JSON document and nothing else to stdout"),
	OPT_FLAG("quiet", struct run_args, quiet, "no progress"),
	OPT_END,
};

static char *command_of(int argc, char **argv)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, "mmrig run");
	for (int i = 0; i < argc; i++) {
		strbuf_adds(&sb, " ");
		strbuf_add_quoted(&sb, argv[i]);
	}
	return strbuf_steal(&sb);
}

/* One that was built goes by its name: its release says nothing of a patch. */
static void print_kernel(const struct run_kernel *k, const char *between)
{
	if (k->folder)
		printf("%s%s (%s)", between, k->name, k->release ? k->release : "?");
	else
		printf("%s%s", between, k->release ? k->release : k->name);
}

/* What the table below is of. */
static void print_head(const struct runset *set)
{
	const struct run_variant *v = set->nvariants ? &set->variant[0] : NULL;
	cleanup_free char *memory = v ? str_format_bytes(v->memory_bytes) : NULL;
	bool titled = set->title && *set->title;

	printf("%s%s%s\n", set->scenario, titled ? ": " : "", titled ? set->title : "");
	for (size_t i = 0; i < set->nkernels; i++)
		print_kernel(&set->kernel[i], i ? ", " : "kernel ");
	if (v)
		printf("; %s, %u CPU%s", memory, v->cpus, v->cpus == 1 ? "" : "s");
	if (set->nruns && set->run[0].accel)
		printf(", %s", set->run[0].accel);
	printf("; run set %s\n", set->id);
	for (size_t i = 0; i < set->nkernels; i++)
		if (set->kernel[i].folder && set->kernel[i].provenance)
			printf("%s: %s\n", set->kernel[i].name, set->kernel[i].provenance);
	printf("\n");
}

/* Where there are columns to lay against each other. */
static void print_changes(const struct frame *frame)
{
	const struct compare_options opt = { .stats = STATS_OPTIONS_DEFAULT };
	struct compare c;

	if (compare_make(frame, 1, &opt, &c, NULL) == 0) {
		cleanup_free char *changes = compare_changes(&c);

		printf("\n%s", changes);
		compare_free(&c);
	}
}

/* In the form of a post. Also of one column; what the samples are needed for may lack them. */
static void print_form(const struct frame *frame, const char *name)
{
	const struct compare_format *format = compare_format_find(name);
	const struct compare_options opt = {
		.alone = true, .stats = STATS_OPTIONS_DEFAULT,
		.quiet = format->metrics ? format->metrics() : NULL,
		.tested = format->tested ? format->tested() : NULL,
	};
	cleanup_free char *text = NULL;
	struct store *store = NULL;
	struct compare c;

	if (store_open(NULL, false, &store, NULL) < 0)
		return;
	if (compare_make(frame, 1, &opt, &c, NULL) == 0) {
		if (compare_text(format, &c, store, &text, NULL) == 0)
			printf("\n%s", text);
		compare_free(&c);
	}
	store_close(store);
}

static void print_result(struct runset *set, const char *form, bool json)
{
	cleanup_free char *first = json ? table_json(set) : table_runset(set);
	struct frame frame;

	if (!json)
		print_head(set);
	fputs(first, stdout);
	if (json)
		return;
	frame_from_set(set, &frame);
	print_changes(&frame);
	if (form)
		print_form(&frame, form);
	frame_free(&frame);
}

static enum exit_status status_of(const struct runset *set, bool interrupted)
{
	unsigned int counts[VERDICT_COUNT] = { 0 };

	for (size_t i = 0; i < set->nruns; i++)
		counts[set->run[i].verdict] += !runset_superseded(set, i);
	return interrupted ? EXIT_INTERRUPTED : verdict_exit_of_set(counts);
}

struct making {
	const char *scenario, *command;
	const struct run_args *a;
	const struct scenario_plan *plan;
};

static int make_set(void *arg, struct plan_kernels *pk, struct progress *progress, struct error *err)
{
	const struct making *m = arg;
	const struct run_args *a = m->a;
	const struct scenario_plan *plan = m->plan;
	const char *scenario = m->scenario, *command = m->command;
	cleanup_free char *reproduce = plan_reproduce("mmrig run", scenario, &a->plan);
	const struct engine_options o = {
		.qemu = a->qemu,
		.accel = plan_accel(&a->plan),
		.runs = (a->runs ? (unsigned int)a->runs : plan->runs) * (a->verify ? 2 : 1),
		.seed = a->seed,
		.fork = a->fork || a->layouts,
		.layouts = (unsigned int)a->layouts,
		.deterministic = a->deterministic,
		.verify = a->verify,
		.allow_starved = a->allow_starved,
		.jobs = (unsigned int)a->jobs,
		.resume = a->resume,
		.command = command,
		.reproduce = reproduce,
		.left_out = pk->left_out,
		.kept = pk->kept,
	};
	struct runset set = { 0 };
	bool interrupted = false;
	size_t differing = 0;
	int ret = engine_run(&o, plan, pk->kernel, pk->n, progress, &set, &interrupted, &differing,
			     err);
	enum exit_status status = status_of(&set, interrupted);
	cleanup_free char *id = set.id ? xstrdup(set.id) : NULL;

	progress_clear(progress);
	if (set.nruns)
		print_result(&set, plan->table_form, a->json);
	if (interrupted && id)
		fprintf(stderr, "mmrig: to go on: %s%s%s\n", command, a->resume ? "" : " --resume ",
			a->resume ? "" : id);
	runset_free(&set);
	if (ret == 0 && differing)
		return error_set(err, EXIT_NO_VERDICT, "%zu pairs of runs were not the same", differing);
	return ret < 0 ? ret : (int)status;
}

static int run_run(const struct command *self, int argc, char **argv, struct error *err)
{
	const char *starved = getenv("MMRIG_ALLOW_STARVED");
	struct run_args a = { .seed = 1, .plan.accel = "auto",
			      .allow_starved = starved && strcmp(starved, "1") == 0 };
	cleanup_free char *command = command_of(argc, argv);
	struct scenario_plan plan = { 0 };
	struct making m = { NULL, command, &a, &plan };
	int npos, ret;

	if (opt_parse(self, argc, argv, &a, &npos, 1, 1, err) < 0)
		return -1;
	a.plan.one_cpu = a.deterministic || a.verify;
	ret = plan_load(argv[0], &a.plan, &plan, err);
	if (ret == 0) {
		m.scenario = argv[0];
		ret = plan_make(&a.plan, &plan, a.quiet, make_set, &m, err);
		scenario_plan_free(&plan);
	}
	opt_list_free(&a.plan.kernel);
	opt_list_free(&a.plan.set);
	return ret;
}

const struct command command_run = {
	.name = "run",
	.args = "SCENARIO",
	.summary = "boot kernels, build the layout, run the workload, print the table",
	.text = "SCENARIO is a name of `mmrig list scenarios` or the path of a YAML file. Without "
		"--kernel the scenario's own kernels are taken; those that it says how to build are built first, "
		"as by `mmrig kernel build`, and what they were built of is kept with the runs. --kernel also takes "
		"a name of the scenario's list. Each cell (kernel x variant) is run so many "
		"times, interleaved; run k has the seed SEED + k. Ctrl-C ends the VM and keeps what has "
		"finished; a second one exits at once.",
	.opts = run_opts,
	.run = run_run,
};
