// SPDX-License-Identifier: GPL-2.0-only
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
		  "tail 9223372036854775808");
	assert_int_equal(v.n, 3);
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
	memcpy(line + huge - 5, "\na 12", 5);
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
		{ "vmstat-3.2.txt", "pgalloc_normal", 96, 65538599 },
		{ "vmstat-5.4.txt", "pgfault", 138, 379259766 },
		{ "vmstat-5.14.txt", "thp_fault_alloc", 171, 200 },
		{ "vmstat-6.18.txt", "nr_memmap_boot_pages", 192, 98304 },
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

/* Any bytes at all: nothing is read beyond the end, and the rows come out sorted and unique. */
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
		for (size_t i = 1; i < v.n; i++)
			assert_true(strcmp(v.row[i - 1].key, v.row[i].key) < 0);
		counter_deltas(&v, &v, &r);
		counter_buddyinfo(exact, n, &r);
		assert_null(r.detail);
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

static void expect_buddyinfo(const char *file, double total, const char *zone, double pages)
{
	size_t len;
	cleanup_free char *text = fixture_read(file, &len), *exact = xmalloc(len);
	struct run r = { 0 };

	memcpy(exact, text, len);
	counter_buddyinfo(exact, len, &r);
	expect(&r, "free_pages_order0", total);
	expect(&r, zone, pages);
	run_free(&r);
}

static void test_buddyinfo(void **state)
{
	struct run r = { 0 };
	static const char hostile[] =
		"Node 0, zone      DMA\nNode x, zone DMA 5\nNode 0, zone A-B 5\n"
		"Node 0, zone   Normal   -1 2\nNode 0, zone Normal "
		"99999999999999999999 1\nNode 0, zone AZoneNameThatIsTooLong 5\n"
		"Node 18446744073709551615, zone Normal 5 1\nNode 10000, zone Normal 5 1\n"
		"Node 0, zone";

	expect_buddyinfo("buddyinfo-3.2.txt", 0 + 7 + 6026, "free_order0_DMA32", 7);
	/* Two nodes: Normal is 33331 + 51121; order 7 and up stand in lines of their own. */
	expect_buddyinfo("buddyinfo-3.10-wrapped.txt", 31577 + 84452, "free_order0_Normal", 84452);
	expect_buddyinfo("buddyinfo-3.10-wrapped.txt", 31577 + 84452, "free_order0_node0_Normal", 33331);
	expect_buddyinfo("buddyinfo-3.10-wrapped.txt", 31577 + 84452, "free_order0_node1_Normal", 51121);
	expect_buddyinfo("buddyinfo-3.10-wrapped.txt", 31577 + 84452, "free_order0_node0_DMA32", 31577);
	expect_buddyinfo("buddyinfo-6.18.txt", 2, "free_order0_Normal", 0);
	counter_buddyinfo(hostile, sizeof(hostile) - 1, &r);
	assert_int_equal(r.nmetrics, 0);
	counter_buddyinfo("", 0, &r);
	assert_int_equal(r.nmetrics, 0);
	run_free(&r);
}

/* Apart only where there are several; a machine whose only node is not 0 has one. */
static void test_nodes_apart(void **state)
{
	static const char one[] = "Node 3, zone DMA32 7 1\nNode 3, zone Normal 5 1\n";
	static const char three[] = "Node 2, zone Normal 5 1\nNode 2, zone Movable 6 1\n"
				    "Node 10, zone Movable 70 1\nNode 11, zone Normal 800 1\n";
	struct run r = { 0 }, s = { 0 };

	counter_buddyinfo(one, sizeof(one) - 1, &r);
	assert_int_equal(r.nmetrics, 3);
	expect(&r, "free_order0_Normal", 5);
	counter_buddyinfo(three, sizeof(three) - 1, &s);
	assert_int_equal(s.nmetrics, 1 + 2 + 4);
	expect(&s, "free_pages_order0", 881);
	expect(&s, "free_order0_Normal", 805);
	expect(&s, "free_order0_Movable", 76);
	expect(&s, "free_order0_node2_Normal", 5);
	expect(&s, "free_order0_node2_Movable", 6);
	expect(&s, "free_order0_node10_Movable", 70);
	expect(&s, "free_order0_node11_Normal", 800);
	expect_absent(&s, "free_order0_node10_Normal");
	assert_ptr_equal(counter_find("free_order0_node10_Movable"), counter_find("free_order0_Movable"));
	assert_null(counter_find("free_order0_node1_Mvable"));
	assert_null(counter_find("free_order0_node_Normal"));
	assert_null(counter_find("free_order0_node1Normal"));
	assert_null(counter_find("free_order0_node12345_Normal"));
	run_free(&r);
	run_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allocstall_per_zone), cmocka_unit_test(test_eras),
		cmocka_unit_test(test_levels_and_unknown),  cmocka_unit_test(test_backwards),
		cmocka_unit_test(test_hostile),		    cmocka_unit_test(test_real_files),
		cmocka_unit_test(test_absent_is_not_zero),  cmocka_unit_test(test_catalogue),
		cmocka_unit_test(test_buddyinfo),	    cmocka_unit_test(test_mutated),
		cmocka_unit_test(test_nodes_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
