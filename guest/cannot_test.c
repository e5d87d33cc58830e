// SPDX-License-Identifier: GPL-2.0-only
#include "guest/cannot.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Eight pages held: two of DMA, four of DMA32 (one of them pinned), one gone, one in no zone. */
static uint32_t pfns[] = { 100, 4095, 4096, 9000, 5000 | LAYOUT_PINNED, 6000, LAYOUT_GONE, 500000 };
static uint8_t avail[200000 / 8];

static struct layout made(void)
{
	struct layout l = { .pfn = pfns, .filled_pages = 8, .pfn_end = 100000, .avail = avail };

	l.zones.n = 4;
	l.zones.zone[0] = (struct zone){ .name = "DMA", .start_pfn = 1, .spanned = 4095, .managed = 3840 };
	l.zones.zone[1] = (struct zone){ .name = "DMA32", .index = EXPR_ZONE_DMA32, .start_pfn = 4096,
					 .spanned = 95904, .managed = 90000 };
	l.zones.zone[2] = (struct zone){ .name = "Normal", .index = EXPR_ZONE_NORMAL };
	l.zones.zone[3] = (struct zone){ .name = "Movable", .index = EXPR_ZONE_MOVABLE };
	return l;
}

static void test_no_page(void **state)
{
	static uint32_t all_pinned[] = { 100 | LAYOUT_PINNED, LAYOUT_GONE };
	struct layout l = made();
	struct step_report r = { 0 };

	assert_int_equal(step_no_page(&l, &r), -1);
	assert_true(r.cannot);
	assert_string_equal(r.why, "where selects no page of the fill that is not pinned: 2 pages in DMA (pfn 100 to "
				   "4095), 3 pages in DMA32 (pfn 4096 to 9000)");
	l.zones.zone[3].node = 1;
	l.filled_pages = 2;
	step_no_page(&l, &r);
	assert_string_equal(r.why, "where selects no page of the fill: 2 pages in DMA of node 0 (pfn 100 to 4095)");
	l.pfn = all_pinned;
	step_no_page(&l, &r);
	assert_string_equal(r.why, "the layout holds no page that is not pinned; pinned are 1");
}

static void test_any_page(void **state)
{
	struct step_report r = { 0 };
	struct layout l = made();

	assert_int_equal(step_any_page(&l, &r), -1);
	assert_true(r.cannot);
	memset(&r, 0, sizeof(r));
	avail[100000 / 8] = 1;
	assert_int_equal(step_any_page(&l, &r), 0);
	assert_false(r.cannot || r.why[0]);
	avail[100000 / 8] = 0;
}

static void test_zones(void **state)
{
#define THERE ": 3840 pages in DMA (pfn 1 to 4095), 90000 pages in DMA32 (pfn 4096 to 99999)"
	struct step_report r = { 0 };
	struct layout l = made();

	assert_int_equal(step_no_block(&l, &r), -1);
	assert_string_equal(r.why, "where selects no page of the guest" THERE);
	step_no_memory(&l, "normal", -1, &r);
	assert_string_equal(r.why, "this guest has no memory in zone normal" THERE);
	step_no_memory(&l, NULL, 3, &r);
	assert_string_equal(r.why, "this guest has no memory in node 3" THERE);
	step_no_memory(&l, "dma", 3, &r);
	assert_string_equal(r.why, "this guest has no memory in zone dma of node 3" THERE);
}

/* Of many zones as many are told as there is room for, and the text ends where it should. */
static void test_many_zones(void **state)
{
	struct {
		struct step_report r;
		char behind[16];
	} x = { .behind = "untouched" };
	struct layout l = made();

	l.zones.n = ZONES_MAX;
	for (size_t i = 0; i < ZONES_MAX; i++)
		l.zones.zone[i] = (struct zone){ .name = "A_long_zone_nam", .node = 1000000000 + (int)i,
						 .managed = UINT64_MAX, .start_pfn = 1, .spanned = UINT64_MAX };
	for (size_t zones = 1; zones <= ZONES_MAX; zones++) {
		l.zones.n = zones;
		step_no_memory(&l, "movable", 7, &x.r);
		assert_true(strlen(x.r.why) < sizeof(x.r.why));
		if (zones > 2)
			assert_string_equal(x.r.why + strlen(x.r.why) - 5, ", ...");
	}
	assert_string_equal(x.behind, "untouched");
}

static void test_others(void **state)
{
	struct step_report r = { 0 };
	char text[400];

	assert_int_equal(step_divides_by_zero(&r), -1);
	assert_true(r.cannot);
	assert_string_equal(r.why, "where: division by zero");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	step_cannot(&r, "%s", text);
	assert_int_equal(strlen(r.why), sizeof(r.why) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_page),	   cmocka_unit_test(test_any_page), cmocka_unit_test(test_zones),
		cmocka_unit_test(test_many_zones), cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
