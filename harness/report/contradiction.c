// SPDX-License-Identifier: GPL-2.0-only
/* Numbers that cannot be beside each other: which of them are left out. */
#include <inttypes.h>

#include "harness/report/memreport_impl.h"
#include "results/util/cleanup.h"

#define HOLES 2 /* pageblocks are counted over what a zone spans */

static bool has(const struct memzone *z, enum memzone_field f)
{
	return z->have >> f & 1;
}

static uint64_t field_kb(const struct memreport *r, const struct memzone *z, enum memzone_field f)
{
	return z->value[f] * r->page_kb;
}

static void leave_out(struct memzone *z, uint32_t fields)
{
	z->have &= ~fields;
	for (int f = 0; f < MEMZONE_FIELDS; f++)
		if (fields >> f & 1)
			z->value[f] = 0;
}

static bool exceeds(const struct memzone *z, enum memzone_field a, enum memzone_field b)
{
	return has(z, a) && has(z, b) && z->value[a] > z->value[b];
}

/* "line 3: node 0 Normal: min is 900 kB, above low of 800 kB: ..." */
static void remark_above(struct memreport *r, const struct memzone *z, enum memzone_field a,
			 enum memzone_field b, const char *done)
{
	memreport_remark(r, z->field_line[a], "node %u %s: %s is %" PRIu64 " kB, above %s of %" PRIu64
			 " kB: %s", z->node, z->name, memzone_field_name(a), field_kb(r, z, a),
			 memzone_field_name(b), field_kb(r, z, b), done);
}

static const uint32_t watermarks = 1u << MEMZONE_MIN | 1u << MEMZONE_LOW | 1u << MEMZONE_HIGH |
				   1u << MEMZONE_BOOST;
static const uint32_t sizes = 1u << MEMZONE_MANAGED | 1u << MEMZONE_PRESENT;

static enum memzone_field size_field(const struct memzone *z)
{
	return has(z, MEMZONE_MANAGED) ? MEMZONE_MANAGED : MEMZONE_PRESENT;
}

/* ---- what no machine has ---- */

static void judge_size_of(struct memreport *r, struct memzone *z)
{
	for (int f = 0; f < MEMZONE_LISTED; f++) {
		if (!(z->have >> f & 1) || field_kb(r, z, f) < MEMREPORT_MACHINE_KB)
			continue;
		memreport_remark(r, z->field_line[f], "node %u %s: %s is %" PRIu64
				 " kB, more than any machine has: it is left out", z->node, z->name,
				 memzone_field_name((enum memzone_field)f), field_kb(r, z, f));
		leave_out(z, 1u << f);
	}
}

static void judge_size_of_machine(struct memreport *r)
{
	uint64_t sizes_kb = 0;

	for (int t = 0; t < MEMTOTALS; t++) {
		uint64_t kb = r->total[t] * (t == MEMTOTAL_MEMINFO_KB ? 1 : r->page_kb);

		if (!(r->have_total >> t & 1) || kb < MEMREPORT_MACHINE_KB)
			continue;
		memreport_remark(r, r->total_line[t], "%s is %" PRIu64 " kB, more than any machine has: it is left out",
				 memtotal_name((enum memtotal)t), kb);
		r->have_total &= ~(1u << t);
		r->total[t] = 0;
	}
	for (size_t i = 0; i < r->nzones; i++)
		sizes_kb += field_kb(r, &r->zone[i], size_field(&r->zone[i]));
	if (sizes_kb < MEMREPORT_MACHINE_KB)
		return;
	memreport_remark(r, 0, "the zones are %" PRIu64
			 " kB, more than any machine has: their sizes are left out", sizes_kb);
	for (size_t i = 0; i < r->nzones; i++)
		leave_out(&r->zone[i], sizes);
}

static void judge_lists_of_machine(struct memreport *r)
{
	uint64_t list_kb;

	memreport_lists(r, &list_kb);
	if (list_kb < MEMREPORT_MACHINE_KB)
		return;
	memreport_remark(r, 0, "the free lists hold %" PRIu64
			 " kB, more than any machine has: they are left out", list_kb);
	for (size_t i = 0; i < r->nzones; i++)
		if (r->zone[i].orders)
			memzone_lose_list(&r->zone[i]);
}

/* ---- a zone ---- */

/* Managed pages are some of those present, which are some of those spanned. */
static void judge_sizes(struct memreport *r, struct memzone *z)
{
	if (exceeds(z, MEMZONE_MANAGED, MEMZONE_PRESENT)) {
		remark_above(r, z, MEMZONE_MANAGED, MEMZONE_PRESENT, "both are left out");
		leave_out(z, sizes);
	}
	if (exceeds(z, MEMZONE_PRESENT, MEMZONE_SPANNED)) {
		remark_above(r, z, MEMZONE_PRESENT, MEMZONE_SPANNED, "both are left out");
		leave_out(z, 1u << MEMZONE_PRESENT | 1u << MEMZONE_SPANNED);
	}
}

static void judge_watermarks(struct memreport *r, struct memzone *z)
{
	static const struct {
		enum memzone_field a, b;
	} rising[] = {
		{ MEMZONE_BOOST, MEMZONE_MIN }, /* which is printed with it */
		{ MEMZONE_MIN, MEMZONE_LOW },
		{ MEMZONE_LOW, MEMZONE_HIGH },
		{ MEMZONE_MIN, MEMZONE_HIGH },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rising); i++)
		if (exceeds(z, rising[i].a, rising[i].b)) {
			remark_above(r, z, rising[i].a, rising[i].b,
				     "the watermarks of the zone are left out");
			leave_out(z, watermarks);
		}
	memzone_judge_boost(r, z);
	/* The kernel gives Movable 32 pages and more, be it empty. */
	if (!memzone_is_empty(z) && exceeds(z, MEMZONE_MIN, size_field(z))) {
		remark_above(r, z, MEMZONE_MIN, size_field(z),
			     "the watermarks of the zone are left out");
		leave_out(z, watermarks);
	}
}

/* ---- what is free against what there is ---- */

static void list_leave_out(struct memreport *r, struct memzone *z, enum memzone_field size)
{
	cleanup_free char *free_says =
		has(z, MEMZONE_FREE) ? str_printf(", and free: says %" PRIu64 " kB", field_kb(r, z, MEMZONE_FREE)) :
				       xstrdup("");

	memreport_remark(r, z->list_line,
			 "node %u %s: the free list holds %" PRIu64 " kB, more than %s of %" PRIu64
			 " kB%s: the list is left out",
			 z->node, z->name, memzone_list_kb(r, z), memzone_field_name(size),
			 field_kb(r, z, size), free_says);
	memzone_lose_list(z);
}

static void size_leave_out(struct memreport *r, struct memzone *z, enum memzone_field size)
{
	uint64_t list_kb = memzone_list_kb(r, z);

	if (list_kb > field_kb(r, z, size))
		memreport_remark(r, z->list_line,
				 "node %u %s: the free list holds %" PRIu64 " kB, more than %s of %" PRIu64
				 " kB: %s of the zone is left out",
				 z->node, z->name, list_kb, memzone_field_name(size),
				 field_kb(r, z, size), memzone_field_name(size));
	else
		remark_above(r, z, MEMZONE_FREE, size, "the latter is left out");
	leave_out(z, 1u << size);
}

static void free_leave_out(struct memreport *r, struct memzone *z, enum memzone_field size)
{
	remark_above(r, z, MEMZONE_FREE, size, "it is left out, and the free list, which fits, is taken");
	leave_out(z, 1u << MEMZONE_FREE);
}

/*
 * A zone has the pages that are present: a list or a counter of more is wrong, unless both have them. Kernels
 * before 3.10 took the memory map off what is present, so that all else may be free.
 */
static void judge_free_present(struct memreport *r, struct memzone *z, enum memzone_field size)
{
	bool list_over = has(z, size) && memzone_list_kb(r, z) > field_kb(r, z, size);
	bool free_over = exceeds(z, MEMZONE_FREE, size);

	if (list_over && !free_over)
		list_leave_out(r, z, size);
	else if (free_over && !list_over && z->orders && !z->cut)
		free_leave_out(r, z, size);
	else if (list_over || free_over)
		size_leave_out(r, z, size);
}

/* A balloon may have made nonsense of the managed pages; a list that adds up is believed. */
static void judge_free_managed(struct memreport *r, struct memzone *z)
{
	uint64_t list_kb = memzone_list_kb(r, z);
	bool list_over = has(z, MEMZONE_MANAGED) && list_kb > field_kb(r, z, MEMZONE_MANAGED);
	bool free_over = exceeds(z, MEMZONE_FREE, MEMZONE_MANAGED);
	bool proven = has(z, MEMZONE_LISTED) && z->value[MEMZONE_LISTED] == list_kb;

	if (list_over && has(z, MEMZONE_FREE) && !free_over && !proven)
		list_leave_out(r, z, MEMZONE_MANAGED);
	else if (free_over && z->orders && !z->cut && !list_over)
		free_leave_out(r, z, MEMZONE_MANAGED);
	else if (list_over || free_over)
		size_leave_out(r, z, MEMZONE_MANAGED);
}

/* Three that speak of one zone: its size, the counter of its free pages, its free list. */
static void judge_free(struct memreport *r, struct memzone *z)
{
	judge_free_present(r, z, MEMZONE_SPANNED);
	judge_free_present(r, z, MEMZONE_PRESENT);
	judge_free_managed(r, z);
	if (exceeds(z, MEMZONE_FREE_CMA, MEMZONE_FREE)) {
		remark_above(r, z, MEMZONE_FREE_CMA, MEMZONE_FREE, "it is left out");
		leave_out(z, 1u << MEMZONE_FREE_CMA);
	}
}

/* ---- the machine ---- */

static bool has_total(const struct memreport *r, enum memtotal t)
{
	return r->have_total >> t & 1;
}

/* Zones that are not shown make the sum of those that are no larger. */
static void judge_ram(struct memreport *r)
{
	uint64_t list_kb, ram_kb = r->total[MEMTOTAL_RAM] * r->page_kb, managed_kb = 0, most;

	memreport_lists(r, &list_kb);
	for (size_t i = 0; i < r->nzones; i++)
		managed_kb += field_kb(r, &r->zone[i], MEMZONE_MANAGED);
	most = list_kb > managed_kb ? list_kb : managed_kb;
	if (!has_total(r, MEMTOTAL_RAM) || most <= ram_kb)
		return;
	memreport_remark(r, r->total_line[MEMTOTAL_RAM], "%s %" PRIu64 " kB, more than the RAM of %" PRIu64
			 " kB: the latter is left out",
			 list_kb > managed_kb ? "the free lists hold" : "the managed pages are", most,
			 ram_kb);
	r->have_total &= ~(1u << MEMTOTAL_RAM);
}

static void judge_parts(struct memreport *r)
{
	static const enum memtotal parts[] = { MEMTOTAL_RESERVED, MEMTOTAL_FREE, MEMTOTAL_FREE_PCP,
					       MEMTOTAL_FREE_CMA, MEMTOTAL_CMA, MEMTOTAL_VMSTAT_FREE };

	for (size_t i = 0; i < ARRAY_SIZE(parts) && has_total(r, MEMTOTAL_RAM); i++) {
		enum memtotal t = parts[i];

		if (!has_total(r, t) || r->total[t] <= r->total[MEMTOTAL_RAM])
			continue;
		memreport_remark(r, r->total_line[t], "%s of the machine is %" PRIu64 " kB, more than its RAM of %" PRIu64
				 " kB: it is left out",
				 memtotal_name(t), r->total[t] * r->page_kb,
				 r->total[MEMTOTAL_RAM] * r->page_kb);
		r->have_total &= ~(1u << t);
	}
}

static void blocks_leave_out(struct memreport *r)
{
	for (size_t i = 0; i < r->nzones; i++) {
		struct memzone *z = &r->zone[i];

		z->have_blocks = 0;
		for (int t = 0; t < MEMTYPES; t++)
			z->blocks[t] = 0;
	}
}

static void judge_pageblocks(struct memreport *r)
{
	uint64_t kb = memreport_blocks_kb(r), list_kb;
	uint64_t ram_kb = has_total(r, MEMTOTAL_RAM) ? r->total[MEMTOTAL_RAM] * r->page_kb : 0;

	memreport_lists(r, &list_kb);
	if (!kb || (kb >= list_kb && kb < MEMREPORT_MACHINE_KB && (!ram_kb || kb / HOLES <= ram_kb)))
		return;
	memreport_remark(r, r->blocks_line, "%" PRIu64 " kB of pageblocks cannot be, with %" PRIu64
			 " kB in the free lists%s: they are left out",
			 kb, list_kb, kb >= MEMREPORT_MACHINE_KB	   ? ", on no machine" :
			 ram_kb && kb / HOLES > ram_kb ? " and the RAM that there is" :
							 "");
	blocks_leave_out(r);
}

void memreport_leave_out(struct memreport *r)
{
	for (size_t i = 0; i < r->nzones; i++)
		judge_size_of(r, &r->zone[i]);
	judge_size_of_machine(r);
	judge_lists_of_machine(r);
	for (size_t i = 0; i < r->nzones; i++) {
		judge_sizes(r, &r->zone[i]);
		judge_free(r, &r->zone[i]);
		judge_watermarks(r, &r->zone[i]);
	}
	judge_ram(r);
	judge_parts(r);
	judge_pageblocks(r);
}
