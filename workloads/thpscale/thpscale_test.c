// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/thpscale/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

#include "guest/job.h"
#include "guest/registry.h"

#define PRESENT (1ull << 63)
#define HEAD (1ull << 15)
#define TAIL (1ull << 16)
#define MIB (1ull << 20)

/* ---- how many threads ---- */

static void expect_counts(unsigned int most, const char *want)
{
	unsigned int counts[THREAD_COUNTS_MAX];
	size_t n = thread_counts(most, counts);
	char text[64] = "";

	for (size_t i = 0; i < n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u", i ? "," : "", counts[i]);
	assert_string_equal(text, want);
}

static void test_counts(void **state)
{
	expect_counts(32, "1,3,5,7,12,18,24,30,32"); /* as in the post */
	expect_counts(8, "1,3,5,7,8");
	expect_counts(7, "1,3,5,7");
	expect_counts(4, "1,3,4");
	expect_counts(1, "1");
	expect_counts(2, "1,2");
	expect_counts(16, "1,3,5,7,12,16");
	expect_counts(12, "1,3,5,7,12");
	expect_counts(31, "1,3,5,7,12,18,24,30,31");
}

/* ---- what a fault gave ---- */

static uint64_t pagemap[HUGE_PAGES], flags[HUGE_PAGES];

/* A block of so many pages, and then none. */
static void set_block(unsigned int order, uint64_t pfn)
{
	memset(pagemap, 0, sizeof(pagemap));
	memset(flags, 0, sizeof(flags));
	for (unsigned int i = 0; i < 1u << order; i++) {
		pagemap[i] = PRESENT | (pfn + i);
		flags[i] = order ? i ? TAIL : HEAD : 0;
	}
}

static void test_orders(void **state)
{
	for (int order = 0; order <= 9; order++) {
		set_block((unsigned int)order, 0x1200);
		assert_int_equal(fault_order(pagemap, flags), order);
	}
	assert_int_equal(fault_class_of(0), FAULT_BASE);
	assert_int_equal(fault_class_of(2), FAULT_MTHP);
	assert_int_equal(fault_class_of(6), FAULT_MTHP); /* 256 KiB: base to mmtests */
	assert_int_equal(fault_class_of(7), FAULT_MTHP); /* 512 KiB: huge to mmtests */
	assert_int_equal(fault_class_of(8), FAULT_MTHP);
	assert_int_equal(fault_class_of(9), FAULT_HUGE);
	assert_int_equal(fault_class_of(-1), FAULT_UNSEEN);
}

static void test_no_block(void **state)
{
	memset(pagemap, 0, sizeof(pagemap));
	assert_int_equal(fault_order(pagemap, flags), -1); /* swapped out meanwhile */
	/* Pages side by side that are no compound page: so many faults, or as many by chance. */
	set_block(9, 0x1200);
	memset(flags, 0, sizeof(flags));
	assert_int_equal(fault_order(pagemap, flags), 0);
	/* A page of 64 KiB, and others beside it. */
	set_block(9, 0x1200);
	memset(flags, 0, sizeof(flags));
	flags[0] = HEAD;
	for (int i = 1; i < 16; i++)
		flags[i] = TAIL;
	assert_int_equal(fault_order(pagemap, flags), 4);
	/* All of it is there, but not on one huge page. */
	set_block(9, 0x1200);
	pagemap[300] = PRESENT | 0x99999;
	assert_int_equal(fault_order(pagemap, flags), 8);
}

static void test_sizes(void **state)
{
	struct round r = { .threads = 3, .slice = round_slice(100 * MIB, 3) };

	assert_int_equal(r.slice, 32 * MIB); /* 33.3 */
	assert_int_equal(round_slots(&r), 8);
	/* 16 ranges of 2 MiB filled, 8 MiB of the file, 8 faults; three times. */
	assert_int_equal(round_steps(100 * MIB, 3), 3 * (16 + 4 + 8));
	/* 10 MiB: 5 filled, 2.5 MiB of the file, 2 faults. */
	assert_int_equal(round_steps(10 * MIB, 1), 5 + 2 + 2);
	assert_int_equal(round_slice(128 * MIB, 32), THREAD_MAP_LEAST);
}

/* ---- what is told ---- */

static struct round_thread threads[2];
static struct fault faults[4];

/* Two threads of two faults. */
static struct round two_threads(void)
{
	struct round r = { .threads = 2, .slice = 4 * HUGE_BYTES, .thread = threads };

	threads[0] = (struct round_thread){ .fault = faults, .anon_ns = 1000000, .file_ns = 10000 };
	threads[1] = (struct round_thread){ .fault = faults + 2, .anon_ns = 3000000, .file_ns = 20000 };
	return r;
}

static json_t *metrics_of(const struct round *r)
{
	char out[2048], text[2100];
	json_t *o;

	round_metrics(r, out, sizeof(out));
	snprintf(text, sizeof(text), "{%s}", out);
	o = json_loads(text, 0, NULL);
	assert_non_null(o);
	return o;
}

static void has(const json_t *o, const char *name, double value)
{
	const json_t *v = json_object_get(o, name);

	if (!json_is_number(v))
		fail_msg("%s: absent", name);
	if (json_number_value(v) < value - 0.001 || json_number_value(v) > value + 0.001)
		fail_msg("%s: %f, not %f", name, json_number_value(v), value);
}

static void test_metrics(void **state)
{
	struct round r = two_threads();
	json_t *o;

	faults[0] = (struct fault){ 1000, 5000, FAULT_HUGE, true };
	faults[1] = (struct fault){ 3000, 7000, FAULT_HUGE, false };
	faults[2] = (struct fault){ 500, 90000, FAULT_BASE, true };
	faults[3] = (struct fault){ 700, 20000, FAULT_MTHP, false };
	o = metrics_of(&r);
	has(o, "fault_huge_2", 6);
	has(o, "fault_first_huge_2", 2);
	has(o, "fault_base_2", 90);
	has(o, "fault_first_base_2", 0.5);
	has(o, "fault_mthp_2", 20);
	has(o, "fault_both_2", 122 / 4.0);
	has(o, "fault_first_both_2", 5.2 / 4);
	has(o, "huge_share_2", 50);
	has(o, "mthp_share_2", 25);
	assert_int_equal(json_object_size(o), 10); /* and no locality on one node */
	json_decref(o);
	r.nodes = true;
	o = metrics_of(&r);
	has(o, "local_share_huge_2", 50);
	has(o, "local_share_base_2", 100);
	assert_int_equal(json_object_size(o), 12);
	json_decref(o);
}

/* No metric of a class without a fault; what was not seen is in no share. */
static void test_absent(void **state)
{
	struct round r = two_threads();
	json_t *o;

	for (int i = 0; i < 4; i++)
		faults[i] = (struct fault){ 1000, 2000, FAULT_BASE, false };
	faults[3].class = FAULT_UNSEEN;
	o = metrics_of(&r);
	has(o, "huge_share_2", 0);
	has(o, "mthp_share_2", 0);
	has(o, "fault_both_2", 2);
	assert_null(json_object_get(o, "fault_huge_2"));
	assert_null(json_object_get(o, "fault_mthp_2"));
	assert_null(json_object_get(o, "fault_unseen_2"));
	json_decref(o);
	for (int i = 0; i < 4; i++)
		faults[i].class = FAULT_UNSEEN;
	o = metrics_of(&r);
	assert_null(json_object_get(o, "huge_share_2"));
	json_decref(o);
}

static void test_extra(void **state)
{
	static char out[28000], text[28100];
	struct round r = two_threads();
	json_t *o, *t;
	json_int_t anon, file, base, huge, unseen;

	faults[0] = (struct fault){ 1000, 5000, FAULT_HUGE, true };
	faults[1] = (struct fault){ 1000, 5000, FAULT_HUGE, true };
	faults[2] = (struct fault){ 10, 15, FAULT_BASE, true };
	faults[3] = (struct fault){ 10, 15, FAULT_UNSEEN, true };
	round_extra(&r, out, sizeof(out));
	snprintf(text, sizeof(text), "{%s}", out);
	o = json_loads(text, 0, NULL);
	t = json_object_get(o, "threads_2");
	assert_int_equal(json_unpack(t, "{s:I,s:I,s:{s:I,s:I,s:I}}", "anon_us", &anon, "file_us", &file,
				     "faults", "base", &base, "huge", &huge, "unseen", &unseen),
			 0);
	assert_int_equal(anon, 2000);
	assert_int_equal(file, 15);
	assert_int_equal(base, 1);
	assert_int_equal(huge, 2);
	assert_int_equal(unseen, 1);
	/* [15, 15, 1], and two of 5000 in one bucket. */
	t = json_object_get(json_object_get(o, "threads_2"), "fault");
	assert_int_equal(json_object_size(t), 2);
	assert_int_equal(json_integer_value(json_array_get(json_array_get(json_object_get(t, "base"), 0), 0)), 15);
	assert_int_equal(json_integer_value(json_array_get(json_array_get(json_object_get(t, "huge"), 0), 2)), 2);
	json_decref(o);
}

/* However many different latencies there are, it fits a message and is whole. */
static void test_many(void **state)
{
	static char out[28000], text[28100];
	struct round r = two_threads();
	struct fault *many = calloc(20000, sizeof(*many));
	json_t *o;

	r.slice = 20000ull * HUGE_BYTES;
	for (size_t i = 0; i < 20000; i++)
		many[i] = (struct fault){ i * i * 997, i * i * i * 31 + i * i * 997, (uint8_t)(i % 3), false };
	threads[0].fault = many;
	threads[1].fault = many + 10000;
	round_extra(&r, out, sizeof(out));
	assert_true(strlen(out) < sizeof(out) - 1);
	snprintf(text, sizeof(text), "{%s}", out);
	o = json_loads(text, 0, NULL);
	assert_non_null(o);
	json_decref(o);
	free(many);
}

/* ---- what is refused before the boot ---- */

static void expect(const char *params, const char *param, const char *why, bool of_memory)
{
	struct step_context c = { .memory_bytes = 512 * MIB };
	struct step_fault f = { .param = "untouched" };
	char text[256];
	struct job job;
	int bad, ret;

	snprintf(text, sizeof(text), "workload do=thpscale %s\n", params);
	assert_int_equal(job_parse(&job, text, &bad), 0);
	ret = workload_find("thpscale")->check(job_next(&job, NULL, "workload"), &c, &f);
	job_free(&job);
	if (!why) {
		assert_int_equal(ret, 0);
		return;
	}
	assert_int_equal(ret, -1);
	assert_string_equal(f.param, param);
	assert_int_equal(f.of_memory, of_memory);
	if (!strstr(f.why, why))
		fail_msg("\"%s\" lacks \"%s\"", f.why, why);
}

static void test_check(void **state)
{
	expect("max_threads=8 min_threads=1", NULL, NULL, false);
	expect("max_threads=32 min_threads=32", NULL, NULL, false);
	expect("max_threads=8 min_threads=9", "min_threads", "min_threads is 9, and max_threads 8", false);
	expect("max_threads=8 min_threads=1 map=536870912", NULL, NULL, false);
	expect("max_threads=8 min_threads=1 map=536870913", "map", "map is 536870913, and the guest has 512M",
	       true);
	expect("max_threads=32 min_threads=1 map=134217728", NULL, NULL, false);
	expect("max_threads=32 min_threads=1 map=134217727", "map",
	       "32 threads need 4M each, and map is 134217727", false);
	expect("max_threads=129 min_threads=1", "max_threads", "129 threads need 4M each, and the guest has 512M",
	       true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),	cmocka_unit_test(test_orders),
		cmocka_unit_test(test_no_block), cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_metrics), cmocka_unit_test(test_absent),
		cmocka_unit_test(test_extra),	cmocka_unit_test(test_many),
		cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
