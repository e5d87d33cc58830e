// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "harness/image/toolbox_impl.h"
#include "results/util/cleanup.h"

static void test_place(void **state)
{
	static const struct {
		const char *member, *place;
	} cases[] = {
		{ "usr/bin/make", "usr/bin/make" },
		{ "bin/sh", "usr/bin/sh" },
		{ "lib/x86_64-linux-gnu/libc.so.6", "usr/lib/x86_64-linux-gnu/libc.so.6" },
		{ "lib64/ld-linux-x86-64.so.2", "usr/lib64/ld-linux-x86-64.so.2" },
		{ "library/x", "library/x" },
		/* Links to folders of /usr in base-files: these are there. */
		{ "bin", NULL },
		{ "lib64", NULL },
		{ "usr/share/doc/make/copyright", NULL },
		{ "usr/share/doc", NULL },
		{ "usr/share/documents", "usr/share/documents" },
		{ "tmp", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cleanup_free char *place = toolbox_place(cases[i].member);

		if (cases[i].place)
			assert_string_equal(place, cases[i].place);
		else
			assert_null(place);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_place) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
