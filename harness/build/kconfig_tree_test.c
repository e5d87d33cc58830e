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
	strcpy(dir, "/tmp/kconfig-tree-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	return dir_remove(dir, NULL);
}

static void put(const char *name, const char *text)
{
	cleanup_free char *path = path_join(dir, name);
	cleanup_free char *parent = xstrndup(path, (size_t)(strrchr(path, '/') - path));

	assert_int_equal(dir_make(parent, 0755, NULL), 0);
	assert_int_equal(file_write_atomic(path, text, strlen(text), 0644, NULL), 0);
}

static void symbols_are_found_where_they_stand(void **state)
{
	cleanup_tree struct kconfig_tree t = { 0 };

	put("Kconfig",
	    "mainmenu \"Linux/$(ARCH)\"\nsource \"arch/$(SRCARCH)/Kconfig\"\n"
	    "source \"$(KCONFIG_EXT_PREFIX)drivers/Kconfig\"\nsource \"absent/Kconfig\"\n"
	    "\tsource \"mm/Kconfig\"\n");
	put("arch/x86/Kconfig", "config X86\n\tdef_bool y\n");
	put("arch/arm64/Kconfig", "config ARM64\n\tdef_bool y\n");
	put("drivers/Kconfig", "config DRIVER\n\tbool\n");
	put("mm/Kconfig", "menuconfig SWAP\n\tbool \"Swap\"\n\thelp\n\t  The\n"
			  "\t  config option is on.\n\t  configure FOO\n"
			  "config  LEGACY\t# for now\n\tbool\n");
	assert_int_equal(kconfig_tree_read(dir, &t, NULL), 0);
	assert_int_equal(t.n, 3);
	assert_true(kconfig_tree_has(&t, "X86"));
	assert_true(kconfig_tree_has(&t, "SWAP"));
	assert_true(kconfig_tree_has(&t, "LEGACY"));
	assert_false(kconfig_tree_has(&t, "ARM64"));
	assert_false(kconfig_tree_has(&t, "SWA"));
	assert_string_equal(kconfig_tree_nearest(&t, "SAWP"), "SWAP");
	assert_null(kconfig_tree_nearest(&t, "QUITE_ANOTHER"));
}

static void members_of_a_choice_are_known(void **state)
{
	cleanup_tree struct kconfig_tree t = { 0 };

	put("Kconfig", "config BEFORE\n\tbool\nchoice\n\tprompt \"HZ\"\nconfig HZ_100\n\tbool\n"
		       "config HZ_250\n\tbool\nendchoice\nconfig AFTER\n\tbool\n"
		       "choice\nconfig LAZY\n\tbool\nconfig HZ_250\n\tbool\nendchoice\n");
	assert_int_equal(kconfig_tree_read(dir, &t, NULL), 0);
	assert_true(kconfig_tree_same_choice(&t, "HZ_100", "HZ_250"));
	assert_true(kconfig_tree_same_choice(&t, "LAZY", "HZ_250"));
	assert_false(kconfig_tree_same_choice(&t, "LAZY", "HZ_100"));
	assert_false(kconfig_tree_same_choice(&t, "BEFORE", "AFTER"));
	assert_false(kconfig_tree_same_choice(&t, "BEFORE", "HZ_100"));
	assert_false(kconfig_tree_same_choice(&t, "ABSENT", "HZ_100"));
}

static void files_that_include_themselves_end(void **state)
{
	cleanup_tree struct kconfig_tree t = { 0 };

	put("Kconfig", "config A\n\tbool\nsource \"Kconfig\"\n");
	assert_int_equal(kconfig_tree_read(dir, &t, NULL), 0);
	assert_true(kconfig_tree_has(&t, "A"));
}

static void a_tree_without_symbols_is_none(void **state)
{
	cleanup_tree struct kconfig_tree t = { 0 };
	cleanup_error struct error err = ERROR_INIT;

	put("Kconfig", "");
	assert_int_equal(kconfig_tree_read(dir, &t, &err), -1);
	assert_int_equal(err.status, EXIT_USAGE);
	assert_int_equal(kconfig_tree_read("/nonexistent", &t, NULL), -1);
}

static void expect_version(const char *makefile, const char *version)
{
	cleanup_free char *found = NULL;

	put("Makefile", makefile);
	found = kconfig_tree_version(dir);
	assert_string_equal(found, version);
}

static void version_is_the_makefiles(void **state)
{
	cleanup_free char *none = kconfig_tree_version("/nonexistent");

	expect_version(
		"# SPDX\nVERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 4\nEXTRAVERSION =\nNAME = X\n",
		"7.3.4");
	expect_version("VERSION=7\nPATCHLEVEL=4\nSUBLEVEL = 0\nEXTRAVERSION = -rc2\n", "7.4.0-rc2");
	expect_version("all:\n\techo VERSION = 9\n", "?");
	expect_version("", "?");
	assert_string_equal(none, "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_are_found_where_they_stand),
		cmocka_unit_test(members_of_a_choice_are_known),
		cmocka_unit_test(files_that_include_themselves_end),
		cmocka_unit_test(a_tree_without_symbols_is_none),
		cmocka_unit_test(version_is_the_makefiles),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
