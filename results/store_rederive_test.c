// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "results/store_fixture.h"

static void put_sample(struct store_run *sr, enum wire_edge edge, uint64_t ns, const char *name,
		       const char *text)
{
	uint8_t sample[512];
	uint32_t len = sample_make(sample, ns, name, text, (uint32_t)strlen(text));

	sample[8] = (uint8_t)edge;
	assert_int_equal(store_sample(sr, sample, len, NULL), 0);
}

/* As an mmrig recorded it that took the last allocstall_* for all, and knew no free pages. */
static void old_run(struct store *s, struct runset *set, const char *id, const char *detail)
{
	struct run r = { .id = xstrdup(id),
			 .seed = 1,
			 .verdict = VERDICT_OK,
			 .detail = detail ? xstrdup(detail) : NULL,
			 .workload_json = xstrdup("{\"metrics\":{\"files\":5,\"own\":2.5}}") };
	struct store_run *sr;

	run_set_metric(&r, "allocstall", 7);
	run_set_metric(&r, "old_name", 1);
	run_set_metric(&r, "files", 5);
	run_set_metric(&r, "own", 2.5);
	run_set_metric(&r, "sampling", 0.25);
	assert_int_equal(store_begin_run(s, set, &r, &sr, NULL), 0);
	put_sample(sr, EDGE_BEGIN, 1000000000, "vmstat",
		   "allocstall_normal 10\nallocstall_movable 3\npgscan_kswapd 0\nback 5\n");
	put_sample(sr, EDGE_NONE, 2000000000, "vmstat", "allocstall_normal 500\n");
	put_sample(sr, EDGE_END, 3000000000, "vmstat",
		   "allocstall_normal 1060\nallocstall_movable 10\npgscan_kswapd 30\nback 4\n");
	put_sample(sr, EDGE_END, 3000000000, "buddyinfo", "Node 0, zone Normal 4 2\n");
	assert_int_equal(store_finish_run(sr, set, &r, NULL), 0);
	run_free(&r);
}

static struct store_rederived rederive(struct store *s, struct strbuf *faults)
{
	struct store_rederived count = { .report = on_fault, .arg = faults };

	assert_int_equal(store_rederive(s, &count, NULL), 0);
	return count;
}

static void expect(const struct run *r, const char *name, double value)
{
	const double *got = run_metric(r, name);

	if (!got || *got != value)
		fail_msg("%s is %f, not %f", name, got ? *got : -1, value);
}

static void test_rederive(void **state)
{
	struct place *p = *state;
	struct strbuf faults = STRBUF_INIT;
	struct store *s = open_store(p->root);
	struct runset set = begin_set(s), loaded;
	struct store_rederived count;
	char *path, *text, *more;
	size_t len;

	old_run(s, &set, "0001", "layout ok\ncounters that went backwards, left out: x\nlast\n");
	old_run(s, &set, "0002", NULL);
	/* What a newer mmrig wrote beside it stays. */
	path = in_set(p, &set, "0002/run.json");
	text = file_read(path, 0, &len, NULL);
	more = str_printf("{\"of_the_future\": [1, 2.5],%s", text + 1);
	assert_int_equal(file_write_atomic(path, more, strlen(more), 0644, NULL), 0);

	count = rederive(s, &faults);
	assert_int_equal(count.runs, 2);
	assert_int_equal(count.changed, 2);
	assert_int_equal(count.failed, 0);
	assert_int_equal(store_load_set(s, set.id, &loaded, NULL), 0);
	for (size_t i = 0; i < 2; i++) {
		const struct run *r = &loaded.run[i];

		expect(r, "allocstall", 1057);
		expect(r, "kswapd_velocity", 15);
		expect(r, "free_order1_Normal", 4);
		expect(r, "files", 5);
		expect(r, "own", 2.5);
		expect(r, "sampling", 0.25);
		assert_null(run_metric(r, "old_name"));
		assert_null(run_metric(r, "back"));
		assert_int_equal(r->verdict, VERDICT_OK);
	}
	assert_string_equal(loaded.run[0].detail, "layout ok\nlast\n\n"
						  "counters that went backwards, left out: back");
	assert_string_equal(loaded.run[1].detail, "counters that went backwards, left out: back");
	runset_free(&loaded);
	free(text);
	text = file_read(path, 0, &len, NULL);
	assert_non_null(strstr(text, "of_the_future"));

	/* The index follows. */
	assert_int_equal(expect_sound(s), 2);
	expect_indexed(s, set.id, "allocstall", 1057, 1057);
	expect_indexed(s, set.id, "old_name", NAN, NAN);
	assert_null(faults.data);
	free(text);
	free(more);
	free(path);
	runset_free(&set);
	store_close(s);
}

static void test_nothing_to_do(void **state)
{
	struct place *p = *state;
	struct strbuf faults = STRBUF_INIT;
	struct store *s = open_store(p->root);
	struct runset set = begin_set(s);
	struct store_rederived count;

	assert_int_equal(rederive(s, &faults).runs, 0);
	old_run(s, &set, "0001", "one\n\ntwo\n");
	assert_int_equal(rederive(s, &faults).changed, 1);
	count = rederive(s, &faults);
	assert_int_equal(count.runs, 1);
	assert_int_equal(count.changed, 0);
	runset_free(&set);
	store_close(s);
}

static void test_damaged(void **state)
{
	struct place *p = *state;
	struct strbuf faults = STRBUF_INIT;
	struct store *s = open_store(p->root);
	struct runset set = begin_set(s), loaded;
	struct store_rederived count;
	char *path;

	old_run(s, &set, "0001", NULL);
	old_run(s, &set, "0002", NULL);
	path = in_set(p, &set, "0001/samples.zst");
	assert_int_equal(truncate(path, 30), 0);
	count = rederive(s, &faults);
	assert_int_equal(count.runs, 2);
	assert_int_equal(count.changed, 1);
	assert_int_equal(count.failed, 1);
	assert_non_null(strstr(faults.data, "0001/samples.zst: damaged"));
	assert_int_equal(store_load_set(s, set.id, &loaded, NULL), 0);
	expect(&loaded.run[0], "allocstall", 7); /* as it was, not half of it */
	expect(&loaded.run[0], "old_name", 1);
	expect(&loaded.run[1], "allocstall", 1057);
	runset_free(&loaded);
	strbuf_free(&faults);
	free(path);
	runset_free(&set);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_rederive),
		STORE_TEST(test_nothing_to_do),
		STORE_TEST(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
