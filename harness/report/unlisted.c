// SPDX-License-Identifier: GPL-2.0-only
/*
 * Free pages that the counter of a zone has, and that its free list, which is cut off, does not show. They
 * can only be in blocks of the orders that are missing; of which of them is known in few cases.
 */
#include <inttypes.h>
#include <string.h>

#include "harness/report/memreport_impl.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

#define GUEST_PAGE_KB 4

struct missing {
	uint64_t kb;
	unsigned int first, last; /* orders of the machine that are missing */
	uint64_t block_kb;	  /* of the first */
	unsigned int shift;	  /* to orders of the guest */
	bool certain;
};

static unsigned int guest_order(const struct missing *m, unsigned int order)
{
	unsigned int k = order + m->shift;

	return k < MEMSCALE_ORDERS ? k : MEMSCALE_ORDERS - 1;
}

static uint64_t kept_kb(const struct memreport *r, const struct memzone *z)
{
	bool any = !r->event.have_gfp || r->event.gfp.type == MEMTYPE_MOVABLE;

	return any ? 0 : z->value[MEMZONE_FREE_CMA] * r->page_kb;
}

/*
 * One order is missing, or the guest has none for those above the first, or there are too few pages for a
 * block that is larger than the first. Not where some are CMA that the failed request could not take.
 */
static bool is_certain(const struct memreport *r, const struct memzone *z, const struct missing *m)
{
	return !kept_kb(r, z) && (m->first == m->last || guest_order(m, m->first) == MEMSCALE_ORDERS - 1 ||
				  m->kb < 2 * m->block_kb);
}

/* False: the zone lacks nothing. m->kb is UINT64_MAX where it is not known how much. */
static bool find_missing(const struct memreport *r, const struct memzone *z, bool whole, struct missing *m)
{
	uint64_t list_kb = memzone_list_kb(r, z), free_kb = z->value[MEMZONE_FREE] * r->page_kb;

	if (!z->cut && (z->orders || !whole || memzone_is_empty(z)))
		return false;
	m->first = z->whole;
	m->last = r->orders ? r->orders - 1 : MEMREPORT_ORDERS - 1;
	m->block_kb = (uint64_t)r->page_kb << m->first;
	m->shift = (unsigned int)__builtin_ctz(r->page_kb / GUEST_PAGE_KB);
	/* Zero beside a full list is a counter that was not kept. */
	if (!(z->have >> MEMZONE_FREE & 1) || free_kb < list_kb - list_kb / MEMUNLISTED_FEW)
		m->kb = UINT64_MAX;
	else
		m->kb = free_kb > list_kb ? free_kb - list_kb : 0;
	m->certain = is_certain(r, z, m);
	return true;
}

bool memreport_any_unlisted(const struct memreport *r)
{
	struct missing m;

	for (size_t i = 0; i < r->nzones; i++)
		if (find_missing(r, &r->zone[i], false, &m) && m.kb)
			return true;
	return r->lists_lost > 0;
}

/* Whole blocks of one order; what is left of kb. */
static uint64_t put(const struct missing *m, unsigned int order, uint64_t kb,
		    uint64_t pages[MEMSCALE_ORDERS], struct memscale *s)
{
	uint64_t block_kb = m->block_kb << (order - m->first), blocks = kb / block_kb;
	unsigned int k = guest_order(m, order);

	if (!blocks)
		return kb;
	pages[k] += blocks * block_kb / GUEST_PAGE_KB;
	s->unlisted_in |= 1u << k;
	return kb - blocks * block_kb;
}

static void add_missing(const struct missing *m, uint64_t pages[MEMSCALE_ORDERS], struct memscale *s)
{
	uint64_t left = m->kb;

	if (m->certain) {
		left = put(m, m->first, left, pages, s);
		s->certain_kb += m->kb - left;
		return;
	}
	if (s->unlisted == MEMUNLISTED_SMALLEST)
		left = put(m, m->first, left, pages, s);
	for (unsigned int k = m->last; s->unlisted == MEMUNLISTED_LARGEST && k + 1 > m->first; k--)
		left = put(m, k, left, pages, s);
	s->guessed_kb += m->kb - left;
}

static bool is_refused(const struct memscale *s, uint64_t listed_kb)
{
	uint64_t open_kb = s->unlisted_kb - s->certain_kb - s->guessed_kb;

	if (s->unlisted == MEMUNLISTED_NONE)
		return false;
	return s->lists_unknown ||
	       (s->unlisted == MEMUNLISTED_REFUSE && open_kb > (listed_kb + s->unlisted_kb) / MEMUNLISTED_FEW);
}

void memreport_add_unlisted(const struct memreport *r, bool whole, uint64_t pages[MEMSCALE_ORDERS],
			    struct memscale *s)
{
	uint64_t listed_kb = 0;
	struct missing m;

	s->unlisted_kb = s->certain_kb = s->guessed_kb = 0;
	s->unlisted_in = 0;
	s->lists_unknown = r->lists_lost;
	s->unknown_line = 0;
	for (int k = 0; k < MEMSCALE_ORDERS; k++)
		listed_kb += pages[k] * GUEST_PAGE_KB;
	for (size_t i = 0; i < r->nzones; i++) {
		s->at_least |= r->zone[i].orders && r->zone[i].at_least;
		if (!find_missing(r, &r->zone[i], whole, &m))
			continue;
		if (m.kb == UINT64_MAX) {
			s->lists_unknown++;
			s->unknown_line = r->zone[i].list_line ? r->zone[i].list_line : r->zone[i].line;
			continue;
		}
		s->unlisted_kb += m.kb;
		if (s->unlisted != MEMUNLISTED_NONE)
			add_missing(&m, pages, s);
	}
	s->refused = is_refused(s, listed_kb);
	s->free_kb = listed_kb + (s->unlisted == MEMUNLISTED_NONE ? 0 : s->unlisted_kb);
	s->at_least |= s->lists_unknown > 0 || (s->unlisted == MEMUNLISTED_NONE && s->unlisted_kb);
}

/* A known part would be blown up to a share that is assumed: neither is said by the report. */
void memreport_refuse_unsized(struct memscale *s)
{
	bool some_lists = s->lists_unknown || s->unlisted_kb > (s->free_kb + s->unlisted_kb) / MEMUNLISTED_FEW;

	if (s->refused || s->unlisted != MEMUNLISTED_NONE || s->base != MEMSCALE_ASSUMED || !some_lists)
		return;
	s->refused = s->unsized = true;
}

/* ---- for people ---- */

static void add_orders(struct strbuf *sb, uint32_t orders)
{
	const char *between = "";

	for (int k = 0; k < MEMSCALE_ORDERS; k++)
		if (orders >> k & 1) {
			strbuf_addf(sb, "%s%d", between, k);
			between = ", ";
		}
}

static void add_known(struct strbuf *sb, const struct memscale *s)
{
	uint64_t open_kb = s->unlisted_kb - s->certain_kb - s->guessed_kb;

	if (s->certain_kb || s->guessed_kb) {
		strbuf_addf(sb, "; %" PRIu64 " kB are put into blocks of order ",
			    s->certain_kb + s->guessed_kb);
		add_orders(sb, s->unlisted_in);
		if (!s->guessed_kb)
			strbuf_adds(sb, ", which is where they must be");
		else
			strbuf_addf(sb, ", which is a guess: the %s that they can be in",
				    s->unlisted == MEMUNLISTED_LARGEST ? "largest" : "smallest");
	}
	if (s->refused && open_kb)
		strbuf_addf(sb, "; of what order %" PRIu64 " kB are is not known", open_kb);
	else if (open_kb)
		strbuf_addf(sb, "; %" PRIu64 " kB, few enough for another moment, are spread like the rest",
			    open_kb);
}

char *memscale_describe_unlisted(const struct memscale *s)
{
	struct strbuf sb = STRBUF_INIT;
	uint64_t listed_kb;

	if (!s->unlisted_kb && !s->lists_unknown)
		return NULL;
	listed_kb = s->free_kb - (s->unlisted == MEMUNLISTED_NONE ? 0 : s->unlisted_kb);
	strbuf_addf(&sb, "free lists are cut off: %" PRIu64 " kB", listed_kb);
	if (s->unlisted_kb)
		strbuf_addf(&sb, " of the %" PRIu64 " kB that are free", listed_kb + s->unlisted_kb);
	strbuf_adds(&sb, " are in them");
	if (s->unlisted == MEMUNLISTED_NONE)
		strbuf_adds(&sb, s->refused ? "" :
					      "; what is not is left out, as asked: the layout has at least the "
					      "blocks that are known");
	else if (s->unlisted_kb)
		add_known(&sb, s);
	if (s->lists_unknown)
		strbuf_addf(&sb, "; of %zu list%s nothing says how much is missing", s->lists_unknown,
			    s->lists_unknown == 1 ? "" : "s");
	return strbuf_steal(&sb);
}

/* Of what is there nobody can say what share of the memory it is. */
static int need_size(const char *label, const char *line, const struct memscale *s, struct error *err)
{
	error_set(err, EXIT_USAGE,
		  "%s: %sthe free lists are cut off or lost, and the size of the machine is not said: the %" PRIu64
		  " kB that are listed are no known share of it",
		  label, line, s->free_kb);
	return error_hint(err, "add /proc/zoneinfo, or of a dump the lines of the zones (\"Node 0 Normal free:... "
			       "managed:...\"), which say how large they are%s",
			  s->lists_unknown ? " and how much is free" :
					     "; or say what to take the pages for that are not listed: --unlisted "
					     "smallest or largest");
}

int memscale_need_lists(const char *label, const struct memscale *s, struct error *err)
{
	uint64_t open_kb = s->unlisted_kb - s->certain_kb - s->guessed_kb;
	cleanup_free char *line = s->unknown_line ? str_printf("line %zu: ", s->unknown_line) : xstrdup("");

	if (!s->refused)
		return 0;
	if (s->unsized)
		return need_size(label, line, s, err);
	if (s->lists_unknown) {
		error_set(err, EXIT_USAGE,
			  "%s: %sthe free list is cut off or lost, and nothing says how much is missing", label,
			  line);
		return error_hint(err, "add the whole list, or /proc/zoneinfo (of a dump: \"free:\" of the zone), which "
				       "says how much is free%s",
				  s->base == MEMSCALE_ASSUMED ?
					  "" :
					  "; or build no more than what is there, with --unlisted none");
	}
	error_set(err, EXIT_USAGE,
		  "%s: the free lists are cut off: of what order %" PRIu64 " of the %" PRIu64
		  " kB that are free are is not known",
		  label, open_kb, s->free_kb);
	return error_hint(err, "add the whole lists; or say what to take these pages for: --unlisted smallest or "
			       "largest (the blocks that they can be in)%s",
			  s->base == MEMSCALE_ASSUMED ? "" : ", or none (left out)");
}
