// SPDX-License-Identifier: GPL-2.0-only
/* Compilers are small scripts here, in a folder that stands first in PATH or is all of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <sys/stat.h>

#include "harness/build/toolchain.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

static char dir[64];
static char *path_before;

static int set_up(void **state)
{
	cleanup_free char *path = NULL;

	strcpy(dir, "/tmp/toolchain-test-XXXXXX");
	assert_non_null(mkdtemp(dir));
	path_before = xstrdup(getenv("PATH"));
	path = str_printf("%s:%s", dir, path_before);
	setenv("PATH", path, 1);
	return 0;
}

static int tear_down(void **state)
{
	setenv("PATH", path_before, 1);
	free(path_before);
	return dir_remove(dir, NULL);
}

static void put_script(const char *name, const char *body)
{
	cleanup_free char *path = path_join(dir, name), *text = str_printf("#!/bin/sh\n%s\n", body);

	assert_int_equal(file_write_atomic(path, text, strlen(text), 0755, NULL), 0);
}

static void put_tree(const char *gcc, const char *llvm, const char *binutils)
{
	cleanup_free char *scripts = path_join(dir, "src/scripts"), *text = NULL;
	cleanup_free char *path = path_join(scripts, "min-tool-version.sh");

	assert_int_equal(dir_make(scripts, 0755, NULL), 0);
	text = str_printf("case \"$1\" in gcc) echo %s;; llvm) echo %s;; binutils) echo %s;; *) exit 1; esac\n",
			  gcc, llvm, binutils);
	assert_int_equal(file_write_atomic(path, text, strlen(text), 0644, NULL), 0);
}

static void expect(const struct error *err, int status, const char *what)
{
	assert_int_equal(err->status, status);
	if (!err->text || !strstr(err->text, what))
		fail_msg("\"%s\" does not say \"%s\"", err->text ? err->text : "", what);
}

static void test_compare(void **state)
{
	assert_int_equal(toolchain_compare("12.2.0", "12.2.0"), 0);
	assert_int_equal(toolchain_compare("12.2", "12.2.0"), 0);
	assert_true(toolchain_compare("9.4.0", "10.2.0") < 0);
	assert_true(toolchain_compare("2.40", "2.5") > 0);
	assert_true(toolchain_compare("5.10.0-rc3", "5.10.1") < 0);
	assert_true(toolchain_compare("6.14", "6.14.0-rc1") == 0);
	assert_true(toolchain_compare("", "1") < 0);
	assert_int_equal(toolchain_compare("", "x"), 0);
}

/* The one of this machine, whatever it is. */
static void test_real(void **state)
{
	cleanup_error struct error err = ERROR_INIT;
	struct toolchain t;

	assert_int_equal(toolchain_find(NULL, &t, &err), 0);
	assert_string_equal(t.cc, "gcc");
	assert_non_null(strstr(t.cc_line, "gcc"));
	assert_non_null(strstr(t.cc_line, t.cc_version));
	assert_true(toolchain_compare(t.cc_version, "8") > 0);
	assert_true(toolchain_compare(t.ld_version, "2.30") > 0);
	assert_true(t.prefix_map);
	assert_false(t.clang);
	toolchain_free(&t);
}

#define FAKE_GCC(version)                                                          \
	"case \"$1\" in --version) echo \"gcc-x (Fake " version "-1) " version "\";" \
	"echo Copyright;; -dumpfullversion) echo " version ";; *) exit 1; esac"

static void find(const char *cc, const char *body, struct toolchain *t)
{
	put_script(cc, body);
	assert_int_equal(toolchain_find(cc, t, NULL), 0);
}

static void test_versions_are_read(void **state)
{
	struct toolchain t;

	find("gcc-7x", FAKE_GCC("7.5.0"), &t);
	assert_string_equal(t.cc_line, "gcc-x (Fake 7.5.0-1) 7.5.0");
	assert_string_equal(t.cc_version, "7.5.0");
	assert_false(t.prefix_map);
	toolchain_free(&t);
	find("clangx",
	     "case \"$1\" in --version) echo 'Debian clang version 14.0.6';; -dumpversion) echo "
	     "14.0.6;; -dumpfullversion) exit 1;; esac",
	     &t);
	assert_true(t.clang);
	assert_string_equal(t.cc_version, "14.0.6");
	toolchain_free(&t);
}

static void refuse(const char *cc, const char *what)
{
	cleanup_error struct error err = ERROR_INIT;
	struct toolchain t;

	assert_int_equal(toolchain_find(cc, &t, &err), -1);
	expect(&err, EXIT_USAGE, what);
}

static void test_bad_compilers(void **state)
{
	put_script("says-nothing", "exit 0");
	put_script("fails", "exit 1");
	refuse("gcc-99", "--cc gcc-99: no such compiler here; apt-get install gcc-99");
	refuse("/no/such/gcc", "--cc /no/such/gcc: no such compiler here");
	refuse("says-nothing", "does not say which C compiler it is");
	refuse("fails", "does not say which C compiler it is");
	refuse("ls", "does not say which C compiler it is");
	refuse("ccache gcc", "is no compiler's name or path");
	refuse("gcc;reboot", "is no compiler's name or path");
	refuse("$(reboot)", "is no compiler's name or path");
	refuse("--help", "is no compiler's name or path");
	refuse("", "is no compiler's name or path");
	refuse("a\nb", "is no compiler's name or path");
}

/* All that is missing at once, with what brings it. */
static void test_missing_tools(void **state)
{
	cleanup_error struct error err = ERROR_INIT;
	struct toolchain t;

	put_script("flex", "exit 1");
	put_script("bc", "exit 1");
	assert_int_equal(toolchain_find(NULL, &t, &err), -1);
	expect(&err, EXIT_USAGE, "missing for building kernels: flex, bc; apt-get install flex bc");
	error_clear(&err);
	put_script("flex", "exit 0");
	put_script("bc", "exit 0");
	put_script("gcc", "case \"$*\" in *gelf.h*) exit 1; esac; " FAKE_GCC("12.2.0"));
	assert_int_equal(toolchain_find(NULL, &t, &err), -1);
	expect(&err, EXIT_USAGE, "the headers of libelf; apt-get install libelf-dev");
}

static void test_too_old(void **state)
{
	cleanup_free char *src = path_join(dir, "src");
	cleanup_error struct error err = ERROR_INIT;
	struct toolchain t;

	find("gcc-7x", FAKE_GCC("7.5.0"), &t);
	assert_int_equal(toolchain_check_source(&t, src, NULL), 0); /* a tree that does not say */
	put_tree("8.1.0", "17.0.1", "2.10.0");
	assert_int_equal(toolchain_check_source(&t, src, &err), -1);
	expect(&err, EXIT_USAGE, "gcc-7x 7.5.0 is too old for this kernel, which needs at least 8.1.0");
	error_clear(&err);
	put_tree("7.5.0", "17.0.1", "99.0");
	assert_int_equal(toolchain_check_source(&t, src, &err), -1);
	expect(&err, EXIT_USAGE, "which needs at least 99.0");
	put_tree("7.5.0", "17.0.1", "2.10.0");
	assert_int_equal(toolchain_check_source(&t, src, NULL), 0);
	t.clang = true;
	assert_int_equal(toolchain_check_source(&t, src, NULL), -1);
	put_tree("rubbish", "$(exit 1)", "");
	assert_int_equal(toolchain_check_source(&t, src, NULL), 0);
	toolchain_free(&t);
}

/* gcc 15 is C23 by default, which kernels of 5.18 to 6.13 are not ready for in their boot code. */
static void test_too_new(void **state)
{
	struct toolchain t = { .cc = (char *)"gcc", .cc_version = (char *)"15.1.0" };
	cleanup_free char *old = toolchain_too_new(&t, "6.1.0"), *older = NULL, *mild = NULL;

	assert_string_equal(old, "gcc 15.1.0 is newer than this kernel, 6.1.0, and may be too new for it; "
				 "gcc 15 before 6.14: C23: \"false\" is a keyword in arch/x86/boot; an "
				 "older one is given with --cc");
	older = toolchain_too_new(&t, "5.4.20");
	assert_non_null(strstr(older, "yylloc"));
	assert_non_null(strstr(older, "tools/lib/subcmd"));
	assert_null(strstr(older, "position independent"));
	assert_null(toolchain_too_new(&t, "6.14.0"));
	assert_null(toolchain_too_new(&t, "7.3.4"));
	t.cc_version = (char *)"12.2.0";
	assert_null(toolchain_too_new(&t, "6.1.0"));
	mild = toolchain_too_new(&t, "5.12.1"); /* older than gcc 12, and the fix of 5.17 is not there */
	assert_non_null(strstr(mild, "before 5.17"));
	t.clang = true;
	assert_null(toolchain_too_new(&t, "4.4.0"));
}

static void test_config_asks_for_programs(void **state)
{
	cleanup_free char *config = path_join(dir, "config");
	static const char text[] = "#\nCONFIG_A=y\nCONFIG_KERNEL_LZ4=y\n# CONFIG_KERNEL_LZO is not set\n";
	cleanup_error struct error err = ERROR_INIT;

	assert_int_equal(file_write_atomic(config, text, strlen(text), 0644, NULL), 0);
	put_script("lzop", "exit 1");
	put_script("lz4", "exit 0");
	assert_int_equal(toolchain_check_config(config, NULL), 0);
	put_script("lz4", "exit 1");
	assert_int_equal(toolchain_check_config(config, &err), -1);
	expect(&err, EXIT_USAGE, "missing for this config: lz4; apt-get install lz4");
	error_clear(&err);
	unlink(config);
	assert_int_equal(toolchain_check_config(config, &err), -1);
}

static void test_missing_of_a_log(void **state)
{
	cleanup_free char *zstd = toolchain_missing("/bin/sh: 1: zstd: not found");
	cleanup_free char *ssl = toolchain_missing("scripts/sign-file.c:25:10: fatal error: "
						   "openssl/opensslv.h: No such file or directory");

	assert_string_equal(zstd, "zstd: missing; apt-get install zstd");
	assert_string_equal(ssl, "the headers of OpenSSL: missing; apt-get install libssl-dev");
	assert_null(toolchain_missing("mm/a.c:1: error: openssl/x"));
	assert_null(toolchain_missing("/bin/sh: 1: frobnicate: not found"));
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_compare),	  TEST(test_real),
		TEST(test_versions_are_read), TEST(test_bad_compilers),
		TEST(test_missing_tools),     TEST(test_too_old),
		TEST(test_too_new),	      TEST(test_config_asks_for_programs),
		TEST(test_missing_of_a_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
