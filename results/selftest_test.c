// SPDX-License-Identifier: GPL-2.0-only
#include "results/selftest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void read_two(const char *a, const char *b, struct selftest_run run[2])
{
	assert_int_equal(selftest_read(a, &run[0]), 0);
	assert_int_equal(selftest_read(b, &run[1]), 0);
	selftest_align(run, 2);
}

static void free_two(struct selftest_run run[2])
{
	selftest_run_free(&run[0]);
	selftest_run_free(&run[1]);
}

static void test_members(void **state)
{
	struct selftest_run run;
	struct selftest *t;

	assert_int_equal(
		selftest_read("{\"metrics\":{\"time\":1},"
			      "\"selftest.cow.0\":[[1,\"pass\",\"a\",\"\",\"\"],[2,\"fail\",\"a\",\"\",\"why\"]],"
			      "\"selftest.cow.1\":[[3,\"skip\",\"No leak\",\"with swap\",\"no swap\"]],"
			      "\"selftest.cow\":{\"verdict\":\"fail\",\"seconds\":1.5,\"why\":\"one of 3\"},"
			      "\"selftest.merge\":{\"verdict\":\"pass\"}}",
			      &run),
		0);
	assert_int_equal(run.n, 2);
	t = selftest_find(&run, "cow");
	assert_non_null(t);
	assert_string_equal(t->verdict, "fail");
	assert_string_equal(t->why, "one of 3");
	assert_true(t->seconds == 1.5);
	assert_int_equal(t->nsubs, 3);
	/* Called alike, and told apart. */
	assert_string_equal(t->sub[0].id, "a");
	assert_string_equal(t->sub[1].id, "a (2)");
	assert_string_equal(t->sub[2].id, "with swap");
	assert_ptr_equal(selftest_find_sub(t, "a (2)"), &t->sub[1]);
	assert_null(selftest_find_sub(t, "b"));
	assert_null(selftest_find(&run, "co"));
	selftest_run_free(&run);
}

/* Of one that was cut off there are sub-tests, and no word of its end. */
static void test_cut_off(void **state)
{
	struct selftest_run run;

	assert_int_equal(selftest_read("{\"selftest.cow.0\":[[1,\"pass\",\"a\",\"\",\"\"]],\"partial\":true}", &run), 0);
	assert_string_equal(run.test[0].verdict, "crash");
	selftest_run_free(&run);
}

static void test_hostile(void **state)
{
	static const char *const bad[] = {
		"", "{", "[]", "{}", "{\"selftest.\":{}}", "{\"selftest.a\":[]}", "{\"selftest.a.0\":{}}",
		"{\"selftest.a.0\":[1,\"x\",[],[1],[\"pass\",1],[-1,\"pass\"],[1e9,\"pass\"]]}",
	};
	struct selftest_run run;

	assert_int_equal(selftest_read(NULL, &run), -1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int ret = selftest_read(bad[i], &run);

		for (size_t t = 0; t < run.n; t++)
			for (size_t s = 0; s < run.test[t].nsubs; s++)
				fail_msg("%s: taken as a sub-test", bad[i]);
		assert_true(ret == 0 || run.n == 0);
		selftest_run_free(&run);
	}
}

/* A skip tells only why; its name is known from the run in which it passed. */
static void test_names_of_skips(void **state)
{
	struct selftest_run run[2];

	read_two("{\"selftest.a.0\":[[1,\"pass\",\"one\",\"\",\"\"],[2,\"pass\",\"two\",\"\",\"\"]]}",
		 "{\"selftest.a.0\":[[1,\"pass\",\"one\",\"\",\"\"],[2,\"skip\",\"\",\"\",\"no swap\"]]}", run);
	assert_string_equal(run[1].test[0].sub[1].id, "two");
	free_two(run);
	/* With another number of sub-tests, numbers say nothing. */
	read_two("{\"selftest.a.0\":[[1,\"pass\",\"one\",\"\",\"\"],[2,\"pass\",\"two\",\"\",\"\"]]}",
		 "{\"selftest.a.0\":[[1,\"skip\",\"\",\"\",\"no swap\"],[2,\"skip\",\"\",\"\",\"\"],"
		 "[3,\"skip\",\"\",\"\",\"no swap\"]]}", run);
	assert_string_equal(run[1].test[0].sub[0].id, "no swap");
	assert_string_equal(run[1].test[0].sub[1].id, "#2");
	assert_string_equal(run[1].test[0].sub[2].id, "no swap (2)");
	free_two(run);
}

static void test_measured_names(void **state)
{
	struct selftest_run run[2];

	read_two("{\"selftest.a.0\":[[1,\"pass\",\"7 pages (0.0%)\",\"\",\"\"],[2,\"pass\",\"THP\",\"\",\"\"]]}",
		 "{\"selftest.a.0\":[[1,\"fail\",\"12 pages (1.5%)\",\"\",\"\"],[2,\"pass\",\"page\",\"\",\"\"]]}", run);
	assert_string_equal(run[1].test[0].sub[0].id, "7 pages (0.0%)");
	assert_string_equal(run[1].test[0].sub[1].id, "page");
	free_two(run);
}

static void test_lacks(void **state)
{
	assert_string_equal(selftest_lack("MADV_PAGEOUT did not work, is swap enabled?"), "swap");
	assert_string_equal(selftest_lack("need more hugetlb pages"), "huge pages");
	assert_string_equal(selftest_lack("Failed to map source region: Cannot allocate memory"), "memory");
	assert_string_equal(selftest_lack("Not enough NUMA nodes available"), "nodes");
	assert_string_equal(selftest_lack("The test must be run as root"), "privilege");
	assert_string_equal(selftest_lack("open: No such file or directory"), "kernel support");
	assert_null(selftest_lack("x.c:490:x:Expected errno (22) == ENOMEM (12)"));
	assert_null(selftest_lack("it is Tuesday"));
	assert_null(selftest_lack(""));
	assert_true(selftest_is_bad("fail") && selftest_is_bad("timeout") && selftest_is_bad("crash") &&
		    selftest_is_bad("broken"));
	assert_false(selftest_is_bad("skip") || selftest_is_bad("xfail") || selftest_is_bad("not built") ||
		     selftest_is_bad("pass"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members), cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_hostile), cmocka_unit_test(test_names_of_skips),
		cmocka_unit_test(test_measured_names), cmocka_unit_test(test_lacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
