// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "results/store_fixture.h"
#include "results/store_sums.h"

static const char *const files[] = { "runset.json",	 "checksums",	     "0001/run.json",
				     "0001/console.log", "0001/samples.zst", "0001/checksums" };

static size_t count_faults(struct store *s, struct store_verified *count)
{
	cleanup_strbuf struct strbuf faults = STRBUF_INIT;

	assert_int_equal(store_verify(s, on_fault, &faults, count, NULL), 0);
	return faults.len;
}

/* Every bit of one byte in five, and so of every kind of place. */
static void test_every_flip_is_found(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = begin_set(s);
	struct store_verified count;

	add_run(s, &set, "0001");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		cleanup_free char *path = in_set(p, &set, files[i]);
		size_t len;
		cleanup_free char *data = file_read(path, 0, &len, NULL);
		FILE *f = fopen(path, "r+");

		assert_non_null(f);
		setvbuf(f, NULL, _IONBF, 0);
		for (size_t at = 0; at < len; at += 1 + at % 5) {
			fseek(f, (long)at, SEEK_SET);
			fputc(data[at] ^ (1 << at % 8), f);
			if (!count_faults(s, &count))
				fail_msg("%s: byte %zu flipped, and no fault", files[i], at);
			fseek(f, (long)at, SEEK_SET);
			fputc(data[at], f);
		}
		fclose(f);
		assert_int_equal(expect_sound(s), 1);
	}
	runset_free(&set);
	store_close(s);
}

static void test_missing_files(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = begin_set(s);
	cleanup_free char *away = path_join(p->root, "away");

	add_run(s, &set, "0001");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		cleanup_free char *path = in_set(p, &set, files[i]);

		if (str_ends(files[i], "checksums"))
			continue;
		assert_int_equal(rename(path, away), 0);
		expect_fault(s, files[i]);
		assert_int_equal(rename(away, path), 0);
	}
	assert_int_equal(expect_sound(s), 1);
	runset_free(&set);
	store_close(s);
}

static void test_superfluous_and_unsummed(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = begin_set(s);
	cleanup_free char *note = in_set(p, &set, "0001/note"), *folder = in_set(p, &set, "mine");
	cleanup_free char *sums = in_set(p, &set, "0001/checksums");
	cleanup_free char *set_sums = in_set(p, &set, "checksums");
	cleanup_free char *console = in_set(p, &set, "0001/console.log");
	struct store_verified count;

	add_run(s, &set, "0001");
	add_run(s, &set, "0002");
	assert_int_equal(file_write_atomic(note, "x", 1, 0644, NULL), 0);
	assert_int_equal(mkdir(folder, 0755), 0);
	assert_int_equal(expect_sound(s), 2);
	/* As an older mmrig left it. */
	assert_int_equal(unlink(sums), 0);
	assert_int_equal(unlink(set_sums), 0);
	assert_int_equal(count_faults(s, &count), 0);
	assert_int_equal(count.runs, 2);
	assert_int_equal(count.unsummed, 1);
	assert_int_equal(count.without, 0);
	assert_int_equal(unlink(console), 0);
	expect_fault(s, "0001/console.log: is missing");
	runset_free(&set);
	store_close(s);
}

static int sha256sum_child(struct place *p)
{
	if (chdir(p->root) < 0)
		return 126;
	execlp("sha256sum", "sha256sum", "--check", "--status", "--strict", "checksums", NULL);
	return 127;
}

static int sha256sum(const char *dir)
{
	struct place at;

	snprintf(at.root, sizeof(at.root), "%s", dir);
	return in_child(sha256sum_child, &at);
}

/* The other program that can read them agrees, also where the samples were removed. */
static void test_sha256sum(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = begin_set(s);
	cleanup_free char *run = in_set(p, &set, "0001"), *whole = in_set(p, &set, "");
	cleanup_free char *samples = in_set(p, &set, "0001/samples.zst");
	struct store_verified count;

	add_run(s, &set, "0001");
	assert_int_equal(sha256sum(run), 0);
	assert_int_equal(sha256sum(whole), 0);
	assert_int_equal(unlink(samples), 0);
	assert_int_equal(sha256sum(run), 1);
	assert_int_equal(sums_mark_removed(run, "samples.zst", NULL), 0);
	assert_int_equal(sha256sum(run), 0);
	assert_int_equal(count_faults(s, &count), 0);
	assert_int_equal(count.without, 1);
	runset_free(&set);
	store_close(s);
}

static void test_malformed(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = begin_set(s);
	cleanup_free char *sums = in_set(p, &set, "0001/checksums"), *big = xcalloc(1, 2000000);
	static const char *const bad[] = {
		"x\n",
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad run.json\n",
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  \n",
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  run.json",
		"# removed: run.json\n",
	};

	add_run(s, &set, "0001");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(file_write_atomic(sums, bad[i], strlen(bad[i]), 0644, NULL), 0);
		expect_fault(s, "checksums: damaged: a line is no checksum");
	}
	assert_int_equal(file_write_atomic(sums, "", 0, 0644, NULL), 0);
	expect_fault(s, "checksums: damaged: no line for run.json");
	memset(big, '#', 2000000);
	assert_int_equal(file_write_atomic(sums, big, 2000000, 0644, NULL), 0);
	expect_fault(s, "checksums: larger than");
	runset_free(&set);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_every_flip_is_found),
		STORE_TEST(test_missing_files),
		STORE_TEST(test_superfluous_and_unsummed),
		STORE_TEST(test_sha256sum),
		STORE_TEST(test_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
