// SPDX-License-Identifier: GPL-2.0-only
/* The dump that show_mem() prints: zones, free lists, counters, totals. */
#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "harness/report/memreport_impl.h"
#include "results/util/cleanup.h"

#define PAGE_KB_MAX 256

/* ---- free lists ---- */

static void list_clear(struct memzone *z)
{
	z->orders = 0;
	z->cut = false;
	memset(z->free, 0, sizeof(z->free));
	memset(z->types, 0, sizeof(z->types));
}

static void list_settle(struct reader *rd, long zone, bool cut)
{
	struct memzone *z = &rd->r->zone[zone];

	z->cut = cut;
	/* One count alone may be of another CPU's list, and gives a page size that may be none. */
	if (z->orders > 1 || !z->cut)
		return;
	memreport_remark(rd->r, z->list_line, "node %u %s: too little is left of its free list",
			 z->node, z->name);
	list_clear(z);
}

static void settle_last(struct reader *rd)
{
	if (rd->last >= 0)
		list_settle(rd, rd->last, true);
	rd->last = -1;
}

/* ---- lists that are mixed ---- */

static void list_take_over(struct reader *rd, long zone, const struct tangle_list *l)
{
	struct memzone *z = &rd->r->zone[zone];

	list_clear(z);
	memcpy(z->free, l->free, sizeof(z->free));
	z->orders = l->orders;
	reader_field(rd, zone, MEMZONE_LISTED, l->kb, false);
	memreport_remark(rd->r, z->list_line,
			 "node %u %s: its free list is mixed with another, and was told apart by the "
			 "sums that both print, which no other way fits; letters of types are left out",
			 z->node, z->name);
}

static bool untangle(struct reader *rd)
{
	struct tangle_list list[2];
	bool both = rd->last >= 0 &&
		    tangle_solve(&rd->tangle, rd->r->page_kb, true, &rd->tangle_steps, list);

	if (!both && !tangle_solve(&rd->tangle, rd->r->page_kb, false, &rd->tangle_steps, list))
		return false;
	if (both)
		list_take_over(rd, rd->last, &list[0]);
	else
		settle_last(rd);
	list_take_over(rd, rd->list, &list[1]);
	rd->r->page_size_known = rd->page_size_read = true;
	return true;
}

/* Two CPUs printed at once, or a piece is lost. */
static void tangle_end(struct reader *rd)
{
	struct memzone *z = &rd->r->zone[rd->list];

	if (!untangle(rd)) {
		settle_last(rd);
		memreport_remark(rd->r, rd->misfit.line,
				 "node %u %s: %llukB stands where %llukB is due: lists are mixed, or a "
				 "piece is lost; this list is left out: %s",
				 z->node, z->name, (unsigned long long)rd->misfit.kb,
				 (unsigned long long)rd->misfit.due,
				 rd->tangle.totals == 2 ?
					 "not just one way to tell them apart fits the sums" :
					 "there are not the sums of two lists to tell them apart by");
		list_clear(z);
	}
	rd->list = rd->last = -1;
	rd->tangle.mixed = false;
}

void reader_list_end(struct reader *rd)
{
	if (rd->list < 0)
		return;
	if (rd->tangle.mixed) {
		tangle_end(rd);
		return;
	}
	settle_last(rd);
	list_settle(rd, rd->list,
		    !(rd->r->zone[rd->list].have >> MEMZONE_LISTED & 1) && !rd->total_lost);
	rd->list = -1;
}

/* ---- tokens ---- */

static void list_leave_out(struct reader *rd, const char *why)
{
	struct memzone *z = &rd->r->zone[rd->list];

	settle_last(rd);
	memreport_remark(rd->r, rd->rec.line, "node %u %s: %s: garbage; this list is left out",
			 z->node, z->name, why);
	list_clear(z);
	rd->list = -1;
}

static bool is_page_size(uint64_t kb)
{
	return kb >= 4 && kb <= PAGE_KB_MAX && (kb & (kb - 1)) == 0;
}

/* The first count gives the size of a page; the second shows that it is none of another list. */
static void take_count(struct reader *rd, uint64_t count, uint64_t kb)
{
	struct memreport *r = rd->r;
	struct memzone *z = &r->zone[rd->list];
	unsigned int order = rd->next_order;
	uint64_t due = order		  ? rd->list_kb << order :
		       rd->page_size_read ? r->page_kb :
		       is_page_size(kb)	  ? kb :
					    r->page_kb;

	if (kb != due) {
		rd->tangle.mixed = true;
		rd->misfit.line = rd->rec.line;
		rd->misfit.kb = kb;
		rd->misfit.due = due;
		return;
	}
	if (order >= MEMREPORT_ORDERS) {
		list_leave_out(rd, "more orders than any kernel has");
		return;
	}
	if (count >= MEMREPORT_BLOCKS_MAX) {
		list_leave_out(rd, "more free blocks of an order than any machine has");
		return;
	}
	if (order == 0)
		rd->list_kb = kb;
	if (order == 1 && !rd->page_size_read) {
		r->page_kb = (unsigned int)rd->list_kb;
		r->page_size_known = rd->page_size_read = true;
	}
	z->free[order] = count;
	z->orders = ++rd->next_order;
}

static void take_total(struct reader *rd, uint64_t kb)
{
	rd->total_lost = kb >= MEMREPORT_NONSENSE;
	if (kb != UINT64_MAX)
		reader_field(rd, rd->list, MEMZONE_LISTED, kb, false);
	reader_list_end(rd);
}

static void take_token(struct reader *rd, enum list_token kind, uint64_t a, uint64_t b)
{
	tangle_add(&rd->tangle, kind, a, b);
	if (rd->tangle.mixed) {
		if (rd->tangle.totals == 2)
			tangle_end(rd);
	} else if (kind == LIST_COUNT) {
		take_count(rd, a, b);
	} else if (kind == LIST_TOTAL) {
		take_total(rd, a);
	} else if (rd->next_order) {
		rd->r->zone[rd->list].types[rd->next_order - 1] |= (uint8_t)a;
	}
}

/* The tokens of a list that the text begins with; where no list is open, they are nobody's. */
static void take_list(struct reader *rd, struct cursor *text)
{
	uint64_t a, b;

	for (;;) {
		enum list_token kind = record_list_token(text, &a, &b);

		if (kind == LIST_NONE)
			return;
		if (rd->list >= 0)
			take_token(rd, kind, a, b);
	}
}

static void list_begin(struct reader *rd, unsigned int node, const char *name, struct cursor text)
{
	long zone;

	if (rd->tangle.mixed)
		reader_list_end(rd);
	settle_last(rd);
	zone = reader_zone(rd, node, name, FROM_LIST); /* may end the list, with the report */
	if (zone < 0)
		reader_list_end(rd);
	rd->last = rd->list;
	rd->list = zone;
	tangle_begin(&rd->tangle, rd->last >= 0);
	rd->next_order = 0;
	rd->total_lost = false;
	if (rd->list >= 0)
		rd->r->zone[rd->list].list_line = rd->rec.line;
	take_list(rd, &text);
}

/* ---- zones ---- */

static const struct {
	const char *key;
	enum memzone_field field;
} zone_keys[] = {
	{ "free:", MEMZONE_FREE },	 { "boost:", MEMZONE_BOOST },
	{ "min:", MEMZONE_MIN },	 { "low:", MEMZONE_LOW },
	{ "high:", MEMZONE_HIGH },	 { "present:", MEMZONE_PRESENT },
	{ "managed:", MEMZONE_MANAGED }, { "free_cma:", MEMZONE_FREE_CMA },
	{ "spanned:", MEMZONE_SPANNED },
};

/* "16264kB" and nothing behind it: else it was cut off. UINT64_MAX: it overflows. */
static bool take_kb_value(struct cursor c, uint64_t *kb)
{
	uint64_t value = 0;
	const char *start = c.p;

	for (; c.p < c.end && isdigit((unsigned char)*c.p); c.p++)
		if (value == UINT64_MAX || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*c.p - '0'), &value))
			value = UINT64_MAX;
	*kb = value;
	return c.p > start && c.end - c.p == 2 && strncasecmp(c.p, "kB", 2) == 0;
}

static bool next_word(struct cursor *c, struct cursor *word)
{
	if (cursor_at_end(c))
		return false;
	word->p = c->p;
	while (c->p < c->end && *c->p != ' ')
		c->p++;
	word->end = c->p;
	return true;
}

static void take_zone_line(struct reader *rd, unsigned int node, const char *name,
			   struct cursor text)
{
	long zone = reader_zone(rd, node, name, FROM_DUMP);
	struct cursor word;
	uint64_t kb;

	while (zone >= 0 && next_word(&text, &word))
		for (size_t i = 0; i < ARRAY_SIZE(zone_keys); i++) {
			struct cursor value = word;

			if (cursor_take(&value, zone_keys[i].key) && take_kb_value(value, &kb))
				reader_field(rd, zone, zone_keys[i].field, kb, true);
		}
}

/* A name of letters and digits before ":" or a blank. */
static bool take_name(struct cursor *c, char name[MEMREPORT_NAME_MAX])
{
	size_t n = 0;

	cursor_skip_blanks(c);
	for (; c->p < c->end && isalnum((unsigned char)*c->p); c->p++) {
		if (n == MEMREPORT_NAME_MAX - 1)
			return false;
		name[n++] = *c->p;
	}
	name[n] = '\0';
	return n && isupper((unsigned char)*name) && c->p < c->end && strchr(": ", *c->p);
}

/* "DMA: preallocated 256 KiB pool" is no list, a name whose counts were printed apart is one. */
static bool is_list_head(bool with_node, struct cursor text)
{
	uint64_t count, kb;

	return with_node || cursor_at_end(&text) ||
	       record_list_token(&text, &count, &kb) == LIST_COUNT;
}

/* Behind the node, if any: what is said of one zone. */
static bool take_zone(struct reader *rd, bool with_node, unsigned int node, const char *name,
		      struct cursor text)
{
	struct cursor after = text;

	if (cursor_take(&after, ":")) {
		if (is_list_head(with_node, after))
			list_begin(rd, node, name, after);
		return true;
	}
	if (!cursor_take(&after, "free:"))
		return false;
	take_zone_line(rd, node, name, text);
	return true;
}

static bool take_node(struct reader *rd, struct cursor text)
{
	char name[MEMREPORT_NAME_MAX];
	uint64_t node;

	if (!cursor_take(&text, "Node") || !cursor_number(&text, &node) || node > PROC_NODE_MAX)
		return false;
	if (cursor_at_end(&text)) {
		rd->have_node = true;
		rd->node = (unsigned int)node;
		return true;
	}
	if (take_name(&text, name))
		take_zone(rd, true, (unsigned int)node, name, text);
	return true;
}

/* ---- counters and totals ---- */

static const struct {
	const char *key;
	enum memtotal total;
} counter_keys[] = {
	{ "free:", MEMTOTAL_FREE },
	{ "free_pcp:", MEMTOTAL_FREE_PCP },
	{ "free_cma:", MEMTOTAL_FREE_CMA },
};

static bool take_counters(struct reader *rd, struct cursor text)
{
	struct cursor word;
	uint64_t pages;

	if (!record_is_counters(text.p))
		return false;
	while (next_word(&text, &word))
		for (size_t i = 0; i < ARRAY_SIZE(counter_keys); i++) {
			struct cursor value = word;

			if (cursor_take(&value, counter_keys[i].key) &&
			    reader_number(&value, &pages))
				reader_total(rd, counter_keys[i].total, pages);
		}
	return true;
}

static bool take_total_line(struct reader *rd, struct cursor text)
{
	uint64_t pages;

	if (!reader_number(&text, &pages) || !cursor_take(&text, "pages"))
		return false;
	if (cursor_take(&text, "RAM") || cursor_take(&text, "of RAM"))
		reader_total(rd, MEMTOTAL_RAM, pages);
	else if (cursor_take(&text, "reserved"))
		reader_total(rd, MEMTOTAL_RESERVED, pages);
	else if (cursor_take(&text, "cma reserved"))
		reader_total(rd, MEMTOTAL_CMA, pages);
	return true;
}

bool showmem_read(struct reader *rd, struct cursor text)
{
	struct cursor zone;
	const char *name;

	if (cursor_take(&text, "Mem-Info:") || cursor_take(&text, "Mem-info:")) {
		reader_split(rd);
		reader_report(rd);
	}
	take_list(rd, &text);
	cursor_skip_blanks(&text);
	if (take_counters(rd, text) || take_total_line(rd, text))
		return true;
	zone = text;
	name = record_zone_name(&zone);
	if (name) {
		bool have = rd->have_node;

		rd->have_node = false;
		return take_zone(rd, have, have ? rd->node : 0, name, zone);
	}
	return take_node(rd, text);
}
