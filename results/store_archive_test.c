// SPDX-License-Identifier: GPL-2.0-only
/* There and back. What is hostile stands in store_import_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>

#include <cmocka.h>

#include "results/run_json.h"
#include "results/store_archive_fixture.h"
#include "results/store_sums.h"

#define REAL_SET "20261130-182005-alias-tmpfs-f40c"

/* Two stores below the place, and an archive beside them. */
struct two {
	struct store *from, *to;
	char *archive;
};

static struct two open_two(struct place *p)
{
	cleanup_free char *from = path_join(p->root, "from"), *to = path_join(p->root, "to");

	return (struct two){ open_store(from), open_store(to), path_join(p->root, "a.tar.zst") };
}

static void close_two(struct two *t)
{
	store_close(t->from);
	store_close(t->to);
	free(t->archive);
}

/* All that is recorded of each run, as JSON, and the frames to the bit. */
static void expect_same_set(struct store *a, struct store *b, const char *id)
{
	struct runset x, y;
	struct frame f, g;

	assert_int_equal(store_load_set(a, id, &x, NULL), 0);
	assert_int_equal(store_load_set(b, id, &y, NULL), 0);
	assert_int_equal(x.nruns, y.nruns);
	for (size_t i = 0; i < x.nruns; i++) {
		json_t *left = run_to_json(&x, &x.run[i]), *right = run_to_json(&y, &y.run[i]);

		assert_true(json_equal(left, right));
		json_decref(left);
		json_decref(right);
	}
	runset_free(&x);
	runset_free(&y);
	assert_int_equal(store_load_frame(a, id, &f, NULL), 0);
	assert_int_equal(store_load_frame(b, id, &g, NULL), 0);
	assert_int_equal(f.nmetrics, g.nmetrics);
	for (size_t i = 0; i < f.nmetrics; i++)
		assert_string_equal(f.metric[i], g.metric[i]);
	assert_memory_equal(f.value, g.value, f.nmetrics * f.set.nruns * sizeof(*f.value));
	frame_free(&f);
	frame_free(&g);
}

static void test_round_trip(void **state)
{
	struct place *p = *state;
	cleanup_free char *dir = path_join(p->root, "from/" REAL_SET);
	cleanup_free char *again = path_join(p->root, "again.tar.zst"), *a = NULL, *b = NULL;
	struct store_moved moved;
	struct two t;
	size_t n, m;

	fixture_copy("results/testdata/runset-7.3", dir);
	t = open_two(p);
	assert_int_equal(store_export(t.from, "last", t.archive, &moved, NULL), 0);
	assert_string_equal(moved.id, REAL_SET);
	assert_int_equal(moved.runs, 3);
	free(moved.id);
	moved = import_good(t.to, t.archive);
	assert_string_equal(moved.id, REAL_SET);
	assert_int_equal(moved.runs, 3);
	assert_false(moved.already);
	free(moved.id);
	expect_same_set(t.from, t.to, REAL_SET);
	assert_int_equal(expect_sound(t.to), 3);

	/* The same set is the same archive, wherever it is made. */
	assert_int_equal(store_export(t.to, REAL_SET, again, &moved, NULL), 0);
	free(moved.id);
	a = file_read(t.archive, 0, &n, NULL);
	b = file_read(again, 0, &m, NULL);
	assert_int_equal(n, m);
	assert_memory_equal(a, b, n);
	close_two(&t);
}

static void test_already_there(void **state)
{
	struct place *p = *state;
	struct two t = open_two(p);
	struct runset set = begin_set(t.from);
	cleanup_free char *run = str_printf("%s/to/%s/0001", p->root, set.id);
	cleanup_free char *sums = str_printf("%s/to/%s/0001/checksums", p->root, set.id);
	struct store_moved moved;
	cleanup_free char *from = xstrdup(store_root(t.from)),
			  *other = path_join(run, "console.log");

	add_run(t.from, &set, "0001");
	store_close(t.from); /* the writer is done */
	t.from = open_store(from);
	free(export_good(t.from, set.id, t.archive).id);
	free(import_good(t.to, t.archive).id);
	moved = import_good(t.to, t.archive);
	assert_true(moved.already);
	free(moved.id);
	assert_int_equal(unlink(sums), 0); /* of an older mmrig, but the same */
	moved = import_good(t.to, t.archive);
	assert_true(moved.already);
	free(moved.id);

	assert_int_equal(file_write_atomic(other, "x", 1, 0644, NULL), 0);
	import_bad(t.to, t.archive, EXIT_USAGE, "is there already, and differs");
	assert_int_equal(count_tmp(store_root(t.to)), 0);
	runset_free(&set);
	close_two(&t);
}

/* Sets without checksums, and without samples, move too. */
static void test_older_and_without_samples(void **state)
{
	struct place *p = *state;
	struct two t = open_two(p);
	struct runset set = begin_set(t.from);
	cleanup_free char *from = xstrdup(store_root(t.from));
	cleanup_free char *old = str_printf("%s/%s/0001/checksums", from, set.id);
	cleanup_free char *head = str_printf("%s/%s/checksums", from, set.id);
	cleanup_free char *run = str_printf("%s/%s/0002", from, set.id);
	cleanup_free char *samples = path_join(run, "samples.zst");
	struct store_verified count;
	struct strbuf faults = STRBUF_INIT;

	add_run(t.from, &set, "0001");
	add_run(t.from, &set, "0002");
	store_close(t.from);
	assert_int_equal(unlink(old) | unlink(head), 0);
	assert_int_equal(sums_mark_removed(run, "samples.zst", NULL), 0);
	assert_int_equal(unlink(samples), 0);
	t.from = open_store(from);
	free(export_good(t.from, set.id, t.archive).id);
	free(import_good(t.to, t.archive).id);
	expect_same_set(t.from, t.to, set.id);
	assert_int_equal(store_verify(t.to, on_fault, &faults, &count, NULL), 0);
	assert_null(faults.data);
	assert_int_equal(count.runs, 2);
	assert_int_equal(count.unsummed, 1);
	assert_int_equal(count.without, 1);
	runset_free(&set);
	close_two(&t);
}

static void expect_not_exported(struct store *s, const char *which, const char *path, int status,
				const char *complaint)
{
	cleanup_free char *tmp = str_printf("%s.%d.tmp", path, (int)getpid());
	cleanup_error struct error err = ERROR_INIT;
	struct store_moved moved;

	assert_int_equal(store_export(s, which, path, &moved, &err), -1);
	assert_null(moved.id);
	assert_false(file_exists(tmp));
	assert_int_equal(err.status, status);
	if (!strstr(err.text, complaint))
		fail_msg("\"%s\" does not say \"%s\"", err.text, complaint);
}

static void test_not_exported(void **state)
{
	struct place *p = *state;
	struct two t = open_two(p);
	struct runset set = begin_set(t.from);
	cleanup_free char *nowhere = path_join(p->root, "no/such/a.tar.zst"), *text = NULL;
	cleanup_free char *console = str_printf("%s/from/%s/0001/console.log", p->root, set.id);
	cleanup_free char *from = xstrdup(store_root(t.from));
	size_t len;

	add_run(t.from, &set, "0001");
	assert_int_equal(file_write_atomic(t.archive, "old", 3, 0644, NULL), 0);
	expect_not_exported(t.from, set.id, t.archive, EXIT_USAGE, "another mmrig is writing");
	store_close(t.from);
	t.from = open_store(from);
	expect_not_exported(t.from, "nothing", t.archive, EXIT_USAGE, "no such run set");
	expect_not_exported(t.from, set.id, p->root, EXIT_USAGE, "no regular file");
	expect_not_exported(t.from, set.id, "/dev/null", EXIT_USAGE, "no regular file");
	expect_not_exported(t.from, set.id, nowhere, EXIT_USAGE, "cannot create");
	assert_int_equal(file_write_atomic(console, "Linux versioN\n", 14, 0644, NULL), 0);
	expect_not_exported(t.from, set.id, t.archive, EXIT_NO_VERDICT, "console.log: damaged");
	/* What stood there stands there still. */
	text = file_read(t.archive, 0, &len, NULL);
	assert_string_equal(text, "old");
	runset_free(&set);
	close_two(&t);
}

static int full_device_child(struct place *p)
{
	cleanup_free char *from = path_join(p->root, "from");
	struct error err = ERROR_INIT;
	struct store_moved moved;
	struct store *s;
	int fd = open("/dev/full", O_WRONLY);

	if (fd < 0 || store_open(from, false, &s, NULL) < 0)
		return 1;
	if (store_export_fd(s, "last", fd, "full", &moved, &err) == 0)
		return 2;
	return strstr(err.text, "free some space") && err.status == EXIT_NO_VERDICT ? 0 : 3;
}

static void test_full_device(void **state)
{
	struct place *p = *state;
	cleanup_free char *dir = path_join(p->root, "from/" REAL_SET);
	struct two t;

	fixture_copy("results/testdata/runset-7.3", dir);
	t = open_two(p);
	assert_int_equal(in_child(full_device_child, p), 0);
	close_two(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_round_trip),
		STORE_TEST(test_already_there),
		STORE_TEST(test_older_and_without_samples),
		STORE_TEST(test_not_exported),
		STORE_TEST(test_full_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
