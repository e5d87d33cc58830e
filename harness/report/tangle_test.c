// SPDX-License-Identifier: GPL-2.0-only
/* Free lists of two zones on one line. */
#include "harness/report/memreport_fixture.h"


/* DMA: 8 + 16 + 3 * 4096 = 12312 with order 0 empty; Normal: 5 * 4 + 2 * 8 + 64 = 100 */
#define TAIL_BOTH                                                                                  \
	"0*16kB 1*16kB 0*32kB 0*32kB 0*64kB 1*64kB 0*128kB 0*128kB 0*256kB 0*256kB 0*512kB "      \
	"0*512kB 0*1024kB 0*1024kB 0*2048kB 0*2048kB "

static void assert_orders(const struct memreport *r, size_t zone, const char *want)
{
	cleanup_strbuf struct strbuf got = STRBUF_INIT;
	const struct memzone *z = &r->zone[zone];

	assert_true(zone < r->nzones);
	for (unsigned int k = 0; k < z->orders; k++)
		strbuf_addf(&got, "%s%llu", k ? " " : "", (unsigned long long)z->free[k]);
	assert_string_equal(got.data ? got.data : "", want);
	assert_false(z->orders && z->cut);
}

/* The first token stands before the second head. */
static void test_both_heads(void **state)
{
	struct memreport_set set;
	const struct memreport *r;

	parse_text("Node 0 DMA: 0*4kB Node 0 Normal: 1*8kB (U) 5*4kB (M) 2*8kB (M) " TAIL_BOTH
		   "0*4096kB 3*4096kB (M) = 100kB\n(M) = 12312kB\n",
		   &set);
	r = &set.report[0];
	assert_orders(r, 0, "0 1 1 0 0 0 0 0 0 0 3");
	assert_orders(r, 1, "5 2 0 0 1 0 0 0 0 0 0");
	assert_true(has_remark(&set, r, "node 0 DMA: its free list is mixed"));
	assert_true(has_remark(&set, r, "node 0 Normal: its free list is mixed"));
	assert_false(has_remark(&set, r, "cut off"));
	assert_false(has_remark(&set, r, "too little is left"));
	assert_int_equal(r->zone[0].value[MEMZONE_LISTED], 12312);
	memreport_set_free(&set);
}

/* What is read next is no part of it. */
static void test_goes_on(void **state)
{
	struct memreport_set set;
	const struct memreport *r;

	parse_text("[1.000001] Node 0 DMA: 0*4kB Node 0 Normal: 1*8kB 5*4kB 2*8kB " TAIL_BOTH
		   "0*4096kB 3*4096kB\n[1.000002]  = 100kB\n[1.000003]  = 12312kB\n"
		   "[1.000004] Node 1 Normal: 3*4kB 0*8kB 0*16kB 0*32kB 0*64kB 0*128kB 0*256kB 0*512kB "
		   "0*1024kB 0*2048kB 0*4096kB = 12kB\n",
		   &set);
	r = &set.report[0];
	assert_orders(r, 1, "5 2 0 0 1 0 0 0 0 0 0");
	assert_orders(r, 2, "3 0 0 0 0 0 0 0 0 0 0");
	memreport_set_free(&set);
}

/* The head of one is lost, and so may be its beginning. */
static void test_one_head(void **state)
{
	struct memreport_set set;

	parse_text("Node 0 DMA: 2*8kB 0*4kB 1*8kB " TAIL_BOTH
		   "0*4096kB 3*4096kB = 100kB\n = 12312kB\n", &set);
	assert_orders(&set.report[0], 0, "0 1 1 0 0 0 0 0 0 0 3");
	assert_int_equal(set.report[0].nzones, 1);
	memreport_set_free(&set);
}

/* clang-format off */
static const struct {
	const char *text, *why;
} lost[] = {
	/* either list may be either zone's */
	{ "Node 0 DMA: Node 0 Normal: 0*4kB 5*4kB 1*8kB 2*8kB " TAIL_BOTH "0*4096kB 3*4096kB = 100kB\n = 12312kB\n",
	  "not just one way" },
	/* one sum is lost */
	{ "Node 0 DMA: 0*4kB Node 0 Normal: 1*8kB 5*4kB 2*8kB " TAIL_BOTH "0*4096kB 3*4096kB = 100kB\n",
	  "not the sums of two lists" },
	/* a sum is wrong */
	{ "Node 0 DMA: 0*4kB Node 0 Normal: 1*8kB 5*4kB 2*8kB " TAIL_BOTH "0*4096kB 3*4096kB = 100kB\n = 12308kB\n",
	  "not just one way" },
	/* 2 * 4 + 2 * 8 is 4 * 4 + 1 * 8: both divisions fit */
	{ "Node 0 DMA: 2*4kB 4*4kB 2*8kB 1*8kB " "0*16kB 0*16kB 0*32kB 0*32kB 0*64kB 0*64kB 0*128kB 0*128kB "
	  "0*256kB 0*256kB 0*512kB 0*512kB 0*1024kB 0*1024kB = 24kB = 24kB\n", "not just one way" },
	/* three lists */
	{ "Node 0 DMA: 0*4kB 5*4kB 1*4kB 1*8kB 2*8kB 0*8kB " TAIL_BOTH "0*4096kB 3*4096kB = 100kB\n = 12312kB\n",
	  "not just one way" },
	/* a token that is of neither */
	{ "Node 0 DMA: 0*4kB Node 0 Normal: 1*8kB 5*4kB 2*8kB 7*12kB " TAIL_BOTH
	  "0*4096kB 3*4096kB = 100kB\n = 12312kB\n", "not just one way" },
};
/* clang-format on */

static void test_not_certain(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(lost); i++) {
		struct memreport_set set;
		const struct memreport *r;

		parse_text(lost[i].text, &set);
		r = &set.report[0];
		if (!has_remark(&set, r, lost[i].why) || !has_remark(&set, r, "this list is left out"))
			fail_msg("%zu: not said", i);
		for (size_t z = 0; z < r->nzones; z++)
			assert_int_equal(r->zone[z].orders, 0);
		memreport_set_free(&set);
	}
}

/* 2^16 ways to divide them, none of which fits, again and again: bounded. */
static void test_costly(void **state)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct memreport_set set;

	for (int i = 0; i < 5000; i++) {
		strbuf_addf(&text, "Node %d DMA:", i % 100);
		for (unsigned int k = 0; k < 17; k++)
			strbuf_addf(&text, " 2*%ukB 4*%ukB", 4u << k, 4u << k);
		strbuf_adds(&text, " = 8kB = 12kB\n");
	}
	parse_text(text.data, &set);
	assert_true(has_remark(&set, &set.report[0], "this list is left out"));
	memreport_set_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_heads),  cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_one_head),    cmocka_unit_test(test_not_certain),
		cmocka_unit_test(test_costly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
