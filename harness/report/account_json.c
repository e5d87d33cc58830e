// SPDX-License-Identifier: GPL-2.0-only
/* A report and its scaled free lists, for programs. Numbers are pages of the machine. */
#include <jansson.h>

#include "harness/report/memreport_impl.h"
#include "results/run_json.h"
#include "results/util/cleanup.h"

static json_t *counts_json(const uint64_t *count, unsigned int n)
{
	json_t *a = json_array();

	for (unsigned int k = 0; k < n; k++)
		json_array_append_new(a, run_json_u64(count[k]));
	return a;
}

static json_t *strings_json(char *const *list, size_t n)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(a, run_json_text(list[i]));
	return a;
}

/* "UME" of each order, where the list has letters. */
static json_t *letters_json(const struct memzone *z)
{
	json_t *a = json_array();

	for (unsigned int k = 0; k < z->orders; k++) {
		char text[MEMTYPES + 1] = "";
		size_t n = 0;

		for (int t = 0; t < MEMTYPES; t++)
			if (z->types[k] >> t & 1)
				text[n++] = memtype_letter((enum memtype)t);
		text[n] = '\0';
		json_array_append_new(a, json_string(text));
	}
	return a;
}

static void add_types(json_t *o, const struct memzone *z)
{
	json_t *free = json_object(), *blocks = json_object();

	for (int t = 0; t < MEMTYPES; t++) {
		const char *name = memtype_name((enum memtype)t);

		if (z->type_orders[t])
			json_object_set_new(free, name,
					    counts_json(z->by_type[t], z->type_orders[t]));
		if (z->have_blocks >> t & 1)
			json_object_set_new(blocks, name, run_json_u64(z->blocks[t]));
	}
	if (json_object_size(free))
		json_object_set_new(o, "free_by_type", json_incref(free));
	if (json_object_size(blocks))
		json_object_set_new(o, "pageblocks", json_incref(blocks));
	json_decref(free);
	json_decref(blocks);
}

static json_t *zone_json(const struct memzone *z)
{
	json_t *o = json_object();

	json_object_set_new(o, "node", json_integer(z->node));
	json_object_set_new(o, "zone", json_string(z->name));
	json_object_set_new(o, "line", json_integer((json_int_t)z->line));
	for (int f = 0; f < MEMZONE_FIELDS; f++)
		if (z->have >> f & 1)
			json_object_set_new(o,
					    f == MEMZONE_LISTED ?
						    "listed_kb" :
						    memzone_field_name((enum memzone_field)f),
					    run_json_u64(z->value[f]));
	if (z->orders) {
		json_object_set_new(o, "free_blocks", counts_json(z->free, z->orders));
		json_object_set_new(o, "letters", letters_json(z));
		json_object_set_new(o, "whole_orders", json_integer(z->whole));
	}
	if (z->orders || z->cut)
		json_object_set_new(o, "cut_off", json_boolean(z->cut));
	add_types(o, z);
	return o;
}

static json_t *event_json(const struct memevent *e)
{
	json_t *o = json_object();

	json_object_set_new(o, "kind", json_string(memevent_name(e->kind)));
	json_object_set_new(o, "line", json_integer((json_int_t)e->line));
	json_object_set_new(o, "of_next_report", json_boolean(e->borrowed));
	if (e->have_order)
		json_object_set_new(o, "order", json_integer(e->order));
	if (e->bytes)
		json_object_set_new(o, "bytes", run_json_u64(e->bytes));
	if (*e->text)
		json_object_set_new(o, "text", run_json_text(e->text));
	if (!e->have_gfp)
		return o;
	json_object_set_new(o, "gfp", json_string(e->mask));
	json_object_set_new(o, "type", json_string(memtype_name(e->gfp.type)));
	json_object_set_new(o, "atomic", json_boolean(e->gfp.atomic));
	json_object_set_new(o, "direct_reclaim", json_boolean(e->gfp.direct_reclaim));
	json_object_set_new(o, "highest_zone", json_string(e->gfp.zone));
	return o;
}

static json_t *report_json(const struct memreport *r)
{
	json_t *o = json_object(), *zones = json_array(), *totals = json_object();

	json_object_set_new(o, "line", json_integer((json_int_t)r->line));
	json_object_set_new(o, "page_kb", json_integer(r->page_kb));
	json_object_set_new(o, "page_size_known", json_boolean(r->page_size_known));
	if (*r->release)
		json_object_set_new(o, "release", json_string(r->release));
	if (*r->arch)
		json_object_set_new(o, "arch", json_string(r->arch));
	if (r->have_pageblock_order)
		json_object_set_new(o, "pageblock_order", json_integer(r->pageblock_order));
	if (r->event.kind)
		json_object_set_new(o, "event", event_json(&r->event));
	for (int t = 0; t < MEMTOTALS; t++)
		if (r->have_total >> t & 1)
			json_object_set_new(totals, memtotal_name((enum memtotal)t),
					    run_json_u64(r->total[t]));
	json_object_set_new(o, "totals", totals);
	for (size_t i = 0; i < r->nzones; i++)
		json_array_append_new(zones, zone_json(&r->zone[i]));
	json_object_set_new(o, "zones", zones);
	json_object_set_new(o, "remarks", strings_json(r->remark, r->nremarks));
	return o;
}

/* What the free lists, which are cut off, do not show. */
static void add_unlisted(json_t *o, const struct memscale *s)
{
	static const char *const asked[] = { "refuse", "smallest", "largest", "none" };
	json_t *in = json_array();

	json_object_set_new(o, "unlisted", json_string(asked[s->unlisted]));
	json_object_set_new(o, "refused", json_boolean(s->refused));
	json_object_set_new(o, "unlisted_kb", run_json_u64(s->unlisted_kb));
	json_object_set_new(o, "unlisted_certain_kb", run_json_u64(s->certain_kb));
	json_object_set_new(o, "unlisted_guessed_kb", run_json_u64(s->guessed_kb));
	for (int k = 0; k < MEMSCALE_ORDERS; k++)
		if (s->unlisted_in >> k & 1)
			json_array_append_new(in, json_integer(k));
	json_object_set_new(o, "unlisted_in_orders", in);
	json_object_set_new(o, "lists_unknown", json_integer((json_int_t)s->lists_unknown));
}

static json_t *shares_json(const struct memscale *s, const double share[MEMTYPES])
{
	json_t *o = json_object();

	for (int t = 0; t < MEMTYPES; t++)
		if (s->have_mix >> t & 1)
			json_object_set_new(o, memtype_name((enum memtype)t), json_real(share[t]));
	return o;
}

static json_t *scale_json(const struct memscale *s)
{
	static const char *const bases[] = { "managed", "pages RAM", "MemTotal", "pageblocks", "assumed" };
	json_t *o = json_object();

	json_object_set_new(o, "memory_bytes", run_json_u64(s->memory_bytes));
	json_object_set_new(o, "share_of", json_string(bases[s->base]));
	json_object_set_new(o, "free_kb", run_json_u64(s->free_kb));
	if (s->base_kb)
		json_object_set_new(o, "of_kb", run_json_u64(s->base_kb));
	json_object_set_new(o, "at_least", json_boolean(s->at_least));
	add_unlisted(o, s);
	json_object_set_new(o, "raised", json_boolean(s->raised));
	json_object_set_new(o, "left_out_cma_kb", run_json_u64(s->cma_kb));
	if (!s->refused) {
		json_object_set_new(o, "free_pages", run_json_u64(s->pages));
		json_object_set_new(o, "free_blocks", counts_json(s->blocks, MEMSCALE_ORDERS));
	}
	if (s->min_kb) {
		json_object_set_new(o, "machine_min_kb", run_json_u64(s->machine_min_kb));
		json_object_set_new(o, "machine_boost_kb", run_json_u64(s->machine_boost_kb));
		json_object_set_new(o, "boost_at_least", json_boolean(s->boost_unsaid));
		json_object_set_new(o, "min_kb", run_json_u64(s->min_kb));
	}
	json_object_set_new(o, "pageblock_shares", shares_json(s, s->mix));
	json_object_set_new(o, "pageblock_shares_held", shares_json(s, s->held));
	json_object_set_new(o, "held_less", json_boolean(s->held_less));
	return o;
}

char *memreport_json(const struct memimport *m, const char *scenario)
{
	json_t *o = json_object();
	char *text;

	json_object_set_new(o, "schema", json_integer(RUN_SCHEMA));
	json_object_set_new(o, "file", run_json_text(m->label));
	json_object_set_new(o, "reports", json_integer((json_int_t)m->set->n));
	json_object_set_new(o, "reports_not_read", json_integer((json_int_t)m->set->left_out));
	json_object_set_new(o, "chosen", json_integer((json_int_t)m->chosen + 1));
	json_object_set_new(o, "remarks", strings_json(m->set->remark, m->set->nremarks));
	json_object_set_new(o, "report", report_json(&m->set->report[m->chosen]));
	if (m->scale)
		json_object_set_new(o, "guest", scale_json(m->scale));
	if (scenario)
		json_object_set_new(o, "scenario", run_json_text(scenario));
	text = json_dumps(o, JSON_INDENT(1) | JSON_ENSURE_ASCII);
	json_decref(o);
	return text;
}
