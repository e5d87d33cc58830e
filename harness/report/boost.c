// SPDX-License-Identifier: GPL-2.0-only
/*
 * Since 5.0 the kernel raises all watermarks of a zone for a while when it has taken a pageblock for another
 * type (vm.watermark_boost_factor), and min, low and high are printed with that boost: wmark_pages() in
 * include/linux/mmzone.h. Since 5.16 "boost" is printed beside them.
 */
#include <inttypes.h>
#include <string.h>

#include "harness/report/memreport_impl.h"
#include "results/util/cleanup.h"

/* __setup_per_zone_wmarks(): low is at least min / 4 above min, rounded down. */
#define MIN_OF_GAP 4
#define LARGEST_PAGE_KB 64 /* what is rounded are pages of the machine */

static bool has(const struct memzone *z, enum memzone_field f)
{
	return z->have >> f & 1;
}

/* Of these zones min is no share of vm.min_free_kbytes, but 32 pages or more. */
static bool has_min_of_its_own(const struct memzone *z)
{
	return strcmp(z->name, "HighMem") == 0 || strcmp(z->name, "Movable") == 0 ||
	       strcmp(z->name, "Device") == 0;
}

uint64_t memzone_unsaid_boost(const struct memreport *r, const struct memzone *z)
{
	uint64_t most, rounded = (MIN_OF_GAP - 1) * (r->page_size_known ? 1 : LARGEST_PAGE_KB / r->page_kb);

	if (has(z, MEMZONE_BOOST) || !has(z, MEMZONE_MIN) || !has(z, MEMZONE_LOW) || has_min_of_its_own(z) ||
	    z->value[MEMZONE_LOW] <= z->value[MEMZONE_MIN])
		return 0;
	most = MIN_OF_GAP * (z->value[MEMZONE_LOW] - z->value[MEMZONE_MIN]) + rounded;
	return z->value[MEMZONE_MIN] > most ? z->value[MEMZONE_MIN] - most : 0;
}

static void remark_unsaid(struct memreport *r, const struct memzone *z, uint64_t boost)
{
	memreport_remark(r, z->field_line[MEMZONE_MIN],
			 "node %u %s: min is %" PRIu64 " kB, more than %d times what low is above it: %" PRIu64
			 " kB or more of it are a boost at that moment, which kernels before 5.16 do not print",
			 z->node, z->name, z->value[MEMZONE_MIN] * r->page_kb, MIN_OF_GAP, boost * r->page_kb);
}

void memzone_judge_boost(struct memreport *r, struct memzone *z)
{
	static const enum memzone_field boosted[] = { MEMZONE_MIN, MEMZONE_LOW, MEMZONE_HIGH };
	uint64_t boost = z->value[MEMZONE_BOOST], unsaid = memzone_unsaid_boost(r, z);

	for (size_t i = 0; i < ARRAY_SIZE(boosted); i++)
		if (has(z, boosted[i]) && z->value[boosted[i]] >= boost)
			z->value[boosted[i]] -= boost;
	if (unsaid)
		remark_unsaid(r, z, unsaid);
}
