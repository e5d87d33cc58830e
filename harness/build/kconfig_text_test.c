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
	cleanup_free char *text = kconfig_text(base, fragment, NULL, &err);

	assert_string_equal(text, "olddefconfig\nCONFIG_B=17\nCONFIG_C=\"a \\\"b\\\" # c\"\n"
				  "# CONFIG_D is not set\n# CONFIG_A is not set\nCONFIG_E=0x1F\n");
}

/* The same asks, written otherwise, are the same build. */
static void text_does_not_hang_on_the_writing(void **state)
{
	cleanup_free char *x = put("x.config", "# why\nCONFIG_A=n\nCONFIG_B=y\n");
	cleanup_free char *y = put("y.config", "CONFIG_B=y\n# CONFIG_A is not set\n\nCONFIG_B=y");
	cleanup_free char *from_x = kconfig_text(x, NULL, NULL, NULL),
			  *from_y = kconfig_text(y, NULL, NULL, NULL);

	assert_string_equal(from_x, from_y);
}

static void text_begins_with_the_shipped_base(void **state)
{
	cleanup_free char *base = kconfig_base_path(NULL);
	cleanup_free char *shipped = kconfig_text(NULL, NULL, NULL, NULL);
	cleanup_free char *given = kconfig_text(base, NULL, NULL, NULL);

	assert_true(str_starts(shipped, "allnoconfig\nCONFIG_64BIT=y\n"));
	assert_string_not_equal(shipped, given);
	assert_string_equal(strchr(shipped, '\n'), strchr(given, '\n'));
}

static void expect_bad_line(const char *text, const char *where, const char *what)
{
	cleanup_free char *path = put("bad.config", text),
			  *start = str_printf("%s:%s: ", path, where);
	cleanup_error struct error err = ERROR_INIT;

	assert_null(kconfig_text(path, NULL, NULL, &err));
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
	assert_null(kconfig_text(path, NULL, NULL, &err));
	assert_int_equal(err.status, EXIT_USAGE);
	assert_non_null(strstr(err.text, "no text"));
	error_clear(&err);
	assert_null(kconfig_text("/nonexistent/x.config", NULL, NULL, &err));
	assert_int_equal(err.status, EXIT_USAGE);
}

static void an_empty_fragment_asks_nothing(void **state)
{
	cleanup_free char *empty = put("empty.config", "");
	cleanup_free char *text = kconfig_text(empty, NULL, NULL, NULL);

	assert_string_equal(text, "olddefconfig\n");
}

/* ---- asks that differ ---- */

static void add_remark(void *arg, const char *text)
{
	strbuf_addf(arg, "%s\n", text + strlen(dir) + 1);
}

/* Of up to three files by their names; base NULL: the shipped one. */
static char *text_of(const char *base, const char *const *name, struct strbuf *remarks,
		     struct error *err)
{
	const struct kconfig_tell tell = { add_remark, remarks };
	cleanup_free char *one = path_join(dir, name[0]);
	cleanup_free char *two = name[1] ? path_join(dir, name[1]) : NULL;
	cleanup_free char *three = two && name[2] ? path_join(dir, name[2]) : NULL;
	const char *const fragment[] = { one, two, three, NULL };

	return kconfig_text(base, fragment, &tell, err);
}

static void expect_remarks(const char *base, const char *const *name, const char *lines)
{
	cleanup_strbuf struct strbuf remarks = STRBUF_INIT;
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *wanted = xstrdup(""), *text = text_of(base, name, &remarks, &err);

	if (!text)
		fail_msg("%s", err.text);
	for (const char *p = lines; *p; p++) {
		char *longer = *p == '@' ? str_printf("%s%s/", wanted, dir) :
					   str_printf("%s%c", wanted, *p);

		free(wanted);
		wanted = longer;
	}
	assert_string_equal(remarks.len ? remarks.data : "", wanted);
}

static void later_files_win_and_are_told(void **state)
{
	cleanup_free char *base = put("base.config", "CONFIG_A=y\nCONFIG_B=y\n");
	cleanup_free char *on = put("on.config", "CONFIG_KSM=y\nCONFIG_N=0x10\nCONFIG_A=n\n");
	cleanup_free char *off = put("off.config", "\n# CONFIG_KSM is not set\nCONFIG_N=0x010\n");
	cleanup_free char *many = put("many.config", "CONFIG_N=17\nCONFIG_KSM=y\nCONFIG_A=n\n");
	static const char *const one[] = { "on.config", NULL }, *const two[] = { "on.config", "off.config", NULL },
				 *const three[] = { "off.config", "off.config", "many.config" },
				 *const back[] = { "on.config", "off.config", "many.config" };

	/* A fragment is there to change the base. */
	expect_remarks(base, one, "");
	expect_remarks(base, two, "off.config:2: KSM=n takes the place of @on.config:1 (y)\n");
	expect_remarks(base, three,
		       "many.config:1: N=17 takes the place of @off.config:3 (0x010)\n"
		       "many.config:2: KSM=y takes the place of @off.config:2 (n)\n");
	expect_remarks(base, back,
		       "off.config:2: KSM=n takes the place of @on.config:1 (y)\n"
		       "many.config:1: N=17 takes the place of @off.config:3 (0x010)\n"
		       "many.config:2: KSM=y takes the place of @off.config:2 (n)\n");
}

static void one_file_must_not_contradict_itself(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "CONFIG_KSM=y\n\nCONFIG_KSM=n\n", ":3: KSM=n contradicts %s:1 (y)" },
		{ "# CONFIG_KSM is not set\nCONFIG_KSM=y\n", ":2: KSM=y contradicts %s:1 (n)" },
		{ "CONFIG_S=\"a\"\nCONFIG_S=\"b\"\n", ":2: S=\"b\" contradicts %s:1 (\"a\")" },
		{ "CONFIG_X=1\nCONFIG_Z=y\nCONFIG_Z=m\nCONFIG_X=2\n", ":3: Z=m contradicts %s:2 (y)" },
	};
	static const char *const name[] = { "self.config", NULL };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *path = put("self.config", cases[i].text), *tail = NULL, *want = NULL;
		cleanup_free char *text = NULL, *whole = NULL, *again = NULL;
		cleanup_strbuf struct strbuf remarks = STRBUF_INIT;
		cleanup_error struct error err = ERROR_INIT;
		const char *hole = strstr(cases[i].error, "%s");

		tail = xstrndup(cases[i].error, (size_t)(hole - cases[i].error));
		want = str_printf("%s%s%s%s", path, tail, path, hole + 2);
		text = text_of(NULL, name, &remarks, &err);
		assert_null(text);
		assert_int_equal(err.status, EXIT_USAGE);
		assert_string_equal(err.text, want);
		assert_int_equal(remarks.len, 0);
	}
	/* The same twice is no contradiction. */
	free(put("self.config", "CONFIG_KSM=y\nCONFIG_N=010\nCONFIG_KSM=y\nCONFIG_N=10\n"));
	expect_remarks(NULL, name, "");
}

/* As after `echo CONFIG_KSM=y >>.config`, where the kernel's own tools let the last count. */
static void whole_config_may_be_added_to(void **state)
{
	cleanup_free char *base = put("whole.config", "# CONFIG_KSM is not set\nCONFIG_KSM=y\n");
	cleanup_free char *none = put("none.config", "");
	static const char *const name[] = { "none.config", NULL };
	cleanup_free char *text = kconfig_text(base, NULL, NULL, NULL);

	assert_string_equal(text, "olddefconfig\nCONFIG_KSM=y\n");
	expect_remarks(base, name, "whole.config:2: KSM=y takes the place of @whole.config:1 (n)\n");
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
		cmocka_unit_test(later_files_win_and_are_told),
		cmocka_unit_test(one_file_must_not_contradict_itself),
		cmocka_unit_test(whole_config_may_be_added_to),
		cmocka_unit_test(diff_is_sorted_and_whole),
		cmocka_unit_test(diff_passes_over_what_is_no_difference),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
