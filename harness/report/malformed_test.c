// SPDX-License-Identifier: GPL-2.0-only
/* What stands where a number is due, and is none: it is named, and nothing is made of it. */
#include "harness/report/memreport_fixture.h"

#define WHOLE "1 1 1 1 1 1 1 1 1 1 1"
#define LIST                                                                                      \
	"0*16kB 0*32kB 0*64kB 0*128kB 0*256kB 0*512kB 0*1024kB 0*2048kB 0*4096kB = 20kB\n"

static void assert_remark(const struct memreport_set *set, const char *text, const char *remark)
{
	const struct memreport *r = &set->report[set->best];

	if (has_remark(set, r, remark))
		return;
	for (size_t i = 0; i < r->nremarks; i++)
		print_message("%s\n", r->remark[i]);
	fail_msg("%s: not remarked: %s", text, remark);
}

static const char *const words[] = { "1,000", "abc", "-1", "+1", "0x10", "1k", "1.5", "3o", "3B", ">", "1>", ",5" };

/* In each place of each kind of row: what is before it is taken, and the layout is refused. */
static void check_word(const char *word, unsigned int column)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	cleanup_free char *remark = str_printf("line 2: node 0 Normal: \"%s\" in column %u is no count", word, column + 1);
	struct memreport_set set;
	const struct memzone *z;
	struct memscale s;

	strbuf_adds(&text, "Node 0, zone DMA " WHOLE "\nNode 0, zone Normal");
	for (unsigned int k = 0; k < 11; k++)
		strbuf_addf(&text, " %s", k == column ? word : "7");
	strbuf_adds(&text, "\n");
	parse_text(text.data, &set);
	assert_remark(&set, text.data, remark);
	z = &set.report[0].zone[1];
	assert_int_equal(z->orders, column);
	assert_true(z->cut);
	memreport_scale(&set.report[0], 1u << 30, &s);
	assert_true(s.refused);
	memreport_set_free(&set);
}

static void test_row(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		for (unsigned int column = 0; column < 11; column++)
			check_word(words[i], column);
}

/* The only zone, in its last column: nothing else shows that one is missing. */
static void test_last_column_of_one_zone(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		cleanup_free char *text = str_printf("Node 0, zone Normal 1 1 1 1 1 1 1 1 1 1 %s\n", words[i]);
		struct memreport_set set;
		struct memscale s;

		parse_text(text, &set);
		memreport_scale(&set.report[0], 1u << 30, &s);
		if (!s.refused)
			fail_msg("%s", text);
		memreport_set_free(&set);
	}
}

static void test_comments_are_none(void **state)
{
	static const char *const comments[] = { "// 3 of them", "# 1,000", "<- look", "(all)", "-- 1k", "that is all",
						"\xe4\xb8\xad\xe6\x96\x87 1" };

	for (size_t i = 0; i < ARRAY_SIZE(comments); i++) {
		cleanup_free char *text = str_printf("Node 0, zone Normal " WHOLE " %s\n", comments[i]);
		struct memreport_set set;

		parse_text(text, &set);
		assert_int_equal(set.report[0].zone[0].orders, 11);
		assert_false(set.report[0].zone[0].cut);
		assert_int_equal(set.report[0].nremarks, 1); /* of the page size */
		memreport_set_free(&set);
	}
}

/* ---- all else that has numbers ---- */

static void test_said(void **state)
{
	static const struct {
		const char *text, *remark;
	} cases[] = {
		{ "Node 99999, zone Normal " WHOLE "\n", "line 1: \"99999\" is no number of a node" },
		{ "Node -1, zone Normal " WHOLE "\n", "line 1: \"-1\" is no number of a node" },
		{ "Node x Normal: 1*4kB 2*8kB " LIST, "line 1: \"x\" is no number of a node" },
		{ "Node 10000 Normal: 1*4kB 2*8kB " LIST, "line 1: \"10000\" is no number of a node" },
		{ "Node 0 Normal: 1*4kB 1,000*8kB " LIST,
		  "line 1: node 0 Normal: \"1,000*8kB\" in place of order 1 is no count" },
		{ "Node 0 Normal: 1*4kB 2*8kB abc*16kB\n", "\"abc*16kB\" in place of order 2 is no count" },
		{ "Node 0 Normal: 1*4kB (um) 2*8kB " LIST, "\"(um)\" in place of order 1 is no count" },
		{ "Node 0 Normal: 1*4kB (UX) 2*8kB (M) " LIST, "line 1: node 0 Normal: \"(UX)\" has a letter that is not known" },
		{ "Node 0 Normal free:1,000kB min:-5kB low:1k high:4kB\n", "\"1,000kB\" is no number of kB: free: is left out" },
		{ "Node 0 Normal free:1,000kB min:-5kB low:1k high:4kB\n", "\"-5kB\" is no number of kB: min: is left out" },
		{ "Node 0 Normal free:1,000kB min:-5kB low:1k high:4kB\n", "\"1k\" is no number of kB: low: is left out" },
		{ "Node 0, zone Normal\n pages free 0x10\n", "line 2: \"0x10\" is no number of pages: the line is left out" },
		{ "Node 0, zone Normal\n managed 1,000\n", "line 2: \"1,000\" is no number of pages" },
		{ "slab_reclaimable:5 free:1,000 free_pcp:1\nNode 0, zone Normal " WHOLE "\n",
		  "line 1: \"1,000\" is no number of pages: free: is left out" },
		{ "Node 0, zone Normal " WHOLE "\n1,000 pages RAM\n", "line 2: \"1,000\" is no number of pages" },
		{ "Node 0, zone Normal " WHOLE "\nMemTotal: 1k kB\n", "line 2: \"1k\" is no number: the line is left out" },
		{ "Node 0, zone Normal " WHOLE "\nPage block order: 9x\n", "line 2: \"9x\" is no order of pageblocks" },
		{ "Page block order: 9\nNumber of blocks type Unmovable Movable\nNode 0, zone Normal 7 1k\n",
		  "line 3: node 0 Normal: \"1k\" in column 2 is no count" },
		{ "Node 0, zone Normal " WHOLE "\nNumber of blocks type Unmovable Movable\nNode 0, zone Normal 7\n",
		  "line 3: node 0 Normal: 1 columns below 2 names of types: this row is left out" },
		{ "x: page allocation failure: order:99, mode:0x20(GFP_ATOMIC)\n", "line 1: \"99\" is no order of any kernel" },
		{ "x: page allocation failure: order:1k, mode:0x20(GFP_ATOMIC)\n", "\"1k\" is no order of any kernel" },
		{ "x: page allocation failure: order:0, mode:0xzz(GFP_ATOMIC), x\n", "\"0xzz(GFP_ATOMIC)\" is no gfp mask" },
		{ "x invoked oom-killer: gfp_mask=abc, order=0, oom_score_adj=0\n", "\"abc\" is no gfp mask" },
		{ "Node 0, zone DMA33 " WHOLE "\n", "line 1: node 0 DMA33: no kernel has a zone of that name" },
		{ "Node 0, zone DMA " WHOLE "\nNode 0, zone DMA32 " WHOLE "\nNode 0, zone Normal " WHOLE " 1\n",
		  "line 3: node 0 Normal: 12 columns, where others have 11: garbage; this list is left out" },
		{ "Node 0, zone Normal, type Unmovable 1 2 1k 1 1 1 1 1 1 1 1\n"
		  "Node 0, zone Normal, type Isolate 0 0 0 0 0 0 0 0 0 0 0\n",
		  "line 1: node 0 Normal, type Unmovable: \"1k\" in column 3 is no count" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct memreport_set set;

		parse_text(cases[i].text, &set);
		assert_remark(&set, cases[i].text, cases[i].remark);
		memreport_set_free(&set);
	}
}

/* What a line that was cut off leaves of a number is not said to be one that is wrong. */
static void test_cut_is_not_malformed(void **state)
{
	static const char *const texts[] = {
		"Node 0 Normal free:20kB min:2o\nNode 0 Normal: 1*4kB 2*8kB 1*B\n",
		"Node 0 Normal: 1*4kB 2*8kB (U\n",
		"x: page allocation failure: order:\nNode 0, zone Normal " WHOLE "\n",
		"x invoked oom-killer: gfp_mask=0x100cca(GFP_HIGH\nNode 0, zone Normal " WHOLE "\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct memreport_set set;

		parse_text(texts[i], &set);
		assert_false(has_remark(&set, &set.report[0], "\" is no "));
		memreport_set_free(&set);
	}
}

/* Of pagetypeinfo just the row is cut: 1 + 0 and 2 + 0 are known, and the rest of the type is not. */
static void test_bad_type_row(void **state)
{
	struct memreport_set set;
	const struct memzone *z;

	parse_text("Node 0, zone Normal, type Unmovable 1 2 1k 1 1 1 1 1 1 1 1\n"
		   "Node 0, zone Normal, type Isolate 0 0 0 5 0 0 0 0 0 0 0\n", &set);
	z = &set.report[0].zone[0];
	assert_int_equal(z->whole, 2);
	assert_int_equal(z->orders, 11);
	assert_int_equal(z->free[1], 2);
	assert_int_equal(z->free[3], 5);
	assert_true(z->at_least >> 3 & 1);
	memreport_set_free(&set);
}

/* Words of the input are shown, and are hostile. */
static void test_hostile_words(void **state)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct memreport_set set;

	strbuf_adds(&text, "Node 0, zone Normal 1 1\xc2\x9b" "2J");
	for (int i = 0; i < 4000; i++)
		strbuf_adds(&text, "x");
	strbuf_adds(&text, "\n");
	parse_text(text.data, &set);
	assert_remark(&set, "a long word", "in column 2 is no count");
	for (size_t i = 0; i < set.report[0].nremarks; i++) {
		assert_null(strstr(set.report[0].remark[i], "\xc2\x9b"));
		assert_true(strlen(set.report[0].remark[i]) < 200);
	}
	memreport_set_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_row),
		cmocka_unit_test(test_last_column_of_one_zone),
		cmocka_unit_test(test_comments_are_none),
		cmocka_unit_test(test_said),
		cmocka_unit_test(test_cut_is_not_malformed),
		cmocka_unit_test(test_bad_type_row),
		cmocka_unit_test(test_hostile_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
