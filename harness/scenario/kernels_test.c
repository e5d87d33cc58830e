// SPDX-License-Identifier: GPL-2.0-only
/* The kernels of a scenario, its files of them, and the cells that it leaves out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

/* Two lines; what is added begins in line 3. */
#define MINIMAL "name: m\nworkload: {tmpfs-files: {files: 7}}\n"

static char *dir; /* of the test: with files of patches, and a tree */

static int make_folder(void **state)
{
	static const char *const files[] = { "sub/a.patch", "b.patch", "my.config", "kasan",
					     "tree/Makefile" };
	char name[] = "/tmp/mmrig kernels,test XXXXXX";

	if (!mkdtemp(name))
		return -1;
	dir = xstrdup(name);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		cleanup_free char *path = path_join(dir, files[i]);
		cleanup_free char *parent = xstrndup(path, (size_t)(strrchr(path, '/') - path));

		if (dir_make(parent, 0755, NULL) < 0 ||
		    file_write_atomic(path, "x\n", 2, 0644, NULL) < 0)
			return -1;
	}
	return 0;
}

static int remove_folder(void **state)
{
	int ret = dir_remove(dir, NULL);

	free(dir);
	return ret;
}

/* Behind the rest, so that no line moves: an axis must change something. */
static const char *uses_of(const char *more)
{
	return strstr(more, ", y: [") ? "sysctl: {workload: {vm.x: x, vm.y: y}}\n" :
	       strstr(more, "{x: [")  ? "sysctl: {workload: {vm.x: x}}\n" :
					"";
}

/* As if it stood in the test's folder; status 0: it expands. */
static int load(const char *more, struct scenario **s, struct scenario_plan *plan,
		struct error *err)
{
	cleanup_free char *label = path_join(dir, "f.yaml"),
			  *text = str_printf("%s%s%s", MINIMAL, more, uses_of(more));

	*s = NULL;
	*plan = (struct scenario_plan){ 0 };
	if (scenario_parse(label, text, strlen(text), s, err) < 0)
		return -1;
	return scenario_expand(*s, 0, plan, err);
}

static void good(const char *more, struct scenario_plan *plan)
{
	cleanup_error struct error err = ERROR_INIT;
	struct scenario *s;

	if (load(more, &s, plan, &err) < 0)
		fail_msg("%s", err.text);
	scenario_free(s);
}

/* `want` stands in the message behind the test's folder. */
static void bad(const char *more, const char *want)
{
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *whole = str_printf("%s/%s", dir, want);
	struct scenario_plan plan;
	struct scenario *s;

	if (load(more, &s, &plan, &err) == 0)
		fail_msg("taken: %s", more);
	if (!strstr(err.text, whole))
		fail_msg("\"%s\" is not in: %s", whole, err.text);
	assert_int_equal(err.status, EXIT_USAGE);
	scenario_free(s);
}

static void expect_in_folder(const char *path, const char *name)
{
	cleanup_free char *want = path_join(dir, name);

	assert_string_equal(path, want);
}

static void test_short_form(void **state)
{
	cleanup_free char *place = path_join(dir, "f.yaml:3:9");
	struct scenario_plan p;

	good("kernel: debian:7.3\n", &p);
	assert_int_equal(p.nkernels, 1);
	assert_string_equal(p.kernel[0].name, "debian:7.3");
	assert_string_equal(p.kernel[0].spec, "debian:7.3");
	assert_string_equal(p.kernel[0].place, place);
	assert_null(p.kernel[0].source);
	scenario_plan_free(&p);
	good("", &p);
	assert_int_equal(p.nkernels, 0);
	scenario_plan_free(&p);
}

static void test_list(void **state)
{
	struct scenario_plan p;
	const struct scenario_kernel *k;

	setenv("HOME", dir, 1);
	good("kernels:\n"
	     "  - debian:7.3\n"
	     "  - {source: debian:7.3, patch: [sub/a.patch, b.patch], name: patched}\n"
	     "  - {tree: ~/tree, rev: v7.3, config: [kasan, debug, ./my.config], cc: gcc-12, align: true,"
	     " base: my.config}\n",
	     &p);
	assert_int_equal(p.nkernels, 3);
	assert_string_equal(p.kernel[0].spec, "debian:7.3");
	k = &p.kernel[1];
	assert_null(k->spec);
	assert_string_equal(k->name, "patched");
	assert_string_equal(k->source, "debian:7.3");
	assert_null(k->tree);
	expect_in_folder(k->patch[0], "sub/a.patch");
	expect_in_folder(k->patch[1], "b.patch");
	assert_null(k->patch[2]);
	assert_null(k->config[0]);
	assert_false(k->align);
	k = &p.kernel[2];
	/* The made-up name says all that it is built of. */
	assert_string_equal(k->name, "v7.3-kasan-debug-my-my-gcc-12-align");
	expect_in_folder(k->tree, "tree");
	assert_string_equal(k->rev, "v7.3");
	assert_string_equal(k->cc, "gcc-12");
	assert_true(k->align);
	expect_in_folder(k->base, "my.config");
	/* A file of that name stands beside the scenario; of the next none does. */
	expect_in_folder(k->config[0], "kasan");
	assert_string_equal(k->config[1], "debug");
	expect_in_folder(k->config[2], "./my.config");
	assert_null(k->patch[0]);
	scenario_plan_free(&p);
}

static void test_names(void **state)
{
	static const char *const t[][2] = {
		{ "{source: debian:7.3}", "7.3" },
		{ "{source: \"debian:7.3.4-1~bpo13+1\", patch: sub/a.patch}", "7.3.4-1-bpo13-1-a" },
		{ "{tree: tree/}", "tree" },
		{ "{tree: ., align: false}", "kernel" },
		{ "{tree: tree, rev: refs/heads/x_y, align: true}", "x_y-align" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		cleanup_free char *more = str_printf("kernels: [%s]\n", t[i][0]);
		struct scenario_plan p;

		good(more, &p);
		assert_string_equal(p.kernel[0].name, t[i][1]);
		scenario_plan_free(&p);
	}
}

static void test_bad(void **state)
{
	static const char *const t[][2] = {
		{ "kernels: debian:7.3\n", "f.yaml:3:10: kernels must be a list such as" },
		{ "kernels: []\n", "f.yaml:3:10: kernels must be a list" },
		{ "kernels: [debian:7.3, [x]]\n",
		  "f.yaml:3:23: a kernel is text, as --kernel takes it, or a map" },
		{ "kernels: [\"\"]\n", "f.yaml:3:11: a kernel is text" },
		{ "kernel: x\nkernels: [y]\n", "f.yaml:4:1: kernel and kernels are both given" },
		{ "kernels: [y]\nkernel: x\n", "f.yaml:3:1: kernel and kernels are both given" },
		{ "kernels: [{sorce: debian:7.3}]\n",
		  "f.yaml:3:12: unknown key of a kernel \"sorce\"; did you mean source?" },
		{ "kernels: [{patch: b.patch}]\n",
		  "f.yaml:3:11: a kernel to be built has neither source nor tree" },
		{ "kernels:\n  - {source: debian:7.3, tree: .}\n",
		  "f.yaml:4:5: a kernel to be built has both source and tree" },
		{ "kernels: [{source: debian:7.3, rev: v7.3}]\n",
		  "f.yaml:3:37: rev is a revision of a tree" },
		{ "kernels: [{rev: v7.3}]\n", "f.yaml:3:11: a kernel to be built has neither" },
		{ "kernels: [{source: linux}]\n", "f.yaml:3:20: source must be debian:VERSION" },
		{ "kernels: [{source: \"debian:\"}]\n",
		  "f.yaml:3:20: source must be debian:VERSION" },
		{ "kernels: [{source: debian:7.3, patch: {a: b}}]\n",
		  "f.yaml:3:39: patch must be text or a list of texts, not a map" },
		{ "kernels: [{source: debian:7.3, patch: []}]\n",
		  "f.yaml:3:39: patch must be text or a list of texts, not an empty list" },
		{ "kernels: [{source: debian:7.3, patch: [[b.patch]]}]\n",
		  "f.yaml:3:40: patch must be a list of texts" },
		{ "kernels: [{source: debian:7.3, align: yes}]\n",
		  "f.yaml:3:39: align must be true or false" },
		{ "kernels: [{source: debian:7.3, cc: [gcc]}]\n",
		  "f.yaml:3:36: cc must be text, not a list" },
		{ "kernels: [{source: debian:7.3, name: a/b}]\n",
		  "f.yaml:3:38: a kernel's name is letters" },
		{ "kernels: [{source: debian:7.3, name: -x}]\n",
		  "f.yaml:3:38: a kernel's name is letters" },
		{ "kernels: [{source: debian:7.3, name: \"<script>\"}]\n",
		  "f.yaml:3:38: a kernel's name is letters" },
		{ "kernels:\n  - {source: debian:7.3, name: x}\n  - {tree: ., name: x}\n",
		  "f.yaml:5:5: x is listed twice in kernels; the first is in line 4; give one of them another name:" },
		{ "kernels: [debian:7.3, debian:7.3]\n",
		  "f.yaml:3:23: debian:7.3 is listed twice" },
		/* What is not there is found out before anything is built. */
		{ "kernels: [debian:7.3, {source: debian:7.3, patch: c.patch}]\n",
		  "f.yaml:3:51: patch: " },
		{ "kernels: [{source: debian:7.3, patch: [b.patch, sub]}]\n",
		  "f.yaml:3:49: patch: " },
		{ "kernels: [{source: debian:7.3, base: no.config}]\n", "f.yaml:3:38: base: " },
		{ "kernels: [{source: debian:7.3, config: ./no.config}]\n",
		  "f.yaml:3:40: config: " },
		{ "kernels: [{tree: nowhere}]\n", "f.yaml:3:18: tree: " },
		{ "kernels: [{tree: b.patch}]\n", "f.yaml:3:18: tree: " },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		bad(t[i][0], t[i][1]);
	unsetenv("HOME");
	bad("kernels: [{tree: ~/tree}]\n", "f.yaml:3:18: ~/tree: HOME is not set");
}

static void test_many(void **state)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	struct scenario_plan p;

	strbuf_adds(&sb, "kernels:\n");
	for (int i = 0; i < SCENARIO_KERNELS_MAX; i++)
		strbuf_addf(&sb, "  - k%d\n", i);
	good(sb.data, &p);
	assert_int_equal(p.nkernels, SCENARIO_KERNELS_MAX);
	scenario_plan_free(&p);
	strbuf_adds(&sb, "  - more\n");
	bad(sb.data, "f.yaml:20:5: more than 16 kernels");
}

/* ---- leave_out ---- */

#define AXES "kernels: [a, b]\nvary: {x: [0, 4], y: [p, q]}\n"

static void expect_left_out(const struct scenario_plan *p, const char *kernel, const char *want)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;

	for (size_t v = 0; v < p->nvariants; v++)
		strbuf_adds(&sb, scenario_leaves_out(p, kernel, v) ? "-" : "+");
	assert_string_equal(sb.data, want);
}

/* Variants: x=0 y=p, x=0 y=q, x=4 y=p, x=4 y=q. */
static void test_leave_out(void **state)
{
	struct scenario_plan p;

	good(AXES "leave_out: [{kernel: b, x: 0}]\n", &p);
	expect_left_out(&p, "a", "++++");
	expect_left_out(&p, "b", "--++");
	expect_left_out(&p, NULL, "++++");
	scenario_plan_free(&p);
	good("leave_out:\n  - {x: 0, y: [p, q]}\n  - {kernel: [a, b], y: q}\n" AXES, &p);
	expect_left_out(&p, "a", "--+-");
	expect_left_out(&p, NULL, "--++");
	scenario_plan_free(&p);
	good(AXES, &p);
	expect_left_out(&p, "a", "++++");
	scenario_plan_free(&p);
}

static void test_leave_out_bad(void **state)
{
	static const char *const t[][2] = {
		{ "leave_out: {x: 0}\n", "f.yaml:5:12: leave_out must be a list such as" },
		{ "leave_out: [x]\n",
		  "f.yaml:5:13: leave_out must be a list such as [{kernel: patched, residue: 0}]; here is text" },
		{ "leave_out: [{}]\n",
		  "f.yaml:5:13: leave_out must be a list such as [{kernel: patched, residue: 0}]; here is an empty map" },
		{ "leave_out: [{x: {a: b}}]\n", "f.yaml:5:17: x must be text or a list" },
		{ "leave_out: [{zzzz: 0}]\n",
		  "f.yaml:5:14: unknown axis in leave_out \"zzzz\"; known are: kernel, x, y" },
		{ "leave_out: [{x: 5}]\n", "f.yaml:5:17: x has no value 5; it has 0, 4" },
		{ "leave_out: [{x: [0, 5]}]\n", "f.yaml:5:21: x has no value 5; it has 0, 4" },
		{ "leave_out: [{kernel: cccc}]\n",
		  "f.yaml:5:22: unknown kernel \"cccc\"; known are: a, b" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		cleanup_free char *more = str_printf(AXES "%s", t[i][0]);

		bad(more, t[i][1]);
	}
}

/* ---- --set ---- */

static void set_bad(const char *more, const char *set, const char *want)
{
	cleanup_error struct error err = ERROR_INIT;
	struct scenario_plan plan;
	struct scenario *s;

	assert_int_equal(load(more, &s, &plan, &err), 0);
	scenario_plan_free(&plan);
	if (scenario_set(s, set, &err) == 0)
		fail_msg("%s: taken", set);
	if (!strstr(err.text, want))
		fail_msg("\"%s\" is not in: %s", want, err.text);
	assert_int_equal(err.status, EXIT_USAGE);
	scenario_free(s);
}

static void test_set(void **state)
{
	cleanup_error struct error err = ERROR_INIT;
	struct scenario_plan p;
	struct scenario *s;

	set_bad(AXES, "kernels=x",
		"--set kernels=x:1:1: kernels cannot be set; choose with --kernel");
	set_bad(AXES, "kernels.0.patch=x", "kernels cannot be set; choose with --kernel");
	set_bad("", "kernels=x", "choose with --kernel");
	set_bad(AXES, "leave_out=x", "leave_out cannot be set");
	set_bad(AXES, "kernel=x",
		"--set kernel=x:1:8: the scenario has a list of kernels; choose with --kernel");

	/* What the file leaves out may be gone by --set: then the text that is kept has no word of it. */
	assert_int_equal(
		load(AXES "leave_out: [{kernel: b, x: 0}, {x: [0, 4], y: q}]\n", &s, &p, &err), 0);
	scenario_plan_free(&p);
	assert_int_equal(scenario_set(s, "x=2,4", &err), 0);
	assert_int_equal(scenario_expand(s, 0, &p, &err), 0);
	expect_left_out(&p, "b", "+++-");
	assert_null(strstr(p.text, "x: 0"));
	scenario_plan_free(&p);
	assert_int_equal(scenario_set(s, "x=9", &err), 0);
	assert_int_equal(scenario_expand(s, 0, &p, &err), 0);
	expect_left_out(&p, "b", "++");
	scenario_free(s);
	assert_int_equal(scenario_parse("again.yaml", p.text, strlen(p.text), &s, &err), 0);
	scenario_free(s);
	scenario_plan_free(&p);

	assert_int_equal(load("kernel: a\nvary: {x: [0, 4]}\nleave_out: [{kernel: a, x: 0}]\n", &s,
			      &p, &err),
			 0);
	expect_left_out(&p, "a", "-+");
	scenario_plan_free(&p);
	assert_int_equal(scenario_set(s, "kernel=b", &err), 0);
	assert_int_equal(scenario_expand(s, 0, &p, &err), 0);
	expect_left_out(&p, "b", "++");
	scenario_plan_free(&p);
	scenario_free(s);
}

/* The text that a run set keeps has all of it. */
static void test_text(void **state)
{
	struct scenario_plan p, again;

	good(AXES "leave_out: [{kernel: b, x: 0}]\n", &p);
	assert_non_null(strstr(p.text, "kernels:"));
	assert_non_null(strstr(p.text, "leave_out:"));
	good("kernels: [{source: debian:7.3, patch: b.patch}]\n", &again);
	assert_non_null(strstr(again.text, "patch: b.patch"));
	scenario_plan_free(&p);
	scenario_plan_free(&again);
}

/* The one that is shipped: three cells, as the table of the post has rows. */
static void test_shipped(void **state)
{
	cleanup_error struct error err = ERROR_INIT;
	struct scenario_plan p, whole;
	struct scenario *s;

	if (scenario_load("alias-patched", &s, &err) < 0 || scenario_expand(s, 0, &p, &err) < 0)
		fail_msg("%s", err.text);
	scenario_free(s);
	assert_int_equal(p.nkernels, 2);
	assert_string_equal(p.kernel[0].name, "7.3-plain");
	assert_string_equal(p.kernel[1].name, "7.3-resample");
	assert_true(file_exists(p.kernel[1].patch[0]));
	assert_string_equal(p.variant[0].label, "pfn % 8 == 0");
	expect_left_out(&p, "7.3-plain", "++");
	expect_left_out(&p, "7.3-resample", "-+");
	/* All else, but for the number of runs, is alias-tmpfs. */
	assert_int_equal(scenario_load("alias-tmpfs", &s, &err), 0);
	assert_int_equal(scenario_expand(s, 0, &whole, &err), 0);
	scenario_free(s);
	assert_int_equal(whole.runs, 5);
	assert_int_equal(p.runs, 6); /* ten tests to be corrected for */
	for (size_t v = 0; v < 2; v++) {
		cleanup_free char *a = job_format(&p.variant[v].job),
				  *b = job_format(&whole.variant[v].job);

		assert_string_equal(a, b);
	}
	for (size_t i = 0; whole.metric[i] || p.metric[i]; i++)
		assert_string_equal(whole.metric[i], p.metric[i]);
	scenario_plan_free(&p);
	scenario_plan_free(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_form),    cmocka_unit_test(test_list),
		cmocka_unit_test(test_names),	      cmocka_unit_test(test_bad),
		cmocka_unit_test(test_many),	      cmocka_unit_test(test_leave_out),
		cmocka_unit_test(test_leave_out_bad), cmocka_unit_test(test_set),
		cmocka_unit_test(test_text),	      cmocka_unit_test(test_shipped),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
