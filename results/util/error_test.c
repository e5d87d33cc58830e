// SPDX-License-Identifier: GPL-2.0-only
#include "results/util/error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_life(void **state)
{
	struct error err = ERROR_INIT, other = ERROR_INIT;

	assert_int_equal(error_set(&err, 2, "%s: bad", "x"), -1);
	assert_int_equal(err.status, 2);
	assert_string_equal(err.text, "x: bad");
	assert_int_equal(error_wrap(&err, "run %d", 3), -1);
	assert_int_equal(error_hint(&err, "try %s", "y"), -1);
	assert_string_equal(err.text, "run 3: x: bad; try y");
	/* the old text may be part of the new one */
	error_set(&err, 4, "<%s>", err.text);
	assert_string_equal(err.text, "<run 3: x: bad; try y>");
	assert_int_equal(err.status, 4);
	error_set(&other, 1, "gone");
	error_move(&other, &err);
	assert_string_equal(other.text, "<run 3: x: bad; try y>");
	assert_int_equal(other.status, 4);
	assert_null(err.text);
	assert_int_equal(err.status, 0);
	error_move(NULL, &other);
	assert_null(other.text);
	error_clear(&err);
	error_clear(&err);
}

static void test_errno(void **state)
{
	struct error err = ERROR_INIT;

	errno = ENOENT;
	assert_int_equal(error_errno(&err, 4, "/x"), -1);
	assert_string_equal(err.text, "/x: No such file or directory");
	assert_int_equal(errno, ENOENT);
	error_clear(&err);
}

static void test_nobody_cares(void **state)
{
	struct error empty = ERROR_INIT;

	assert_int_equal(error_set(NULL, 2, "x"), -1);
	assert_int_equal(error_errno(NULL, 2, "x"), -1);
	assert_int_equal(error_wrap(NULL, "x"), -1);
	assert_int_equal(error_hint(NULL, "x"), -1);
	error_wrap(&empty, "x");
	error_hint(&empty, "x");
	assert_null(empty.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_errno),
		cmocka_unit_test(test_nobody_cares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
