/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_MIX_FIXTURE_H
#define MMRIG_MIX_FIXTURE_H
/* A made-up machine: /proc/kpageflags is a file of the test's own. All pages are those of the fill. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "guest/mix_blocks.h"
#include "guest/region.h"

#define BLOCK 64u
#define BLOCKS 100u
#define PAGES (BLOCK * BLOCKS - 10) /* the last block is cut */

#define ANON_LRU (1ull << 5 | 1ull << 12)

static uint64_t flags[PAGES];
static FILE *file;
static struct task_shared shared;
static struct task_child child = { .shared = &shared };
static struct expr *everywhere;

static inline void put_flags(void)
{
	rewind(file);
	assert_int_equal(fwrite(flags, sizeof(flags), 1, file), 1);
	fflush(file);
}

static inline void make(struct layout *l)
{
	memset(l, 0, sizeof(*l));
	for (uint32_t pfn = 0; pfn < PAGES; pfn++)
		flags[pfn] = ANON_LRU;
	file = tmpfile();
	assert_non_null(file);
	l->map.kpageflags_fd = fileno(file);
	l->block_order = 6;
	l->block_pages = BLOCK;
	l->pfn_end = PAGES;
	l->nblocks = PAGES / BLOCK + 1;
	l->block = calloc(l->nblocks, sizeof(*l->block));
	l->child = &child;
	l->map.pfn_end = PAGES;
	l->map.order = 6;
	assert_int_equal(region_init(l), 0);
	assert_int_equal(mix_blocks_init(l), 0);
	assert_int_equal(pageblocks_init(&l->map), 0);
	everywhere = expr_compile("1", (1u << EXPR_VAR_COUNT) - 1, NULL, 0, &(struct expr_error){ 0 });
	assert_non_null(everywhere);
	for (uint32_t pfn = 0; pfn < PAGES; pfn++) {
		bit_set(l->own, pfn);
		bit_set(l->avail, pfn);
	}
	put_flags();
}

static inline void unmake(struct layout *l)
{
	free(l->block);
	expr_free(everywhere);
	munmap(l->reclaimable, 4 * (l->nblocks / 8 + 1));
	munmap(l->map.count, (l->map.nblocks + 1) * sizeof(*l->map.count));
	munmap(l->own, 4 * (size_t)(l->pfn_end / 8 + 1));
	fclose(file);
}

static inline void choose(struct layout *l, struct mix *m)
{
	assert_int_equal(mix_begin(l, m, everywhere), 0);
	assert_int_equal(mix_choose(l, m), 0);
}

static inline uint64_t in_state(const struct layout *l, uint32_t state)
{
	uint64_t n = 0;

	for (size_t b = 0; b < l->nblocks; b++)
		n += l->block[b] == state;
	return n;
}

#endif
