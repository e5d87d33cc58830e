// SPDX-License-Identifier: GPL-2.0-only
/* Named layouts among the steps of a list, with the real registry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

static int make_folder(void **state)
{
	static const char *const files[][2] = {
		{ "mine.yaml", "name: mine\nconstants: {step: 8, residue: step / 2}\nlayout:\n"
			       "  - free: {where: pfn % step == residue}\n  - compact: {}\n" },
		{ "other.yaml", "name: other\nconstants: {step: 16, n: 5}\nlayout:\n"
				"  - free: {where: pfn % step == n}\n" },
		{ "same.yaml", "name: same\nconstants: {step: 8}\nlayout:\n  - pin: {where: pfn % step == 1}\n" },
		{ "nested.yaml", "name: nested\nlayout:\n  - use: mine\n" },
		{ "area.yaml", "name: area\nvm: {cma: size}\nconstants: {size: 64M}\nlayout:\n"
			       "  - fill: {leave: size}\n  - free: {where: cma}\n" },
		{ "field.yaml", "name: field\nvm: {cma: 32M}\nlayout:\n  - fill: {leave: 96M}\n" },
		{ "plain.yaml", "name: plain\nlayout:\n  - fill: {leave: 96M}\n" },
		{ "empty.yaml", "name: empty\nlayout: []\n" },
		{ "compact.yaml", "name: compact\nlayout:\n  - free: {share: 1%}\n" },
	};
	char dir[] = "/tmp/mmrig-use-XXXXXX";

	if (!mkdtemp(dir))
		return -1;
	*state = xstrdup(dir);
	setenv("MMRIG_LAYOUTS", dir, 1);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		cleanup_free char *file = path_join(dir, files[i][0]);

		if (file_write_atomic(file, files[i][1], strlen(files[i][1]), 0644, NULL) < 0)
			return -1;
	}
	return 0;
}

static int remove_folder(void **state)
{
	int ret = dir_remove(*state, NULL);

	unsetenv("MMRIG_LAYOUTS");
	free(*state);
	return ret;
}

#define TAIL "workload: {tmpfs-files: {files: 10}}\n"

static int expand(const char *middle, const char *set, struct scenario_plan *plan, struct error *err)
{
	cleanup_free char *text = str_printf("name: x\n%s" TAIL, middle);
	struct scenario *s;
	int ret = scenario_parse("f.yaml", text, strlen(text), &s, err);

	if (ret < 0)
		return -1;
	if (set)
		ret = scenario_set(s, set, err);
	if (ret == 0)
		ret = scenario_expand(s, 0, plan, err);
	scenario_free(s);
	return ret;
}

/* "do" and "where" of every step, and the value of step. */
static void check(const char *middle, const char *want)
{
	cleanup_strbuf struct strbuf got = STRBUF_INIT;
	cleanup_error struct error err = ERROR_INIT;
	const struct job_line *line = NULL;
	struct scenario_plan plan;

	if (expand(middle, NULL, &plan, &err) < 0)
		fail_msg("%s: %s", middle, err.text);
	while ((line = job_next(&plan.variant[0].job, line, "step"))) {
		const char *where = job_get(line, "where");

		strbuf_addf(&got, "%s%s%s; ", job_get(line, "do"), where ? " " : "", where ? where : "");
	}
	while ((line = job_next(&plan.variant[0].job, line, "const")))
		if (strcmp(job_get(line, "name"), "step") == 0)
			strbuf_addf(&got, "step=%s", job_get(line, "value"));
	assert_string_equal(got.data, want);
	scenario_plan_free(&plan);
}

#define FILL "layout:\n  - fill: {leave: 5%}\n"
#define MINE "free pfn % step == residue; compact; "

static void test_good(void **state)
{
	check(FILL "  - mine\n", "fill; " MINE "step=8");
	check(FILL "  - use: mine\n", "fill; " MINE "step=8");
	check(FILL "  - {use: mine, with: {step: 4}}\n  - pin: {}\n", "fill; " MINE "pin; step=4");
	check(FILL "  - mine\n  - pin: {}\n  - mine\n", "fill; " MINE "pin; " MINE "step=8");
	/* The same value, by itself or by with; and the scenario's own comes first. */
	check(FILL "  - mine\n  - same\n", "fill; " MINE "pin pfn % step == 1; step=8");
	check(FILL "  - mine\n  - use: other\n    with: {step: 8}\n", "fill; " MINE "free pfn % step == n; step=8");
	check("constants: {step: 32}\n" FILL "  - mine\n  - other\n",
	      "fill; " MINE "free pfn % step == n; step=32");
	check(FILL "  - repeat: {times: 2, steps: [mine]}\n", "fill; " MINE MINE "step=8");
	/* A step's name is the step's; and a layout may have no steps where others are. */
	check(FILL "  - compact: {}\n  - {use: compact}\n", "fill; compact; free; ");
	check(FILL "  - empty\n", "fill; ");
}

static void test_bad(void **state)
{
	static const struct {
		const char *middle, *set, *want;
	} t[] = {
		{ FILL "  - mien\n", NULL, "f.yaml:4:5: unknown layout \"mien\"; did you mean mine?" },
		{ FILL "  - use: mien\n", NULL, "f.yaml:4:10: unknown layout \"mien\"" },
		{ FILL "  - {use: mine, with: {stp: 4}}\n", NULL, "f.yaml:4:24: unknown constant of the layout \"stp\"" },
		{ FILL "  - {use: mine, when: {step: 4}}\n", NULL, "f.yaml:4:17: unknown key of layout \"when\"" },
		{ FILL "  - {with: {step: 4}}\n", NULL, "f.yaml:4:5: layout needs use: the name of a layout" },
		{ FILL "  - compact\n", NULL, "f.yaml:4:5: a step of the layout has parameters, or none: write \"compact: {}\"" },
		{ FILL "  - nested\n", NULL, "a layout that has a name cannot use another one" },
		{ "layout:\n  - empty\n", NULL, "f.yaml:3:3: layout has no steps" },
		{ "layout:\n  - mine\n", NULL, "/mine.yaml:4:5: free: no step before it takes pages" },
		/* One name, two values. */
		{ FILL "  - mine\n  - other\n", NULL, "f.yaml:5:5: \"step\" is 8 by /" },
		{ FILL "  - mine\n  - other\n", NULL,
		  "/mine.yaml:2:19, and would be 16 here; a name has one value in a scenario: set it in constants" },
		{ FILL "  - {use: mine, with: {step: 4}}\n  - mine\n", NULL,
		  "f.yaml:5:5: \"step\" is 4 by f.yaml:4:30, and would be 8 here" },
		{ FILL "  - mine\n  - {use: mine, with: {step: 4}}\n", NULL, "f.yaml:5:30: \"step\" is 8 by " },
		{ "constants: {step: 8}\n" FILL "  - {use: mine, with: {step: 4}}\n", NULL,
		  "f.yaml:5:24: \"step\" is a name of the scenario already" },
		/* Blamed is what was written last. */
		{ FILL "  - {use: mine, with: {step: 4, residue: 5}}\n", NULL,
		  "f.yaml:4:30: step is 4: free: pfn % step == residue is never true: pfn % step is 0 to 3 (in " },
		{ FILL "  - {use: mine, with: {step: 4}}\n", "step=0", "--set step=0:1:6: step is 0: modulo by zero" },
		{ FILL "  - repeat: {times: 2, steps: [{use: mien}]}\n", NULL, "f.yaml:4:38: unknown layout \"mien\"" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		cleanup_error struct error err = ERROR_INIT;
		struct scenario_plan plan;

		if (expand(t[i].middle, t[i].set, &plan, &err) == 0)
			fail_msg("taken: %s", t[i].middle);
		if (!strstr(err.text, t[i].want))
			fail_msg("%s\ngives: %s\nnot:   %s", t[i].middle, err.text, t[i].want);
		assert_int_equal(err.status, EXIT_USAGE);
	}
}

static void check_cmdline(const char *middle, const char *set, const char *want)
{
	cleanup_error struct error err = ERROR_INIT;
	struct scenario_plan plan;

	if (expand(middle, set, &plan, &err) < 0)
		fail_msg("%s: %s", middle, err.text);
	assert_string_equal(plan.variant[0].cmdline, want);
	scenario_plan_free(&plan);
}

/* What a layout needs of the guest: 64 MiB are 67108864 bytes. */
static void test_vm(void **state)
{
	cleanup_error struct error err = ERROR_INIT;
	struct scenario_plan plan;

	check_cmdline("layout: area\n", NULL, " cma=67108864");
	check_cmdline("layout: {use: area, with: {size: 32M}}\n", NULL, " cma=33554432");
	check_cmdline("vm: {memory: 1G}\nlayout: [area, compact: {}]\n", NULL, " cma=67108864");
	/* The scenario's own comes first, also over two layouts'. */
	check_cmdline("vm: {cma: 128M}\nlayout: area\n", NULL, " cma=134217728");
	check_cmdline("vm: {cma: 128M}\nlayout: [area, field]\n", NULL, " cma=134217728");
	check_cmdline("layout: area\n", "vm.cma=2M", " cma=2097152");
	/* It goes with the layout that brought it. */
	check_cmdline(FILL, "layout=area", " cma=67108864");
	check_cmdline("layout: area\n", "layout=field", " cma=33554432");
	check_cmdline("layout: area\n", "layout=plain", "");
	check_cmdline("vm: {cma: 128M}\nlayout: area\n", "layout=plain", " cma=134217728");
	assert_int_equal(expand("layout: [area, field]\n", NULL, &plan, &err), -1);
	assert_string_equal(err.text, "f.yaml:2:16: another layout here needs vm: {cma: size}, and this one 32M; "
				      "say in the scenario which");
}

/* An end, and soon. */
static void test_many(void **state)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	cleanup_error struct error err = ERROR_INIT;
	struct scenario_plan plan;

	strbuf_adds(&sb, FILL);
	for (int i = 0; i < 300; i++)
		strbuf_adds(&sb, "  - mine\n");
	assert_int_equal(expand(sb.data, NULL, &plan, &err), -1);
	assert_string_equal(err.text, "f.yaml:254:5: more than 250 layouts are used");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_vm),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
