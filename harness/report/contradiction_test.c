// SPDX-License-Identifier: GPL-2.0-only
/* Numbers that cannot be, and those that cannot be beside each other. */
#include "harness/report/memreport_fixture.h"

/* 256 + 2 * 128 pages are 2048 kB */
#define LIST2M                                                                                     \
	"Node 0 Normal: 256*4kB (U) 128*8kB (U) 0*16kB 0*32kB 0*64kB 0*128kB 0*256kB 0*512kB "     \
	"0*1024kB 0*2048kB 0*4096kB = "
#define ROW2M "Node 0, zone Normal 256 128 0 0 0 0 0 0 0 0 0\n"
#define ZEROS9 " 0 0 0 0 0 0 0 0 0"
#define BIT(f) (1u << MEMZONE_##f)

/* clang-format off */
static const struct {
	const char *text;
	unsigned int orders;	/* of the first zone */
	uint32_t gone, kept;	/* its fields */
	enum memscale_base base;
	const char *remark[2];
} cases[] = {
	/* watermarks */
	{ "Node 0 Normal free:2048kB min:900kB low:800kB high:1000kB managed:65536kB\n" LIST2M "2048kB\n",
	  11, BIT(MIN) | BIT(LOW) | BIT(HIGH), BIT(MANAGED), MEMSCALE_MANAGED,
	  { "line 1: node 0 Normal: min is 900 kB, above low of 800 kB: the watermarks of the zone are left out" } },
	{ "Node 0 Normal free:2048kB min:700kB low:1004kB high:1000kB managed:65536kB\n" LIST2M "2048kB\n",
	  11, BIT(MIN) | BIT(LOW) | BIT(HIGH), BIT(MANAGED), MEMSCALE_MANAGED,
	  { "low is 1004 kB, above high of 1000 kB" } },
	{ "Node 0, zone Normal\n pages free 512\n min 200\n high 100\n managed 16384\n" ROW2M, 11,
	  BIT(MIN) | BIT(HIGH), BIT(MANAGED), MEMSCALE_MANAGED,
	  { "line 3: node 0 Normal: min is 800 kB, above high of 400 kB" } },
	{ "Node 0, zone Normal\n pages free 512\n min 20000\n managed 16384\n" ROW2M, 11, BIT(MIN),
	  BIT(MANAGED), MEMSCALE_MANAGED, { "min is 80000 kB, above managed of 65536 kB" } },
	/* sizes */
	{ "Node 0 Normal free:2048kB present:65532kB managed:65536kB\n" LIST2M "2048kB\n16384 pages RAM\n",
	  11, BIT(MANAGED) | BIT(PRESENT), BIT(FREE), MEMSCALE_RAM,
	  { "managed is 65536 kB, above present of 65532 kB: both are left out" } },
	{ "Node 0, zone Normal\n pages free 512\n spanned 9000\n present 9001\n managed 8000\n" ROW2M, 11,
	  BIT(SPANNED) | BIT(PRESENT), BIT(MANAGED), MEMSCALE_MANAGED,
	  { "line 4: node 0 Normal: present is 36004 kB, above spanned of 36000 kB" } },
	/* free, the list and the size: two against one, and a list that adds up is believed */
	{ "Node 0 Normal free:2048kB managed:1024kB\n" LIST2M "2048kB\n16384 pages RAM\n", 11,
	  BIT(MANAGED), BIT(FREE), MEMSCALE_RAM,
	  { "line 2: node 0 Normal: the free list holds 2048 kB, more than managed of 1024 kB: managed of the zone is left out" } },
	{ "Node 0 Normal free:1000kB managed:1024kB\n" LIST2M "2048kB\n16384 pages RAM\n", 11,
	  BIT(MANAGED), BIT(FREE), MEMSCALE_RAM, { "more than managed of 1024 kB" } },
	{ "Node 0 Normal free:1000kB managed:1024kB\n" LIST2M "1000kB\n", 0, 0, BIT(MANAGED) | BIT(FREE),
	  MEMSCALE_MANAGED,
	  { "line 2: node 0 Normal: the free list holds 2048 kB, more than managed of 1024 kB, and free: says 1000 kB: "
	    "the list is left out", "adds up to 2048 kB, and says that it is 1000 kB" } },
	{ "Node 0 Normal free:70000kB managed:65536kB\n" LIST2M "2048kB\n", 11, BIT(FREE), BIT(MANAGED),
	  MEMSCALE_MANAGED,
	  { "line 1: node 0 Normal: free is 70000 kB, above managed of 65536 kB: it is left out, and the free list, which fits, is taken" } },
	{ "Node 0 Normal free:70000kB present:65536kB\nNode 0 Normal: 2*4kB 1*8kB\n16384 pages RAM\n", 2,
	  BIT(PRESENT), BIT(FREE), MEMSCALE_ASSUMED,
	  { "free is 70000 kB, above present of 65536 kB: the latter is left out" } },
	/* no zone has more than is present in it, also where the list adds up */
	{ "Node 0 Normal free:1000kB present:1024kB managed:1020kB\n" LIST2M "2048kB\n16384 pages RAM\n", 0, 0,
	  BIT(FREE) | BIT(PRESENT) | BIT(MANAGED), MEMSCALE_MANAGED,
	  { "line 2: node 0 Normal: the free list holds 2048 kB, more than present of 1024 kB, and free: says 1000 kB: "
	    "the list is left out" } },
	{ "Node 0, zone Normal\n spanned 500\n" ROW2M, 0, 0, BIT(SPANNED), MEMSCALE_ASSUMED,
	  { "line 3: node 0 Normal: the free list holds 2048 kB, more than spanned of 2000 kB: the list is left out" } },
	/* a balloon's managed pages: those present are taken in their stead */
	{ "Node 0 Normal free:2048kB present:65536kB managed:1024kB\n" LIST2M "2048kB\n", 11, BIT(MANAGED),
	  BIT(FREE) | BIT(PRESENT), MEMSCALE_MANAGED,
	  { "more than managed of 1024 kB: managed of the zone is left out" } },
	/* 3.2: the memory map is not of what is present, and may be free */
	{ "Node 0 Normal free:2048kB present:2040kB\n" LIST2M "2048kB\n16384 pages RAM\n", 11, BIT(PRESENT),
	  BIT(FREE), MEMSCALE_RAM, { "more than present of 2040 kB: present of the zone is left out" } },
	{ "Node 0 Normal free:2048kB high:1470kB managed:65536kB\n" LIST2M "2048kB\n", 11, 0,
	  BIT(HIGH) | BIT(FREE), MEMSCALE_MANAGED,
	  { "line 1: node 0 Normal: high of 1470 kB is no whole number of pages of 4 kB: it is taken for 1468 kB" } },
	{ "Node 0 Normal free:2048kB managed:65536kB free_cma:4096kB\n" LIST2M "2048kB\n", 11,
	  BIT(FREE_CMA), BIT(FREE), MEMSCALE_MANAGED,
	  { "free_cma is 4096 kB, above free of 2048 kB: it is left out" } },
	/* the machine */
	{ LIST2M "2048kB\n511 pages RAM\n", 11, 0, 0, MEMSCALE_ASSUMED,
	  { "the free lists hold 2048 kB, more than the RAM of 2044 kB: the latter is left out" } },
	{ "Node 0 Normal free:2048kB managed:65536kB\n" LIST2M "2048kB\n16383 pages RAM\n", 11, 0,
	  BIT(MANAGED), MEMSCALE_MANAGED, { "the managed pages are 65536 kB, more than the RAM of 65532 kB" } },
	{ LIST2M "2048kB\n16384 pages RAM\n16385 pages reserved\n", 11, 0, 0, MEMSCALE_RAM,
	  { "pages_reserved of the machine is 65540 kB, more than its RAM of 65536 kB: it is left out" } },
	{ ROW2M "MemTotal: 2047 kB\n", 11, 0, 0, MEMSCALE_ASSUMED, { "It is left out" } },
	/* pageblocks: 2048 kB each */
	{ "Page block order: 9\n" ROW2M "Node 0, zone DMA 512 128" ZEROS9 "\n"
	  "Number of blocks type Unmovable Movable\nNode 0, zone Normal 1 0\nNode 0, zone DMA 0 0\n",
	  11, 0, 0, MEMSCALE_ASSUMED,
	  { "2048 kB of pageblocks cannot be, with 5120 kB in the free lists: they are left out" } },
	{ "Page block order: 9\n" ROW2M "16384 pages RAM\nNumber of blocks type Unmovable Movable\n"
	  "Node 0, zone Normal 40 60\n", 11, 0, 0, MEMSCALE_RAM,
	  { "204800 kB of pageblocks cannot be, with 2048 kB in the free lists and the RAM that there is" } },
	{ "Page block order: 19\n" ROW2M "Number of blocks type Unmovable Movable\n"
	  "Node 0, zone Normal 4294967295 4294967295\n", 11, 0, 0, MEMSCALE_ASSUMED,
	  { "kB of pageblocks cannot be" } },
	{ "Page block order: 63\n" ROW2M, 11, 0, 0, MEMSCALE_ASSUMED, { "pageblocks of order 63 are nonsense" } },
	/* 99999999 * 2 MiB, 34359738368 * 4 kB: no machine has 128 TiB, and less is left as it is */
	{ "Page block order: 9\n" ROW2M "Number of blocks type Unmovable Movable\nNode 0, zone Normal 99999999 0\n",
	  11, 0, 0, MEMSCALE_ASSUMED,
	  { "line 4: 204799997952 kB of pageblocks cannot be, with 2048 kB in the free lists, on no machine" } },
	{ ROW2M "34359738368 pages RAM\n", 11, 0, 0, MEMSCALE_ASSUMED,
	  { "line 2: pages_ram is 137438953472 kB, more than any machine has: it is left out" } },
	{ ROW2M "34359738367 pages RAM\n", 11, 0, 0, MEMSCALE_RAM, { NULL } },
	{ ROW2M "MemTotal: 137438953472 kB\n", 11, 0, 0, MEMSCALE_ASSUMED, { "meminfo_kb is 137438953472 kB, more" } },
	{ "Node 0, zone Normal\n pages free 512\n managed 34359738368\n" ROW2M, 11, BIT(MANAGED), BIT(FREE),
	  MEMSCALE_ASSUMED,
	  { "line 3: node 0 Normal: managed is 137438953472 kB, more than any machine has: it is left out" } },
	{ "Node 0, zone Normal\n managed 20000000000\n" ROW2M "Node 1, zone Normal\n managed 20000000000\n", 11,
	  BIT(MANAGED), 0, MEMSCALE_ASSUMED,
	  { "the zones are 160000000000 kB, more than any machine has: their sizes are left out" } },
	{ "Node 0, zone Normal 0 0 0 0 0 0 0 0 0 0 20000000\nNode 1, zone Normal 0 0 0 0 0 0 0 0 0 0 20000000\n",
	  0, 0, 0, MEMSCALE_ASSUMED, { "the free lists hold 163840000000 kB, more than any machine has: they are left out" } },
	{ "Node 0, zone Normal 0 0 0 0 0 0 0 0 0 0 0 0 0 0 4294967295\n", 0, 0, 0, MEMSCALE_ASSUMED,
	  { "a free list of 281474976645120 kB is nonsense" } },
	/* garbage */
	{ "Node 0, zone Normal 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n", 0, 0, 0, MEMSCALE_ASSUMED,
	  { "line 1: node 0 Normal: 21 columns, more orders than any kernel has: garbage; this row is left out" } },
	{ "Node 0, zone Normal 1 4294967296 3 0 0 0 0 0 0 0 0\n", 0, 0, 0, MEMSCALE_ASSUMED,
	  { "4294967296 blocks are more than any machine has: garbage; this row is left out" } },
	{ "Node 0, zone Normal 1 99999999999999999999 3 0 0 0 0 0 0 0 0\n", 0, 0, 0, MEMSCALE_ASSUMED,
	  { "99999999999999999999 blocks are more than any machine has" } },
	{ "Node 0, zone Normal, type Unmovable 1 99999999999999999999 3 0 0 0 0 0 0 0 0\n"
	  "Node 0, zone Normal, type Isolate 0 0 0 0 0 0 0 0 0 0 0\n", 0, 0, 0, MEMSCALE_ASSUMED,
	  { "this row is left out", "its migratetypes are not added up" } },
	{ "Node 0, zone Normal, type A 4294967295 0" ZEROS9 "\nNode 0, zone Normal, type B 1 0" ZEROS9 "\n"
	  "Node 0, zone Normal, type Isolate 0 0" ZEROS9 "\n", 0, 0, 0, MEMSCALE_ASSUMED,
	  { "its migratetypes are not added up" } },
	{ "Node 0 Normal: 1*4kB 4294967296*8kB 0*16kB = 12kB\n", 0, 0, 0, MEMSCALE_ASSUMED,
	  { "more free blocks of an order than any machine has: garbage" } },
	{ "Node 0 Normal: 1*4kB 99999999999999999999*8kB 0*16kB = 12kB\n", 0, 0, 0, MEMSCALE_ASSUMED,
	  { "more free blocks of an order than any machine has: garbage" } },
	{ "Node 0 Normal: 0*4kB 0*8kB 0*16kB 0*32kB 0*64kB 0*128kB 0*256kB 0*512kB 0*1024kB 0*2048kB 0*4096kB "
	  "0*8192kB 0*16384kB 0*32768kB 0*65536kB 0*131072kB 0*262144kB 0*524288kB 0*1048576kB 0*2097152kB "
	  "1*4194304kB = 4194304kB\n", 0, 0, 0, MEMSCALE_ASSUMED, { "more orders than any kernel has: garbage" } },
	{ LIST2M "99999999999999999999kB\n", 11, BIT(LISTED), 0, MEMSCALE_ASSUMED,
	  { "listed 99999999999999999999 is nonsense, and left out" } },
	{ "Node 0 Normal free:99999999999999999999kB managed:65536kB\n" LIST2M "2048kB\n", 11, BIT(FREE),
	  BIT(MANAGED), MEMSCALE_MANAGED, { "free 99999999999999999999 is nonsense, and left out" } },
	{ LIST2M "2048kB\n99999999999999999999 pages RAM\n", 11, 0, 0, MEMSCALE_ASSUMED,
	  { "pages_ram 99999999999999999999 is nonsense, and left out" } },
	{ "Number of blocks type Unmovable\nNode 0, zone DMA 1 2 3\n" ROW2M, 11, 0, 0, MEMSCALE_ASSUMED,
	  { "line 2: node 0 DMA: 3 columns below 1 names of types: this row is left out" } },
	{ ROW2M "Number of blocks type Unmovable\nNode 0, zone Normal 1 2 3\n", 11, 0, 0, MEMSCALE_ASSUMED,
	  { "3 columns below 1 names of types: this row is left out" } },
};
/* clang-format on */

static void check_case(size_t i)
{
	struct memreport_set set;
	const struct memreport *r;
	const struct memzone *z;
	struct memscale s;

	parse_text(cases[i].text, &set);
	r = &set.report[set.best];
	z = &r->zone[0];
	for (size_t k = 0; k < 2 && cases[i].remark[k]; k++)
		if (!has_remark(&set, r, cases[i].remark[k])) {
			for (size_t n = 0; n < r->nremarks; n++)
				print_message("%s\n", r->remark[n]);
			fail_msg("case %zu: not remarked: %s", i, cases[i].remark[k]);
		}
	if (z->orders != cases[i].orders)
		fail_msg("case %zu: %u orders", i, z->orders);
	if (z->have & cases[i].gone || ~z->have & cases[i].kept)
		fail_msg("case %zu: fields 0x%x", i, z->have);
	memreport_scale(r, 1u << 30, &s);
	if (s.base != cases[i].base)
		fail_msg("case %zu: base %d", i, s.base);
	memreport_set_free(&set);
}

static void test_cases(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_case(i);
}

/* One zone's watermarks alone are no proportion of the machine's. */
static void test_min_of_all_zones(void **state)
{
	static const char *const texts[] = {
		"Node 0 Normal free:2048kB min:800kB low:1000kB high:1200kB managed:65536kB\n",
		"Node 0 Normal free:2048kB min:800kB low:700kB high:1000kB managed:65536kB\n",
	};

	for (size_t i = 0; i < 2; i++) {
		cleanup_free char *text = str_printf("%s%s2048kB\n", texts[i], LIST2M);
		struct memreport_set set;
		struct memscale s;

		parse_text(text, &set);
		memreport_scale(&set.report[0], 64u << 20, &s);
		assert_int_equal(s.min_kb, i ? 0 : 800);
		memreport_set_free(&set);
	}
}

/* Nothing is said of what is right. */
static void test_no_contradiction(void **state)
{
	struct memreport_set set;

	parse_text("Node 0 Normal free:2048kB boost:0kB min:800kB low:800kB high:800kB present:65536kB "
		   "managed:65536kB free_cma:2048kB\n" LIST2M "2048kB\n16384 pages RAM\n16384 pages reserved\n",
		   &set);
	assert_int_equal(set.report[0].nremarks, 1); /* all that is free is CMA */
	memreport_set_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_min_of_all_zones),
		cmocka_unit_test(test_no_contradiction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
