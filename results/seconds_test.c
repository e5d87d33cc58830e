// SPDX-License-Identifier: GPL-2.0-only
#include "results/seconds.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "results/run_fixture.h"
#include "results/util/cleanup.h"

static void test_parse(void **state)
{
	struct run r = { .workload_json = (char *)"{\"series\":{\"columns\":[\"s\",\"r\"],\"rows\":"
						  "[[1,31],[2],[\"x\",5,6],7]}}" };
	struct seconds_series s;

	assert_true(seconds_of_run(&r, &s));
	assert_int_equal(s.ncolumns, 2);
	assert_int_equal(s.nrows, 4);
	assert_int_equal(seconds_column(&s, "r"), 1);
	assert_true(seconds_column(&s, "wa") == SIZE_MAX);
	assert_true(s.v[0] == 1 && s.v[1] == 31 && s.v[2] == 2 && isnan(s.v[3]) && isnan(s.v[4]) &&
		    s.v[5] == 5 && isnan(s.v[6]));
	seconds_free(&s);
}

static void test_hostile(void **state)
{
	static const char *const text[] = {
		NULL, "", "{", "[]", "{\"series\":5}", "{\"series\":{\"columns\":5,\"rows\":[[1]]}}",
		"{\"series\":{\"columns\":[],\"rows\":[[1]]}}", "{\"series\":{\"columns\":[1],\"rows\":[[1]]}}",
		"{\"series\":{\"columns\":[\"s\"],\"rows\":[]}}", "{\"series\":{\"columns\":[\"s\"]}}",
		"{\"series\":{\"columns\":[\"s\"],\"rows\":{\"a\":1}}}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(text); i++) {
		struct run r = { .workload_json = (char *)text[i] };
		struct seconds_series s;

		assert_false(seconds_of_run(&r, &s));
		assert_true(!s.v && !s.ncolumns);
	}
}

/* More rows and columns than there is room for. */
static void test_limits(void **state)
{
	struct strbuf sb = STRBUF_INIT;
	struct run r = { 0 };
	struct seconds_series s;

	strbuf_adds(&sb, "{\"series\":{\"columns\":[");
	for (int i = 0; i < 40; i++)
		strbuf_addf(&sb, "%s\"c%d\"", i ? "," : "", i);
	strbuf_adds(&sb, "],\"rows\":[");
	for (int i = 0; i < 1100; i++)
		strbuf_addf(&sb, "%s[%d]", i ? "," : "", i);
	strbuf_adds(&sb, "]}}");
	r.workload_json = sb.data;
	assert_true(seconds_of_run(&r, &s));
	assert_int_equal(s.ncolumns, SECONDS_COLS_MAX);
	assert_int_equal(s.nrows, SECONDS_ROWS_MAX);
	seconds_free(&s);
	strbuf_free(&sb);
}

static void add_run(struct runset *set, double throughput, int running)
{
	struct run *r = fixture_run(set, 0, 0, VERDICT_OK);

	run_set_metric(r, "stream_throughput", throughput);
	r->workload_json = str_printf("{\"series\":{\"columns\":[\"s\",\"r\",\"b\",\"free\",\"sy\",\"written\"],"
				      "\"rows\":[[1.04,%d,17,287216,56,2222.4],[2,%d,1e300,464308,79,null]]}}",
				      running, 2 * running);
}

/* Of three runs the one in the middle, whatever their order. */
static void test_table(void **state)
{
	struct runset set = fixture_set();
	struct strbuf sb = STRBUF_INIT;
	struct table_cell *cell;
	size_t n;

	add_run(&set, 50, 31);
	add_run(&set, 10, 1);
	add_run(&set, 90, 99);
	cell = table_cells(&set, &n);
	table_seconds(&set, cell, n, &sb);
	assert_string_equal(
		sb.data,
		"\n"
		"    pfn % 8 == 0, run 0001, a row a second; free and cache kB, bi and bo\n"
		"      KiB, written MiB\n"
		"      s   r  b    free   cache    bi      bo    in    cs us  sy  id wa written\n"
		"      1  31 17  287216       -     -       -     -     -  -  56   -  -    2222\n"
		"      2  62  -  464308       -     -       -     -     -  -  79   -  -       -\n");
	table_cells_free(cell, n);
	strbuf_free(&sb);
	runset_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
