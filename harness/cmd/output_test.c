// SPDX-License-Identifier: GPL-2.0-only
#include "harness/cmd/output.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "results/util/cleanup.h"
#include "results/verdict.h"

static void test_form(void **state)
{
	static const struct {
		const char *path, *suffix, *why; /* NULL: good */
	} t[] = {
		{ "x.svg", ".svg", NULL },
		{ "x.SVG", ".svg", NULL },
		{ "x", ".svg", NULL },
		{ "a.png/x", ".svg", NULL },
		{ "x.v2", ".svg", NULL },
		{ "png", ".svg", NULL },
		{ ".svg", ".svg", NULL },
		{ "", ".svg", NULL },
		{ "x.png.", ".svg", NULL },
		{ "x.png", ".svg", "--output x.png: it is X; give a name that ends in .svg" },
		{ "a/b.svg.PNG", ".svg", "--output a/b.svg.PNG: it is X; give a name that ends in .svg" },
		{ "x.pdf", ".svg", "--output x.pdf: it is X; give a name that ends in .svg" },
		{ "x.jpg", ".svg", "--output x.jpg: it is X; give a name that ends in .svg" },
		{ "x.html", ".html", NULL },
		{ "x.htm", ".html", NULL },
		{ "x.svg", ".html", "--output x.svg: it is X; give a name that ends in .html" },
		{ "x.json", ".html", "--output x.json: it is X; give a name that ends in .html" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		cleanup_error struct error err = ERROR_INIT;
		int ret = command_check_form(t[i].path, t[i].suffix, "it is X", &err);

		assert_int_equal(ret, t[i].why ? -1 : 0);
		if (!t[i].why)
			continue;
		assert_string_equal(err.text, t[i].why);
		assert_int_equal(err.status, EXIT_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_form) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
