// SPDX-License-Identifier: GPL-2.0-only
/* The neighbours of vmstat: results/proc.h on the host, guest/procfs.h in the guest. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ci/fuzz/fuzz.h"
#include "guest/procfs.h"
#include "results/proc.h"
#include "results/util/cleanup.h"

typedef int (*parse_fn)(const void *data, size_t len, struct free_table *t);

static bool text_ok(const char *s, size_t room)
{
	return strnlen(s, room) < room;
}

static void check_row(const struct free_table *t, const struct free_row *row)
{
	FUZZ_CHECK(text_ok(row->zone, sizeof(row->zone)) && *row->zone);
	FUZZ_CHECK(text_ok(row->type, sizeof(row->type)));
	FUZZ_CHECK(row->n > 0 && row->n <= PROC_ORDERS_MAX);
	FUZZ_CHECK(!(row->at_least >> row->n));
	FUZZ_CHECK(free_table_find(t, row) == row);
	for (unsigned int i = 0; i < row->n; i++)
		FUZZ_CHECK(isfinite(row->index[i]));
}

static void check_table(const struct free_table *t, size_t rows_max)
{
	bool several = false;

	FUZZ_CHECK(t->n <= PROC_ROWS_MAX && t->n <= rows_max);
	for (size_t i = 0; i < t->n; i++) {
		check_row(t, &t->row[i]);
		several |= t->row[i].node != t->row[0].node;
	}
	FUZZ_CHECK(several == t->several_nodes);
}

static void check_same(const struct free_table *a, const struct free_table *b)
{
	FUZZ_CHECK(a->n == b->n);
	for (size_t i = 0; i < a->n; i++) {
		const struct free_row *x = &a->row[i], *y = &b->row[i];

		FUZZ_CHECK(x->node == y->node && strcmp(x->zone, y->zone) == 0 &&
			   strcmp(x->type, y->type) == 0 && x->n == y->n &&
			   x->at_least == y->at_least);
		for (unsigned int k = 0; k < x->n; k++)
			FUZZ_CHECK(x->count[k] == y->count[k] && x->index[k] == y->index[k]);
	}
}

/* As the kernel writes it. */
static void write_row(struct strbuf *sb, const struct free_row *row, bool indices)
{
	strbuf_addf(sb, "Node %u, zone %8s ", row->node, row->zone);
	if (*row->type)
		strbuf_addf(sb, ", type %12s ", row->type);
	for (unsigned int i = 0; i < row->n; i++)
		if (indices)
			strbuf_addf(sb, "%.3f ", row->index[i]);
		else
			strbuf_addf(sb, "%s%6" PRIu64 " ", row->at_least >> i & 1 ? ">" : "",
				    row->count[i]);
	strbuf_adds(sb, "\n");
}

static void run_table(const uint8_t *data, size_t len, parse_fn parse, bool indices)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	struct free_table t, again;

	if (parse(data, len, &t) < 0) {
		FUZZ_CHECK(!t.row && !t.n);
		return;
	}
	check_table(&t, fuzz_lines(data, len));
	for (size_t i = 0; i < t.n; i++)
		write_row(&sb, &t.row[i], indices);
	FUZZ_CHECK(parse(sb.data, sb.len, &again) == 0);
	check_same(&t, &again);
	free_table_free(&again);
	free_table_free(&t);
}

static void run_buddyinfo(const uint8_t *data, size_t len)
{
	run_table(data, len, buddyinfo_parse, false);
}

static void run_extfrag(const uint8_t *data, size_t len)
{
	run_table(data, len, extfrag_parse, true);
}

static void run_pagetypeinfo(const uint8_t *data, size_t len)
{
	struct pagetypeinfo p;

	if (pagetypeinfo_parse(data, len, &p) < 0) {
		FUZZ_CHECK(!p.free.row && !p.blocks.row);
		return;
	}
	FUZZ_CHECK(p.pageblock_order < PROC_ORDERS_MAX);
	check_table(&p.free, fuzz_lines(data, len));
	check_table(&p.blocks, PROC_ORDERS_MAX * fuzz_lines(data, len));
	for (size_t i = 0; i < p.blocks.n; i++)
		FUZZ_CHECK(p.blocks.row[i].n == 1);
	pagetypeinfo_free(&p);
}

static void run_zoneinfo(const uint8_t *data, size_t len)
{
	struct zone_table t;

	if (zoneinfo_parse(data, len, &t) < 0) {
		FUZZ_CHECK(!t.row);
		return;
	}
	FUZZ_CHECK(t.n > 0 && t.n <= PROC_ROWS_MAX && t.n <= fuzz_lines(data, len));
	for (size_t i = 0; i < t.n; i++) {
		FUZZ_CHECK(text_ok(t.row[i].zone, sizeof(t.row[i].zone)) && *t.row[i].zone);
		FUZZ_CHECK(!(t.row[i].have >> ZONE_FIELDS));
		for (int f = 0; f < ZONE_FIELDS; f++) {
			FUZZ_CHECK(t.row[i].have >> f & 1 || !t.row[i].value[f]);
			FUZZ_CHECK(t.row[i].value[f] <= INT64_MAX);
		}
		for (size_t k = 0; k < i; k++)
			FUZZ_CHECK(t.row[k].node != t.row[i].node ||
				   strcmp(t.row[k].zone, t.row[i].zone) != 0);
	}
	zone_table_free(&t);
}

static void run_psi(const uint8_t *data, size_t len)
{
	cleanup_free char *text = NULL;
	struct psi p, again;

	if (psi_parse(data, len, &p) < 0)
		return;
	FUZZ_CHECK(p.some_known || p.full_known);
	FUZZ_CHECK(p.some_known || !p.some_us);
	FUZZ_CHECK(p.full_known || !p.full_us);
	text = str_printf("%s avg10=0.00 avg60=0.00 avg300=0.00 total=%" PRIu64 "\n"
			  "%s avg10=0.00 avg60=0.00 avg300=0.00 total=%" PRIu64 "\n",
			  p.some_known ? "some" : "none", p.some_us, p.full_known ? "full" : "none",
			  p.full_us);
	FUZZ_CHECK(psi_parse(text, strlen(text), &again) == 0);
	FUZZ_CHECK(again.some_known == p.some_known && again.some_us == p.some_us);
	FUZZ_CHECK(again.full_known == p.full_known && again.full_us == p.full_us);
}

static void run_slabinfo(const uint8_t *data, size_t len)
{
	struct slab_totals t;

	if (slabinfo_parse(data, len, &t) < 0)
		return;
	FUZZ_CHECK(t.caches > 0 && t.caches <= fuzz_lines(data, len));
	FUZZ_CHECK(isfinite(t.objects) && isfinite(t.used_bytes) && isfinite(t.size_bytes) &&
		   isfinite(t.pages));
	FUZZ_CHECK(t.objects >= 0 && t.used_bytes >= 0 && t.size_bytes >= 0 && t.pages >= 0);
}

/* zoneinfo, then from the first "@@" on buddyinfo; the first byte: the order of a pageblock. */
static void run_zones(const uint8_t *data, size_t len)
{
	cleanup_free char *text = len ? fuzz_text(data + 1, len - 1) : xstrdup("");
	unsigned int order = len ? data[0] % 16 : 9;
	char *buddy = strstr(text, "@@");
	static struct zones z;
	struct zones first;

	if (buddy) {
		*buddy = '\0';
		buddy += 2;
	}
	memset(&z, 0, sizeof(z));
	zones_parse_zoneinfo(&z, text);
	zones_parse_buddyinfo(&z, buddy ? buddy : text, order);
	FUZZ_CHECK(z.n <= ZONES_MAX && z.n <= strlen(text));
	for (size_t i = 0; i < z.n; i++) {
		FUZZ_CHECK(text_ok(z.zone[i].name, sizeof(z.zone[i].name)) && *z.zone[i].name);
		FUZZ_CHECK(z.zone[i].index >= 0 && z.zone[i].index < 6);
		FUZZ_CHECK(z.zone[i].whole % (1u << order) == 0);
	}
	first = z;
	zones_parse_zoneinfo(&z, text);
	zones_parse_buddyinfo(&z, buddy ? buddy : text, order);
	FUZZ_CHECK(z.n == first.n && zones_free(&z) == zones_free(&first) &&
		   zones_whole_blocks(&z) == zones_whole_blocks(&first));
	zones_of_pfn(&z, zones_managed(&z));
}

const struct fuzz_target fuzz_buddyinfo = { "buddyinfo", run_buddyinfo };
const struct fuzz_target fuzz_extfrag = { "extfrag", run_extfrag };
const struct fuzz_target fuzz_pagetypeinfo = { "pagetypeinfo", run_pagetypeinfo };
const struct fuzz_target fuzz_zoneinfo = { "zoneinfo", run_zoneinfo };
const struct fuzz_target fuzz_psi = { "psi", run_psi };
const struct fuzz_target fuzz_slabinfo = { "slabinfo", run_slabinfo };
const struct fuzz_target fuzz_zones = { "zones", run_zones };
