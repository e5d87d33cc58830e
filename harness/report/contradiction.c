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

/* ---- a zone ---- */

static const uint32_t watermarks = 1u << MEMZONE_MIN | 1u << MEMZONE_LOW | 1u << MEMZONE_HIGH |
				   1u << MEMZONE_BOOST;
static const uint32_t sizes = 1u << MEMZONE_MANAGED | 1u << MEMZONE_PRESENT;

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

static enum memzone_field size_field(const struct memzone *z)
{
	return has(z, MEMZONE_MANAGED) ? MEMZONE_MANAGED : MEMZONE_PRESENT;
}

static void judge_watermarks(struct memreport *r, struct memzone *z)
{
	static const struct {
		enum memzone_field a, b;
	} rising[] = {
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
	if (exceeds(z, MEMZONE_MIN, size_field(z))) {
		remark_above(r, z, MEMZONE_MIN, size_field(z),
			     "the watermarks of the zone are left out");
		leave_out(z, watermarks);
	}
}

/* ---- what is free against what there is ---- */

static void list_leave_out(struct memreport *r, struct memzone *z, uint64_t list_kb)
{
	memreport_remark(r, z->list_line,
			 "node %u %s: the free list holds %" PRIu64 " kB, more than its zone of %" PRIu64
			 " kB, and free: says %" PRIu64 " kB: the list is left out",
			 z->node, z->name, list_kb, field_kb(r, z, size_field(z)),
			 field_kb(r, z, MEMZONE_FREE));
	z->orders = 0;
}

static void size_leave_out(struct memreport *r, struct memzone *z, uint64_t list_kb, bool list_over)
{
	enum memzone_field size = size_field(z);

	if (list_over)
		memreport_remark(r, z->list_line,
				 "node %u %s: the free list holds %" PRIu64 " kB, more than %s of %" PRIu64
				 " kB: the size of the zone is left out",
				 z->node, z->name, list_kb, memzone_field_name(size),
				 field_kb(r, z, size));
	else
		remark_above(r, z, MEMZONE_FREE, size, "the size of the zone is left out");
	leave_out(z, sizes);
}

/* Three that speak of one zone: its size, the counter of its free pages, its free list. */
static void judge_free(struct memreport *r, struct memzone *z)
{
	uint64_t list_kb = memzone_list_kb(r, z), size_kb = field_kb(r, z, size_field(z));
	bool free_over = exceeds(z, MEMZONE_FREE, size_field(z)), list_over;
	bool proven = has(z, MEMZONE_LISTED) && z->value[MEMZONE_LISTED] == list_kb;

	list_over = has(z, size_field(z)) && z->orders && list_kb > size_kb;
	if (list_over && has(z, MEMZONE_FREE) && !free_over && !proven) {
		list_leave_out(r, z, list_kb);
	} else if (free_over && z->orders && !z->cut && !list_over) {
		remark_above(r, z, MEMZONE_FREE, size_field(z), "the free list, which fits, is taken");
		leave_out(z, 1u << MEMZONE_FREE);
	} else if (list_over || free_over) {
		size_leave_out(r, z, list_kb, list_over);
	}
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
	memreport_remark(r, 0, "%s %" PRIu64 " kB, more than the RAM of %" PRIu64
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
		memreport_remark(r, 0, "%s of the machine is %" PRIu64 " kB, more than its RAM of %" PRIu64
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
	if (!kb || (kb >= list_kb && kb < MEMREPORT_NONSENSE && (!ram_kb || kb / HOLES <= ram_kb)))
		return;
	memreport_remark(r, 0, "%" PRIu64 " kB of pageblocks cannot be, with %" PRIu64
			 " kB in the free lists%s: they are left out",
			 kb, list_kb, ram_kb && kb / HOLES > ram_kb ? " and the RAM that there is" : "");
	blocks_leave_out(r);
}

void memreport_leave_out(struct memreport *r)
{
	for (size_t i = 0; i < r->nzones; i++) {
		judge_sizes(r, &r->zone[i]);
		judge_free(r, &r->zone[i]);
		judge_watermarks(r, &r->zone[i]);
	}
	judge_ram(r);
	judge_parts(r);
	judge_pageblocks(r);
}
