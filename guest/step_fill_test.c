// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "guest/step_fill.c"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* Two nodes: DMA32 and Normal on the first, Normal and Movable on the second. */
static void make(struct layout *l, struct fill *f)
{
	memset(l, 0, sizeof(*l));
	memset(f, 0, sizeof(*f));
	f->node = -1;
	l->block_order = 9;
	l->block_pages = 512;
	l->tolerance_ppm = 20000;
	l->zones.n = 4;
	l->zones.zone[0] = (struct zone){ .node = 0, .name = "DMA32", .index = EXPR_ZONE_DMA32,
					  .free = 100000, .low = 1000, .high = 1200, .managed = 400000 };
	l->zones.zone[1] = (struct zone){ .node = 0, .name = "Normal", .index = EXPR_ZONE_NORMAL,
					  .free = 50000, .low = 500, .high = 700, .managed = 200000 };
	l->zones.zone[2] = (struct zone){ .node = 1, .name = "Normal", .index = EXPR_ZONE_NORMAL,
					  .free = 30000, .low = 500, .high = 700, .managed = 200000 };
	l->zones.zone[3] = (struct zone){ .node = 1, .name = "Movable", .index = EXPR_ZONE_MOVABLE,
					  .free = 20000, .low = 400, .high = 500, .managed = 100000 };
}

static void view(struct layout *l, struct fill *f)
{
	f->view.n = 0;
	for (size_t i = 0; i < l->zones.n; i++)
		if (counts(f, &l->zones.zone[i]))
			f->view.zone[f->view.n++] = l->zones.zone[i];
	f->left = zones_free(&f->view);
}

static void test_targets(void **state)
{
	struct layout l;
	struct fill f;

	make(&l, &f);
	view(&l, &f);
	assert_int_equal(f.view.n, 4);
	assert_int_equal(target_pages(&l, &f, "percent", 10), 90000);
	assert_int_equal(target_pages(&l, &f, "high", 3), 9300);
	assert_int_equal(target_pages(&l, &f, "blocks", 4), 2048);
	assert_int_equal(target_pages(&l, &f, "bytes", 8191), 1);
	f.node = 1;
	view(&l, &f);
	assert_int_equal(f.left, 50000);
	assert_int_equal(target_pages(&l, &f, "percent", 10), 30000);
	f.zone = "normal"; /* the kernel writes it with a capital */
	view(&l, &f);
	assert_int_equal(f.left, 30000);
	f.node = -1;
	view(&l, &f);
	assert_int_equal(f.left, 80000);
	f.zone = "dma";
	view(&l, &f);
	assert_int_equal(f.view.n, 0);
}

/* Below the watermarks nothing can be left: the fill ends before it meets them. */
static void test_out_of_reach(void **state)
{
	struct layout l;
	struct fill f;

	make(&l, &f);
	f.kind = &fill_anon;
	f.zone = "dma32"; /* room: what is above 1000 */
	for (size_t i = 1; i < 4; i++)
		l.zones.zone[i].free = 0;
	l.zones.zone[0].free = 1000 + ZONES_LEAST_ROOM;
	view(&l, &f);
	f.target = 256;
	assert_int_equal(next_piece(&l, &f), ZONES_LEAST_ROOM / 2);
	l.zones.zone[0].free--;
	view(&l, &f);
	assert_int_equal(next_piece(&l, &f), 0);
	/* One that can be had is had to the page. */
	f.target = 1010;
	l.zones.zone[0].free = 1030;
	view(&l, &f);
	assert_int_equal(next_piece(&l, &f), 15);
	/* Blocks: as base pages they take more than they are. */
	f.blocks = true;
	f.target = 0;
	l.zones.zone[0].free = 1000 + ZONES_LEAST_ROOM - 1;
	view(&l, &f);
	assert_int_equal(next_piece(&l, &f), 0);
	f.kind = &fill_thp;
	assert_int_equal(next_piece(&l, &f), (ZONES_LEAST_ROOM - 1) / 2);
}

/* What the kernel takes from first: zones above, on the same node where one is given. */
static void test_room_before(void **state)
{
	struct layout l;
	struct fill f;

	make(&l, &f);
	view(&l, &f);
	assert_int_equal(room_before(&l, &f), 0);
	f.zone = "dma32";
	view(&l, &f);
	assert_int_equal(room_before(&l, &f), 49500 + 29500 + 19600);
	f.node = 0;
	view(&l, &f);
	assert_int_equal(room_before(&l, &f), 49500);
	f.zone = "movable";
	f.node = -1;
	view(&l, &f);
	assert_int_equal(room_before(&l, &f), 0);
}

static void test_pieces(void **state)
{
	struct layout l;
	struct fill f;

	make(&l, &f);
	f.node = 0;
	view(&l, &f);
	f.target = f.left - 10;
	assert_int_equal(next_piece(&l, &f), 10);
	f.target = f.left - 5000; /* 16 MiB are 4096 pages: a half of it */
	assert_int_equal(next_piece(&l, &f), 2500);
	f.target = f.left - 4000; /* near the end 2 MiB */
	assert_int_equal(next_piece(&l, &f), 512);
	f.blocks = true;
	f.target = f.left - 5000;
	assert_int_equal(next_piece(&l, &f), 2048);
	f.blocks = false;
	f.target = 0; /* half of the room: 148,500, of a quarter of 150,000 */
	assert_int_equal(next_piece(&l, &f), 37500);
	l.zones.zone[0].free = 1900;
	l.zones.zone[1].free = 100;
	view(&l, &f);
	f.target = 0;
	assert_int_equal(next_piece(&l, &f), 450);
	/* Another zone comes first: half of what it has, though hardly any is missing here. */
	make(&l, &f);
	f.zone = "dma32";
	f.node = 0;
	view(&l, &f);
	f.target = f.left - 10;
	assert_int_equal(next_piece(&l, &f), 24750);
}

static void test_judge(void **state)
{
	struct step_report r = { .ok = true };
	struct layout l;
	struct fill f;

	make(&l, &f);
	f.kind = &fill_anon;
	f.target = 1000; /* 1 MiB is 256 pages, which is more than 2 % */
	f.left = 1256;
	judge(&l, &f, &r);
	assert_true(r.ok);
	f.left = 1257;
	judge(&l, &f, &r);
	assert_false(r.ok);
	assert_non_null(strstr(r.why, "1000 pages were to be left free and 1257 are"));
	r.why[0] = '\0';
	f.kind = &fill_hugetlb; /* comes in whole blocks, whatever was asked */
	f.left = 500;
	judge(&l, &f, &r);
	assert_true(r.ok);
	snprintf(r.why, sizeof(r.why), "a fault");
	judge(&l, &f, &r);
	assert_false(r.ok);
	assert_string_equal(r.why, "a fault");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_out_of_reach),
		cmocka_unit_test(test_room_before),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_judge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
