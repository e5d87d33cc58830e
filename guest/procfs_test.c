// SPDX-License-Identifier: GPL-2.0-only
/*
 * The texts in guest/testdata are real ones, of kernels from 2.6.16 to 7.3; the numbers that they
 * are to give were read off them with awk.
 */
#include "guest/procfs.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "guest/expr.h"

#define DATA "guest/testdata/"

static void load(struct zones *z, const char *name, unsigned int pageblock_order)
{
	static char text[65536];
	char path[200];

	snprintf(path, sizeof(path), DATA "%s.zoneinfo.txt", name);
	assert_true(file_slurp(path, text, sizeof(text)) > 0);
	zones_parse_zoneinfo(z, text);
	snprintf(path, sizeof(path), DATA "%s.buddyinfo.txt", name);
	assert_true(file_slurp(path, text, sizeof(text)) > 0);
	zones_parse_buddyinfo(z, text, pageblock_order);
}

struct expected {
	const char *name;
	int index;
	uint64_t free, min, low, high, spanned, managed, reserve, start_pfn, pcp, whole;
};

static void check_zone(const struct zone *z, const struct expected *e)
{
	assert_string_equal(z->name, e->name);
	assert_int_equal(z->node, 0);
	assert_int_equal(z->index, e->index);
	assert_int_equal(z->free, e->free);
	assert_int_equal(z->min, e->min);
	assert_int_equal(z->low, e->low);
	assert_int_equal(z->high, e->high);
	assert_int_equal(z->spanned, e->spanned);
	assert_int_equal(z->managed, e->managed);
	assert_int_equal(z->reserve, e->reserve);
	assert_int_equal(z->start_pfn, e->start_pfn);
	assert_int_equal(z->pcp, e->pcp);
	assert_int_equal(z->whole, e->whole);
}

static void check(const char *name, const struct expected *e, size_t n, size_t zones)
{
	struct zones z;

	load(&z, name, 9);
	assert_int_equal(z.n, zones);
	for (size_t i = 0; i < n; i++)
		check_zone(&z.zone[i], &e[i]);
}

static void test_7_3(void **state)
{
	/* whole = 512 x order 9 + 1024 x order 10 */
	static const struct expected e[] = {
		{ "DMA", EXPR_ZONE_DMA, 2036, 86, 107, 128, 4095, 3840, 1952, 1, 0, 512 + 1024 },
		{ "DMA32", EXPR_ZONE_DMA32, 51510, 36324, 39118, 41912, 520160, 499855, 0, 4096, 4506, 0 },
		{ "Normal", EXPR_ZONE_NORMAL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		{ "Movable", EXPR_ZONE_MOVABLE, 0, 32, 32, 32, 0, 0, 0, 0, 0, 0 },
		{ "Device", EXPR_ZONE_DEVICE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
	};
	struct zones z;

	check("x86_64-7.3-guest-2G", e, 5, 5);
	load(&z, "x86_64-7.3-guest-2G", 9);
	assert_int_equal(zones_free(&z), 2036 + 51510);
	assert_int_equal(zones_pcp(&z), 4506);
	assert_int_equal(zones_managed(&z), 3840 + 499855);
	assert_int_equal(zones_low(&z), 107 + 39118 + 32);
	assert_int_equal(zones_high(&z), 128 + 41912 + 32);
	/* DMA keeps 1952 of its 3840 pages to itself: it counts. */
	assert_int_equal(zones_whole_blocks(&z), 1536);
	/* Pageblocks of order 4: 16 x 86 + 32 x 106 + 64 x 106 + 128 x 104 + 256 x 104 in DMA32. */
	load(&z, "x86_64-7.3-guest-2G", 4);
	assert_int_equal(z.zone[1].whole, 1376 + 3392 + 6784 + 13312 + 26624);
}

static void test_6_18(void **state)
{
	static const struct expected e[] = {
		{ "DMA", EXPR_ZONE_DMA, 3840, 17, 21, 25, 4095, 3840, 14155, 1, 0, 512 + 3 * 1024 },
		{ "DMA32", EXPR_ZONE_DMA32, 772854, 3599, 4498, 5397, 1044480, 772917, 11136, 4096, 63,
		  3 * 512 + 751 * 1024 },
		{ "Normal", EXPR_ZONE_NORMAL, 1270735, 13278, 16597, 19916, 5505024, 2850816, 0, 1048576,
		  58423, 2 * 512 + 1193 * 1024 },
	};
	struct zones z;

	check("x86_64-6.18", e, 3, 5);
	load(&z, "x86_64-6.18", 9);
	/* All of DMA is kept from ordinary requests here: its blocks are not to be had. */
	assert_int_equal(zones_whole_blocks(&z), 3 * 512 + 751 * 1024 + 2 * 512 + 1193 * 1024);
}

static void test_5_14(void **state)
{
	static const struct expected e[] = {
		{ "DMA", EXPR_ZONE_DMA, 3808, 190, 237, 284, 4095, 3840, 756, 1, 0, 512 + 3 * 1024 },
		{ "DMA32", EXPR_ZONE_DMA32, 59214, 8446, 10557, 12668, 258008, 193648, 0, 4096, 2862,
		  21 * 512 + 4 * 1024 },
	};

	check("x86_64-5.14", e, 2, 5);
}

static void test_5_4(void **state)
{
	static const struct expected e[] = {
		{ "DMA", EXPR_ZONE_DMA, 3974, 16, 20, 24, 4095, 3974, 15993, 1, 0, 512 + 3 * 1024 },
		{ "DMA32", EXPR_ZONE_DMA32, 592138, 3050, 3812, 4574, 1044480, 758400, 13030, 4096, 706,
		  512 + 529 * 1024 },
		{ "Normal", EXPR_ZONE_NORMAL, 21393, 13828, 17285, 20742, 3407872, 3335917, 0, 1048576,
		  302, 3 * 512 + 6 * 1024 },
	};

	check("x86_64-5.4", e, 3, 5);
}

/* Before "managed", with "scanned", "high:" of the pagesets and lines of other architectures. */
static void test_old_kernels(void **state)
{
	static const struct expected v3_2[] = {
		{ "DMA", EXPR_ZONE_DMA, 3960, 32, 40, 48, 4080, 0, 7994, 16, 0, 512 + 3 * 1024 },
		{ "DMA32", EXPR_ZONE_DMA32, 823795, 6829, 8536, 10243, 1044480, 0, 4756, 4096, 616,
		  2 * 512 + 800 * 1024 },
		{ "Normal", EXPR_ZONE_NORMAL, 607278, 10033, 12541, 15049, 1236992, 0, 0, 1048576, 927,
		  49 * 512 + 279 * 1024 },
	};
	static const struct expected arm_4_4 = { "Normal", EXPR_ZONE_NORMAL, 34683, 502, 627, 753, 65536,
						 63077,	   0,		     0,	    88,	 512 + 32 * 1024 };
	static const struct expected arm_2_6 = { "DMA", EXPR_ZONE_DMA, 5410, 181, 226, 271, 8192,
						 0,	0,	       196608, 2, 512 + 4 * 1024 };

	check("x86_64-3.2", v3_2, 3, 3);
	check("arm-4.4", &arm_4_4, 1, 1);
	check("arm-2.6.16", &arm_2_6, 1, 1);
}

/* Free pages of type CMA are free, and no room: 1000 - 200 - (100 + 50). */
static void test_cma(void **state)
{
	static const char zoneinfo[] = "Node 0, zone    DMA32\n  pages free     1000\n        min      80\n"
				       "        low      100\n        high     120\n        managed  5000\n"
				       "        protection: (0, 0, 50, 50)\n      nr_free_cma  200\n"
				       "Node 0, zone   Normal\n  pages free     70\n        low      100\n"
				       "        managed  5000\n      nr_free_cma  70\n";
	struct zones z;

	zones_parse_zoneinfo(&z, zoneinfo);
	assert_int_equal(zones_free(&z), 1070);
	assert_int_equal(zones_cma(&z), 270);
	assert_int_equal(zones_room(&z), 650);
}

static void test_two_nodes(void **state)
{
	static const char zoneinfo[] = "Node 0, zone   Normal\n  pages free     10\n        managed  100\n"
				       "  start_pfn:           0\n        spanned  100\n"
				       "Node 1, zone   Normal\n  pages free     20\n        managed  200\n"
				       "        spanned  200\n  start_pfn:           100\n"
				       "    cpu: 0\n              count:    3\n    cpu: 1\n"
				       "              count:    4\n";
	static const char buddyinfo[] = "Node 0, zone   Normal      1      2      3\n"
					"Node 1, zone   Normal      4      5      6\n"
					"Node 2, zone   Normal      7      8      9\n";
	struct zones z;

	zones_parse_zoneinfo(&z, zoneinfo);
	zones_parse_buddyinfo(&z, buddyinfo, 1);
	assert_int_equal(z.n, 2);
	assert_int_equal(z.zone[0].node, 0);
	assert_int_equal(z.zone[1].node, 1);
	assert_int_equal(z.zone[0].whole, 2 * 2 + 3 * 4);
	assert_int_equal(z.zone[1].whole, 5 * 2 + 6 * 4);
	assert_int_equal(z.zone[0].pcp, 0);
	assert_int_equal(z.zone[1].pcp, 7);
	assert_ptr_equal(zones_of_pfn(&z, 0), &z.zone[0]);
	assert_ptr_equal(zones_of_pfn(&z, 99), &z.zone[0]);
	assert_ptr_equal(zones_of_pfn(&z, 100), &z.zone[1]);
	assert_ptr_equal(zones_of_pfn(&z, 299), &z.zone[1]);
	assert_null(zones_of_pfn(&z, 300));
	assert_null(zones_of_pfn(&z, UINT64_MAX));
}

static void test_odd_texts(void **state)
{
	static struct { struct zones z; char guard[64]; } s;
	char *many = malloc(200 * 60);
	size_t n = 0;

	zones_parse_zoneinfo(&s.z, "");
	assert_int_equal(s.z.n, 0);
	zones_parse_zoneinfo(&s.z, "  pages free 3\nno zone yet\n");
	assert_int_equal(s.z.n, 0);
	/* More zones than there is room for, and a name longer than any. */
	memset(s.guard, 0x5a, sizeof(s.guard));
	for (int i = 0; i < 200; i++)
		n += (size_t)sprintf(many + n, "Node %d, zone AVeryLongNameOfAZone\n pages free %d\n", i, i);
	zones_parse_zoneinfo(&s.z, many);
	zones_parse_buddyinfo(&s.z, many, 9);
	assert_int_equal(s.z.n, ZONES_MAX);
	assert_int_equal(s.z.zone[ZONES_MAX - 1].free, ZONES_MAX - 1);
	assert_string_equal(s.z.zone[0].name, "AVeryLongNameOf");
	for (size_t i = 0; i < sizeof(s.guard); i++)
		assert_int_equal(s.guard[i], 0x5a);
	free(many);
	/* A line of buddyinfo that ends early does not take the next line's numbers. */
	zones_parse_zoneinfo(&s.z, "Node 0, zone DMA\nNode 0, zone Normal\n");
	zones_parse_buddyinfo(&s.z, "Node 0, zone DMA 1 1\n77 77 77\nNode 0, zone Normal 1 1 1", 0);
	assert_int_equal(s.z.zone[0].whole, 1 + 2);
	assert_int_equal(s.z.zone[1].whole, 1 + 2 + 4);
}

static void check_ram(const char *text, const struct ram_range *expected, size_t n)
{
	struct ram r;

	ram_parse(&r, text);
	assert_int_equal(r.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(r.range[i].first, expected[i].first);
		assert_int_equal(r.range[i].end, expected[i].end);
	}
}

static void test_ram(void **state)
{
	/* 00001000-0009fbff, 00100000-7ffdffff, 100000000-17fffffff; 9fc00 is not on a page's edge. */
	static const struct ram_range guest[] = { { 1, 0x9f }, { 0x100, 0x7ffe0 }, { 0x100000, 0x180000 } };
	static const struct ram_range inner[] = { { 1, 3 }, { 3, 5 } };
	static char text[65536];

	assert_true(file_slurp(DATA "x86_64-7.3-guest-4G.iomem.txt", text, sizeof(text)) > 0);
	check_ram(text, guest, 3);
	/* Part of a page is no page; within another; memory of a device that was made RAM. */
	check_ram("00000800-000017ff : System RAM\n", NULL, 0);
	check_ram("00000800-00002fff : System RAM\n  00001000-00001fff : System RAM (kmem)\n"
		  "  00002000-00004fff : System RAM (virtio_mem)\n00005000-00005fff : RAM buffer\n",
		  inner, 2);
	/* What one sees who is not root, and texts that are none. */
	check_ram("00000000-00000000 : Reserved\n00000000-00000000 : System RAM\n", NULL, 0);
	check_ram("", NULL, 0);
	check_ram("System RAM\n-\n1-\n1- : System RAM\n5000 : System RAM\n9000-1000 : System RAM\n", NULL, 0);
	check_ram("00001000-00002fff : System RA", NULL, 0);
}

/* More pieces than there is room for. */
static void test_ram_many(void **state)
{
	static struct { struct ram r; char guard[64]; } s;
	char *text = malloc(1000 * 60);
	size_t n = 0;

	assert_non_null(text);
	memset(s.guard, 0x5a, sizeof(s.guard));
	for (int i = 1; i <= 1000; i++)
		n += (size_t)sprintf(text + n, "%x000-%xfff : System RAM\n", 2 * i, 2 * i);
	ram_parse(&s.r, text);
	assert_int_equal(s.r.n, RAM_RANGES_MAX);
	assert_int_equal(s.r.range[RAM_RANGES_MAX - 1].first, 2 * RAM_RANGES_MAX);
	for (size_t i = 0; i < sizeof(s.guard); i++)
		assert_int_equal(s.guard[i], 0x5a);
	free(text);
}

/* Mutations of a real text, each in a block of its own size: no byte behind its end is read. */
static void test_fuzz(void **state)
{
	static char text[65536];
	static struct zones z;
	static struct ram ram;
	long len = file_slurp(DATA "x86_64-7.3-guest-2G.zoneinfo.txt", text, sizeof(text));
	clock_t start = clock();
	uint64_t r = 99;

	assert_true(len > 0);
	for (int round = 0; round < 3000 && clock() - start < 2 * CLOCKS_PER_SEC; round++) {
		size_t keep;
		char *copy;

		r = r * 6364136223846793005u + 1442695040888963407u;
		keep = (r >> 33) % (size_t)len;
		copy = strndup(text, keep);
		for (int i = 0; i < 8 && keep; i++) {
			r = r * 6364136223846793005u + 1442695040888963407u;
			copy[(r >> 40) % keep] = "\n 0123456789,():-Nzpc\xff"[(r >> 33) % 23];
		}
		zones_parse_zoneinfo(&z, copy);
		zones_parse_buddyinfo(&z, copy, (unsigned int)(r >> 60));
		assert_true(z.n <= ZONES_MAX);
		zones_whole_blocks(&z);
		ram_parse(&ram, copy);
		assert_true(ram.n <= RAM_RANGES_MAX);
		free(copy);
	}
}

/* The guest of 2 GiB: 106 + 1 blocks of order 5 in two zones; the sum of all zones. */
static void test_free_blocks(void **state)
{
	static const uint64_t expected[ORDERS] = { 0, 2, 2, 1, 87, 107, 107, 105, 105, 1, 1 };
	static char text[65536];
	uint64_t blocks[ORDERS];

	assert_true(file_slurp(DATA "x86_64-7.3-guest-2G.buddyinfo.txt", text, sizeof(text)) > 0);
	free_blocks_parse(text, blocks);
	assert_memory_equal(blocks, expected, sizeof(blocks));
	/* A kernel with 13 orders: each block of order 12 is four of order 10. Cut in the middle. */
	free_blocks_parse("Node 0, zone Normal 1 0 0 0 0 0 0 0 0 0 5 2 1\nNode 1, zone Normal 3 0 7", blocks);
	assert_int_equal(blocks[0], 4);
	assert_int_equal(blocks[2], 7);
	assert_int_equal(blocks[10], 5 + 2 * 2 + 4);
	free_blocks_parse("", blocks);
	assert_int_equal(blocks[0] + blocks[10], 0);
	free_blocks_parse("Node 0, zone\nNode x\n\n", blocks);
	assert_int_equal(blocks[0] + blocks[10], 0);
}

static void test_vmstat(void **state)
{
	static const char *const steal[] = { "pgsteal_kswapd", "pgsteal_direct" };
	static const char *const exact[] = { "pgsteal " };
	const char *text = "pgsteal 100\npgsteal_kswapd 7\npgsteal_direct 5\npgsteal_direct_x 2\n"
			   "xpgsteal_direct 9\npgsteal_kswapd\npgsteal_direct 3";

	assert_int_equal(vmstat_parse_sum(text, steal, 2), 7 + 5 + 2 + 3);
	assert_int_equal(vmstat_parse_sum(text, exact, 1), 100);
	assert_int_equal(vmstat_parse_sum("", steal, 2), 0);
	assert_int_equal(vmstat_parse_sum("pgsteal_direct -1\n", exact, 1), 0);
}

static void test_room(void **state)
{
	struct zones z = { .n = 3 };

	z.zone[0] = (struct zone){ .free = 3840, .low = 20, .reserve = 3900 }; /* all kept back */
	z.zone[1] = (struct zone){ .free = 1000, .low = 600, .reserve = 300 };
	z.zone[2] = (struct zone){ .free = 50, .low = 60 };
	assert_int_equal(zones_room(&z), 100);
}

static void test_files(void **state)
{
	char path[] = "/tmp/mmrig-procfs-XXXXXX", buf[16];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "-12\n", 4), 4);
	close(fd);
	assert_int_equal(file_number(path, 7), -12);
	assert_int_equal(file_slurp(path, buf, sizeof(buf)), 4);
	assert_string_equal(buf, "-12\n");
	assert_int_equal(file_slurp(path, buf, 3), 2); /* what fits */
	assert_string_equal(buf, "-1");
	assert_int_equal(file_put(path, "word"), 0);
	assert_int_equal(file_number(path, 7), 7);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(file_slurp(path, buf, sizeof(buf)), -1);
	assert_int_equal(file_number(path, 7), 7);
	assert_int_equal(file_put(path, "word"), -1); /* never makes a file */
	assert_int_equal(access(path, F_OK), -1);
}

/* The host's own kernel, whatever it is: memory may come and go while we look. */
static void test_this_host(void **state)
{
	static struct zones z;
	unsigned int order = pageblock_order();

	assert_in_range(order, 1, 16);
	assert_int_equal(zones_read(&z, order), 0);
	assert_true(z.n >= 1);
	assert_true(zones_managed(&z) > 0 && zones_free(&z) < zones_managed(&z));
	for (size_t i = 0; i < z.n; i++) {
		assert_true(z.zone[i].min <= z.zone[i].low && z.zone[i].low <= z.zone[i].high);
		assert_true(z.zone[i].managed <= z.zone[i].spanned);
		assert_true(z.zone[i].whole <= z.zone[i].managed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_7_3),
		cmocka_unit_test(test_6_18),
		cmocka_unit_test(test_5_14),
		cmocka_unit_test(test_5_4),
		cmocka_unit_test(test_old_kernels),
		cmocka_unit_test(test_cma),
		cmocka_unit_test(test_two_nodes),
		cmocka_unit_test(test_odd_texts),
		cmocka_unit_test(test_ram),
		cmocka_unit_test(test_ram_many),
		cmocka_unit_test(test_fuzz),
		cmocka_unit_test(test_free_blocks),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_vmstat),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_this_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
