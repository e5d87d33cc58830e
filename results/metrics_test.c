// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "results/metrics.h"
#include "results/run_fixture.h"
#include "results/util/cleanup.h"

static void take_bytes(struct edges *e, enum wire_phase phase, enum wire_edge edge,
		       const char *name, const void *data, size_t len, uint64_t ns)
{
	struct wire_sample s = { .mono_ns = ns,
				 .edge = edge,
				 .phase = phase,
				 .data = data,
				 .len = (uint32_t)len };

	snprintf(s.name, sizeof(s.name), "%s", name);
	edges_take(e, &s);
}

static void begin(struct edges *e, const char *name, const char *text)
{
	take_bytes(e, PHASE_WORKLOAD, EDGE_BEGIN, name, text, strlen(text), 1000000000);
}

static void end(struct edges *e, const char *name, const char *text)
{
	take_bytes(e, PHASE_WORKLOAD, EDGE_END, name, text, strlen(text), 3500000000);
}

static void from_file(struct edges *e, enum wire_phase phase, enum wire_edge edge, const char *name,
		      const char *file, uint64_t ns)
{
	size_t len;
	cleanup_free char *text = fixture_read(file, &len);

	take_bytes(e, phase, edge, name, text, len, ns);
}

static void expect(const struct run *r, const char *name, double value)
{
	const double *got = run_metric(r, name);

	if (!got)
		fail_msg("%s is absent", name);
	if (fabs(*got - value) > 1e-9 * fabs(value))
		fail_msg("%s is %.17g, not %.17g", name, *got, value);
}

static void expect_absent(const struct run *r, const char *name)
{
	const double *got = run_metric(r, name);

	if (got)
		fail_msg("%s is %f, and should be absent", name, *got);
}

#define BEGIN(name, file) from_file(&e, PHASE_WORKLOAD, EDGE_BEGIN, name, file, 38669469489)
#define END(name, file) from_file(&e, PHASE_WORKLOAD, EDGE_END, name, file, 47079424464)

/* One real run of 7.3.4, 8 GiB; the numbers were taken from the files by eye and by awk. */
static void test_real_run(void **state)
{
	struct edges e = { 0 };
	struct run r = { 0 };

	BEGIN("vmstat", "vmstat-7.3-begin.txt");
	END("vmstat", "vmstat-7.3-end.txt");
	from_file(&e, PHASE_COLLECT, EDGE_END, "vmstat", "vmstat-7.3-rest.txt", 48247305770);
	BEGIN("buddyinfo", "buddyinfo-7.3-begin.txt");
	END("buddyinfo", "buddyinfo-7.3-end.txt");
	BEGIN("pagetypeinfo", "pagetypeinfo-7.3-begin.txt");
	END("pagetypeinfo", "pagetypeinfo-7.3-end.txt");
	BEGIN("pressure/memory", "pressure-memory-7.3-begin.txt");
	END("pressure/memory", "pressure-memory-7.3-end.txt");
	BEGIN("mthp/2048kB", "mthp-2048kB-7.3-begin.txt");
	END("mthp/2048kB", "mthp-2048kB-7.3-end.txt");
	BEGIN("mthp/64kB", "mthp-64kB-7.3.txt");
	END("mthp/64kB", "mthp-64kB-7.3.txt");
	END("zoneinfo", "zoneinfo-7.3.txt");
	END("meminfo", "meminfo-7.3.txt");
	END("slabinfo", "slabinfo-7.3.txt");
	END("extfrag/unusable_index", "unusable-index-7.3.txt");
	END("extfrag/extfrag_index", "extfrag-index-7.3.txt");
	metrics_from_edges(&e, &r);

	expect(&r, "allocstall", 49);
	expect(&r, "compact_daemon_migrate_scanned", 225372); /* when it had come to rest */
	expect(&r, "compact_migrate_scanned", 553331);	      /* at the end of the workload */
	expect(&r, "compact_direct_migrate_scanned", 553331 - 180224);
	expect(&r, "compact_direct_free_scanned", 1518297 - 1015007);
	/* What the kernel's own total says at rest. */
	expect(&r, "compact_total_migrate_scanned", 598479);
	expect(&r, "compact_total_free_scanned", 1894176);
	expect(&r, "compact_efficiency", 100 * 14 / 26.0);
	expect(&r, "free_pages_broken", 204008 - 9728);
	expect(&r, "free_blocks_share", 100 * 9728 / 204008.0);
	expect(&r, "psi_memory_some", 1228798);
	expect(&r, "psi_memory_full_share", 100 * 1.218074 / 8.409954975);
	expect_absent(&r, "psi_io_some");

	expect(&r, "free_pages_order0", 23993 + 1380);
	expect(&r, "free_order0_DMA32", 23993);
	expect(&r, "free_order8_Normal", 323 * 256);
	expect(&r, "free_pages_order10", 9 * 1024);
	expect(&r, "free_order0_DMA32_Movable", 23993);
	expect(&r, "free_order8_DMA32_Unmovable", 256);
	expect(&r, "free_order3_Normal_Reclaimable", 0); /* there was one at the begin */
	expect_absent(&r, "free_order0_Normal_CMA");	 /* 0 at both edges */
	expect_absent(&r, "free_order0_node0_Normal");	 /* there is one node only */
	expect_absent(&r, "free_order0_node0_Normal_Movable");
	expect(&r, "blocks_Normal_Reclaimable", 6);
	expect_absent(&r, "blocks_Normal_Isolate");
	expect(&r, "free_type_DMA_Movable", 3584);
	expect(&r, "unusable_index_order9_node0_Normal", 1);
	expect(&r, "unusable_index_order1_node0_DMA32", 0.697);
	expect(&r, "extfrag_index_order9_node0_Normal", 0.918);
	expect_absent(&r, "extfrag_index_order8_node0_Normal"); /* -1.000: it would succeed */
	expect(&r, "watermark_boost_Normal", 2048);
	expect(&r, "free_blocks_DMA32", 6144);
	expect(&r, "pcp_DMA32", 138);
	expect_absent(&r, "managed_Device");
	expect(&r, "meminfo_MemAvailable", 699792);
	expect(&r, "slab_pages", 71874);
	expect(&r, "mthp_2048kB_nr_anon", 24);
	expect(&r, "mthp_nr_anon", 24);
	expect(&r, "mthp_2048kB_anon_fault_alloc", 0); /* 20, but all before the workload */
	expect(&r, "mthp_64kB_anon_fault_alloc", 0);
	expect_absent(&r, "mthp_64kB_swpout");
	expect(&r, "mthp_swpout", 0);
	/* The begin stopped counting, but levels are of the end. */
	assert_null(r.detail);
	for (size_t i = 0; i < r.nmetrics; i++)
		assert_true(isfinite(r.metric[i].value));
	assert_in_range(r.nmetrics, 350, 600);
	run_free(&r);
	edges_free(&e);
}

/* Four nodes, one zone on all of them: sums over the nodes, and each for itself. */
static void test_four_nodes(void **state)
{
	struct edges e = { 0 };
	struct run r = { 0 };

	BEGIN("buddyinfo", "buddyinfo-3.1-numa.txt");
	END("buddyinfo", "buddyinfo-3.1-numa.txt");
	metrics_from_edges(&e, &r);
	expect(&r, "free_order0_Normal", 84882); /* 8080 + 19071 + 37716 + 20015 */
	expect(&r, "free_pages_order0", 94030);	 /* and 9148 */
	expect(&r, "free_order3_Normal", 9656);	 /* 8 * (2 + 200 + 9 + 996) */
	expect(&r, "free_order0_node2_Normal", 37716);
	expect(&r, "free_order0_node0_DMA32", 9148);
	expect(&r, "free_order4_node1_Normal", 6608); /* 16 * 413 */
	expect(&r, "free_pages_order10", 3072);
	run_free(&r);
	edges_free(&e);
}

/* The layout phase of a run of 6.12.118, 1 GiB: what that kernel does not count is absent. */
static void test_older_kernel(void **state)
{
	struct edges e = { 0 };
	struct run r = { 0 };

	BEGIN("vmstat", "vmstat-6.12-begin.txt");
	END("vmstat", "vmstat-6.12-end.txt");
	END("pagetypeinfo", "pagetypeinfo-6.12.txt");
	END("zoneinfo", "zoneinfo-6.12.txt");
	metrics_from_edges(&e, &r);
	expect(&r, "pgfault", 224100 - 2655);
	expect(&r, "pgalloc_dma32", 238819 - 10867);
	expect(&r, "pageoutrun", 16);
	expect(&r, "thp_fault_alloc", 17);
	expect(&r, "thp_fault_share", 100);
	expect(&r, "nr_free_pages", 30966);
	expect(&r, "nr_foll_pin_acquired", 425);
	expect(&r, "pgscan_khugepaged", 0);
	expect_absent(&r, "nr_free_pages_blocks");
	expect_absent(&r, "free_pages_broken");
	expect_absent(&r, "free_blocks_DMA32");
	expect_absent(&r, "pgscan_proactive");
	expect(&r, "free_order0_DMA32_Movable", 24481);
	expect(&r, "free_order9_DMA32_Unmovable", 512);
	expect(&r, "blocks_DMA32_Movable", 482);
	expect(&r, "pcp_DMA32", 752 + 404);
	expect(&r, "watermark_boost_DMA32", 0);
	assert_null(r.detail);
	run_free(&r);
	edges_free(&e);
}

static void test_lower_bound(void **state)
{
	struct edges e = { 0 };
	struct run r = { 0 };

	END("pagetypeinfo", "pagetypeinfo-7.3-bound.txt");
	metrics_from_edges(&e, &r);
	expect(&r, "free_order0_Normal_Movable", 100000);
	assert_string_equal(r.detail, "lower bounds only, the kernel stopped counting: "
				      "free_order0_Normal_Movable, free_type_Normal_Movable");
	assert_true(counter_is_note(r.detail));
	run_free(&r);
	edges_free(&e);
}

/* Velocity is over the 2.5 s between the snapshots. */
static void test_window(void **state)
{
	struct edges e = { 0 };
	struct run r = { 0 };

	begin(&e, "vmstat", "pgscan_kswapd 100\npgscan_direct 0\n");
	end(&e, "vmstat", "pgscan_kswapd 1100\npgscan_direct 5\n");
	metrics_from_edges(&e, &r);
	expect(&r, "kswapd_velocity", 400);
	expect(&r, "direct_velocity", 2);
	run_free(&r);
	edges_free(&e);
}

static void test_nodes(void **state)
{
	struct edges e = { 0 };
	struct run r = { 0 };

	begin(&e, "buddyinfo",
	      "Node 2, zone Normal 0 1\nNode 10, zone Normal 0 0\n"
	      "Node 10, zone Movable 0 0\n");
	end(&e, "buddyinfo",
	    "Node 2, zone Normal 5 0\nNode 10, zone Normal 800 0\n"
	    "Node 10, zone Movable 0 7\n");
	end(&e, "pagetypeinfo",
	    "Node    2, zone   Normal, type    Movable      4      0\n"
	    "Node   10, zone   Normal, type    Movable     70      3\n");
	end(&e, "extfrag/unusable_index",
	    "Node 2, zone Normal 0.000 0.500\n"
	    "Node 10, zone Normal 0.000 1.000\n");
	metrics_from_edges(&e, &r);
	expect(&r, "free_order0_Normal", 805);
	expect(&r, "free_order0_node2_Normal", 5);
	expect(&r, "free_order0_node10_Movable", 0);
	expect(&r, "free_order1_node2_Normal", 0); /* one at the begin */
	expect_absent(&r, "free_order1_node10_Normal");
	expect(&r, "free_order1_Normal", 0);
	expect(&r, "free_order1_Movable", 14);
	expect(&r, "free_order1_Normal_Movable", 6);
	expect(&r, "free_order0_Normal_Movable", 74);
	expect(&r, "free_order0_node10_Normal_Movable", 70);
	expect(&r, "free_type_Normal_Movable", 80);
	expect(&r, "unusable_index_order1_node2_Normal", 0.5);
	expect(&r, "unusable_index_order1_node10_Normal", 1);
	run_free(&r);
	edges_free(&e);
}

static void test_backwards(void **state)
{
	struct edges e = { 0 };
	struct run r = { 0 };

	begin(&e, "pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=9\n");
	end(&e, "pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n");
	begin(&e, "mthp/64kB", "split 9\nnr_anon 5\nnew\nzswpout 2\n");
	end(&e, "mthp/64kB", "split 7\nnr_anon 3\nnew 1\nzswpout 6\n");
	end(&e, "mthp/../../etc", "split 7\n");
	metrics_from_edges(&e, &r);
	expect_absent(&r, "psi_io_some");
	expect_absent(&r, "mthp_64kB_split");
	expect_absent(&r, "mthp_64kB_new"); /* nobody knows since when */
	expect(&r, "mthp_64kB_nr_anon", 3);
	expect(&r, "mthp_64kB_zswpout", 4);
	assert_string_equal(r.detail, "counters that went backwards, left out: psi_io_some\n"
				      "counters that went backwards, left out: mthp_64kB_split");
	run_free(&r);
	edges_free(&e);
}

/* kcompactd scanned more until it came to rest than the workload's total says: no false alarm. */
static void test_daemon_alone(void **state)
{
	struct edges e = { 0 };
	struct run r = { 0 };

	begin(&e, "vmstat", "compact_migrate_scanned 0\ncompact_daemon_migrate_scanned 0\n");
	end(&e, "vmstat", "compact_migrate_scanned 10\ncompact_daemon_migrate_scanned 10\n");
	take_bytes(&e, PHASE_COLLECT, EDGE_END, "vmstat",
		   "compact_migrate_scanned 25\ncompact_daemon_migrate_scanned 25\n", 61, 9);
	metrics_from_edges(&e, &r);
	expect(&r, "compact_direct_migrate_scanned", 0);
	expect(&r, "compact_daemon_migrate_scanned", 25);
	expect(&r, "compact_total_migrate_scanned", 25);
	assert_null(r.detail);
	run_free(&r);
	edges_free(&e);
}

static void test_bounds(void **state)
{
	cleanup_free char *large = xcalloc(1, 9 << 20);
	cleanup_strbuf struct strbuf rows = STRBUF_INIT;
	struct edges e = { 0 };
	struct run r = { 0 };

	for (int i = 0; i < 1000; i++) {
		cleanup_free char *name = str_printf("mthp/%dkB", i);

		begin(&e, name, "split 1\n");
	}
	assert_int_equal(e.begin.n, 256);
	take_bytes(&e, PHASE_WORKLOAD, EDGE_END, "slabinfo", large, 9 << 20, 1);
	take_bytes(&e, PHASE_WORKLOAD, EDGE_END, "zoneinfo", large, 9 << 20, 1);
	assert_non_null(samples_find(&e.end, "slabinfo"));
	assert_null(samples_find(&e.end, "zoneinfo"));
	/* The same again takes the place of the first. */
	take_bytes(&e, PHASE_WORKLOAD, EDGE_END, "slabinfo", large, 9 << 20, 1);
	assert_int_equal(e.end.n, 1);
	/* Of other phases, and of the series, nothing. */
	take_bytes(&e, PHASE_LAYOUT, EDGE_END, "buddyinfo", large, 5, 1);
	take_bytes(&e, PHASE_WORKLOAD, EDGE_NONE, "buddyinfo", large, 5, 1);
	take_bytes(&e, PHASE_COLLECT, EDGE_END, "buddyinfo", large, 5, 1);
	assert_int_equal(e.end.n, 1);
	assert_int_equal(e.rest.n, 0);

	for (int i = 0; i < 4000; i++) {
		strbuf_addf(&rows, "Node %d, zone Z%d", i % 9999, i);
		for (int o = 0; o < 20; o++)
			strbuf_adds(&rows, " 7");
		strbuf_adds(&rows, "\n");
	}
	end(&e, "buddyinfo", rows.data);
	metrics_from_edges(&e, &r);
	assert_in_range(r.nmetrics, 1000, 8192);
	run_free(&r);
	edges_free(&e);
}

static void test_workload(void **state)
{
	struct run r = { 0 };

	metrics_from_workload("{\"metrics\":{\"files\":5,\"bad\":\"7\",\"time\":1.5},\"files\":9}",
			      &r);
	assert_int_equal(r.nmetrics, 2);
	expect(&r, "files", 5);
	expect(&r, "time", 1.5);
	metrics_from_workload(NULL, &r);
	metrics_from_workload("[1", &r);
	metrics_from_workload("7", &r);
	assert_int_equal(r.nmetrics, 2);
	run_free(&r);
}

/* Damaged files of every kind under every name. */
static void test_mutated(void **state)
{
	static const char *const name[] = {
		"vmstat",    "buddyinfo",	"pagetypeinfo",
		"zoneinfo",  "meminfo",		"slabinfo",
		"mthp/64kB", "pressure/memory", "extfrag/unusable_index"
	};
	static const char *const file[] = { "vmstat-7.3-end.txt",
					    "buddyinfo-7.3-end.txt",
					    "pagetypeinfo-7.3-begin.txt",
					    "zoneinfo-2.6.16.txt",
					    "meminfo-7.3.txt",
					    "slabinfo-7.3.txt",
					    "mthp-64kB-7.3.txt",
					    "pressure-memory-7.3-end.txt",
					    "unusable-index-7.3.txt" };

	srand(3);
	for (int round = 0; round < 60; round++) {
		struct edges e = { 0 };
		struct run r = { 0 };

		for (size_t i = 0; i < 2 * ARRAY_SIZE(name); i++) {
			size_t k = i % ARRAY_SIZE(name), len;
			cleanup_free char *text = fixture_read(
				file[rand() % 4 ? k : (size_t)rand() % ARRAY_SIZE(file)], &len);

			for (int m = rand() % 30; m > 0; m--)
				text[(size_t)rand() % len] = (char)rand();
			take_bytes(&e, PHASE_WORKLOAD, i < ARRAY_SIZE(name) ? EDGE_BEGIN : EDGE_END,
				   name[k], text, rand() % 3 ? len : (size_t)rand() % len,
				   (uint64_t)rand());
		}
		metrics_from_edges(&e, &r);
		for (size_t i = 0; i < r.nmetrics; i++)
			assert_true(isfinite(r.metric[i].value) && r.metric[i].value >= 0);
		run_free(&r);
		edges_free(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real_run),  cmocka_unit_test(test_lower_bound),
		cmocka_unit_test(test_window),	  cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_backwards), cmocka_unit_test(test_daemon_alone),
		cmocka_unit_test(test_bounds),	  cmocka_unit_test(test_workload),
		cmocka_unit_test(test_mutated),	  cmocka_unit_test(test_older_kernel),
		cmocka_unit_test(test_four_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
