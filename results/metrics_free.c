// SPDX-License-Identifier: GPL-2.0-only
/* Levels by zone, order, node and type; and mTHP by size. */
#include <string.h>

#include "results/metrics.h"
#include "results/proc.h"
#include "results/util/cleanup.h"

static double pages_of(const struct free_row *row, unsigned int order)
{
	return (double)row->count[order] * (double)(1u << order);
}

/*
 * Real guests have some 600 metrics. The names come from the guest, and the time that metrics take
 * grows with the square of their number.
 */
#define METRICS_MAX 8192

/* Adds to what is there already: several nodes, or types. Frees the name. */
static void add_metric(struct run *r, char *name, double value)
{
	const double *before = run_metric(r, name);

	if (before || r->nmetrics < METRICS_MAX)
		run_set_metric(r, name, before ? *before + value : value);
	free(name);
}

static bool zero_at_both(const struct free_table *begin, const struct free_row *row,
			 unsigned int order)
{
	const struct free_row *then = free_table_find(begin, row);

	return !row->count[order] && (!then || order >= then->n || !then->count[order]);
}

static void parse_or_empty(const struct sample_file *f,
			   int (*parse)(const void *, size_t, struct free_table *),
			   struct free_table *t)
{
	memset(t, 0, sizeof(*t));
	if (f)
		parse(f->data, f->len, t);
}

void metrics_buddyinfo(const struct sample_file *begin, const struct sample_file *end,
		       struct run *r)
{
	struct free_table b, e;

	parse_or_empty(begin, buddyinfo_parse, &b);
	parse_or_empty(end, buddyinfo_parse, &e);
	for (size_t i = 0; i < e.n; i++) {
		const struct free_row *row = &e.row[i];

		for (unsigned int o = 0; o < row->n; o++) {
			double pages = pages_of(row, o);

			add_metric(r, str_printf("free_pages_order%u", o), pages);
			add_metric(r, str_printf("free_order%u_%s", o, row->zone), pages);
			if (e.several_nodes && (o == 0 || !zero_at_both(&b, row, o)))
				add_metric(r,
					   str_printf("free_order%u_node%u_%s", o, row->node,
						      row->zone),
					   pages);
		}
	}
	free_table_free(&b);
	free_table_free(&e);
}

static void type_row(const struct pagetypeinfo *begin, const struct pagetypeinfo *end,
		     const struct free_row *row, struct strbuf *bounds, struct run *r)
{
	double all = 0;

	for (unsigned int o = 0; o < row->n; o++) {
		double pages = pages_of(row, o);
		char *name = str_printf("free_order%u_%s_%s", o, row->zone, row->type);

		all += pages;
		if (row->at_least >> o & 1)
			strbuf_addf(bounds, "%s%s", bounds->len ? ", " : "", name);
		if (zero_at_both(&begin->free, row, o)) {
			free(name);
			continue;
		}
		add_metric(r, name, pages);
		if (end->free.several_nodes)
			add_metric(r,
				   str_printf("free_order%u_node%u_%s_%s", o, row->node, row->zone,
					      row->type),
				   pages);
	}
	if (row->at_least)
		strbuf_addf(bounds, ", free_type_%s_%s", row->zone, row->type);
	if (all || free_table_find(&begin->free, row))
		add_metric(r, str_printf("free_type_%s_%s", row->zone, row->type), all);
}

void metrics_pagetypeinfo(const struct sample_file *begin, const struct sample_file *end,
			  struct run *r)
{
	cleanup_strbuf struct strbuf bounds = STRBUF_INIT;
	struct pagetypeinfo b = { 0 }, e = { 0 };

	if (!end || pagetypeinfo_parse(end->data, end->len, &e) < 0)
		return;
	if (begin)
		pagetypeinfo_parse(begin->data, begin->len, &b);
	for (size_t i = 0; i < e.free.n; i++)
		type_row(&b, &e, &e.free.row[i], &bounds, r);
	for (size_t i = 0; i < e.blocks.n; i++) {
		const struct free_row *row = &e.blocks.row[i];

		if (!zero_at_both(&b.blocks, row, 0))
			add_metric(r, str_printf("blocks_%s_%s", row->zone, row->type),
				   (double)row->count[0]);
	}
	counter_note(r, COUNTER_BOUNDS, &bounds);
	pagetypeinfo_free(&b);
	pagetypeinfo_free(&e);
}

void metrics_extfrag(const char *name, const struct sample_file *end, struct run *r)
{
	struct free_table t;

	parse_or_empty(end, extfrag_parse, &t);
	for (size_t i = 0; i < t.n; i++) {
		const struct free_row *row = &t.row[i];

		/* A single page is always usable. */
		for (unsigned int o = 1; o < row->n; o++) {
			if (row->index[o] >= 0)
				add_metric(r,
					   str_printf("%s_order%u_node%u_%s", name, o, row->node,
						      row->zone),
					   row->index[o]);
		}
	}
	free_table_free(&t);
}

void metrics_zoneinfo(const struct sample_file *end, struct run *r)
{
	static const struct {
		enum zone_field field;
		const char *prefix;
	} shown[] = {
		{ ZONE_FREE, "free" },
		{ ZONE_FREE_BLOCKS, "free_blocks" },
		{ ZONE_PCP, "pcp" },
		{ ZONE_MIN, "watermark_min" },
		{ ZONE_LOW, "watermark_low" },
		{ ZONE_HIGH, "watermark_high" },
		{ ZONE_BOOST, "watermark_boost" },
		{ ZONE_MANAGED, "managed" },
	};
	struct zone_table t;

	if (!end || zoneinfo_parse(end->data, end->len, &t) < 0)
		return;
	for (size_t i = 0; i < t.n; i++) {
		const struct zone_row *z = &t.row[i];

		if (z->have >> ZONE_PRESENT & 1 && !z->value[ZONE_PRESENT])
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(shown); k++)
			if (z->have >> shown[k].field & 1)
				add_metric(r, str_printf("%s_%s", shown[k].prefix, z->zone),
					   (double)z->value[shown[k].field]);
	}
	zone_table_free(&t);
}

/* Of a size, what is stored also where it is 0. */
static bool always_stored(const char *stat)
{
	static const char *const name[] = { "anon_fault_alloc", "anon_fault_fallback", "split",
					    "nr_anon" };

	for (size_t i = 0; i < ARRAY_SIZE(name); i++)
		if (strcmp(stat, name[i]) == 0)
			return true;
	return false;
}

static void mthp_size(const char *size, const struct vmstat *begin, const struct vmstat *end,
		      struct strbuf *backwards, struct run *r)
{
	for (size_t i = 0; i < end->n; i++) {
		const struct vmstat_row *row = &end->row[i];
		const uint64_t *then = vmstat_get(begin, row->key);
		bool level = str_starts(row->key, "nr_");
		cleanup_free char *name = str_printf("mthp_%s_%s", size, row->key);
		double value;

		if (!level && !then)
			continue;
		if (level ? row->value >> 63 != 0 : row->value < *then) {
			strbuf_addf(backwards, "%s%s", backwards->len ? ", " : "", name);
			continue;
		}
		value = (double)(level ? row->value : row->value - *then);
		add_metric(r, str_printf("mthp_%s", row->key), value);
		if (row->value || (then && *then) || always_stored(row->key))
			add_metric(r, xstrdup(name), value);
	}
}

void metrics_mthp(const struct samples *begin, const struct samples *end, struct run *r)
{
	cleanup_strbuf struct strbuf backwards = STRBUF_INIT;

	for (size_t i = 0; i < end->n; i++) {
		const struct sample_file *e = &end->file[i], *b;
		struct vmstat then = { 0 }, now = { 0 };
		const char *size = e->name + strlen("mthp/");

		if (!str_starts(e->name, "mthp/") || !*size ||
		    size[strspn(size, "0123456789kMGB")] != '\0')
			continue;
		b = samples_find(begin, e->name);
		if (b)
			vmstat_parse(b->data, b->len, &then);
		if (vmstat_parse(e->data, e->len, &now) == 0)
			mthp_size(size, &then, &now, &backwards, r);
		vmstat_free(&then);
		vmstat_free(&now);
	}
	counter_note(r, COUNTER_BACKWARDS, &backwards);
}
