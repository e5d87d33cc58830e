// SPDX-License-Identifier: GPL-2.0-only
/* gfp masks, the scaled lists, and what is written of them. */
#include <jansson.h>
#include <math.h>

#include "harness/report/memreport_fixture.h"
#include "harness/scenario/node.h"

/* ---- gfp ---- */

static const struct {
	uint64_t mask;
	const char *names;
	enum memtype type;
	bool atomic, direct;
	const char *zone;
} masks[] = {
	{ 0xa20, "GFP_ATOMIC", MEMTYPE_UNMOVABLE, true, false, "Normal" },
	{ 0x40dc0, "GFP_KERNEL|__GFP_COMP|__GFP_ZERO", MEMTYPE_UNMOVABLE, false, true, "Normal" },
	{ 0x100cca, "GFP_HIGHUSER_MOVABLE", MEMTYPE_MOVABLE, false, true, "Movable" },
	{ 0x100, "__GFP_ZERO", MEMTYPE_UNMOVABLE, false, false, "Normal" },
	{ 0x401, "GFP_NOIO|GFP_DMA", MEMTYPE_UNMOVABLE, false, true, "DMA" },
	{ 0xa24, "GFP_ATOMIC|GFP_DMA32", MEMTYPE_UNMOVABLE, true, false, "DMA32" },
	{ 0x1, "GFP_NOFS|__GFP_RECLAIMABLE", MEMTYPE_RECLAIMABLE, false, true, "Normal" },
	{ 0x3d24ca, "GFP_TRANSHUGE_LIGHT|__GFP_DIRECT_RECLAIM", MEMTYPE_MOVABLE, false, true,
	  "Movable" },
	{ 0x400, "__GFP_NEVER_HEARD_OF", MEMTYPE_UNMOVABLE, false, false, "Normal" },
	/* Bare, before 4.4: WAIT 0x10, HIGH 0x20, IO 0x40, FS 0x80, NOWARN 0x200, COMP 0x4000. */
	{ 0x20, NULL, MEMTYPE_UNMOVABLE, true, false, "Normal" },
	{ 0x4020, NULL, MEMTYPE_UNMOVABLE, true, false, "Normal" },
	{ 0xd0, NULL, MEMTYPE_UNMOVABLE, false, true, "Normal" },
	{ 0x250, NULL, MEMTYPE_UNMOVABLE, false, true, "Normal" },
	{ 0x200da, NULL, MEMTYPE_MOVABLE, false, true, "Movable" },
	{ 0x1201d2, NULL, MEMTYPE_MOVABLE, false, true, "Movable" }, /* 2.6.26: MOVABLE 0x100000 */
	{ 0x4200ca | 0x10, NULL, MEMTYPE_MOVABLE, false, true, "Movable" }, /* NO_KSWAPD */
	{ 0x800d0, NULL, MEMTYPE_RECLAIMABLE, false, true, "Normal" },
	/* 4.4: DIRECT_RECLAIM 0x400000, KSWAPD_RECLAIM 0x2000000, ATOMIC 0x80000, RECLAIMABLE 0x10. */
	{ 0x24000c0, NULL, MEMTYPE_UNMOVABLE, false, true, "Normal" },
	{ 0x2080020, NULL, MEMTYPE_UNMOVABLE, true, false, "Normal" },
	{ 0x24200ca, NULL, MEMTYPE_MOVABLE, false, true, "Movable" },
	{ 0x2400050, NULL, MEMTYPE_RECLAIMABLE, false, true, "Normal" },
};

static void test_gfp(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(masks); i++) {
		struct gfp g;

		gfp_decode(masks[i].mask, masks[i].names, &g);
		if (g.type != masks[i].type || g.atomic != masks[i].atomic ||
		    g.direct_reclaim != masks[i].direct || strcmp(g.zone, masks[i].zone) != 0)
			fail_msg("0x%llx(%s): %s %d %d %s", (unsigned long long)masks[i].mask,
				 masks[i].names ? masks[i].names : "", memtype_name(g.type),
				 g.atomic, g.direct_reclaim, g.zone);
	}
}

/* ---- scaling ---- */

static void scale_text(const char *text, uint64_t memory, struct memscale *s)
{
	struct memreport_set set;

	parse_text(text, &set);
	memreport_scale(&set.report[set.best], memory, s);
	memreport_set_free(&set);
}

static void assert_blocks(const struct memscale *s, const char *want)
{
	cleanup_strbuf struct strbuf got = STRBUF_INIT;

	for (int k = 0; k < MEMSCALE_ORDERS; k++)
		strbuf_addf(&got, "%s%llu", k ? " " : "", (unsigned long long)s->blocks[k]);
	assert_string_equal(got.data, want);
}

#define REST " 0*16kB 0*32kB 0*64kB 0*128kB 0*256kB 0*512kB 0*1024kB 0*2048kB 0*4096kB"

/* 2048 of 4194304 kB; a quarter of the memory has a quarter of each. */
static void test_scale_exact(void **state)
{
	struct memscale s;

	scale_text("Node 0 Normal free:2048kB present:4300000kB managed:4194304kB\n"
		   "Node 0 Normal: 256*4kB (U) 128*8kB (U)" REST " = 2048kB\n",
		   1u << 30, &s);
	assert_int_equal(s.base, MEMSCALE_MANAGED);
	assert_int_equal(s.free_kb, 2048);
	assert_int_equal(s.pages, 128);
	assert_blocks(&s, "64 32 0 0 0 0 0 0 0 0 0");
}

/*
 * 7 pages (1, 1 and 1 blocks) become 10: shares of 10/7 blocks each; 1, 1 and 1 whole ones leave 3
 * pages, which the lower two of the equal rests fill.
 */
static void test_scale_largest_remainder(void **state)
{
	struct memscale s;

	scale_text(
		"Node 0 Normal free:28kB managed:28672kB\nNode 0 Normal: 1*4kB (U) 1*8kB (U) 1*16kB (U) "
		"0*32kB 0*64kB 0*128kB 0*256kB 0*512kB 0*1024kB 0*2048kB 0*4096kB = 28kB\n",
		10240 * 4096ull, &s);
	assert_int_equal(s.pages, 10);
	assert_blocks(&s, "2 2 1 0 0 0 0 0 0 0 0");
}

static void test_scale_bases(void **state)
{
	struct memscale s;
	char text[512];

	/* Without "managed": 16384 pages RAM = 65536 kB; 1024 of them are 1/64. */
	snprintf(text, sizeof(text),
		 "Node 0 Normal: 256*4kB (U) 0*8kB%s = 1024kB\n16384 pages RAM\n", REST);
	scale_text(text, 64u << 20, &s);
	assert_int_equal(s.base, MEMSCALE_RAM);
	assert_blocks(&s, "256 0 0 0 0 0 0 0 0 0 0");
	scale_text("MemTotal: 131072 kB\nNode 0, zone Normal 256 0 0 0 0 0 0 0 0 0 0\n", 64u << 20,
		   &s);
	assert_int_equal(s.base, MEMSCALE_MEMINFO);
	assert_blocks(&s, "128 0 0 0 0 0 0 0 0 0 0");
	/* A container's MemTotal that the free pages do not fit in. */
	scale_text("MemTotal: 512 kB\nNode 0, zone Normal 256 0 0 0 0 0 0 0 0 0 0\n", 64u << 20,
		   &s);
	assert_int_equal(s.base, MEMSCALE_ASSUMED);
	assert_int_equal(s.pages, 1024); /* 16384 / 16 */
	/* An old kernel: present, no managed. */
	scale_text("Node 0 Normal free:1024kB present:65536kB\n"
		   "Node 0 Normal: 256*4kB 0*8kB" REST " = 1024kB\n",
		   128u << 20, &s);
	assert_int_equal(s.base, MEMSCALE_MANAGED);
	assert_blocks(&s, "512 0 0 0 0 0 0 0 0 0 0");
}

/* 64 kB is order 4 of 4 kB; 8192 kB is two blocks of order 10. */
static void test_scale_page_size(void **state)
{
	struct memscale s;

	scale_text(
		"Normal free:8256kB managed:65536kB\nNormal: 1*64kB (U) 0*128kB 0*256kB 0*512kB 0*1024kB "
		"0*2048kB 0*4096kB 1*8192kB (M) 0*16384kB = 8256kB\n",
		64u << 20, &s);
	assert_int_equal(s.pages, 2064);
	assert_blocks(&s, "0 0 0 0 1 0 0 0 0 0 2");
}

/* An unmovable request cannot take CMA: what only the letter C stands beside is not rebuilt. */
static void test_scale_leaves_out_cma(void **state)
{
	struct memscale s;
	const char *zone = "Normal free:2048kB managed:65536kB\n"
			   "Normal: 256*4kB (UMC) 128*8kB (C)" REST " = 2048kB\n";
	cleanup_free char *kernel = str_printf("x: page allocation failure: order:1, "
					       "mode:0xcc0(GFP_KERNEL)\nMem-Info:\n%s",
					       zone);
	cleanup_free char *user = str_printf("x invoked oom-killer: gfp_mask=0x100cca("
					     "GFP_HIGHUSER_MOVABLE), order=0\nMem-Info:\n%s",
					     zone);

	scale_text(kernel, 64u << 20, &s);
	assert_int_equal(s.cma_kb, 1024);
	assert_blocks(&s, "256 0 0 0 0 0 0 0 0 0 0");
	scale_text(user, 64u << 20, &s);
	assert_int_equal(s.cma_kb, 0);
	assert_blocks(&s, "256 128 0 0 0 0 0 0 0 0 0");
}

/* Whatever the size, the blocks hold the pages that were asked for: all orders from 0 are in use. */
static void test_scale_keeps_total(void **state)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct memreport_set set;

	fixture_read_into(&text, "44-vm-4node-5.19rc-sysrq-m-wrapped");
	parse_text(text.data, &set);
	for (uint64_t mb = 1; mb < 100000; mb = mb * 3 + 1) {
		struct memscale s;
		uint64_t pages = 0;

		memreport_scale(&set.report[0], mb << 20, &s);
		for (int k = 0; k < MEMSCALE_ORDERS; k++)
			pages += s.blocks[k] << k;
		assert_int_equal(pages, s.pages);
		/* 15300148 of 16292348 kB */
		assert_true(s.pages * 16292348 / (mb * 256) - 15300148 + 40000 < 80000 || mb < 200);
	}
	memreport_set_free(&set);
}

static void test_mix(void **state)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct memscale s;

	/* 3 + 55 + 2 + 0 + 4 + 0 pageblocks */
	fixture_read_into(&text, "16-zynq-4.4-cma-highatomic.pagetypeinfo");
	scale_text(text.data, 1u << 30, &s);
	assert_true(s.mix[MEMTYPE_UNMOVABLE] == 3.0 / 64 && s.mix[MEMTYPE_MOVABLE] == 55.0 / 64);
	assert_true(s.mix[MEMTYPE_CMA] == 4.0 / 64);
	assert_false(s.have_mix >> MEMTYPE_RESERVE & 1);
}

/*
 * DMA 1 + 7, DMA32 171 + 309 + 24, 512 in all. Six of the unmovable and one of the reclaimable are free
 * as a whole (order 9): (172 - 6) / 512 is 32.42 %, and (24 - 1) / 512 is 4.49 %; with them 33.59 and 4.69 %.
 */
static void test_mix_is_written(void **state)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	cleanup_free char *yaml = NULL, *small = NULL, *account = NULL;
	struct memreport_set set;
	struct memscale s;
	struct memimport m = { .label = "x", .set = &set, .scale = &s };

	fixture_read_into(&text, "60-centos9-stream-5.14-zoneinfo-boost.pagetypeinfo");
	parse_text(text.data, &set);
	memreport_scale(&set.report[0], 1u << 30, &s);
	assert_true(s.held[MEMTYPE_UNMOVABLE] == 166.0 / 512);
	assert_true(s.held[MEMTYPE_RECLAIMABLE] == 23.0 / 512);
	yaml = memreport_scenario(&m);
	assert_non_null(strstr(yaml, "\n  - mix: {kind: unmovable, share: 32.42%, type_share: 33.59%}\n"
				     "  - mix: {kind: reclaimable, share: 4.49%, type_share: 4.69%}\n"
				     "  # Free blocks"));
	assert_non_null(strstr(yaml, "# Pageblocks by their type, those that are wholly free too: 33.59 % Unmovable, 61.72 % "
				     "Movable, 4.69\n#   % Reclaimable\n"));
	account = memreport_account(&m);
	assert_non_null(strstr(account, "pageblocks to hold pages of the kernel's: 32.42 % unmovable, 4.49 % reclaimable "
					"(33.59 % and 4.69 % are of the type in the report, those that are wholly free too)\n"));
	assert_non_null(strstr(yaml, "# Built: "));
	assert_null(strstr(yaml, "own kernel may stand in more"));
	assert_non_null(strstr(yaml, "\nruns: 5\nlayout:\n"));
	memreport_scale(&set.report[0], 8u << 20, &s); /* four pageblocks: none for 4.49 % */
	small = memreport_scenario(&m);
	assert_non_null(strstr(small, "unmovable, share"));
	assert_null(strstr(small, "reclaimable, share"));
	memreport_set_free(&set);
}

/* A table that lacks a zone says nothing of the machine; all unmovable: 1 / 8 + 7 / 8 * 0.97. */
static void test_mix_of_half_a_table(void **state)
{
	struct memscale s;

	scale_text("Page block order: 9\nNode 0, zone DMA 1 0 0 0 0 0 0 0 0 0 0\nNode 0, zone Normal 1 0 0 0 0 0 0 0 0 0 0\n"
		   "Number of blocks type Unmovable Movable\nNode 0, zone DMA 8 0\n",
		   1u << 30, &s);
	assert_int_equal(s.have_mix, 0);
	assert_int_equal(s.base, MEMSCALE_ASSUMED);
	scale_text("Page block order: 9\nNode 0, zone DMA 1 0 0 0 0 0 0 0 0 0 0\n"
		   "Number of blocks type Unmovable Movable\nNode 0, zone DMA 8 0\n",
		   1u << 30, &s);
	assert_true(s.mix[MEMTYPE_UNMOVABLE] == 1.0 && s.held_less);
	assert_true(fabs(s.held[MEMTYPE_UNMOVABLE] - 0.97375) < 1e-9);
	assert_int_equal(s.base, MEMSCALE_BLOCKS);
}

/*
 * Half of 512 pageblocks unmovable, in a guest of 1G of whose 512 the model gives 448 to the layout. 112
 * free blocks of order 10 need 224 of them, as pairs: chosen at random, 1 - sqrt(0.5) - 0.03 of the 448 may
 * be taken, beside the 64 of the guest's own: 1 / 8 + 7 / 8 * 0.2628932. 256 of order 9 leave
 * 1 / 8 + 7 / 8 * (1 - 256 / 448 - 0.03), 224 more than the half. Where fewer are unmovable than the guest
 * has itself, these count: 1 / 8 + 3 / 8 are more than 0.3550316, by 0.7100631.
 */
static void test_mix_leaves_room(void **state)
{
	static const struct {
		const char *orders, *types;
		double held;
		bool less;
	} cases[] = {
		{ "0 112", "256 256 0", 0.3550315663, true },
		{ "256 0", "256 256 0", 0.47375, true },
		{ "224 0", "256 256 0", 0.5, false },
		{ "0 112", "32 288 192", 0.0625 * 0.7100631326, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *text =
			str_printf("Page block order: 9\nNode 0, zone Normal 0 0 0 0 0 0 0 0 0 %s\n"
				   "Number of blocks type Unmovable Movable Reclaimable\nNode 0, zone Normal %s\n",
				   cases[i].orders, cases[i].types);
		struct memscale s;

		scale_text(text, 1u << 30, &s);
		assert_true(fabs(s.held[MEMTYPE_UNMOVABLE] - cases[i].held) < 1e-6);
		assert_int_equal(s.held_less, cases[i].less);
	}
}

/* pagetypeinfo counts every pageblock: 8 + 1016 + 31744 of 2 MiB are 64 GiB. */
static void test_scale_by_pageblocks(void **state)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct memreport_set set;
	struct memscale s;

	fixture_read_into(&text, "24-webhost-pagetypeinfo-wrapped");
	parse_text(text.data, &set);
	memreport_scale(&set.report[0], 4096ull << 20, &s);
	assert_int_equal(s.base, MEMSCALE_BLOCKS);
	assert_int_equal(s.base_kb, 67108864);
	/* 1 Mi pages by 30402316 of 67108864: 475036.2 */
	assert_int_equal(s.pages, 475036);
	memreport_set_free(&set);
}

/* ---- what is written ---- */

static void test_left_out_is_written(void **state)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	cleanup_free char *yaml = NULL;
	struct memreport_set set;
	struct memscale s;
	struct memimport m = { .label = "oom.txt", .set = &set, .scale = &s };

	/* 385*16 + 175*32 + 211*64 + 75*128 + 12*256 + 15*2048 + 1*4096 */
	fixture_read_into(&text, "50-am62x-6.6rt-cifs-oom-cma");
	parse_text(text.data, &set);
	memreport_scale(&set.report[0], 1024ull << 20, &s);
	yaml = memreport_scenario(&m);
	assert_int_equal(s.cma_kb, 72752);
	assert_non_null(strstr(yaml, "# 72752 kB more are free in CMA"));
	assert_int_equal(s.blocks[2], 0);
	memreport_set_free(&set);
}

static void test_written(void **state)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *yaml = NULL, *json = NULL, *account = NULL;
	struct memreport_set set;
	struct memscale s;
	struct memimport m = { .label = "oom.txt", .set = &set, .scale = &s };
	const struct node *shape;
	struct node *doc;
	json_t *o, *zone;

	fixture_read_into(&text, "28-cephfs-client-vm-5.4-wrapped");
	parse_text(text.data, &set);
	memreport_scale(&set.report[0], 2ull << 30, &s);
	yaml = memreport_scenario(&m);
	json = memreport_json(&m, yaml);
	account = memreport_account(&m);

	if (node_parse("y", yaml, strlen(yaml), &doc, &err) < 0)
		fail_msg("%s", err.text);
	shape = node_get(node_get(doc, "layout")->value[0], "shape");
	assert_int_equal(shape->n, MEMSCALE_ORDERS);
	assert_string_equal(node_get(shape, "order9")->text, "1");
	node_free(doc);
	/* 68804 of 8152168 kB are free: 4424.96 of 524288 pages */
	assert_non_null(strstr(yaml, "4425 free pages.\n  - shape: {order0: "));
	assert_non_null(strstr(yaml, "vm: {memory: 2G, cpus: 2}"));
	assert_non_null(strstr(yaml, "order 0, Unmovable, atomic"));

	o = json_loads(json, 0, NULL);
	assert_non_null(o);
	zone = json_array_get(json_object_get(json_object_get(o, "report"), "zones"), 1);
	assert_string_equal(json_string_value(json_object_get(zone, "zone")), "DMA32");
	assert_int_equal(
		json_integer_value(json_array_get(json_object_get(zone, "free_blocks"), 2)), 372);
	assert_string_equal(json_string_value(json_object_get(o, "scenario")), yaml);
	json_decref(o);

	assert_non_null(
		strstr(yaml, "title: the free lists of a report, page allocation failure\n"));
	assert_null(strstr(yaml, "CMA"));
	assert_non_null(strstr(account, "may not reclaim directly"));
	assert_non_null(strstr(account, " 35(UMEH) 109(UMEH) 372(UMEH)"));
	memreport_set_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gfp),
		cmocka_unit_test(test_scale_exact),
		cmocka_unit_test(test_scale_largest_remainder),
		cmocka_unit_test(test_scale_bases),
		cmocka_unit_test(test_scale_page_size),
		cmocka_unit_test(test_scale_leaves_out_cma),
		cmocka_unit_test(test_scale_keeps_total),
		cmocka_unit_test(test_mix),
		cmocka_unit_test(test_mix_is_written),
		cmocka_unit_test(test_mix_of_half_a_table),
		cmocka_unit_test(test_mix_leaves_room),
		cmocka_unit_test(test_scale_by_pageblocks),
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_left_out_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
