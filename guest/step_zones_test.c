// SPDX-License-Identifier: GPL-2.0-only
/* Zones by the memory map of q35 and pc, worked out by hand. */
#include "guest/step_zones.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "guest/expr.h"
#include "guest/job.h"
#include "guest/registry.h"

#define GIB (1ull << 30)
#define MIB (1ull << 20)

static const uint64_t quarters[] = { 2 * GIB, GIB, 0, 3 * GIB };
static const struct step_context nodes = { .memory_bytes = 6 * GIB, .node_bytes = quarters, .nnodes = 4 };

static void test_bytes(void **state)
{
	static const struct {
		uint64_t memory, dma32, normal;
	} t[] = {
		{ 512 * MIB, 512 * MIB, 0 },
		{ 2814 * MIB, 2814 * MIB, 0 },
		/* q35 has 2 GiB below, pc all of it up to 3.5 GiB, then 3 GiB. */
		{ 2816 * MIB, 2816 * MIB, 768 * MIB },
		{ 3582 * MIB, 3582 * MIB, 1534 * MIB },
		{ 3584 * MIB, 3 * GIB, 1536 * MIB },
		{ 8 * GIB, 3 * GIB, 6 * GIB },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const struct step_context c = { .memory_bytes = t[i].memory }, m = { t[i].memory, .movable = true };

		assert_int_equal(step_zone_bytes(&c, EXPR_ZONE_DMA, -1), 16 * MIB);
		assert_int_equal(step_zone_bytes(&c, EXPR_ZONE_DMA32, -1), t[i].dma32);
		assert_int_equal(step_zone_bytes(&c, EXPR_ZONE_NORMAL, -1), t[i].normal);
		assert_int_equal(step_zone_bytes(&c, EXPR_ZONE_HIGHMEM, -1), 0);
		assert_int_equal(step_zone_bytes(&c, EXPR_ZONE_DEVICE, -1), 0);
		assert_int_equal(step_zone_bytes(&c, EXPR_ZONE_MOVABLE, -1), 0);
		assert_int_equal(step_zone_bytes(&m, EXPR_ZONE_MOVABLE, -1), t[i].memory);
		/* Node 0 of a guest without nodes is all of it. */
		assert_int_equal(step_zone_bytes(&c, EXPR_ZONE_NORMAL, 0), t[i].normal);
	}
}

/* 2 GiB lie below 4 GiB on q35, 3 on pc: node 0 does on both, node 1 on one of them, node 3 on none. */
static void test_nodes(void **state)
{
	static const uint64_t zones[] = { 3, 6, 0, 4 };

	for (int n = 0; n < 4; n++)
		assert_int_equal(step_zones(&nodes, n), zones[n]);
	assert_int_equal(step_zones(&nodes, 4), 0);
	assert_int_equal(step_zones(&nodes, -1), 7);
	assert_int_equal(step_zone_bytes(&nodes, EXPR_ZONE_NORMAL, 3), 3 * GIB);
	assert_int_equal(step_zone_bytes(&nodes, EXPR_ZONE_DMA, 1), 0);
	assert_string_equal(step_zones_text(0).text, "");
	assert_string_equal(step_zones_text(4).text, "normal");
	assert_string_equal(step_zones_text(3).text, "dma and dma32");
	assert_string_equal(step_zones_text(0x17).text, "dma, dma32, normal and movable");
	assert_string_equal(step_zones_text(0x3f).text, "dma, dma32, normal, highmem, movable and device");
}

static void fills(const struct step_context *c, const char *params, const char *param, const char *why,
		  bool of_memory)
{
	struct step_fault f = { 0 };
	char text[200] = "step do=fill ";
	struct job job;
	int bad, ret;

	strcat(strcat(text, params), "\n");
	assert_int_equal(job_parse(&job, text, &bad), 0);
	ret = layout_step_find("fill")->check(job_next(&job, NULL, "step"), c, &f);
	job_free(&job);
	assert_int_equal(ret, why ? -1 : 0);
	if (!why)
		return;
	if (!strstr(f.why, why))
		fail_msg("%s: \"%s\" lacks \"%s\"", params, f.why, why);
	assert_string_equal(f.param, param);
	assert_int_equal(f.of_memory, of_memory);
}

static void test_fill(void **state)
{
	static const struct step_context small = { .memory_bytes = 512 * MIB },
					 smallest = { .memory_bytes = 512 * MIB, .movable = true },
					 large = { .memory_bytes = 4 * GIB };

	fills(&small, "zone=normal leave_unit=bytes leave=0", "zone",
	      "this guest of 512M has no zone normal, which begins at 4G: its memory lies in dma and dma32; give it "
	      "2816M of memory or more", true);
	fills(&smallest, "zone=normal leave_unit=percent leave=5", "zone", "lies in dma, dma32 and movable; give it", true);
	fills(&small, "kind=thp zone=normal node=0 leave_unit=bytes leave=0", "zone", "no zone normal", true);
	fills(&large, "zone=normal leave_unit=bytes leave=0", NULL, NULL, false);
	/* At q35 2 GiB lie above, at pc 1 GiB. */
	fills(&large, "zone=normal leave_unit=bytes leave=2147483647", NULL, NULL, false);
	fills(&large, "zone=normal leave_unit=bytes leave=2147483648", "leave", "all that zone normal has", true);
	fills(&large, "zone=normal leave_unit=blocks leave=1025", "leave", "and zone normal has 1024; leave less", true);
	fills(&large, "zone=dma32 leave_unit=blocks leave=1537", "leave", "and zone dma32 has 1536; leave less", false);
	fills(&small, "zone=dma leave_unit=bytes leave=16777217", "leave", "and zone dma has 16M", false);
	fills(&small, "zone=dma32 leave_unit=blocks leave=257", "leave", "and the guest has 256", true);
	fills(&nodes, "node=0 zone=normal leave_unit=bytes leave=0", "zone",
	      "node 0 has no zone normal: its memory lies in dma and dma32", false);
	fills(&nodes, "node=1 zone=normal leave_unit=bytes leave=0", NULL, NULL, false);
	fills(&nodes, "node=3 zone=dma32 leave_unit=bytes leave=0", "zone", "lies in normal", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_fill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
