// SPDX-License-Identifier: GPL-2.0-only
/* What an obj folder holds after a build that was cut off. Times are set, as the files' own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "harness/build/build_impl.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

#define MARK ".mmrig-unfinished"
#define NOW 2000000000 /* of the mark */

static char obj[64];

static int set_up(void **state)
{
	strcpy(obj, "/tmp/obj-test-XXXXXX");
	return mkdtemp(obj) ? 0 : -1;
}

static int tear_down(void **state)
{
	return dir_remove(obj, NULL);
}

static void set_time(const char *path, time_t s)
{
	const struct timespec t[2] = { { s, 5 }, { s, 5 } };

	assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0);
}

static void put(const char *name, time_t s)
{
	cleanup_free char *path = path_join(obj, name);
	cleanup_free char *parent = xstrndup(path, (size_t)(strrchr(path, '/') - path));

	assert_int_equal(dir_make(parent, 0755, NULL), 0);
	assert_int_equal(file_write_atomic(path, "x", 1, 0644, NULL), 0);
	set_time(path, s);
}

static bool has(const char *name)
{
	cleanup_free char *path = path_join(obj, name);

	return file_exists(path);
}

static void begin(void)
{
	assert_int_equal(build_obj_begin(obj, NULL), 0);
}

static void set_mark_time(void)
{
	cleanup_free char *mark = path_join(obj, MARK);

	set_time(mark, NOW);
}

static void test_whole_build_is_left_alone(void **state)
{
	begin();
	assert_true(has(MARK));
	put("mm/a.o", NOW);
	assert_int_equal(build_obj_end(obj, NULL), 0);
	assert_false(has(MARK));
	begin();
	assert_true(has("mm/a.o"));
}

static void test_new_folder(void **state)
{
	assert_int_equal(dir_remove(obj, NULL), 0);
	begin();
	assert_true(has(MARK));
}

/* An object of the build that was cut may be half, and its command's record is of the one before. */
static void test_cut_off(void **state)
{
	cleanup_free char *link = path_join(obj, "source");

	assert_int_equal(symlink("/etc/passwd", link), 0);
	put("mm/old.o", NOW - 1);
	put("mm/new.o", NOW + 1);
	put("mm/same.o", NOW);
	begin();
	set_mark_time();
	begin();
	assert_true(has("mm/old.o"));
	assert_false(has("mm/new.o"));
	assert_false(has("mm/same.o"));
	assert_true(has("source"));
	assert_true(has(MARK));
}

static void test_half_of_kconfigs_pair(void **state)
{
	put("include/config/auto.conf", NOW - 1);
	put("include/generated/autoconf.h", NOW + 1);
	put("mm/old.o", NOW - 1);
	begin();
	set_mark_time();
	begin();
	assert_false(has("include/config/auto.conf"));
	assert_true(has("mm/old.o"));
}

/* Nobody knows what of it had reached the disk. */
static void test_machine_went_down(void **state)
{
	cleanup_free char *mark = path_join(obj, MARK);

	put("mm/old.o", NOW - 100);
	assert_int_equal(file_write_atomic(mark, "another-boot\n", 13, 0644, NULL), 0);
	begin();
	assert_false(has("mm/old.o"));
	assert_true(has(MARK));
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_whole_build_is_left_alone), TEST(test_new_folder),
		TEST(test_cut_off),		      TEST(test_half_of_kconfigs_pair),
		TEST(test_machine_went_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
