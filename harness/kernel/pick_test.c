// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/kernel/pick.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

static void expect_spec(const char *spec, const char *version, const char *flavour)
{
	cleanup_free char *v = NULL, *f = NULL;

	assert_int_equal(pick_parse(spec, &v, &f, NULL), 0);
	assert_string_equal(v, version);
	if (flavour)
		assert_string_equal(f, flavour);
	else
		assert_null(f);
}

static void specs_are_split(void **state)
{
	expect_spec("debian:7.3", "7.3", NULL);
	expect_spec("debian:7.3.4-1~bpo13+1", "7.3.4-1~bpo13+1", NULL);
	expect_spec("debian:7.3/generic", "7.3", "generic");
	expect_spec("debian:7.3/", "7.3", "");
}

static void others_are_refused(void **state)
{
	static const char *const specs[] = {
		"",	      "7.3",	     "debian:",	     "debian:x",
		"debian:-1",  "debian:7 3",  "debian:7.3;x", "debian:/cloud",
		"Debian:7.3", "debian:7\n3", "debian:7.3=1"
	};

	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		cleanup_error struct error err = ERROR_INIT;
		cleanup_free char *v = NULL, *f = NULL;

		assert_int_equal(pick_parse(specs[i], &v, &f, &err), -1);
		assert_int_equal(err.status, EXIT_USAGE);
		assert_non_null(strstr(err.text, "write debian:"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(specs_are_split),
		cmocka_unit_test(others_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
