// SPDX-License-Identifier: GPL-2.0-only
/* From the machine's free lists to those of a guest with 4 KiB pages. */
#include <math.h>
#include <string.h>

#include "harness/report/memreport_impl.h"

#define GUEST_PAGE 4096
#define GUEST_PAGE_KB 4
#define HELD_SPARE 0.03

typedef unsigned __int128 u128;

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t memzone_unusable(const struct memreport *r, const struct memzone *z, unsigned int order)
{
	const uint32_t kept = 1u << MEMTYPE_CMA | 1u << MEMTYPE_ISOLATE;

	if (!r->event.have_gfp || r->event.gfp.type == MEMTYPE_MOVABLE)
		return 0;
	if (z->types[order])
		return z->types[order] & ~kept ? 0 : z->free[order];
	return least(z->free[order],
		     z->by_type[MEMTYPE_CMA][order] + z->by_type[MEMTYPE_ISOLATE][order]);
}

/* ---- how much ---- */

/* Managed pages, present ones where an old kernel printed no others; 0: not said, or too few. */
static uint64_t zone_kb(const struct memreport *r, const struct memzone *z)
{
	enum memzone_field f = z->have >> MEMZONE_MANAGED & 1 ? MEMZONE_MANAGED : MEMZONE_PRESENT;
	uint64_t kb = z->have >> f & 1 ? z->value[f] * r->page_kb : 0;

	return kb >= memzone_list_kb(r, z) ? kb : 0;
}

static uint64_t managed_kb(const struct memreport *r)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->nzones; i++) {
		uint64_t kb = zone_kb(r, &r->zone[i]);

		if (!r->zone[i].orders && !r->zone[i].cut)
			continue;
		if (!kb && (r->zone[i].cut || memzone_list_kb(r, &r->zone[i])))
			return 0;
		sum += kb;
	}
	return sum;
}

static uint64_t total_kb(const struct memreport *r, enum memtotal t, uint64_t unit_kb)
{
	return r->have_total >> t & 1 ? r->total[t] * unit_kb : 0;
}

/* Pageblocks of all zones; 0 where the table of them is not whole. */
static uint64_t count_blocks(const struct memreport *r, uint32_t *types, uint64_t blocks[MEMTYPES])
{
	uint64_t all = 0;

	*types = 0;
	memset(blocks, 0, MEMTYPES * sizeof(*blocks));
	for (size_t i = 0; i < r->nzones; i++)
		*types |= r->zone[i].have_blocks;
	for (size_t i = 0; i < r->nzones; i++) {
		const struct memzone *z = &r->zone[i];

		if (z->have_blocks != *types && (z->orders || z->have_blocks))
			return 0;
		for (int t = 0; t < MEMTYPES; t++) {
			blocks[t] += z->blocks[t];
			all += z->blocks[t];
		}
	}
	return all;
}

uint64_t memreport_blocks_kb(const struct memreport *r)
{
	uint64_t blocks[MEMTYPES];
	uint32_t types;
	u128 kb;

	if (!r->have_pageblock_order)
		return 0;
	kb = ((u128)count_blocks(r, &types, blocks) << r->pageblock_order) * r->page_kb;
	return kb < UINT64_MAX ? (uint64_t)kb : UINT64_MAX;
}

/* The first that is said, and that the free memory fits in. */
static void choose_base(const struct memreport *r, struct memscale *s)
{
	const uint64_t kb[] = {
		[MEMSCALE_MANAGED] = managed_kb(r),
		[MEMSCALE_RAM] = total_kb(r, MEMTOTAL_RAM, r->page_kb),
		[MEMSCALE_MEMINFO] = total_kb(r, MEMTOTAL_MEMINFO_KB, 1),
		[MEMSCALE_BLOCKS] = memreport_blocks_kb(r),
	};

	s->base_kb = 0;
	for (s->base = MEMSCALE_MANAGED; s->base < MEMSCALE_ASSUMED; s->base++)
		if (kb[s->base] && kb[s->base] >= s->free_kb) {
			s->base_kb = kb[s->base];
			return;
		}
}

static uint64_t guest_pages(const struct memscale *s)
{
	uint64_t all = s->memory_bytes / GUEST_PAGE;

	if (s->base == MEMSCALE_ASSUMED)
		return all / MEMSCALE_SHARE_ASSUMED;
	return (uint64_t)(((u128)all * s->free_kb + s->base_kb / 2) / s->base_kb);
}

/* ---- of which orders ---- */

/* Pages of 4 KiB in blocks of each order; *left_out_kb: what the failed request could not take. */
static uint64_t spread(const struct memreport *r, bool leave_out, uint64_t pages[MEMSCALE_ORDERS],
		       uint64_t *left_out_kb)
{
	unsigned int shift = (unsigned int)__builtin_ctz(r->page_kb / GUEST_PAGE_KB);
	uint64_t sum = 0;

	memset(pages, 0, MEMSCALE_ORDERS * sizeof(*pages));
	*left_out_kb = 0;
	for (size_t i = 0; i < r->nzones; i++)
		for (unsigned int k = 0; k < r->zone[i].orders; k++) {
			uint64_t out = leave_out ? memzone_unusable(r, &r->zone[i], k) : 0;
			uint64_t n = (r->zone[i].free[k] - out) << (k + shift);

			pages[least(k + shift, MEMSCALE_ORDERS - 1)] += n;
			*left_out_kb += out * ((uint64_t)r->page_kb << k);
			sum += n;
		}
	return sum;
}

struct share {
	uint64_t blocks;
	double rest; /* of a block */
	bool taken;
};

/* Whole blocks first; then one more of the orders with most of a block left, where it fits. */
static void round_shares(struct share *share, uint64_t left, unsigned int lowest)
{
	for (;;) {
		int best = -1;

		for (int k = 0; k < MEMSCALE_ORDERS; k++)
			if (!share[k].taken && share[k].rest > 0 && left >> k &&
			    (best < 0 || share[k].rest > share[best].rest))
				best = k;
		if (best < 0)
			break;
		share[best].taken = true;
		share[best].blocks++;
		left -= 1ull << best;
	}
	share[lowest].blocks += left >> lowest;
}

static void divide(const uint64_t pages[MEMSCALE_ORDERS], uint64_t sum, struct memscale *s)
{
	struct share share[MEMSCALE_ORDERS] = { { 0 } };
	uint64_t left = s->pages;
	unsigned int lowest = 0;

	for (unsigned int k = MEMSCALE_ORDERS; k-- > 0;) {
		u128 part = (u128)pages[k] * s->pages, block = (u128)sum << k;

		share[k].blocks = (uint64_t)(part / block);
		share[k].rest = (double)(part % block) / (double)block;
		left -= share[k].blocks << k;
		if (pages[k])
			lowest = k;
	}
	round_shares(share, left, lowest);
	for (int k = 0; k < MEMSCALE_ORDERS; k++)
		s->blocks[k] = share[k].blocks;
}

/* ---- pageblocks ---- */

/* Pageblocks of the type that hold nothing. */
static uint64_t whole_free(const struct memreport *r, int type)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->nzones && r->have_pageblock_order; i++)
		for (unsigned int k = r->pageblock_order; k < MEMREPORT_ORDERS; k++)
			n += r->zone[i].by_type[type][k] << (k - r->pageblock_order);
	return n;
}

static void scale_mix(const struct memreport *r, struct memscale *s)
{
	uint64_t blocks[MEMTYPES], all = count_blocks(r, &s->have_mix, blocks);

	for (int t = 0; t < MEMTYPES && all; t++) {
		uint64_t free = whole_free(r, t);

		s->mix[t] = (double)blocks[t] / (double)all;
		s->held[t] = (double)(blocks[t] - least(free, blocks[t])) / (double)all;
	}
	if (!all)
		s->have_mix = 0;
}

/*
 * A `mix` step takes pageblocks at random, of those that the guest itself has nothing in, until the share
 * of all is held, the guest's own included. What is left whole, and whole as a pair, has to suffice for
 * the free blocks of order 9 and 10.
 */
static void fit_held(struct memscale *s)
{
	const double leaves = 1 - MEMSCALE_GUEST_OWN;
	double taken = fmax(s->held[MEMTYPE_UNMOVABLE], MEMSCALE_GUEST_OWN) + s->held[MEMTYPE_RECLAIMABLE], most;
	double all = (double)(s->memory_bytes / GUEST_PAGE) * leaves;
	double pairs = (double)(s->blocks[10] << 10) / all;
	double whole = pairs + (double)(s->blocks[9] << 9) / all;

	most = sqrt(pairs) > whole ? sqrt(pairs) : whole;
	most = most < 1 - HELD_SPARE ? 1 - HELD_SPARE - most : 0;
	most = MEMSCALE_GUEST_OWN + leaves * most;
	if (taken <= most)
		return;
	for (int t = 0; t < MEMTYPES; t++)
		s->held[t] *= most / taken;
	s->held_less = true;
}

/* Not known where a zone with a list does not say, or a balloon made it nonsense. */
static void scale_min(const struct memreport *r, struct memscale *s)
{
	u128 sum = 0, boost = 0;
	bool any_unsaid = false;

	for (size_t i = 0; i < r->nzones; i++) {
		const struct memzone *z = &r->zone[i];
		uint64_t unsaid = memzone_unsaid_boost(r, z);

		if (z->orders && !(z->have >> MEMZONE_MIN & 1))
			return;
		if (memzone_is_empty(z)) /* Movable has 32 pages for nothing */
			continue;
		sum += (u128)(z->value[MEMZONE_MIN] - unsaid) * r->page_kb;
		boost += (u128)(z->value[MEMZONE_BOOST] + unsaid) * r->page_kb;
		any_unsaid |= unsaid > 0;
	}
	if (!s->base_kb || sum >= s->base_kb)
		return;
	s->machine_min_kb = (uint64_t)sum;
	s->machine_boost_kb = (uint64_t)boost;
	s->boost_unsaid = any_unsaid;
	s->min_kb = (uint64_t)(sum * (s->memory_bytes / 1024) / s->base_kb);
}

uint64_t memreport_guest_bytes(const struct memreport *r)
{
	const uint64_t gib = 1ULL << 30;
	struct memscale s;
	uint64_t n;

	memreport_scale(r, 2 * gib, &s);
	if (!s.base_kb)
		return 2 * gib;
	n = (s.base_kb + (gib >> 10) - 1) / (gib >> 10);
	return (n > 4 ? 4 : n) * gib;
}

void memreport_scale(const struct memreport *r, uint64_t memory_bytes, struct memscale *s)
{
	struct memscale_ask ask = { .memory_bytes = memory_bytes };

	memreport_scale_as(r, &ask, s);
}

/* Pages of the lists, and those that they do not show; the share of memory that they are. */
static uint64_t add_up(const struct memreport *r, uint64_t pages[MEMSCALE_ORDERS], struct memscale *s)
{
	uint64_t listed[MEMSCALE_ORDERS], sum;

	sum = spread(r, true, listed, &s->cma_kb);
	if (!sum)
		spread(r, false, listed, &s->cma_kb);
	memcpy(pages, listed, sizeof(listed));
	memreport_add_unlisted(r, false, pages, s);
	choose_base(r, s);
	if (s->base == MEMSCALE_RAM || s->base == MEMSCALE_MEMINFO) {
		memcpy(pages, listed, sizeof(listed));
		memreport_add_unlisted(r, true, pages, s);
		choose_base(r, s);
	}
	sum = 0;
	for (int k = 0; k < MEMSCALE_ORDERS; k++)
		sum += pages[k];
	return sum;
}

void memreport_scale_as(const struct memreport *r, const struct memscale_ask *ask, struct memscale *s)
{
	uint64_t pages[MEMSCALE_ORDERS], sum;

	memset(s, 0, sizeof(*s));
	s->memory_bytes = ask->memory_bytes;
	s->unlisted = ask->unlisted;
	scale_mix(r, s);
	sum = add_up(r, pages, s);
	memreport_refuse_unsized(s);
	scale_min(r, s);
	if (!sum || s->refused)
		return;
	s->pages = guest_pages(s);
	if (s->pages && s->pages < ask->least_pages) {
		s->pages = ask->least_pages;
		s->raised = true;
	}
	divide(pages, sum, s);
	fit_held(s);
}
