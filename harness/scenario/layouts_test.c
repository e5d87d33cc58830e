// SPDX-License-Identifier: GPL-2.0-only
/* Named layouts, repeat and shares, with the real registry. */
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
		{ "mine.yaml",
		  "name: mine\ntitle: a <b>title</b>\nconstants: {step: 8, residue: step / 2}\nlayout:\n"
		  "  - fill: {leave: 64M}\n  - free: {where: pfn % step == residue}\n" },
		{ "alias.yaml", "name: alias\nlayout:\n  - fill: {leave: 1G}\n" }, /* hides the shipped one */
		{ "broken.yaml", "name: [\n" },
		{ "guest.yaml", "name: guest\nvm: {memory: 1G}\nlayout: []\n" },
		{ "area.yaml", "name: area\nvm: {cma: [64M]}\nlayout: []\n" },
		{ "flat.yaml", "name: flat\nvm: 64M\nlayout: []\n" },
		{ "typo.yaml", "name: typo\nlayuot: []\n" },
		{ "bad-step.yaml", "name: bad-step\nlayout:\n  - fil: {leave: 1G}\n" },
		{ "notes.txt", "name: notes\n" },
	};
	char dir[] = "/tmp/mmrig layouts,test XXXXXX";

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

#define HEAD "name: x\n"
#define TAIL "workload:\n  tmpfs-files: {files: 10}\n"

/* The `step` lines of the first variant's job. */
static char *steps_of(const char *middle)
{
	cleanup_free char *text = str_printf("%s%s%s", HEAD, middle, TAIL);
	struct error err = ERROR_INIT;
	struct scenario_plan plan;
	struct scenario *s;
	struct job steps = { 0 };
	const struct job_line *line = NULL;
	char *made;

	if (scenario_parse("f.yaml", text, strlen(text), &s, &err) < 0 ||
	    scenario_expand(s, 0, &plan, &err) < 0)
		fail_msg("%s", err.text);
	while ((line = job_next(&plan.variant[0].job, line, "step"))) {
		struct job_line *copy = job_add(&steps, "step", NULL);

		for (size_t i = 0; i < line->npairs; i++)
			job_line_set(copy, line->pair[i].key, line->pair[i].value);
	}
	made = job_format(&steps);
	job_free(&steps);
	scenario_plan_free(&plan);
	scenario_free(s);
	return made;
}

static void check_steps(const char *middle, const char *expected)
{
	cleanup_free char *made = steps_of(middle);

	assert_string_equal(made, expected);
}

static void check_bad(const char *middle, const char *expected)
{
	cleanup_free char *text = str_printf("%s%s%s", HEAD, middle, TAIL);
	cleanup_error struct error err = ERROR_INIT;
	struct scenario_plan plan;
	struct scenario *s = NULL;
	int ret = scenario_parse("f.yaml", text, strlen(text), &s, &err);

	if (ret == 0) {
		ret = scenario_expand(s, 0, &plan, &err);
		if (ret == 0)
			scenario_plan_free(&plan);
	}
	scenario_free(s);
	if (ret == 0)
		fail_msg("taken: %s", middle);
	if (!strstr(err.text, expected))
		fail_msg("\"%s\" lacks \"%s\"", err.text, expected);
	assert_int_equal(err.status, EXIT_USAGE);
}

#define FILL "step do=fill kind=anon leave_unit=bytes leave=67108864\n"
#define MINE                                                   \
	FILL \
	"step do=free where=\"pfn % step == residue\"\n"

static void test_named(void **state)
{
	check_steps("layout: mine\n", MINE);
	check_steps("layout: {use: mine}\n", MINE);
	check_steps("layout: {use: mine, with: {residue: 3}}\n", MINE);
	check_steps("layout: alias\n",
		    "step do=fill kind=anon leave_unit=bytes leave=1073741824\n");
}

static int64_t constant(const struct variant *v, const char *name)
{
	const struct job_line *line = NULL;

	while ((line = job_next(&v->job, line, "const")))
		if (strcmp(job_get(line, "name"), name) == 0)
			return job_get_i64(line, "value", -1);
	return -2;
}

static void expand(const char *text, struct scenario_plan *plan)
{
	struct error err = ERROR_INIT;
	struct scenario *s;

	if (scenario_parse("f.yaml", text, strlen(text), &s, &err) < 0 ||
	    scenario_expand(s, 0, plan, &err) < 0)
		fail_msg("%s", err.text);
	scenario_free(s);
}

/* The layout's own, `with`, the scenario's constants, the scenario's axes: the last one wins. */
static void test_constants(void **state)
{
	struct scenario_plan plan;

	expand(HEAD "layout: mine\n" TAIL, &plan);
	assert_int_equal(constant(&plan.variant[0], "step"), 8);
	assert_int_equal(constant(&plan.variant[0], "residue"), 4);
	scenario_plan_free(&plan);
	expand(HEAD "constants: {five: 5}\nlayout: {use: mine, with: {residue: five + 1}}\n" TAIL, &plan);
	assert_int_equal(constant(&plan.variant[0], "residue"), 6);
	scenario_plan_free(&plan);
	expand(HEAD "constants: {step: 16}\nlayout: mine\n" TAIL, &plan);
	assert_int_equal(constant(&plan.variant[0], "residue"), 8);
	scenario_plan_free(&plan);
	expand(HEAD "vary: {residue: [0, 1]}\nlayout: mine\n" TAIL, &plan);
	assert_int_equal(plan.nvariants, 2);
	assert_int_equal(constant(&plan.variant[1], "residue"), 1);
	/* The record holds the steps, not the name: it can be run where the layout is not. */
	assert_non_null(strstr(plan.text, "pfn % step == residue"));
	assert_null(strstr(plan.text, "mine"));
	scenario_plan_free(&plan);
}

static void test_named_bad(void **state)
{
	check_bad("layout: mien\n", "f.yaml:2:9: unknown layout \"mien\"; did you mean mine?");
	check_bad("layout: '<script>'\n", "unknown layout \"<script>\"; known are: ");
	check_bad("layout: broken\n", "broken.yaml:");
	check_bad("layout: typo\n", "unknown key of a layout \"layuot\"; did you mean layout?");
	check_bad("layout: guest\n", "guest.yaml:2:6: unknown key of a layout's vm \"memory\"; known are: cma");
	check_bad("layout: area\n", "area.yaml:2:11: cma must be text, not a list");
	check_bad("layout: flat\n", "flat.yaml:2:5: vm must be a map such as {cma: 64M}, not text");
	check_bad("layout: bad-step\n",
		  "bad-step.yaml:3:5: unknown step of a layout \"fil\"; did you mean fill?");
	check_bad("layout: {use: mine, with: {residu: 3}}\n",
		  "unknown constant of the layout \"residu\"; did you mean residue?");
	check_bad("layout: {use: mine, with: [3]}\n", "with must be a map of constants, not a list");
	check_bad("layout: {use: mine, wiht: {}}\n", "unknown key of layout \"wiht\"; did you mean with?");
	check_bad("layout: {with: {residue: 3}}\n", "layout needs use: the name of a layout");
	check_bad("layout: {use: [mine]}\n", "layout needs use: the name of a layout");
	check_bad("layout: ''\n", "layout must be a list of steps, or the name of a layout");
	check_bad("constants: {residue: 3}\nlayout: {use: mine, with: {residue: 4}}\n",
		  "\"residue\" is a name of the scenario already");
	check_bad("vary: {residue: [3]}\nlayout: {use: mine, with: {residue: 4}}\n",
		  "\"residue\" is a name of the scenario already");
}

static void test_list(void **state)
{
	struct layout_entry *list;
	struct error err = ERROR_INIT;
	size_t n, seen = 0;

	assert_int_equal(layout_list(&list, &n, &err), 0);
	for (size_t i = 0; i < n; i++) {
		assert_true(i == 0 || strcmp(list[i - 1].name, list[i].name) < 0);
		if (strcmp(list[i].name, "mine") == 0) {
			assert_string_equal(list[i].title, "a <b>title</b>");
			assert_string_equal(list[i].constants, "step=8, residue=step / 2");
			seen++;
		} else if (strcmp(list[i].name, "alias") == 0) {
			assert_string_equal(list[i].title, ""); /* of the first folder */
			seen++;
		} else if (strcmp(list[i].name, "broken") == 0) {
			assert_memory_equal(list[i].title, "broken: ", 8);
			seen++;
		}
		assert_string_not_equal(list[i].name, "notes");
	}
	assert_int_equal(seen, 3);
	layout_list_free(list, n);
	setenv("MMRIG_LAYOUTS", "/no/such/folder", 1);
	assert_int_equal(layout_list(&list, &n, &err), -1);
	assert_non_null(strstr(err.text, "/no/such/folder"));
	error_clear(&err);
	setenv("MMRIG_LAYOUTS", *state, 1);
}

/* Every shipped layout stands for itself, with a small guest and a large one. */
static void test_shipped(void **state)
{
	struct layout_entry *list;
	struct error err = ERROR_INIT;
	size_t n;

	unsetenv("MMRIG_LAYOUTS");
	assert_int_equal(layout_list(&list, &n, &err), 0);
	assert_true(n >= 1);
	for (size_t i = 0; i < n; i++) {
		for (int gib = 1; gib <= 64; gib *= 64) {
			cleanup_free char *text = str_printf(HEAD "vm: {memory: %dG}\nlayout: %s\n" TAIL,
							     gib, list[i].name);
			struct scenario_plan plan;

			expand(text, &plan);
			assert_non_null(job_next(&plan.variant[0].job, NULL, "step"));
			scenario_plan_free(&plan);
		}
		assert_true(*list[i].title);
	}
	layout_list_free(list, n);
	setenv("MMRIG_LAYOUTS", *state, 1);
}

static void test_repeat(void **state)
{
	check_steps("constants: {n: 2}\nlayout:\n  - fill: {leave: 64M}\n"
		    "  - repeat: {times: n + 1, steps: [{free: {where: pfn % 8 == round}}]}\n"
		    "  - pin:\n",
		    FILL
		    "step do=free round=0 where=\"pfn % 8 == round\"\n"
		    "step do=free round=1 where=\"pfn % 8 == round\"\n"
		    "step do=free round=2 where=\"pfn % 8 == round\"\n"
		    "step do=pin per=pageblock at=first except=0\n");
	check_steps("layout:\n"
		    "  - repeat:\n"
		    "      times: 2\n"
		    "      steps:\n"
		    "        - fill: {leave: {blocks: 100 - 10 * round}}\n"
		    "        - free: {where: block == round}\n",
		    "step do=fill round=0 kind=anon leave_unit=blocks leave=100\n"
		    "step do=free round=0 where=\"block == round\"\n"
		    "step do=fill round=1 kind=anon leave_unit=blocks leave=90\n"
		    "step do=free round=1 where=\"block == round\"\n");
}

#define ONE "steps: [{mix: {share: 1%}}]"

static void test_repeat_bad(void **state)
{
	check_bad("layout:\n  - free: {where: pfn == round}\n", "unknown name \"round\"");
	check_bad("constants: {round: 3}\n", "\"round\" has a meaning of its own");
	check_bad("layout:\n  - repeat: {" ONE "}\n", "repeat needs times: how often");
	check_bad("layout:\n  - repeat: {times: 3}\n", "repeat needs steps: a list");
	check_bad("layout:\n  - repeat: {times: 0, " ONE "}\n", "times is 0; allowed are 1 to 250");
	check_bad("layout:\n  - repeat: {times: -1, " ONE "}\n", "times is -1; allowed are 1 to 250");
	check_bad("layout:\n  - repeat: {times: 251, " ONE "}\n", "allowed are 1 to 250");
	check_bad("layout:\n  - repeat: {times: many, " ONE "}\n", "unknown name \"many\"");
	check_bad("layout:\n  - repeat: {times: round, " ONE "}\n", "unknown name \"round\"");
	check_bad("layout:\n  - repeat: {times: [3], " ONE "}\n", "times must be text, not a list");
	check_bad("layout:\n  - repeat: {times: 3, steps: []}\n", "steps must be a list of steps, one at least");
	check_bad("layout:\n  - repeat: {times: 3, steps: {free: {where: '1'}}}\n", "steps must be a list");
	check_bad("layout:\n  - repeat: {tiems: 3, " ONE "}\n", "unknown key of repeat \"tiems\"; did you mean times?");
	check_bad("layout:\n  - repeat: 3\n", "repeat must be a map");
	check_bad("layout:\n  - repeat: {times: 3, steps: [{repeat: {times: 2, " ONE "}}]}\n",
		  "repeat cannot stand within repeat");
	check_bad("layout:\n  - repaet: {times: 3, " ONE "}\n", "did you mean repeat?");
	check_bad("layout:\n  - repeat: {times: 150, steps: [{mix: {share: 1%}}, {compact: {}}]}\n",
		  "the layout has more than 250 steps");
}

static void test_shares(void **state)
{
	static const struct {
		const char *written, *ppm;
	} t[] = { { "30%", "300000" }, { "0.3", "300000" },	 { "2.5%", "25000" },
		  { "100%", "1000000" }, { "half - 50 %", "0" }, { "half %", "500000" },
		  { "half / 2 %", "250000" }, { "\"(half + 1)%\"", "510000" } };

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		cleanup_free char *yaml = str_printf(
			"constants: {half: 50}\nlayout:\n  - mix: {share: %s}\n", t[i].written);
		cleanup_free char *expected = str_printf(
			"step do=mix share=%s per_block=1 how=auto order=0\n", t[i].ppm);

		check_steps(yaml, expected);
	}
	check_bad("layout:\n  - mix: {share: 101%}\n", "share is 101; allowed are 0 to 100 per cent");
	check_bad("layout:\n  - mix: {share: 0%}\n", "f.yaml:3:18: mix: share is 0, which would put");
	check_bad("layout:\n  - mix: {share: '0'}\n", "leave the step out");
	check_bad("layout:\n  - mix: {share: -1%}\n", "share is -1; allowed are 0 to 100 per cent");
	check_bad("layout:\n  - mix: {share: 30}\n", "must be a share such as 2%");
	check_bad("layout:\n  - mix: {share: nan}\n", "must be a share such as 2%");
	check_bad("layout:\n  - mix: {share: hlaf %}\n", "unknown name \"hlaf\"");
	check_bad("layout:\n  - mix: {share: '%'}\n", "f.yaml:3:");
	check_bad("layout:\n  - mix:\n", "mix needs share");
	check_bad("layout:\n  - shape: {order11: 3}\n", "unknown parameter of shape \"order11\"");
	check_bad("layout:\n  - shape: {order0: -3}\n", "order0 is -3");
}

static bool wants_fuse(const char *middle)
{
	cleanup_free char *text = str_printf("%s%s%s", HEAD, middle, TAIL);
	struct error err = ERROR_INIT;
	struct scenario_plan plan;
	struct scenario *s = NULL;
	size_t n = 0;

	if (scenario_parse("f.yaml", text, strlen(text), &s, &err) < 0 ||
	    scenario_expand(s, 0, &plan, &err) < 0)
		fail_msg("%s", err.text);
	for (char **m = plan.modules; *m; m++)
		n += strcmp(*m, "fuse") == 0;
	assert_true(n <= 1);
	scenario_plan_free(&plan);
	scenario_free(s);
	return n;
}

/* Page cache comes by way of FUSE, which some kernels have as a module; nothing else needs it. */
static void test_modules(void **state)
{
	assert_true(wants_fuse("layout:\n  - fill: {kind: file, leave: 64M}\n  - fill: {kind: file, leave: 1M}\n"));
	assert_true(wants_fuse("layout:\n  - repeat: {times: 2, steps: [{fill: {kind: file, leave: 64M}}]}\n"));
	assert_true(wants_fuse("vary: {k: [shmem, file]}\nlayout:\n  - fill: {kind: k, leave: 64M}\n"));
	assert_false(wants_fuse("vary: {k: [shmem, slab]}\nlayout:\n  - fill: {kind: k, leave: 64M}\n"));
	assert_false(wants_fuse("layout:\n  - fill: {leave: 64M}\n  - compact: {}\n"));
	assert_false(wants_fuse(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_named),	 cmocka_unit_test(test_constants),
		cmocka_unit_test(test_named_bad), cmocka_unit_test(test_list),
		cmocka_unit_test(test_shipped),	 cmocka_unit_test(test_repeat),
		cmocka_unit_test(test_repeat_bad), cmocka_unit_test(test_shares),
		cmocka_unit_test(test_modules),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
