// SPDX-License-Identifier: GPL-2.0-only
/* A layout without a workload, by file and by name; and --set layout=NAME. With the real registry. */
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
		{ "mine.yaml", "name: mine\nconstants: {step: 8, half: step / 2}\nlayout:\n"
			       "  - fill: {leave: 64M}\n  - free: {where: pfn % step == half}\n" },
		{ "other.yaml", "name: other\nconstants: {step: 3}\nlayout:\n  - fill: {leave: step * 1M}\n" },
		{ "twice.yaml", "name: twice\nlayout:\n  - fill: {leave: 7M}\n" },
		{ "scenarios/twice.yaml", "name: twice\nlayout:\n  - fill: {leave: 9M}\n"
					  "workload: {tmpfs-files: {files: 10}}\n" },
	};
	char dir[] = "/tmp/mmrig layout,test XXXXXX";
	cleanup_free char *scenarios = NULL;

	if (!mkdtemp(dir))
		return -1;
	*state = xstrdup(dir);
	scenarios = path_join(dir, "scenarios");
	setenv("MMRIG_LAYOUTS", dir, 1);
	setenv("MMRIG_SCENARIOS", scenarios, 1);
	if (dir_make(scenarios, 0755, NULL) < 0)
		return -1;
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
	unsetenv("MMRIG_SCENARIOS");
	free(*state);
	return ret;
}

/* The lines of the job that begin with one of these words. */
static char *lines_of(const struct scenario_plan *plan, const char *word)
{
	const struct job_line *line = NULL;
	struct job some = { 0 };
	char *text;

	while ((line = job_next(&plan->variant[0].job, line, word))) {
		struct job_line *copy = job_add(&some, word, NULL);

		for (size_t i = 0; i < line->npairs; i++)
			job_line_set(copy, line->pair[i].key, line->pair[i].value);
	}
	text = job_format(&some);
	job_free(&some);
	return text ? text : xstrdup("");
}

static struct scenario *parse_layout(const char *text)
{
	struct error err = ERROR_INIT;
	struct scenario *s;

	if (scenario_parse_layout("dir/a file.yaml", text, strlen(text), &s, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

static struct scenario *load_layout(const char *name)
{
	struct error err = ERROR_INIT;
	struct scenario *s;

	if (scenario_load_layout(name, &s, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

static void set(struct scenario *s, const char *assignment)
{
	struct error err = ERROR_INIT;

	if (scenario_set(s, assignment, &err) < 0)
		fail_msg("%s", err.text);
}

static void expand(struct scenario *s, struct scenario_plan *plan)
{
	struct error err = ERROR_INIT;

	if (scenario_expand(s, 0, plan, &err) < 0)
		fail_msg("%s", err.text);
	scenario_free(s);
}

static void check_steps(struct scenario *s, const char *expected)
{
	cleanup_free char *steps = NULL;
	struct scenario_plan plan;

	expand(s, &plan);
	steps = lines_of(&plan, "step");
	assert_string_equal(steps, expected);
	scenario_plan_free(&plan);
}

#define FILL(mib) "step do=fill kind=anon leave_unit=bytes leave=" mib "\n"
#define M64 FILL("67108864")
#define MINE M64 "step do=free where=\"pfn % step == half\"\n"

/* Only layout: the name is that of the file, and the guest is the smallest that there is need for. */
static void test_file(void **state)
{
	struct scenario_plan plan;
	cleanup_free char *workload = NULL;

	expand(parse_layout("layout:\n  - fill: {leave: 64M}\n"), &plan);
	assert_string_equal(plan.name, "a-file");
	assert_string_equal(plan.read[0], "dir/a file.yaml");
	assert_null(plan.read[1]);
	assert_null(plan.moves[0]);
	assert_true(plan.variant[0].memory_bytes == 2ull << 30);
	workload = lines_of(&plan, "workload");
	assert_string_equal(workload, "");
	scenario_plan_free(&plan);
	check_steps(parse_layout("layout: mine\n"), MINE);
	check_steps(parse_layout("layout: {use: mine, with: {step: 16}}\n"), MINE);
}

/* What is there is checked, and then left aside: neither it nor its needs reach the guest. */
static void test_workload_is_left(void **state)
{
	cleanup_free char *needs = NULL, *workload = NULL;
	struct error err = ERROR_INIT;
	struct scenario_plan plan;
	struct scenario *s;
	static const char bad[] = "layout: mine\nworkload: {no-such: {}}\n";

	expand(parse_layout("name: x\nlayout: mine\nworkload: {tmpfs-files: {files: 10}}\n"), &plan);
	needs = lines_of(&plan, "need");
	workload = lines_of(&plan, "workload");
	assert_string_equal(needs, "need what=file:/proc/kpageflags\n");
	assert_string_equal(workload, "");
	scenario_plan_free(&plan);
	assert_int_equal(scenario_parse_layout("f.yaml", bad, strlen(bad), &s, &err), -1);
	assert_non_null(strstr(err.text, "f.yaml:2:12: unknown workload"));
	error_clear(&err);
}

static void refused(const char *name, const char *text, const char *why)
{
	struct error err = ERROR_INIT;
	struct scenario *s;
	int ret = text ? scenario_parse_layout(name, text, strlen(text), &s, &err) :
			 scenario_load_layout(name, &s, &err);

	assert_int_equal(ret, -1);
	assert_int_equal(err.status, EXIT_USAGE);
	if (!strstr(err.text, why))
		fail_msg("no \"%s\" in: %s", why, err.text);
	error_clear(&err);
}

static void test_names(void **state)
{
	cleanup_free char *path = path_join(*state, "other.yaml");

	check_steps(load_layout("mine"), MINE);
	check_steps(load_layout("other"), FILL("3145728"));
	check_steps(load_layout(path), FILL("3145728"));
	/* A scenario of the same name comes first. */
	check_steps(load_layout("twice"), FILL("9437184"));
	refused("mien", NULL, "unknown scenario or layout \"mien\"; did you mean mine?");
	refused("zzzzzzzz", NULL, "`mmrig list layouts`");
	refused("f.yaml", "name: x\n", "f.yaml:1:1: layout: is missing");
}

/* run of it says what is missing, and what it is. */
static void test_run_needs_more(void **state)
{
	static const char only[] = "layout: mine\n", named[] = "name: x\nlayout: mine\n";
	struct error err = ERROR_INIT;
	struct scenario *s;

	assert_int_equal(scenario_parse("f.yaml", only, strlen(only), &s, &err), -1);
	assert_true(str_starts(err.text, "f.yaml:1:1: name: and workload: are missing; "));
	assert_int_equal(err.status, EXIT_USAGE);
	error_clear(&err);
	assert_int_equal(scenario_parse("f.yaml", named, strlen(named), &s, &err), -1);
	assert_true(str_starts(err.text, "f.yaml:1:1: workload: is missing; "));
	assert_non_null(strstr(err.text, "workload: {tmpfs-files: {files: 1000}}"));
	assert_non_null(strstr(err.text, "mmrig layout check"));
	error_clear(&err);
	assert_int_equal(scenario_load("mine", &s, &err), -1);
	assert_non_null(strstr(err.text, "\"mine\" is a layout and no scenario; mmrig layout check mine"));
	error_clear(&err);
}

/* --set: the constants of the layout before go with it, but for those that were set themselves. */
static void test_set_layout(void **state)
{
	struct error err = ERROR_INIT;
	struct scenario_plan plan;
	struct scenario *s;
	cleanup_free char *consts = NULL;

	s = parse_layout("name: x\nlayout: [fill: {leave: 9M}]\n");
	set(s, "layout=mine");
	check_steps(s, MINE);
	/* 3 MiB by its own default, not the 8 of mine. */
	s = load_layout("mine");
	set(s, "layout=other");
	check_steps(s, FILL("8388608")); /* here step is the document's own */
	s = parse_layout("layout: mine\n");
	set(s, "layout=other");
	check_steps(s, FILL("3145728"));
	s = parse_layout("layout: {use: mine, with: {step: 16}}\n");
	set(s, "layout=other");
	check_steps(s, FILL("3145728"));
	s = parse_layout("layout: mine\n");
	set(s, "step=5");
	set(s, "layout=other");
	check_steps(s, FILL("5242880"));
	s = parse_layout("layout: mine\nconstants: {step: 6}\n");
	set(s, "layout=other");
	check_steps(s, FILL("6291456"));
	s = parse_layout("layout: other\n");
	set(s, "layout=mine");
	set(s, "step=32");
	expand(s, &plan);
	consts = lines_of(&plan, "const");
	assert_non_null(strstr(consts, "name=step value=32\n"));
	assert_non_null(strstr(consts, "name=half value=16\n"));
	scenario_plan_free(&plan);
	/* As it was, where the name is none. */
	s = parse_layout("layout: mine\n");
	assert_int_equal(scenario_set(s, "layout=mien", &err), -1);
	assert_string_equal(err.text, "--set layout=mien:1:8: unknown layout \"mien\"; did you mean mine?");
	error_clear(&err);
	check_steps(s, MINE);
}

static void test_files_read(void **state)
{
	cleanup_free char *mine = path_join(*state, "mine.yaml");
	struct scenario *s = parse_layout("layout: mine\n");
	struct scenario_plan plan;

	set(s, "step=4");
	expand(s, &plan);
	assert_string_equal(plan.read[0], "dir/a file.yaml");
	assert_string_equal(plan.read[1], mine);
	assert_null(plan.read[2]);
	scenario_plan_free(&plan);
}

/* What the file is called need be no name of a scenario. */
static void test_name_of_file(void **state)
{
	static const char *const names[][2] = {
		{ "a.yaml", "a" },	   { "/x/y/phone 2.yml", "phone-2" }, { "..yaml", "layout" },
		{ "-x.yaml", "layout" },   { "\xc3\xa9.yaml", "layout" },     { "a.b.yaml", "a.b" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct error err = ERROR_INIT;
		struct scenario *s;

		if (scenario_parse_layout(names[i][0], "layout: mine\n", 13, &s, &err) < 0)
			fail_msg("%s", err.text);
		assert_string_equal(node_get(s->root, "name")->text, names[i][1]);
		scenario_free(s);
	}
}

int main(void)
{
#define folder_test(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)
	const struct CMUnitTest tests[] = {
		folder_test(test_file),	      folder_test(test_workload_is_left),
		folder_test(test_names),      folder_test(test_run_needs_more),
		folder_test(test_set_layout), folder_test(test_files_read),
		folder_test(test_name_of_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
