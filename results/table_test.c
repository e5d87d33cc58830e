// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "results/run_fixture.h"
#include "results/table.h"
#include "results/util/cleanup.h"

static void set_metrics(struct runset *s, const char *const *names)
{
	size_t n = 0;

	while (names[n])
		n++;
	s->metric = xcalloc(n + 1, sizeof(*s->metric));
	for (size_t i = 0; i < n; i++)
		s->metric[i] = xstrdup(names[i]);
}

static struct run *ok_run(struct runset *s, size_t variant, size_t kernel, double stalls,
			  double time)
{
	struct run *r = fixture_run(s, variant, kernel, VERDICT_OK);

	run_set_metric(r, "allocstall", stalls);
	run_set_metric(r, "time", time);
	return r;
}

static void expect_table(char *got, const char *want)
{
	if (strcmp(got, want) != 0)
		fail_msg("got:\n%s\nwant:\n%s", got, want);
	for (const char *p = got; *p; p += strcspn(p, "\n") + 1)
		assert_true(strcspn(p, "\n") <= 78);
	free(got);
}

static struct runset seed_set(void)
{
	static const char *const shown[] = { "allocstall", "time", "compact_daemon_free_scanned",
					     "free_order0_Normal", "create_p99", NULL };
	static const double stalls[] = { 86, 3, 1544, 2, 900 };
	static const double times[] = { 5.0, 4.8, 5.55, 4.84, 5.2 };
	struct runset s = fixture_set();

	set_metrics(&s, shown);
	for (int i = 0; i < 5; i++) {
		struct run *a = ok_run(&s, 0, 0, 0, 4.6 + 0.05 * i);
		struct run *b;

		run_set_metric(a, "compact_daemon_free_scanned", 1042000 + 1000 * i);
		run_set_metric(a, "free_order0_Normal", 118);
		run_set_metric(a, "create_p99", 9000.5);
		b = ok_run(&s, 1, 0, stalls[i], times[i]);
		run_set_metric(b, "compact_daemon_free_scanned", 50743);
		run_set_metric(b, "free_order0_Normal", 43230);
	}
	return s;
}

/* The medians 86 and 1,044,000 and the ranges are worked out by hand from seed_set(). */
static void test_seed(void **state)
{
	struct runset s = seed_set();

	expect_table(table_runset(&s),
		     "                           allocstall\n"
		     "    free pages at          median    max      time, s\n"
		     "    pfn % 8 == 0                0      0      4.6-4.8\n"
		     "    pfn % 8 == 4               86   1544      4.8-5.5\n"
		     "\n"
		     "    median of                    pfn % 8 == 0  pfn % 8 == 4\n"
		     "    compact_daemon_free_scanned     1,044,000        50,743\n"
		     "    free_order0_Normal                    118        43,230\n"
		     "    create_p99, ns                     9000.5             -\n"
		     "\n"
		     "    5 runs each\n");
	runset_free(&s);
}

/* Three forks of L1, one of L2, and one that failed: it is in no number, nor in this one. */
static void test_forks(void **state)
{
	struct runset s = seed_set();
	char *got;

	for (int i = 0; i < 4; i++)
		s.run[i].forked_from = xstrdup(i < 3 ? "L1" : "L2");
	fixture_run(&s, 0, 0, VERDICT_INFRA)->forked_from = xstrdup("L3");
	got = table_runset(&s);
	assert_non_null(strstr(got, "    5 runs each\n"
				    "    4 runs forked from 2 layouts: runs of one layout share it\n"));
	free(got);
	runset_free(&s);
}

static void test_two_kernels(void **state)
{
	struct runset s = fixture_set();

	fixture_kernel(&s, "patched", "7.3.4-patched");
	ok_run(&s, 0, 0, 0, 4.6);
	ok_run(&s, 1, 0, 86, 4.8);
	ok_run(&s, 1, 1, 1, 4.7);
	ok_run(&s, 1, 1, 2, 4.74);
	expect_table(table_runset(&s),
		     "                              allocstall\n"
		     "    free pages at             median    max      time, s\n"
		     "    pfn % 8 == 0, debian:7.3       0      0          4.6\n"
		     "    pfn % 8 == 0, patched          -      -            -\n"
		     "    pfn % 8 == 4, debian:7.3      86     86          4.8\n"
		     "    pfn % 8 == 4, patched        1.5      2          4.7\n"
		     "\n"
		     "    0 to 2 runs each\n"
		     "    unfinished: 4 of the 20 runs asked for were made\n");
	runset_free(&s);
}

/* A cell that was left out is not missing. */
static void test_left_out(void **state)
{
	struct runset s = fixture_set();

	fixture_kernel(&s, "patched", "7.3.4-patched");
	s.runs = 1;
	s.left_out = xcalloc(4, sizeof(*s.left_out));
	s.left_out[2] = true; /* kernel 1, variant 0 */
	ok_run(&s, 0, 0, 0, 4.6);
	ok_run(&s, 1, 0, 86, 4.8);
	ok_run(&s, 1, 1, 1, 4.7);
	expect_table(table_runset(&s),
		     "                              allocstall\n"
		     "    free pages at             median    max      time, s\n"
		     "    pfn % 8 == 0, debian:7.3       0      0          4.6\n"
		     "    pfn % 8 == 4, debian:7.3      86     86          4.8\n"
		     "    pfn % 8 == 4, patched          1      1          4.7\n"
		     "\n"
		     "    1 run each\n");
	runset_free(&s);
}

static void say_no_effect(struct run *r, const char *counter)
{
	r->no_effect = xcalloc(2, sizeof(*r->no_effect));
	r->no_effect[0] = xstrdup(counter);
}

/* Every run is somewhere: in a number, or below by verdict with its reason. */
static void test_not_ok(void **state)
{
	struct runset s = fixture_set();
	struct run *r;

	s.runs = 3;
	say_no_effect(ok_run(&s, 0, 0, 0, 4.6), "compact_stall");
	ok_run(&s, 1, 0, 86, 4.8);
	say_no_effect(ok_run(&s, 0, 0, 2, 4.7), "compact_stall");
	s.run[0].workload_json = xstrdup("{\"background\": {\"workload\": \"fio\\u001b\", \"stopped\": true}}");
	r = fixture_run(&s, 1, 0, VERDICT_SPLAT);
	r->why = xstrdup(
		"kernel BUG at mm/compaction.c:1798! with a reason that is much too long for "
		"one line of seventy-eight columns\x1b[31m");
	run_set_metric(r, "allocstall", 5000);
	run_set_metric(r, "time", 99);
	fixture_run(&s, 0, 0, VERDICT_INFRA)->why = xstrdup("layout off by 7% (asked 100, got 93)");
	fixture_run(&s, 1, 0, VERDICT_INFRA);
	expect_table(table_runset(&s),
		     "                           allocstall\n"
		     "    free pages at          median    max      time, s\n"
		     "    pfn % 8 == 0                1      2      4.6-4.7\n"
		     "    pfn % 8 == 4               86     86          4.8\n"
		     "\n"
		     "    1 to 2 runs each\n"
		     "    beside it: fio\\x1b, at work to the end in 1 of 1 run\n"
		     "    not ok, and in no number above: 3 of 6 runs\n"
		     "    splat: 1\n"
		     "      0004 (pfn % 8 == 4, seed 4): kernel BUG at mm/compaction.c:1798! with\n"
		     "        a reason that is much too long for one line of seventy-eight\n"
		     "        columns\\x1b[31m\n"
		     "    infra: 2\n"
		     "      0005 (pfn % 8 == 0, seed 5): layout off by 7% (asked 100, got 93)\n"
		     "      0006 (pfn % 8 == 4, seed 6): no reason recorded\n"
		     "    no effect: compact_stall did not move in 2 of 3 runs (pfn % 8 == 0)\n");
	runset_free(&s);
}

static void test_plain(void **state)
{
	static const char *const shown[] = { "time", "allocstall", "compact_daemon_free_scanned",
					     "create_median", "pgfault", NULL };
	struct runset s = fixture_set();
	struct run *r;

	free(s.table_style);
	s.table_style = xstrdup("plain");
	s.runs = 1;
	set_metrics(&s, shown);
	r = ok_run(&s, 0, 0, 12, 0.25);
	run_set_metric(r, "compact_daemon_free_scanned", 1000000);
	run_set_metric(r, "create_median", 4321);
	run_set_metric(r, "pgfault", 12345);
	r = ok_run(&s, 1, 0, 0, 0.5);
	run_set_metric(r, "create_median", 10000);
	expect_table(table_runset(&s),
		     "                                           compact_\n"
		     "                                       daemon_free_     create_\n"
		     "    free pages at          allocstall       scanned  median, ns  time, s\n"
		     "    pfn % 8 == 0                   12     1,000,000        4321     0.25\n"
		     "    pfn % 8 == 4                    0             -      10,000     0.50\n"
		     "\n"
		     "    median of              pfn % 8 == 0  pfn % 8 == 4\n"
		     "    pgfault                      12,345             -\n"
		     "\n"
		     "    1 run each\n");
	runset_free(&s);
}

static void size_metric(struct run *r, const char *size, const char *what, double value)
{
	cleanup_free char *name = str_printf("%s_%s", size, what);

	run_set_metric(r, name, value);
}

/* A row a size, ascending, of medians; nanoseconds as us; what was not counted is "-". */
static void test_sizes(void **state)
{
	static const char *const shown[] = { "fault_16kB_share", "allocstall", NULL };
	static const double median[] = { 1500, 4500, 2500 };
	struct runset s = fixture_set();

	free(s.table_style);
	s.table_style = xstrdup("sizes");
	s.runs = 3;
	set_metrics(&s, shown);
	for (size_t i = 0; i < 3; i++) {
		struct run *r = ok_run(&s, 0, 0, 7, 1);

		size_metric(r, "fault_2048kB", "attempts", 16);
		size_metric(r, "fault_2048kB", "share", 25);
		size_metric(r, "fault_2048kB", "missed_median", 12345678);
		size_metric(r, "fault_16kB", "attempts", 512);
		size_metric(r, "fault_16kB", "share", 100);
		size_metric(r, "fault_16kB", "median", median[i]);
		size_metric(r, "fault_16kB", "p99", 20000000);
		size_metric(r, "fault_16kB", "free_scanned", 0.25);
		size_metric(r, "mthp_16kB", "anon_fault_alloc", 512);
		size_metric(r, "mthp_16kB", "anon_fault_fallback", 0);
		run_set_metric(r, "thp_fault_alloc", 4);
		run_set_metric(r, "thp_fault_fallback", 12);
	}
	fixture_run(&s, 0, 0, VERDICT_INFRA)->why = xstrdup("starved");
	run_set_metric(&s.run[3], "fault_16kB_median", 1);
	expect_table(table_runset(&s),
		     "    pfn % 8 == 0\n"
		     "                     got it, median,         missed, kernel:  kernel: scanned\n"
		     "    page size faults       %      us p99, us      us   alloc fallback a fault\n"
		     "    16 kB        512     100     2.5  20,000       -     512        0    0.25\n"
		     "    2048 kB       16      25       -       -  12,346       4       12       -\n"
		     "\n"
		     "    pfn % 8 == 4\n"
		     "    -\n"
		     "\n"
		     "    median of              pfn % 8 == 0  pfn % 8 == 4\n"
		     "    allocstall                        7             -\n"
		     "\n"
		     "    0 to 3 runs each\n"
		     "    unfinished: 4 of the 6 runs asked for were made\n"
		     "    not ok, and in no number above: 1 of 4 runs\n"
		     "    infra: 1\n"
		     "      0004 (pfn % 8 == 0, seed 4): starved\n");
	runset_free(&s);
}

static void test_empty(void **state)
{
	struct runset s = fixture_set();

	expect_table(table_runset(&s), "    no runs\n");
	expect_table(table_deltas(&s), "    no metrics\n");
	fixture_run(&s, 0, 0, VERDICT_BOOT_TIMEOUT)->why = xstrdup("no hello in 60 s");
	s.runs = 0;
	expect_table(table_runset(&s),
		     "                           allocstall\n"
		     "    free pages at          median    max      time, s\n"
		     "    pfn % 8 == 0                -      -            -\n"
		     "    pfn % 8 == 4                -      -            -\n"
		     "\n"
		     "    0 runs each\n"
		     "    not ok, and in no number above: 1 of 1 runs\n"
		     "    boot-timeout: 1\n"
		     "      0001 (pfn % 8 == 0, seed 1): no hello in 60 s\n");
	runset_free(&s);
}

/* The set's own come first, then the catalogue's order, then by name; equal ones are left out. */
static void test_deltas(void **state)
{
	static const char *const shown[] = { "compact_fail", "oom_kill", NULL };
	struct runset s = fixture_set();
	struct run *a = ok_run(&s, 0, 0, 1, 2.5), *b;

	set_metrics(&s, shown);
	run_set_metric(a, "zz_vendor", 1);
	run_set_metric(a, "aa_vendor", 0);
	run_set_metric(a, "compact_fail", 7);
	run_set_metric(a, "oom_kill", 0);
	run_set_metric(a, "pgfault", 123456789);
	run_set_metric(a, "compact_stall", 5);
	b = ok_run(&s, 1, 0, 1, 2.75);
	run_set_metric(b, "zz_vendor", 2);
	run_set_metric(b, "compact_fail", 8);
	run_set_metric(b, "oom_kill", 0);
	run_set_metric(b, "pgfault", 123456788);
	run_set_metric(b, "compact_stall", 6);
	expect_table(table_deltas(&s),
		     "    median of              pfn % 8 == 0  pfn % 8 == 4\n"
		     "    compact_fail                      7             8\n"
		     "    time, s                         2.5          2.75\n"
		     "    compact_stall                     5             6\n"
		     "    pgfault                 123,456,789   123,456,788\n"
		     "    aa_vendor                         0             -\n"
		     "    zz_vendor                         1             2\n");
	runset_free(&s);
}

/* Of orders, types and sizes only those are rows that the set asks for; the others are counted. */
static void test_deltas_of_many(void **state)
{
	static const char *const shown[] = { "free_order3_Normal", NULL };
	struct runset s = fixture_set();
	struct run *a = ok_run(&s, 0, 0, 1, 2), *b;

	set_metrics(&s, shown);
	run_set_metric(a, "free_order2_Normal", 4);
	run_set_metric(a, "free_order3_Normal", 16);
	run_set_metric(a, "free_order4_Normal", 64);
	run_set_metric(a, "mthp_64kB_split", 1);
	b = ok_run(&s, 1, 0, 1, 2);
	run_set_metric(b, "free_order2_Normal", 8);
	run_set_metric(b, "free_order3_Normal", 24);
	run_set_metric(b, "free_order4_Normal", 64);
	run_set_metric(b, "mthp_64kB_split", 2);
	expect_table(table_deltas(&s),
		     "    median of              pfn % 8 == 0  pfn % 8 == 4\n"
		     "    free_order3_Normal               16            24\n"
		     "    and 2 by order, type, zone or size: --json has them\n");
	runset_free(&s);
}

/* Five cells do not fit in 78 columns: a second block. A long name takes a second line. */
static void test_deltas_blocks(void **state)
{
	struct runset s = { .scenario = xstrdup("x") };
	static const char *const label[] = { "residue=0, step=8", "residue=1, step=8",
					     "residue=2, step=8", "residue=3, step=8",
					     "residue=4, step=8, a longer story" };

	fixture_kernel(&s, "k", "7.3");
	for (size_t i = 0; i < 5; i++) {
		struct run *r;

		fixture_variant(&s, label[i], NULL, NULL);
		r = fixture_run(&s, i, 0, VERDICT_OK);
		run_set_metric(r, "allocstall", (double)i);
		run_set_metric(r, "a_very_long_vendor_counter_name_of_44_letters", 1 + (double)i);
	}
	expect_table(table_deltas(&s),
		     "    median of                         residue=0, step=8  residue=1, step=8\n"
		     "    allocstall                                        0                  1\n"
		     "    a_very_long_vendor_counter_name_\n"
		     "    of_44_letters                                     1                  2\n"
		     "\n"
		     "    median of                         residue=2, step=8  residue=3, step=8\n"
		     "    allocstall                                        2                  3\n"
		     "    a_very_long_vendor_counter_name_\n"
		     "    of_44_letters                                     3                  4\n"
		     "\n"
		     "                                      residue=4, step=8, a\n"
		     "    median of                                 longer story\n"
		     "    allocstall                                           4\n"
		     "    a_very_long_vendor_counter_name_\n"
		     "    of_44_letters                                        5\n");
	runset_free(&s);
}

static void test_deltas_one_cell(void **state)
{
	struct runset s = { .scenario = xstrdup("x") };
	struct run *r;

	fixture_kernel(&s, "k", "7.3");
	fixture_variant(&s, "", NULL, NULL);
	r = fixture_run(&s, 0, 0, VERDICT_OK);
	run_set_metric(r, "allocstall", 0);
	expect_table(table_deltas(&s), "    no metric moved\n");
	run_set_metric(r, "pgfault", -3.25);
	expect_table(table_deltas(&s), "    median of                   k\n"
				       "    pgfault                 -3.25\n");
	runset_free(&s);
}

static json_t *at(json_t *o, const char *a, size_t i, const char *b, size_t j)
{
	json_t *x = json_array_get(json_object_get(o, a), i);

	return b ? json_array_get(json_object_get(x, b), j) : x;
}

static void test_json(void **state)
{
	struct runset s = fixture_set();
	struct run *r = ok_run(&s, 1, 0, 86, 12.6);
	cleanup_free char *text = NULL;
	json_t *o, *run, *expect;

	s.id = xstrdup("20261130-171500-alias-tmpfs-3f2a");
	s.kernel[0].build_id = xstrdup("ab12");
	r->phase[PHASE_BOOT] = 3.1;
	r->phase[PHASE_WORKLOAD] = 0;
	r->host_cpu = 12.25;
	r = fixture_run(&s, 0, 0, VERDICT_SPLAT);
	r->started = 1000;
	r->ended = 1099.5;
	r->seed = UINT64_MAX;
	r->why = xstrdup("\xff\x1b[31m \xc2\x9b" "31m \xc3\xa4");
	r->reproduce = xstrdup("mmrig run alias-tmpfs --seed 2");
	run_set_metric(r, "bad\xc0", 1);
	say_no_effect(r, "allocstall");
	r->splats_json = xstrdup("[{\"class\": \"KASAN\", \"title\": \"BUG: \xc3\xa4\", \"corrupted\": false}]");
	r->taint_before_known = r->taint_after_known = true;
	r->taint_after = 32;
	text = table_json(&s);
	for (const char *p = text; *p; p++)
		assert_true(*p == '\n' || (*p >= 0x20 && *p < 0x7f));
	o = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(o);
	run = at(o, "cells", 0, "runs", 0);
	assert_string_equal(json_string_value(json_object_get(run, "why")),
			    "\\xff\x1b[31m \xc2\x9b" "31m \xc3\xa4");
	json_object_del(run, "why");
	expect = json_loads(
		"{\"schema\": 1, \"runset\": \"20261130-171500-alias-tmpfs-3f2a\","
		" \"scenario\": \"alias-tmpfs\", \"cells\": ["
		"{\"kernel\": {\"name\": \"debian:7.3\", \"release\": \"7.3.4+deb13-cloud-amd64\","
		" \"build_id\": \"ab12\"}, \"variant\": {\"residue\": 0}, \"runs\": ["
		"{\"id\": \"0002\", \"seed\": \"18446744073709551615\", \"verdict\": \"splat\","
		" \"accel\": \"tcg\", \"phases\": {}, \"metrics\": {\"bad\\\\xc0\": 1},"
		" \"wall\": 99.5, \"host_cpu\": 0.0,"
		" \"reproduce\": \"mmrig run alias-tmpfs --seed 2\","
		" \"splats\": [{\"class\": \"KASAN\", \"title\": \"BUG: \\u00e4\", \"corrupted\": false}],"
		" \"taint\": {\"before\": 0, \"after\": 32, \"letters\": \"B\"},"
		" \"no_effect\": [\"allocstall\"]}]},"
		"{\"kernel\": {\"name\": \"debian:7.3\", \"release\": \"7.3.4+deb13-cloud-amd64\","
		" \"build_id\": \"ab12\"}, \"variant\": {\"residue\": 4}, \"runs\": ["
		"{\"id\": \"0001\", \"seed\": 1, \"verdict\": \"ok\", \"accel\": \"tcg\","
		" \"phases\": {\"boot\": 3.1, \"workload\": 0.0},"
		" \"metrics\": {\"allocstall\": 86, \"time\": 12.6},"
		" \"wall\": 0.0, \"host_cpu\": 12.25}]}]}",
		0, NULL);
	assert_non_null(expect);
	if (!json_equal(o, expect))
		fail_msg("got:\n%s", text);
	assert_non_null(strstr(text, "\"time\": 12.6"));
	assert_non_null(strstr(text, "\"allocstall\": 86"));
	json_decref(o);
	json_decref(expect);
	runset_free(&s);
}

/* What is a number is one; what only looks like it is text. */
static void test_json_values(void **state)
{
	static const struct {
		const char *text, *json;
	} value[] = {
		{ "4", "4" }, { "-3", "-3" }, { "0.25", "0.25" }, { "always", "\"always\"" },
		{ "0x10", "\"0x10\"" }, { "nan", "\"nan\"" }, { "", "\"\"" }, { "8G", "\"8G\"" },
		{ "1e999", "\"1e999\"" }, { "[1]", "\"[1]\"" }, { "007", "\"007\"" },
		{ "99999999999999999999", "\"99999999999999999999\"" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(value); i++) {
		struct runset s = { .scenario = xstrdup("x"), .id = xstrdup("y") };
		cleanup_free char *text = NULL;
		json_t *o, *want = json_loads(value[i].json, JSON_DECODE_ANY, NULL);

		fixture_kernel(&s, "k", "7.3");
		fixture_variant(&s, "label", "axis", value[i].text);
		text = table_json(&s);
		o = json_loads(text, 0, NULL);
		assert_non_null(o);
		assert_true(json_equal(json_object_get(json_object_get(at(o, "cells", 0, NULL, 0),
								       "variant"), "axis"), want));
		json_decref(o);
		json_decref(want);
		runset_free(&s);
	}
}

/* A run that points nowhere (a damaged store) is still named. */
static void test_wild_run(void **state)
{
	struct runset s = fixture_set();
	cleanup_free char *json = NULL, *text = NULL, *table = NULL;

	s.runs = 1;
	ok_run(&s, 0, 0, 1, 1);
	ok_run(&s, 1, 0, 1, 1);
	fixture_run(&s, 99, 7, VERDICT_STALL);
	table = table_runset(&s);
	assert_non_null(strstr(table, "0003 (unknown cell, seed 3): no reason recorded\n"));
	text = table_deltas(&s);
	json = table_json(&s);
	assert_non_null(json);
	runset_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seed),	   cmocka_unit_test(test_forks), cmocka_unit_test(test_two_kernels), cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_not_ok),	   cmocka_unit_test(test_plain), cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_empty),	   cmocka_unit_test(test_deltas),
		cmocka_unit_test(test_deltas_of_many),
		cmocka_unit_test(test_deltas_blocks), cmocka_unit_test(test_deltas_one_cell),
		cmocka_unit_test(test_json),	   cmocka_unit_test(test_json_values),
		cmocka_unit_test(test_wild_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
