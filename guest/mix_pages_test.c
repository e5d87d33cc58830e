// SPDX-License-Identifier: GPL-2.0-only
/* What is given back in the blocks that were chosen, and what the kernel has put there. */
#include "guest/mix_fixture.h"

static void test_groups_and_count(void **state)
{
	struct mix m = { .share_ppm = 200000, .seed = 3, .group_order = 2, .per_block = 2 };
	unsigned int left = 40;
	struct layout l;

	make(&l);
	choose(&l, &m);
	assert_int_equal(mix_pick_groups(&l, &m), 40);
	for (uint32_t b = 0; b < l.nblocks; b++) {
		unsigned int picked = 0;

		for (uint32_t pfn = b * BLOCK; pfn < (b + 1) * BLOCK && pfn < PAGES; pfn++)
			picked += bit_test(l.pick, pfn);
		assert_int_equal(picked, l.block[b] == MIX_CHOSEN ? 8 : 0);
	}
	assert_int_equal(mix_count_taken(&l, &m), 0);
	/* The kernel takes one page in each block: with two a block that is not enough. */
	for (uint32_t b = 0; b < l.nblocks; b++)
		if (l.block[b] == MIX_CHOSEN)
			flags[b * BLOCK] = KPF_SLAB_BIT;
	put_flags();
	assert_int_equal(mix_count_taken(&l, &m), 0);
	/* A page of a ring has no flag, but is known. Of 20 blocks 15 get one. */
	for (uint32_t b = 0; b < l.nblocks; b++)
		if (l.block[b] == MIX_CHOSEN && left > 25) {
			bit_set(l.aside, b * BLOCK + 5);
			left--;
		}
	assert_int_equal(mix_count_taken(&l, &m), 15);
	assert_int_equal(in_state(&l, MIX_TAKEN), 15);
	assert_int_equal(in_state(&l, MIX_CHOSEN), 5);
	/* Only the five get groups again. */
	memset(l.pick, 0, PAGES / 8 + 1);
	assert_int_equal(mix_pick_groups(&l, &m), 10);
	unmake(&l);
}

/* In the chosen block: slab and a ring; elsewhere two pages of rings. */
static void test_count_pages(void **state)
{
	struct mix m = { .share_ppm = 10000, .seed = 3, .per_block = 1 };
	uint32_t b = 0, other;
	struct layout l;

	make(&l);
	choose(&l, &m);
	while (l.block[b] != MIX_CHOSEN)
		b++;
	other = b ? 0 : 1;
	flags[b * BLOCK] = KPF_SLAB_BIT;
	flags[b * BLOCK + 1] = KPF_BUDDY_BIT;
	put_flags();
	bit_set(l.aside, b * BLOCK + 2);
	bit_set(l.aside, other * BLOCK + 3);
	bit_set(l.aside, other * BLOCK + 20);
	assert_int_equal(mix_count_pages(&l, &m), 0);
	assert_int_equal(m.inside, 2);
	assert_int_equal(m.outside, 2);
	assert_int_equal(m.aside, 3);
	l.map.kpageflags_fd = -1;
	assert_int_equal(mix_count_pages(&l, &m), -1);
	unmake(&l);
}

static uint32_t asked_for; /* how often */

static bool holds_five(uint32_t pfn)
{
	asked_for++;
	return pfn % BLOCK == 5;
}

/*
 * Pages that have to be looked into: those without a flag, each until it is found. Slab in a chosen
 * block is a page of the kernel's, but not what was to be put there.
 */
static void test_holds(void **state)
{
	struct mix m = { .share_ppm = 200000, .seed = 3, .per_block = 1 };
	uint32_t nchosen = 0, more = 0;
	struct layout l;

	make(&l);
	choose(&l, &m);
	m.holds = holds_five;
	for (uint32_t pfn = 0; pfn < PAGES; pfn++)
		flags[pfn] = KPF_BUDDY_BIT;
	for (uint32_t b = 0; b < BLOCKS; b++) {
		if (l.block[b] != MIX_CHOSEN)
			continue;
		flags[b * BLOCK + 5] = nchosen < 12 ? KPF_SLAB_BIT : 0;
		flags[b * BLOCK + 6] = nchosen < 12 ? KPF_BUDDY_BIT : 0;
		nchosen++;
	}
	put_flags();
	asked_for = 0;
	assert_int_equal(mix_count_taken(&l, &m), 8);
	assert_int_equal(asked_for, 16);
	/* Two more, in blocks that nobody chose. */
	for (uint32_t b = 0; b < BLOCKS && more < 2; b++) {
		if (l.block[b] != MIX_NONE)
			continue;
		flags[b * BLOCK + 5] = 0;
		more++;
	}
	put_flags();
	assert_int_equal(mix_count_pages(&l, &m), 0);
	assert_int_equal(m.inside, 20);
	assert_int_equal(m.outside, 2);
	assert_int_equal(m.aside, 10);
	assert_int_equal(asked_for, 16 + 8 + 2);
	unmake(&l);
}

/* Of four pages given back one is still free, one is slab, one on a per-CPU list, one a page of ours. */
static void test_prune(void **state)
{
	struct layout l;

	make(&l);
	l.freed = calloc(PAGES / 8 + 1, 1);
	for (uint32_t i = 100; i < 104; i++)
		bit_set(l.freed, i);
	bit_set(l.freed, PAGES - 1);
	l.nfreed = 5;
	flags[100] = flags[PAGES - 1] = KPF_BUDDY_BIT;
	flags[101] = KPF_SLAB_BIT;
	flags[103] = 1 << 5 | 1 << 12; /* LRU, ANON */
	flags[104] = KPF_BUDDY_BIT;
	put_flags();
	assert_int_equal(region_prune_freed(&l), 0);
	assert_int_equal(l.nfreed, 2);
	assert_true(bit_test(l.freed, 100) && bit_test(l.freed, PAGES - 1));
	assert_false(bit_test(l.freed, 101) || bit_test(l.freed, 103) || bit_test(l.freed, 104));
	l.map.kpageflags_fd = -1;
	assert_int_equal(region_prune_freed(&l), -1);
	free(l.freed);
	unmake(&l);
}

static void count_cushion(const struct layout *l, uint32_t each, uint32_t at, unsigned int n[2])
{
	n[0] = n[1] = 0;
	for (uint32_t pfn = 0; pfn < PAGES; pfn++) {
		bool chosen = l->block[pfn / BLOCK] == MIX_CHOSEN;

		if (!bit_test(l->avail, pfn))
			continue;
		n[chosen || pfn / BLOCK == 50]++;
		assert_true(chosen || pfn / BLOCK == 50 ? pfn % each == at : pfn % 4 == 0);
	}
}

/*
 * Of 64 pages 16 in each of two chosen blocks, and in one that holds slab; none of the cut block is
 * chosen by this seed. Others only where the cushion is below its least.
 */
static void test_cushion(void **state)
{
	static const struct {
		uint64_t most, least;
		bool again;
		unsigned int open, others;
	} t[] = {
		{ 40, 10, false, 40, 0 }, { 100, 10, false, 48, 0 }, { 100, 60, false, 48, 12 },
		{ 100, 60, true, 24, 36 }, { 20, 20, true, 20, 0 },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct mix m = { .share_ppm = 30000, .seed = 3, .per_block = 1 };
		unsigned int n[2];
		struct layout l;

		make(&l);
		flags[50 * BLOCK + 1] = KPF_SLAB_BIT;
		put_flags();
		choose(&l, &m);
		assert_true(m.chosen == 2 && l.block[BLOCKS - 1] != MIX_CHOSEN);
		assert_int_equal(mix_limit_cushion(&l, t[i].most, t[i].least, t[i].again),
				 t[i].open + t[i].others);
		count_cushion(&l, t[i].again ? 8 : 4, t[i].again ? 2 : 0, n);
		assert_int_equal(n[1], t[i].open);
		assert_int_equal(n[0], t[i].others);
		unmake(&l);
	}
}

static void test_unreadable(void **state)
{
	struct mix m = { .share_ppm = 20000, .per_block = 1 };
	struct layout l;

	make(&l);
	l.map.kpageflags_fd = -1;
	assert_int_equal(mix_begin(&l, &m, everywhere), -1);
	assert_int_equal(mix_choose(&l, &m), -1);
	assert_int_equal(mix_count_held(&l, &m), -1);
	unmake(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups_and_count),
		cmocka_unit_test(test_count_pages),
		cmocka_unit_test(test_holds),
		cmocka_unit_test(test_prune),
		cmocka_unit_test(test_cushion),
		cmocka_unit_test(test_unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
