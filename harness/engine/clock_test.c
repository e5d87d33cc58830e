// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/engine/clock.h"

static char *wrong(double host_s, double guest_s, double late_s)
{
	struct clock_watch w = { 0 };

	clock_watch_note(&w, 1000, 0);
	clock_watch_note(&w, 1000.5, 3000000000u);
	clock_watch_note(&w, 1000.7, 0);
	clock_watch_note(&w, 1000.5 + host_s, 3000000000u + (uint64_t)(guest_s * 1e9));
	return clock_watch_wrong(&w, late_s);
}

static void right_clock_is_silent(void **state)
{
	struct clock_watch none = { 0 };

	assert_null(clock_watch_wrong(&none, 0));
	assert_null(wrong(0, 0, 0));
	assert_null(wrong(20, 20.1, 0));
	assert_null(wrong(20, 22.9, 0)); /* 1 s late, and a tenth */
	assert_null(wrong(20, 17.1, 0));
	assert_null(wrong(20, 16, 2));
}

/* As seen: a TSC of 2594 MHz that was taken for one of 105. */
static void fast_clock_is_told(void **state)
{
	char *why = wrong(2.7, 65.9, 0);

	assert_non_null(why);
	assert_non_null(strstr(why, "65.9 s of the guest in 2.7 s of the host"));
	free(why);
	why = wrong(20, 23.2, 0);
	assert_non_null(why);
	free(why);
}

static void slow_clock_is_told(void **state)
{
	char *why = wrong(60, 5, 0);

	assert_non_null(why);
	assert_non_null(strstr(why, "5.0 s of the guest in 60.0 s of the host"));
	free(why);
	why = wrong(20, 16.8, 0);
	assert_non_null(why);
	free(why);
	/* A clock that stands still, or goes back. */
	why = wrong(20, 0, 0);
	assert_non_null(why);
	free(why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_clock_is_silent),
		cmocka_unit_test(fast_clock_is_told),
		cmocka_unit_test(slow_clock_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
