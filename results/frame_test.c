// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "results/frame.h"
#include "results/run_fixture.h"

static const char hostile[] = "a,b \"<script>\x1b[31m\nx";

static void expect_column(const struct frame *f, const char *name, double a, double b, double c)
{
	const double want[] = { a, b, c }, *got = frame_column(f, name);

	assert_non_null(got);
	for (size_t i = 0; i < 3; i++)
		if (isnan(want[i]) ? !isnan(got[i]) : got[i] != want[i])
			fail_msg("%s of run %zu is %f", name, i, got[i]);
}

static void test_columns(void **state)
{
	struct runset set = fixture_set();
	struct frame f;
	struct run *r = fixture_run(&set, 0, 0, VERDICT_OK);

	run_set_metric(r, "time", 1.5);
	run_set_metric(r, "allocstall", 0);
	r = fixture_run(&set, 1, 0, VERDICT_SPLAT);
	run_set_metric(r, "allocstall", 86);
	run_set_metric(r, hostile, -2);
	r->metric[1].value = INFINITY; /* as no setter would have it */
	r = fixture_run(&set, 1, 0, VERDICT_OK);
	run_set_metric(r, "time", 2.5);
	run_set_metric(r, hostile, 7);
	run_set_metric(r, "zz", 1e300);
	frame_from_set(&set, &f);
	assert_null(set.id);
	assert_null(set.run);
	assert_int_equal(set.nruns, 0);
	assert_int_equal(f.set.nruns, 3);
	assert_int_equal(f.set.run[1].verdict, VERDICT_SPLAT);
	assert_string_equal(f.set.run[2].id, "0003");
	assert_int_equal(f.set.run[0].nmetrics, 0);
	assert_int_equal(f.nmetrics, 4);
	assert_string_equal(f.metric[0], hostile);
	assert_string_equal(f.metric[1], "allocstall");
	assert_string_equal(f.metric[2], "time");
	assert_string_equal(f.metric[3], "zz");
	expect_column(&f, "allocstall", 0, 86, NAN);
	expect_column(&f, "time", 1.5, NAN, 2.5);
	expect_column(&f, hostile, NAN, NAN, 7);
	expect_column(&f, "zz", NAN, NAN, 1e300);
	assert_null(frame_column(&f, "tim"));
	assert_null(frame_column(&f, ""));
	frame_free(&f);
	assert_null(f.value);
}

static void test_empty(void **state)
{
	struct runset set = fixture_set();
	struct frame f;

	frame_from_set(&set, &f);
	assert_int_equal(f.nmetrics, 0);
	assert_int_equal(f.set.nkernels, 1);
	assert_null(frame_column(&f, "time"));
	frame_free(&f);
	set = fixture_set();
	fixture_run(&set, 0, 0, VERDICT_INFRA);
	frame_from_set(&set, &f);
	assert_int_equal(f.set.nruns, 1);
	assert_int_equal(f.nmetrics, 0);
	assert_null(frame_column(&f, "time"));
	frame_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
