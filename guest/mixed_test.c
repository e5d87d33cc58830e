// SPDX-License-Identifier: GPL-2.0-only
/* Tables of real machines, and what is off by hand. */
#include "guest/mixed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void check_file(const char *path, uint64_t unmovable, uint64_t movable, uint64_t reclaimable,
		       uint64_t other)
{
	struct block_types t;
	char text[8192];

	if (file_slurp(path, text, sizeof(text)) <= 0)
		fail_msg("%s cannot be read", path);
	assert_true(block_types_parse(text, &t));
	assert_int_equal(t.unmovable, unmovable);
	assert_int_equal(t.movable, movable);
	assert_int_equal(t.reclaimable, reclaimable);
	assert_int_equal(t.other, other);
}

/* The columns stand in another order before 4.x. */
static void test_types(void **state)
{
	check_file("results/testdata/pagetypeinfo-7.3-end.txt", 1 + 87 + 37, 7 + 911 + 3029, 18 + 6, 0);
	check_file("results/testdata/pagetypeinfo-6.12.txt", 21, 489, 2, 0);
	check_file("results/testdata/pagetypeinfo-3.2.txt", 1 + 6 + 280, 6 + 1648 + 2026, 108, 5);
	check_file("results/testdata/pagetypeinfo-4.4-cma.txt", 3, 55, 2, 4);
}

static void test_bad_types(void **state)
{
	static const char *const none[] = {
		"", "Page block order: 9\n", "Number of blocks type\n", "Number of blocks type  Unmovable",
		"Number of blocks type  Unmovable  Movable\n", "Number of blocks type  Unmovable\nNode x\n",
	};
	struct block_types t;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_false(block_types_parse(none[i], &t));
	/* Cut off in the row, and a column that has no name here. */
	assert_true(block_types_parse("Number of blocks type  Unmovable  Movable\nNode 0, zone DMA 3", &t));
	assert_true(t.unmovable == 3 && t.movable == 0);
	assert_true(block_types_parse("Number of blocks type  Movable  Odd\nNode 0, zone DMA 3 4\n\n"
				      "Node 1, zone DMA 5 6\n", &t));
	assert_true(t.movable == 3 && t.other == 4);
}

static void test_off(void **state)
{
	static const struct {
		uint64_t asked, before, got, off;
	} t[] = {
		{ 166, 51, 166, 0 }, { 166, 51, 170, 4 }, { 166, 51, 160, 6 }, { 166, 51, 0, 166 },
		/* The guest had more than was asked for. */
		{ 34, 51, 51, 0 },   { 34, 51, 53, 2 },	  { 34, 51, 40, 0 },   { 34, 51, 30, 4 },
		{ 51, 51, 51, 0 },   { 0, 0, 0, 0 },	  { 0, 0, 3, 3 },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const struct mixed_kind k = { .asked = t[i].asked, .before = t[i].before };

		assert_int_equal(mixed_off(&k, t[i].got), t[i].off);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types), cmocka_unit_test(test_bad_types), cmocka_unit_test(test_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
