// SPDX-License-Identifier: GPL-2.0-only
/*
 * buddyinfo, pagetypeinfo, zoneinfo, meminfo and vmstat as they are pasted: several on one page, with
 * comments, rows cut short. results/proc.h has the parsers of whole files, which take no part of one.
 */
#include <stdlib.h>

#include "harness/report/memreport_impl.h"
#include "results/util/cleanup.h"

/* ---- buddyinfo ---- */

/* The list of a zone is there, but not what it says. */
static void list_lost(struct reader *rd, struct memzone *z)
{
	z->orders = 0;
	z->cut = true;
	z->list_line = rd->rec.line;
}

static void take_buddyinfo(struct reader *rd, unsigned int node, const char *name,
			   const struct columns *c)
{
	cleanup_free char *of = str_printf("node %u %s", node, name);
	long zone = reader_zone(rd, node, name, FROM_BUDDYINFO);
	struct memzone *z;
	bool garbage;

	if (zone < 0)
		return;
	z = &rd->r->zone[zone];
	garbage = columns_garbage(rd, of, c);
	if (rd->source[zone].from & FROM_LIST) {
		/* The dump of the failure itself is nearer to it. */
		if (!z->cut || garbage || c->bad.p || c->n < MEMREPORT_ORDERS_LEAST)
			return;
		memreport_remark(rd->r, rd->rec.line,
				 "%s: the free list of the dump is cut off: that of buddyinfo is taken", of);
	}
	list_lost(rd, z);
	memset(z->types, 0, sizeof(z->types));
	if (garbage)
		return;
	memcpy(z->free, c->value, sizeof(z->free));
	z->orders = c->n;
	z->cut = columns_cut(rd, of, c);
}

/* ---- pagetypeinfo ---- */

/* The rows of a zone are whole when something comes behind them: a last one may be missing. */
static void types_go_on(struct reader *rd, long zone)
{
	if (rd->typed >= 0 && rd->typed != zone)
		rd->r->zone[rd->typed].types_whole = true;
	rd->typed = zone;
}

static void take_type_columns(struct reader *rd, struct memzone *z, enum memtype type,
			      const struct columns *c)
{
	cleanup_free char *of =
		str_printf("node %u %s, type %s", z->node, z->name, memtype_name(type));
	bool again;

	again = z->type_line[type] > 0;
	z->type_line[type] = rd->rec.line;
	if (columns_garbage(rd, of, c)) {
		z->types_bad = true;
		return;
	}
	z->type_cut |= (uint32_t)columns_cut(rd, of, c) << type;
	for (unsigned int i = 0; i < c->n; i++)
		z->by_type[type][i] += c->value[i];
	/* Of several "other", what all have. */
	if (again && z->type_orders[type] != c->n)
		z->type_cut |= 1u << type;
	if (!again || z->type_orders[type] > c->n)
		z->type_orders[type] = c->n;
	z->at_least |= c->at_least;
}

static void take_type_row(struct reader *rd, unsigned int node, const char *name,
			  struct cursor text)
{
	char type_name[PROC_NAME_MAX];
	struct columns c;
	enum memtype type;
	struct memzone *z;
	long zone;

	if (!cursor_name(&text, type_name))
		return;
	columns_take(rd, &text, MEMSCALE_ORDERS, &c);
	if (!c.n && !c.bad.p)
		return;
	if (!memtype_find(type_name, &type))
		memreport_remark(reader_report(rd), rd->rec.line,
				 "%s: a migratetype that is not known counts as \"other\"",
				 type_name);
	/* Several may be "other"; a second row of any other type is of another report. */
	zone = reader_zone(rd, node, name, type == MEMTYPE_OTHER ? 0 : FROM_PAGETYPEINFO << type);
	if (zone < 0)
		return;
	types_go_on(rd, zone);
	z = &rd->r->zone[zone];
	if (!z->list_line)
		z->list_line = rd->rec.line;
	take_type_columns(rd, z, type, &c);
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

static void take_blocks(struct reader *rd, unsigned int node, const char *name,
			const struct columns *c)
{
	cleanup_free char *of = str_printf("node %u %s", node, name);
	struct memzone *z;
	long zone = -1;

	if (columns_cut(rd, of, c))
		memreport_remark(rd->r, rd->rec.line, "%s: its pageblocks are left out", of);
	else if (c->n != rd->nheading)
		memreport_remark(reader_report(rd), rd->rec.line,
				 "%s: %u columns below %u names of types: this row is left out", of,
				 c->n, rd->nheading);
	else if (!columns_garbage(rd, of, c))
		zone = reader_zone(rd, node, name, FROM_BLOCKS);
	if (zone < 0)
		return;
	z = &rd->r->zone[zone];
	if (!rd->r->blocks_line)
		rd->r->blocks_line = rd->rec.line;
	for (unsigned int i = 0; i < c->n; i++) {
		z->have_blocks |= 1u << rd->heading[i];
		z->blocks[rd->heading[i]] += c->value[i];
	}
}

static bool take_pageblock_order(struct reader *rd, struct cursor text)
{
	struct memreport *r;
	uint64_t order;

	if (!cursor_take(&text, "Page block order:"))
		return false;
	r = reader_report(rd);
	if (r->have_pageblock_order || cursor_at_end(&text))
		return true;
	if (!reader_number(rd, &text, &order)) {
		reader_bad(rd, "order of pageblocks", "it is left out");
		return true;
	}
	if (order >= MEMREPORT_ORDERS) {
		cleanup_free char *typed = reader_typed(rd, order);

		memreport_remark(r, rd->rec.line,
				 "pageblocks of order %s are nonsense, and left out", typed);
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
		if (reader_number(rd, &value, &pages))
			reader_field(rd, rd->zoneinfo, zoneinfo_words[i].field, pages, false);
		else if (rd->word.p < rd->word.end && rd->word.end == value.end)
			reader_bad(rd, "number of pages", "the line is left out");
		return true;
	}
	return false;
}

/* ---- rows that begin with a zone ---- */

/* "Node 0, zone Normal is the one" is said of a zone, and is no row of it. */
static bool has_counts(struct cursor text)
{
	while (!cursor_at_end(&text)) {
		if (*text.p >= '0' && *text.p <= '9')
			return true;
		while (text.p < text.end && *text.p != ' ')
			text.p++;
	}
	return false;
}

/* ", zone DMA 1 2 3", "Normal: 1*4kB" */
static bool is_list_of_zone(struct cursor text)
{
	char name[PROC_NAME_MAX];

	if (cursor_take(&text, ","))
		return cursor_take(&text, "zone") && cursor_name(&text, name) && has_counts(text);
	return record_zone_name(&text) && cursor_take(&text, ":") && has_counts(text);
}

/* "Node 99999, zone Normal 1 2 3" */
static bool take_bad_node(struct reader *rd, struct cursor text)
{
	struct cursor word, number;
	uint64_t node;

	if (!cursor_take(&text, "Node") || text.p == text.end || *text.p != ' ')
		return false;
	number = text;
	if (cursor_number(&number, &node) && node <= PROC_NODE_MAX)
		return false;
	cursor_skip_blanks(&text);
	for (word.p = text.p; text.p < text.end && *text.p != ' ' && *text.p != ','; text.p++)
		;
	word.end = text.p;
	if (!is_list_of_zone(text))
		return false;
	reader_list_end(rd);
	reader_report(rd)->lists_lost++;
	rd->word = word;
	reader_bad(rd, "number of a node", "the line is left out");
	return true;
}

static bool take_row(struct reader *rd, struct cursor text)
{
	char name[PROC_NAME_MAX];
	struct cursor type;
	struct columns c;
	unsigned int node;

	if (take_bad_node(rd, text))
		return true;
	if (!cursor_zone(&text, &node, name))
		return false;
	reader_list_end(rd);
	type = text;
	if (cursor_take(&type, ",") && cursor_take(&type, "type")) {
		take_type_row(rd, node, name, type);
		return true;
	}
	columns_take(rd, &text, rd->nheading ? rd->nheading : MEMSCALE_ORDERS, &c);
	if ((c.n || has_counts(text)) && rd->nheading && c.n < MEMREPORT_ORDERS_LEAST) {
		take_blocks(rd, node, name, &c);
		return true;
	}
	rd->nheading = 0;
	if (c.n || has_counts(text))
		take_buddyinfo(rd, node, name, &c);
	else if (cursor_at_end(&text))
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
	if (reader_number(rd, &text, &value)) {
		if (!*unit || cursor_take(&text, unit))
			reader_total(rd, t, value);
	} else if (rd->word.p < rd->word.end) {
		reader_bad(rd, "number", "the line is left out");
	}
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
