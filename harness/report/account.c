// SPDX-License-Identifier: GPL-2.0-only
/* A report and its scaled free lists, for people. Every text of the input is printable by now. */
#include <inttypes.h>

#include "harness/report/memreport_impl.h"
#include "results/run_text.h"
#include "results/util/cleanup.h"

static void add_report_line(struct strbuf *sb, const struct memimport *m)
{
	const struct memreport *r = &m->set->report[m->chosen];
	cleanup_free char *label = run_text_printable(m->label);

	strbuf_addf(sb, "%s: report %zu of %zu, from line %zu", label, m->chosen + 1,
		    m->set->n + m->set->left_out, r->line);
	if (m->set->n > 1)
		strbuf_adds(sb, m->chosen_by_user ? ", as asked" :
						    ", the one with most data (--nth chooses)");
	if (m->set->left_out)
		strbuf_addf(sb, "; the first %zu were read", m->set->n);
	strbuf_addf(sb, "\npages of %u kB", r->page_kb);
	if (*r->release)
		strbuf_addf(sb, ", kernel %s", r->release);
	if (*r->arch)
		strbuf_addf(sb, " (%s)", r->arch);
	if (r->have_pageblock_order)
		strbuf_addf(sb, ", pageblocks of order %u", r->pageblock_order);
	strbuf_adds(sb, "\n");
}

static void add_event(struct strbuf *sb, const struct memevent *e)
{
	cleanup_free char *what = memevent_describe(e);

	if (!e->kind)
		return;
	strbuf_addf(sb, "%s\n", what);
	if (e->have_gfp)
		strbuf_addf(sb, "  %s, %s, %s, zones up to %s\n", memtype_name(e->gfp.type),
			    e->gfp.atomic ? "atomic" : "not atomic",
			    e->gfp.direct_reclaim ? "may reclaim directly" :
						    "may not reclaim directly",
			    e->gfp.zone);
}

/* "12" with the letters of its types: "12(UM)". */
static void add_count(struct strbuf *sb, const struct memzone *z, unsigned int order)
{
	char cell[48];
	int n = snprintf(cell, sizeof(cell), "%s%" PRIu64, z->at_least >> order & 1 ? ">" : "",
			 z->free[order]);

	if (z->types[order] && z->free[order]) {
		cell[n++] = '(';
		for (int t = 0; t < MEMTYPES; t++)
			if (z->types[order] >> t & 1)
				cell[n++] = memtype_letter((enum memtype)t);
		cell[n++] = ')';
		cell[n] = '\0';
	}
	strbuf_addf(sb, " %s", cell);
}

static void add_fields(struct strbuf *sb, const struct memreport *r, const struct memzone *z)
{
	uint64_t boost_kb = z->value[MEMZONE_BOOST] * r->page_kb;

	for (int f = 0; f < MEMZONE_LISTED; f++)
		if (z->have >> f & 1 && (f != MEMZONE_BOOST || !boost_kb))
			strbuf_addf(sb, " %s %" PRIu64, memzone_field_name((enum memzone_field)f),
				    z->value[f] * r->page_kb);
	if (z->have & ((1u << MEMZONE_LISTED) - 1))
		strbuf_adds(sb, " (kB)");
	if (boost_kb)
		strbuf_addf(sb, ", and %" PRIu64 " kB of boost at that moment, which min, low and high are without",
			    boost_kb);
}

static void add_zone(struct strbuf *sb, const struct memreport *r, const struct memzone *z)
{
	strbuf_addf(sb, "  node %u %-8s", z->node, z->name);
	add_fields(sb, r, z);
	strbuf_adds(sb, "\n");
	if (z->orders) {
		strbuf_adds(sb, "    free, from order 0:");
		for (unsigned int k = 0; k < z->orders; k++)
			add_count(sb, z, k);
		strbuf_addf(sb, "%s = %" PRIu64 " kB\n", z->cut ? " ..." : "",
			    memzone_list_kb(r, z));
	}
	if (!z->have_blocks)
		return;
	strbuf_adds(sb, "    pageblocks:");
	for (int t = 0; t < MEMTYPES; t++)
		if (z->have_blocks >> t & 1)
			strbuf_addf(sb, " %" PRIu64 " %s", z->blocks[t],
				    memtype_name((enum memtype)t));
	strbuf_adds(sb, "\n");
}

static void add_remarks(struct strbuf *sb, const struct memimport *m)
{
	const struct memreport *r = &m->set->report[m->chosen];

	if (m->set->nremarks + r->nremarks)
		strbuf_adds(sb, "remarks\n");
	for (size_t i = 0; i < m->set->nremarks; i++)
		strbuf_addf(sb, "  %s\n", m->set->remark[i]);
	for (size_t i = 0; i < r->nremarks; i++)
		strbuf_addf(sb, "  %s\n", r->remark[i]);
	if (r->remarks_left_out)
		strbuf_addf(sb, "  and %zu more\n", r->remarks_left_out);
}

char *memscale_describe(const struct memscale *s)
{
	static const char *const of[] = { "of the memory of its zones", "of the RAM",
					  "of MemTotal", "of its pageblocks" };

	const char *least = s->at_least ? "at least " : "";

	if (s->base == MEMSCALE_ASSUMED && s->refused)
		return str_printf("%s%" PRIu64 " kB are free; of how much is not said", least, s->free_kb);
	if (s->base == MEMSCALE_ASSUMED)
		return str_printf("%s%" PRIu64
				  " kB are free; of how much is not said: 1/%d is assumed",
				  least, s->free_kb, MEMSCALE_SHARE_ASSUMED);
	return str_printf("%s%" PRIu64 " of %" PRIu64 " kB are free, %.2f %% %s", least, s->free_kb,
			  s->base_kb, 100.0 * (double)s->free_kb / (double)s->base_kb, of[s->base]);
}

char *memscale_describe_assumed(const struct memscale *s)
{
	if (s->base != MEMSCALE_ASSUMED)
		return NULL;
	return xstrdup("the size of the machine is in /proc/zoneinfo: cat /proc/buddyinfo /proc/zoneinfo | "
		       "mmrig layout import -");
}

static void add_share(struct strbuf *sb, const struct memscale *s)
{
	cleanup_free char *share = memscale_describe(s), *unlisted = memscale_describe_unlisted(s);
	cleanup_free char *assumed = memscale_describe_assumed(s);

	strbuf_addf(sb, "%s\n", share);
	if (assumed)
		strbuf_addf(sb, "%s\n", assumed);
	if (unlisted)
		strbuf_addf(sb, "%s\n", unlisted);
	if (s->cma_kb)
		strbuf_addf(sb,
			    "%" PRIu64 " kB more are free in CMA, which the failed request could "
			    "not take: left out\n",
			    s->cma_kb);
}

static void add_scale(struct strbuf *sb, const struct memimport *m)
{
	const struct memscale *s = m->scale;
	cleanup_free char *memory = str_format_bytes(s->memory_bytes);

	if (s->raised)
		strbuf_addf(sb, "that would leave the guest too little to go on: raised to %" PRIu64 " MiB\n",
			    s->pages * 4 / 1024);
	if (s->held[MEMTYPE_UNMOVABLE] + s->held[MEMTYPE_RECLAIMABLE] > 0)
		strbuf_addf(sb, "pageblocks to hold pages of the kernel's: %.2f %% unmovable, %.2f %% reclaimable (%.2f %% "
				"and %.2f %% are of the type in the report, those that are wholly free too%s)\n",
			    100 * s->held[MEMTYPE_UNMOVABLE], 100 * s->held[MEMTYPE_RECLAIMABLE],
			    100 * s->mix[MEMTYPE_UNMOVABLE], 100 * s->mix[MEMTYPE_RECLAIMABLE],
			    s->held_less ? "; the large free blocks need the room" : "");
	if (s->machine_boost_kb)
		strbuf_addf(sb, "the min watermarks of the machine are %" PRIu64 " kB, and %" PRIu64
				" kB%s of boost at that moment, which is left out: %" PRIu64 " kB in the guest\n",
			    s->machine_min_kb, s->machine_boost_kb, s->boost_unsaid ? " or more" : "", s->min_kb);
	if (!s->base_kb && !m->memory_by_user)
		strbuf_addf(sb, "the size of the machine is not said: %s is that of guests then (--memory)\n",
			    memory);
	strbuf_addf(sb, "in a guest of %s: %" PRIu64 " free pages of 4 kB, in blocks of order\n",
		    memory, s->pages);
	for (int k = 0; k < MEMSCALE_ORDERS; k++)
		strbuf_addf(sb, " %*d", k ? 6 : 8, k);
	strbuf_adds(sb, "\n");
	for (int k = 0; k < MEMSCALE_ORDERS; k++)
		strbuf_addf(sb, " %*" PRIu64, k ? 6 : 8, s->blocks[k]);
	strbuf_adds(sb, "\n");
}

char *memreport_account(const struct memimport *m)
{
	const struct memreport *r = &m->set->report[m->chosen];
	struct strbuf sb = STRBUF_INIT;

	add_report_line(&sb, m);
	add_event(&sb, &r->event);
	for (size_t i = 0; i < r->nzones; i++)
		add_zone(&sb, r, &r->zone[i]);
	add_remarks(&sb, m);
	if (m->scale)
		add_share(&sb, m->scale);
	if (m->scale && !m->scale->refused)
		add_scale(&sb, m);
	return strbuf_steal(&sb);
}
