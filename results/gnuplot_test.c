// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include "results/gnuplot.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

/* A program of one line of shell, in a folder of its own; both are removed by fake_remove(). */
struct fake {
	char dir[64];
	char *program;
};

static struct fake fake_make(const char *line)
{
	struct fake f = { .dir = "/tmp/mmrig-gnuplot-XXXXXX" };
	cleanup_free char *text = str_printf("#!/bin/sh\n%s\n", line);

	assert_non_null(mkdtemp(f.dir));
	f.program = path_join(f.dir, "gnuplot");
	assert_int_equal(file_write_atomic(f.program, text, strlen(text), 0700, NULL), 0);
	return f;
}

static void fake_remove(struct fake *f)
{
	assert_int_equal(dir_remove(f->dir, NULL), 0);
	free(f->program);
}

static void expect_error(const char *line, const char *script, const char *what)
{
	cleanup_strbuf struct strbuf out = STRBUF_INIT;
	cleanup_error struct error err = ERROR_INIT;
	struct fake f = fake_make(line);

	assert_int_equal(gnuplot_run(f.program, script, strlen(script), 1, &out, &err), -1);
	assert_int_equal(err.status, EXIT_NO_VERDICT);
	assert_int_equal(out.len, 0);
	if (!strstr(err.text, what))
		fail_msg("\"%s\" lacks \"%s\"", err.text, what);
	fake_remove(&f);
}

static void test_script_goes_in_output_comes_out(void **state)
{
	cleanup_strbuf struct strbuf out = STRBUF_INIT;
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *big = xmalloc(1 << 20);
	struct fake f = fake_make("echo \"$@\" $LC_ALL $HOME $SECRET; cat");

	/* Larger than any pipe holds, both ways. */
	memset(big, 'x', 1 << 20);
	setenv("SECRET", "not for it", 1);
	if (gnuplot_run(f.program, big, 1 << 20, 10, &out, &err) < 0)
		fail_msg("%s", err.text);
	unsetenv("SECRET");
	assert_memory_equal(out.data, "-d - C /nonexistent\nxxx", 23);
	assert_int_equal(out.len, 20 + (1 << 20));
	fake_remove(&f);
}

static void test_missing(void **state)
{
	cleanup_strbuf struct strbuf out = STRBUF_INIT;
	cleanup_error struct error err = ERROR_INIT;

	assert_int_equal(gnuplot_run("/nonexistent/gnuplot", "", 0, 1, &out, &err), -1);
	assert_int_equal(err.status, EXIT_NO_VERDICT);
	assert_non_null(strstr(err.text, "install gnuplot-nox (make deps)"));
}

static void test_failures(void **state)
{
	struct timespec a, b;

	expect_error("cat; echo 'plot x'; echo 'line 3: no such thing' >&2; echo >&2; exit 1", "",
		     "exit status 1: line 3: no such thing");
	expect_error("kill -SEGV $$", "", "signal 11: it said nothing");
	expect_error("echo half; exit 2", "", "exit status 2");
	clock_gettime(CLOCK_MONOTONIC, &a);
	expect_error("trap '' TERM; echo half; exec sleep 30", "", "not done after 1 s, killed");
	clock_gettime(CLOCK_MONOTONIC, &b);
	assert_in_range(b.tv_sec - a.tv_sec, 1, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_script_goes_in_output_comes_out),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
