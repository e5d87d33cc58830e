// SPDX-License-Identifier: GPL-2.0-only
/* How many orders there are, and which rows and lists do not have them all. */
#include <inttypes.h>
#include <string.h>

#include "harness/report/memreport_impl.h"
#include "results/util/cleanup.h"

void memzone_lose_list(struct memzone *z)
{
	z->orders = z->whole = 0;
	z->cut = true;
	z->at_least = 0;
	memset(z->free, 0, sizeof(z->free));
}

static bool has_row(const struct memzone *z, int type)
{
	return z->type_line[type] > 0;
}

/*
 * All lists and rows of a kernel have as many columns; where they differ, those with fewer are cut off.
 * But 12 beside more of 11, which nearly all kernels have, are one number that was broken in two.
 */
static unsigned int count_orders(const struct memreport *r)
{
	unsigned int votes[MEMREPORT_ORDERS + 1] = { 0 }, most = 0;

	for (size_t i = 0; i < r->nzones; i++) {
		const struct memzone *z = &r->zone[i];

		votes[z->cut ? 0 : z->orders]++;
		for (int t = 0; t < MEMTYPES; t++)
			votes[z->type_cut >> t & 1 ? 0 : z->type_orders[t]]++;
	}
	for (unsigned int n = MEMREPORT_ORDERS_LEAST; n <= MEMREPORT_ORDERS; n++)
		if (votes[n] && !(most == MEMSCALE_ORDERS && votes[most] > votes[n]))
			most = n;
	return most;
}

/* ---- migratetypes ---- */

/* Orders that every row has. */
static unsigned int typed_orders(const struct memzone *z)
{
	unsigned int least = MEMREPORT_ORDERS;

	for (int t = 0; t < MEMTYPES; t++)
		if (has_row(z, t) && z->type_orders[t] < least)
			least = z->type_orders[t];
	return least;
}

static uint64_t typed_sum(const struct memzone *z, unsigned int order)
{
	uint64_t sum = 0;

	for (int t = 0; t < MEMTYPES; t++)
		sum += z->by_type[t][order];
	return sum;
}

/* Several unknown types add up to "other". */
static bool types_fit(const struct memzone *z)
{
	for (unsigned int k = 0; k < MEMREPORT_ORDERS; k++)
		if (typed_sum(z, k) >= MEMREPORT_BLOCKS_MAX)
			return false;
	return true;
}

/* Isolate is the last row of a zone, where the kernel has it at all. */
static bool has_all_types(const struct memzone *z, unsigned int orders)
{
	return z->types_whole ||
	       (orders >= MEMREPORT_ORDERS_LEAST && z->type_orders[MEMTYPE_ISOLATE] == orders);
}

/* A row that is cut off leaves the others whole. */
static void judge_rows(struct memreport *r, struct memzone *z)
{
	for (int t = 0; t < MEMTYPES && r->orders; t++) {
		const char *type = memtype_name((enum memtype)t);

		if (z->type_orders[t] > r->orders) {
			memreport_remark(r, z->type_line[t],
					 "node %u %s, type %s: %u columns, where others have %u: garbage",
					 z->node, z->name, type, z->type_orders[t], r->orders);
			z->types_bad = true;
		} else if (has_row(z, t) && z->type_orders[t] < r->orders && !(z->type_cut >> t & 1)) {
			memreport_remark(r, z->type_line[t],
					 "node %u %s, type %s: the row is cut off: %u of %u columns",
					 z->node, z->name, type, z->type_orders[t], r->orders);
			z->type_cut |= 1u << t;
		}
	}
}

/* The list of a zone that has no other. Above the shortest row a sum lacks what that row had. */
static void sum_types(struct memzone *z, unsigned int orders)
{
	z->orders = orders;
	z->whole = typed_orders(z);
	z->cut = z->whole < orders;
	for (unsigned int k = 0; k < orders; k++) {
		z->free[k] = typed_sum(z, k);
		z->at_least |= (uint32_t)(k >= z->whole) << k;
	}
}

/* Beside buddyinfo or a dump, whose counts stand. */
static void compare_types(struct memreport *r, struct memzone *z)
{
	bool same = true;

	for (unsigned int k = 0; k < typed_orders(z) && k < z->orders; k++)
		same &= z->free[k] == typed_sum(z, k);
	z->at_least = 0;
	if (!same)
		memreport_remark(
			r, z->line,
			"node %u %s: the migratetypes do not add up to the free list: they were "
			"read at another moment",
			z->node, z->name);
}

static const char *types_why(const struct memzone *z, unsigned int orders)
{
	if (z->types_bad || !types_fit(z))
		return "its migratetypes are not added up: a count of them is garbage";
	if (!has_all_types(z, orders))
		return "pagetypeinfo is cut off: what types are missing is not known";
	return NULL;
}

static void judge_types(struct memreport *r, struct memzone *z)
{
	unsigned int orders = r->orders;
	uint32_t stopped = z->at_least;
	const char *why;
	bool any = false;

	for (int t = 0; t < MEMTYPES; t++) {
		any |= has_row(z, t);
		if (!r->orders && z->type_orders[t] > orders)
			orders = z->type_orders[t];
	}
	if (!any)
		return;
	judge_rows(r, z);
	why = types_why(z, orders);
	if (why) {
		memreport_remark(r, z->list_line, "node %u %s: %s", z->node, z->name, why);
		if (!z->orders)
			memzone_lose_list(z);
		z->at_least = 0;
		return;
	}
	if (z->orders)
		compare_types(r, z);
	else
		sum_types(z, orders);
	if (stopped)
		memreport_remark(
			r, z->line,
			"node %u %s: \">\" before a count: the kernel stopped counting there",
			z->node, z->name);
}

/* ---- lists ---- */

static char *cut_where(const struct memzone *z)
{
	return z->whole ? str_printf("after order %u", z->whole - 1) : xstrdup("from order 0 on");
}

static void remark_cut(struct memreport *r, const struct memzone *z)
{
	cleanup_free char *where = cut_where(z), *of = NULL;
	uint64_t list_kb = memzone_list_kb(r, z), free_kb = z->value[MEMZONE_FREE] * r->page_kb;

	if (!(z->have >> MEMZONE_FREE & 1))
		of = str_printf("%" PRIu64 " kB are in it, and how much is free is not said", list_kb);
	else if (list_kb > free_kb)
		of = str_printf("%" PRIu64 " kB are in it, and free: says only %" PRIu64 " kB", list_kb,
				free_kb);
	else
		of = str_printf("%" PRIu64 " kB of the %" PRIu64 " kB that are free are in it", list_kb,
				free_kb);
	memreport_remark(r, z->list_line, "node %u %s: the free list is cut off %s: %s", z->node, z->name,
			 where, of);
}

static void judge_cut(struct memreport *r, struct memzone *z)
{
	if (!z->orders)
		return;
	if (r->orders && z->orders > r->orders && !z->cut) {
		memreport_remark(r, z->list_line,
				 "node %u %s: %u columns, where others have %u: garbage; this list is left out",
				 z->node, z->name, z->orders, r->orders);
		memzone_lose_list(z);
		return;
	}
	z->cut |= !r->orders || z->orders < r->orders;
	if (z->cut)
		remark_cut(r, z);
}

void memreport_judge_orders(struct memreport *r)
{
	r->orders = count_orders(r);
	for (size_t i = 0; i < r->nzones; i++) {
		r->zone[i].whole = r->zone[i].orders;
		judge_types(r, &r->zone[i]);
		judge_cut(r, &r->zone[i]);
	}
}
