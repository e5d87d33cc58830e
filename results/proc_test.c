// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "results/counter.h"
#include "results/proc.h"
#include "results/run_fixture.h"
#include "results/util/cleanup.h"

/* A copy that ends where the text ends: reading on is caught by the sanitizer. */
#define PARSE(parser, text, len, out)                      \
	({                                                 \
		char *exact_ = xmalloc((len) ? (len) : 1); \
		int ret_;                                  \
		memcpy(exact_, text, len);                 \
		ret_ = parser(exact_, len, out);           \
		free(exact_);                              \
		ret_;                                      \
	})
#define PARSE_TEXT(parser, text, out) PARSE(parser, text, strlen(text), out)
#define PARSE_FILE(parser, name, out)                                 \
	({                                                            \
		size_t len_;                                          \
		cleanup_free char *file_ = fixture_read(name, &len_); \
		PARSE(parser, file_, len_, out);                      \
	})

static const struct free_row *row_of(const struct free_table *t, unsigned int node,
				     const char *zone, const char *type)
{
	struct free_row like = { .node = node };
	const struct free_row *row;

	strcpy(like.zone, zone);
	strcpy(like.type, type);
	row = free_table_find(t, &like);
	if (!row)
		fail_msg("no row of node %u, %s, \"%s\"", node, zone, type);
	return row;
}

static void test_buddyinfo(void **state)
{
	struct free_table t;

	assert_int_equal(PARSE_FILE(buddyinfo_parse, "buddyinfo-7.3-end.txt", &t), 0);
	assert_int_equal(t.n, 3);
	assert_false(t.several_nodes);
	assert_int_equal(row_of(&t, 0, "DMA32", "")->n, 11);
	assert_int_equal(row_of(&t, 0, "DMA32", "")->count[0], 23993);
	assert_int_equal(row_of(&t, 0, "DMA32", "")->count[10], 6);
	assert_int_equal(row_of(&t, 0, "Normal", "")->count[8], 323);
	free_table_free(&t);

	/* Wrapped after order 6: put together again, and none of it lost. */
	assert_int_equal(PARSE_FILE(buddyinfo_parse, "buddyinfo-3.10-wrapped.txt", &t), 0);
	assert_int_equal(t.n, 4);
	assert_true(t.several_nodes);
	assert_int_equal(row_of(&t, 0, "DMA", "")->n, 11);
	assert_int_equal(row_of(&t, 0, "DMA", "")->count[10], 3);
	assert_int_equal(row_of(&t, 1, "Normal", "")->count[0], 51121);
	assert_int_equal(row_of(&t, 1, "Normal", "")->count[4], 1);
	free_table_free(&t);
}

static void test_cut_off(void **state)
{
	struct free_table t;
	struct pagetypeinfo p;

	/* "1" may be the begin of 12: the row without its end is not taken. */
	assert_int_equal(PARSE_TEXT(buddyinfo_parse,
				    "Node 0, zone DMA 1 2 3\nNode 0, zone DMA32 4 5 1", &t),
			 0);
	assert_int_equal(t.n, 1);
	free_table_free(&t);
	/* A newline, but a column short. */
	assert_int_equal(PARSE_TEXT(buddyinfo_parse,
				    "Node 0, zone DMA 1 2 3\nNode 0, zone DMA32 4 5\n", &t),
			 0);
	assert_int_equal(t.n, 1);
	assert_string_equal(t.row[0].zone, "DMA");
	free_table_free(&t);
	assert_int_equal(PARSE_TEXT(buddyinfo_parse, "Node 0, zone DMA 1 2 3", &t), -1);
	assert_int_equal(PARSE_TEXT(pagetypeinfo_parse, "Page block order: 9\n", &p), -1);
	assert_int_equal(PARSE(buddyinfo_parse, "", 0, &t), -1);
}

static void test_odd_rows(void **state)
{
	static const char text[] =
		"Node 2, zone Normal 5 1 // the poster's words 7\n"
		"Node 2, zone Normal 6 6\n" /* again: the first stands */
		"Node 0, zone      DMA\nNode x, zone DMA 5 1\nNode 0, zone A-B 5 1\n"
		"Node 0, zone   Normal   -1 2\nNode 0, zone Normal 99999999999999999999 1\n"
		"Node 0, zone AZoneNameThatIsMuchTooLong 5 1\n"
		"Node 18446744073709551615, zone Normal 5 1\nNode 10000, zone Normal 5 1\n"
		"Node 11, zone Movable 18446744073709551615 3\n";
	static const char many[] =
		"Node 0, zone Normal 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 "
		"20 21 22 23\n";
	struct free_table t;

	assert_int_equal(PARSE_TEXT(buddyinfo_parse, text, &t), 0);
	assert_int_equal(t.n, 2);
	assert_int_equal(row_of(&t, 2, "Normal", "")->count[0], 5);
	assert_true(row_of(&t, 11, "Movable", "")->count[0] == UINT64_MAX);
	assert_true(t.several_nodes);
	free_table_free(&t);
	assert_int_equal(PARSE_TEXT(buddyinfo_parse, many, &t), 0);
	assert_int_equal(t.row[0].n, PROC_ORDERS_MAX);
	free_table_free(&t);
}

static void test_pagetypeinfo(void **state)
{
	struct pagetypeinfo p;

	/* Types in three different orders, and Reserve that later kernels do not have. */
	assert_int_equal(PARSE_FILE(pagetypeinfo_parse, "pagetypeinfo-3.2.txt", &p), 0);
	assert_int_equal(p.pageblock_order, 9);
	assert_int_equal(p.free.n, 15);
	assert_int_equal(row_of(&p.free, 0, "Normal", "Movable")->count[1], 19732);
	assert_int_equal(row_of(&p.free, 0, "DMA32", "Reserve")->count[10], 1);
	pagetypeinfo_free(&p);

	assert_int_equal(PARSE_FILE(pagetypeinfo_parse, "pagetypeinfo-4.4-cma.txt", &p), 0);
	assert_int_equal(p.pageblock_order, 10);
	assert_int_equal(row_of(&p.free, 0, "Normal", "CMA")->count[10], 3);
	assert_int_equal(row_of(&p.blocks, 0, "Normal", "Unmovable")->count[0], 3);
	assert_int_equal(row_of(&p.blocks, 0, "Normal", "Movable")->count[0], 55);
	assert_int_equal(row_of(&p.blocks, 0, "Normal", "CMA")->count[0], 4);
	pagetypeinfo_free(&p);

	assert_int_equal(PARSE_FILE(pagetypeinfo_parse, "pagetypeinfo-7.3-end.txt", &p), 0);
	assert_int_equal(p.free.n, 18);
	assert_int_equal(row_of(&p.free, 0, "DMA32", "Unmovable")->count[8], 1);
	assert_int_equal(row_of(&p.blocks, 0, "Normal", "Movable")->count[0], 3029);
	assert_int_equal(row_of(&p.free, 0, "Normal", "Movable")->at_least, 0);
	pagetypeinfo_free(&p);

	assert_int_equal(PARSE_FILE(pagetypeinfo_parse, "pagetypeinfo-7.3-begin.txt", &p), 0);
	assert_int_equal(row_of(&p.free, 0, "Normal", "Movable")->count[0], 100000);
	assert_int_equal(row_of(&p.free, 0, "Normal", "Movable")->at_least, 1);
	assert_int_equal(row_of(&p.free, 0, "DMA32", "Movable")->at_least, 0);
	pagetypeinfo_free(&p);

	/* All rows wrapped by a mailer. Of the block table the types on the first line are left. */
	assert_int_equal(PARSE_FILE(pagetypeinfo_parse, "pagetypeinfo-wrapped.txt", &p), 0);
	assert_int_equal(p.free.n, 15);
	assert_int_equal(row_of(&p.free, 0, "Normal", "Movable")->n, 11);
	assert_int_equal(row_of(&p.free, 0, "Normal", "Movable")->count[10], 5);
	assert_int_equal(row_of(&p.free, 0, "Normal", "Movable")->count[4], 52007);
	assert_int_equal(row_of(&p.blocks, 0, "Normal", "Reclaimable")->count[0], 1207);
	pagetypeinfo_free(&p);
}

static void test_extfrag(void **state)
{
	struct free_table t;

	assert_int_equal(PARSE_FILE(extfrag_parse, "unusable-index-7.3.txt", &t), 0);
	assert_int_equal(t.n, 3);
	assert_true(row_of(&t, 0, "DMA32", "")->index[1] == 0.697);
	assert_true(row_of(&t, 0, "Normal", "")->index[10] == 1);
	free_table_free(&t);
	assert_int_equal(PARSE_FILE(extfrag_parse, "extfrag-index-7.3.txt", &t), 0);
	assert_true(row_of(&t, 0, "DMA", "")->index[10] == -1);
	assert_true(row_of(&t, 0, "Normal", "")->index[9] == 0.918);
	free_table_free(&t);
	assert_int_equal(PARSE_TEXT(extfrag_parse, "Node 0, zone DMA 0.1 .500 nan inf 1\n", &t),
			 -1);
	assert_int_equal(PARSE_TEXT(extfrag_parse,
				    "Node 0, zone DMA -0.500 12345678901234567890.000\n", &t),
			 0);
	assert_int_equal(t.row[0].n, 1);
	assert_true(t.row[0].index[0] == -0.5);
	free_table_free(&t);
}

static uint64_t field(const struct zone_table *t, const char *zone, enum zone_field f)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->row[i].zone, zone) == 0) {
			if (!(t->row[i].have >> f & 1))
				fail_msg("%s has no field %d", zone, (int)f);
			return t->row[i].value[f];
		}
	fail_msg("no zone %s", zone);
	return 0;
}

static void test_zoneinfo(void **state)
{
	struct zone_table t;

	assert_int_equal(PARSE_FILE(zoneinfo_parse, "zoneinfo-7.3.txt", &t), 0);
	assert_int_equal(t.n, 5);
	assert_int_equal(field(&t, "Normal", ZONE_FREE), 166013);
	assert_int_equal(field(&t, "Normal", ZONE_BOOST), 2048);
	assert_int_equal(field(&t, "Normal", ZONE_HIGH), 21219);
	assert_int_equal(field(&t, "DMA32", ZONE_FREE_BLOCKS), 6144);
	assert_int_equal(field(&t, "DMA32", ZONE_PCP), 106 + 32);
	assert_int_equal(field(&t, "DMA32", ZONE_MANAGED), 492865);
	assert_int_equal(field(&t, "Movable", ZONE_PRESENT), 0);
	zone_table_free(&t);

	/* Two lists a CPU; no managed yet; "high:" of a list is no watermark. */
	assert_int_equal(PARSE_FILE(zoneinfo_parse, "zoneinfo-2.6.16.txt", &t), 0);
	assert_int_equal(t.n, 1);
	assert_int_equal(field(&t, "DMA", ZONE_FREE), 5410);
	assert_int_equal(field(&t, "DMA", ZONE_HIGH), 271);
	assert_int_equal(field(&t, "DMA", ZONE_PCP), 2);
	assert_int_equal(t.row[0].have >> ZONE_MANAGED & 1, 0);
	assert_int_equal(t.row[0].have >> ZONE_BOOST & 1, 0);
	zone_table_free(&t);

	assert_int_equal(PARSE_FILE(zoneinfo_parse, "zoneinfo-4.4.txt", &t), 0);
	assert_int_equal(field(&t, "Normal", ZONE_PCP), 49 + 39);
	assert_int_equal(field(&t, "Normal", ZONE_MANAGED), 63077);
	zone_table_free(&t);

	assert_int_equal(PARSE_FILE(zoneinfo_parse, "zoneinfo-5.14-boost.txt", &t), 0);
	assert_int_equal(field(&t, "DMA32", ZONE_FREE), 59214);
	assert_int_equal(field(&t, "DMA32", ZONE_BOOST), 0);
	assert_int_equal(field(&t, "DMA32", ZONE_PCP), 2862);
	zone_table_free(&t);

	/* What would take the sum of the lists below zero is left out. */
	assert_int_equal(PARSE_TEXT(zoneinfo_parse,
				    "Node 0, zone Normal\n  count: 4611686018427387903\n"
				    "  count: 9223372036854775807\n  count: 4611686018427387904\n"
				    "  count: 1\n",
				    &t),
			 0);
	assert_true(field(&t, "Normal", ZONE_PCP) == INT64_MAX);
	zone_table_free(&t);

	/* A managed count below zero is none; the watermarks that followed are as they are. */
	assert_int_equal(PARSE_FILE(zoneinfo_parse, "zoneinfo-5.4-negative.txt", &t), 0);
	assert_int_equal(t.row[0].have >> ZONE_MANAGED & 1, 0);
	assert_true(field(&t, "Normal", ZONE_MIN) == 24848885473806);
	zone_table_free(&t);
	assert_int_equal(PARSE_TEXT(zoneinfo_parse, "pages free 1\n", &t), -1);
}

static void test_pressure(void **state)
{
	struct psi p;

	assert_int_equal(PARSE_FILE(psi_parse, "pressure-memory-7.3-end.txt", &p), 0);
	assert_true(p.some_known && p.some_us == 1228798);
	assert_true(p.full_known && p.full_us == 1218074);
	/* Before 5.13 the CPUs had no "full". */
	assert_int_equal(
		PARSE_TEXT(psi_parse, "some avg10=0.00 avg60=0.00 avg300=0.00 total=77\n", &p), 0);
	assert_true(p.some_known && p.some_us == 77 && !p.full_known);
	assert_int_equal(PARSE_TEXT(psi_parse, "some avg10=0.00 total=7", &p), -1);
	assert_int_equal(PARSE_TEXT(psi_parse,
				    "some total=-7\nfull total=18446744073709551616\nsum\n"
				    "some\n",
				    &p),
			 -1);
}

static void test_meminfo(void **state)
{
	struct vmstat v;

	assert_int_equal(PARSE_FILE(meminfo_parse, "meminfo-7.3.txt", &v), 0);
	assert_true(*vmstat_get(&v, "Active(anon)") == 6991828);
	assert_true(*vmstat_get(&v, "HugePages_Total") == 0);
	assert_true(*vmstat_get(&v, "VmallocTotal") == 13743895347199);
	assert_null(vmstat_get(&v, "Active"
				   "("));
	vmstat_free(&v);
	assert_int_equal(PARSE_TEXT(meminfo_parse, "a: kB\nb:\nc: 7 MB\nd: -3 kB\n", &v), -1);
}

/* The sums of the columns, worked out with awk. */
static void test_slabinfo(void **state)
{
	struct slab_totals t;

	assert_int_equal(PARSE_FILE(slabinfo_parse, "slabinfo-7.3.txt", &t), 0);
	assert_true(t.objects == 827736);
	assert_true(t.used_bytes == 265160032);
	assert_true(t.size_bytes == 265494568);
	assert_true(t.pages == 71874);
	assert_int_equal(PARSE_TEXT(slabinfo_parse,
				    "slabinfo - version: 2.1\n# name <active_objs>\n"
				    "kmalloc 1 2 3\n",
				    &t),
			 -1);
}

/* Any bytes at all, with every parser. */
static void test_mutated(void **state)
{
	static const char *const file[] = {
		"buddyinfo-3.10-wrapped.txt",
		"pagetypeinfo-7.3-begin.txt",
		"pagetypeinfo-wrapped.txt",
		"zoneinfo-2.6.16.txt",
		"zoneinfo-7.3.txt",
		"extfrag-index-7.3.txt",
		"meminfo-7.3.txt",
		"slabinfo-7.3.txt",
		"pressure-memory-7.3-end.txt",
	};

	srand(7);
	for (int round = 0; round < 1500; round++) {
		size_t len, n;
		cleanup_free char *text =
			fixture_read(file[(size_t)round % ARRAY_SIZE(file)], &len);
		struct free_table t = { 0 };
		struct pagetypeinfo p = { 0 };
		struct zone_table z = { 0 };
		struct slab_totals s;
		struct vmstat v;
		struct psi psi;

		for (int i = 0; i < round % 50; i++)
			text[(size_t)rand() % len] = rand() % 2 ? (char)rand() :
								  "0 \n:,->."[rand() % 8];
		n = rand() % 3 ? len : (size_t)rand() % len;
		if (PARSE(buddyinfo_parse, text, n, &t) == 0)
			free_table_free(&t);
		if (PARSE(extfrag_parse, text, n, &t) == 0) {
			for (size_t i = 0; i < t.n; i++)
				for (unsigned int o = 0; o < t.row[i].n; o++)
					assert_true(isfinite(t.row[i].index[o]));
			free_table_free(&t);
		}
		if (PARSE(pagetypeinfo_parse, text, n, &p) == 0) {
			for (size_t i = 0; i < p.free.n; i++)
				assert_in_range(p.free.row[i].n, 1, PROC_ORDERS_MAX);
			pagetypeinfo_free(&p);
		}
		if (PARSE(zoneinfo_parse, text, n, &z) == 0)
			zone_table_free(&z);
		PARSE(slabinfo_parse, text, n, &s);
		PARSE(psi_parse, text, n, &psi);
		PARSE(meminfo_parse, text, n, &v);
		vmstat_free(&v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buddyinfo), cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_odd_rows),  cmocka_unit_test(test_pagetypeinfo),
		cmocka_unit_test(test_extfrag),	  cmocka_unit_test(test_zoneinfo),
		cmocka_unit_test(test_pressure),  cmocka_unit_test(test_meminfo),
		cmocka_unit_test(test_slabinfo),  cmocka_unit_test(test_mutated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
