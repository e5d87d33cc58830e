// SPDX-License-Identifier: GPL-2.0-only
/*
 * The free lists that a choice of groups gives, by a buddy allocator written for this test: every
 * page that was given back is free, and blocks merge as long as their buddy is free too.
 */
#include "guest/groups.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "guest/region.h"

#define PAGES 16384u
#define BLOCK 512u

static void make(struct layout *l)
{
	memset(l, 0, sizeof(*l));
	l->pfn_end = PAGES;
	l->block_order = 9;
	l->block_pages = BLOCK;
	l->nblocks = PAGES / BLOCK + 1;
	l->block = calloc(l->nblocks, sizeof(*l->block));
	assert_int_equal(region_init(l), 0);
	memset(l->own, 0xff, PAGES / 8);
	memset(l->avail, 0xff, PAGES / 8);
}

static void unmake(struct layout *l)
{
	free(l->block);
	munmap(l->own, 4 * (size_t)(PAGES / 8 + 1));
}

static void merge(const uint8_t *free_map, uint64_t blocks[ORDERS])
{
	static uint8_t whole[ORDERS][PAGES];

	memset(blocks, 0, ORDERS * sizeof(*blocks));
	for (uint32_t i = 0; i < PAGES; i++)
		whole[0][i] = bit_test(free_map, i);
	for (unsigned int k = 1; k < ORDERS; k++)
		for (uint32_t g = 0; g < PAGES >> k; g++)
			whole[k][g] = whole[k - 1][2 * g] && whole[k - 1][2 * g + 1];
	for (unsigned int k = 0; k < ORDERS; k++)
		for (uint32_t g = 0; g < PAGES >> k; g++)
			blocks[k] += whole[k][g] && (k == ORDERS - 1 || !whole[k + 1][g / 2]);
}

static void check(struct layout *l, const uint64_t asked[ORDERS], uint64_t seed)
{
	uint64_t got[ORDERS];

	for (unsigned int k = ORDERS; k-- > 0;)
		assert_int_equal(groups_pick(l, k, asked[k], seed, false), asked[k]);
	merge(l->pick, got);
	for (unsigned int k = 0; k < ORDERS; k++)
		assert_int_equal(got[k], asked[k]);
	for (uint32_t i = 0; i < PAGES; i++) /* what is given back is neither held nor to be had */
		if (bit_test(l->pick, i))
			assert_false(bit_test(l->own, i) || bit_test(l->avail, i));
}

static void test_exact(void **state)
{
	static const uint64_t shapes[][ORDERS] = {
		{ 100 },
		{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16 },
		{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 16 },
		{ 8192 },
		{ 0, 4096 },
		{ 500, 400, 300, 200, 100, 50, 20, 10, 5, 3, 2 },
		{ 1000, 0, 500, 0, 100, 0, 20, 0, 5, 0, 3 },
	};
	struct layout l;

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		for (uint64_t seed = 1; seed < 5; seed++) {
			make(&l);
			check(&l, shapes[i], seed);
			unmake(&l);
		}
	}
}

/* Every second block of an order at the most, and never beside a block that is not ours. */
static void test_limits(void **state)
{
	struct layout l;
	uint64_t got[ORDERS];

	make(&l);
	assert_int_equal(groups_pick(&l, 9, 100, 1, false), 16);
	assert_int_equal(groups_pick(&l, 10, 100, 1, false), 0);
	unmake(&l);
	make(&l); /* the upper half of each pair of order 3 belongs to somebody else */
	for (uint32_t i = 0; i < PAGES; i++) {
		if (i % 16 >= 8) {
			bit_clear(l.own, i);
			bit_clear(l.avail, i);
		}
	}
	assert_int_equal(groups_pick(&l, 3, 10, 1, false), 0);
	assert_int_equal(groups_pick(&l, 2, 100, 1, false), 100);
	merge(l.pick, got);
	assert_int_equal(got[2], 100);
	unmake(&l);
	make(&l); /* ours, but not to be given back: pinned, or not selected */
	memset(l.avail, 0, PAGES / 8);
	assert_int_equal(groups_pick(&l, 0, 1, 1, false), 0);
	for (uint32_t i = 64; i < 72; i++)
		bit_set(l.avail, i);
	assert_int_equal(groups_pick(&l, 4, 1, 1, false), 0);
	assert_int_equal(groups_pick(&l, 3, 2, 1, false), 1);
	for (uint32_t i = 0; i < PAGES; i++)
		assert_int_equal(bit_test(l.pick, i), i >= 64 && i < 72);
	unmake(&l);
}

/* The end of memory is no multiple of anything. */
static void test_odd_end(void **state)
{
	struct layout l;

	make(&l);
	l.pfn_end = 1023;
	assert_int_equal(groups_pick(&l, 10, 9, 1, false), 0);
	assert_int_equal(groups_pick(&l, 9, 9, 1, false), 1);
	assert_true(bit_test(l.pick, 0) && !bit_test(l.pick, 512));
	unmake(&l);
}

static void test_one_a_block(void **state)
{
	uint32_t count[PAGES / BLOCK] = { 0 };
	struct layout l;

	make(&l);
	for (uint32_t b = 0; b < 10; b++)
		l.block[3 * b] = 1;
	assert_int_equal(groups_pick(&l, 2, 100, 7, true), 10);
	for (uint32_t i = 0; i < PAGES; i++)
		count[i / BLOCK] += bit_test(l.pick, i);
	for (uint32_t b = 0; b < PAGES / BLOCK; b++) {
		assert_int_equal(count[b], b < 30 && b % 3 == 0 ? 4 : 0);
		assert_int_equal(l.block[b], b < 30 && b % 3 == 0 ? 2 : 0);
	}
	unmake(&l);
}

static void test_seeded(void **state)
{
	static uint8_t first[PAGES / 8];
	uint32_t low = 0;
	struct layout l;

	for (int i = 0; i < 2; i++) {
		make(&l);
		groups_pick(&l, 0, 1000, 42, false);
		if (i == 0)
			memcpy(first, l.pick, sizeof(first));
		else
			assert_memory_equal(first, l.pick, sizeof(first));
		unmake(&l);
	}
	for (uint32_t i = 0; i < PAGES / 2; i++)
		low += bit_test(first, i);
	assert_in_range(low, 400, 600); /* spread: 500 within 6 standard deviations of 16 */
	make(&l);
	groups_pick(&l, 0, 1000, 43, false);
	assert_memory_not_equal(first, l.pick, sizeof(first));
	unmake(&l);
}

static void test_permute(void **state)
{
	static uint8_t seen[1 << 16];

	for (unsigned int bits = 0; bits <= 16; bits++) {
		for (uint64_t seed = 0; seed < 3; seed++) {
			memset(seen, 0, sizeof(seen));
			for (uint32_t i = 0; i < 1u << bits; i++) {
				uint32_t x = groups_permute(i, bits, seed);

				assert_true(x < 1u << bits);
				assert_false(seen[x]++);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),	    cmocka_unit_test(test_limits),
		cmocka_unit_test(test_odd_end),	    cmocka_unit_test(test_one_a_block),
		cmocka_unit_test(test_seeded),	    cmocka_unit_test(test_permute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
