// SPDX-License-Identifier: GPL-2.0-only
#include <sys/mman.h>

#include "guest/fill.h"
#include "guest/region.h"
#include "guest/thp.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static bool thp_was_off;

static void begin_huge(void)
{
	thp_was_off = thp_is_off();
	if (thp_was_off)
		thp_enable("madvise");
}

static void end_huge(void)
{
	if (thp_was_off)
		thp_enable("never");
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
