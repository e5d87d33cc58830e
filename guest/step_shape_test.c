// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "guest/step_shape.c"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void test_distance(void **state)
{
	const uint64_t a[ORDERS] = { 100, 50, 25 }; /* 300 pages */
	const uint64_t none[ORDERS] = { 0 };
	/* 40 pages of order 0 stand as 10 blocks of order 2: 40 of 300 */
	const uint64_t moved[ORDERS] = { 60, 50, 35 };
	/* 30 more of order 0; 20 pages of order 1 are missing */
	const uint64_t both[ORDERS] = { 130, 40, 25 };
	const uint64_t less[ORDERS] = { 100, 50, 10 };

	assert_int_equal(distance_ppm(a, a), 0);
	assert_int_equal(distance_ppm(a, moved), 133334);
	assert_int_equal(distance_ppm(a, both), 100000);
	assert_int_equal(distance_ppm(a, less), 200000);
	assert_int_equal(distance_ppm(a, none), 1000000);
	assert_int_equal(distance_ppm(none, none), 0);
	assert_true(distance_ppm(none, a) == UINT64_MAX);
}

/* The report holds the largest numbers that there can be. */
static void test_report_fits(void **state)
{
	uint64_t most[ORDERS];
	struct step_report r;

	for (unsigned int k = 0; k < ORDERS; k++)
		most[k] = 1ull << 30;
	print_blocks(r.got, sizeof(r.got), most);
	assert_true(strlen(r.got) + 60 < sizeof(r.got));
	assert_memory_equal(r.got, "\"order0\":1073741824,\"order1\":", 28);
	assert_string_equal(r.got + strlen(r.got) - 10, "1073741824");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_report_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
