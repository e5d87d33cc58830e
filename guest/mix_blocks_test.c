// SPDX-License-Identifier: GPL-2.0-only
/* Which pageblocks are chosen, and how many. */
#include <errno.h>

#include "guest/mix_fixture.h"

/*
 * Of 100 blocks 10 hold slab and 5 page tables, and in 5 stands nothing of ours. 30 % of all are 30, of
 * which 15 are there: 15 more of the 80 that can be.
 */
static void test_choose(void **state)
{
	struct mix m = { .share_ppm = 300000, .seed = 9, .per_block = 1 };
	struct layout l;

	make(&l);
	for (uint32_t b = 0; b < 10; b++)
		flags[b * BLOCK + b] = KPF_SLAB_BIT;
	for (uint32_t b = 10; b < 15; b++)
		flags[b * BLOCK + BLOCK - 1] = KPF_PGTABLE_BIT;
	for (uint32_t pfn = 15 * BLOCK; pfn < 20 * BLOCK; pfn++)
		bit_clear(l.avail, pfn);
	put_flags();
	choose(&l, &m);
	assert_int_equal(mix_blocks_all(&l), 100);
	assert_true(m.all == 100 && m.asked == 30 && m.before == 15 && m.held == 15);
	assert_int_equal(m.candidates, 80);
	assert_int_equal(m.chosen, 15);
	assert_int_equal(in_state(&l, MIX_CHOSEN), 15);
	assert_int_equal(in_state(&l, MIX_NONE), BLOCKS - 15);
	for (uint32_t b = 0; b < 20; b++)
		assert_int_equal(l.block[b], MIX_NONE);
	unmake(&l);
}

static void test_shares(void **state)
{
	static const struct {
		uint64_t ppm, before, asked, chosen;
	} t[] = {
		{ 0, 0, 0, 0 },	       { 4999, 0, 0, 0 },	{ 5000, 0, 1, 1 },	{ 333333, 0, 33, 33 },
		{ 333333, 32, 33, 1 }, { 333333, 33, 33, 0 },	{ 333333, 50, 33, 0 },	{ 0, 4, 0, 0 },
		{ 1000000, 0, 100, 100 }, { 1000000, 7, 100, 93 },
	};
	struct layout l;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct mix m = { .share_ppm = t[i].ppm, .seed = i, .per_block = 1 };

		make(&l);
		for (uint32_t b = 0; b < t[i].before; b++)
			flags[b * BLOCK + 7] = 0; /* no flag: the kernel's */
		put_flags();
		choose(&l, &m);
		assert_int_equal(m.before, t[i].before);
		assert_int_equal(m.asked, t[i].asked);
		assert_int_equal(m.chosen, t[i].chosen);
		unmake(&l);
	}
}

/* The share is of the blocks that `where` selects a page of: 40 of 100, of which 4 hold something. */
static void test_scope(void **state)
{
	struct expr_error e;
	struct expr *where = expr_compile("pfn >= 60 * 64 - 1", (1u << EXPR_VAR_COUNT) - 1, NULL, 0, &e);
	struct expr *zero = expr_compile("1 / (pfn - 70 * 64)", (1u << EXPR_VAR_COUNT) - 1, NULL, 0, &e);
	struct mix m = { .share_ppm = 500000, .seed = 9, .per_block = 1 };
	struct layout l;

	make(&l);
	assert_true(where && zero);
	for (uint32_t b = 50; b < 63; b++)
		flags[b * BLOCK] = KPF_SLAB_BIT;
	put_flags();
	assert_int_equal(mix_begin(&l, &m, where), 0);
	assert_int_equal(mix_choose(&l, &m), 0);
	/* Blocks 59 ... 99; half of them, rounded up. */
	assert_true(m.all == 41 && m.asked == 21 && m.before == 4 && m.chosen == 17);
	assert_int_equal(m.candidates, 37);
	for (uint32_t b = 0; b < 63; b++)
		assert_int_equal(l.block[b], MIX_NONE);
	errno = 0;
	assert_int_equal(mix_begin(&l, &m, zero), -1);
	assert_int_equal(errno, EDOM);
	expr_free(where);
	expr_free(zero);
	unmake(&l);
}

/*
 * 20 are asked for and chosen. Then 12 of them have a page, 5 blocks that nobody chose as well: 3 of the
 * 8 that have none stay chosen. When these, or others, have got one, it is enough.
 */
static void test_astray(void **state)
{
	struct mix m = { .share_ppm = 200000, .seed = 3, .per_block = 1 };
	uint32_t hit = 0, astray = 0;
	struct layout l;

	make(&l);
	choose(&l, &m);
	assert_int_equal(m.chosen, 20);
	for (uint32_t b = 0; b < BLOCKS; b++) {
		if (l.block[b] == MIX_CHOSEN ? hit++ < 12 : astray++ < 5)
			flags[b * BLOCK + 1] = KPF_SLAB_BIT;
	}
	put_flags();
	m.taken = mix_count_taken(&l, &m);
	assert_int_equal(m.taken, 12);
	assert_int_equal(mix_choose(&l, &m), 0);
	assert_true(m.held == 17 && m.chosen == 15 && in_state(&l, MIX_CHOSEN) == 3);
	assert_false(mix_is_done(&l, &m));
	assert_int_equal(in_state(&l, MIX_CHOSEN), 3);
	/* Four more blocks that were not chosen. */
	for (uint32_t b = 0, n = 0; b < BLOCKS && n < 4; b++) {
		if (l.block[b] != MIX_NONE || flags[b * BLOCK + 1] != ANON_LRU)
			continue;
		flags[b * BLOCK + 1] = 0;
		n++;
	}
	put_flags();
	assert_int_equal(mix_count_held(&l, &m), 0);
	assert_int_equal(m.held, 21);
	assert_true(mix_is_done(&l, &m));
	assert_true(m.chosen == 12 && in_state(&l, MIX_CHOSEN) == 0);
	unmake(&l);
}

/* Reclaimable pages stand in the blocks of such a step alone; the others that hold something do not count. */
static void test_reclaimable(void **state)
{
	struct mix m = { .reclaimable = true, .share_ppm = 100000, .seed = 3, .per_block = 1 };
	struct mix u = { .share_ppm = 300000, .seed = 4, .per_block = 1 };
	struct layout l;

	make(&l);
	for (uint32_t b = 0; b < 6; b++)
		flags[b * BLOCK] = KPF_SLAB_BIT;
	put_flags();
	choose(&l, &m);
	assert_true(m.before == 0 && m.asked == 10 && m.chosen == 10);
	/* Eight get it, and two that were not chosen; what comes to the six, and all later, is no matter. */
	for (uint32_t b = 0, hit = 0, astray = 0; b < BLOCKS; b++)
		if (b < 6 || (l.block[b] == MIX_CHOSEN ? hit++ < 8 : astray++ < 2))
			flags[b * BLOCK + 1] = KPF_SLAB_BIT;
	put_flags();
	m.taken = mix_count_taken(&l, &m);
	assert_int_equal(mix_count_held(&l, &m), 0);
	assert_true(m.held == 10 && mix_is_done(&l, &m) && m.chosen == 8);
	mix_mark(&l, &m);
	assert_int_equal(mix_blocks_held(&l, true), 10);
	assert_int_equal(mix_blocks_held(&l, false), 6);
	/* A step for unmovable ones finds the six only, and leaves the ten alone. */
	choose(&l, &u);
	assert_true(u.before == 6 && u.chosen == 24 && u.candidates == 84);
	mix_mark(&l, &u);
	assert_int_equal(mix_blocks_held(&l, true), 10);
	unmake(&l);
}

/* Eight blocks of a DMA zone, and the cut one that is the last of them all, in no zone of it. */
static void test_dma(void **state)
{
	struct mix m = { .share_ppm = 1000000, .seed = 3, .per_block = 1 };
	struct layout l;

	make(&l);
	l.zones.n = 2;
	l.zones.zone[0] = (struct zone){ .index = EXPR_ZONE_DMA, .start_pfn = 1, .spanned = 8 * BLOCK - 1 };
	l.zones.zone[1] = (struct zone){ .index = EXPR_ZONE_DMA32, .start_pfn = 8 * BLOCK,
					 .spanned = PAGES - 8 * BLOCK };
	choose(&l, &m);
	assert_int_equal(m.candidates, BLOCKS - 8);
	for (uint32_t b = 0; b < BLOCKS; b++)
		assert_int_equal(l.block[b], b < 8 ? MIX_NONE : MIX_CHOSEN);
	unmake(&l);
}

/* What an earlier step put aside keeps its blocks from being candidates, and is not of this step. */
static void test_earlier_step(void **state)
{
	struct mix m = { .share_ppm = 1000000, .seed = 3, .per_block = 1 };
	struct layout l;

	make(&l);
	for (uint32_t b = 0; b < 40; b++) {
		bit_set(l.aside, b * BLOCK + b);
		flags[b * BLOCK + b] = 0;
	}
	put_flags();
	for (uint32_t pfn = 50 * BLOCK; pfn < 60 * BLOCK; pfn++)
		bit_clear(l.avail, pfn);
	choose(&l, &m);
	assert_int_equal(m.candidates, 50);
	assert_int_equal(m.chosen, 50);
	bit_set(l.aside, 45 * BLOCK);
	bit_set(l.aside, 55 * BLOCK);
	bit_set(l.aside, 1);
	assert_int_equal(mix_count_pages(&l, &m), 0);
	assert_int_equal(m.inside, 1);
	assert_int_equal(m.outside, 2);
	assert_int_equal(m.aside, 3);
	unmake(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choose),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_scope),
		cmocka_unit_test(test_astray),
		cmocka_unit_test(test_reclaimable),
		cmocka_unit_test(test_dma),
		cmocka_unit_test(test_earlier_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
