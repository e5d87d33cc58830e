// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "guest/fill.h"
#include "guest/region.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define THP_ENABLED "/sys/kernel/mm/transparent_hugepage/enabled"
#define MIN_FREE "/proc/sys/vm/min_free_kbytes"

static bool thp_was_off;

/* Either way the kernel sets vm.min_free_kbytes anew, and would let the fill end before its mark. */
static void switch_thp(const char *word)
{
	int64_t min_free = file_number(MIN_FREE, -1);
	char text[32];

	file_put(THP_ENABLED, word);
	if (min_free < 0 || file_number(MIN_FREE, -1) == min_free)
		return;
	snprintf(text, sizeof(text), "%" PRId64, min_free);
	file_put(MIN_FREE, text);
}

/* The kernel switches huge pages off by itself on machines with less than 512 MiB for it to give. */
static void begin_huge(void)
{
	char text[128];

	thp_was_off = file_slurp(THP_ENABLED, text, sizeof(text)) > 0 && strstr(text, "[never]");
	if (thp_was_off)
		switch_thp("madvise");
}

static void end_huge(void)
{
	if (thp_was_off)
		switch_thp("never");
}

/* One whole free pageblock behind the filled part. */
static int64_t take_huge(struct layout *l, uint64_t pages)
{
	size_t at = l->filled_pages = layout_align(l), n = l->block_pages;

	if (l->region_pages - at < n)
		return 0;
	if (madvise(l->region + at * 4096, n * 4096, MADV_HUGEPAGE) < 0 ||
	    madvise(l->region + at * 4096, n * 4096, MADV_POPULATE_WRITE) < 0)
		return -1;
	l->filled_pages += n;
	return region_taken(l, at, n) < 0 ? -1 : (int64_t)n;
}

const struct fill_kind fill_anon = {
	.name = "anon", .how = "MADV_POPULATE_WRITE, base pages", .own = true, .take = region_take
};
const struct fill_kind fill_thp = { .name = "thp",
				    .how = "MADV_POPULATE_WRITE, huge pages",
				    .own = true,
				    .blocks = true,
				    .begin = begin_huge,
				    .end = end_huge,
				    .take = take_huge };
