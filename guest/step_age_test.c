// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "guest/procfs.h"

static int fake_zones_read(struct zones *z, unsigned int order)
{
	return 0;
}

#define zones_read fake_zones_read
#include "guest/step_age.c"
#undef zones_read

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* 1, 2, 4 and 8 pages: 15 for four operations. */
static void test_rounds(void **state)
{
	struct layout l = { .zones = { .n = 1 } };
	uint64_t pages;

	l.zones.zone[0] = (struct zone){ .free = 100100, .low = 100 };
	assert_int_equal(next_round(&l, 4, 4, &pages), 4);
	assert_int_equal(pages, 15);
	assert_int_equal(next_round(&l, 6, 4, &pages), 6); /* and one more of 1 and of 2 pages */
	assert_int_equal(pages, 18);
	assert_int_equal(next_round(&l, 100, 1, &pages), 100);
	assert_int_equal(pages, 100);
	assert_int_equal(next_round(&l, 1000000, 4, &pages), ROUND_MAX);
	assert_int_equal(pages, ROUND_MAX / 4 * 15);
	/* What there is room for: half of it is 50 pages. */
	l.zones.zone[0].free = 200;
	assert_int_equal(next_round(&l, 1000000, 1, &pages), 50);
	assert_int_equal(pages, 50);
	assert_true(next_round(&l, 1000000, 4, &pages) <= 14);
	assert_true(pages <= 50);
	l.zones.zone[0].free = 100;
	assert_int_equal(next_round(&l, 1000000, 4, &pages), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_rounds) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
