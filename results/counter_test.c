// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "results/counter.h"
#include "results/run_fixture.h"
#include "results/util/cleanup.h"

/* A copy that ends where the text ends: reading on is caught by the sanitizer. */
static struct vmstat parse_exact(const void *text, size_t len, int expect)
{
	char *copy = xmalloc(len ? len : 1);
	struct vmstat v;

	memcpy(copy, text, len);
	assert_int_equal(vmstat_parse(copy, len, &v), expect);
	free(copy);
	return v;
}

static struct vmstat parse(const char *text)
{
	return parse_exact(text, strlen(text), 0);
}

static struct run deltas(const char *begin, const char *end)
{
	struct vmstat b = parse(begin), e = parse(end);
	struct run r = { 0 };

	counter_deltas(&b, &e, &r);
	vmstat_free(&b);
	vmstat_free(&e);
	return r;
}

static void expect(const struct run *r, const char *name, double value)
{
	const double *got = run_metric(r, name);

	if (!got)
		fail_msg("%s is absent", name);
	if (*got != value)
		fail_msg("%s is %f, not %f", name, *got, value);
}

static void expect_absent(const struct run *r, const char *name)
{
	const double *got = run_metric(r, name);

	if (got)
		fail_msg("%s is %f, and should be absent", name, *got);
}

/* Assigning instead of summing, as others do, makes both of these 7. */
static void test_allocstall_per_zone(void **state)
{
	struct run a = deltas("allocstall_dma 0\nallocstall_dma32 100\nallocstall_normal 10\n"
			      "allocstall_movable 3\nallocstall_device 0\n",
			      "allocstall_dma 0\nallocstall_dma32 150\nallocstall_normal 1010\n"
			      "allocstall_movable 10\nallocstall_device 0\n");
	struct run b =
		deltas("allocstall_dma32 100\nallocstall_normal 10\nallocstall_movable 3\n",
		       "allocstall_dma32 150\nallocstall_normal 9010\nallocstall_movable 10\n");

	expect(&a, "allocstall", 1057);
	expect(&b, "allocstall", 9057);
	expect_absent(&a, "allocstall_normal");
	run_free(&a);
	run_free(&b);
}

static void test_eras(void **state)
{
	/* Before 3.5: pgsteal_ZONE is both, kswapd_steal is kswapd's part. */
	struct run old =
		deltas("pgsteal_dma 0\npgsteal_normal 1000\nkswapd_steal 200\nallocstall 4\n"
		       "pgscan_direct_dma 1\npgscan_direct_normal 2\nthp_split 1\n"
		       "compact_pages_moved 10\ncompact_pagemigrate_failed 5\n",
		       "pgsteal_dma 100\npgsteal_normal 5000\nkswapd_steal 3200\nallocstall 9\n"
		       "pgscan_direct_dma 11\npgscan_direct_normal 22\nthp_split 4\n"
		       "compact_pages_moved 30\ncompact_pagemigrate_failed 6\n");
	struct run mid = deltas("pgsteal_kswapd_normal 0\npgsteal_direct_normal 0\n"
				"pgscan_direct_normal 0\npgscan_direct_throttle 0\n",
				"pgsteal_kswapd_normal 5\npgsteal_direct_normal 6\n"
				"pgscan_direct_normal 7\npgscan_direct_throttle 100\n");
	struct run now =
		deltas("pgscan_direct 0\npgscan_khugepaged 0\npgscan_proactive 0\n"
		       "workingset_refault_anon 0\nworkingset_refault_file 0\npgfault 10\n"
		       "pgmajfault 5\n",
		       "pgscan_direct 1\npgscan_khugepaged 20\npgscan_proactive 300\n"
		       "workingset_refault_anon 4\nworkingset_refault_file 40\npgfault 110\n"
		       "pgmajfault 25\n");

	expect(&old, "pgsteal_kswapd", 3000);
	expect(&old, "pgsteal_direct", 1100);
	expect(&old, "allocstall", 5);
	expect(&old, "pgscan_direct", 30);
	expect(&old, "thp_split_page", 3);
	expect(&old, "pgmigrate_success", 20);
	expect(&old, "pgmigrate_fail", 1);
	expect_absent(&old, "workingset_refault");
	expect(&mid, "pgsteal_kswapd", 5);
	expect(&mid, "pgsteal_direct", 6);
	expect(&mid, "pgscan_direct", 7);
	expect(&mid, "pgscan_direct_throttle", 100);
	expect(&now, "pgscan_direct", 1);
	expect(&now, "pgscan_not_kswapd", 321);
	expect(&now, "workingset_refault", 44);
	expect(&now, "workingset_refault_file", 40);
	expect(&now, "minor_faults", 80);
	run_free(&old);
	run_free(&mid);
	run_free(&now);
}

static void test_levels_and_unknown(void **state)
{
	struct run r = deltas("nr_free_pages 1000\nnr_vendor 70\nvendor_event 5\nstill 9\n"
			      "nr_vmscan_write 3\nonly_before 1\npgfault 1\n",
			      "nr_free_pages 400\nnr_vendor 50\nvendor_event 8\nstill 9\n"
			      "nr_vmscan_write 10\nonly_after 1\npgfault 1\n");

	expect(&r, "nr_free_pages", 400);
	expect(&r, "nr_vendor", 50);
	expect(&r, "vendor_event", 3);
	expect(&r, "still", 0);
	expect(&r, "nr_vmscan_write", 7);
	expect_absent(&r, "only_before");
	expect_absent(&r, "only_after");
	expect(&r, "pgfault", 0);
	assert_null(r.detail);
	run_free(&r);
}

static void test_backwards(void **state)
{
	struct vmstat b =
		parse("allocstall_normal 10\nallocstall_movable 5\npgfree 9\nodd 3\npgfault 1\n");
	struct vmstat e =
		parse("allocstall_normal 9\nallocstall_movable 7\npgfree 9\nodd 1\npgfault 4\n");
	struct run r = { .detail = xstrdup("layout ok") };

	counter_deltas(&b, &e, &r);
	expect_absent(&r, "allocstall");
	expect_absent(&r, "odd");
	expect(&r, "pgfault", 3);
	assert_string_equal(r.detail, "layout ok\ncounters that went backwards, left out: "
				      "allocstall (allocstall_normal), odd");
	vmstat_free(&b);
	vmstat_free(&e);
	run_free(&r);
}

static void test_hostile(void **state)
{
	size_t huge = 1U << 20;
	char *line = xmalloc(huge);
	struct vmstat v;
	struct strbuf many = STRBUF_INIT;

	v = parse("good 18446744073709551615\nneg -5\nover 18446744073709551616\nhex 0x10\nempty\n"
		  "blank \n lead 1\ntwo 1 2\ngood 7\nplus +1\nbad\x01key 3\ncr 4\r\n"
		  "tail 9223372036854775808\ncut 12");
	assert_int_equal(v.n, 3);
	assert_null(vmstat_get(&v, "cut")); /* may be 123 */
	assert_true(*vmstat_get(&v, "good") == UINT64_MAX);
	assert_true(*vmstat_get(&v, "tail") == 1ULL << 63);
	assert_true(*vmstat_get(&v, "cr") == 4);
	assert_null(vmstat_get(&v, "neg"));
	assert_null(vmstat_get(&v, "goo"));
	vmstat_free(&v);

	memset(line, 'a', huge);
	v = parse_exact(line, huge, -1);
	vmstat_free(&v);
	memset(line, '9', huge);
	memcpy(line, "key ", 4);
	v = parse_exact(line, huge, -1);
	vmstat_free(&v);
	memset(line, 0, huge);
	memcpy(line + huge - 6, "\na 12\n", 6);
	v = parse_exact(line, huge, 0);
	assert_true(*vmstat_get(&v, "a") == 12);
	vmstat_free(&v);
	v = parse_exact("", 0, -1);
	vmstat_free(&v);
	free(line);

	/* A key of 63 characters is one, a longer one is none. */
	v = parse("a23456789b123456789c123456789d123456789e123456789f123456789g123 1\n"
		  "A23456789b123456789c123456789d123456789e123456789f123456789g1234 2\n");
	assert_int_equal(v.n, 1);
	vmstat_free(&v);

	for (int i = 0; i < 6000; i++)
		strbuf_addf(&many, "key%d %d\n", i, i);
	v = parse_exact(many.data, many.len, 0);
	assert_int_equal(v.n, 4096);
	vmstat_free(&v);
	strbuf_free(&many);
}

/* Rows counted with wc -l; values read off the files. */
static void test_real_files(void **state)
{
	static const struct {
		const char *file, *key;
		size_t rows;
		uint64_t value;
	} real[] = {
		{ "vmstat-2.6.16.txt", "pgalloc_dma", 43, 5712 },
		{ "vmstat-3.1-numa.txt", "pgfault", 95, 41103638391 },
		{ "vmstat-3.2.txt", "pgalloc_normal", 96, 65538599 },
		{ "vmstat-5.4.txt", "pgfault", 138, 379259766 },
		{ "vmstat-5.14.txt", "thp_fault_alloc", 171, 200 },
		{ "vmstat-2.6.38-i386.txt", "pgscan_direct_high", 83, 303477 },
		{ "vmstat-4.4-arm.txt", "allocstall", 82, 0 },
		{ "vmstat-5.13.txt", "pgsteal_kswapd", 109, 17283321 },
		{ "vmstat-6.18.txt", "nr_memmap_boot_pages", 192, 98304 },
		{ "vmstat-7.3-end.txt", "nr_free_pages_blocks", 202, 9728 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(real); i++) {
		size_t len;
		cleanup_free char *text = fixture_read(real[i].file, &len);
		struct vmstat v = parse_exact(text, len, 0);
		const uint64_t *value = vmstat_get(&v, real[i].key);

		assert_int_equal(v.n, real[i].rows);
		assert_non_null(value);
		assert_true(*value == real[i].value);
		vmstat_free(&v);
	}
}

/* Any bytes at all: nothing is read beyond the end, and every row is found by its key, once. */
static void test_mutated(void **state)
{
	size_t len;
	cleanup_free char *text = fixture_read("vmstat-2.6.16.txt", &len);
	cleanup_free char *buddy = fixture_read("buddyinfo-6.18.txt", &len);
	cleanup_free char *both = str_printf("%s%s", text, buddy);

	srand(1);
	for (int round = 0; round < 1000; round++) {
		size_t n = (size_t)rand() % (strlen(both) + 1);
		cleanup_free char *exact = xmalloc(n + !n);
		struct run r = { 0 };
		struct vmstat v;

		memcpy(exact, both, n);
		for (int i = 0; n && i < round % 40; i++)
			exact[(size_t)rand() % n] = (char)rand();
		vmstat_parse(exact, n, &v);
		for (size_t i = 0; i < v.n; i++)
			assert_ptr_equal(vmstat_get(&v, v.row[i].key), &v.row[i].value);
		counter_deltas(&v, &v, &r);
		counter_formulas(1, &r);
		for (size_t i = 0; i < r.nmetrics; i++)
			assert_true(isfinite(r.metric[i].value));
		vmstat_free(&v);
		run_free(&r);
	}
}

/* A kernel without compaction and one before per-zone stalls: absent is not zero. */
static void test_absent_is_not_zero(void **state)
{
	size_t len;
	cleanup_free char *old = fixture_read("vmstat-2.6.16.txt", NULL);
	cleanup_free char *new = fixture_read("vmstat-6.18.txt", &len);
	struct run a = deltas(old, old), b = deltas(new, new);

	expect(&a, "allocstall", 0);
	expect(&a, "pgsteal_direct", 0);
	expect_absent(&a, "compact_stall");
	expect_absent(&a, "thp_fault_alloc");
	expect_absent(&a, "nr_free_pages");
	expect(&b, "allocstall", 0);
	expect(&b, "compact_daemon_free_scanned", 0);
	expect_absent(&b, "pgrescued");
	expect_absent(&b, "compact_blocks_moved");
	expect_absent(&b, "time");
	run_free(&a);
	run_free(&b);
}

static void test_catalogue(void **state)
{
	for (size_t i = 0; i < counter_count; i++) {
		assert_non_null(counter_table[i].title);
		assert_non_null(counter_table[i].unit);
		assert_ptr_equal(counter_find(counter_table[i].name), &counter_table[i]);
	}
	assert_int_equal(counter_find("create_p99")->better, BETTER_LOWER);
	assert_string_equal(counter_find("create_p99")->unit, "ns");
	assert_null(counter_find("alocstall"));
	assert_string_equal(counter_nearest("alocstall"), "allocstall");
	assert_string_equal(counter_nearest("tiem"), "time");
	assert_null(counter_nearest("zzzzzzzzz"));
}

static void test_patterns(void **state)
{
	static const struct {
		const char *name, *pattern, *title;
	} good[] = {
		{ "free_order3_Normal", "free_order<order>_<zone>",
		  "Free pages of order 3, Normal" },
		{ "free_order10_node12_DMA32", "free_order<order>_node<node>_<zone>",
		  "Free pages of order 10, node 12 DMA32" },
		{ "free_order0_node1_Movable", "free_order0_node<node>_<zone>",
		  "Free single pages, node 1 Movable" },
		{ "free_order9_Normal_HighAtomic", "free_order<order>_<zone>_<type>",
		  "Free pages of order 9, Normal HighAtomic" },
		{ "free_order9_node3_Normal_CMA", "free_order<order>_node<node>_<zone>_<type>",
		  "Free pages of order 9, node 3 Normal CMA" },
		{ "blocks_DMA_Unmovable", "blocks_<zone>_<type>", "Pageblocks, DMA Unmovable" },
		{ "mthp_64kB_swpout", "mthp_<size>_<stat>", "mTHP 64kB: swpout" },
		{ "mthp_64kB_nr_anon", "mthp_<size>_nr_anon", "mTHP 64kB: nr_anon" },
		{ "mthp_split_deferred", "mthp_<stat>", "mTHP, all sizes: split_deferred" },
		{ "fault_both_12", "fault_both_<threads>",
		  "Fault of either kind, mean, threads: 12" },
		{ "huge_share_1", "huge_share_<threads>",
		  "Faults that got a huge page, threads: 1" },
		{ "unusable_index_order9_node0_Normal",
		  "unusable_index_order<order>_node<node>_<zone>",
		  "Unusable index for order 9, node 0 Normal" },
	};
	static const char *const bad[] = {
		"free_order0_node1_Mvable",
		"free_order0_node_Normal",
		"free_order0_node1Normal",
		"free_order0_node12345_Normal",
		"free_order_Normal",
		"free_order1_Normal_",
		"free_order1_Normal_Movable_x",
		"free_Other",
		"mthp_",
		"blocks_Normal_",
		"free_order1_",
		"fault_both_",
		"fault_both_x",
		"fault_both_1x",
	};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		const struct counter *c = counter_find(good[i].name);
		cleanup_free char *title = counter_title(good[i].name);

		if (!c)
			fail_msg("%s is not found", good[i].name);
		assert_string_equal(c->name, good[i].pattern);
		assert_string_equal(title, good[i].title);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (counter_find(bad[i]))
			fail_msg("%s is found: %s", bad[i], counter_find(bad[i])->name);
}

/* 2^32 - 6 and then 5: eleven events on a guest of 32 bits; nobody knows how many times round. */
static void test_wrapped(void **state)
{
	struct run r =
		deltas("pgfault 4294967290\npgfree 3000000000\nallocstall_normal 5000000000\n"
		       "nr_dirty 4294967290\nnr_odd 1\n",
		       "pgfault 5\npgfree 2900000000\nallocstall_normal 7\nnr_dirty 3\n"
		       "nr_odd 18446744073709551615\n");

	expect_absent(&r, "pgfault");
	expect_absent(&r, "pgfree");
	expect_absent(&r, "allocstall");
	expect_absent(&r, "nr_odd");
	expect(&r, "nr_dirty", 3);
	assert_string_equal(
		r.detail,
		"counters that went backwards, left out: allocstall (allocstall_normal),"
		" pgfree\n"
		"32-bit counters that wrapped, left out: minor_faults (pgfault), pgfault\n"
		"levels and derived metrics below zero, left out: nr_odd");
	run_free(&r);
}

/* Four nodes, long under pressure: sums of zones, beyond 32 bits; none of it looks wrapped. */
static void test_beyond_32_bits(void **state)
{
	cleanup_free char *end = fixture_read("vmstat-3.1-numa.txt", NULL);
	cleanup_strbuf struct strbuf begin = STRBUF_INIT;
	struct vmstat v = parse(end);
	struct run r;

	for (size_t i = 0; i < v.n; i++)
		strbuf_addf(&begin, "%s 0\n", v.row[i].key);
	vmstat_free(&v);
	r = deltas(begin.data, end);
	counter_formulas(1000, &r);
	expect(&r, "allocstall", 926752);
	expect(&r, "pgscan_kswapd", 4245896263); /* 241277864 + 4004618399 */
	expect(&r, "pgscan_direct", 1078662665); /* 65729843 + 1012932822 */
	expect(&r, "pgscan_total", 5324558928);
	expect(&r, "pgsteal_kswapd", 4063341017);
	expect(&r, "pgsteal_direct", 1018932295); /* 297677595 + 4784595717 - 4063341017 */
	expect(&r, "direct_efficiency", 100 * 1018932295.0 / 1078662665);
	expect(&r, "kswapd_efficiency", 100 * 4063341017.0 / 4245896263);
	expect(&r, "minor_faults", 41091784533); /* 41103638391 - 11853858 */
	expect(&r, "pgmigrate_success", 5774251432);
	expect(&r, "numa_miss", 4761673976);
	expect(&r, "compact_efficiency", 100 * 52696 / 121045.0);
	expect(&r, "thp_split_page", 90328);
	expect(&r, "thp_fault_share", 100 * 263176 / (263176 + 717335.0));
	expect(&r, "nr_free_pages", 224933);
	assert_null(r.detail);
	run_free(&r);
}

/* What it all came to from the boot on, on a machine whose khugepaged took 100 % of a CPU. */
static void test_old_kernel(void **state)
{
	cleanup_free char *end = fixture_read("vmstat-2.6.38-i386.txt", NULL);
	cleanup_strbuf struct strbuf begin = STRBUF_INIT;
	struct vmstat v = parse(end);
	struct run r;

	for (size_t i = 0; i < v.n; i++)
		strbuf_addf(&begin, "%s 0\n", v.row[i].key);
	vmstat_free(&v);
	r = deltas(begin.data, end);
	counter_formulas(1000, &r);
	expect(&r, "allocstall", 310);
	expect(&r, "pgscan_kswapd", 3678094 + 366447);
	expect(&r, "pgscan_direct", 290984 + 303477);
	expect(&r, "pgsteal_kswapd", 4026528);
	expect(&r, "pgsteal_direct", 3949660 + 601671 - 4026528);
	expect(&r, "pgmigrate_success", 325766);
	expect(&r, "kswapd_velocity", 4044.541);
	expect(&r, "direct_velocity", 594.461);
	expect(&r, "zone_normal_velocity", (3678094 + 290984) / 1000.0);
	expect(&r, "direct_efficiency", 100 * 524803 / 594461.0);
	expect(&r, "direct_scans_share", 100 * 594461 / (4044541 + 594461.0));
	expect(&r, "pgscan_total", 4044541 + 594461);
	expect(&r, "compact_efficiency", 100 * 280 / 347.0);
	expect(&r, "compact_cost", (7 * 16384 * 11205.0 + 1038 * 325766.0 + 14 * 6165) / 1e6);
	expect_absent(&r, "compact_direct_migrate_scanned");
	expect_absent(&r, "compact_total_migrate_scanned");
	expect_absent(&r, "numa_cost");
	expect_absent(&r, "thp_fault_share");
	assert_null(r.detail);
	run_free(&r);
}

/* The numbers of the seed of August 2012, from its rows to its derived rows; T is 1274 s or so. */
static void test_derived(void **state)
{
	struct run r =
		deltas("pgscan_direct 0\npgscan_kswapd 0\npgsteal_kswapd 0\npgsteal_direct 0\n"
		       "nr_vmscan_write 0\npswpout 0\ncompact_stall 0\ncompact_success 0\n"
		       "pgmajfault 0\n",
		       "pgscan_direct 70942\npgscan_kswapd 1366300\npgsteal_kswapd 1366214\n"
		       "pgsteal_direct 70936\nnr_vmscan_write 3\npswpout 5\ncompact_stall 0\n"
		       "compact_success 0\npgmajfault 0\n");

	counter_formulas(1366300 / 1072.550, &r);
	assert_true(fabs(*run_metric(&r, "kswapd_velocity") - 1072.550) < 0.0005);
	assert_true(fabs(*run_metric(&r, "direct_velocity") - 55.690) < 0.0005);
	assert_int_equal((int)*run_metric(&r, "kswapd_efficiency"), 99);
	assert_int_equal((int)*run_metric(&r, "direct_efficiency"), 99);
	expect_absent(&r, "compact_efficiency"); /* 0 of 0 */
	/* Three written, five of them swapped: zswap's, hence no number of file pages. */
	expect_absent(&r, "vmscan_write_file");
	assert_string_equal(r.detail, "levels and derived metrics below zero, left out: "
				      "vmscan_write_file");
	run_free(&r);

	r = deltas("pgscan_direct 7\npgscan_kswapd 0\npgsteal_kswapd 1\npgsteal_direct 3\n",
		   "pgscan_direct 7\npgscan_kswapd 0\npgsteal_kswapd 1\npgsteal_direct 3\n");
	counter_formulas(0, &r);
	expect(&r, "kswapd_efficiency", 100);
	expect(&r, "direct_scans_share", 0);
	expect_absent(&r, "kswapd_velocity"); /* the window is not known */
	run_free(&r);
}

/* mmtests loses the share of free_scanned to a mistyped key. */
static void test_compaction_cost(void **state)
{
	struct run r =
		deltas("compact_migrate_scanned 0\ncompact_free_scanned 0\ncompact_isolated 0\n"
		       "pgmigrate_success 0\npgmigrate_fail 0\n",
		       "compact_migrate_scanned 1000000\ncompact_free_scanned 2000000\n"
		       "compact_isolated 3000000\npgmigrate_success 4000000\n"
		       "pgmigrate_fail 5000000\n");

	counter_formulas(1, &r);
	expect(&r, "compact_cost", 7 + 14 + 57 + 4152 + 70);
	run_free(&r);
}

static void test_rows(void **state)
{
	static const struct counter_row *const table[] = { counter_rows_mmtests,
							   counter_rows_defrag,
							   counter_rows_highalloc };

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		for (const struct counter_row *r = table[i]; r->row; r++)
			if (!counter_find(r->metric))
				fail_msg("%s: no metric %s", r->row, r->metric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allocstall_per_zone),
		cmocka_unit_test(test_eras),
		cmocka_unit_test(test_levels_and_unknown),
		cmocka_unit_test(test_backwards),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_real_files),
		cmocka_unit_test(test_absent_is_not_zero),
		cmocka_unit_test(test_catalogue),
		cmocka_unit_test(test_mutated),
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_wrapped),
		cmocka_unit_test(test_old_kernel),
		cmocka_unit_test(test_beyond_32_bits),
		cmocka_unit_test(test_derived),
		cmocka_unit_test(test_compaction_cost),
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
