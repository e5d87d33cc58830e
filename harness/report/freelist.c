// SPDX-License-Identifier: GPL-2.0-only
/* The free lists that show_mem() prints. */
#include <ctype.h>
#include <strings.h>

#include "harness/report/memreport_impl.h"
#include "results/util/cleanup.h"

#define PAGE_KB_MAX 256

/* ---- what is open ---- */

static void list_clear(struct memzone *z)
{
	z->orders = 0;
	z->cut = false;
	memset(z->free, 0, sizeof(z->free));
	memset(z->types, 0, sizeof(z->types));
}

/* It is there, but not what it says. */
static void list_lose(struct memzone *z)
{
	list_clear(z);
	z->cut = true;
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
	list_lose(z);
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
		list_lose(z);
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
	list_lose(z);
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

/* "(UXM)": a letter that no kernel has, or a vendor's own. */
static void remark_letters(struct reader *rd, const struct cursor *token)
{
	const struct memzone *z = &rd->r->zone[rd->list];
	cleanup_free char *text = reader_text(token);

	memreport_remark(rd->r, rd->rec.line,
			 "node %u %s: \"%s\" has a letter that is not known: it counts as \"other\"",
			 z->node, z->name, text);
}

/* "1,000*4kB" and "(um)" are none, and "1*10" or "(U" at the end of a line is what is left of one. */
static bool is_bad_token(const struct cursor *word, bool last)
{
	const char *p = memchr(word->p, '*', (size_t)(word->end - word->p));

	if (word->p < word->end && *word->p == '(')
		return !last;
	if (!p)
		return false;
	for (p++; p < word->end && isdigit((unsigned char)*p); p++)
		;
	return p[-1] != '*' && (p == word->end ? !last : word->end - p == 2 && strncasecmp(p, "kB", 2) == 0);
}

/* The list is taken up to a word that is no count. */
static void take_bad_token(struct reader *rd, struct cursor text)
{
	struct memzone *z = &rd->r->zone[rd->list];
	cleanup_free char *shown = NULL;
	struct cursor word;

	cursor_skip_blanks(&text);
	word = (struct cursor){ text.p, text.p };
	while (word.end < text.end && *word.end != ' ')
		word.end++;
	if (rd->tangle.mixed || !is_bad_token(&word, word.end == text.end))
		return;
	shown = reader_text(&word);
	memreport_remark(rd->r, rd->rec.line,
			 "node %u %s: \"%s\" in place of order %u is no count: the list is taken up to there",
			 z->node, z->name, shown, rd->next_order);
	settle_last(rd);
	list_settle(rd, rd->list, true);
	rd->list = -1;
}

void freelist_take(struct reader *rd, struct cursor *text)
{
	uint64_t a, b;

	for (;;) {
		struct cursor before = *text;
		enum list_token kind = record_list_token(text, &a, &b);

		if (rd->list < 0 && kind == LIST_NONE)
			return;
		if (kind == LIST_NONE) {
			take_bad_token(rd, *text);
			return;
		}
		if (rd->list < 0)
			continue;
		cursor_skip_blanks(&before);
		rd->word = (struct cursor){ before.p, text->p };
		if (kind == LIST_TYPES && a >> MEMTYPE_OTHER & 1)
			remark_letters(rd, &rd->word);
		take_token(rd, kind, a, b);
	}
}

void freelist_begin(struct reader *rd, unsigned int node, const char *name, struct cursor text)
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
	freelist_take(rd, &text);
}
