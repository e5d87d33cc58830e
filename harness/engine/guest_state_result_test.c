// SPDX-License-Identifier: GPL-2.0-only
/* What a workload tells of its numbers: bit by bit, at the end, or not to the end. */
#include "harness/engine/guest_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "results/metrics.h"
#include "results/util/cleanup.h"

static uint32_t sequence;

static void begin(struct guest_state *g)
{
	memset(g, 0, sizeof(*g));
	sequence = 0;
}

static void say(struct guest_state *g, enum wire_type type, const char *text)
{
	uint8_t header[WIRE_HEADER];

	wire_header(header, type, 0, sequence++, text, (uint32_t)strlen(text));
	guest_state_feed(g, header, sizeof(header));
	guest_state_feed(g, (const uint8_t *)text, strlen(text));
}

static void finish(struct guest_state *g, struct run *r)
{
	memset(r, 0, sizeof(*r));
	guest_state_to_run(g, NULL, r);
	guest_state_free(g);
}

static void assert_metric(const struct run *r, const char *name, double value)
{
	const double *v = run_metric(r, name);

	if (!v)
		fail_msg("%s: absent", name);
	assert_true(*v == value);
}

static void test_parts_and_end(void **state)
{
	struct guest_state g;
	struct run r;

	begin(&g);
	say(&g, WIRE_PARTIAL, "{\"metrics\":{\"a\":1,\"b\":2},\"x\":[1],\"y\":1,\"partial\":true}");
	say(&g, WIRE_PARTIAL, "{\"metrics\":{\"b\":3}}");
	say(&g, WIRE_RESULT, "{\"metrics\":{\"a\":4,\"time\":5},\"x\":[2]}");
	say(&g, WIRE_END, "{\"sampling\":0.5}");
	finish(&g, &r);
	assert_metric(&r, "a", 4);
	assert_metric(&r, "b", 3);
	assert_metric(&r, "time", 5);
	assert_metric(&r, "sampling", 0.5);
	assert_string_equal(r.workload_json,
			    "{\"metrics\":{\"a\":4,\"b\":3,\"time\":5},\"x\":[2],\"y\":1}");
	run_free(&r);
}

/* Killed, or hung: what was told stands, and is marked, and can be derived again from what is stored. */
static void test_no_end(void **state)
{
	struct run again = { 0 }, r;
	struct guest_state g;

	begin(&g);
	say(&g, WIRE_PARTIAL, "{\"metrics\":{\"fault_both_1\":7.5},\"threads_1\":{},\"partial\":false}");
	say(&g, WIRE_FAIL, "{\"verdict\":\"workload-failed\",\"what\":\"the workload was killed by signal 9\"}");
	say(&g, WIRE_END, "{\"sampling\":0.5}");
	finish(&g, &r);
	assert_metric(&r, "fault_both_1", 7.5);
	assert_null(run_metric(&r, "sampling")); /* a share of a time that nobody knows */
	assert_string_equal(r.workload_json,
			    "{\"metrics\":{\"fault_both_1\":7.5},\"threads_1\":{},\"partial\":true}");
	metrics_from_workload(r.workload_json, &again);
	assert_metric(&again, "fault_both_1", 7.5);
	run_free(&again);
	run_free(&r);
}

static void test_wrong_parts(void **state)
{
	static const char *const bad[] = {
		"{\"metrics\":[1]}", "{\"metrics\":null}", "{\"metrics\":{\"a\":\"5\",\"b\":[1]}}", "{}",
		"[]", "{\"metrics\":{\"a\":1},\"metrics\":{\"a\":2}}", "{\"metrics\":{\"a\":1}", "",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct guest_state g;
		struct run r;

		begin(&g);
		say(&g, WIRE_PARTIAL, bad[i]);
		say(&g, WIRE_PARTIAL, "{\"metrics\":{\"time\":3}}");
		finish(&g, &r);
		assert_int_equal(r.nmetrics, 1);
		assert_metric(&r, "time", 3);
		run_free(&r);
	}
}

/* A guest that sends parts without end fills no memory; the RESULT is then too much as well. */
static void test_flood(void **state)
{
	struct guest_state g;
	struct run r;
	clock_t start = clock();

	begin(&g);
	for (int i = 0; i < 20000; i++) {
		cleanup_free char *text = str_printf("{\"metrics\":{\"m%d\":%d},\"k%d\":[[1,2,3],[4,5,6]]}", i, i, i);

		say(&g, WIRE_PARTIAL, text);
	}
	say(&g, WIRE_RESULT, "{\"metrics\":{}}");
	assert_true(g.result_bytes <= 1 << 20);
	assert_int_equal(json_object_size(json_object_get(g.result, "metrics")), 4096);
	assert_metric((finish(&g, &r), &r), "m4095", 4095);
	assert_null(run_metric(&r, "m4096"));
	assert_non_null(strstr(r.workload_json, "\"partial\":true"));
	run_free(&r);
	assert_true((clock() - start) / CLOCKS_PER_SEC < 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts_and_end),
		cmocka_unit_test(test_no_end),
		cmocka_unit_test(test_wrong_parts),
		cmocka_unit_test(test_flood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
