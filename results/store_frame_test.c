// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "results/store_bench.h"
#include "results/store_fixture.h"
#include "results/store_internal.h"

static void expect_text(const char *a, const char *b)
{
	if ((!a) != (!b) || (a && strcmp(a, b) != 0))
		fail_msg("\"%s\" is not \"%s\"", a ? a : "NULL", b ? b : "NULL");
}

static void expect_same_run(const struct run *a, const struct run *b)
{
	expect_text(a->id, b->id);
	expect_text(a->why, b->why);
	expect_text(a->accel, b->accel);
	expect_text(a->qemu_version, b->qemu_version);
	expect_text(a->host, b->host);
	expect_text(a->forked_from, b->forked_from);
	assert_int_equal(a->cell, b->cell);
	assert_int_equal(a->kernel, b->kernel);
	assert_int_equal(a->variant, b->variant);
	assert_true(a->seed == b->seed);
	assert_int_equal(a->verdict, b->verdict);
	assert_memory_equal(&a->started, &b->started, sizeof(a->started));
	assert_memory_equal(&a->ended, &b->ended, sizeof(a->ended));
	assert_memory_equal(a->phase, b->phase, sizeof(a->phase));
}

static void expect_same(const struct frame *a, const struct frame *b)
{
	expect_text(a->set.id, b->set.id);
	expect_text(a->set.command, b->set.command);
	assert_int_equal(a->set.nruns, b->set.nruns);
	assert_int_equal(a->set.nkernels, b->set.nkernels);
	assert_int_equal(a->set.nvariants, b->set.nvariants);
	assert_int_equal(a->nmetrics, b->nmetrics);
	for (size_t i = 0; i < a->set.nruns; i++)
		expect_same_run(&a->set.run[i], &b->set.run[i]);
	for (size_t i = 0; i < a->nmetrics; i++)
		assert_string_equal(a->metric[i], b->metric[i]);
	assert_memory_equal(a->value, b->value, a->nmetrics * a->set.nruns * sizeof(*a->value));
}

/* Of the index and of the folder, which are the same to the bit; the former goes to *f. */
static void load_both(struct store *s, const char *id, struct frame *f)
{
	cleanup_free char *dir = path_join(store_root(s), id);
	cleanup_error struct error err = ERROR_INIT;
	struct runset set;
	struct frame folder;

	if (strcmp(id, "last") == 0) {
		assert_int_equal(store_load_set(s, id, &set, &err), 0);
		free(dir);
		dir = path_join(store_root(s), set.id);
		runset_free(&set);
	}
	if (store_load_head(dir, &set, NULL, &err) < 0 || index_load_frame(s, &set, f, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(store_load_set(s, id, &set, &err), 0);
	frame_from_set(&set, &folder);
	expect_same(f, &folder);
	frame_free(&folder);
}

static void expect_row(const struct frame *f, const char *metric, double a, double b, double c)
{
	const double *v = frame_column(f, metric);

	assert_non_null(v);
	assert_true(v[0] == a && v[1] == b && v[2] == c);
}

#define REAL_SET "20261130-182005-alias-tmpfs-f40c"

static void test_real_runs(void **state)
{
	struct place *p = *state;
	cleanup_free char *dir = path_join(p->root, REAL_SET);
	struct store *s;
	struct frame f;

	fixture_copy("results/testdata/runset-7.3", dir);
	s = open_store(p->root);
	load_both(s, REAL_SET, &f);
	/* As results/testdata/runset-7.3 has them. */
	assert_int_equal(f.set.nruns, 3);
	assert_string_equal(f.set.run[2].id, "0008");
	assert_int_equal(f.set.run[2].variant, 1);
	expect_row(&f, "allocstall", 49, 1933, 2918);
	expect_row(&f, "time", 8.406191, 7.112049, 17.784941);
	frame_free(&f);
	assert_int_equal(store_load_frame(s, "last", &f, NULL), 0);
	expect_row(&f, "allocstall", 49, 1933, 2918);
	frame_free(&f);
	assert_int_equal(expect_sound(s), 3);
	store_close(s);
}

static void put_run(struct store *s, struct runset *set, struct run *r)
{
	struct store_run *sr;

	assert_int_equal(store_begin_run(s, set, r, &sr, NULL), 0);
	assert_int_equal(store_finish_run(sr, set, r, NULL), 0);
	run_free(r);
}

static void test_hostile(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = begin_set(s);
	struct run r = { .id = xstrdup("10000"),
			 .seed = UINT64_MAX,
			 .verdict = VERDICT_SPLAT,
			 .cell = 1,
			 .variant = 1,
			 .started = NAN,
			 .ended = 1796062805.4838212,
			 .phase = { 3.25, NAN, -1, 1e-9, INFINITY },
			 .why = xstrdup("panic: \x1b[31m'\"<script>,\n\xff\xfe"),
			 .qemu_version = xstrdup("QEMU \xc3\x28"),
			 .forked_from = xstrdup("") };
	static const char *const names[] = { "a,b",
					     "\"q'; DROP TABLE runs;--",
					     "<script>",
					     "\x1b[2J",
					     "two\nlines",
					     "bad \xff utf",
					     "" };
	const double values[] = { -0.0, 1e300, 5e-324, 1152921504606846976.0, 0.1, -7, 3 };
	struct frame f;
	const double *v;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		run_set_metric(&r, names[i], values[i]);
	run_set_metric(&r, "infinite", 1);
	r.metric[r.nmetrics - 1].value = INFINITY;
	put_run(s, &set, &r);
	add_run(s, &set, "9999");
	load_both(s, set.id, &f);
	assert_int_equal(f.set.nruns, 2);
	assert_string_equal(f.set.run[0].id, "9999");
	assert_true(f.set.run[1].seed == UINT64_MAX);
	assert_int_equal(f.nmetrics, ARRAY_SIZE(names) + 1);
	v = frame_column(&f, "a,b");
	assert_true(isnan(v[0]) && v[1] == 0 && !signbit(v[1]));
	assert_true(frame_column(&f, "<script>")[1] == 5e-324);
	assert_true(frame_column(&f, "\x1b[2J")[1] == 1152921504606846976.0);
	assert_true(frame_column(&f, "bad \\xff utf")[1] == -7);
	assert_true(isnan(frame_column(&f, "allocstall")[1]));
	frame_free(&f);
	assert_int_equal(expect_sound(s), 2);
	runset_free(&set);
	store_close(s);
}

static void expect_frame_fails(struct store *s, const char *which, const char *complaint)
{
	cleanup_error struct error err = ERROR_INIT;
	struct frame f;

	assert_int_equal(store_load_frame(s, which, &f, &err), -1);
	if (!strstr(err.text, complaint))
		fail_msg("\"%s\" does not say \"%s\"", err.text, complaint);
}

static void test_paths(void **state)
{
	struct place *p = *state;
	cleanup_free char *outside = path_join(p->root, "elsewhere/" REAL_SET), *inside = NULL;
	struct store *s = open_store(p->root);
	struct runset set = begin_set(s);
	struct frame f;

	add_run(s, &set, "0001");
	inside = str_printf("%s/./%s/", p->root, set.id);
	assert_int_equal(store_load_frame(s, inside, &f, NULL), 0);
	assert_string_equal(f.set.id, set.id);
	assert_int_equal(f.set.nruns, 1);
	frame_free(&f);
	fixture_copy("results/testdata/runset-7.3", outside);
	assert_int_equal(store_load_frame(s, outside, &f, NULL), 0);
	expect_row(&f, "allocstall", 49, 1933, 2918);
	frame_free(&f);
	expect_frame_fails(s, "nothing", "no such run set");
	runset_free(&set);
	store_close(s);
}

/* A run that is on disk and cannot be read must not be missing in silence. */
static void test_unreadable_run(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = begin_set(s);
	cleanup_free char *json = in_set(p, &set, "0002/run.json");
	cleanup_free char *notes = in_set(p, &set, "notes");
	struct frame f;

	add_run(s, &set, "0001");
	add_run(s, &set, "0002");
	assert_int_equal(mkdir(notes, 0755), 0);
	assert_int_equal(store_load_frame(s, "last", &f, NULL), 0);
	assert_int_equal(f.set.nruns, 2);
	frame_free(&f);
	store_close(s);
	assert_int_equal(file_write_atomic(json, "{", 1, 0644, NULL), 0);
	query_exec(p->root, "DELETE FROM runs WHERE id = '0002'");
	s = open_store(p->root);
	expect_frame_fails(s, "last", "0002/run.json:1:");
	runset_free(&set);
	store_close(s);
}

static void test_damaged_index(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = begin_set(s);
	static const char *const harm[] = {
		"UPDATE runs SET metrics = x'010203' WHERE id = '0001'",
		/* An id far beyond, and one that has no name. */
		"UPDATE runs SET metrics = x'ffffffff0000000000000000' WHERE id = '0001'",
		"UPDATE runs SET metrics = x'000000000000000000000000' WHERE id = '0001'",
		"UPDATE runs SET kernel_index = 5 WHERE id = '0001'",
		"UPDATE runs SET verdict = NULL WHERE id = '0001'",
		"DELETE FROM metric_names",
	};
	struct frame f;
	size_t n;

	add_run(s, &set, "0001");
	add_run(s, &set, "0002");
	for (size_t i = 0; i < ARRAY_SIZE(harm); i++) {
		query_exec(p->root, harm[i]);
		expect_frame_fails(s, "last", "mmrig results rebuild");
		expect_fault(s, "mmrig results rebuild");
		assert_int_equal(store_rebuild(s, &n, NULL), 0);
		assert_int_equal(store_load_frame(s, "last", &f, NULL), 0);
		assert_true(frame_column(&f, "allocstall")[1] == 86);
		frame_free(&f);
	}
	/* One bit of a value: it is 86, and becomes 86.00000000000001. */
	query_exec(p->root, "UPDATE runs SET metrics = substr(metrics, 1, 4) || x'01' ||"
			    " substr(metrics, 6) WHERE id = '0002'");
	expect_fault(s, "0002: allocstall of run.json is not that of the index");
	query_exec(p->root, "UPDATE runs SET metrics = x'' WHERE id = '0002'");
	expect_fault(s, "0002: allocstall of run.json is not that of the index");
	runset_free(&set);
	store_close(s);
}

/* The first version had a row a metric; nothing of it is kept. */
static void test_older_index(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = begin_set(s);
	struct store_entry *entries;
	struct frame f;
	size_t n;

	add_run(s, &set, "0001");
	store_close(s);
	query_exec(p->root, "DROP TABLE runs; DROP TABLE metric_names; DROP TABLE runsets;"
			    "CREATE TABLE runsets(id TEXT PRIMARY KEY, scenario TEXT, title TEXT,"
			    " command TEXT, created REAL);"
			    "CREATE TABLE runs(runset TEXT, id TEXT, cell INTEGER, verdict TEXT,"
			    " PRIMARY KEY(runset, id)) WITHOUT ROWID;"
			    "CREATE TABLE phases(runset TEXT, run TEXT, phase TEXT, seconds REAL);"
			    "CREATE TABLE metrics(runset TEXT, run TEXT, name TEXT, value REAL);"
			    "INSERT INTO runsets VALUES('gone', 'x', 'x', 'x', 1);"
			    "PRAGMA user_version = 1");
	s = open_store(p->root);
	assert_true(query_number(p->root, "PRAGMA user_version") == 2);
	assert_int_equal(store_list(s, &entries, &n, NULL), 0);
	assert_int_equal(n, 1);
	assert_int_equal(entries[0].count[VERDICT_OK], 1);
	store_entries_free(entries, n);
	assert_int_equal(store_load_frame(s, "last", &f, NULL), 0);
	assert_true(frame_column(&f, "allocstall")[0] == 86);
	frame_free(&f);
	assert_true(query_number(p->root, "SELECT count(*) FROM sqlite_master WHERE name IN"
					  " ('metrics', 'phases')") == 0);
	runset_free(&set);
	store_close(s);
}

static void test_bench_store(void **state)
{
	struct place *p = *state;
	cleanup_error struct error err = ERROR_INIT;
	struct store *s;
	struct frame f;

	if (store_bench_make(p->root, 21, 300, &err) < 0)
		fail_msg("%s", err.text);
	s = open_store(p->root);
	load_both(s, "last", &f);
	assert_int_equal(f.set.nruns, 21);
	assert_int_equal(f.nmetrics, 300);
	assert_int_equal(f.set.run[20].kernel, 0);
	frame_free(&f);
	assert_int_equal(expect_sound(s), 21);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_real_runs),	STORE_TEST(test_hostile),
		STORE_TEST(test_paths),		STORE_TEST(test_unreadable_run),
		STORE_TEST(test_damaged_index), STORE_TEST(test_older_index),
		STORE_TEST(test_bench_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
