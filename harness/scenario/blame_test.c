// SPDX-License-Identifier: GPL-2.0-only
/* Where an error in a value is told, with the real registry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

/*
 * spare is used in 7:28, step in 8:25 and, for a constant, in 4:13. Nobody says what step is, so that a
 * scenario that forgets it is the layout's own fault.
 */
static const char mine[] = "name: mine\n"
			   "constants:\n"
			   "  spare: 40\n"
			   "  half: 8 / step\n"
			   "layout:\n"
			   "  - fill: {leave: 128M}\n"
			   "  - fill: {leave: {blocks: spare}}\n"
			   "  - free: {where: pfn % step == half}\n";

static int make_folder(void **state)
{
	char dir[] = "/tmp/mmrig-blame-XXXXXX";
	cleanup_free char *path = NULL;

	if (!mkdtemp(dir))
		return -1;
	*state = xstrdup(dir);
	setenv("MMRIG_LAYOUTS", dir, 1);
	path = path_join(dir, "mine.yaml");
	return file_write_atomic(path, mine, strlen(mine), 0644, NULL);
}

static int remove_folder(void **state)
{
	int ret = dir_remove(*state, NULL);

	unsetenv("MMRIG_LAYOUTS");
	free(*state);
	return ret;
}

struct row {
	const char *vm, *rest; /* lines 2 and 3 on */
	const char *set;       /* --set, or NULL */
	uint64_t memory;       /* --memory, or 0 */
	const char *want;      /* the whole message; "@" is the layout's file */
	const char *workload;  /* another than creating ten files, or NULL */
};

static int expand(const struct row *r, struct error *err)
{
	cleanup_free char *text =
		str_printf("name: x\nvm: %s\n%s\nworkload: {%s}\n", r->vm, r->rest,
			   r->workload ? r->workload : "tmpfs-files: {files: 10}");
	struct scenario_plan plan;
	struct scenario *s;
	int ret = scenario_parse("f.yaml", text, strlen(text), &s, err);

	if (ret < 0)
		return -1;
	if (r->set)
		ret = scenario_set(s, r->set, err);
	if (ret == 0)
		ret = scenario_expand(s, r->memory, &plan, err);
	if (ret == 0)
		scenario_plan_free(&plan);
	scenario_free(s);
	return ret;
}

static char *with_path(const char *text, const char *dir)
{
	struct strbuf sb = STRBUF_INIT;

	for (; *text; text++) {
		if (*text == '@')
			strbuf_addf(&sb, "%s/mine.yaml", dir);
		else
			strbuf_add(&sb, text, 1);
	}
	return strbuf_steal(&sb);
}

static void check(const struct row *r, const char *dir)
{
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *want = with_path(r->want, dir);

	if (expand(r, &err) == 0)
		fail_msg("taken: %s", r->rest);
	if (strcmp(err.text, want) != 0)
		fail_msg("%s\ngives: %s\nnot:   %s", r->rest, err.text, want);
	assert_int_equal(err.status, EXIT_USAGE);
}

#define LESS "; leave less, or give it more memory"
#define STEP8 "constants: {step: 8}\n"

static void test_named_layout(void **state)
{
	static const struct row t[] = {
		/* What the scenario hands to the layout, by `with`, a constant or an axis. */
		{ "{memory: 1G}", STEP8 "layout: {use: mine, with: {spare: 600}}", NULL, 0,
		  "f.yaml:4:35: spare is 600: fill: leave is 600 pageblocks of 2M, and the guest has 512" LESS
		  " (in @:7:28)" },
		{ "{memory: 1G}", STEP8 "layout: {use: mine, with: {spare: 0 - 1}}", NULL, 0,
		  "f.yaml:4:35: spare is -1: leave is -1; allowed are 0 blocks and more (in @:7:28)" },
		{ "{memory: 1G}", "constants: {step: 8, spare: 600}\nlayout: mine", NULL, 0,
		  "f.yaml:3:29: spare is 600: fill: leave is 600 pageblocks of 2M, and the guest has 512" LESS
		  " (in @:7:28)" },
		{ "{memory: 1G}", "constants: {step: 8}\nvary: {spare: [6, 600]}\nlayout: mine",
		  NULL, 0,
		  "f.yaml:4:19: spare is 600: fill: leave is 600 pageblocks of 2M, and the guest has 512" LESS
		  " (in @:7:28)" },
		/* The name that the value of `with` is made of stands in the same file: `with` it is. */
		{ "{memory: 1G}",
		  "constants: {step: 8, n: 600}\nlayout: {use: mine, with: {spare: n + 1}}", NULL,
		  0,
		  "f.yaml:4:35: spare is 601: fill: leave is 601 pageblocks of 2M, and the guest has 512" LESS
		  " (in @:7:28)" },
		/* Divided by in a constant of the layout, and in a predicate where another name stands behind. */
		{ "{memory: 1G}", "constants: {step: 0}\nlayout: mine", NULL, 0,
		  "f.yaml:3:19: step is 0: division by zero (in @:4:13)" },
		{ "{memory: 1G}", "constants: {step: 0, half: 1}\nlayout: mine", NULL, 0,
		  "f.yaml:3:19: step is 0: modulo by zero (in @:8:25)" },
		{ "{memory: 1G}", "vary: {step: [a word], half: [1]}\nlayout: mine", NULL, 0,
		  "f.yaml:3:15: step is not a number here but the text \"a word\" (in @:8:25)" },
		/* The scenario's memory is too little for what the layout says of itself. */
		{ "{memory: 256M}", STEP8 "layout: {use: mine, with: {spare: 129}}", NULL, 0,
		  "f.yaml:4:35: spare is 129: fill: leave is 129 pageblocks of 2M, and the guest has 128" LESS
		  " (in @:7:28)" },
		/* The layout's own fault. */
		{ "{memory: 1G}", "layout: mine", NULL, 0,
		  "@:4:13: unknown name \"step\"; known are: memory, cpus, "
		  "spare, half" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t) - 1; i++)
		check(&t[i], *state);
	{
		cleanup_error struct error err = ERROR_INIT;
		cleanup_free char *place = with_path("@:4:13: unknown name \"step\"", *state);

		assert_int_equal(expand(&t[ARRAY_SIZE(t) - 1], &err), -1);
		assert_true(str_starts(err.text, place));
	}
}

#define FILL2 "layout: [fill: {leave: 2G}]"

static void test_options(void **state)
{
	static const struct row t[] = {
		{ "{memory: 4G}", FILL2, "memory=1G", 0,
		  "--set memory=1G:1:8: memory is 1G: fill: leave is 2G, and the guest has 1G" LESS
		  " (in f.yaml:3:24)" },
		{ "{memory: 4G}", FILL2, NULL, 1ULL << 30,
		  "--memory: memory is 1G: fill: leave is 2G, and the guest has 1G" LESS
		  " (in f.yaml:3:24)" },
		{ "{memory: 1G}", FILL2, NULL, 0,
		  "f.yaml:3:24: fill: leave is 2G, and the guest has 1G" LESS },
		/* By --set itself: its place, and no other. */
		{ "{memory: 1G}", "layout: [fill: {leave: 1%}]", "layout.0.leave=2G", 0,
		  "--set layout.0.leave=2G:1:16: fill: leave is 2G, and the guest has 1G" LESS },
		{ "{memory: 1G}", "layout: [fill: {leave: 1%}]", "layout.0.leave.blocks=513", 0,
		  "--set layout.0.leave.blocks=513:1:23: fill: leave is 513 pageblocks of 2M, and the guest has 512" LESS },
		{ "{memory: 1G}", "constants: {n: 1}\nlayout: [fill: {leave: 2M * n}]", "n=513", 0,
		  "--set n=513:1:3: n is 513: fill: leave is 1026M, and the guest has 1G" LESS
		  " (in f.yaml:4:24)" },
		{ "{memory: 1G}", "constants: {m: n + 1, n: 1}\nlayout: [fill: {leave: m * 1G}]",
		  "n=2", 0,
		  "--set n=2:1:3: n is 2: fill: leave is 3G, and the guest has 1G" LESS
		  " (in f.yaml:4:24)" },
		{ "{memory: 1G}", STEP8 "layout: {use: mine, with: {spare: 4}}", "spare=600", 0,
		  "--set spare=600:1:7: spare is 600: fill: leave is 600 pageblocks of 2M, and the guest has 512" LESS
		  " (in @:7:28)" },
		{ "{memory: 1G}",
		  "constants: {a: 3}\nlayout: [{fill: {leave: 1%}}, {free: {where: pfn % (3 - a) == a}}]",
		  "a=3", 0, "--set a=3:1:3: a is 3: modulo by zero (in f.yaml:4:53)" },
		{ "{memory: 1G}", "constants: {step: 8, half: 1}\nlayout: mine", "step=0", 0,
		  "--set step=0:1:6: step is 0: modulo by zero (in @:8:25)" },
		{ "{memory: 1G}", "layout: [{fill: {leave: 1%}}, {pin: {count: 5}}]",
		  "layout.1.share=5%", 0,
		  "--set layout.1.share=5%:1:16: pin: count and share: give one of them (in f.yaml:3:32)" },
		{ "{memory: 1G}", "layout: [fill: {kind: slab, leave: 1%}]", "layout.0.zone=dma", 0,
		  "--set layout.0.zone=dma:1:15: fill: zone goes with anon and thp alone, whose pages can be given "
		  "back one by one (in f.yaml:3:10)" },
		{ "{memory: 2G, numa: [1G, {size: 1G, cpus: 2}]}", "", "cpus=1", 0,
		  "--set cpus=1:1:6: cpus is 1: the nodes want more CPUs than the 1 that there are (in f.yaml:2:46)" },
		{ "{memory: 2G, movablecore: 1G}", "", NULL, 512 << 20,
		  "--memory: memory is 512M: movablecore is 1G; allowed are 2M to 510M "
		  "(in f.yaml:2:31)" },
		{ "{memory: 2G, movablecore: 1M}", "", NULL, 512 << 20,
		  "f.yaml:2:31: movablecore is 1M; allowed are 2M to 510M" },
		{ "{memory: 2G, least: 1G}", "", NULL, 512 << 20,
		  "--memory: memory is 512M: a guest of at least 1024 MiB is needed, and 512 MiB are given (in "
		  "f.yaml:2:25); give --memory 1024M or more" },
		{ "{memory: 512M, least: 1G}", "", NULL, 0,
		  "f.yaml:2:27: a guest of at least 1024 MiB is needed, and 512 MiB are given; give --memory 1024M "
		  "or more" },
		/* An expression of the memory is at fault through it. */
		{ "{memory: 4G}", "layout: [fill: {leave: memory - 2G}]", NULL, 1ULL << 30,
		  "--memory: memory is 1G: leave is -1G; allowed are 0 bytes and more (in f.yaml:3:24)" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		check(&t[i], *state);
}

#define WHERE(text) "layout: [{fill: {leave: 5%}}, {free: {where: " text "}}]"
#define OF_MEMORY "--memory: memory is 512M: "
#define ZONES "zone is dma or dma32; normal takes 2816M of memory or more, and movable takes vm: {movablecore: SIZE}"

/* --memory is at fault where a larger guest would do, and only there. 512 MiB end at pfn 131071, block 255. */
static void test_where_of_memory(void **state)
{
	static const struct row t[] = {
		{ "{}", WHERE("pfn % 8 == 9"), NULL, 512 << 20,
		  "f.yaml:3:46: free: pfn % 8 == 9 is never true: pfn % 8 is 0 to 7" },
		{ "{}", WHERE("offset >= 512"), NULL, 512 << 20,
		  "f.yaml:3:46: free: offset >= 512 is never true: offset is 0 to 511" },
		{ "{}", WHERE("block in 3..2"), NULL, 512 << 20,
		  "f.yaml:3:46: free: block in 3..2 is never true: 3 is more than 2" },
		{ "{}", WHERE("pfn < 16"), NULL, 512 << 20,
		  "f.yaml:3:46: free: pfn < 16 is never true: pfn is 16 to 131071" },
		{ "{}", WHERE("pfn % 16 == 3 && pfn % 8 == 5"), NULL, 512 << 20,
		  "f.yaml:3:63: free: pfn % 8 == 5 is never true where pfn % 16 == 3 is" },
		{ "{}", WHERE("zone == HighMem"), NULL, 512 << 20,
		  "f.yaml:3:46: free: zone == HighMem is never true: " ZONES },
		{ "{}", WHERE("zone == Movable"), NULL, 512 << 20,
		  "f.yaml:3:46: free: zone == Movable is never true: " ZONES },
		{ "{}", WHERE("pfn == 131072"), NULL, 512 << 20,
		  OF_MEMORY "free: pfn == 131072 is never true: pfn is 16 to 131071 (in f.yaml:3:46)" },
		{ "{}", WHERE("pfn % 8 == 4 && block >= 256"), NULL, 512 << 20,
		  OF_MEMORY "free: block >= 256 is never true: block is 0 to 255 (in f.yaml:3:62)" },
		{ "{}", WHERE("zone == Normal"), NULL, 512 << 20,
		  OF_MEMORY "free: zone == Normal is never true: " ZONES " (in f.yaml:3:46)" },
		/* The first part would do in a larger guest, the second never. */
		{ "{}", WHERE("block == 300 && offset == 512"), NULL, 512 << 20,
		  OF_MEMORY "free: block == 300 is never true: block is 0 to 255 (in f.yaml:3:46)" },
		{ "{}", WHERE("offset == 512 && block == 300"), NULL, 512 << 20,
		  "f.yaml:3:46: free: offset == 512 is never true: offset is 0 to 511" },
		{ "{}", "layout: [{fill: {leave: 5%, zone: Normal}}]", NULL, 512 << 20,
		  OF_MEMORY "fill: this guest of 512M has no zone normal, which begins at 4G: its memory lies in dma "
			    "and dma32; give it 2816M of memory or more (in f.yaml:3:35)" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		check(&t[i], *state);
}

/* In the same file the value stays the place; of an axis it is said which value it had. */
static void test_axes(void **state)
{
	static const struct row t[] = {
		{ "{memory: 2G}", "vary: {n: [1, 3]}\nlayout: [fill: {leave: n * 1G}]", NULL, 0,
		  "f.yaml:4:24: fill: leave is 3G, and the guest has 2G" LESS " (where n is 3)" },
		{ "{memory: size}",
		  "vary: {size: [4G, 1G], n: [2]}\nlayout: [fill: {leave: n * 1G}]", NULL, 0,
		  "f.yaml:4:24: fill: leave is 2G, and the guest has 1G" LESS
		  " (where size is 1G)" },
		{ "{memory: 1G}",
		  "vary: {a: [1, 2], b: [1, 0]}\nlayout: [{fill: {leave: 1%}}, {free: {where: pfn / a / b}}]",
		  NULL, 0, "f.yaml:4:56: division by zero (where b is 0)" },
		{ "{memory: 1G}",
		  "vary: {a: [1, 2]}\nlayout: [{fill: {leave: 1%}}, {free: {where: pfn % (a - 1) == a}}]",
		  NULL, 0, "f.yaml:4:53: modulo by zero (where a is 1)" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		check(&t[i], *state);
}

/* What a step needs of those before it, and of the guest's nodes: at the step, or at its parameter. */
static void test_steps(void **state)
{
#define OWN "no step before it takes pages of the layout's own, so there is nothing to be "
#define PUT "; put fill: {kind: anon, leave: ...} before it (kind thp and shape do too)"
	static const struct row bad[] = {
		{ "{}", "layout:\n  - pin:\n  - fill: {leave: 1%}", NULL, 0,
		  "f.yaml:4:5: pin: " OWN "pinned" PUT },
		{ "{}", "layout:\n  - fill: {kind: file, leave: 1%}\n  - free: {share: 50%}", NULL,
		  0, "f.yaml:5:5: free: " OWN "given back" PUT },
		{ "{}", "layout:\n  - repeat: {times: 2, steps: [{pin: {}}, {fill: {leave: 1%}}]}",
		  NULL, 0, "f.yaml:4:33: pin: " OWN "pinned" PUT },
		{ "{}", "constants: {free: 3}\nlayout:\n  - free: {share: 50%}", "free=4", 0,
		  "f.yaml:5:5: free: " OWN "given back" PUT },
		{ "{}", "layout:\n  - fill: {leave: 1%, node: 1}", NULL, 0,
		  "f.yaml:4:29: fill: there is no node 1: this guest has one node, 0; list its nodes in vm: "
		  "{numa: [...]}" },
		{ "{numa: [1G, 1G]}", "constants: {n: 2}\nlayout:\n  - fill: {leave: 1%, node: n}",
		  NULL, 0, "f.yaml:5:29: fill: there is no node 2: vm: numa has 2 nodes, 0 to 1" },
		{ "{numa: [1G, 1G]}", "constants: {n: 1}\nlayout:\n  - fill: {leave: 1%, node: n}",
		  "n=2", 0,
		  "--set n=2:1:3: n is 2: fill: there is no node 2: vm: numa has 2 nodes, 0 to 1 (in f.yaml:5:29)" },
		{ "{memory: 1G}", "layout:\n  - shape: {order0: 9000, order10: 300}", NULL, 0,
		  "f.yaml:4:36: shape: the orders add up to 316200 free pages, and the guest of 1G has 262144 in "
		  "all; ask for fewer, or give it more memory" },
		{ "{memory: 1G}", "layout:\n  - shape: {order0: 90}", NULL, 0,
		  "f.yaml:4:5: shape: fewer than 2048 free pages in all leave a guest nothing to go on" },
		{ "{memory: 1G}", "layout:\n  - shape: {order0: 90}", "layout.0.order0=80", 0,
		  "--set layout.0.order0=80:1:17: shape: fewer than 2048 free pages in all leave a guest nothing to "
		  "go on (in f.yaml:4:5)" },
	};
	static const struct row good[] = {
		{ "{}", "layout:\n  - fill: {leave: 1%}\n  - pin:\n  - free: {share: 50%}" },
		{ "{}", "layout:\n  - shape: {order0: 9000}\n  - pin:" },
		{ "{}",
		  "layout:\n  - fill: {kind: thp, leave: 1%}\n  - fill: {kind: file, leave: 1%}\n  - pin:" },
		{ "{}",
		  "layout:\n  - repeat: {times: 2, steps: [{fill: {leave: 1%}}, {pin: {}}]}\n  - pin:" },
		{ "{}", "layout:\n  - mix: {share: 1%, how: dentries}\n  - compact:\n  - reclaim: {bytes: 1M}" },
		{ "{numa: [1G, 1G]}", "layout:\n  - fill: {leave: 1%, node: 1}" },
		{ "{movablecore: 1G}", "layout:\n  - fill: {leave: 1%, zone: movable}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		check(&bad[i], *state);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		cleanup_error struct error err = ERROR_INIT;

		if (expand(&good[i], &err) < 0)
			fail_msg("%s: %s", good[i].rest, err.text);
	}
}

/* Names that lead back to themselves, and many ways to the same one: an end, and soon. */
static void test_circles(void **state)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	cleanup_error struct error err = ERROR_INIT;
	const struct row circle = { "{}", "constants: {a: 1 / 0 + b, b: a}", NULL, 0, "" };
	struct row r = { "{}", NULL, NULL, 0, "" };

	assert_int_equal(expand(&circle, &err), -1);
	assert_true(str_starts(err.text, "f.yaml:3:20: division by zero"));
	error_clear(&err);
	strbuf_adds(&sb, "constants: {c0: 2");
	for (int i = 1; i < 60; i++)
		strbuf_addf(&sb, ", c%d: c%d + c%d + c%d - c%d - c%d", i, i - 1, i - 1, i - 1,
			    i - 1, i - 1);
	strbuf_adds(&sb, "}\nlayout: [fill: {leave: c59 * 1T}]");
	r.rest = sb.data;
	assert_int_equal(expand(&r, &err), -1);
	assert_non_null(strstr(err.text, "leave is 2T, and the guest has 2G"));
}

/* What a workload asks of the guest, as what a step asks. */
static void test_workload(void **state)
{
	static const struct row t[] = {
		{ "{memory: 512M}", "layout: [compact: {}]", NULL, 0,
		  "f.yaml:4:41: mthp-fault: most is 512M, and the guest has 512M",
		  "mthp-fault: {count: 5, most: 512M}" },
		{ "{memory: 1G}", "layout: [compact: {}]", NULL, 512 << 20,
		  "--memory: memory is 512M: mthp-fault: most is 512M, and the guest has 512M"
		  " (in f.yaml:4:41)",
		  "mthp-fault: {count: 5, most: 512M}" },
		{ "{memory: 512M}", "layout: [compact: {}]", NULL, 0,
		  "f.yaml:4:41: mthp-fault: from is 24K: huge pages are of 16K, 32K, 64K ... 2M",
		  "mthp-fault: {count: 5, from: 24K}" },
		{ "{memory: 512M}", "layout: [compact: {}]", NULL, 0,
		  "f.yaml:4:41: mthp-fault: from is 64K, and to only 32K",
		  "mthp-fault: {count: 5, from: 64K, to: 32K}" },
		{ "{memory: 512M}", "layout: [compact: {}]", NULL, 0,
		  "f.yaml:4:41: most is 1M; allowed are 2M and more",
		  "mthp-fault: {count: 5, most: 1M}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		check(&t[i], *state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_named_layout), cmocka_unit_test(test_options),
		cmocka_unit_test(test_where_of_memory),
		cmocka_unit_test(test_axes),	     cmocka_unit_test(test_steps),
		cmocka_unit_test(test_circles),	     cmocka_unit_test(test_workload),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
