// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/writers/seconds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const char stat_text[] = "cpu  100 20 300 4000 50 6 7 8 0 0\n"
				"cpu0 1 2 3 4 5 6 7 8 0 0\n"
				"intr 12345 1 2 3\n"
				"ctxt 777\n"
				"procs_running 5\n"
				"procs_blocked 2\n";
static const char vmstat_text[] = "nr_free_pages 1\npgpgin 4096\npgpgout 8192\n";
static const char meminfo_text[] = "MemTotal:  500 kB\nMemFree:   123 kB\nCached:  45 kB\n"
				   "SwapCached: 9 kB\nSwapTotal: 100 kB\nSwapFree: 60 kB\n";

static void test_parse(void **state)
{
	struct seconds_raw r = { 0 };

	seconds_parse(stat_text, vmstat_text, meminfo_text, &r);
	assert_int_equal(r.user, 120);
	assert_int_equal(r.system, 313);
	assert_int_equal(r.idle, 4000);
	assert_int_equal(r.wait, 50);
	assert_int_equal(r.steal, 8);
	assert_int_equal(r.interrupts, 12345);
	assert_int_equal(r.switches, 777);
	assert_int_equal(r.running, 4);
	assert_int_equal(r.blocked, 2);
	assert_int_equal(r.in_kb, 4096);
	assert_int_equal(r.out_kb, 8192);
	assert_int_equal(r.free_kb, 123);
	assert_int_equal(r.cached_kb, 45);
	assert_int_equal(r.swapped_kb, 40);
	seconds_parse("", "", "", &r);
	assert_int_equal(r.running, 0);
	assert_int_equal(r.system, 0);
}

/* Two seconds, of 200 ticks each; the second has half the throughput. */
static struct seconds two_rows(void)
{
	struct seconds s = { 0 };
	struct seconds_raw r = { .ns = 1000000000, .user = 10, .system = 100, .idle = 5 };

	seconds_add(&s, &r);
	r.ns += 1000000000;
	r.user += 20;
	r.system += 160;
	r.idle += 20;
	r.running = 30;
	r.out_kb = 2000;
	r.written = 8 << 20;
	seconds_add(&s, &r);
	r.ns += 1000000000;
	r.system += 200;
	r.running = 163;
	r.out_kb = 2100;
	r.written = 12 << 20;
	seconds_add(&s, &r);
	return s;
}

static void test_rows(void **state)
{
	struct seconds s = two_rows();
	char out[400];

	assert_int_equal(s.n, 2);
	assert_true(s.row[0].us == 10 && s.row[0].sy == 80 && s.row[0].id == 10);
	assert_true(s.row[0].bo == 2000 && s.row[0].written == 8 && s.row[0].at_s == 1);
	assert_true(s.row[1].sy == 100 && s.row[1].bo == 100 && s.row[1].written == 4);
	seconds_metrics(&s, out, sizeof(out));
	assert_string_equal(out, ",\"stream_throughput\":6,\"stream_throughput_min\":4,"
				 "\"run_queue\":96.5,\"run_queue_max\":163,\"system_share\":90");
}

static void test_json(void **state)
{
	struct seconds s = two_rows(), none = { 0 };
	char out[1000];

	assert_int_equal(seconds_metrics(&none, out, sizeof(out)), 0);
	seconds_json(&s, out, sizeof(out));
	assert_string_equal(out, "\"series\":{\"columns\":[\"s\",\"r\",\"b\",\"swpd\",\"free\",\"cache\","
				 "\"bi\",\"bo\",\"in\",\"cs\",\"us\",\"sy\",\"id\",\"wa\",\"st\","
				 "\"received\",\"written\"],\"rows\":["
				 "[1.0,30,0,0,0,0,0,2000,0,0,10,80,10,0,0,0.0,8.0],"
				 "[2.0,163,0,0,0,0,0,100,0,0,0,100,0,0,0,0.0,4.0]]}");
}

/* A clock that stands still makes no row, and there are no more rows than room. */
static void test_limits(void **state)
{
	struct seconds s = { 0 };
	struct seconds_raw r = { .ns = 5 };

	seconds_add(&s, &r);
	seconds_add(&s, &r);
	assert_int_equal(s.n, 0);
	for (int i = 0; i < SECONDS_MAX + 10; i++) {
		r.ns += 1000000000;
		seconds_add(&s, &r);
	}
	assert_int_equal(s.n, SECONDS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
