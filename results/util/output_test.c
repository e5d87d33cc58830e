// SPDX-License-Identifier: GPL-2.0-only
#include "results/util/output.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

static int make_folder(void **state)
{
	char name[] = "/tmp/mmrig output,test XXXXXX";

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

static void refused(const char *path, const char *const *input, const char *why)
{
	struct error err = ERROR_INIT;

	assert_int_equal(output_check(path, input, &err), -1);
	assert_int_equal(err.status, EXIT_USAGE);
	assert_true(str_starts(err.text, path));
	if (!strstr(err.text, why))
		fail_msg("no \"%s\" in: %s", why, err.text);
	error_clear(&err);
}

static void test_good(void **state)
{
	cleanup_free char *path = path_join(*state, "a b,c.svg"), *data = NULL;
	const char *input[] = { "no such file", "-", NULL };

	assert_int_equal(output_check(path, NULL, NULL), 0);
	assert_int_equal(count_entries(*state), 0);
	assert_int_equal(file_write_atomic(path, "old", 3, 0644, NULL), 0);
	assert_int_equal(output_check(path, input, NULL), 0);
	assert_int_equal(count_entries(*state), 1);
	data = file_read(path, 0, NULL, NULL);
	assert_string_equal(data, "old");
	assert_int_equal(chdir(*state), 0);
	assert_int_equal(output_check("plain", NULL, NULL), 0);
	assert_int_equal(count_entries(*state), 1);
}

static void test_bad(void **state)
{
	cleanup_free char *nowhere = path_join(*state, "no/x.svg"), *file = path_join(*state, "f");
	cleanup_free char *below = path_join(file, "x.svg"), *folder = path_join(*state, "d/");
	cleanup_free char *link = path_join(*state, "link"), *fifo = path_join(*state, "fifo");
	cleanup_free char *new_folder = path_join(*state, "new/"), *name = xcalloc(1, 252), *longest = NULL;
	struct error err = ERROR_INIT;

	assert_int_equal(file_write_atomic(file, "x", 1, 0644, NULL), 0);
	assert_int_equal(dir_make(folder, 0755, NULL), 0);
	assert_int_equal(symlink("f", link), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	refused(nowhere, NULL, "there is no folder ");
	refused(below, NULL, "is no folder");
	refused(*state, NULL, "is a folder");
	refused(folder, NULL, "is a folder");
	refused(new_folder, NULL, "folder");
	refused(link, NULL, "is no regular file");
	refused(fifo, NULL, "is no regular file");
	refused("/dev/null", NULL, "is no regular file");
	refused("/proc/x.svg", NULL, "cannot be made");
	/* 251 bytes are a name, but not with what stands behind it while it is written. */
	memset(name, 'n', 251);
	longest = path_join(*state, name);
	refused(longest, NULL, "File name too long");
	assert_int_equal(output_check("", NULL, &err), -1);
	assert_string_equal(err.text, "the name of the file is empty");
	error_clear(&err);
	assert_int_equal(count_entries(*state), 4);
}

/* By whatever name. */
static void test_input(void **state)
{
	cleanup_free char *file = path_join(*state, "in.yaml"), *again = path_join(*state, "./in.yaml");
	cleanup_free char *hard = path_join(*state, "hard"), *link = path_join(*state, "link");
	const char *input[] = { "nothing.yaml", file, NULL };

	assert_int_equal(file_write_atomic(file, "x", 1, 0644, NULL), 0);
	assert_int_equal(linkat(AT_FDCWD, file, AT_FDCWD, hard, 0), 0);
	assert_int_equal(symlink("in.yaml", link), 0);
	refused(file, input, "is read by this command");
	refused(again, input, "is read by this command");
	refused(hard, input, "is read by this command");
	refused(link, input, "is read by this command");
}

/* Root may write everywhere; whoever is not has rights to be asked for. */
static void test_rights(void **state)
{
	cleanup_free char *file = path_join(*state, "f"), *folder = path_join(*state, "closed");
	cleanup_free char *in_closed = path_join(folder, "x");

	if (geteuid() == 0 && (chmod(*state, 0777) < 0 || seteuid(65534) < 0))
		skip();
	assert_int_equal(file_write_atomic(file, "x", 1, 0444, NULL), 0);
	assert_int_equal(dir_make(folder, 0500, NULL), 0);
	refused(file, NULL, "cannot be written");
	refused(in_closed, NULL, "Permission denied");
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
}

#define folder_test(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		folder_test(test_good),
		folder_test(test_bad),
		folder_test(test_input),
		folder_test(test_rights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
