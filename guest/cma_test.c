// SPDX-License-Identifier: GPL-2.0-only
/* CMA areas as the kernel's log and its other accounts tell of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "guest/cma.h"
#include "guest/pagetype.h"

/* 6.1, as read from /dev/kmsg; 6.12 with the node; 7.3; a terminal's log. pfn = address / 4096. */
static void test_lines(void **state)
{
	static const struct {
		const char *line;
		uint64_t first, end;
	} t[] = {
		{ "6,97,0,-;cma: Reserved 64 MiB at 0x000000003bc00000\n", 0x3bc00, 0x3bc00 + 16384 },
		{ "6,97,0,-;cma: Reserved 16 MiB at 0x0000000100000000 on node -1\n", 0x100000, 0x101000 },
		{ "6,131,0,-,caller=T0;cma: Reserved 2 MiB at 0x0000000000200000\n", 512, 1024 },
		{ "<6>[    0.012345] cma: Reserved 1024 MiB at 0x80000000", 0x80000, 0xc0000 },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct cma c = { 0 };

		assert_true(cma_parse_line(&c, t[i].line));
		assert_int_equal(c.n, 1);
		assert_int_equal(c.area[0].first, t[i].first);
		assert_int_equal(c.area[0].end, t[i].end);
		assert_int_equal(c.pages, t[i].end - t[i].first);
		assert_true(cma_has(&c, t[i].first) && cma_has(&c, t[i].end - 1));
		assert_false(cma_has(&c, t[i].first - 1) || cma_has(&c, t[i].end));
	}
}

static void test_other_lines(void **state)
{
	static const char *const lines[] = {
		"",
		"cma: Reserved ",
		"6,97,0,-;cma: Reserved 64 MiB in 2 ranges\n",
		"6,97,0,-;cma: Reserved 64 MiB at 0x\n",
		"6,97,0,-;cma: Reserved 64 MiB at 0x3bc00001\n",
		"6,97,0,-;cma: Reserved 0 MiB at 0x3bc00000\n",
		"6,97,0,-;cma: Reserved -1 MiB at 0x3bc00000\n",
		"6,97,0,-;cma: Reserved 99999999999999999999 MiB at 0x3bc00000\n",
		"6,97,0,-;cma: Reserved 64 MiB at 0xffffffffffffffff\n",
		"6,97,0,-;cma: Failed to reserve 64 MiB\n",
		"6,97,0,-;cma: Reserved 64 KiB at 0x3bc00000\n",
	};
	struct cma c = { 0 };

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (cma_parse_line(&c, lines[i]))
			fail_msg("taken: %s", lines[i]);
	assert_true(!c.n && !c.pages && !cma_has(&c, 0));
	/* No more than there is room for. */
	for (int i = 0; i < CMA_AREAS_MAX; i++)
		assert_true(cma_parse_line(&c, "cma: Reserved 2 MiB at 0x200000"));
	assert_false(cma_parse_line(&c, "cma: Reserved 2 MiB at 0x200000"));
	assert_int_equal(c.n, CMA_AREAS_MAX);
}

static void test_total(void **state)
{
	assert_int_equal(cma_parse_total("MemTotal: 1000 kB\nCmaTotal:          65536 kB\nCmaFree: 1 kB\n"),
			 64 << 20);
	assert_int_equal(cma_parse_total("MemTotal: 1000 kB\nCmaTotal:              0 kB\n"), 0);
	assert_int_equal(cma_parse_total("MemTotal: 1000 kB\nHugePages_Total: 5\n"), 0);
	assert_int_equal(cma_parse_total("MemTotal: 1000 kB\nCmaTotal:"), 0);
	assert_int_equal(cma_parse_total(""), 0);
}

static void test_blocks(void **state)
{
	static const char head[] = "Page block order: 9\nPages per block:  512\n\n"
				   "Free pages count per migrate type at order       0      1\n"
				   "Node    0, zone      DMA, type          CMA      7      7\n\n";
	char text[1024];

	snprintf(text, sizeof(text), "%s%s", head,
		 "Number of blocks type     Unmovable      Movable  Reclaimable   HighAtomic          CMA      Isolate \n"
		 "Node 0, zone      DMA            1            7            0            0            0            0 \n"
		 "Node 0, zone    DMA32           46          425            1            0           32            0 \n"
		 "Node 1, zone   Normal           46          425            1            0            3            0 \n");
	assert_int_equal(pagetype_parse(text, "CMA"), 35);
	assert_int_equal(pagetype_parse(text, "HighAtomic"), 0);
	assert_int_equal(pagetype_parse(text, "Reclaimable"), 2);
	assert_int_equal(pagetype_parse(text, "Atomic"), -1);
	/* CONFIG_CMA off. */
	snprintf(text, sizeof(text), "%s%s", head,
		 "Number of blocks type     Unmovable      Movable  Reclaimable   HighAtomic      Isolate \n"
		 "Node 0, zone    DMA32           46          425            1            0            0 \n");
	assert_int_equal(pagetype_parse(text, "CMA"), -1);
	assert_int_equal(pagetype_parse(head, "CMA"), -1);
	assert_int_equal(pagetype_parse("", "CMA"), -1);
	assert_int_equal(pagetype_parse("Number of blocks type CMA", "CMA"), 0);
	assert_int_equal(pagetype_parse("Number of blocks type A CMA\nNode 0, zone", "CMA"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_other_lines),
		cmocka_unit_test(test_total),
		cmocka_unit_test(test_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
