// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "results/store_fixture.h"

static int count_sample(void *arg, const struct wire_sample *sample)
{
	size_t *sum = arg;

	*sum = *sum * 10 + sample->mono_ns;
	return sample->mono_ns == 4 ? 42 : 0;
}

static void test_round_trip(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = begin_set(s), back;
	struct run r = { .id = xstrdup("0001"), .seed = 3, .verdict = VERDICT_OK };
	struct store_run *sr;
	cleanup_free char *big = xcalloc(1, 3000000), *scratch = NULL, *console = NULL,
			  *path = NULL;
	uint8_t *sample = xmalloc(3000100);
	size_t sum = 0, len;

	assert_string_equal(store_root(s), p->root);
	assert_int_equal(strlen(set.id), strlen("20261130-171500-alias-tmpfs-3f2a"));
	assert_int_equal(store_begin_run(s, &set, &r, &sr, NULL), 0);
	scratch = path_join(store_run_dir(sr), "scratch/initrd");
	assert_int_equal(file_write_atomic(scratch, "x", 1, 0600, NULL), 0);
	/* Before the end it is a lost guest, whatever the caller said. */
	path = path_join(store_run_dir(sr), "run.json");
	console = file_read(path, 0, NULL, NULL);
	assert_non_null(strstr(console, "\"verdict\": \"guest-lost\""));
	free(console);
	free(path);
	assert_int_equal(store_console(sr, "one\0two", 7, NULL), 0);
	assert_int_equal(store_console(sr, "\n", 1, NULL), 0);
	for (uint64_t i = 1; i <= 3; i++) {
		len = sample_make(sample, i, "vmstat", big, i == 2 ? 3000000 : (uint32_t)i);
		assert_int_equal(store_sample(sr, sample, (uint32_t)len, NULL), 0);
	}
	assert_int_equal(store_finish_run(sr, &set, &r, NULL), 0);
	run_free(&r);
	free(sample);

	path = in_set(p, &set, "0001/console.log");
	console = file_read(path, 0, &len, NULL);
	assert_int_equal(len, 8);
	assert_memory_equal(console, "one\0two\n", 8);
	free(path);
	path = in_set(p, &set, "0001/scratch");
	assert_false(file_exists(path));
	assert_int_equal(store_each_sample(s, set.id, "0001", count_sample, &sum, NULL), 0);
	assert_int_equal(sum, 123);
	assert_int_equal(store_load_set(s, "last", &back, NULL), 0);
	assert_int_equal(back.nruns, 1);
	assert_int_equal(back.run[0].seed, 3);
	assert_string_equal(back.row_title, "free pages at");
	assert_string_equal(back.variant[1].value[0].text, "4");
	assert_int_equal(expect_sound(s), 1);
	runset_free(&set);
	runset_free(&back);
	store_close(s);
}

static void test_sample_stop_and_damage(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = begin_set(s);
	struct run r = { .id = xstrdup("0001"), .verdict = VERDICT_OK };
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *path = in_set(p, &set, "0001/samples.zst"), *data = NULL;
	struct store_run *sr;
	uint8_t sample[64];
	size_t sum = 0, len;

	assert_int_equal(store_begin_run(s, &set, &r, &sr, NULL), 0);
	for (uint64_t i = 3; i <= 5; i++) {
		uint32_t n = sample_make(sample, i, "psi", "x", 1);

		assert_int_equal(store_sample(sr, sample, n, NULL), 0);
	}
	assert_int_equal(store_finish_run(sr, &set, &r, NULL), 0);
	run_free(&r);
	assert_int_equal(store_each_sample(s, set.id, "0001", count_sample, &sum, NULL), 42);
	assert_int_equal(sum, 34);

	data = file_read(path, 0, &len, NULL);
	assert_int_equal(truncate(path, (off_t)len - 3), 0);
	expect_fault(s, "samples.zst: damaged: cut off");
	data[len / 2] ^= 0x55;
	assert_int_equal(file_write_atomic(path, data, len, 0644, NULL), 0);
	expect_fault(s, "samples.zst: damaged");
	assert_int_equal(store_each_sample(s, "..", "0001", count_sample, &sum, &err), -1);
	assert_int_equal(err.status, EXIT_USAGE);
	runset_free(&set);
	store_close(s);
}

static void expect_choice(struct store *s, const char *which, const char *id, const char *complaint)
{
	cleanup_error struct error err = ERROR_INIT;
	struct runset set;
	int ret = store_load_set(s, which, &set, &err);

	assert_int_equal(ret, id ? 0 : -1);
	if (id) {
		assert_string_equal(set.id, id);
		runset_free(&set);
		return;
	}
	assert_int_equal(err.status, EXIT_USAGE);
	if (!strstr(err.text, complaint))
		fail_msg("\"%s\" does not say \"%s\"", err.text, complaint);
}

static void test_choose(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset a, b;
	cleanup_free char *path = NULL, *typo = NULL;
	char **ids;
	size_t n;

	expect_choice(s, "last", NULL, "no run set yet");
	a = begin_set(s);
	b = begin_set(s);
	assert_string_not_equal(a.id, b.id);
	assert_int_equal(store_list_sets(s, &ids, &n, NULL), 0);
	assert_int_equal(n, 2);
	assert_string_equal(ids[0], b.id);
	assert_string_equal(ids[1], a.id);
	for (size_t i = 0; i < n; i++)
		free(ids[i]);
	free(ids);
	expect_choice(s, "last", b.id, NULL);
	expect_choice(s, a.id, a.id, NULL);
	/* The four random digits; two sets share them once in 65,536 tests. */
	if (strcmp(a.id + strlen(a.id) - 4, b.id + strlen(b.id) - 4) != 0)
		expect_choice(s, a.id + strlen(a.id) - 4, a.id, NULL);
	path = str_printf("%s/%s", p->root, a.id);
	expect_choice(s, path, a.id, NULL);
	expect_choice(s, "20", NULL, "more than one");
	expect_choice(s, "nothing", NULL, "mmrig results list");
	expect_choice(s, "", NULL, "no such run set");
	expect_choice(s, "../x", NULL, "no such run set");
	typo = xstrdup(b.id);
	typo[3] = 'x';
	expect_choice(s, typo, NULL, "did you mean 20");
	runset_free(&a);
	runset_free(&b);
	store_close(s);
}

static void test_names(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = fixture_set();
	struct store_run *sr;
	static const char *const bad[] = { "", "../x", ".hidden", "a/b", "a b" };

	free(set.scenario);
	set.scenario = xstrdup("../../etc/pass wd\n\xff");
	assert_int_equal(store_begin_set(s, &set, NULL), 0);
	assert_null(strchr(set.id, '/'));
	assert_null(strchr(set.id, ' '));
	assert_int_equal(store_begin_run(s, &set, &(struct run){ 0 }, &sr, NULL), -1);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct run r = { .id = xstrdup(bad[i]) };

		assert_int_equal(store_begin_run(s, &set, &r, &sr, NULL), -1);
		run_free(&r);
	}
	add_run(s, &set, "0001");
	assert_int_equal(make_run(s, &set, "0001", NULL), -1);
	assert_int_equal(expect_sound(s), 1);
	runset_free(&set);
	store_close(s);
}

/* "9999" comes before "10000". */
static void test_order(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = begin_set(s), back;

	add_run(s, &set, "10000");
	add_run(s, &set, "0002");
	add_run(s, &set, "9999");
	assert_int_equal(store_load_set(s, "last", &back, NULL), 0);
	assert_int_equal(back.nruns, 3);
	assert_string_equal(back.run[0].id, "0002");
	assert_string_equal(back.run[1].id, "9999");
	assert_string_equal(back.run[2].id, "10000");
	runset_free(&back);
	runset_free(&set);
	store_close(s);
}

static void test_index(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = begin_set(s), back;
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *db = path_join(p->root, "mmrig.db"), *run = in_set(p, &set, "0002");
	cleanup_free char *json = in_set(p, &set, "0001/run.json");
	struct store_entry *entries;
	size_t n;

	add_run(s, &set, "0001");
	add_run(s, &set, "0002");
	assert_true(query_number(p->root, "PRAGMA user_version") == 2);
	expect_indexed(s, set.id, "allocstall", 86, 86);
	query_exec(p->root, "UPDATE runs SET verdict = 'splat' WHERE id = '0002'");
	expect_fault(s, "ok in run.json, splat in the index");
	assert_int_equal(store_rebuild(s, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_int_equal(expect_sound(s), 2);
	query_exec(p->root, "DELETE FROM runs WHERE id = '0001'");
	expect_fault(s, "0001: not in the index");
	store_close(s);

	/* Taken in by the next open; what was deleted by hand goes. */
	s = open_store(p->root);
	assert_int_equal(expect_sound(s), 2);
	assert_int_equal(dir_remove(run, NULL), 0);
	store_close(s);
	s = open_store(p->root);
	assert_true(query_number(p->root, "SELECT count(*) FROM runs") == 1);
	store_close(s);

	/* Junk, and nothing at all, are made again from the folders. */
	assert_int_equal(file_write_atomic(db, "this is no database, only text of some length", 45,
					   0644, NULL),
			 0);
	s = open_store(p->root);
	assert_int_equal(store_list(s, &entries, &n, NULL), 0);
	assert_int_equal(n, 1);
	assert_int_equal(entries[0].count[VERDICT_OK], 1);
	assert_string_equal(entries[0].title, "Aliasing");
	store_entries_free(entries, n);
	store_close(s);

	/* A newer index is not touched. */
	query_exec(p->root, "PRAGMA user_version = 99");
	assert_int_equal(store_open(p->root, true, &s, &err), -1);
	assert_non_null(strstr(err.text, "newer mmrig"));
	query_exec(p->root, "PRAGMA user_version = 2");

	/* A damaged run is named by all who read it. */
	assert_int_equal(file_write_atomic(json, "{\"schema\": 1,", 13, 0644, NULL), 0);
	s = open_store(p->root);
	assert_int_equal(store_load_set(s, "last", &back, &err), -1);
	assert_non_null(strstr(err.text, "0001/run.json:1:"));
	expect_fault(s, "0001/run.json:1:");
	assert_int_equal(store_rebuild(s, &n, &err), -1);
	assert_int_equal(n, 0);
	assert_non_null(strstr(err.text, "0001/run.json:1:"));
	runset_free(&set);
	store_close(s);
}

static void test_no_folder(void **state)
{
	struct place *p = *state;
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *missing = path_join(p->root, "a b,c/deep"),
			  *file = path_join(p->root, "file");
	struct store *s;
	uint64_t bytes = 0;

	assert_int_equal(store_open(missing, false, &s, &err), -1);
	assert_int_equal(err.status, EXIT_USAGE);
	assert_non_null(strstr(err.text, "MMRIG_RESULTS"));
	assert_int_equal(store_open(missing, true, &s, &err), 0);
	assert_int_equal(store_free_bytes(s, &bytes, &err), 0);
	assert_true(bytes > 0);
	store_close(s);
	assert_int_equal(file_write_atomic(file, "x", 1, 0644, NULL), 0);
	assert_int_equal(store_open(file, true, &s, &err), -1);
	assert_int_equal(err.status, EXIT_USAGE);
	assert_non_null(strstr(err.text, "no folder"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_round_trip),
		STORE_TEST(test_sample_stop_and_damage),
		STORE_TEST(test_choose),
		STORE_TEST(test_names),
		STORE_TEST(test_order),
		STORE_TEST(test_index),
		STORE_TEST(test_no_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
