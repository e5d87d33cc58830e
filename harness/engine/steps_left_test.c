// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "harness/engine/steps_left.h"
#include "results/util/str.h"

#define DONE0 "{\"index\":0,\"step\":\"fill\",\"ok\":true}"
#define FAILED1 "{\"index\":1,\"step\":\"pin\",\"ok\":false}"
#define LEFT(i, name) "{\"index\":" #i ",\"step\":\"" name "\",\"state\":\"not reached\"}"
#define BEGUN(i, name) "{\"index\":" #i ",\"step\":\"" name "\",\"state\":\"not finished\"}"

static void check(const char *before, uint64_t begun, const char *after)
{
	struct run r = { .layout_json = before ? xstrdup(before) : NULL };
	struct job job = { 0 };

	job_add(&job, "step", "do", "fill", NULL);
	job_add(&job, "step", "do", "pin", NULL);
	job_add(&job, "step", "do", "free", NULL);
	steps_left_to_run(&job, begun, &r);
	assert_string_equal(r.layout_json, after);
	free(r.layout_json);
	job_free(&job);
}

static void test_left(void **state)
{
	/* The second failed: what comes behind it was not reached, the proof included. */
	check("[" DONE0 "," FAILED1 "]", 2,
	      "[" DONE0 "," FAILED1 "," LEFT(2, "free") "," LEFT(3, "proof") "]");
	/* The guest went away within the second. */
	check("[" DONE0 "]", 2,
	      "[" DONE0 "," BEGUN(1, "pin") "," LEFT(2, "free") "," LEFT(3, "proof") "]");
	/* It never came up. */
	check(NULL, 0, "[" LEFT(0, "fill") "," LEFT(1, "pin") "," LEFT(2, "free") "," LEFT(3, "proof") "]");
	/* Within the proof. */
	check("[" DONE0 ",{\"index\":1},{\"index\":2}]", 4,
	      "[" DONE0 ",{\"index\":1},{\"index\":2}," BEGUN(3, "proof") "]");
	/* Nothing is left. */
	check("[{\"index\":0},{\"index\":1},{\"index\":2},{\"index\":3}]", 4,
	      "[{\"index\":0},{\"index\":1},{\"index\":2},{\"index\":3}]");
}

/* Indexes that are none, and more reports than are kept. */
static void test_hostile(void **state)
{
	struct run r = { .layout_json = NULL };
	struct strbuf sb = STRBUF_INIT;
	struct job job = { 0 };

	check("[{\"index\":\"0\"},{\"index\":-1},7]", 0,
	      "[{\"index\":\"0\"},{\"index\":-1},7," LEFT(0, "fill") "," LEFT(1, "pin") "," LEFT(2, "free")
	      "," LEFT(3, "proof") "]");
	check("{}", 0, "[" LEFT(0, "fill") "," LEFT(1, "pin") "," LEFT(2, "free") "," LEFT(3, "proof") "]");
	for (int i = 0; i < 256; i++)
		strbuf_adds(&sb, i ? ",7" : "[7");
	strbuf_adds(&sb, "]");
	check(sb.data, 0, sb.data);
	strbuf_free(&sb);
	/* A scenario without a layout has nothing to prove. */
	steps_left_to_run(&job, 0, &r);
	assert_null(r.layout_json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
