// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/build/kconfig_impl.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

static char dir[64];

static int set_up(void **state)
{
	strcpy(dir, "/tmp/kconfig-text-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	return dir_remove(dir, NULL);
}

static char *put(const char *name, const char *text)
{
	char *path = path_join(dir, name);

	assert_int_equal(file_write_atomic(path, text, strlen(text), 0644, NULL), 0);
	return path;
}

/* ---- kconfig_text ---- */

static void text_is_what_is_asked(void **state)
{
	cleanup_free char *base = put("base.config",
				      "# a base\n\nCONFIG_A=y\nCONFIG_B=17\r\n"
				      "  CONFIG_C=\"a \\\"b\\\" # c\"  \nCONFIG_D=n\n");
	cleanup_free char *one =
		put("one.config", "#CONFIG_A is not set\n# CONFIG_B=18\nCONFIG_E=0x1F");
	const char *const fragment[] = { one, NULL };
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *text = kconfig_text(base, fragment, &err);

	assert_string_equal(text, "olddefconfig\nCONFIG_B=17\nCONFIG_C=\"a \\\"b\\\" # c\"\n"
				  "# CONFIG_D is not set\n# CONFIG_A is not set\nCONFIG_E=0x1F\n");
}

/* The same asks, written otherwise, are the same build. */
static void text_does_not_hang_on_the_writing(void **state)
{
	cleanup_free char *x = put("x.config", "# why\nCONFIG_A=n\nCONFIG_B=y\n");
	cleanup_free char *y = put("y.config", "CONFIG_B=m\n# CONFIG_A is not set\n\nCONFIG_B=y");
	cleanup_free char *from_x = kconfig_text(x, NULL, NULL),
			  *from_y = kconfig_text(y, NULL, NULL);

	assert_string_equal(from_x, from_y);
}

static void text_begins_with_the_shipped_base(void **state)
{
	cleanup_free char *base = kconfig_base_path(NULL);
	cleanup_free char *shipped = kconfig_text(NULL, NULL, NULL);
	cleanup_free char *given = kconfig_text(base, NULL, NULL);

	assert_true(str_starts(shipped, "allnoconfig\nCONFIG_64BIT=y\n"));
	assert_string_not_equal(shipped, given);
	assert_string_equal(strchr(shipped, '\n'), strchr(given, '\n'));
}

static void expect_bad_line(const char *text, const char *where, const char *what)
{
	cleanup_free char *path = put("bad.config", text),
			  *start = str_printf("%s:%s: ", path, where);
	cleanup_error struct error err = ERROR_INIT;

	assert_null(kconfig_text(path, NULL, &err));
	assert_int_equal(err.status, EXIT_USAGE);
	if (!str_starts(err.text, start) || !strstr(err.text, what))
		fail_msg("%s", err.text);
}

static void bad_lines_are_named(void **state)
{
	expect_bad_line("CONFIG_A=y\n\nA=y\n", "3", "\"A=y\": no line of a config");
	expect_bad_line("CONFIG_A = y\n", "1", "straight behind the name");
	expect_bad_line("CONFIG_=y\n", "1", "straight behind the name");
	expect_bad_line("CONFIG_A,B=y\n", "1", "straight behind the name");
	expect_bad_line("CONFIG_A=yes\n", "1", "the value is none of");
	expect_bad_line("CONFIG_A=\n", "1", "the value is none of");
	expect_bad_line("CONFIG_A=\"b\n", "1", "the value is none of");
	expect_bad_line("CONFIG_A=\"b\" c\n", "1", "the value is none of");
	expect_bad_line("CONFIG_A=\"b\\\"\n", "1", "the value is none of");
	expect_bad_line("CONFIG_A=$(id)\n", "1", "the value is none of");
	expect_bad_line("CONFIG_A=0x\n", "1", "the value is none of");
	expect_bad_line("CONFIG_A=y # on\n", "1", "the value is none of");
	expect_bad_line("<script>\n", "1", "no line of a config");
	expect_bad_line("CONFIG_OK=y\n\033[31mCONFIG_A=y\n", "2", "no line of a config");
}

static void binaries_are_refused(void **state)
{
	cleanup_free char *path = path_join(dir, "bin.config");
	cleanup_error struct error err = ERROR_INIT;

	assert_int_equal(file_write_atomic(path, "CONFIG_A=y\n\0\n", 13, 0644, NULL), 0);
	assert_null(kconfig_text(path, NULL, &err));
	assert_int_equal(err.status, EXIT_USAGE);
	assert_non_null(strstr(err.text, "no text"));
	error_clear(&err);
	assert_null(kconfig_text("/nonexistent/x.config", NULL, &err));
	assert_int_equal(err.status, EXIT_USAGE);
}

static void an_empty_fragment_asks_nothing(void **state)
{
	cleanup_free char *empty = put("empty.config", "");
	cleanup_free char *text = kconfig_text(empty, NULL, NULL);

	assert_string_equal(text, "olddefconfig\n");
}

/* ---- kconfig_diff ---- */

static void expect_diff(const char *a, const char *b, const char *lines)
{
	cleanup_free char *found = kconfig_diff(a, b);

	assert_string_equal(found, lines);
}

static void diff_is_sorted_and_whole(void **state)
{
	expect_diff(
		"# Linux/x86 7.3.4\nCONFIG_Z=y\nCONFIG_A=y\n# CONFIG_M is not set\nCONFIG_SAME=1\n",
		"# Linux/x86 7.3.5\nCONFIG_SAME=1\n# CONFIG_Z is not set\nCONFIG_M=m\nCONFIG_N=\"a\"\n",
		"A: y -> -\nM: n -> m\nN: - -> \"a\"\nZ: y -> n\n");
	expect_diff("CONFIG_S=\"\"\nCONFIG_H=0x10\n", "CONFIG_S=\"x\"\nCONFIG_H=0x20\n",
		    "H: 0x10 -> 0x20\nS: \"\" -> \"x\"\n");
}

static void diff_passes_over_what_is_no_difference(void **state)
{
	expect_diff("", "", "");
	expect_diff("CONFIG_A=y\n", "\n#\nCONFIG_A=y", "");
	/* Off, and not there to be turned on: the same kernel. */
	expect_diff("# CONFIG_A is not set\n", "", "");
	expect_diff("", "# CONFIG_A is not set\n", "");
	/* A .config is a kernel's word, whatever else stands there. */
	expect_diff("garbage\nCONFIG_A=y\n", "CONFIG_B\nCONFIG_A=y\n", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_what_is_asked),
		cmocka_unit_test(text_does_not_hang_on_the_writing),
		cmocka_unit_test(text_begins_with_the_shipped_base),
		cmocka_unit_test(bad_lines_are_named),
		cmocka_unit_test(binaries_are_refused),
		cmocka_unit_test(an_empty_fragment_asks_nothing),
		cmocka_unit_test(diff_is_sorted_and_whole),
		cmocka_unit_test(diff_passes_over_what_is_no_difference),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
