// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "guest/layout.h"

static struct layout of(uint64_t tolerance_ppm)
{
	return (struct layout){ .tolerance_ppm = tolerance_ppm, .tolerance_given = true };
}

/* Rounded up, so that what is above a limit by a hair is above it as a number too. */
static void test_ppm(void **state)
{
	assert_int_equal(judge_ppm(0, 7), 0);
	assert_int_equal(judge_ppm(1, 50), 20000);
	assert_int_equal(judge_ppm(1, 49), 20409); /* 20408.16 */
	assert_int_equal(judge_ppm(1, 3000000), 1);
	assert_int_equal(judge_ppm(7, 7), 1000000);
	assert_int_equal(judge_ppm(0, 0), 0);
	assert_true(judge_ppm(1, 0) == JUDGED_NO_SHARE);
	assert_int_equal(judge_ppm(UINT64_MAX, UINT64_MAX), 1000000);
	assert_true(judge_ppm(UINT64_MAX, 1) == JUDGED_NO_SHARE - 1);
}

/* The step's own, then the scenario's, then the step's default. */
static void test_which_tolerance(void **state)
{
	struct job job = { 0 };
	const struct job_line *with, *exact, *without;
	struct layout l = { .job = &job };

	job_add(&job, "step", "do", "shape", "tolerance", "70000", NULL);
	job_add(&job, "step", "do", "shape", "tolerance", "0", NULL);
	job_add(&job, "step", "do", "shape", NULL);
	with = job_next(&job, NULL, "step");
	exact = job_next(&job, with, "step");
	without = job_next(&job, exact, "step");
	judge_init(&l);
	assert_false(l.tolerance_given);
	assert_int_equal(l.tolerance_ppm, 20000);
	assert_int_equal(layout_tolerance(&l, with, 50000), 70000);
	assert_int_equal(layout_tolerance(&l, without, 50000), 50000);
	assert_int_equal(layout_tolerance(&l, NULL, 50000), 50000);
	job_add(&job, "option", "name", "tolerance_ppm", "value", "0", NULL); /* which moves the lines */
	with = job_next(&job, NULL, "step");
	exact = job_next(&job, with, "step");
	without = job_next(&job, exact, "step");
	judge_init(&l);
	assert_true(l.tolerance_given);
	assert_int_equal(l.tolerance_ppm, 0);
	assert_int_equal(layout_tolerance(&l, with, 50000), 70000);
	assert_int_equal(layout_tolerance(&l, exact, 50000), 0);
	assert_int_equal(layout_tolerance(&l, without, 50000), 0);
	job_free(&job);
}

static void test_slack(void **state)
{
	struct layout l = of(20000), exact = of(0);

	/* Two of 40 are 5 %. */
	assert_true(layout_within_slack(&l, 40, 42, 2));
	assert_true(layout_within_slack(&l, 40, 38, 2));
	assert_int_equal(l.judged.error_ppm, 50000);
	assert_int_equal(l.judged.slack, 2);
	assert_false(layout_within_slack(&l, 40, 43, 2));
	/* Two of 400 are less than the tolerance, which then is all that counts. */
	judge_begin(&l);
	assert_true(layout_within_slack(&l, 400, 408, 2));
	assert_int_equal(l.judged.slack, 0);
	assert_false(layout_within_slack(&l, 400, 409, 2));
	/* Against 0 there is only the slack. */
	judge_begin(&l);
	assert_true(layout_within_slack(&l, 0, 2, 2));
	assert_false(layout_within_slack(&l, 0, 3, 2));
	/* 0 % is exactly. */
	assert_true(layout_within_slack(&exact, 40, 40, 2));
	assert_false(layout_within_slack(&exact, 40, 41, 2));
	assert_false(layout_within_slack(&exact, 1u << 30, (1u << 30) - 1, 2));
	assert_int_equal(exact.judged.slack, 0);
}

static void assert_json(const struct layout *l, const char *want)
{
	char json[128];

	judge_json(&l->judged, json, sizeof(json));
	assert_string_equal(json, want);
}

static void assert_text(const struct layout *l, const char *want)
{
	char text[160];

	judge_text(&l->judged, text, sizeof(text));
	assert_string_equal(text, want);
}

static void test_report(void **state)
{
	struct layout l = of(20000);

	assert_json(&l, "");
	assert_text(&l, "");
	layout_within(&l, 1000, 990);
	assert_json(&l, ",\"error\":0.010000,\"tolerance\":0.020000");
	assert_text(&l, "");
	/* The larger error of two that held, and then what did not hold, whatever comes after. */
	layout_within(&l, 1000, 999);
	assert_json(&l, ",\"error\":0.010000,\"tolerance\":0.020000");
	layout_within(&l, 1000, 979);
	assert_text(&l, "off by 2.1 % of what was asked for, and the tolerance is 2 %");
	layout_within_slack(&l, 10, 12, 2);
	assert_json(&l, ",\"error\":0.021000,\"tolerance\":0.020000");
	judge_begin(&l);
	layout_within_slack(&l, 10, 13, 2);
	assert_json(&l, ",\"error\":0.300000,\"tolerance\":0.020000,\"slack\":2");
	assert_text(&l, "off by 30 % of what was asked for, and the tolerance is 2 % (or 2 in all)");
	judge_begin(&l);
	layout_within(&l, 0, 1);
	assert_json(&l, ",\"error\":null,\"tolerance\":0.020000");
	assert_text(&l, "nothing was asked for, and the tolerance is 2 %");
	judge_begin(&l);
	layout_within_ppm(&l, 50001, 50000); /* not "5 %, and the tolerance is 5 %" */
	assert_text(&l, "off by 5.0001 % of what was asked for, and the tolerance is 5 %");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ppm),
		cmocka_unit_test(test_which_tolerance),
		cmocka_unit_test(test_slack),
		cmocka_unit_test(test_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
