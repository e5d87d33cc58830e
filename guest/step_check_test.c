// SPDX-License-Identifier: GPL-2.0-only
/* What each step refuses before the boot, and what it must let pass. */
#include "guest/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "guest/expr_truth.h"
#include "guest/job.h"

#define GIB (1ull << 30)
#define MIB (1ull << 20)

static const uint64_t two_nodes[] = { GIB, GIB };
static const uint64_t hole[] = { 512 * MIB, 0, 512 * MIB };
static const uint64_t large[] = { 4 * GIB, 2 * GIB };

/* Guests; what the step before has left is a matter of the test. */
static const struct step_context plain = { .memory_bytes = GIB };
static const struct step_context held = { .memory_bytes = GIB, .held = true };
static const struct step_context cached = { .memory_bytes = GIB, .cache = true };
static const struct step_context movable = { .memory_bytes = GIB, .movable = true };
static const struct step_context numa = { .memory_bytes = 2 * GIB,
					  .node_bytes = two_nodes,
					  .nnodes = 2 };
static const struct step_context memoryless = { .memory_bytes = GIB,
						.node_bytes = hole,
						.nnodes = 3 };
static const struct step_context far = { .memory_bytes = 6 * GIB,
					 .node_bytes = large,
					 .nnodes = 2 };

struct row {
	const struct step_context *c;
	const char *line;	 /* of a job, behind "step do=" */
	const char *param, *why; /* NULL: good */
	bool of_memory;
};

static void check(const struct row *r)
{
	struct step_fault f = { .param = "untouched" };
	const struct layout_step *step;
	const struct job_line *line;
	char text[256];
	struct job job;
	int bad, ret;

	strcpy(text, "step do=");
	strcat(text, r->line);
	strcat(text, "\n");
	assert_int_equal(job_parse(&job, text, &bad), 0);
	line = job_next(&job, NULL, "step");
	step = layout_step_find(job_get(line, "do"));
	ret = step->check(line, r->c, &f);
	job_free(&job);
	if (!r->why) {
		if (ret != 0)
			fail_msg("%s: %s", r->line, f.why);
		return;
	}
	if (ret != -1)
		fail_msg("%s: taken", r->line);
	if (!strstr(f.why, r->why))
		fail_msg("%s: \"%s\" lacks \"%s\"", r->line, f.why, r->why);
	assert_int_equal(f.of_memory, r->of_memory);
	if (r->param)
		assert_string_equal(f.param, r->param);
	else
		assert_null(f.param);
}

/* 1 GiB are 1073741824 bytes, 512 pageblocks and 262144 pages. */
static void test_fill(void **state)
{
	static const struct row t[] = {
		{ &plain, "fill leave_unit=bytes leave=1073741823" },
		{ &plain, "fill leave_unit=bytes leave=1073741824", "leave",
		  "leave is 1G, which is all that the guest has: the fill would take nothing; leave less", true },
		{ &plain, "fill leave_unit=bytes leave=1073741825", "leave",
		  "leave is 1073741825, and the guest has 1G; leave less, or give it more memory",
		  true },
		{ &plain, "fill leave_unit=bytes leave=9223372036854775807", "leave",
		  "and the guest has 1G", true },
		{ &plain, "fill leave_unit=bytes leave=1610612736", "leave", "leave is 1536M, and",
		  true },
		{ &plain, "fill leave_unit=blocks leave=511" },
		{ &plain, "fill leave_unit=blocks leave=0" },
		{ &plain, "fill leave_unit=blocks leave=512", "leave",
		  "leave is 512 pageblocks of 2M, which is all that the guest has", true },
		{ &plain, "fill leave_unit=bytes leave=0", "leave",
		  "leave is 0, and a guest cannot go on with less than 1M of free memory; leave {high: 2}, say" },
		{ &plain, "fill leave_unit=bytes leave=1048575", "leave", "leave is 1048575, and" },
		{ &plain, "fill leave_unit=bytes leave=1048576" },
		{ &plain, "fill leave_unit=percent leave=0", "leave", "leave is 0%, and" },
		{ &plain, "fill leave_unit=percent leave=1" },
		{ &plain, "fill leave_unit=high leave=0", "leave", "leave is 0 times the high watermarks" },
		{ &plain, "fill zone=dma32 leave_unit=bytes leave=0" },
		{ &plain, "fill leave_unit=blocks leave=513", "leave",
		  "leave is 513 pageblocks of 2M, and the guest has 512; leave less", true },
		/* 2^43 + 1 blocks of 2^21 bytes would be 2^21 bytes in 64 bits. */
		{ &plain, "fill leave_unit=blocks leave=8796093022209", "leave",
		  "8796093022209 pageblocks", true },
		{ &plain, "fill leave_unit=percent leave=99" },
		{ &plain, "fill leave_unit=percent leave=100", "leave",
		  "leave is 100%, which is all that the guest has" },
		{ &plain, "fill zone=dma32 leave_unit=percent leave=100", "leave", "leave is 100%" },
		{ &plain, "fill leave_unit=high leave=10000" },
		{ &plain, "fill leave_unit=high leave=10001", "leave",
		  "10001 times the high watermarks" },
		{ &plain, "fill kind=slab zone=dma leave_unit=bytes leave=0", NULL,
		  "zone goes with anon and thp alone" },
		{ &plain, "fill kind=thp zone=dma32 leave_unit=bytes leave=0" },
		{ &plain, "fill zone=dma leave_unit=bytes leave=16777215" },
		{ &plain, "fill zone=dma leave_unit=bytes leave=16777216", "leave",
		  "leave is 16M, which is all that zone dma has" },
		{ &plain, "fill zone=dma leave_unit=bytes leave=16777217", "leave",
		  "and zone dma has 16M; leave less" },
		{ &plain, "fill zone=dma leave_unit=blocks leave=9", "leave",
		  "9 pageblocks of 2M, and zone dma has 8" },
		{ &plain, "fill zone=movable leave_unit=bytes leave=0", "zone",
		  "this guest has no zone movable; give it one with vm: {movablecore: SIZE}" },
		{ &movable, "fill zone=movable leave_unit=bytes leave=0" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		check(&t[i]);
}

static void test_fill_of_node(void **state)
{
	static const struct row t[] = {
		{ &plain, "fill node=0 leave_unit=bytes leave=0" },
		{ &plain, "fill node=1 leave_unit=bytes leave=0", "node",
		  "there is no node 1: this guest has one node, 0; list its nodes in vm: {numa: [...]}" },
		{ &numa, "fill node=1 leave_unit=bytes leave=1073741823" },
		{ &numa, "fill node=1 leave_unit=bytes leave=1073741824", "leave", "all that node 1 has" },
		{ &numa, "fill node=2 leave_unit=bytes leave=0", "node",
		  "there is no node 2: vm: numa has 2 nodes, 0 to 1" },
		{ &numa, "fill node=1023 leave_unit=bytes leave=0", "node",
		  "there is no node 1023" },
		{ &numa, "fill node=1 leave_unit=bytes leave=1073741825", "leave",
		  "and node 1 has 1G; leave less" },
		{ &numa, "fill node=0 leave_unit=blocks leave=513", "leave",
		  "and node 0 has 512; leave less" },
		{ &numa, "fill leave_unit=blocks leave=1023" },
		{ &memoryless, "fill node=1 leave_unit=bytes leave=0", "node",
		  "node 1 has no memory in vm: numa" },
		{ &memoryless, "fill node=2 leave_unit=bytes leave=0" },
		{ &numa, "fill node=0 zone=dma leave_unit=bytes leave=0" },
		{ &numa, "fill node=1 zone=dma leave_unit=bytes leave=0", "zone",
		  "node 1 has no zone dma: its memory lies in dma32" },
		{ &numa, "fill node=1 zone=dma32 leave_unit=bytes leave=0" },
		{ &far, "fill node=1 zone=dma32 leave_unit=bytes leave=0", "zone",
		  "node 1 has no zone dma32: its memory lies in normal" },
		{ &far, "fill node=1 zone=normal leave_unit=bytes leave=0" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		check(&t[i]);
}

#define NOT_HELD "no step before it takes pages of the layout's own, so there is nothing to be "

static void test_own_pages(void **state)
{
	static const struct row t[] = {
		{ &plain, "pin", NULL,
		  NOT_HELD "pinned; put fill: {kind: anon, leave: ...} before it" },
		{ &plain, "free share=1", NULL, NOT_HELD "given back" },
		{ &plain, "age operations=1", NULL, NOT_HELD "given back" },
		{ &held, "pin" },
		{ &held, "age operations=1" },
		{ &held, "pin count=512" },
		{ &held, "pin count=513", "count",
		  "count is 513, and the guest has 512 pageblocks; ask for fewer, or give it more memory",
		  true },
		{ &held, "pin per=page count=262144" },
		{ &held, "pin per=page count=262145", "count", "and the guest has 262144 pages",
		  true },
		{ &held, "pin except=511" },
		{ &held, "pin except=512", "except",
		  "except is 512, and the guest has 512 pageblocks", true },
		{ &held, "pin per=page except=512", "except",
		  "except goes with per: pageblock, and per is page; leave one of them out" },
		{ &held, "pin per=page except=0 at=first" },
		{ &held, "pin per=page at=last", "at", "at goes with per: pageblock, and per is page" },
		{ &held, "pin per=pageblock at=last except=3" },
		{ &held, "pin share=0", "share", "share is 0, which would pin nothing; leave the step out" },
		{ &held, "free share=0", "share", "share is 0, which would free nothing" },
		{ &held, "free count=0", "count", "count is 0, which would free nothing" },
		{ &held, "free", NULL, "which pages? give where, count or share; share: 100% are all" },
		{ &held, "free share=1000000" },
		{ &held, "pin count=1 share=10", NULL, "count and share: give one of them" },
		{ &held, "free where=1 count=262144" },
		{ &held, "free where=1 count=262145", "count",
		  "count is 262145, and the guest has 262144 pages", true },
		{ &held, "free where=1 count=0 share=10", NULL,
		  "count and share: give one of them" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		check(&t[i]);
}

static void test_others(void **state)
{
	static const struct row t[] = {
		/* 255 blocks of 1024 pages, and 1024 single ones: all of the 262144 pages. */
		{ &plain, "shape order0=1024 order10=255" },
		{ &plain, "shape order0=1025 order10=255", "order10",
		  "the orders add up to 262145 free pages, and the guest of 1G has 262144 in all; ask for fewer",
		  true },
		{ &plain, "shape order0=262145", "order0", "262145 free pages", true },
		{ &plain, "shape order10=1073741824 order9=1073741824", "order10",
		  "1649267441664 free pages", true },
		{ &plain, "shape order0=2047", NULL, "fewer than 2048 free pages" },
		{ &cached, "reclaim bytes=1073741824" },
		{ &cached, "reclaim bytes=1073741825", "bytes",
		  "bytes is 1073741825, and the guest has 1G; ask for less", true },
		{ &plain, "mix how=dentries kind=unmovable", "how",
		  "how is dentries, and kind unmovable: packet, pipes and pagetables give unmovable pages, dentries "
		  "reclaimable ones; leave kind out" },
		{ &plain, "mix how=pipes kind=reclaimable", "how", "how is pipes, and kind reclaimable: " },
		{ &plain, "mix how=dentries" },
		{ &plain, "mix how=dentries kind=reclaimable" },
		{ &plain, "mix how=auto kind=reclaimable" },
		{ &plain, "mix how=pipes kind=unmovable" },
		{ &plain, "mix share=0", "share", "share is 0, which would put the kernel's pages nowhere" },
		{ &plain, "mix how=pagetables order=2", "order", "order goes with packet alone" },
		{ &plain, "mix how=dentries order=2", "order", "order goes with packet alone" },
		{ &plain, "mix how=packet order=2" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		check(&t[i]);
}

/* What the guest is like behind the steps, one a line. */
static struct step_context after(const struct step_context *from, const char *text)
{
	struct step_context c = *from;
	const struct job_line *line = NULL;
	struct job job;
	int bad;

	assert_int_equal(job_parse(&job, text, &bad), 0);
	while ((line = job_next(&job, line, "step"))) {
		const struct layout_step *step = layout_step_find(job_get(line, "do"));

		if (step->after)
			step->after(line, &c);
	}
	job_free(&job);
	return c;
}

static bool holds(const char *step)
{
	char text[64] = "step do=";

	strcat(strcat(text, step), "\n");
	return after(&plain, text).held;
}

static void test_holds(void **state)
{
	assert_true(holds("fill"));
	assert_true(holds("fill kind=anon"));
	assert_true(holds("fill kind=thp"));
	assert_true(holds("shape order0=5000"));
	assert_false(holds("fill kind=file"));
	assert_false(holds("fill kind=shmem"));
	assert_false(holds("fill kind=slab"));
	assert_false(holds("fill kind=hugetlb"));
	assert_false(holds("mix share=10"));
	assert_false(holds("reclaim bytes=4096"));
	assert_false(holds("compact"));
}

/* A reclaim behind the steps: "" where it can be had. */
static void reclaims(const struct step_context *from, const char *steps, bool can)
{
	const struct step_context c = after(from, steps);
	const struct row r = { &c, "reclaim bytes=4096", NULL,
			       can ? NULL : "there is nothing to reclaim: the guest has no swap, and no step before it "
					    "fills page cache; give it vm: {swap: {size: 512M}}, or put fill: {kind: "
					    "file, leave: ...} before" };

	check(&r);
}

static void test_reclaim(void **state)
{
	static const struct step_context swap = { .memory_bytes = GIB, .swap = true };

	reclaims(&plain, "", false);
	reclaims(&swap, "", true);
	reclaims(&swap, "step do=fill kind=anon leave=1\n", true);
	reclaims(&plain, "step do=fill kind=anon leave=1\n", false);
	reclaims(&plain, "step do=fill kind=shmem leave=1\n", false);
	reclaims(&plain, "step do=fill kind=slab leave=1\n", false);
	reclaims(&plain, "step do=fill kind=file leave=1\n", true);
	reclaims(&plain, "step do=fill kind=file leave=1\nstep do=fill kind=anon leave=1\n", true);
	reclaims(&plain, "step do=mix kind=unmovable share=1\n", false);
	reclaims(&plain, "step do=mix kind=reclaimable share=1\n", true);
	reclaims(&plain, "step do=mix how=dentries share=1\n", true);
	reclaims(&plain, "step do=mix how=packet share=1\n", false);
}

#define FILL(unit, n) "step do=fill leave_unit=" unit " leave=" n "\n"

/* A second fill behind the steps; `left` is what the first has left, or NULL where it is good. */
static void fills(const char *steps, const char *fill, const char *left)
{
	const struct step_context c = after(&plain, steps);
	char why[100] = "and a fill before has left ";
	const struct row r = { &c, fill, "leave", left ? strcat(why, left) : NULL };

	check(&r);
}

static void test_second_fill(void **state)
{
	fills(FILL("bytes", "67108864"), "fill leave_unit=bytes leave=67108864", NULL);
	fills(FILL("bytes", "67108864"), "fill leave_unit=bytes leave=67112960", "64M: there is nothing to take");
	fills(FILL("percent", "20"), "fill leave_unit=percent leave=21", "20%");
	fills(FILL("high", "3"), "fill leave_unit=high leave=4", "3 times the high watermarks");
	fills(FILL("blocks", "40"), "fill leave_unit=blocks leave=41", "40 pageblocks of 2M");
	fills(FILL("blocks", "40"), "fill kind=thp leave_unit=blocks leave=40", NULL);
	/* 33 blocks are 66 MiB. Half of 13 % of 1 GiB is more than 64 MiB, of 12 % it is not. */
	fills(FILL("bytes", "67108864"), "fill leave_unit=blocks leave=33", "64M");
	fills(FILL("bytes", "67108864"), "fill leave_unit=blocks leave=32", NULL);
	fills(FILL("bytes", "67108864"), "fill leave_unit=percent leave=13", "64M");
	fills(FILL("bytes", "67108864"), "fill leave_unit=percent leave=12", NULL);
	/* 10 % of 1 GiB are 102.4 MiB at the most. */
	fills(FILL("percent", "10"), "fill leave_unit=bytes leave=108003328", "10%");
	fills(FILL("percent", "10"), "fill leave_unit=bytes leave=106954752", NULL);
	/* Whole blocks say nothing of single pages, and watermarks are the kernel's. */
	fills(FILL("blocks", "4"), "fill leave_unit=bytes leave=536870912", NULL);
	fills(FILL("high", "1"), "fill leave_unit=percent leave=50", NULL);
	fills(FILL("bytes", "67108864"), "fill leave_unit=high leave=4", NULL);
	/* What gives back in between, what takes, and what fills a part. */
	fills(FILL("percent", "10") "step do=free share=5\n", "fill leave_unit=percent leave=20", NULL);
	fills(FILL("percent", "10") "step do=shape order0=5000\n", "fill leave_unit=percent leave=20", NULL);
	fills(FILL("percent", "10") "step do=compact\n", "fill leave_unit=percent leave=20", NULL);
	fills(FILL("percent", "10") "step do=pin\nstep do=mix share=5\n", "fill leave_unit=percent leave=20", "10%");
	fills("step do=fill zone=dma leave=4096\n", "fill leave_unit=percent leave=20", NULL);
	fills(FILL("percent", "10"), "fill node=0 leave_unit=percent leave=20", NULL);
}

static void test_domain(void **state)
{
	static const struct step_context sizes[] = { { .memory_bytes = 256 * MIB },
						     { .memory_bytes = 2814 * MIB },
						     { .memory_bytes = 2816 * MIB, .movable = true } };
	/* 64 KiB at the beginning; a hole of 2 GiB from 2816 MiB on. */
	static const int64_t last[] = { 65535, 720383, 720896 + 524288 - 1 };
	/* Bits of dma, dma32, normal and movable. */
	static const uint64_t zones[] = { 3, 3, 0x17 };
	struct expr_domain d;

	for (size_t i = 0; i < 3; i++) {
		step_domain(&sizes[i], &d);
		assert_int_equal(d.var[EXPR_PFN].lo, 16);
		assert_int_equal(d.var[EXPR_PFN].hi, last[i]);
		assert_int_equal(d.set[EXPR_ZONE], zones[i]);
		assert_int_equal(d.set[EXPR_NODE], 1);
		assert_int_equal(d.pageblock_pages, 512);
	}
	step_domain(&memoryless, &d);
	assert_int_equal(d.set[EXPR_NODE], 5);
	assert_null(d.hint[EXPR_NODE]);
}

static void test_sizes(void **state)
{
	assert_string_equal(size_text(0).text, "0");
	assert_string_equal(size_text(1023).text, "1023");
	assert_string_equal(size_text(1024).text, "1K");
	assert_string_equal(size_text(3 * GIB / 2).text, "1536M");
	assert_string_equal(size_text(4092 * GIB).text, "4092G");
	assert_string_equal(size_text(UINT64_MAX).text, "18446744073709551615");
}

/* What does not fit is cut off, not written behind the end. */
static void test_long_text(void **state)
{
	struct step_fault f;
	char text[400];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(step_fault(&f, NULL, "%s", text), -1);
	assert_int_equal(strlen(f.why), sizeof(f.why) - 1);
	assert_int_equal(step_fault_of_memory(&f, "leave", "%s", text), -1);
	assert_true(f.of_memory && strlen(f.why) == sizeof(f.why) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fill),	  cmocka_unit_test(test_fill_of_node),
		cmocka_unit_test(test_own_pages), cmocka_unit_test(test_others),
		cmocka_unit_test(test_holds),	  cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_long_text), cmocka_unit_test(test_reclaim),
		cmocka_unit_test(test_second_fill), cmocka_unit_test(test_domain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
