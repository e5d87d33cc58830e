// SPDX-License-Identifier: GPL-2.0-only
/* Against a registry of the test's own, so that it says what it means and does not move. */
#include "harness/scenario/scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

static const char *const kinds[] = { "anon", "file", NULL };
static const char *const places[] = { "first", "last", "random", NULL };
static const struct param_spec fill_params[] = {
	{ "kind", PARAM_CHOICE, NULL, "what with", 0, 0, "anon", kinds },
	{ "leave", PARAM_AMOUNT, NULL, "free memory to leave", 0, 0, NULL, NULL },
	{ "batch", PARAM_BYTES, NULL, "at a time", 4096, 1 << 30, "2M", NULL },
	{ "quick", PARAM_BOOL, NULL, "no checks", 0, 0, "false", NULL },
};
static const struct param_spec pin_params[] = {
	{ "at", PARAM_CHOICE, NULL, "which page", 0, 0, "first", places },
	{ "where", PARAM_PREDICATE, NULL, "pages", 0, 0, "", NULL },
};
static const struct param_spec free_params[] = {
	{ "where", PARAM_PREDICATE, NULL, "pages", 0, 0, NULL, NULL },
};
static const struct param_spec files_params[] = {
	{ "files", PARAM_NUMBER, "files", "how many files", 1, 1000000000, NULL, NULL },
	{ "per_dir", PARAM_NUMBER, "files", "files in a folder", 1, 0, "1000", NULL },
};
static const char *const page_needs[] = { "file:/proc/kpageflags", NULL };
static const char *const files_needs[] = { "fs:ext4", "fs:tmpfs", "file:/proc/kpageflags", NULL };
static const char *const files_moves[] = { "pgalloc", NULL };
static const struct layout_step fill = {
	.name = "fill", .params = fill_params, .nparams = 4, .needs = page_needs
};
static const struct layout_step pin = { .name = "pin", .params = pin_params, .nparams = 2 };
static const struct layout_step free_step = { .name = "free", .params = free_params, .nparams = 1 };
static const struct layout_step *const steps[] = { &fill, &pin, &free_step };
static const struct workload files = { .name = "tmpfs-files",
				       .params = files_params,
				       .nparams = 2,
				       .needs = files_needs,
				       .moves = files_moves };
extern const struct workload workload_fio, workload_stress_ng;
static const struct workload *const workloads[] = { &files, &workload_fio, &workload_stress_ng };

static bool metric_known(const char *name)
{
	return strcmp(name, "allocstall") == 0 || strcmp(name, "time") == 0;
}

static const char *metric_nearest(const char *name)
{
	return strncmp(name, "alloc", 5) == 0 ? "allocstall" : NULL;
}

static const struct scenario_tables tables = {
	steps, 3, workloads, 3, metric_known, metric_nearest
};

static int parse(const char *text, struct scenario **s, struct error *err)
{
	*s = NULL;
	return scenario_parse_with(&tables, "f.yaml", text, strlen(text), s, err);
}

static void expand(const char *text, const char *const *sets, struct scenario_plan *plan)
{
	struct error err = ERROR_INIT;
	struct scenario *s;

	if (parse(text, &s, &err) < 0)
		fail_msg("%s", err.text);
	for (; sets && *sets; sets++)
		if (scenario_set(s, *sets, &err) < 0)
			fail_msg("%s", err.text);
	if (scenario_expand(s, 0, plan, &err) < 0)
		fail_msg("%s", err.text);
	scenario_free(s);
}

static const char alias[] =
	"name: alias\n"
	"title: one page in eight\n"
	"kernel: debian:7.3\n"
	"vm: {memory: 8G, cpus: 2}\n"
	"constants: {files: \"memory * 1000000 / base\", base: 32G, step: 8}\n"
	"vary: {residue: [0, step / 2]}\n"
	"layout:\n"
	"  - fill: {kind: anon, leave: {blocks: files / 2000}}\n"
	"  - pin:\n"
	"  - free: {where: \"pfn % step == residue\"}\n"
	"tolerance: 1.5%\n"
	"sysctl:\n"
	"  boot: {vm.x: residue + 1, kernel.core_pattern: core}\n"
	"  workload: {vm.defrag_mode: 1}\n"
	"workload:\n"
	"  tmpfs-files: {files: files}\n"
	"needs: [fs:btrfs]\n"
	"runs: 3\n"
	"table: {style: seed, rows: free pages at, label: \"pfn % {step} == {residue}\", columns: [time]}\n"
	"metrics: [allocstall, time]\n"
	"limits: {boot: 1.5m, workload: 90}\n";

static void test_expand(void **state)
{
	static const char job4[] =
		"const name=memory value=8589934592\n"
		"const name=cpus value=2\n"
		"const name=base value=34359738368\n"
		"const name=step value=8\n"
		"const name=residue value=4\n"
		"const name=files value=250000\n"
		"need what=fs:btrfs\n"
		"need what=sysctl:vm.x\n"
		"need what=sysctl:kernel.core_pattern\n"
		"need what=sysctl:vm.defrag_mode\n"
		"need what=file:/proc/kpageflags\n"
		"need what=fs:ext4\n"
		"need what=fs:tmpfs\n"
		"sysctl at=boot key=vm.x value=5\n"
		"sysctl at=boot key=kernel.core_pattern value=core\n"
		"sysctl at=workload key=vm.defrag_mode value=1\n"
		"step do=fill kind=anon leave_unit=blocks leave=125 batch=2097152 quick=0\n"
		"step do=pin at=first\n"
		"step do=free where=\"pfn % step == residue\"\n"
		"moves counter=pgalloc\n"
		"workload do=tmpfs-files files=250000 per_dir=1000\n"
		"option name=sample_ms value=100\n"
		"option name=tolerance_ppm value=15000\n";
	struct scenario_plan plan;
	char *job;

	expand(alias, NULL, &plan);
	assert_string_equal(plan.name, "alias");
	assert_int_equal(plan.nkernels, 1);
	assert_string_equal(plan.kernel[0].spec, "debian:7.3");
	assert_string_equal(plan.file, "f.yaml");
	assert_string_equal(plan.row_title, "free pages at");
	assert_string_equal(plan.table_style, "seed");
	assert_int_equal(plan.runs, 3);
	assert_int_equal(plan.nvariants, 2);
	assert_true(plan.limits.boot == 90 && plan.limits.workload == 90 &&
		    plan.limits.layout == 600);
	assert_string_equal(plan.metric[0], "time");
	assert_string_equal(plan.metric[1], "allocstall");
	assert_null(plan.metric[2]);
	assert_string_equal(plan.modules[2], "btrfs");
	assert_string_equal(plan.modules[3], "ext4");
	assert_null(plan.modules[4]);
	assert_string_equal(plan.moves[0], "pgalloc");
	assert_string_equal(plan.variant[0].label, "pfn % 8 == 0");
	assert_string_equal(plan.variant[1].label, "pfn % 8 == 4");
	assert_int_equal(plan.variant[1].memory_bytes, 8589934592);
	assert_int_equal(plan.variant[1].cpus, 2);
	assert_int_equal(plan.variant[1].nvalues, 1);
	assert_string_equal(plan.variant[1].value[0].name, "residue");
	assert_string_equal(plan.variant[1].value[0].text, "step / 2");
	assert_int_equal(plan.variant[1].value[0].number, 4);
	job = job_format(&plan.variant[1].job);
	assert_string_equal(job, job4);
	free(job);
	scenario_plan_free(&plan);
}

#define MINIMAL "name: m\nworkload: {tmpfs-files: {files: 7}}\n"

/* Both workloads in one job, with one image and one disk. */
static void test_background(void **state)
{
	struct scenario_plan plan;
	const struct job_line *line;

	expand("name: m\nworkload: {fio: {args: --name=a, scratch: 64M}}\n"
	       "background: {workload: {stress-ng: {args: --vm 1, scratch: 32M}}, warm_up: 1.5s}\n", NULL, &plan);
	line = job_next(&plan.variant[0].job, NULL, "background");
	assert_non_null(line);
	assert_string_equal(job_get(line, "do"), "stress-ng");
	assert_string_equal(job_get(line, "args"), "--vm 1");
	assert_string_equal(job_get(line, "warm_up_ms"), "1500");
	assert_int_equal(plan.variant[0].scratch_bytes, 96 << 20);
	assert_string_equal(plan.toolbox->packages[0], "fio");
	assert_string_equal(plan.toolbox->packages[1], "stress-ng");
	assert_null(plan.toolbox->packages[2]);
	scenario_plan_free(&plan);

	/* What has no programs gets those of what is beside it. */
	expand(MINIMAL "background: {workload: {stress-ng: {args: --vm 1}}}\n", NULL, &plan);
	assert_string_equal(plan.toolbox->packages[0], "stress-ng");
	assert_non_null(job_next(&plan.variant[0].job, NULL, "toolbox"));
	assert_string_equal(job_get(job_next(&plan.variant[0].job, NULL, "background"), "warm_up_ms"), "0");
	scenario_plan_free(&plan);
}

static void test_table_form(void **state)
{
	struct scenario_plan plan;

	expand(MINIMAL "table: {form: defrag}\n", NULL, &plan);
	assert_string_equal(plan.table_style, "plain");
	assert_string_equal(plan.table_form, "defrag");
	scenario_plan_free(&plan);
}

static void test_minimal(void **state)
{
	struct scenario_plan plan;

	expand(MINIMAL, NULL, &plan);
	assert_int_equal(plan.nkernels, 0);
	assert_string_equal(plan.title, "");
	assert_string_equal(plan.table_style, "plain");
	assert_null(plan.table_form);
	assert_int_equal(plan.nvariants, 1);
	assert_string_equal(plan.variant[0].label, "");
	assert_int_equal(plan.variant[0].memory_bytes, 2147483648);
	assert_null(plan.metric[0]);
	assert_int_equal(plan.runs, 5);
	scenario_plan_free(&plan);
}

/* The last axis moves fastest; texts of an axis stand for choices and predicates. */
static void test_matrix(void **state)
{
	static const char text[] = "name: m\n"
				   "vm: {memory: size, cpus: \"1 + (at_once > 1)\"}\n"
				   "constants: {at_once: 3}\n"
				   "vary:\n"
				   "  size: [1G, 512M]\n"
				   "  place: [last, random]\n"
				   "  which: ['pfn % 8 == 0', \"rand < 25% && block in 1..9\"]\n"
				   "layout:\n"
				   "  - fill: {leave: 5%}\n"
				   "  - pin: {at: place, where: which}\n"
				   "workload: {tmpfs-files: {files: memory / 1M}}\n";
	static const char *const labels[] = {
		"size=1G, place=last, which=pfn % 8 == 0",
		"size=1G, place=last, which=rand < 25% && block in 1..9",
		"size=1G, place=random, which=pfn % 8 == 0",
		"size=1G, place=random, which=rand < 25% && block in 1..9",
		"size=512M, place=last, which=pfn % 8 == 0",
	};
	const struct job_line *line;
	struct scenario_plan plan;

	expand(text, NULL, &plan);
	assert_int_equal(plan.nvariants, 8);
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(plan.variant[i].label, labels[i]);
	assert_int_equal(plan.variant[3].memory_bytes, 1 << 30);
	assert_int_equal(plan.variant[4].memory_bytes, 512 << 20);
	assert_int_equal(plan.variant[4].cpus, 2);
	line = job_next(&plan.variant[7].job, NULL, "workload");
	assert_string_equal(job_get(line, "files"), "512");
	line = job_next(&plan.variant[7].job, NULL, "step");
	assert_string_equal(job_get(line, "leave_unit"), "percent");
	assert_string_equal(job_get(line, "leave"), "5");
	line = job_next(&plan.variant[7].job, line, "step");
	assert_string_equal(job_get(line, "at"), "random");
	assert_string_equal(job_get(line, "where"), "rand < 25% && block in 1..9");
	assert_int_equal(plan.variant[7].value[1].is_number, 0);
	scenario_plan_free(&plan);
}

/* plan.text says the same again, also with what is awkward in YAML. */
static void test_canonical(void **state)
{
	static const char *const sets[] = { "residue=1,3,min(5,step)",
					    "title=a: b # \"c\" 'd' \xc3\xa9", "layout.0.leave=64M",
					    NULL };
	struct scenario_plan plan, again;

	expand(alias, sets, &plan);
	expand(plan.text, NULL, &again);
	assert_string_equal(plan.text, again.text);
	assert_string_equal(again.title, "a: b # \"c\" 'd' \xc3\xa9");
	assert_int_equal(again.nvariants, 3);
	for (size_t i = 0; i < 3; i++) {
		char *a = job_format(&plan.variant[i].job), *b = job_format(&again.variant[i].job);

		assert_string_equal(a, b);
		assert_string_equal(plan.variant[i].label, again.variant[i].label);
		free(a);
		free(b);
	}
	assert_string_equal(plan.variant[2].label, "pfn % 8 == 5");
	scenario_plan_free(&plan);
	scenario_plan_free(&again);
}

static const char *job_value(const struct scenario_plan *p, const char *word, size_t nth,
			     const char *key)
{
	const struct job_line *line = job_next(&p->variant[0].job, NULL, word);

	while (line && nth--)
		line = job_next(&p->variant[0].job, line, word);
	return line ? job_get(line, key) : NULL;
}

static void test_set(void **state)
{
	static const char *const sets[] = { "memory=4G",
					    "cpus=4",
					    "step=16",
					    "residue=4",
					    "runs=9",
					    "layout.0.leave.high=3",
					    "layout.1.at=last",
					    "workload.files=11",
					    "workload.tmpfs-files.per_dir=5",
					    "sysctl.workload.vm.defrag_mode=0",
					    "sysctl.boot.vm.min_free_kbytes=step * 2",
					    "metrics=time",
					    "limits.settle=2s",
					    "tolerance=4%",
					    "kernel=x",
					    "sample_ms=0",
					    NULL };
	struct scenario_plan p;

	expand(alias, sets, &p);
	assert_int_equal(p.nvariants, 1);
	assert_int_equal(p.variant[0].memory_bytes, 4294967296);
	assert_int_equal(p.variant[0].cpus, 4);
	assert_string_equal(p.variant[0].label, "pfn % 16 == 4");
	assert_int_equal(p.runs, 9);
	assert_string_equal(job_value(&p, "step", 0, "leave_unit"), "high");
	assert_string_equal(job_value(&p, "step", 0, "leave"), "3");
	assert_string_equal(job_value(&p, "step", 1, "at"), "last");
	assert_string_equal(job_value(&p, "workload", 0, "files"), "11");
	assert_string_equal(job_value(&p, "workload", 0, "per_dir"), "5");
	assert_string_equal(job_value(&p, "sysctl", 2, "key"), "vm.min_free_kbytes");
	assert_string_equal(job_value(&p, "sysctl", 2, "value"), "32");
	assert_string_equal(job_value(&p, "sysctl", 3, "value"), "0");
	assert_string_equal(job_value(&p, "option", 0, "value"), "0");
	assert_string_equal(job_value(&p, "option", 1, "value"), "40000");
	assert_true(p.limits.settle == 2);
	assert_string_equal(p.kernel[0].spec, "x");
	scenario_plan_free(&p);
}

/* A constant becomes an axis by a list; groups that the file lacks are made. */
static void test_set_more(void **state)
{
	static const char *const sets[] = { "n=1,2", "vm.memory=1G", "table.style=seed",
					    "sysctl.workload.vm.x=n", NULL };
	struct scenario_plan p;

	expand("name: m\nconstants: {n: 5}\nworkload: {tmpfs-files: {files: n}}\n", sets, &p);
	assert_int_equal(p.nvariants, 2);
	assert_string_equal(p.variant[1].label, "n=2");
	assert_int_equal(p.variant[1].memory_bytes, 1 << 30);
	assert_string_equal(p.table_style, "seed");
	assert_string_equal(job_value(&p, "sysctl", 0, "value"), "1");
	scenario_plan_free(&p);
}

static void test_set_bad(void **state)
{
	static const char *const t[][2] = {
		{ "residu=4", "--set residu=4:1:1: unknown key \"residu\"; did you mean residue?" },
		{ "zzzzzzz=4",
		  "--set zzzzzzz=4:1:1: unknown key \"zzzzzzz\"; known are: files, base, step, "
		  "residue, memory, cpus, name" },
		{ "vm.memroy=4G",
		  "--set vm.memroy=4G:1:4: unknown key of vm \"memroy\"; did you mean memory?" },
		{ "layout.9.leave=1", "--set layout.9.leave=1:1:8: which step of the layout?" },
		{ "layout.x=1", "--set layout.x=1:1:8: which step" },
		{ "layout.0.leav=1",
		  ":1:10: unknown parameter of fill \"leav\"; did you mean leave?" },
		{ "workload.fils=1",
		  ":1:10: unknown parameter of tmpfs-files \"fils\"; did you mean files?" },
		{ "workload=1", "names a whole group" },
		{ "layout.0=1", "names nothing that can be set" },
		{ "vm=1", "names a whole group" },
		{ "runs=0", "--set runs=0:1:6: runs must be a whole number from 1 to 10000" },
		{ "runs", "write it as KEY=VALUE" },
		{ "=3", "write it as KEY=VALUE" },
		{ "runs=", "write it as KEY=VALUE" },
		{ "residue=4,4", "--set residue=4,4:1:11: 4 is listed twice" },
		{ "residue=4,", ":1:11: residue must be text, not empty" },
		{ "sysctl.workload.../x=1", "is not the name of a sysctl" },
		{ "metrics=allocstal",
		  ":1:9: unknown metric \"allocstal\"; did you mean allocstall?" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct error err = ERROR_INIT;
		struct scenario_plan plan;
		struct scenario *s;

		assert_int_equal(parse(alias, &s, &err), 0);
		if (scenario_set(s, t[i][0], &err) == 0)
			fail_msg("%s: taken", t[i][0]);
		if (!strstr(err.text, t[i][1]))
			fail_msg("%s: %s", t[i][0], err.text);
		assert_int_equal(err.status, EXIT_USAGE);
		error_clear(&err);
		/* the scenario is as before */
		assert_int_equal(scenario_expand(s, 0, &plan, &err), 0);
		assert_int_equal(plan.nvariants, 2);
		scenario_plan_free(&plan);
		scenario_free(s);
	}
}

/* Bad values of --set that only come out when it is expanded. */
static void test_set_bad_value(void **state)
{
	struct error err = ERROR_INIT;
	struct scenario_plan plan;
	struct scenario *s;

	assert_int_equal(parse(alias, &s, &err), 0);
	assert_int_equal(scenario_set(s, "step=4 +* 2", &err), 0);
	assert_int_equal(scenario_expand(s, 0, &plan, &err), -1);
	assert_string_equal(err.text, "--set step=4 +* 2:1:9: expected a value, found \"*\"");
	error_clear(&err);
	scenario_free(s);
}

struct bad {
	const char *text, *want;
};

/* The whole of the text, or behind a first line that is good. */
static const struct bad bad_documents[] = {
	{ "", "f.yaml:1:1: is empty" },
	{ "# only this\n", "f.yaml:1:1: is empty" },
	{ "- a\n", "f.yaml:1:1: a scenario is a map" },
	{ "word", "f.yaml:1:1: a scenario is a map" },
	{ "workload: {tmpfs-files: {files: 7}}\n", "f.yaml:1:1: name: is missing" },
	{ "name: m\n",
	  "f.yaml:1:1: workload: is missing; write one, as in workload: {tmpfs-files: {files: 1000}}" },
	{ "name: m\nlayout: [fill: {leave: 1G}]\n",
	  "{files: 1000}}; `mmrig layout check f.yaml` builds the layout alone" },
	{ "name: m\n\tvm: {}\n", "f.yaml:2:1: not valid YAML: found a tab character" },
	{ "name: [m\n", "f.yaml:2:1: not valid YAML: did not find expected ',' or ']'" },
	{ "name: \"m\n", "f.yaml:2:1: not valid YAML: found unexpected end of stream" },
	{ "name: m\nvm: {memory: *size}\n", "f.yaml:2:14: not valid YAML: found undefined alias" },
	{ "name: m\ntitle: \xc3\xa9\xff\n", "f.yaml:2:9: invalid leading UTF-8 octet" },
	{ "name: m\x01\n", "f.yaml:1:8: control characters are not allowed" },
	{ "? [a]\n: b\n", "f.yaml:1:3: a key must be a word, not a list" },
	{ MINIMAL "---\nname: n\n", "f.yaml:4:1: a second document" },
	{ MINIMAL "---\n[\n", "f.yaml:5:1: not valid YAML" },
	{ "name: !!int 4\n", "f.yaml:1:7: YAML tags are not used here" },
	{ "name: \"a\\0b\"\n", "f.yaml:1:7: a NUL character" },
	{ "name: &a [*a]\n", "nested too deeply" },
};

static const struct bad bad_forms[] = {
	/* behind MINIMAL: they begin in line 3 */
	{ "vmm: {}\n", "f.yaml:3:1: unknown key \"vmm\"; did you mean vm?" },
	{ "frobnicate: 1\n", "f.yaml:3:1: unknown key \"frobnicate\"; known are: name, title" },
	{ "name: n\n", "f.yaml:3:1: \"name\" is written twice; the first is in line 1" },
	{ "vm: {memory: 2G, memory: 3G}\n", "f.yaml:3:18: \"memory\" is written twice" },
	{ "vm: 3\n", "f.yaml:3:5: vm must be a map such as {memory: 2G, cpus: 2}, not text" },
	{ "vm:\n", "vm must be a map such as {memory: 2G, cpus: 2}, not nothing" },
	{ "vm: {memroy: 2G}\n", "f.yaml:3:6: unknown key of vm \"memroy\"; did you mean memory?" },
	{ "vm: {memory: [2G]}\n", "f.yaml:3:14: memory must be text, not a list" },
	{ "constants: [a]\n", "f.yaml:3:12: constants must be a map" },
	{ "constants: {pfn: 1}\n", "f.yaml:3:13: \"pfn\" has a meaning of its own" },
	{ "constants: {memory: 1}\n", "f.yaml:3:13: \"memory\" has a meaning of its own" },
	{ "constants: {a-b: 1}\n", "f.yaml:3:13: a constant's name is" },
	{ "constants: {a: }\n", "f.yaml:3:16: a must be text, not empty" },
	{ "vary: {a: []}\n", "f.yaml:3:11: a has no values" },
	{ "vary: {a: 1}\n", "f.yaml:3:11: a must be a list of values" },
	{ "vary: {a: [1, 2, 1]}\n", "f.yaml:3:18: 1 is listed twice in a" },
	{ "vary: {a: [[1]]}\n", "f.yaml:3:12: a must be text, not a list" },
	{ "constants: {a: 1}\nvary: {a: [1]}\n", "f.yaml:4:8: \"a\" is a constant already" },
	{ "layout: {fill: {}}\n", "f.yaml:3:9: layout must be a list of steps, or the name of a layout, not a map" },
	{ "layout: [fill]\n",
	  "f.yaml:3:10: a step of the layout has parameters, or none: write \"fill: {}\"" },
	{ "layout: [[fill]]\n", "f.yaml:3:10: a step of the layout is one word with parameters" },
	{ "layout: []\n", "f.yaml:3:9: layout has no steps; list one, as in [fill: {leave: 100M}], or leave" },
	{ "layout:\n  - fill: {}\n    pin: {}\n", "f.yaml:4:5: a step of the layout is one word" },
	{ "layout:\n  - fil: {}\n",
	  "f.yaml:4:5: unknown step of a layout \"fil\"; did you mean fill?" },
	{ "layout:\n  - shake: {}\n",
	  "unknown step of a layout \"shake\"; known are: fill, pin, free" },
	{ "layout:\n  - fill: {leav: 1}\n",
	  "f.yaml:4:12: unknown parameter of fill \"leav\"; did you mean leave?" },
	{ "layout:\n  - fill: 7\n", "f.yaml:4:11: fill must be a map of parameters, not text" },
	{ "layout:\n  - free: {where: {a: b}}\n", "f.yaml:4:19: where must be text, not a map" },
	{ "tolerance: 2\n", "f.yaml:3:12: must be a share such as 2%" },
	{ "tolerance: 101%\n", "must be a share" },
	{ "tolerance: -1%\n", "must be a share" },
	{ "sysctl: {vm.x: 1}\n",
	  "f.yaml:3:10: unknown key of sysctl \"vm.x\"; known are: boot, workload" },
	{ "sysctl: {boot: {../x: 1}}\n", "f.yaml:3:17: \"../x\" is not the name of a sysctl" },
	{ "sysctl: {boot: {vm..x: 1}}\n", "\"vm..x\" is not the name of a sysctl" },
	{ "sysctl: {boot: {vm: 1}}\n", "\"vm\" is not the name of a sysctl" },
	{ "sysctl: {boot: {vm.x/y: 1}}\n", "is not the name of a sysctl" },
	{ "sysctl: {workload: {vm.x: [1]}}\n", "f.yaml:3:27: vm.x must be text, not a list" },
	{ "runs: 0\n", "f.yaml:3:7: runs must be a whole number from 1 to 10000" },
	{ "runs: many\n", "f.yaml:3:7: runs must be a whole number" },
	{ "runs: -1\n", "f.yaml:3:7: runs must be a whole number" },
	{ "profile: 5\n", "f.yaml:3:10: profile must be true or false" },
	{ "sample_ms: 1.5\n", "f.yaml:3:12: sample_ms must be a whole number from 0 to 60000" },
	{ "metrics: allocstall\n", "f.yaml:3:10: metrics must be a list" },
	{ "metrics: [time, allocstal]\n",
	  "f.yaml:3:17: unknown metric \"allocstal\"; did you mean allocstall?" },
	{ "metrics: [zzz]\n", "f.yaml:3:11: unknown metric \"zzz\"; `mmrig list metrics`" },
	{ "table: {styl: seed}\n",
	  "f.yaml:3:9: unknown key of table \"styl\"; did you mean style?" },
	{ "table: {style: sead}\n",
	  "f.yaml:3:16: unknown style of a table \"sead\"; did you mean seed?" },
	{ "background: 1\n", "f.yaml:3:13: background must be a map such as" },
	{ "background: {}\n", "f.yaml:3:1: background has no workload: say what runs there" },
	{ "background: {warm_up: 1s}\n", "f.yaml:3:1: background has no workload" },
	{ "background: {workload: {fi: {}}}\n", "f.yaml:3:25: unknown workload \"fi\"" },
	{ "background: {workload: {fio: {arg: x}}}\n", "f.yaml:3:31: unknown parameter of fio \"arg\"" },
	{ "background: {workload: {fio: {}}}\n", "f.yaml:3:25: fio: nothing to do: give args, or job" },
	{ "background: {workload: {fio: {args: x, memory: 4G}}}\n",
	  "f.yaml:3:48: fio: memory is 4G, and the guest has 2G; allow the program less" },
	{ "background: {workload: {fio: {args: x}}, warm_up: soon}\n", "f.yaml:3:51: must be a time such as" },
	{ "background: {workload: {fio: {args: x}}, warm: 1s}\n",
	  "f.yaml:3:42: unknown key of background \"warm\"; known are: workload, warm_up" },
	{ "background: {workload: {tmpfs-files: {files: 1}}}\n",
	  "f.yaml:3:25: background is tmpfs-files, as the workload is; choose another one" },
	{ "table: {form: csv}\n",
	  "f.yaml:3:15: unknown form of a table \"csv\"; known are: mmtests, highalloc, defrag, thpscale, kselftest, buddy" },
	{ "table: {columns: [x]}\n", "f.yaml:3:19: unknown metric" },
	{ "limits: {bot: 1s}\n", "f.yaml:3:10: unknown limit \"bot\"; did you mean boot?" },
	{ "limits: {boot: 1x}\n", "f.yaml:3:16: must be a time such as" },
	{ "limits: {boot: 0}\n", "f.yaml:3:16: must be a time such as" },
	{ "limits: {boot: inf}\n", "f.yaml:3:16: must be a time such as" },
	{ "needs: [kvm]\n", "f.yaml:3:9: a need is sysctl:NAME, file:PATH or fs:NAME" },
	{ "needs: [\"sysctl:\"]\n", "f.yaml:3:9: a need is" },
	{ "needs: [\"sysctl:../x\"]\n", "\"../x\" is not the name of a sysctl" },
	{ "modules: [a/b]\n", "f.yaml:3:11: \"a/b\" is not the name of a module" },
	{ "title: {a: b}\n", "f.yaml:3:8: title must be text, not a map" },
	{ "kernel: ''\n", "f.yaml:3:9: kernel must be text, not empty" },
};

static const struct bad bad_values[] = {
	/* behind "name: m\nlayout:\n  - " */
	{ "free: {where: pfn %% 8}", "f.yaml:3:24: expected a value, found \"%\"" },
	{ "free: {where: \"pfn %% 8\"}", "f.yaml:3:25: expected a value, found \"%\"" },
	{ "free: {where: 'pfm == 4'}", "f.yaml:3:20: unknown name \"pfm\"; did you mean pfn?" },
	{ "free: {where: \"pfn \\x25% 8\"}",
	  "f.yaml:3:19: character 6 of the text: expected a value" },
	{ "free: {where: \"pfn\n      %% 8\"}",
	  "f.yaml:3:19: character 6 of the text: expected a value" },
	{ "free: {where: pfn / 0 == 1}", "f.yaml:3:25: division by zero" },
	{ "free: {where: order == 1}",
	  "f.yaml:3:19: order cannot be used here; allowed are pfn, block" },
	{ "free: {where: pfn % stpe == 4}",
	  "f.yaml:3:25: unknown name \"stpe\"; did you mean step?" },
	{ "free: {}", "f.yaml:3:5: free needs where: pages" },
	{ "free:", "f.yaml:3:5: free needs where: pages" },
	{ "fill: {leave: 1M, kind: anno}",
	  "f.yaml:3:29: unknown value of kind \"anno\"; did you mean anon?" },
	{ "fill: {leave: 1M, kind: slab}",
	  "f.yaml:3:29: unknown value of kind \"slab\"; known are: anon, file" },
	{ "fill: {leave: 1M, quick: perhaps}", "f.yaml:3:30: quick must be true or false" },
	{ "fill: {leave: 1M, batch: 7}",
	  "f.yaml:3:30: batch is 7; allowed are 4K to 1G" },
	{ "fill: {leave: 1M, batch: -5M}", "f.yaml:3:30: batch is -5M; allowed are 4K to 1G" },
	{ "fill: {leave: -5M}", "f.yaml:3:19: leave is -5M; allowed are 0 bytes and more" },
	{ "fill: {leave: 1M - 6M}", "f.yaml:3:19: leave is -5M; allowed are 0 bytes and more" },
	{ "fill: {leave: {blocks: 1 - step}}", "leave is -7; allowed are 0 blocks and more" },
	{ "fill: {leave: pfn}", "f.yaml:3:19: pfn cannot be used here; only numbers" },
	{ "fill: {leave: 101%}", "f.yaml:3:19: leave is 101; allowed are 1 to 99 per cent" },
	{ "fill: {leave: -1}", "f.yaml:3:19: leave is -1; allowed are 0 bytes and more" },
	{ "fill: {leave: {block: 1}}",
	  "f.yaml:3:20: unknown unit of leave \"block\"; did you mean blocks?" },
	{ "fill: {leave: {blocks: 1, high: 2}}", "f.yaml:3:31: leave is one of bytes:" },
	{ "fill: {leave: {}}", "f.yaml:3:19: leave is one of bytes:" },
	{ "fill: {leave: {blocks: [1]}}", "f.yaml:3:28: blocks must be an expression, not a list" },
	{ "fill: {leave: {blocks: stepp}}",
	  "f.yaml:3:28: unknown name \"stepp\"; did you mean step?" },
	{ "fill: {leave: step * word}",
	  "f.yaml:3:26: word is not a number here but the text \"a word\"" },
};

static const struct bad bad_rest[] = {
	/* behind "name: m\n" */
	{ "workload: {tmpfs-file: {files: 7}}\n",
	  "f.yaml:2:12: unknown workload \"tmpfs-file\"; did you mean" },
	{ "workload: {kbuild: {}}\n",
	  "f.yaml:2:12: unknown workload \"kbuild\"; known are: tmpfs-files" },
	{ "workload: {}\n", "f.yaml:2:11: workload must be one name" },
	{ "workload: tmpfs-files\n", "f.yaml:2:11: workload must be one name" },
	{ "workload: {tmpfs-files: {}}\n", "f.yaml:2:12: tmpfs-files needs files: how many files" },
	{ "workload: {tmpfs-files: {files: 2000000000}}\n",
	  "f.yaml:2:33: files is 2000000000; allowed are 1 to 1000000000 files" },
	{ "workload: {tmpfs-files: {files: 1, per_dir: 0}}\n",
	  "f.yaml:2:45: per_dir is 0; allowed are 1 files and more" },
	{ "workload: {tmpfs-files: {files: n / 0}}\nconstants: {n: 1}\n",
	  "f.yaml:2:37: division by zero" },
	{ "workload: {tmpfs-files: {files: n / d}}\nconstants: {n: 1}\nvary: {d: [1, 0]}\n",
	  "f.yaml:2:37: division by zero" },
	{ "workload: {tmpfs-files: {files: 7}}\n",
	  NULL }, /* good: the rest is what is wrong below */
	{ "workload: {tmpfs-files: {files: a}}\nconstants: {a: b + 1, b: 2 * c, c: a}\n",
	  "is made of itself: " },
	{ "workload: {tmpfs-files: {files: 1}}\nconstants: {a: a}\n",
	  "f.yaml:3:16: a is made of itself: a -> a" },
	{ "workload: {tmpfs-files: {files: 1}}\nconstants: {x: a, a: b, b: a}\n", "-> " },
	{ "workload: {tmpfs-files: {files: 1}}\nconstants: {a: memory}\nvm: {memory: a * 2}\n",
	  "is made of itself: " },
	{ "workload: {tmpfs-files: {files: 1}}\nconstants: {count: 1, a: 2 * cuont}\n",
	  "f.yaml:3:30: unknown name \"cuont\"; did you mean count?" },
	{ "workload: {tmpfs-files: {files: 1}}\nconstants: {a: 2 * later9, latre: 2}\n",
	  "f.yaml:3:20: unknown name \"later9\"" },
	{ "workload: {tmpfs-files: {files: 1}}\nconstants: {a: hello world}\n",
	  "f.yaml:3:16: unknown name" },
	{ "workload: {tmpfs-files: {files: 1}}\nvm: {memory: 255M}\n",
	  "f.yaml:3:14: memory is 255M; it must be 256M to 4092G, in whole pageblocks of 2M" },
	{ "workload: {tmpfs-files: {files: 1}}\nvm: {memory: 256M + 4K}\n",
	  "f.yaml:3:14: memory is 262148K" },
	{ "workload: {tmpfs-files: {files: 1}}\nvm: {memory: 0 - 4G}\n", "f.yaml:3:14: memory is -4G; it" },
	{ "workload: {tmpfs-files: {files: 1}}\nvm: {memory: -512M}\n", "f.yaml:3:14: memory is -512M; it" },
	{ "workload: {tmpfs-files: {files: 1}}\nvm: {memory: 32T}\n",
	  "f.yaml:3:14: memory is 32T" },
	{ "workload: {tmpfs-files: {files: 1}}\nvm: {cpus: 0}\n",
	  "f.yaml:3:12: cpus is 0; it must be 1 to 255" },
	{ "workload: {tmpfs-files: {files: 1}}\ntable: {label: \"a {b}\"}\n",
	  "f.yaml:3:20: unknown name \"b\"" },
	{ "workload: {tmpfs-files: {files: 1}}\ntable: {label: \"a {b\"}\n",
	  "f.yaml:3:19: \"{\" without \"}\"" },
	{ "workload: {tmpfs-files: {files: 1}}\nconstants: {residue: 1}\ntable: {label: \"\xc3\xa9 {resdue}\"}\n",
	  "f.yaml:4:20: unknown name \"resdue\"; did you mean residue" },
	{ "workload: {tmpfs-files: {files: 1}}\nsysctl: {boot: {vm.x: 2 * (3}}\n",
	  "f.yaml:3:29: " },
	{ "workload: {tmpfs-files: {files: 1}}\nvary:\n  a: [1,2,3,4,5,6,7,8,9,10,11]\n"
	  "  b: [1,2,3,4,5,6,7,8,9,10]\n  c: [1,2,3,4,5,6,7,8,9,10]\n",
	  "f.yaml:6:3: vary gives more than 1000" },
	{ "workload: {tmpfs-files: {files: 1}}\nvary: {a: [1, 2]}\n",
	  "f.yaml:3:8: \"a\" is varied, and nothing uses it: name it in vm, layout, sysctl or workload, or" },
	{ "workload: {tmpfs-files: {files: a}}\nvary: {a: [1, 2], bb: [1, 2]}\nconstants: {bbb: 1}\n",
	  "f.yaml:3:19: \"bb\" is varied" },
	/* In the label alone, through a constant that nobody uses, and through itself. */
	{ "workload: {tmpfs-files: {files: 1}}\nvary: {a: [1, 2]}\ntable: {label: \"{a}\"}\n", "\"a\" is varied" },
	{ "workload: {tmpfs-files: {files: 1}}\nvary: {a: [1, 2]}\nconstants: {c: a, d: c}\n", "\"a\" is varied" },
	{ "workload: {tmpfs-files: {files: d}}\nvary: {a: [1, 2]}\nconstants: {c: a, d: c}\n", NULL },
	{ "workload: {tmpfs-files: {files: b}}\nvary: {a: [1, 2], b: [a, 7]}\n", NULL },
	{ "workload: {tmpfs-files: {files: 1}}\nvary: {a: [512M, 1G]}\nvm: {memory: a}\n", NULL },
	{ "workload: {tmpfs-files: {files: 1}}\nvary: {a: [0, 1]}\nsysctl: {boot: {vm.x: a}}\n", NULL },
};

static void check_bad(const char *before, const struct bad *b, const char *after)
{
	cleanup_free char *text = str_printf("%s%s%s", before, b->text, after);
	cleanup_error struct error err = ERROR_INIT;
	struct scenario_plan plan;
	struct scenario *s;
	int ret = parse(text, &s, &err);

	if (ret == 0)
		ret = scenario_expand(s, 0, &plan, &err);
	scenario_free(s);
	if (ret == 0) {
		scenario_plan_free(&plan);
		if (b->want)
			fail_msg("taken: %s", text);
		return;
	}
	if (!b->want || !strstr(err.text, b->want))
		fail_msg("%s\ngives: %s\nnot:   %s", text, err.text, b->want ? b->want : "(good)");
	assert_int_equal(err.status, EXIT_USAGE);
}

static void test_bad(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad_documents); i++)
		check_bad("", &bad_documents[i], "");
	for (size_t i = 0; i < ARRAY_SIZE(bad_forms); i++)
		check_bad(MINIMAL, &bad_forms[i], "");
	for (size_t i = 0; i < ARRAY_SIZE(bad_values); i++)
		check_bad(
			"name: m\nlayout:\n  - ", &bad_values[i],
			"\nworkload: {tmpfs-files: {files: 1}}\nconstants: {step: 8}\nvary: {word: [a word]}\n");
	for (size_t i = 0; i < ARRAY_SIZE(bad_rest); i++)
		check_bad("name: m\n", &bad_rest[i], "");
}

static void test_memory_override(void **state)
{
	struct error err = ERROR_INIT;
	struct scenario_plan plan;
	struct scenario *s;

	assert_int_equal(parse(alias, &s, &err), 0);
	assert_int_equal(scenario_expand(s, 4ULL << 30, &plan, &err), 0);
	assert_int_equal(plan.variant[0].memory_bytes, 4ULL << 30);
	assert_string_equal(job_value(&plan, "workload", 0, "files"), "125000");
	scenario_plan_free(&plan);
	assert_int_equal(scenario_expand(s, 100 << 20, &plan, &err), -1);
	assert_string_equal(err.text,
			    "--memory: memory is 100M; it must be 256M to 4092G, in whole pageblocks of 2M");
	error_clear(&err);
	assert_int_equal(scenario_expand(s, UINT64_MAX, &plan, &err), -1);
	assert_string_equal(err.text,
			    "--memory: memory is 18446744073709551615; it must be 256M to 4092G, in whole "
			    "pageblocks of 2M");
	error_clear(&err);
	assert_int_equal(scenario_expand(s, 900ULL << 40, &plan, &err), -1);
	assert_string_equal(err.text,
			    "--memory: memory is 900T; it must be 256M to 4092G, in whole pageblocks of 2M");
	error_clear(&err);
	assert_int_equal(scenario_expand(s, GUEST_MEMORY_MAX, &plan, &err), 0);
	scenario_plan_free(&plan);
	assert_int_equal(scenario_expand(s, GUEST_MEMORY_MAX + (2 << 20), &plan, &err), -1);
	error_clear(&err);
	scenario_free(s);
}

static char *repeated(const char *unit, size_t n)
{
	struct strbuf sb = STRBUF_INIT;

	while (n--)
		strbuf_adds(&sb, unit);
	return strbuf_steal(&sb);
}

static void test_bombs(void **state)
{
	static const char *const units[] = { "[",      "{",   "a: {", "? ", "- ",
					     "name: ", "&a ", "'",    "a\n" };
	struct strbuf bomb = STRBUF_INIT;
	struct error err = ERROR_INIT;
	struct scenario *s;

	strbuf_adds(&bomb, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
	for (int i = 1; i < 12; i++) {
		strbuf_addf(&bomb, "a%d: &a%d [", i, i);
		for (int k = 0; k < 10; k++)
			strbuf_addf(&bomb, "%s*a%d", k ? ", " : "", i - 1);
		strbuf_adds(&bomb, "]\n");
	}
	assert_int_equal(parse(bomb.data, &s, &err), -1);
	assert_non_null(strstr(err.text, "too large, aliases included"));
	error_clear(&err);
	strbuf_free(&bomb);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		char *text = repeated(units[i], NODE_BYTES_MAX / strlen(units[i]));

		assert_int_equal(parse(text, &s, &err), -1);
		error_clear(&err);
		free(text);
	}
	strbuf_adds(&bomb, MINIMAL "title: ");
	while (bomb.len <= NODE_BYTES_MAX)
		strbuf_adds(&bomb, "0123456789abcdef");
	assert_int_equal(parse(bomb.data, &s, &err), -1);
	assert_non_null(strstr(err.text, "f.yaml: larger than 1 MiB"));
	error_clear(&err);
	strbuf_free(&bomb);
}

/* Aliases within reason are fine. */
static void test_alias(void **state)
{
	struct scenario_plan plan;

	expand("name: m\nlayout:\n  - free: &f {where: pfn % 8 == 4}\n  - free: *f\n"
	       "workload: {tmpfs-files: {files: 1}}\n",
	       NULL, &plan);
	assert_string_equal(job_value(&plan, "step", 1, "where"), "pfn % 8 == 4");
	scenario_plan_free(&plan);
}

/* Every byte of a good text cut off, or changed: an error or a scenario, never a fault. */
static void test_mutations(void **state)
{
	static const char bytes[] = "\n\t :,-[]{}&*!%\"'#0\xff";

	for (size_t i = 0; i < sizeof(alias); i += 3) {
		char text[sizeof(alias)];

		for (size_t k = 0; k < sizeof(bytes); k++) {
			struct error err = ERROR_INIT;
			struct scenario_plan plan;
			struct scenario *s;

			memcpy(text, alias, sizeof(alias));
			text[i] = bytes[k];
			if (parse(text, &s, &err) == 0) {
				if (scenario_expand(s, 0, &plan, &err) == 0)
					scenario_plan_free(&plan);
				else
					assert_true(str_starts(err.text, "f.yaml"));
				scenario_free(s);
			} else {
				assert_true(str_starts(err.text, "f.yaml"));
			}
			error_clear(&err);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expand), cmocka_unit_test(test_minimal),
		cmocka_unit_test(test_table_form), cmocka_unit_test(test_background),
		cmocka_unit_test(test_matrix),	  cmocka_unit_test(test_canonical),
		cmocka_unit_test(test_set),	  cmocka_unit_test(test_set_more),
		cmocka_unit_test(test_set_bad),	  cmocka_unit_test(test_set_bad_value),
		cmocka_unit_test(test_bad),	  cmocka_unit_test(test_memory_override),
		cmocka_unit_test(test_bombs),	  cmocka_unit_test(test_alias),
		cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
