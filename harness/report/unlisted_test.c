// SPDX-License-Identifier: GPL-2.0-only
/* Free pages that lists which are cut off do not show. Values were worked out by hand. */
#include <jansson.h>

#include "harness/report/memreport_fixture.h"

static void scale_sample(const char *name, uint64_t memory, enum memunlisted unlisted,
			 struct memreport_set *set, struct memscale *s)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct memscale_ask ask = { .memory_bytes = memory, .unlisted = unlisted };

	fixture_read_into(&text, name);
	parse_text(text.data, set);
	memreport_scale_as(&set->report[set->best], &ask, s);
}

static void scale_text(const char *text, uint64_t memory, enum memunlisted unlisted, struct memscale *s)
{
	struct memscale_ask ask = { .memory_bytes = memory, .unlisted = unlisted };
	struct memreport_set set;

	parse_text(text, &set);
	memreport_scale_as(&set.report[set.best], &ask, s);
	memreport_set_free(&set);
}

static void assert_blocks(const struct memscale *s, const char *want)
{
	cleanup_strbuf struct strbuf got = STRBUF_INIT;

	for (int k = 0; k < MEMSCALE_ORDERS; k++)
		strbuf_addf(&got, "%s%llu", k ? " " : "", (unsigned long long)s->blocks[k]);
	assert_string_equal(got.data, want);
}

static void assert_in(const char *text, const char *part)
{
	if (!text || !strstr(text, part))
		fail_msg("no \"%s\" in: %s", part, text);
}

/* ---- where it is certain ---- */

/*
 * free: has 372 kB, the list 244 kB of orders 0-4: 128 kB are one block of order 5, since none of order 6
 * (256 kB) has room. In a guest as large as the machine (64 MiB) the list is that of the machine, whole.
 */
static void test_one_block_fits(void **state)
{
	struct memreport_set set;
	struct memscale s;

	scale_sample("14-openwrt-ath79-80col-truncated", 64u << 20, MEMUNLISTED_REFUSE, &set, &s);
	assert_false(s.refused);
	assert_int_equal(s.free_kb, 372);
	assert_int_equal(s.base_kb, 65536);
	assert_int_equal(s.unlisted_kb, 128);
	assert_int_equal(s.certain_kb, 128);
	assert_int_equal(s.unlisted_in, 1 << 5);
	assert_int_equal(s.pages, 93);
	assert_blocks(&s, "9 4 1 1 2 1 0 0 0 0 0");
	memreport_set_free(&set);
}

#define ZONE(free, managed) "Node 0 Normal free:" #free "kB managed:" #managed "kB\n"
/* 4 + 16 + 0 + 96 kB */
#define CUT4 "Node 0 Normal: 1*4kB (U) 2*8kB (U) 0*16kB 3*32kB (U) 1*6\n"
#define DMA_WHOLE                                                                                   \
	"Node 0 DMA free:0kB managed:4096kB\nNode 0 DMA: 0*4kB 0*8kB 0*16kB 0*32kB 0*64kB 0*128kB " \
	"0*256kB 0*512kB 0*1024kB 0*2048kB 0*4096kB = 0kB\n"
#define CUT10                                                                                     \
	"Node 0 Normal: 1*4kB 0*8kB 0*16kB 0*32kB 0*64kB 0*128kB 0*256kB 0*512kB 0*1024kB 0*2048kB " \
	"3*40\n"

static void test_certain(void **state)
{
	static const struct {
		const char *text;
		uint64_t memory;
		const char *blocks;
		uint64_t unlisted_kb, certain_kb;
	} cases[] = {
		/* Another zone shows that there are 11 orders: only order 10 is missing. */
		{ ZONE(12292, 1044480) CUT10 DMA_WHOLE, 1024u << 20, "1 0 0 0 0 0 0 0 0 0 3", 12288, 12288 },
		/* And where nothing shows it, larger blocks are several of order 10 in a guest. */
		{ ZONE(12292, 1048576) CUT10, 1024u << 20, "1 0 0 0 0 0 0 0 0 0 3", 12288, 12288 },
		/* free: is what the list holds: nothing is missing. */
		{ ZONE(116, 65536) CUT4, 64u << 20, "1 2 0 3 0 0 0 0 0 0 0", 0, 0 },
		/* 64 kB more can only be the block of order 4 that is missing. */
		{ ZONE(180, 65536) CUT4, 64u << 20, "1 2 0 3 1 0 0 0 0 0 0", 64, 64 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct memscale s;

		scale_text(cases[i].text, cases[i].memory, MEMUNLISTED_REFUSE, &s);
		if (s.refused || s.at_least)
			fail_msg("case %zu", i);
		assert_int_equal(s.unlisted_kb, cases[i].unlisted_kb);
		assert_int_equal(s.certain_kb, cases[i].certain_kb);
		assert_blocks(&s, cases[i].blocks);
	}
}

/* Whoever is told to add the whole list may put it behind the dump. */
static void test_buddyinfo_behind_a_cut_dump(void **state)
{
	struct memreport_set set;
	const struct memreport *r;
	struct memscale s;

	parse_text(ZONE(244, 65536) CUT4 "\nNode 0, zone Normal 1 2 0 3 2 0 0 0 0 0 0\n", &set);
	r = &set.report[0];
	assert_int_equal(set.n, 1);
	assert_true(has_remark(&set, r, "line 4: node 0 Normal: the free list of the dump is cut off: that of buddyinfo"));
	memreport_scale(r, 64u << 20, &s);
	assert_false(s.refused);
	assert_blocks(&s, "1 2 0 3 2 0 0 0 0 0 0");
	memreport_set_free(&set);
	/* Not where the dump has it all. */
	parse_text(ZONE(244, 65536) "Node 0 Normal: 61*4kB 0*8kB 0*16kB 0*32kB 0*64kB 0*128kB 0*256kB 0*512kB "
		   "0*1024kB 0*2048kB 0*4096kB = 244kB\n\nNode 0, zone Normal 1 2 0 3 2 0 0 0 0 0 0\n", &set);
	assert_int_equal(set.report[0].zone[0].free[0], 61);
	memreport_set_free(&set);
}

/* ---- where it is not ---- */

static void test_refused(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		/* 128 kB are two blocks of order 4, or one of order 5 */
		{ ZONE(244, 65536) CUT4, "of what order 128 of the 244 kB that are free are is not known" },
		{ CUT4, "line 1: the free list is cut off or lost, and nothing says how much is missing" },
		{ ZONE(0, 65536) CUT4, "line 2: the free list is cut off or lost" },
		{ "Node 0 Normal free:180kB managed:65536kB free_cma:64kB\nx: page allocation failure: order:0, "
		  "mode:0xcc0(GFP_KERNEL)\nMem-Info:\nNode 0 Normal free:180kB managed:65536kB free_cma:64kB\n" CUT4,
		  "of what order 64 of the 180 kB" },
		{ "Node 0, zone Normal 1 1 1 1 1 1 1 1 1 1 1\nNode 99999, zone DMA 1 1 1\n",
		  "nothing says how much is missing" },
		/* The share is one of the RAM, and DMA32 has no list. */
		{ "Node 0 Normal free:28kB\nNode 0 DMA32 free:1000kB\nNode 0 Normal: 1*4kB 1*8kB 1*16kB 0*32kB "
		  "0*64kB 0*128kB 0*256kB 0*512kB 0*1024kB 0*2048kB 0*4096kB = 28kB\n16384 pages RAM\n",
		  "of what order 1000 of the 1028 kB" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_error struct error err = ERROR_INIT;
		struct memscale s;

		scale_text(cases[i].text, 1u << 30, MEMUNLISTED_REFUSE, &s);
		assert_true(s.refused);
		assert_int_equal(s.pages, 0);
		assert_int_equal(memscale_need_lists("x", &s, &err), -1);
		assert_int_equal(err.status, 2);
		assert_in(err.text, cases[i].error);
	}
}

/* 11556 + 2677864 + 193448 of 4193780 kB; 1316 + 1128 + 85644 kB are in the lists. */
static void test_share_is_that_of_free(void **state)
{
	cleanup_free char *account = NULL, *json = NULL;
	struct memreport_set set;
	struct memscale s;
	struct memimport m = { .label = "x", .set = &set, .scale = &s };
	json_t *doc, *guest;

	scale_sample("26-virtio-balloon-5.4-negative-managed", 4ull << 30, MEMUNLISTED_REFUSE, &set, &s);
	m.chosen = set.best;
	assert_true(s.refused);
	assert_int_equal(s.free_kb, 2882868);
	assert_int_equal(s.unlisted_kb, 2794780);
	account = memreport_account(&m);
	assert_in(account, "2882868 of 4193780 kB are free, 68.74 % of the RAM\n"
			   "free lists are cut off: 88088 kB of the 2882868 kB that are free are in them; "
			   "of what order 2794780 kB are is not known\n");
	assert_null(strstr(account, "in a guest of"));
	json = memreport_json(&m, NULL);
	doc = json_loads(json, 0, NULL);
	guest = json_object_get(doc, "guest");
	assert_true(json_is_true(json_object_get(guest, "refused")));
	assert_int_equal(json_integer_value(json_object_get(guest, "free_kb")), 2882868);
	assert_int_equal(json_integer_value(json_object_get(guest, "unlisted_kb")), 2794780);
	assert_null(json_object_get(guest, "free_blocks"));
	json_decref(doc);
	memreport_set_free(&set);
}

/* Fewer than 1 in 20: 1000 kB of the list, and 40 kB beyond order 3. The share is of all. */
static void test_few_are_spread(void **state)
{
	struct memscale s;

	scale_text(ZONE(1040, 65536) "Node 0 Normal: 250*4kB (U) 0*8kB 0*16kB\n", 64u << 20,
		   MEMUNLISTED_REFUSE, &s);
	assert_false(s.refused);
	assert_int_equal(s.free_kb, 1040);
	assert_int_equal(s.pages, 260);
}

/* ---- as asked ---- */

/*
 * A guest as large as the machine. DMA32 lacks 59392 kB in orders 9 and 10: 29 of order 9, or 14 of order
 * 10 and one of order 9. Normal lacks 11296 kB in orders 8 to 10: 11 of order 8, or 2, 1 and 1 of orders
 * 10, 9 and 8. The lists, with DMA, have 863 748 338 159 57 30 19 13 3 1 3. 32 kB are left, 8 of 31759
 * pages: by largest remainder (.217, .188, .085 blocks) one goes to order 0, 2 to order 1, 4 to order 2,
 * and what is left to order 0.
 */
static void test_asked(void **state)
{
	static const struct {
		enum memunlisted unlisted;
		const char *blocks;
		uint64_t free_kb, pages;
		const char *text;
	} cases[] = {
		{ MEMUNLISTED_SMALLEST, "865 749 339 159 57 30 19 13 14 30 3", 127036, 31759,
		  "70656 kB are put into blocks of order 8, 9, which is a guess: the smallest" },
		{ MEMUNLISTED_LARGEST, "865 749 339 159 57 30 19 13 4 3 19", 127036, 31759,
		  "70656 kB are put into blocks of order 8, 9, 10, which is a guess: the largest" },
		{ MEMUNLISTED_NONE, "863 748 338 159 57 30 19 13 3 1 3", 56348, 14087,
		  "56348 kB of the 127036 kB that are free are in them; what is not is left out, as asked" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *share = NULL, *yaml = NULL, *unlisted = NULL;
		struct memreport_set set;
		struct memscale s;
		struct memimport m = { .label = "x", .set = &set, .scale = &s };

		scale_sample("22-rhel8-4.18-hyperv-balloon-oom", 16776108ull << 10, cases[i].unlisted, &set, &s);
		assert_false(s.refused);
		assert_int_equal(s.free_kb, cases[i].free_kb);
		assert_int_equal(s.pages, cases[i].pages);
		assert_int_equal(s.at_least, cases[i].unlisted == MEMUNLISTED_NONE);
		assert_blocks(&s, cases[i].blocks);
		share = memscale_describe(&s);
		assert_in(share, s.at_least ? "at least 56348 of 16776108 kB are free, 0.34 %" :
					      "127036 of 16776108 kB are free, 0.76 % of the RAM");
		unlisted = memscale_describe_unlisted(&s);
		assert_in(unlisted, cases[i].text);
		yaml = memreport_scenario(&m);
		assert_in(yaml, "# free lists are cut off: 56348 kB of the 127036 kB that are free are in them;");
		memreport_set_free(&set);
	}
}

/* How much is missing is not said, so that nothing can be put anywhere. */
static void test_unknown_is_refused_but_for_none(void **state)
{
	for (int how = MEMUNLISTED_REFUSE; how <= MEMUNLISTED_NONE; how++) {
		struct memscale s;

		scale_text(CUT4 "16384 pages RAM\n", 1u << 30, (enum memunlisted)how, &s);
		assert_int_equal(s.refused, how != MEMUNLISTED_NONE);
		assert_true(s.at_least);
	}
}

/* 116 kB of who knows how much, of a machine of who knows what size: a sixteenth of it is made of nothing. */
static void test_unsized_is_refused(void **state)
{
	static const char lost[] = "Node 0, zone Normal 1 1 1 1 1 1 1 1 1 1 1\nNode 99999, zone DMA 1 1 1\n";
	static const struct {
		const char *text;
		bool refused[MEMUNLISTED_NONE + 1];
		const char *error; /* of none */
	} cases[] = {
		{ CUT4, { true, true, true, true },
		  "x: line 1: the free lists are cut off or lost, and the size of the machine is not said: the 116 kB that "
		  "are listed are no known share of it; add /proc/zoneinfo" },
		{ lost, { true, true, true, true }, "the 8188 kB that are listed are no known share" },
		/* All that is free is said, and has a place: the share alone is assumed, as for whole lists. */
		{ "Node 0 Normal free:244kB\n" CUT4, { true, false, false, true },
		  "or say what to take the pages for that are not listed: --unlisted smallest or largest" },
		/* It is certain where they are, but they are left out. */
		{ "Node 0 Normal free:180kB\n" CUT4, { false, false, false, true }, "the 116 kB that are listed" },
		{ "Node 0 Normal free:120kB\n" CUT4, { false, false, false, false }, NULL }, /* 1 in 30 */
		{ ZONE(244, 65536) CUT4, { true, false, false, false }, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		for (int how = MEMUNLISTED_REFUSE; how <= MEMUNLISTED_NONE; how++) {
			cleanup_error struct error err = ERROR_INIT;
			struct memscale s;

			scale_text(cases[i].text, 1u << 30, (enum memunlisted)how, &s);
			if (s.refused != cases[i].refused[how])
				fail_msg("case %zu, %d", i, how);
			assert_int_equal(s.pages > 0, !s.refused);
			assert_int_equal(memscale_need_lists("x", &s, &err), s.refused ? -1 : 0);
			if (how == MEMUNLISTED_NONE && s.refused)
				assert_in(err.text, cases[i].error);
			if (s.base == MEMSCALE_ASSUMED && s.refused)
				assert_null(strstr(err.text, "none")); /* is no way out */
		}
}

/* ---- rows of migratetypes ---- */

#define TYPE(type, counts) "Node 0, zone Normal, type " type " " counts "\n"

/* One row lacks its last column: 10 orders are known, and of order 10 what the other rows have. */
static void test_short_row(void **state)
{
	static const char rows[] = TYPE("Unmovable", "1 0 0 0 0 0 0 0 0 0 2")
		TYPE("Movable", "5 4 3 0 0 0 0 0 0 1") TYPE("Isolate", "0 0 0 0 0 0 0 0 0 0 0");
	cleanup_free char *with_free = str_printf(
		"Node 0, zone Normal\n  pages free 4634\n  managed 262144\n%s", rows);
	struct memreport_set set;
	const struct memzone *z;
	struct memscale s;

	parse_text(rows, &set);
	z = &set.report[0].zone[0];
	assert_int_equal(z->orders, 11);
	assert_int_equal(z->whole, 10);
	assert_int_equal(z->free[0], 6);
	assert_int_equal(z->free[9], 1);
	assert_int_equal(z->free[10], 2);
	assert_int_equal(z->at_least, 1 << 10);
	assert_true(has_remark(&set, &set.report[0],
			       "line 2: node 0 Normal, type Movable: the row is cut off: 10 of 11 columns"));
	memreport_set_free(&set);
	scale_text(rows, 1u << 30, MEMUNLISTED_REFUSE, &s);
	assert_true(s.refused);
	/* 6 + 8 + 12 + 512 + 2048 are 2586 pages; 2048 more are two blocks of order 10. */
	scale_text(with_free, 1u << 30, MEMUNLISTED_REFUSE, &s);
	assert_false(s.refused);
	assert_int_equal(s.certain_kb, 8192);
	assert_blocks(&s, "6 4 3 0 0 0 0 0 0 1 4");
}

/* With several zones the line is that of the row, and the other zones stay whole. */
static void test_short_row_of_one_zone(void **state)
{
	struct memreport_set set;
	const struct memreport *r;

	parse_text("Node 0, zone DMA, type Unmovable 1 0 0 0 0 0 0 0 0 0 0\n"
		   "Node 0, zone DMA, type Isolate 0 0 0 0 0 0 0 0 0 0 3\n" TYPE("Unmovable", "1 0 0 0 0 0 0 0 0 0 0")
			   TYPE("Movable", "9 8 7") TYPE("Isolate", "0 0 0 0 0 0 0 0 0 0 0"),
		   &set);
	r = &set.report[0];
	assert_false(r->zone[0].cut);
	assert_int_equal(r->zone[0].free[10], 3);
	assert_int_equal(r->zone[1].whole, 3);
	assert_int_equal(r->zone[1].free[2], 7);
	assert_true(has_remark(&set, r, "line 4: node 0 Normal, type Movable: the row is cut off: 3 of 11 columns"));
	assert_false(has_remark(&set, r, "line 1:"));
	memreport_set_free(&set);
}

/* Beside buddyinfo, whose counts are whole. */
static void test_short_row_beside_buddyinfo(void **state)
{
	struct memscale s;

	scale_text("Node 0, zone Normal 6 4 3 0 0 0 0 0 0 1 4\n" TYPE("Unmovable", "1 0 0 0 0 0 0 0 0 0 2")
			   TYPE("Movable", "5 4") TYPE("Isolate", "0 0 0 0 0 0 0 0 0 0 0"),
		   1u << 30, MEMUNLISTED_REFUSE, &s);
	assert_false(s.refused);
	assert_false(s.at_least);
	assert_int_equal(s.free_kb, 4 * 4634);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_block_fits),
		cmocka_unit_test(test_certain),
		cmocka_unit_test(test_buddyinfo_behind_a_cut_dump),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_share_is_that_of_free),
		cmocka_unit_test(test_few_are_spread),
		cmocka_unit_test(test_asked),
		cmocka_unit_test(test_unknown_is_refused_but_for_none),
		cmocka_unit_test(test_unsized_is_refused),
		cmocka_unit_test(test_short_row),
		cmocka_unit_test(test_short_row_of_one_zone),
		cmocka_unit_test(test_short_row_beside_buddyinfo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
