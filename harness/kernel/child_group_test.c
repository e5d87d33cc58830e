// SPDX-License-Identifier: GPL-2.0-only
/* Real shells and real signals: a process of the test's own calls, and is then treated badly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "harness/kernel/child.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define WAIT_SECONDS 20

static char dir[64];

static int set_up(void **state)
{
	strcpy(dir, "/tmp/group-test-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	return dir_remove(dir, NULL);
}

static void add_line(void *arg, const char *text)
{
	strbuf_addf(arg, "%s\n", text);
}

static int run_shell(const char *script, struct strbuf *lines, bool *clean, struct error *err)
{
	const char *const argv[] = { "sh", "-c", script, NULL };
	cleanup_free char *where = str_printf("DIR=%s", dir);
	const char *const env[] = { "PATH=/usr/bin:/bin", where, NULL };

	return child_run_group(argv, env, lines ? add_line : NULL, lines, clean, err);
}

static void test_lines_and_status(void **state)
{
	cleanup_strbuf struct strbuf lines = STRBUF_INIT;
	bool clean = false;

	assert_int_equal(run_shell("echo one; echo two >&2; printf three; exit 3", &lines, &clean, NULL),
			 3);
	assert_string_equal(lines.data, "one\ntwo\nthree\n");
	assert_true(clean);
}

static void test_environment_is_ours(void **state)
{
	cleanup_strbuf struct strbuf lines = STRBUF_INIT;
	bool clean;

	setenv("MAKEFLAGS", "-n", 1);
	assert_int_equal(run_shell("echo $MAKEFLAGS-$PATH-$DIR; read x || echo no input", &lines, &clean,
				   NULL),
			 0);
	unsetenv("MAKEFLAGS");
	assert_true(str_starts(lines.data, "-/usr/bin:/bin-/tmp/group-test-"));
	assert_non_null(strstr(lines.data, "\nno input\n"));
}

static void test_missing_program(void **state)
{
	const char *const argv[] = { "no-such-program-here", NULL }, *const env[] = { NULL };
	cleanup_error struct error err = ERROR_INIT;
	bool clean = false;

	assert_int_equal(child_run_group(argv, env, NULL, NULL, &clean, &err), -1);
	assert_int_equal(err.status, EXIT_NO_VERDICT);
	assert_true(clean);
}

/* make killed by the OOM killer had no time to remove what was half made. */
static void test_killed_program(void **state)
{
	bool clean = true;

	assert_int_equal(run_shell("kill -9 $$", NULL, &clean, NULL), 128 + SIGKILL);
	assert_false(clean);
}

/* The sleeper holds the output open. */
static void test_what_is_left_behind_ends(void **state)
{
	time_t start = time(NULL);
	bool clean = false;

	assert_int_equal(run_shell("sleep 300 & exit 4", NULL, &clean, NULL), 4);
	assert_true(time(NULL) - start < WAIT_SECONDS);
	assert_true(clean);
}

/* ---- signals ---- */

static char *in_dir(const char *name)
{
	return path_join(dir, name);
}

static void await_file(const char *name)
{
	cleanup_free char *path = in_dir(name);

	for (int i = 0; i < WAIT_SECONDS * 100 && !file_exists(path); i++)
		nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
	assert_true(file_exists(path));
}

/* Calls in a process of its own, which exits with 40 + clean after an interruption. */
static pid_t start(const char *script)
{
	pid_t pid = fork();

	if (pid == 0) {
		cleanup_error struct error err = ERROR_INIT;
		bool clean;
		int ret = run_shell(script, NULL, &clean, &err);

		_exit(ret == -1 && err.status == EXIT_INTERRUPTED ? 40 + clean : 1);
	}
	assert_true(pid > 0);
	return pid;
}

static int await_exit(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void test_interruption_lets_it_clean_up(void **state)
{
	static const int sigs[] = { SIGINT, SIGTERM, SIGHUP };
	cleanup_free char *cleaned = in_dir("cleaned"), *ready = in_dir("ready");

	for (size_t i = 0; i < ARRAY_SIZE(sigs); i++) {
		pid_t pid = start("trap 'touch $DIR/cleaned; exit 1' INT; touch $DIR/ready; "
				  "sleep 300 & wait");

		await_file("ready");
		kill(pid, sigs[i]);
		assert_int_equal(await_exit(pid), 41);
		assert_true(file_exists(cleaned));
		unlink(cleaned);
		unlink(ready);
	}
}

static void test_second_signal_ends_at_once(void **state)
{
	pid_t pid = start("trap 'touch $DIR/deaf' INT; touch $DIR/ready; while :; do sleep 0.1; done");
	time_t begin = time(NULL);

	await_file("ready");
	kill(pid, SIGINT);
	await_file("deaf");
	nanosleep(&(struct timespec){ 0, 100000000 }, NULL);
	kill(pid, SIGINT);
	assert_int_equal(await_exit(pid), 40);
	assert_true(time(NULL) - begin < 5);
}

/* As timeout(1) does: the program still has its time to clean up. */
static void test_two_signals_at_once_are_one(void **state)
{
	cleanup_free char *cleaned = in_dir("cleaned");
	pid_t pid = start("trap 'sleep 0.3; touch $DIR/cleaned; exit 1' INT; touch $DIR/ready; "
			  "sleep 300 & wait");

	await_file("ready");
	kill(pid, SIGINT);
	nanosleep(&(struct timespec){ 0, 2000000 }, NULL);
	kill(pid, SIGINT);
	assert_int_equal(await_exit(pid), 41);
	assert_true(file_exists(cleaned));
}

static bool is_gone(pid_t pid)
{
	cleanup_free char *path = str_printf("/proc/%d/stat", (int)pid);
	cleanup_free char *text = file_read(path, 4096, NULL, NULL);
	const char *state = text ? strrchr(text, ')') : NULL;

	return !state || state[2] == 'Z' || state[2] == 'X';
}

/* A compiler that outlived its make would write into the next build. */
static void test_all_die_with_us(void **state)
{
	pid_t pid = start("sh -c 'trap \"\" INT TERM HUP; echo $$ >$DIR/pid.new; "
			  "mv $DIR/pid.new $DIR/pid; while :; do sleep 1; done'; true");
	cleanup_free char *path = in_dir("pid"), *text = NULL;
	pid_t grandchild;

	await_file("pid");
	text = file_read(path, 64, NULL, NULL);
	grandchild = atoi(text);
	assert_false(is_gone(grandchild));
	kill(pid, SIGKILL);
	assert_int_equal(await_exit(pid), 128 + SIGKILL);
	for (int i = 0; i < WAIT_SECONDS * 100 && !is_gone(grandchild); i++)
		nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
	assert_true(is_gone(grandchild));
}

/* Our own signals are as before. */
static void test_mask_is_put_back(void **state)
{
	sigset_t set;
	bool clean;

	assert_int_equal(run_shell("exit 0", NULL, &clean, NULL), 0);
	assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &set), 0);
	assert_false(sigismember(&set, SIGINT));
	assert_false(sigismember(&set, SIGTERM));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lines_and_status, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_environment_is_ours, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_missing_program, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_killed_program, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_left_behind_ends, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_interruption_lets_it_clean_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_second_signal_ends_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_two_signals_at_once_are_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_all_die_with_us, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_mask_is_put_back, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
