// SPDX-License-Identifier: GPL-2.0-only
/* Choice and count on a made-up machine: /proc/kpageflags is a file of this test's own. */
#include "guest/mix_blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "guest/region.h"

#define BLOCK 64u
#define BLOCKS 100u
#define PAGES (BLOCK * BLOCKS - 10) /* the last block is cut */

static uint64_t flags[PAGES];
static FILE *file;

static void put_flags(void)
{
	rewind(file);
	assert_int_equal(fwrite(flags, sizeof(flags), 1, file), 1);
	fflush(file);
}

static void make(struct layout *l)
{
	memset(l, 0, sizeof(*l));
	memset(flags, 0, sizeof(flags));
	file = tmpfile();
	assert_non_null(file);
	l->map.kpageflags_fd = fileno(file);
	l->block_order = 6;
	l->block_pages = BLOCK;
	l->pfn_end = PAGES;
	l->nblocks = PAGES / BLOCK + 1;
	l->block = calloc(l->nblocks, sizeof(*l->block));
	assert_int_equal(region_init(l), 0);
	for (uint32_t pfn = 0; pfn < PAGES; pfn++) {
		bit_set(l->own, pfn);
		bit_set(l->avail, pfn);
	}
	put_flags();
}

static void unmake(struct layout *l)
{
	free(l->block);
	munmap(l->own, 4 * (size_t)(l->pfn_end / 8 + 1));
	fclose(file);
}

static uint64_t in_state(const struct layout *l, uint32_t state)
{
	uint64_t n = 0;

	for (size_t b = 0; b < l->nblocks; b++)
		n += l->block[b] == state;
	return n;
}

/* Of 100 blocks 10 hold slab and 5 page tables, and 5 nothing of ours: 30 % of 80. */
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
	assert_int_equal(mix_choose(&l, &m), 0);
	assert_int_equal(m.candidates, 80);
	assert_int_equal(m.asked, 24);
	assert_int_equal(m.chosen, 24);
	assert_int_equal(in_state(&l, MIX_CHOSEN), 24);
	assert_int_equal(in_state(&l, MIX_NONE), BLOCKS - 24);
	for (uint32_t b = 0; b < 20; b++)
		assert_int_equal(l.block[b], MIX_NONE);
	unmake(&l);
}

static void test_shares(void **state)
{
	static const struct {
		uint64_t ppm, chosen;
	} t[] = { { 0, 0 }, { 4999, 0 }, { 5000, 1 }, { 1000000, 100 }, { 333333, 33 } };
	struct layout l;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct mix m = { .share_ppm = t[i].ppm, .seed = i, .per_block = 1 };

		make(&l);
		assert_int_equal(mix_choose(&l, &m), 0);
		assert_int_equal(m.chosen, t[i].chosen);
		unmake(&l);
	}
}

static void test_groups_and_count(void **state)
{
	struct mix m = { .share_ppm = 200000, .seed = 3, .group_order = 2, .per_block = 2 };
	unsigned int left = 40;
	struct layout l;

	make(&l);
	assert_int_equal(mix_choose(&l, &m), 0);
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
	assert_int_equal(mix_choose(&l, &m), 0);
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
	assert_int_equal(mix_choose(&l, &m), 0);
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
	for (uint32_t b = 0; b < 40; b++)
		bit_set(l.aside, b * BLOCK + b);
	for (uint32_t pfn = 50 * BLOCK; pfn < 60 * BLOCK; pfn++)
		bit_clear(l.avail, pfn);
	assert_int_equal(mix_choose(&l, &m), 0);
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
	assert_int_equal(mix_choose(&l, &m), 0);
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

/* One in four, in chosen blocks as long as they last. */
static void test_cushion(void **state)
{
	struct mix m = { .share_ppm = 20000, .seed = 3, .per_block = 1 };
	unsigned int chosen = 0, others = 0;
	struct layout l;

	make(&l);
	assert_int_equal(mix_choose(&l, &m), 0);
	mix_limit_cushion(&l, 40); /* two blocks have 32, unless the cut one is chosen */
	for (uint32_t pfn = 0; pfn < PAGES; pfn++) {
		if (!bit_test(l.avail, pfn))
			continue;
		assert_int_equal(pfn % 4, 0);
		if (l.block[pfn / BLOCK] == MIX_CHOSEN)
			chosen++;
		else
			others++;
	}
	assert_int_equal(chosen, 32);
	assert_int_equal(others, 8);
	unmake(&l);
}

static void test_unreadable(void **state)
{
	struct mix m = { .share_ppm = 20000, .per_block = 1 };
	struct layout l;

	make(&l);
	l.map.kpageflags_fd = -1;
	assert_int_equal(mix_choose(&l, &m), -1);
	unmake(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choose),	cmocka_unit_test(test_shares),
		cmocka_unit_test(test_groups_and_count), cmocka_unit_test(test_count_pages),
		cmocka_unit_test(test_dma), cmocka_unit_test(test_earlier_step), cmocka_unit_test(test_holds),
		cmocka_unit_test(test_prune),
		cmocka_unit_test(test_cushion), cmocka_unit_test(test_unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
