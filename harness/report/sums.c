// SPDX-License-Identifier: GPL-2.0-only
/* What of a report contradicts itself, is missing, or must not be taken for what it looks like. */
#include <inttypes.h>
#include <string.h>

#include "harness/report/memreport_impl.h"
#include "results/util/cleanup.h"

#define FITS_PER_CENT 5 /* counters and lists are read one after the other */

uint64_t memzone_list_kb(const struct memreport *r, const struct memzone *z)
{
	uint64_t kb = 0;

	for (unsigned int k = 0; k < z->orders; k++)
		kb += z->free[k] * ((uint64_t)r->page_kb << k);
	return kb;
}

size_t memreport_lists(const struct memreport *r, uint64_t *kb)
{
	size_t n = 0;

	*kb = 0;
	for (size_t i = 0; i < r->nzones; i++) {
		n += r->zone[i].orders > 0;
		*kb += memzone_list_kb(r, &r->zone[i]);
	}
	return n;
}

static bool differs(uint64_t a, uint64_t b)
{
	uint64_t more = a > b ? a : b, gap = a > b ? a - b : b - a;

	return gap > 64 && gap > more / 100 * FITS_PER_CENT;
}

static bool has(const struct memzone *z, enum memzone_field f)
{
	return z->have >> f & 1;
}

bool memzone_is_empty(const struct memzone *z)
{
	return has(z, MEMZONE_PRESENT) && !z->value[MEMZONE_PRESENT];
}

static bool has_total(const struct memreport *r, enum memtotal t)
{
	return r->have_total >> t & 1;
}

/* ---- lists ---- */

static void judge_list(struct memreport *r, struct memzone *z)
{
	uint64_t kb = memzone_list_kb(r, z), listed = z->value[MEMZONE_LISTED];

	if (kb >= MEMREPORT_MACHINE_KB) {
		memreport_remark(r, z->list_line,
				 "node %u %s: a free list of %" PRIu64 " kB is nonsense, "
				 "and left out",
				 z->node, z->name, kb);
		memzone_lose_list(z);
		return;
	}
	if (z->orders && !z->cut && has(z, MEMZONE_LISTED) && listed != kb)
		memreport_remark(r, z->list_line,
				 "node %u %s: the free list adds up to %" PRIu64
				 " kB, and says that it is %" PRIu64 " kB: the counts are taken",
				 z->node, z->name, kb, listed);
	if (z->orders && !z->cut && has(z, MEMZONE_FREE) &&
	    differs(kb, z->value[MEMZONE_FREE] * r->page_kb))
		memreport_remark(r, z->list_line,
				 "node %u %s: free: says %" PRIu64
				 " kB, the free list holds %" PRIu64 " kB: the list is taken",
				 z->node, z->name, z->value[MEMZONE_FREE] * r->page_kb, kb);
}

static bool any_cut(const struct memreport *r)
{
	for (size_t i = 0; i < r->nzones; i++)
		if (r->zone[i].cut || (!r->zone[i].orders && !memzone_is_empty(&r->zone[i])))
			return true;
	return false;
}

/* ---- the whole ---- */

static void judge_totals(struct memreport *r)
{
	static const enum memtotal free_totals[] = { MEMTOTAL_FREE, MEMTOTAL_VMSTAT_FREE };
	uint64_t kb, managed = 0;

	if (!memreport_lists(r, &kb))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(free_totals); i++) {
		enum memtotal t = free_totals[i];

		if (has_total(r, t) && !any_cut(r) && differs(kb, r->total[t] * r->page_kb))
			memreport_remark(r, 0,
					 "%s of the machine is %" PRIu64
					 " kB, the free lists hold %" PRIu64
					 " kB: another moment, or zones that are not shown",
					 memtotal_name(t), r->total[t] * r->page_kb, kb);
	}
	for (size_t i = 0; i < r->nzones; i++)
		managed += r->zone[i].value[MEMZONE_MANAGED] * r->page_kb;
	if (has_total(r, MEMTOTAL_MEMINFO_KB) &&
	    (kb > r->total[MEMTOTAL_MEMINFO_KB] || managed > 2 * r->total[MEMTOTAL_MEMINFO_KB])) {
		memreport_remark(r, 0,
				 "MemTotal is %" PRIu64
				 " kB, the zones are larger: is it that of a container? It is left out",
				 r->total[MEMTOTAL_MEMINFO_KB]);
		r->have_total &= ~(1u << MEMTOTAL_MEMINFO_KB);
	}
}

/* The blocks that the failed request could have taken; each zone is asked alone, without reserves. */
static void judge_failure(struct memreport *r)
{
	const struct memevent *e = &r->event;
	uint64_t blocks = 0, usable = 0;

	if (!e->have_order || !e->have_gfp || any_cut(r) || !r->nzones)
		return;
	for (size_t i = 0; i < r->nzones; i++)
		for (unsigned int k = e->order; k < r->zone[i].orders; k++) {
			blocks += r->zone[i].free[k];
			usable += r->zone[i].free[k] - memzone_unusable(r, &r->zone[i], k);
		}
	if (!blocks)
		memreport_remark(r, 0, "no block of order %u or above is free", e->order);
	else if (!usable)
		memreport_remark(r, 0,
				 "%" PRIu64
				 " blocks of order %u or above are free, all of types that an "
				 "%s request may not take",
				 blocks, e->order, memtype_name(e->gfp.type));
}

static void judge_cma(struct memreport *r)
{
	uint64_t free = 0, cma = 0;

	for (size_t i = 0; i < r->nzones; i++) {
		if (!has(&r->zone[i], MEMZONE_FREE) || !has(&r->zone[i], MEMZONE_FREE_CMA))
			continue;
		free += r->zone[i].value[MEMZONE_FREE];
		cma += r->zone[i].value[MEMZONE_FREE_CMA];
	}
	if (cma && cma <= free && cma > free / 4)
		memreport_remark(r, 0,
				 "%" PRIu64
				 " %% of the free memory is CMA: only movable pages may take it",
				 100 * cma / free);
}

static void judge_missing(struct memreport *r)
{
	size_t lists = 0, without = 0;

	for (size_t i = 0; i < r->nzones; i++) {
		lists += r->zone[i].orders > 0;
		without += !r->zone[i].orders && !memzone_is_empty(&r->zone[i]);
	}
	if (lists && without)
		memreport_remark(r, 0, "%zu of %zu zones have no free list", without, r->nzones);
	if (lists && !r->page_size_known)
		memreport_remark(r, 0, "the page size is not said: 4 kB is assumed");
	if (lists && r->page_kb != 4)
		memreport_remark(r, 0,
				 "pages of %u kB: a block of order 0 counts as one of order %d "
				 "of 4 kB pages",
				 r->page_kb, __builtin_ctz(r->page_kb / 4));
}

/* A guest has blocks up to order 10. */
static void judge_large(struct memreport *r)
{
	unsigned int shift = (unsigned int)__builtin_ctz(r->page_kb / 4);
	uint64_t large = 0;

	for (size_t i = 0; i < r->nzones; i++)
		for (unsigned int k = 0; k < r->zone[i].orders; k++)
			large += k + shift >= MEMSCALE_ORDERS ? r->zone[i].free[k] : 0;
	if (large)
		memreport_remark(r, 0,
				 "%" PRIu64 " blocks are larger than any of a guest: each counts as several "
				 "of order %d of 4 kB pages",
				 large, MEMSCALE_ORDERS - 1);
}

static size_t data_of(const struct memreport *r)
{
	size_t data = (r->event.kind != MEMEVENT_NONE) + (size_t)__builtin_popcount(r->have_total);

	for (size_t i = 0; i < r->nzones; i++) {
		data += 8 * r->zone[i].orders + (size_t)__builtin_popcount(r->zone[i].have);
		for (int t = 0; t < MEMTYPES; t++)
			data += r->zone[i].type_orders[t];
	}
	return data;
}

void memreport_judge(struct memreport *r)
{
	memreport_judge_orders(r);
	for (size_t i = 0; i < r->nzones; i++)
		judge_list(r, &r->zone[i]);
	memreport_leave_out(r);
	judge_totals(r);
	judge_cma(r);
	judge_failure(r);
	judge_missing(r);
	judge_large(r);
	r->data = data_of(r);
}
