// SPDX-License-Identifier: GPL-2.0-only
/* Killed writers, several writers, and who owns what is in the making. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <time.h>

#include <cmocka.h>

#include "results/store_fixture.h"

struct worker {
	pid_t pid;
	int out;
};

/* Finishes runs without end (or `most`), and announces each by a line on `out` afterwards. */
static int work(const char *root, unsigned int most, int out)
{
	struct runset set = fixture_set();
	struct store *s;

	if (store_open(root, true, &s, NULL) < 0 || store_begin_set(s, &set, NULL) < 0)
		return 1;
	for (unsigned int i = 1; !most || i <= most; i++) {
		cleanup_free char *id = str_printf("%04u", i), *line = NULL;

		if (make_run(s, &set, id, NULL) < 0)
			return 2;
		line = str_printf("%s/%s\n", set.id, id);
		if (write(out, line, strlen(line)) < 0)
			return 3;
	}
	store_close(s);
	runset_free(&set);
	return 0;
}

static struct worker start_worker(const char *root, unsigned int most)
{
	struct worker w;
	int pipes[2];

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	w.pid = fork();
	assert_true(w.pid >= 0);
	if (w.pid == 0) {
		close(pipes[0]);
		_exit(work(root, most, pipes[1]));
	}
	close(pipes[1]);
	w.out = pipes[0];
	return w;
}

/* The whole announced lines. */
static char *finish_worker(struct worker *w, int *status)
{
	struct strbuf sb = STRBUF_INIT;
	char chunk[4096];
	ssize_t n;

	while ((n = read(w->out, chunk, sizeof(chunk))) > 0)
		strbuf_add(&sb, chunk, (size_t)n);
	close(w->out);
	assert_int_equal(waitpid(w->pid, status, 0), w->pid);
	return strbuf_steal(&sb);
}

static size_t expect_announced(struct place *p, char *lines)
{
	size_t n = 0;

	for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n"), n++) {
		cleanup_free char *path = str_printf("%s/%s/run.json", p->root, line);
		cleanup_free char *owner = str_printf("%s/%s/owner", p->root, line);
		cleanup_free char *sql =
			str_printf("SELECT count(*) FROM runs WHERE runset || '/' || id = '%s'",
				   line);

		if (!file_exists(path))
			fail_msg("%s was announced and is lost", line);
		assert_false(file_exists(owner));
		assert_true(query_number(p->root, sql) == 1);
	}
	return n;
}

static void test_killed(void **state)
{
	struct place *p = *state;
	size_t announced = 0, before = 0;

	srand((unsigned int)getpid());
	for (int round = 0; round < 20; round++) {
		struct worker w = start_worker(p->root, 0);
		long ms = 10 + rand() % 90;
		cleanup_free char *lines = NULL;
		struct store *s;
		size_t runs;
		int status;

		/* In every other round a run has been announced, however slow the machine is. */
		if (round % 2)
			assert_int_equal(poll(&(struct pollfd){ .fd = w.out, .events = POLLIN }, 1, 120000), 1);
		nanosleep(&(struct timespec){ 0, ms * 1000000 + rand() % 1000000 }, NULL);
		assert_int_equal(kill(w.pid, SIGKILL), 0);
		lines = finish_worker(&w, &status);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		s = open_store(p->root);
		announced += expect_announced(p, lines);
		/* A run may be finished and not yet announced, at most one a worker. */
		runs = expect_sound(s);
		assert_true(runs >= announced && runs <= announced + (size_t)round + 1);
		assert_true(runs >= before);
		before = runs;
		assert_int_equal(count_tmp(p->root), 0);
		store_close(s);
	}
	assert_true(announced > 0);
}

static void test_two_writers(void **state)
{
	struct place *p = *state;
	struct worker a = start_worker(p->root, 25), b = start_worker(p->root, 25);
	struct store *s = open_store(p->root);
	cleanup_free char *lines_a = NULL, *lines_b = NULL;
	cleanup_error struct error err = ERROR_INIT;
	int status_a, status_b;
	size_t n;

	/* A third one sweeps, takes in, and makes the index anew meanwhile. */
	for (int i = 0; i < 40; i++) {
		struct store *third = open_store(p->root);

		if (i % 8 == 0 && store_rebuild(third, &n, &err) < 0)
			fail_msg("%s", err.text);
		store_close(third);
	}
	lines_a = finish_worker(&a, &status_a);
	lines_b = finish_worker(&b, &status_b);
	assert_int_equal(status_a, 0);
	assert_int_equal(status_b, 0);
	assert_int_equal(expect_announced(p, lines_a), 25);
	assert_int_equal(expect_announced(p, lines_b), 25);
	assert_int_equal(expect_sound(s), 50);
	store_close(s);
}

static void test_owner(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root), *other;
	struct runset set = begin_set(s);
	struct run r = { .id = xstrdup("0001") };
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *owner = in_set(p, &set, ".0001.tmp/owner"), *text = NULL, *forged = NULL;
	struct store_run *sr, *sr2;
	int pid;

	assert_int_equal(store_begin_run(s, &set, &r, &sr, NULL), 0);
	/* We live: another mmrig leaves it alone, and cannot make the same run. */
	other = open_store(p->root);
	assert_int_equal(count_tmp(p->root), 1);
	assert_int_equal(store_begin_run(other, &set, &r, &sr2, &err), -1);
	assert_non_null(strstr(err.text, "another mmrig"));
	store_close(other);

	/* Another process has our number now: one that started a tick earlier. */
	text = file_read(owner, 0, NULL, NULL);
	pid = atoi(text);
	assert_int_equal(pid, getpid());
	forged = str_printf("%d 1%s", pid, strchr(strchr(text, ' ') + 1, ' '));
	assert_int_equal(file_write_atomic(owner, forged, strlen(forged), 0644, NULL), 0);
	other = open_store(p->root);
	assert_int_equal(count_tmp(p->root), 0);
	store_close(other);
	store_abandon_run(sr);

	/* On another host nothing is known of it: kept. Without an owner: swept. */
	assert_int_equal(store_begin_run(s, &set, &r, &sr, NULL), 0);
	free(forged);
	forged = xstrdup("1 1 no-boot-id some-other-host\n");
	assert_int_equal(file_write_atomic(owner, forged, strlen(forged), 0644, NULL), 0);
	other = open_store(p->root);
	assert_int_equal(count_tmp(p->root), 1);
	store_close(other);
	assert_int_equal(unlink(owner), 0);
	other = open_store(p->root);
	assert_int_equal(count_tmp(p->root), 0);
	store_close(other);
	store_abandon_run(sr);
	run_free(&r);
	runset_free(&set);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_killed),
		STORE_TEST(test_two_writers),
		STORE_TEST(test_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
