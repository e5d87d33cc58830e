// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <time.h>

#include <cmocka.h>

#include "results/store_fixture.h"

static void on_gone(void *arg, const struct store_gone *gone)
{
	struct strbuf *sb = arg;

	strbuf_addf(sb, "%s %zu %s\n", gone->id, gone->runs, gone->kept ? gone->kept : "-");
}

static struct store_gc gc_all(struct strbuf *said)
{
	return (struct store_gc){ .before = INFINITY, .report = on_gone, .arg = said };
}

/* Sets of two runs each, the oldest first; their writer is done with them. */
static void make_sets(const char *root, char **id, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct store *s = open_store(root);
		struct runset set = begin_set(s);

		add_run(s, &set, "0001");
		add_run(s, &set, "0002");
		id[i] = xstrdup(set.id);
		runset_free(&set);
		store_close(s);
	}
}

static size_t count_sets(struct store *s)
{
	struct store_entry *entries;
	size_t n;

	assert_int_equal(store_list(s, &entries, &n, NULL), 0);
	store_entries_free(entries, n);
	return n;
}

static void collect(struct store *s, struct store_gc *gc)
{
	cleanup_error struct error err = ERROR_INIT;

	if (store_gc(s, gc, &err) < 0)
		fail_msg("%s", err.text);
}

static uint64_t size_of(const char *root, const char *id, const char *name)
{
	cleanup_free char *path = str_printf("%s/%s/%s", root, id, name);
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (uint64_t)st.st_size;
}

static uint64_t size_of_set(const char *root, const char *id)
{
	static const char *const names[] = { "runset.json",	 "checksums",
					     "0001/run.json",	 "0001/console.log",
					     "0001/samples.zst", "0001/checksums",
					     "0002/run.json",	 "0002/console.log",
					     "0002/samples.zst", "0002/checksums" };
	uint64_t sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		sum += size_of(root, id, names[i]);
	return sum;
}

static void test_choice(void **state)
{
	struct place *p = *state;
	struct strbuf said = STRBUF_INIT;
	struct store_gc gc = gc_all(&said);
	struct store_entry *entries;
	cleanup_free char *want = NULL, *path = NULL;
	char *id[5], *named[2];
	struct store *s;
	uint64_t bytes;
	size_t n;

	make_sets(p->root, id, 5);
	s = open_store(p->root);
	bytes = size_of_set(p->root, id[0]) + size_of_set(p->root, id[1]);

	/* The two oldest, and nothing happens yet. */
	gc.keep = 3;
	gc.dry_run = true;
	collect(s, &gc);
	want = str_printf("%s 2 -\n%s 2 -\n", id[1], id[0]);
	assert_string_equal(said.data, want);
	assert_int_equal(gc.sets, 2);
	assert_true(gc.bytes == bytes);
	assert_int_equal(count_sets(s), 5);
	assert_int_equal(expect_sound(s), 10);

	/* What is asked for holds together: older than the second, and not of the newest four. */
	assert_int_equal(store_list(s, &entries, &n, NULL), 0);
	gc.before = entries[3].created;
	gc.keep = 4;
	gc.dry_run = false;
	store_entries_free(entries, n);
	collect(s, &gc);
	assert_int_equal(gc.sets, 1);
	assert_int_equal(count_sets(s), 4);
	gc.keep = 0;
	collect(s, &gc);
	assert_int_equal(gc.sets, 1);
	assert_int_equal(expect_sound(s), 6);

	/* By name and by path; of these only what is not among the newest two. */
	path = str_printf("%s/%s/", p->root, id[4]);
	named[0] = path;
	named[1] = id[2];
	gc = gc_all(&said);
	gc.which = named;
	gc.nwhich = 2;
	gc.keep = 2;
	collect(s, &gc);
	assert_int_equal(gc.sets, 1);
	assert_int_equal(expect_sound(s), 4);
	gc.keep = 0;
	gc.nwhich = 1;
	collect(s, &gc);
	assert_int_equal(gc.sets, 1);
	assert_int_equal(expect_sound(s), 2);
	assert_int_equal(count_tmp(p->root), 0);
	store_close(s);
	s = open_store(p->root);
	assert_int_equal(expect_sound(s), 2);
	store_close(s);
	for (size_t i = 0; i < 5; i++)
		free(id[i]);
	strbuf_free(&said);
}

static void expect_refused(struct store *s, const char *which, const char *complaint)
{
	struct strbuf said = STRBUF_INIT;
	struct store_gc gc = gc_all(&said);
	cleanup_error struct error err = ERROR_INIT;
	char last[] = "last", *both[] = { last, (char *)which };

	gc.which = both;
	gc.nwhich = 2;
	assert_int_equal(store_gc(s, &gc, &err), -1);
	assert_int_equal(err.status, EXIT_USAGE);
	if (!strstr(err.text, complaint))
		fail_msg("\"%s\" does not say \"%s\"", err.text, complaint);
	assert_null(said.data);
}

static void test_bad_names(void **state)
{
	struct place *p = *state;
	cleanup_free char *elsewhere = path_join(p->root, "else/where");
	struct store *s;
	char *id[2];

	make_sets(p->root, id, 2);
	fixture_copy("results/testdata/runset-7.3", elsewhere);
	s = open_store(p->root);
	expect_refused(s, "nothing", "no such run set");
	expect_refused(s, "", "no such run set");
	expect_refused(s, "../x", "no such run set");
	expect_refused(s, "/dev/null", "no such run set");
	expect_refused(s, elsewhere, "is no run set of");
	assert_int_equal(expect_sound(s), 4);
	store_close(s);
	free(id[0]);
	free(id[1]);
}

static void test_never_one_that_is_written(void **state)
{
	struct place *p = *state;
	struct strbuf said = STRBUF_INIT;
	struct store_gc gc = gc_all(&said);
	struct store *writer = open_store(p->root), *s;
	struct runset set = begin_set(writer);
	struct run r = { .id = xstrdup("0002") };
	cleanup_free char *owner = in_set(p, &set, "owner");
	struct store_run *sr;

	add_run(writer, &set, "0001");
	s = open_store(p->root);
	collect(s, &gc);
	assert_non_null(strstr(said.data, "another mmrig is writing it"));
	assert_int_equal(gc.sets, 0);
	expect_refused(s, set.id, "another mmrig is writing");

	/* A run in the making protects its set too, as of an mmrig that wrote no owner of the set. */
	assert_int_equal(store_begin_run(writer, &set, &r, &sr, NULL), 0);
	assert_int_equal(unlink(owner), 0);
	collect(s, &gc);
	assert_int_equal(gc.sets, 0);
	assert_int_equal(expect_sound(s), 1);
	store_abandon_run(sr);
	collect(s, &gc);
	assert_int_equal(gc.sets, 1);
	assert_int_equal(count_sets(s), 0);
	run_free(&r);
	runset_free(&set);
	strbuf_free(&said);
	store_close(writer);
	store_close(s);
}

static void test_samples(void **state)
{
	struct place *p = *state;
	struct strbuf said = STRBUF_INIT, faults = STRBUF_INIT;
	struct store_gc gc = gc_all(&said);
	struct store_rederived count = { .report = on_fault, .arg = &faults };
	struct store_verified verified;
	cleanup_free char *old = NULL, *bad = NULL;
	struct store *s;
	uint64_t bytes;
	char *id[2];

	make_sets(p->root, id, 2);
	old = str_printf("%s/%s/0001/checksums", p->root, id[0]);
	assert_int_equal(unlink(old), 0); /* an older mmrig's */
	bad = str_printf("%s/%s/0002/checksums", p->root, id[1]);
	s = open_store(p->root);
	bytes = size_of(p->root, id[0], "0001/samples.zst") * 4;
	gc.samples = gc.dry_run = true;
	collect(s, &gc);
	assert_true(gc.bytes == bytes);
	size_of(p->root, id[1], "0002/samples.zst");
	gc.dry_run = false;
	collect(s, &gc);
	assert_int_equal(gc.sets, 2);
	assert_true(gc.bytes == bytes);
	collect(s, &gc);
	assert_true(gc.bytes == 0);

	assert_int_equal(store_verify(s, on_fault, &faults, &verified, NULL), 0);
	assert_null(faults.data);
	assert_int_equal(verified.runs, 4);
	assert_int_equal(verified.without, 4);
	assert_int_equal(verified.unsummed, 0);
	expect_indexed(s, id[0], "allocstall", 86, 86);
	assert_int_equal(store_rederive(s, &count, NULL), 0);
	assert_int_equal(count.without, 4);
	assert_int_equal(count.changed + count.failed, 0);
	expect_indexed(s, id[0], "allocstall", 86, 86);

	/* The note is all that tells removed from lost. */
	assert_int_equal(file_write_atomic(bad, "", 0, 0644, NULL), 0);
	expect_fault(s, "0002/checksums: damaged: no line for samples.zst");
	store_close(s);
	free(id[0]);
	free(id[1]);
	strbuf_free(&said);
}

static void test_samples_of_damaged(void **state)
{
	struct place *p = *state;
	struct strbuf said = STRBUF_INIT;
	struct store_gc gc = gc_all(&said);
	cleanup_free char *bad = NULL;
	struct store *s;
	char *id[1];

	make_sets(p->root, id, 1);
	bad = str_printf("%s/%s/0002/checksums", p->root, id[0]);
	assert_int_equal(file_write_atomic(bad, "x\n", 2, 0644, NULL), 0);
	s = open_store(p->root);
	gc.samples = true;
	collect(s, &gc);
	assert_int_equal(gc.failed, 1);
	assert_non_null(strstr(said.data, "0002/checksums: damaged"));
	size_of(p->root, id[0], "0002/samples.zst");
	store_close(s);
	free(id[0]);
	strbuf_free(&said);
}

/* As a remover leaves it that was killed after the rename, and after half of the unlinking. */
static void test_cut_off(void **state)
{
	struct place *p = *state;
	cleanup_free char *dir = NULL, *gone = NULL, *part = NULL;
	struct store *s;
	char *id[2];

	make_sets(p->root, id, 2);
	dir = path_join(p->root, id[0]);
	gone = str_printf("%s/.%s.gone.tmp", p->root, id[0]);
	part = path_join(gone, "0001/run.json");
	assert_int_equal(rename(dir, gone), 0);
	assert_int_equal(unlink(part), 0);
	assert_int_equal(query_number(p->root, "SELECT count(*) FROM runsets"), 2);
	s = open_store(p->root);
	assert_false(file_exists(gone));
	assert_int_equal(count_sets(s), 1);
	assert_int_equal(expect_sound(s), 2);
	assert_int_equal(query_number(p->root, "SELECT count(*) FROM runs"), 2);
	store_close(s);
	free(id[0]);
	free(id[1]);
}

static int gc_child(struct place *p)
{
	struct strbuf said = STRBUF_INIT;
	struct store_gc gc = gc_all(&said);
	struct store *s;

	if (store_open(p->root, false, &s, NULL) < 0)
		return 1;
	return store_gc(s, &gc, NULL) < 0 ? 2 : 0;
}

/* Whenever it is killed, a set is whole or gone. */
static void test_killed(void **state)
{
	struct place *p = *state;
	size_t halves = 0;

	srand((unsigned int)getpid());
	for (int round = 0; round < 12; round++) {
		struct store *s;
		char *id[6];
		size_t left;
		pid_t pid;

		make_sets(p->root, id, ARRAY_SIZE(id));
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0)
			_exit(gc_child(p));
		nanosleep(&(struct timespec){ 0, 1000000 + rand() % 12000000 }, NULL);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		s = open_store(p->root);
		left = count_sets(s);
		assert_int_equal(expect_sound(s), 2 * left);
		assert_int_equal(count_tmp(p->root), 0);
		halves += left > 0 && left < ARRAY_SIZE(id);
		for (size_t i = 0; i < ARRAY_SIZE(id); i++)
			free(id[i]);
		store_close(s);
		assert_int_equal(in_child(gc_child, p), 0);
	}
	print_message("%zu of 12 were killed in the middle\n", halves);
}

static void test_two_removers(void **state)
{
	struct place *p = *state;
	struct store *s;
	pid_t pid[2];
	char *id[6];

	make_sets(p->root, id, ARRAY_SIZE(id));
	for (size_t i = 0; i < 2; i++) {
		pid[i] = fork();
		assert_true(pid[i] >= 0);
		if (pid[i] == 0)
			_exit(gc_child(p));
	}
	/* A third one sweeps meanwhile. */
	for (size_t i = 0; i < 5; i++)
		store_close(open_store(p->root));
	for (size_t i = 0; i < 2; i++) {
		int status;

		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		assert_int_equal(status, 0);
	}
	s = open_store(p->root);
	assert_int_equal(count_sets(s), 0);
	assert_int_equal(count_tmp(p->root), 0);
	store_close(s);
	for (size_t i = 0; i < ARRAY_SIZE(id); i++)
		free(id[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_choice),
		STORE_TEST(test_bad_names),
		STORE_TEST(test_never_one_that_is_written),
		STORE_TEST(test_samples),
		STORE_TEST(test_samples_of_damaged),
		STORE_TEST(test_cut_off),
		STORE_TEST(test_killed),
		STORE_TEST(test_two_removers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
