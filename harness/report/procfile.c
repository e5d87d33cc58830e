// SPDX-License-Identifier: GPL-2.0-only
/*
 * buddyinfo, pagetypeinfo, zoneinfo, meminfo and vmstat as they are pasted: several on one page, with
 * comments, rows cut short. results/proc.h has the parsers of whole files, which take no part of one.
 */
#include <stdlib.h>

#include "harness/report/memreport_impl.h"
#include "results/util/cleanup.h"

struct columns {
	uint64_t value[MEMREPORT_ORDERS];
	uint32_t at_least;
	unsigned int n;	     /* those above MEMREPORT_ORDERS are counted */
	uint64_t impossible; /* a count that no machine can have; 0: none */
};

/* Columns up to the first word that is no number: a poster's comment. */
static void take_columns(struct cursor *text, struct columns *c)
{
	memset(c, 0, sizeof(*c));
	while (!cursor_at_end(text)) {
		struct cursor try = *text;
		bool at_least = cursor_take(&try, ">");
		uint64_t value;

		if (!reader_number(&try, &value))
			return;
		if (value >= MEMREPORT_BLOCKS_MAX)
			c->impossible = value;
		if (c->n < MEMREPORT_ORDERS) {
			c->value[c->n] = value;
			c->at_least |= (uint32_t)at_least << c->n;
		}
		c->n++;
		*text = try;
	}
}

/* Says so. */
static bool is_garbage(struct reader *rd, unsigned int node, const char *name,
		       const struct columns *c)
{
	if (c->n > MEMREPORT_ORDERS)
		memreport_remark(reader_report(rd), rd->rec.line,
				 "node %u %s: %u columns, more orders than any kernel has: garbage; "
				 "this row is left out",
				 node, name, c->n);
	else if (c->impossible)
		memreport_remark(reader_report(rd), rd->rec.line,
				 "node %u %s: %llu blocks are more than any machine has: garbage; "
				 "this row is left out",
				 node, name, (unsigned long long)c->impossible);
	else
		return false;
	return true;
}

/* ---- buddyinfo ---- */

static bool take_buddyinfo(struct reader *rd, unsigned int node, const char *name,
			   const struct columns *c)
{
	long zone = reader_zone(rd, node, name, FROM_BUDDYINFO);
	struct memzone *z;

	if (zone < 0)
		return true;
	z = &rd->r->zone[zone];
	if (is_garbage(rd, node, name, c))
		return true;
	if (rd->source[zone].from & FROM_LIST)
		return true; /* the dump of the failure itself is nearer to it */
	memcpy(z->free, c->value, sizeof(z->free));
	z->orders = c->n;
	z->list_line = rd->rec.line;
	return true;
}

/* ---- pagetypeinfo ---- */

/* The rows of a zone are whole when something comes behind them: a last one may be missing. */
static void types_go_on(struct reader *rd, long zone)
{
	if (rd->typed >= 0 && rd->typed != zone)
		rd->r->zone[rd->typed].types_whole = true;
	rd->typed = zone;
}

static bool take_type_row(struct reader *rd, unsigned int node, const char *name,
			  struct cursor text)
{
	char type_name[PROC_NAME_MAX];
	struct columns c;
	enum memtype type;
	struct memzone *z;
	long zone;

	if (!cursor_name(&text, type_name))
		return true;
	take_columns(&text, &c);
	if (!c.n)
		return true;
	if (!memtype_find(type_name, &type))
		memreport_remark(reader_report(rd), rd->rec.line,
				 "%s: a migratetype that is not known counts as \"other\"",
				 type_name);
	/* Several may be "other"; a second row of any other type is of another report. */
	zone = reader_zone(rd, node, name, type == MEMTYPE_OTHER ? 0 : FROM_PAGETYPEINFO << type);
	if (zone < 0)
		return true;
	types_go_on(rd, zone);
	z = &rd->r->zone[zone];
	if (!z->list_line)
		z->list_line = rd->rec.line;
	if (is_garbage(rd, node, name, &c)) {
		z->types_bad = true;
		return true;
	}
	for (unsigned int i = 0; i < c.n; i++)
		z->by_type[type][i] += c.value[i];
	if (z->type_orders[type] < c.n)
		z->type_orders[type] = c.n;
	z->at_least |= c.at_least;
	return true;
}

static bool take_heading(struct reader *rd, struct cursor text)
{
	char name[PROC_NAME_MAX];

	if (!cursor_take(&text, "Number of blocks type"))
		return false;
	types_go_on(rd, -1);
	rd->nheading = 0;
	while (rd->nheading < MEMREPORT_ORDERS && cursor_name(&text, name))
		memtype_find(name, &rd->heading[rd->nheading++]);
	return true;
}

static bool take_blocks(struct reader *rd, unsigned int node, const char *name,
			const struct columns *c)
{
	struct memzone *z;
	long zone;

	if (c->n > rd->nheading) {
		memreport_remark(reader_report(rd), rd->rec.line,
				 "node %u %s: %u columns below %u names of types: this row is left out",
				 node, name, c->n, rd->nheading);
		return true;
	}
	zone = reader_zone(rd, node, name, FROM_BLOCKS);
	if (zone < 0)
		return true;
	if (is_garbage(rd, node, name, c))
		return true;
	z = &rd->r->zone[zone];
	for (unsigned int i = 0; i < c->n; i++) {
		z->have_blocks |= 1u << rd->heading[i];
		z->blocks[rd->heading[i]] += c->value[i];
	}
	return true;
}

static bool take_pageblock_order(struct reader *rd, struct cursor text)
{
	struct memreport *r;
	uint64_t order;

	if (!cursor_take(&text, "Page block order:"))
		return false;
	r = reader_report(rd);
	if (!reader_number(&text, &order) || r->have_pageblock_order)
		return true;
	if (order >= MEMREPORT_ORDERS) {
		memreport_remark(r, rd->rec.line,
				 "pageblocks of order %llu are nonsense, and left out",
				 (unsigned long long)order);
		return true;
	}
	r->have_pageblock_order = true;
	r->pageblock_order = (unsigned int)order;
	return true;
}

/* ---- zoneinfo ---- */

static const struct {
	const char *word;
	enum memzone_field field;
} zoneinfo_words[] = {
	{ "pages free ", MEMZONE_FREE },
	{ "boost ", MEMZONE_BOOST },
	{ "min ", MEMZONE_MIN },
	{ "low ", MEMZONE_LOW },
	{ "high ", MEMZONE_HIGH },
	{ "spanned ", MEMZONE_SPANNED },
	{ "present ", MEMZONE_PRESENT },
	{ "managed ", MEMZONE_MANAGED },
	{ "nr_free_cma ", MEMZONE_FREE_CMA },
};

static bool take_zoneinfo(struct reader *rd, struct cursor text)
{
	for (size_t i = 0; rd->zoneinfo >= 0 && i < ARRAY_SIZE(zoneinfo_words); i++) {
		struct cursor value = text;
		uint64_t pages;

		if (!cursor_take(&value, zoneinfo_words[i].word))
			continue;
		if (reader_number(&value, &pages))
			reader_field(rd, rd->zoneinfo, zoneinfo_words[i].field, pages, false);
		return true;
	}
	return false;
}

/* ---- rows that begin with a zone ---- */

static bool take_row(struct reader *rd, struct cursor text)
{
	char name[PROC_NAME_MAX];
	struct columns c;
	unsigned int node;

	if (!cursor_zone(&text, &node, name))
		return false;
	reader_list_end(rd);
	if (cursor_take(&text, ",") && cursor_take(&text, "type"))
		return take_type_row(rd, node, name, text);
	take_columns(&text, &c);
	if (c.n && rd->nheading && c.n < MEMREPORT_ORDERS_LEAST)
		return take_blocks(rd, node, name, &c);
	rd->nheading = 0;
	if (c.n)
		return take_buddyinfo(rd, node, name, &c);
	if (cursor_at_end(&text))
		rd->zoneinfo = reader_zone(rd, node, name, FROM_ZONEINFO);
	return true;
}

/* ---- meminfo and vmstat ---- */

static bool take_number_of(struct reader *rd, struct cursor text, const char *key, enum memtotal t,
			   const char *unit)
{
	uint64_t value;

	if (!cursor_take(&text, key))
		return false;
	if (reader_number(&text, &value) && (!*unit || cursor_take(&text, unit)))
		reader_total(rd, t, value);
	return true;
}

bool procfile_read(struct reader *rd, struct cursor text)
{
	if (strstr(text.p, "/proc/")) /* a prompt or a heading: another file begins */
		rd->zoneinfo = -1;
	if (take_row(rd, text) || take_pageblock_order(rd, text) || take_heading(rd, text) ||
	    take_zoneinfo(rd, text))
		return true;
	return take_number_of(rd, text, "MemTotal:", MEMTOTAL_MEMINFO_KB, "kB") ||
	       (rd->zoneinfo < 0 &&
		take_number_of(rd, text, "nr_free_pages ", MEMTOTAL_VMSTAT_FREE, ""));
}
