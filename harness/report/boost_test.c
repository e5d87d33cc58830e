// SPDX-License-Identifier: GPL-2.0-only
/* Watermarks without the boost that they are printed with. Values were worked out by hand. */
#include <jansson.h>

#include "harness/report/memreport_fixture.h"

/*
 * Of one machine with kernel 6.18 and min_free_kbytes of 67584. 21937 - 7168 are 14769 pages of Normal; with
 * 10 and 2116 they are 16895, which are 67580 kB: as said, but for rounding.
 */
static const char zoneinfo[] =
	"Node 0, zone      DMA\n  pages free     3840\n        boost    0\n        min      10\n"
	"        low      13\n        high     16\n        promo    19\n        spanned  4095\n"
	"        present  3998\n        managed  3840\n"
	"Node 0, zone    DMA32\n  pages free     418154\n        boost    0\n        min      2116\n"
	"        low      2888\n        high     3660\n        promo    4432\n        spanned  1044480\n"
	"        present  782336\n        managed  772917\n"
	"Node 0, zone   Normal\n  pages free     1636714\n        boost    7168\n        min      21937\n"
	"        low      27331\n        high     32725\n        promo    38119\n        spanned  5505024\n"
	"        present  5505024\n        managed  5394266\n"
	"Node 0, zone  Movable\n  pages free     0\n        boost    0\n        min      32\n"
	"        low      32\n        high     32\n        promo    32\n        spanned  0\n"
	"        present  0\n        managed  0\n"
	"Node 0, zone      DMA      0      0      0      0      0      0      0      0      1      1      3\n"
	"Node 0, zone    DMA32   362      0      0      0      0      0      0      0      0      0    408\n"
	"Node 0, zone   Normal  362      0      0      0      0      0      0      0      0      0   1598\n";

static void assert_in(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in: %s", part, text);
}

static void assert_watermarks(const struct memreport *r, const char *name, uint64_t min, uint64_t low, uint64_t high)
{
	for (size_t i = 0; i < r->nzones; i++) {
		const struct memzone *z = &r->zone[i];

		if (strcmp(z->name, name) != 0)
			continue;
		assert_int_equal(z->value[MEMZONE_MIN], min);
		assert_int_equal(z->value[MEMZONE_LOW], low);
		assert_int_equal(z->value[MEMZONE_HIGH], high);
		return;
	}
	fail_msg("no zone of that name");
}

static void test_zoneinfo(void **state)
{
	struct memreport_set set;
	const struct memreport *r;
	struct memscale s;

	parse_text(zoneinfo, &set);
	r = &set.report[0];
	assert_watermarks(r, "Normal", 14769, 20163, 25557);
	assert_watermarks(r, "DMA32", 2116, 2888, 3660);
	assert_int_equal(r->zone[2].value[MEMZONE_BOOST], 7168);
	/* Only the page size: an empty Movable has 32 pages, and nothing was put together. */
	assert_int_equal(r->nremarks, 1);
	assert_int_equal(set.nremarks, 0);
	memreport_scale(r, 4ull << 30, &s);
	assert_int_equal(s.machine_min_kb, 67580);
	assert_int_equal(s.machine_boost_kb, 28672);
	/* 4194304 kB by 67580 of 24684092: 11483.1 */
	assert_int_equal(s.min_kb, 11483);
	memreport_set_free(&set);
}

static void test_written(void **state)
{
	cleanup_free char *yaml = NULL, *json = NULL, *account = NULL;
	struct memreport_set set;
	struct memscale s;
	struct memimport m = { .label = "x", .set = &set, .scale = &s };
	json_t *o, *guest, *normal;

	parse_text(zoneinfo, &set);
	memreport_scale(&set.report[0], 4ull << 30, &s);
	account = memreport_account(&m);
	assert_in(account, " min 59076 low 80652 high 102228 spanned 22020096 present 22020096 managed 21577064 (kB), "
			   "and 28672 kB of boost at that moment, which min, low and high are without\n");
	assert_in(account, " min 8464 low 11552 high 14640 boost 0 ");
	assert_in(account, "the min watermarks of the machine are 67580 kB, and 28672 kB of boost at that moment, which is "
			   "left out: 11483 kB in the guest\n");
	yaml = memreport_scenario(&m);
	assert_in(yaml, "  # The report's min watermarks are 67580 kB, and 28672 kB of boost at that moment, which is left "
			"out.\n  workload: {vm.min_free_kbytes: 11483, vm.watermark_scale_factor: 10} # as in the report\n");
	json = memreport_json(&m, NULL);
	o = json_loads(json, 0, NULL);
	guest = json_object_get(o, "guest");
	normal = json_array_get(json_object_get(json_object_get(o, "report"), "zones"), 2);
	assert_int_equal(json_integer_value(json_object_get(normal, "min")), 14769);
	assert_int_equal(json_integer_value(json_object_get(normal, "boost")), 7168);
	assert_int_equal(json_integer_value(json_object_get(guest, "machine_min_kb")), 67580);
	assert_int_equal(json_integer_value(json_object_get(guest, "machine_boost_kb")), 28672);
	assert_int_equal(json_integer_value(json_object_get(guest, "min_kb")), 11483);
	json_decref(o);
	memreport_set_free(&set);
}

/* "boost:4096kB min:7548kB low:8408kB high:9268kB" */
static void test_mem_info(void **state)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct memreport_set set;

	fixture_read_into(&text, "54-powermac-ppc32-6.8-zswap-order0");
	parse_text(text.data, &set);
	assert_watermarks(&set.report[0], "DMA", 3452 / 4, 4312 / 4, 5172 / 4);
	assert_false(has_remark(&set, &set.report[0], "do not print"));
	memreport_set_free(&set);
}

/*
 * Kernel 5.4 raises them and does not say so. Normal has min:56392kB low:65880kB: 9488 kB are a quarter of
 * 37952 kB at most, and of up to three pages more.
 */
static void test_not_printed(void **state)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct memreport_set set;
	const struct memreport *r;
	struct memscale s;

	fixture_read_into(&text, "28-cephfs-client-vm-5.4-wrapped");
	parse_text(text.data, &set);
	r = &set.report[0];
	assert_true(has_remark(&set, r, "line 71: node 0 Normal: min is 56392 kB, more than 4 times what low is above it: "
					"18428 kB or more of it are a boost at that moment"));
	assert_true(has_remark(&set, r, "DMA32: min is 37680 kB, more than 4 times what low is above it: 8180 kB or more"));
	assert_false(has_remark(&set, r, "DMA: min"));
	assert_watermarks(r, "Normal", 56392 / 4, 65880 / 4, 75368 / 4);
	memreport_scale(r, 8152168ull << 10, &s); /* as large as the machine; DMA has min:132kB */
	assert_int_equal(s.min_kb, 132 + 37680 - 8180 + 56392 - 18428);
	assert_int_equal(s.machine_boost_kb, 8180 + 18428);
	assert_true(s.boost_unsaid);
	memreport_set_free(&set);
}

/* Rounded down by three pages of 64 kB, of which the text does not say that they are; no boost. */
static void test_rounding(void **state)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct memreport_set set;

	fixture_read_into(&text, "58-zfs-arm64-64k-multinode-partial");
	parse_text(text.data, &set);
	for (size_t i = 0; i < set.n; i++)
		assert_false(has_remark(&set, &set.report[i], "boost"));
	memreport_set_free(&set);
}

#define ROW "Node 0, zone Normal 256 128 0 0 0 0 0 0 0 0 0\n"

static void test_contradictions(void **state)
{
	static const struct {
		const char *fields;
		bool kept;
		uint64_t min;
		const char *remark;
	} cases[] = {
		/* What is printed is more than the zone has, what is meant is not. */
		{ " boost 16000\n min 16500\n low 16625\n high 16750\n", true, 500, NULL },
		/* min is printed with the boost. */
		{ " boost 200\n min 100\n low 325\n high 350\n", false, 0,
		  "line 3: node 0 Normal: boost is 800 kB, above min of 400 kB: the watermarks of the zone are left out" },
		{ " boost 100\n min 100\n low 125\n high 150\n", true, 0, NULL },
		/* A boost that is nonsense is not said. 4 * 100 + 3 pages, be they of 64 kB: 448 of 4 kB. */
		{ " boost 1x\n min 1103\n low 1203\n high 1303\n", true, 1103, "2620 kB or more of it are a boost" },
		{ " min 448\n low 548\n high 648\n", true, 448, NULL },
		{ " min 449\n low 549\n high 649\n", true, 449, "4 kB or more of it are a boost" },
		{ " min 404\n", true, 404, NULL },
		/* Without min, the others. */
		{ " boost 504\n low 504\n high 604\n", false, 0, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *text = str_printf("Node 0, zone Normal\n pages free 512\n%s managed 16384\n" ROW,
						     cases[i].fields);
		struct memreport_set set;
		const struct memzone *z;

		parse_text(text, &set);
		z = &set.report[0].zone[0];
		assert_int_equal(z->have >> MEMZONE_MIN & 1, cases[i].kept);
		assert_int_equal(z->value[MEMZONE_MIN], cases[i].min);
		if (cases[i].remark)
			assert_true(has_remark(&set, &set.report[0], cases[i].remark));
		else
			assert_false(has_remark(&set, &set.report[0], "boost"));
		memreport_set_free(&set);
	}
}

/* Movable and HighMem have 32 pages or more, and a gap of their own. */
static void test_other_zones(void **state)
{
	struct memreport_set set;

	parse_text("Node 0 HighMem free:2048kB min:512kB low:520kB high:528kB managed:65536kB\n"
		   "Node 0 Movable free:2048kB min:512kB low:520kB high:528kB managed:65536kB\n",
		   &set);
	assert_watermarks(&set.report[0], "HighMem", 128, 130, 132);
	assert_watermarks(&set.report[0], "Movable", 128, 130, 132);
	memreport_set_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zoneinfo),
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_mem_info),
		cmocka_unit_test(test_not_printed),
		cmocka_unit_test(test_rounding),
		cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_other_zones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
