// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "results/pageblocks.h"
#include "results/util/cleanup.h"

static int add(struct pageblocks *p, const char *text)
{
	/* On the heap and to the byte, so that a sanitizer sees a read beyond. */
	size_t n = strlen(text);
	cleanup_free char *copy = xmalloc(n ? n : 1);

	memcpy(copy, text, n);
	return pageblocks_add(p, copy, n);
}

static void test_map_of_two_chunks(void **state)
{
	struct pageblocks p = { 0 };
	size_t states[BLOCK_STATES];
	uint64_t pages[PAGE_KINDS];

	/* Order 3: eight pages a block. Block 2 has no page, and no line. */
	assert_int_equal(add(&p, "pageblocks 1 order 3 first 0 blocks 4\n"
				 "0 8 0 0 0 0\n1 1 1 6 0 0\n3 0 0 0 8 0\n"), 0);
	assert_int_equal(add(&p, "pageblocks 1 order 3 first 4 blocks 4\n"
				 "4 0 0 8 0 0\n5 0 1 7 0 0\n6 2 0 6 0 0\n7 4 0 0 0 4\n"), 0);
	assert_int_equal(p.n, 7);
	assert_int_equal(p.end, 8);
	assert_int_equal(p.bad, 0);
	assert_int_equal(p.order, 3);
	assert_int_equal(p.block[2].block, 3);
	assert_int_equal(p.block[1].pages[PAGES_MOVABLE], 6);
	pageblocks_count(&p, states, pages);
	assert_int_equal(states[BLOCK_FREE], 2); /* 0, and 7 with its hole */
	assert_int_equal(states[BLOCK_PINNED_PART], 1);
	assert_int_equal(states[BLOCK_PINNED], 1);
	assert_int_equal(states[BLOCK_UNMOVABLE], 1);
	assert_int_equal(states[BLOCK_MOVABLE], 1);
	assert_int_equal(states[BLOCK_MOVABLE_PART], 1);
	assert_int_equal(states[BLOCK_HOLE], 0);
	assert_int_equal(pages[PAGES_FREE], 8 + 1 + 2 + 4);
	assert_int_equal(pages[PAGES_PINNED], 2);
	assert_int_equal(pages[PAGES_HOLE], 4);
	pageblocks_free(&p);
	assert_null(p.block);
}

static void test_bad_header(void **state)
{
	static const char *const bad[] = {
		"",
		"pageblocks",
		"pageblocks 1 order 3 first 0 blocks 4", /* cut off */
		"pageblocks 2 order 3 first 0 blocks 4\n",
		"pageblocks 1 order 21 first 0 blocks 4\n",
		"pageblocks 1 order -3 first 0 blocks 4\n",
		"pageblocks 1 order 3 first 0 blocks 4194305\n",
		"pageblocks 1 order 3 first 4194304 blocks 1\n",
		"pageblocks 1 order 3 first 4294967295 blocks 4294967295\n",
		"pageblocks 1 order 3 first 99999999999999999999 blocks 4\n",
		"pageblocks 1 order 3 first  blocks 4\n",
		"pageblocks 1 order 3 first 0 blocks 4 more\n",
		"nr_free_pages 12\n",
	};
	struct pageblocks p = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(add(&p, bad[i]), -1);
	assert_int_equal(p.n, 0);
	assert_int_equal(p.end, 0);
	/* A chunk of another order, or of blocks that were there before. */
	assert_int_equal(add(&p, "pageblocks 1 order 3 first 2 blocks 2\n2 8 0 0 0 0\n"), 0);
	assert_int_equal(add(&p, "pageblocks 1 order 4 first 4 blocks 2\n4 16 0 0 0 0\n"), -1);
	assert_int_equal(add(&p, "pageblocks 1 order 3 first 3 blocks 2\n3 8 0 0 0 0\n"), -1);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.end, 4);
	pageblocks_free(&p);
}

static void test_bad_lines(void **state)
{
	struct pageblocks p = { 0 };

	assert_int_equal(add(&p, "pageblocks 1 order 3 first 10 blocks 4\n"
				 "9 8 0 0 0 0\n"	  /* below the chunk */
				 "14 8 0 0 0 0\n"	  /* above */
				 "10 7 0 0 0 0\n"	  /* one page short */
				 "10 4294967295 0 0 0 9\n" /* 8 in 32 bits */
				 "10 8 0 0 0\n"
				 "10 8 0 0 0 0 0\n"
				 "10 8 0 0 0 0 \n"
				 "10 -8 0 0 0 16\n"
				 "\x1b[2J\n"
				 "\n"
				 "12 8 0 0 0 0\n"
				 "12 8 0 0 0 0\n" /* again */
				 "11 8 0 0 0 0\n" /* out of order */
				 "13 8 0 0 0 0"), 0); /* cut off */
	assert_int_equal(p.n, 1);
	assert_int_equal(p.block[0].block, 12);
	assert_int_equal(p.bad, 13);
	assert_int_equal(p.end, 14);
	pageblocks_free(&p);
}

static void test_most_blocks(void **state)
{
	struct pageblocks p = { 0 };

	assert_int_equal(add(&p, "pageblocks 1 order 0 first 0 blocks 4194304\n4194303 0 0 0 0 1\n"), 0);
	assert_int_equal(p.n, 1);
	assert_int_equal(add(&p, "pageblocks 1 order 0 first 4194304 blocks 0\n"), 0);
	assert_int_equal(add(&p, "pageblocks 1 order 0 first 4194304 blocks 1\n"), -1);
	pageblocks_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map_of_two_chunks),
		cmocka_unit_test(test_bad_header),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_most_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
