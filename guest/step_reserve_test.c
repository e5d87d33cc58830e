// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "guest/step_reserve.c"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct zone zone(int index, uint64_t managed, uint64_t free, uint64_t cma)
{
	return (struct zone){ .index = index, .managed = managed, .free = free, .cma = cma };
}

/* min of a zone is its share of vm.min_free_kbytes by managed pages, of all zones but Movable. */
static void test_min(void **state)
{
	struct zones z = { .n = 3 };

	/* (20512 - 512) * 0.9 = 18000 pages of DMA32; 96000 of 100000 are its: 18750 pages in all. */
	z.zone[0] = zone(EXPR_ZONE_DMA, 4000, 3800, 0);
	z.zone[1] = zone(EXPR_ZONE_DMA32, 96000, 20512, 0);
	z.zone[2] = zone(EXPR_ZONE_NORMAL, 0, 0, 0);
	assert_int_equal(min_kbytes(&z), 18750 * 4);
	/* Movable is no place for the kernel's own, and takes no part. */
	z.zone[2] = zone(EXPR_ZONE_MOVABLE, 50000, 50000, 0);
	assert_int_equal(min_kbytes(&z), 18750 * 4);
	/* Free pages of a CMA area are none for it. */
	z.zone[1] = zone(EXPR_ZONE_DMA32, 96000, 30512, 10000);
	assert_int_equal(min_kbytes(&z), 18750 * 4);
	/* Of two zones the higher one: (10512 - 512) * 0.9 = 9000 of 100000 of 200000. */
	z.zone[2] = zone(EXPR_ZONE_NORMAL, 100000, 10512, 0);
	assert_int_equal(min_kbytes(&z), 18000 * 4);
	z.zone[2].free = FLOOR_PAGES - 1;
	assert_int_equal(min_kbytes(&z), 0);
	z.n = 0;
	assert_int_equal(min_kbytes(&z), 0);
}

static unsigned int at16(const uint8_t *p)
{
	return (unsigned int)(p[0] << 8 | p[1]);
}

/* RFC 1071: the words of a message add up to 0xffff. */
static unsigned int sum_of(const uint8_t *p, size_t n)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < n; i += 2)
		sum += at16(p + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* 30000 = 25 * 1200. */
static void test_parts(void **state)
{
	uint8_t part[1220];
	size_t bytes = 0;

	assert_int_equal(echo_part(part, 7, 0), 1220);
	assert_int_equal(part[0], 0x45);
	assert_int_equal(at16(part + 2), 1220);
	assert_int_equal(at16(part + 4), 7);
	assert_int_equal(at16(part + 6), 0x2000);
	assert_int_equal(part[9], 1);
	assert_memory_equal(part + 16, "\x7f\0\0\x01", 4);
	assert_int_equal(part[20], 8);
	assert_int_equal(sum_of(part + 20, 1200), 0xffff);
	assert_int_equal(echo_part(part, 7, 1200), 1220);
	assert_int_equal(at16(part + 6), 0x2000 | 150);
	assert_int_equal(sum_of(part + 20, 1200), 0); /* adds nothing to the first */
	assert_int_equal(echo_part(part, 65535, 28800), 1220);
	assert_int_equal(at16(part + 4), 65535);
	assert_int_equal(at16(part + 6), 3600); /* the last one */
	for (size_t at = 0; at < ECHO_BYTES; at += ECHO_PART)
		bytes += echo_part(part, 1, at) - 20;
	assert_int_equal(bytes, 30000);
}

/* 1 % of 1 GiB are 5.12 pageblocks, and the kernel rounds up. */
static void test_refused(void **state)
{
	static const uint64_t one[] = { 1ull << 30, 0 }, two[] = { 512 << 20, 512 << 20 };
	struct step_context c = { .memory_bytes = 1ull << 30 };
	struct job job = { 0 };
	struct step_fault f;
	struct job_line *line;

	line = job_add(&job, "step", "do", "reserve", "blocks", "6", NULL);
	assert_int_equal(reserve_check(line, &c, &f), 0);
	c.node_bytes = one;
	c.nnodes = 2;
	assert_int_equal(reserve_check(line, &c, &f), 0);
	c.node_bytes = two;
	assert_int_equal(reserve_check(line, &c, &f), -1);
	assert_non_null(strstr(f.why, "one node only"));
	c.nnodes = 0;
	c.memory_bytes = 512 << 20;
	assert_int_equal(reserve_check(line, &c, &f), -1);
	assert_string_equal(f.param, "blocks");
	assert_true(f.of_memory);
	assert_string_equal(f.why, "blocks is 6, and the kernel keeps no more than 1% of a zone, 3 pageblocks of 512M");
	job_free(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_min),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
