// SPDX-License-Identifier: GPL-2.0-only
#include "results/util/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "results/util/cleanup.h"
#include "results/verdict.h"

static int make_folder(void **state)
{
	char name[] = "/tmp/mmrig file,test XXXXXX";

	*state = mkdtemp(name) ? xstrdup(name) : NULL;
	return *state ? 0 : -1;
}

static int remove_folder(void **state)
{
	int ret = dir_remove(*state, NULL);

	free(*state);
	return ret;
}

static size_t count_entries(const char *dir)
{
	cleanup_dir DIR *d = opendir(dir);
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	return n - 2;
}

static void test_join(void **state)
{
	cleanup_free char *a = path_join("a", "b"), *b = path_join("a/", "b"),
			  *c = path_join("/", "b"), *d = path_join("", "b");

	assert_string_equal(a, "a/b");
	assert_string_equal(b, "a/b");
	assert_string_equal(c, "/b");
	assert_string_equal(d, "b");
}

static void test_write_atomic(void **state)
{
	cleanup_free char *path = path_join(*state, "f"), *folder = path_join(*state, "d");
	cleanup_free char *nowhere = path_join(*state, "no/f");
	struct error err = ERROR_INIT;
	struct stat st;
	size_t len;
	char *data;

	assert_int_equal(file_write_atomic(path, "one\0two", 7, 0600, &err), 0);
	assert_int_equal(file_write_atomic(path, "a\0b", 3, 0640, &err), 0);
	data = file_read(path, 0, &len, &err);
	assert_int_equal(len, 3);
	assert_int_equal(memcmp(data, "a\0b", 4), 0);
	free(data);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777 & ~0640, 0);
	assert_int_equal(count_entries(*state), 1);
	/* cannot replace a folder: an error that names it, nothing left behind, the folder whole */
	assert_int_equal(dir_make(folder, 0755, &err), 0);
	assert_int_equal(file_write_atomic(folder, "x", 1, 0600, &err), -1);
	assert_true(str_starts(err.text, folder));
	error_clear(&err);
	assert_int_equal(count_entries(*state), 2);
	assert_int_equal(file_write_atomic(nowhere, "x", 1, 0600, &err), -1);
	assert_int_equal(err.status, EXIT_NO_VERDICT);
	error_clear(&err);
	/* an empty file is a file */
	assert_int_equal(file_write_atomic(path, NULL, 0, 0600, &err), 0);
	data = file_read(path, 0, &len, &err);
	assert_int_equal(len, 0);
	assert_string_equal(data, "");
	free(data);
}

/* A name may be that of a device, and mmrig may run as root: what is no file stays what it is. */
static void test_write_over_others(void **state)
{
	cleanup_free char *target = path_join(*state, "target"), *link = path_join(*state, "link");
	cleanup_free char *fifo = path_join(*state, "fifo"), *kept = NULL;
	cleanup_error struct error err = ERROR_INIT;
	struct stat st;

	assert_int_equal(file_write_atomic(target, "kept", 4, 0600, NULL), 0);
	assert_int_equal(symlink(target, link), 0);
	assert_int_equal(file_write_atomic(link, "new", 3, 0600, &err), -1);
	assert_int_equal(err.status, EXIT_USAGE);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(file_write_atomic(fifo, "new", 3, 0600, NULL), -1);
	assert_int_equal(lstat(fifo, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(file_write_atomic(*state, "new", 3, 0600, NULL), -1);
	kept = file_read(target, 0, NULL, NULL);
	assert_string_equal(kept, "kept");
}

static void test_read_limits(void **state)
{
	cleanup_free char *path = path_join(*state, "f"), *big = xcalloc(1, 200000), *data = NULL;
	struct error err = ERROR_INIT;

	memset(big, 'x', 199999);
	assert_int_equal(file_write_atomic(path, big, 199999, 0600, NULL), 0);
	data = file_read(path, 199999, NULL, &err);
	assert_string_equal(data, big);
	assert_null(file_read(path, 199998, NULL, &err));
	assert_non_null(strstr(err.text, "larger than 199998 bytes"));
	error_clear(&err);
	assert_null(file_read(*state, 0, NULL, &err));
	assert_non_null(strstr(err.text, "Is a directory"));
	error_clear(&err);
	assert_null(file_read("/nonexistent/x", 0, NULL, &err));
	assert_string_equal(err.text, "/nonexistent/x: cannot open: No such file or directory");
	error_clear(&err);
}

static void test_dir_make(void **state)
{
	cleanup_free char *deep = path_join(*state, "a//b/c/"), *file = path_join(*state, "f"),
			  *under = path_join(*state, "f/g");
	struct error err = ERROR_INIT;

	assert_int_equal(dir_make(deep, 0700, &err), 0);
	assert_int_equal(dir_make(deep, 0700, &err), 0);
	assert_true(file_exists(deep));
	assert_int_equal(dir_make("/", 0700, &err), 0);
	assert_int_equal(file_write_atomic(file, "", 0, 0600, NULL), 0);
	assert_int_equal(dir_make(file, 0700, &err), -1);
	assert_non_null(strstr(err.text, "not a folder"));
	error_clear(&err);
	assert_int_equal(dir_make(under, 0700, &err), -1);
	error_clear(&err);
	assert_int_equal(dir_make("", 0700, &err), -1);
	error_clear(&err);
}

/* Everything below goes, and nothing that a link points to. */
static void test_dir_remove(void **state)
{
	cleanup_free char *tree = path_join(*state, "tree"), *deep = path_join(tree, "x/y/z"),
			  *outside = path_join(*state, "outside"),
			  *kept = path_join(outside, "kept"), *link = path_join(deep, "link"),
			  *top_link = path_join(*state, "top");
	struct error err = ERROR_INIT;

	assert_int_equal(dir_make(deep, 0755, NULL), 0);
	assert_int_equal(dir_make(outside, 0755, NULL), 0);
	assert_int_equal(file_write_atomic(kept, "", 0, 0600, NULL), 0);
	for (int i = 0; i < 500; i++) {
		cleanup_free char *file = str_printf("%s/x/file %d", tree, i);

		cleanup_file FILE *f = fopen(file, "w");

		assert_non_null(f);
	}
	assert_int_equal(symlink(outside, link), 0);
	assert_int_equal(symlink("/nonexistent", top_link), 0);
	assert_int_equal(dir_remove(tree, &err), 0);
	assert_false(file_exists(tree));
	assert_true(file_exists(kept));
	assert_int_equal(dir_remove(tree, &err), 0);
	assert_int_equal(dir_remove(top_link, &err), 0);
	assert_int_equal(symlink(outside, top_link), 0);
	assert_int_equal(dir_remove(top_link, &err), 0);
	assert_true(file_exists(kept));
	assert_int_equal(dir_remove(kept, &err), 0);
	assert_false(file_exists(kept));
	/* what cannot be removed is named */
	assert_int_equal(dir_remove("/proc/self/status", &err), -1);
	assert_true(str_starts(err.text, "/proc/self/status: cannot remove: "));
	assert_null(strstr(err.text, "Not a directory"));
	error_clear(&err);
}

static void test_cache_dir(void **state)
{
	cleanup_free char *want = path_join(*state, "mmrig/kernels"), *path = NULL;
	cleanup_free char *file = path_join(*state, "file");
	struct error err = ERROR_INIT;

	setenv("XDG_CACHE_HOME", *state, 1);
	path = cache_dir("kernels", &err);
	assert_string_equal(path, want);
	assert_true(file_exists(want));
	assert_int_equal(file_write_atomic(file, "", 0, 0600, NULL), 0);
	setenv("XDG_CACHE_HOME", file, 1);
	assert_null(cache_dir("kernels", &err));
	assert_non_null(strstr(err.text, "set XDG_CACHE_HOME"));
	error_clear(&err);
	unsetenv("XDG_CACHE_HOME");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join),
		cmocka_unit_test_setup_teardown(test_write_atomic, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_write_over_others, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_read_limits, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_dir_make, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_dir_remove, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_cache_dir, make_folder, remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
