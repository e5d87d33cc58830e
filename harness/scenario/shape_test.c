// SPDX-License-Identifier: GPL-2.0-only
/* NUMA nodes, movablecore and swap of a scenario. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

#define MIB (1ULL << 20)

/* `vm` is the text behind "vm: ", on line 2, so that its first character is in column 5. */
static int try_expand(const char *vm, const char *const *sets, uint64_t override,
		      struct scenario_plan *plan, struct error *err)
{
	cleanup_free char *text =
		str_printf("name: m\nvm: %s\nworkload: {tmpfs-files: {files: 7}}\n", vm);
	struct scenario *s;
	int ret;

	if (scenario_parse("f.yaml", text, strlen(text), &s, err) < 0)
		return -1;
	for (ret = 0; ret == 0 && sets && *sets; sets++)
		ret = scenario_set(s, *sets, err);
	if (ret == 0)
		ret = scenario_expand(s, override, plan, err);
	scenario_free(s);
	return ret;
}

static void expand(const char *vm, const char *const *sets, uint64_t override,
		   struct scenario_plan *plan)
{
	struct error err = ERROR_INIT;

	if (try_expand(vm, sets, override, plan, &err) < 0)
		fail_msg("%s: %s", vm, err.text);
}

static char *nodes_of(const struct scenario_plan *plan)
{
	const struct variant *v = &plan->variant[0];
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < v->nnodes; i++)
		strbuf_addf(&sb, "%s%llu/%u", i ? " " : "",
			    (unsigned long long)v->node[i].memory_bytes / MIB, v->node[i].cpus);
	if (v->nnodes && v->node[v->nnodes - 1].memory_bytes % (2 * MIB))
		strbuf_adds(&sb, " and a part of a block");
	return strbuf_steal(&sb);
}

/* MiB and CPUs of each node. */
static void expect_nodes(const char *vm, const char *const *sets, uint64_t override,
			 const char *want)
{
	cleanup_free char *got = NULL;
	struct scenario_plan plan;

	expand(vm, sets, override, &plan);
	got = nodes_of(&plan);
	if (strcmp(got, want) != 0)
		fail_msg("%s: %s, not %s", vm, got, want);
	scenario_plan_free(&plan);
}

static void test_nodes(void **state)
{
	expect_nodes("{}", NULL, 0, "");
	expect_nodes("{memory: 4G, cpus: 6, numa: [2G, 2G, {size: 0, cpus: 2}]}", NULL, 0,
		     "2048/2 2048/2 0/2");
	expect_nodes("{memory: 1G, numa: [1G]}", NULL, 0, "1024/2");
	/* What cannot be dealt evenly: one more for the first. */
	expect_nodes("{memory: 1G, cpus: 5, numa: [512M, 256M, 256M]}", NULL, 0,
		     "512/2 256/2 256/1");
	expect_nodes("{memory: 1G, cpus: 1, numa: [512M, {size: 512M}]}", NULL, 0, "512/1 512/0");
	expect_nodes("{memory: 1G, cpus: 3, numa: [512M, {size: memory / 2, cpus: cpus}]}", NULL, 0,
		     "512/0 512/3");
	expect_nodes("{memory: 1G, cpus: 2, numa: [{size: 0, cpus: 1}, 1G]}", NULL, 0,
		     "0/1 1024/1");
}

/* A kernel without NUMA sees one node: the last one must be there. */
static void test_need(void **state)
{
	const struct job_line *line = NULL;
	struct scenario_plan plan;
	int found = 0;

	expand("{memory: 1G, cpus: 3, numa: [512M, 256M, 256M]}", NULL, 0, &plan);
	while ((line = job_next(&plan.variant[0].job, line, "need")))
		found += strcmp(job_get(line, "what"), "file:/sys/devices/system/node/node2") == 0;
	assert_int_equal(found, 1);
	assert_null(job_next(&plan.variant[0].job, NULL, "swap"));
	assert_string_equal(plan.variant[0].cmdline, "");
	scenario_plan_free(&plan);
}

static void test_resized(void **state)
{
	static const char two[] = "{memory: 2G, numa: [1536M, 512M]}";
	static const char mixed[] = "{memory: 2G, numa: [1G, memory / 4, 512M]}";
	static const char *const twice[] = { "memory=4G", NULL };
	static const char *const other[] = { "memory=3G", "vm.numa=1G,2G", NULL };
	static const char *const wrong[] = { "memory=3G", "vm.numa=1G,1G", NULL };
	struct error err = ERROR_INIT;
	struct scenario_plan plan;

	expect_nodes(two, NULL, 4096 * MIB, "3072/1 1024/1");
	expect_nodes(two, NULL, 2048 * MIB, "1536/1 512/1");
	expect_nodes(two, twice, 0, "3072/1 1024/1");
	/* 1026 * 3 / 4 is 769.5, of which 768 are whole blocks. */
	expect_nodes(two, NULL, 1026 * MIB, "768/1 258/1");
	/* The expression is 1024 of 4096; 3072 are left for 1024 and 512. */
	expect_nodes(mixed, NULL, 4096 * MIB, "2048/1 1024/1 1024/0");
	expect_nodes("{memory: 2G, cpus: 3, numa: [1G, 1G, {size: 0, cpus: 1}]}", NULL, 512 * MIB,
		     "256/1 256/1 0/1");
	/* The most that there may be, 4092G: 3/8 of it are 1571328 MiB, 5/8 2618880. */
	expect_nodes("{memory: 2T, numa: [768G, 1280G]}", NULL, GUEST_MEMORY_MAX, "1571328/1 2618880/1");
	/* What --set itself wrote is meant as written. */
	expect_nodes(two, other, 0, "1024/1 2048/1");
	assert_int_equal(try_expand(two, wrong, 0, &plan, &err), -1);
	assert_non_null(strstr(err.text, "the nodes add up to 2G, but memory is 3G"));
	error_clear(&err);
	assert_int_equal(try_expand(two, NULL, 256 * MIB - 2 * MIB, &plan, &err), -1);
	error_clear(&err);
	/* A quarter of 254M would be below 64M. */
	assert_int_equal(
		try_expand("{memory: 2G, numa: [1792M, 256M]}", NULL, 256 * MIB, &plan, &err), -1);
	assert_string_equal(err.text,
			    "--memory: memory is 256M: node 1 has 32M; it must be 0, or 64M and more in whole "
			    "pageblocks of 2M (in f.yaml:2:32)");
	error_clear(&err);
	assert_int_equal(
		try_expand("{memory: 4G, numa: [1G, 3G + 0]}", NULL, 2048 * MIB, &plan, &err), -1);
	assert_string_equal(err.text,
			    "--memory: memory is too small for the nodes whose sizes are "
			    "expressions (in f.yaml:2:24)");
	error_clear(&err);
}

static void test_distances(void **state)
{
	static const uint8_t want[] = { 10, 20, 30, 21, 10, 254, 11, 32, 10 };
	struct scenario_plan plan;

	expand("{distances: [[10, 20, 30], [10 + 11, 10, 254], [11, 32, 10]], "
	       "cpus: 3, memory: 1G, numa: [512M, 512M, 0]}",
	       NULL, 0, &plan);
	assert_memory_equal(plan.variant[0].distance, want, sizeof(want));
	scenario_plan_free(&plan);
	expand("{memory: 1G, numa: [512M, 512M]}", NULL, 0, &plan);
	assert_null(plan.variant[0].distance);
	scenario_plan_free(&plan);
}

static bool has_module(const struct scenario_plan *plan, const char *name)
{
	for (char **m = plan->modules; *m; m++)
		if (strcmp(*m, name) == 0)
			return true;
	return false;
}

static void expect_swap(const struct variant *v, const char *kind, const char *size,
			const char *cmdline)
{
	const struct job_line *line = job_next(&v->job, NULL, "swap");

	assert_string_equal(job_get(line, "kind"), kind);
	assert_string_equal(job_get(line, "size"), size);
	assert_string_equal(v->cmdline, cmdline);
}

static void test_swap(void **state)
{
	static const char *const bigger[] = { "vm.swap.size=1G", "vm.swap.kind=ramdisk", NULL };
	static const char *const made[] = { "vm.swap.size=memory / 4", "vm.movablecore=256M",
					    NULL };
	struct scenario_plan plan;

	expand("{swap: {kind: zram, size: 512M}}", NULL, 0, &plan);
	expect_swap(&plan.variant[0], "zram", "536870912", "");
	assert_true(has_module(&plan, "zram") && !has_module(&plan, "brd"));
	scenario_plan_free(&plan);
	/* brd takes its size in KiB. */
	expand("{swap: {size: 512M}, movablecore: 512M}", bigger, 0, &plan);
	expect_swap(&plan.variant[0], "ramdisk", "1073741824",
		    " movablecore=536870912 brd.rd_nr=1 brd.rd_size=1048576");
	assert_true(has_module(&plan, "brd") && !has_module(&plan, "zram"));
	scenario_plan_free(&plan);
	expand("{}", made, 0, &plan);
	expect_swap(&plan.variant[0], "zram", "536870912", " movablecore=268435456");
	scenario_plan_free(&plan);
	expand("{swap: {kind: k, size: s}}\nconstants: {s: 64M}\nvary: {k: [ramdisk, zram]}", NULL,
	       0, &plan);
	expect_swap(&plan.variant[0], "ramdisk", "67108864", " brd.rd_nr=1 brd.rd_size=65536");
	expect_swap(&plan.variant[1], "zram", "67108864", "");
	assert_true(has_module(&plan, "brd") && has_module(&plan, "zram"));
	scenario_plan_free(&plan);
}

static void test_cma(void **state)
{
	static const char *const bigger[] = { "vm.cma=memory / 4", NULL };
	struct scenario_plan plan;
	const struct job_line *line;

	expand("{cma: 64M}", NULL, 0, &plan);
	assert_string_equal(plan.variant[0].cmdline, " cma=67108864");
	line = job_next(&plan.variant[0].job, NULL, "need");
	while (line && strcmp(job_get(line, "what"), "cma:67108864") != 0)
		line = job_next(&plan.variant[0].job, line, "need");
	assert_non_null(line);
	scenario_plan_free(&plan);
	expand("{movablecore: 256M, cma: 2M}", bigger, (uint64_t)1 << 30, &plan);
	assert_string_equal(plan.variant[0].cmdline, " movablecore=268435456 cma=268435456");
	scenario_plan_free(&plan);
}

static void test_bad(void **state)
{
	static const struct {
		const char *vm, *want;
	} bad[] = {
		{ "{numa: 2}", "f.yaml:2:12: numa must be a list of nodes" },
		{ "{numa: []}", "f.yaml:2:12: numa must be a list of nodes" },
		{ "{distances: [[10]], numa: 2}", "f.yaml:2:31: numa must be a list" },
		{ "{numa: [[1G]]}", "f.yaml:2:13: a node must be a number, not a list" },
		{ "{numa: [{cpus: 2}]}", "f.yaml:2:13: size: is missing" },
		{ "{numa: [{size: 2G, cpu: 2}]}",
		  "f.yaml:2:24: unknown key of a node \"cpu\"; did you mean cpus?" },
		{ "{numa: [{size: [2G]}]}", "f.yaml:2:20: size must be a value, not a list" },
		{ "{numa: [1,1,1,1,1,1,1,1,1]}", "f.yaml:2:29: more than 8 nodes" },
		{ "{numa: [1G, 512M]}",
		  "f.yaml:2:12: the nodes add up to 1536M, but memory is 2G" },
		{ "{numa: [2G, 1G]}", "f.yaml:2:12: the nodes add up to 3G, but memory is 2G" },
		{ "{numa: [2G - 62M, 62M]}",
		  "f.yaml:2:23: node 1 has 62M; it must be 0, or 64M and more" },
		{ "{numa: [1G + 1M, 1G - 1M]}", "f.yaml:2:13: node 0 has 1025M; it must be" },
		{ "{numa: [1G, 0 - 1G]}",
		  "f.yaml:2:17: a node's size is -1G; allowed are 0 to 16T" },
		{ "{numa: [1G, hlf]}\nconstants: {half: 1G}",
		  "unknown name \"hlf\"; did you mean half" },
		{ "{numa: [1G, {size: 1G, cpus: 3}]}",
		  "f.yaml:2:34: the nodes want more CPUs than the 2" },
		{ "{numa: [{size: 1G, cpus: 1}, {size: 1G, cpus: 2}]}",
		  "f.yaml:2:51: the nodes want more CPUs" },
		{ "{cpus: 4, numa: [{size: 1G, cpus: 1}, {size: 1G, cpus: 2}]}",
		  "f.yaml:2:21: 1 of 4 CPUs belong to no node" },
		{ "{numa: [2G, {size: 0, cpus: 0}]}",
		  "f.yaml:2:17: node 1 has neither memory nor CPUs" },
		{ "{numa: [1G, 1G, 0]}", "f.yaml:2:21: node 2 has neither memory nor CPUs" },
		{ "{distances: [[10]]}", "f.yaml:2:6: distances need nodes; list them in numa" },
		{ "{numa: [1G, 1G], distances: [[10, 20]]}",
		  "f.yaml:2:33: distances must be a list of 2 rows" },
		{ "{numa: [1G, 1G], distances: [[10, 20], [20]]}",
		  "f.yaml:2:44: a row of distances must be a list of 2 numbers" },
		{ "{numa: [1G, 1G], distances: [[10, 20], [[20], 10]]}",
		  "f.yaml:2:45: a distance must be a number, not a list" },
		{ "{numa: [1G, 1G], distances: [[10, 10], [20, 10]]}",
		  "f.yaml:2:39: a distance is 10; allowed are 11 to 254" },
		{ "{numa: [1G, 1G], distances: [[10, 255], [20, 10]]}",
		  "a distance is 255; allowed are 11 to 254" },
		{ "{numa: [1G, 1G], distances: [[10, 20], [20, 11]]}",
		  "f.yaml:2:49: the distance of a node to itself is 11; allowed are 10 to 10" },
		{ "{movablecore: 2G}",
		  "f.yaml:2:19: movablecore is 2G; allowed are 2M to 2046M" },
		{ "{movablecore: -2M}", "f.yaml:2:19: movablecore is -2M; allowed are 2M to 2046M" },
		{ "{movablecore: [1G]}", "f.yaml:2:19: movablecore must be text, not a list" },
		{ "{cma: 1025M}", "f.yaml:2:11: cma is 1025M; allowed are 2M to 1G, half of memory, in whole" },
		{ "{cma: 1026M}", "f.yaml:2:11: cma is 1026M; allowed are 2M to 1G, half of memory" },
		{ "{cma: 3M}", "f.yaml:2:11: cma is 3M; allowed are 2M to 1G, half of memory, in whole pageblocks" },
		{ "{cma: 0}", "f.yaml:2:11: cma is 0; allowed are 2M to" },
		{ "{cma: -2M}", "f.yaml:2:11: cma is -2M; allowed are 2M to" },
		{ "{cma: [64M]}", "f.yaml:2:11: cma must be text, not a list" },
		{ "{cma: 64M}\nconstants: {cma: 3}", "\"cma\" has a meaning of its own in expressions" },
		{ "{swap: 512M}",
		  "f.yaml:2:12: swap must be a map such as {kind: zram, size: 512M}, not text" },
		{ "{swap: {kind: zram}}", "f.yaml:2:12: size: is missing" },
		{ "{swap: {kind: disk, size: 1G}}", "f.yaml:2:19: unknown kind of swap \"disk\"" },
		{ "{swap: {kind: zram, sise: 1G}}",
		  "f.yaml:2:25: unknown key of swap \"sise\"; did you mean size?" },
		{ "{swap: {size: 4K}}",
		  "f.yaml:2:19: size of swap is 4K; allowed are 1M to 1T" },
		{ "{swap: {size: 3M}}",
		  "f.yaml:2:19: size of swap must be in whole pageblocks of 2M" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup_error struct error err = ERROR_INIT;
		struct scenario_plan plan;

		if (try_expand(bad[i].vm, NULL, 0, &plan, &err) == 0)
			fail_msg("taken: %s", bad[i].vm);
		if (!strstr(err.text, bad[i].want))
			fail_msg("%s\ngives: %s\nnot:   %s", bad[i].vm, err.text, bad[i].want);
		assert_int_equal(err.status, EXIT_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nodes),	cmocka_unit_test(test_need),
		cmocka_unit_test(test_resized), cmocka_unit_test(test_distances),
		cmocka_unit_test(test_swap),	cmocka_unit_test(test_bad),
		cmocka_unit_test(test_cma),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
