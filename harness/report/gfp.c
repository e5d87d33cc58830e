// SPDX-License-Identifier: GPL-2.0-only
/* What an allocation may do, from its gfp mask. */
#include <string.h>

#include "harness/report/memreport.h"
#include "results/util/cleanup.h"

enum { DMA = 1, DMA32 = 2, HIGHMEM = 4, MOVABLE = 8, RECLAIMABLE = 16, ATOMIC = 32, DIRECT = 64 };

/* include/linux/gfp_types.h: what the names that a kernel prints (since 4.6) are made of. */
static const struct {
	const char *name;
	unsigned int means;
} gfp_names[] = {
	{ "GFP_ATOMIC", ATOMIC },
	{ "__GFP_ATOMIC", ATOMIC },
	{ "__GFP_HIGH", ATOMIC },
	{ "GFP_NOWAIT", 0 },
	{ "GFP_KERNEL", DIRECT },
	{ "GFP_KERNEL_ACCOUNT", DIRECT },
	{ "GFP_NOIO", DIRECT },
	{ "GFP_NOFS", DIRECT },
	{ "GFP_USER", DIRECT },
	{ "GFP_TEMPORARY", DIRECT | RECLAIMABLE },
	{ "GFP_HIGHUSER", DIRECT | HIGHMEM },
	{ "GFP_HIGHUSER_MOVABLE", DIRECT | HIGHMEM | MOVABLE },
	{ "GFP_TRANSHUGE", DIRECT | HIGHMEM | MOVABLE },
	{ "GFP_TRANSHUGE_LIGHT", HIGHMEM | MOVABLE },
	{ "GFP_DMA", DMA },
	{ "GFP_DMA32", DMA32 },
	{ "__GFP_DMA", DMA },
	{ "__GFP_DMA32", DMA32 },
	{ "__GFP_HIGHMEM", HIGHMEM },
	{ "__GFP_MOVABLE", MOVABLE },
	{ "__GFP_RECLAIMABLE", RECLAIMABLE },
	{ "__GFP_WAIT", DIRECT },
	{ "__GFP_DIRECT_RECLAIM", DIRECT },
	{ "__GFP_RECLAIM", DIRECT },
};

static unsigned int of_name(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(gfp_names); i++)
		if (strlen(gfp_names[i].name) == len && memcmp(gfp_names[i].name, name, len) == 0)
			return gfp_names[i].means;
	return 0;
}

/*
 * Without names the kernel is older than 4.6. 4.4 and 4.5 have __GFP_KSWAPD_RECLAIM (0x2000000) in
 * whatever may wake kswapd, and other bits than those before, of which __GFP_WAIT was 0x10 and
 * __GFP_NO_KSWAPD (3.x) 0x400000, the later __GFP_DIRECT_RECLAIM.
 * 0x100000 was __GFP_MOVABLE before 2.6.31; later (a kmem_cache's page) it is never with
 * __GFP_HIGHMEM.
 */
static unsigned int of_mask(uint64_t mask)
{
	bool since_4_4 = mask & 0x2000000 || (mask & 0x400000 && !(mask & 0x10));
	unsigned int means = (mask & 1 ? DMA : 0) | (mask & 2 ? HIGHMEM : 0) |
			     (mask & 4 ? DMA32 : 0) | (mask & 8 ? MOVABLE : 0);

	if (since_4_4)
		return means | (mask & 0x10 ? RECLAIMABLE : 0) | (mask & 0x400000 ? DIRECT : 0) |
		       (mask & 0x80020 && !(mask & 0x400000) ? ATOMIC : 0);
	if (mask & 2 && mask & 0x100000)
		means |= MOVABLE;
	return means | (mask & 0x80000 ? RECLAIMABLE : 0) | (mask & 0x10 ? DIRECT : 0) |
	       (mask & 0x20 && !(mask & 0x10) ? ATOMIC : 0);
}

static unsigned int of_names(const char *names)
{
	unsigned int means = 0;

	for (size_t len; *names; names += len + (names[len] == '|')) {
		len = strcspn(names, "|");
		means |= of_name(names, len);
	}
	return means;
}

void gfp_decode(uint64_t mask, const char *names, struct gfp *g)
{
	unsigned int means = names && *names ? of_names(names) : of_mask(mask);

	g->type = means & MOVABLE     ? MEMTYPE_MOVABLE :
		  means & RECLAIMABLE ? MEMTYPE_RECLAIMABLE :
					MEMTYPE_UNMOVABLE;
	g->direct_reclaim = means & DIRECT;
	g->atomic = means & ATOMIC && !g->direct_reclaim;
	g->zone = means & DMA			     ? "DMA" :
		  means & DMA32			     ? "DMA32" :
		  means & HIGHMEM && means & MOVABLE ? "Movable" :
		  means & HIGHMEM		     ? "HighMem" :
						       "Normal";
}
