// SPDX-License-Identifier: GPL-2.0-only
/*
 * Against a small tree whose Makefile has kconfiglib read real Kconfig files where a kernel has its own
 * conf, and against a whole kernel where MMRIG_TEST_TREE names one (then MMRIG_TEST_CC may name a
 * compiler: "ccache gcc").
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <sys/stat.h>

#include "harness/build/kconfig_impl.h"
#include "harness/kernel/child.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

/* kconfiglib proper is of 2020: what came into the language later is put in older words for it. */
static const char makefile[] =
	"VERSION = 7\n"
	"PATCHLEVEL = 3\n"
	"SUBLEVEL = 4\n"
	"EXTRAVERSION = -test\n"
	"KCONFIG_CONFIG ?= .config\n"
	"export KCONFIG_CONFIG\n"
	"export srctree := $(CURDIR)\n"
	"Kconfig := $(or $(KBUILD_KCONFIG),$(O)/plain)\n"
	"allnoconfig olddefconfig:\n"
	"\t@sed 's/\\tmodules$$/\\toption modules/; /\\ttransitional$$/d; s/ if SMP #.*/ || SMP = n/' "
	"Kconfig >$(O)/plain\n"
	"\t@cd $(O) && /usr/bin/python3 -m $@ $(Kconfig)\n";

static const char kconfig[] =
	"mainmenu \"Linux/x86 7.3.4-test Kernel Configuration\"\n"
	"config MODULES\n\tbool \"Modules\"\n\tmodules\n"
	"config X86\n\tdef_bool y\n\tselect HAVE_PROBES\n"
	"config HAVE_PROBES\n\tbool\n"
	"config HAVE_TAGS\n\tbool\n"
	"config TAGS\n\tbool \"Tags\"\n\tdepends on HAVE_TAGS\n"
	"config SMP\n\tbool \"SMP\"\n"
	"config NUMA\n\tbool \"NUMA\"\n\tdepends on SMP\n"
	"config NUMA_MIGRATION\n\tbool \"Migration\"\n\tdepends on NUMA\n"
	"config NUMA_BALANCING\n\tbool \"Balancing\"\n\tdepends on NUMA_MIGRATION && X86\n"
	"config UMA_ONLY\n\tbool \"UMA\"\n\tdepends on !NUMA\n"
	"config EITHER\n\tbool \"Either\"\n\tdepends on NUMA || TAGS\n"
	"config CONDITIONAL\n\tbool \"Conditional\"\n\tdepends on NUMA if SMP # of late\n"
	"config PICKER\n\tbool \"Picker\"\n\tselect PICKED\n"
	"config PICKED\n\tbool \"Picked\"\n"
	"config OLD_NAME\n\tbool\n\ttransitional\n"
	"config EXT4\n\ttristate \"ext4\"\n"
	"config CPUS\n\tint \"CPUs\"\n\trange 2 64\n\tdefault 8\n"
	"config OFFSET\n\thex \"Offset\"\n\tdefault 0x1f00\n"
	"config NAME\n\tstring \"Name\"\n\tdefault \"\"\n"
	"config FANCY\n\tbool \"Fancy\"\n\tdepends on $(shell,false || echo n)\n"
	"choice\n\tprompt \"Timer\"\n\tdefault HZ_250\n"
	"config HZ_100\n\tbool \"100\"\n"
	"config HZ_250\n\tbool \"250\"\n"
	"config HZ_1000\n\tbool \"1000\"\n\tdepends on SMP\n"
	"endchoice\n";

struct place {
	char dir[64];
	char *src, *obj;
};

static char *put(const char *dir, const char *name, const char *text)
{
	char *path = path_join(dir, name);
	cleanup_free char *parent = xstrndup(path, (size_t)(strrchr(path, '/') - path));

	assert_int_equal(dir_make(parent, 0755, NULL), 0);
	assert_int_equal(file_write_atomic(path, text, strlen(text), 0644, NULL), 0);
	return path;
}

static int set_up(void **state)
{
	struct place *p = xcalloc(1, sizeof(*p));

	strcpy(p->dir, "/tmp/kconfig-test-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	p->src = path_join(p->dir, "src");
	p->obj = path_join(p->dir, "obj");
	free(put(p->src, "Makefile", makefile));
	free(put(p->src, "Kconfig", kconfig));
	assert_int_equal(dir_make(p->obj, 0755, NULL), 0);
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct place *p = *state;

	dir_remove(p->dir, NULL);
	free(p->src);
	free(p->obj);
	free(p);
	return 0;
}

/* base: text of a whole config, or NULL; fragment: text of the user's, or NULL. */
static int make_config(const struct place *p, const char *base, const char *fragment,
		       struct error *err)
{
	cleanup_free char *base_path = base ? put(p->dir, "whole.config", base) : NULL;
	cleanup_free char *path = fragment ? put(p->dir, "my.config", fragment) : NULL;
	cleanup_free char *unmet = path_join(p->dir, "unmet.txt");
	const char *const list[] = { path, NULL };
	struct kconfig_request r = { .src = p->src,
				     .obj = p->obj,
				     .list = unmet,
				     .base = base_path,
				     .fragment = list };

	return kconfig_make(&r, err);
}

static char *config_of(const struct place *p)
{
	cleanup_free char *path = path_join(p->obj, ".config");

	return file_read(path, 0, NULL, NULL);
}

static void expect_config(const struct place *p, const char *base, const char *fragment,
			  const char *const *lines)
{
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *text = NULL;

	if (make_config(p, base, fragment, &err) < 0)
		fail_msg("%s", err.text);
	text = config_of(p);
	for (; *lines; lines++) {
		cleanup_free char *line = str_printf("\n%s\n", *lines);

		if (!strstr(text, line))
			fail_msg("no %s in %s", *lines, text);
	}
}

#define LINES(...)                \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

/* What comes after "my.config:LINE: ". */
static void expect_unmet(const struct place *p, const char *fragment, const char *message)
{
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *whole = str_printf("%s/my.config:%s", p->dir, message);
	cleanup_free char *text = NULL;

	assert_int_equal(make_config(p, NULL, fragment, &err), -1);
	assert_string_equal(err.text, whole);
	assert_int_equal(err.status, EXIT_USAGE);
	text = config_of(p);
	assert_null(text);
}

/* ---- what comes out ---- */

/* Of base.config the tree knows SMP alone; the rest is left. */
static void asks_become_the_config(void **state)
{
	expect_config(
		*state, NULL,
		"CONFIG_NUMA=y\nCONFIG_CPUS=016\nCONFIG_OFFSET=0x1F00\nCONFIG_NAME=\"a \\\"b\"\n"
		"CONFIG_HZ_1000=y\n# CONFIG_PICKER is not set\n",
		LINES("CONFIG_SMP=y", "CONFIG_NUMA=y", "# CONFIG_PICKER is not set",
		      "CONFIG_NAME=\"a \\\"b\"", "CONFIG_HZ_1000=y",
		      "# CONFIG_NUMA_MIGRATION is not set"));
}

static void a_whole_config_is_a_start(void **state)
{
	expect_config(*state, "CONFIG_SMP=y\nCONFIG_NUMA=y\nCONFIG_GONE=y\nCONFIG_TAGS=y\n",
		      "# CONFIG_NUMA is not set\n",
		      LINES("CONFIG_SMP=y", "# CONFIG_NUMA is not set", "CONFIG_CPUS=8",
			    "CONFIG_HZ_250=y"));
}

/* base.config has HZ_250; who asks for another member means it. */
static void a_later_member_of_a_choice_wins(void **state)
{
	expect_config(*state, NULL, "CONFIG_HZ_100=y\n",
		      LINES("CONFIG_HZ_100=y", "# CONFIG_HZ_250 is not set"));
}

static void add_line(void *arg, const char *text)
{
	strbuf_addf(arg, "%s\n", text);
}

/* base.config's own member gives way without a word, a fragment's with one. */
static void a_later_member_of_a_choice_is_told(void **state)
{
	const struct place *p = *state;
	cleanup_free char *first = put(p->dir, "a.config", "\nCONFIG_HZ_100=y\n");
	cleanup_free char *second = put(p->dir, "b.config", "CONFIG_SMP=y\nCONFIG_HZ_1000=y\n");
	cleanup_free char *want = str_printf("%s:2: HZ_1000=y takes the place of %s:2 (HZ_100=y)\n",
					     second, first);
	const char *const list[] = { first, second, NULL };
	cleanup_free char *unmet = path_join(p->dir, "unmet.txt");
	cleanup_strbuf struct strbuf lines = STRBUF_INIT;
	cleanup_error struct error err = ERROR_INIT;
	const struct kconfig_request r = { .src = p->src,
					   .obj = p->obj,
					   .list = unmet,
					   .fragment = list,
					   .tell = { add_line, &lines } };

	if (kconfig_make(&r, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(lines.data, want);
}

static void unchanged_configs_are_not_touched(void **state)
{
	const struct place *p = *state;
	cleanup_free char *path = path_join(p->obj, ".config");
	struct stat first, second, third;

	expect_config(p, NULL, "CONFIG_NUMA=y\n", LINES("CONFIG_NUMA=y"));
	assert_int_equal(stat(path, &first), 0);
	expect_config(p, NULL, "CONFIG_NUMA=y\n# CONFIG_EXT4 is not set\n", LINES("CONFIG_NUMA=y"));
	assert_int_equal(stat(path, &second), 0);
	assert_int_equal(first.st_ino, second.st_ino);
	assert_memory_equal(&first.st_mtim, &second.st_mtim, sizeof(first.st_mtim));
	expect_config(p, NULL, "CONFIG_PICKED=y\n", LINES("CONFIG_PICKED=y"));
	assert_int_equal(stat(path, &third), 0);
	assert_int_not_equal(second.st_ino, third.st_ino);
}

/* A shell that cross-compiles, and a make that started us. */
static void other_builds_variables_are_not_heard(void **state)
{
	setenv("KCONFIG_CONFIG", "/nonexistent/config", 1);
	setenv("KCONFIG_ALLCONFIG", "/nonexistent/all", 1);
	setenv("KBUILD_KCONFIG", "/nonexistent/Kconfig", 1);
	setenv("MAKEFLAGS", "n", 1);
	expect_config(*state, NULL, "CONFIG_NUMA=y\n", LINES("CONFIG_NUMA=y"));
	unsetenv("KCONFIG_CONFIG");
	unsetenv("KCONFIG_ALLCONFIG");
	unsetenv("KBUILD_KCONFIG");
	unsetenv("MAKEFLAGS");
}

static void what_a_killed_run_left_is_swept(void **state)
{
	const struct place *p = *state;
	cleanup_free char *left = put(p->obj, "mmrig-config/result.config", "CONFIG_NUMA=y\n");

	expect_config(p, NULL, "CONFIG_PICKED=y\n", LINES("# CONFIG_NUMA is not set"));
	assert_false(file_exists(left));
}

/* ---- what does not ---- */

static void unmet_dependencies_are_told(void **state)
{
	expect_unmet(
		*state, "\nCONFIG_TAGS=y\n",
		"2: TAGS=y came out as n: it needs HAVE_TAGS, which is n and cannot be set by itself");
	expect_unmet(
		*state, "CONFIG_NUMA_BALANCING=y\n",
		"1: NUMA_BALANCING=y came out as n: it needs NUMA_MIGRATION, which is n for want of "
		"NUMA, which is n");
	expect_unmet(*state, "CONFIG_EITHER=y\n",
		     "1: EITHER=y came out as n: it needs NUMA or TAGS, which are off");
	expect_unmet(*state, "CONFIG_CONDITIONAL=y\n",
		     "1: CONDITIONAL=y came out as n: it needs either NUMA, which is n, or "
		     "SMP off, which is y");
	expect_unmet(*state, "CONFIG_NUMA=y\nCONFIG_UMA_ONLY=y\n",
		     "2: UMA_ONLY=y came out as n: it needs NUMA off, which is y");
	expect_unmet(
		*state, "CONFIG_FANCY=y\n",
		"1: FANCY=y came out as n: it needs what a test of the compiler or of another tool "
		"did not find");
}

static void what_is_on_and_should_be_off_is_told(void **state)
{
	expect_unmet(*state, "CONFIG_PICKER=y\n# CONFIG_PICKED is not set\n",
		     "2: PICKED=n came out as y: it is selected by PICKER");
	expect_unmet(*state, "CONFIG_X86=n\n",
		     "1: X86=n came out as y: it cannot be set by itself: it is on wherever its "
		     "dependencies are met");
	expect_unmet(*state, "CONFIG_HZ_250=n\n",
		     "1: HZ_250=n came out as y: it is what the choice \"Timer\" falls to; ask for "
		     "HZ_100 or HZ_1000");
}

static void members_that_lost_are_told(void **state)
{
	expect_unmet(
		*state, "CONFIG_HZ_100=y\nCONFIG_HZ_1000=y\n",
		"1: HZ_100=y came out as n: it is one of the choice \"Timer\", where HZ_1000 won");
	expect_unmet(*state, "CONFIG_SMP=n\nCONFIG_HZ_1000=y\n",
		     "2: HZ_1000=y came out as n: it needs SMP, which is n");
}

static void values_of_other_types_are_told(void **state)
{
	expect_unmet(*state, "CONFIG_EXT4=m\n",
		     "1: EXT4=m came out as y: it needs MODULES, which is n, to be m");
	expect_unmet(*state, "CONFIG_SMP=m\n",
		     "1: SMP=m came out as n: it is a bool: y or n, not m");
	expect_unmet(*state, "CONFIG_CPUS=65\n",
		     "1: CPUS=65 came out as 8: it must be from 2 to 64");
	expect_unmet(*state, "CONFIG_CPUS=\"x\"\n", "1: CPUS=\"x\" came out as 8: it is an int");
	expect_unmet(*state, "CONFIG_NAME=y\n",
		     "1: NAME=y came out as \"\": it is a string: its value stands in quotes");
	expect_unmet(*state, "CONFIG_SMP=\"y\"\n",
		     "1: SMP=\"y\" came out as n: it is a bool: y or n");
}

static void unknown_symbols_are_told(void **state)
{
	expect_unmet(
		*state, "CONFIG_NUMA_BALANCNG=y\n",
		"1: NUMA_BALANCNG=y: no such symbol in 7.3.4-test; did you mean NUMA_BALANCING?");
	/* Off is what it is, but a name that nobody knows is a mistake. */
	expect_unmet(*state, "# CONFIG_SPM is not set\n",
		     "1: SPM=n: no such symbol in 7.3.4-test; did you mean SMP?");
	expect_unmet(*state, "CONFIG_ENTIRELY_OTHER=7\n",
		     "1: ENTIRELY_OTHER=7: no such symbol in 7.3.4-test");
	expect_unmet(
		*state, "CONFIG_OLD_NAME=y\n",
		"1: OLD_NAME=y came out as n: it is an old name that this kernel only reads and "
		"never writes");
}

static void three_are_shown_and_all_are_kept(void **state)
{
	const struct place *p = *state;
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *list = path_join(p->dir, "unmet.txt"), *all = NULL,
			  *end = NULL;
	size_t lines = 0;

	assert_int_equal(make_config(p, NULL,
				     "CONFIG_TAGS=y\nCONFIG_NOPE=y\nCONFIG_FANCY=y\n"
				     "CONFIG_EITHER=y\nCONFIG_X86=n\n",
				     &err),
			 -1);
	assert_true(str_starts(err.text, "5 symbols of the config did not come out as asked:\n"));
	assert_non_null(strstr(err.text, "my.config:3: FANCY"));
	assert_null(strstr(err.text, "EITHER"));
	end = str_printf("\n  and 2 others; all are in %s", list);
	assert_true(str_ends(err.text, end));
	all = file_read(list, 0, NULL, NULL);
	for (const char *q = all; (q = strchr(q, '\n')); q++)
		lines++;
	assert_int_equal(lines, 5);
	assert_non_null(strstr(all, "my.config:5: X86=n came out as y"));
}

/* The base is ours, and what this kernel knows of it must be as it says. */
static void the_base_is_held_to_its_word(void **state)
{
	const struct place *p = *state;
	cleanup_error struct error err = ERROR_INIT;

	free(put(p->src, "Kconfig",
		 "config NEVER\n\tbool\nconfig PSI\n\tbool \"PSI\"\n\tdepends on NEVER\n"));
	assert_int_equal(make_config(p, NULL, NULL, &err), -1);
	assert_int_equal(err.status, EXIT_USAGE);
	assert_true(str_starts(err.text, "base.config:"));
	assert_non_null(strstr(err.text, ": PSI=y came out as n: it needs NEVER, which is n"));
}

static void makes_own_words_are_told(void **state)
{
	const struct place *p = *state;
	cleanup_error struct error err = ERROR_INIT;

	free(put(p->src, "Makefile",
		 "allnoconfig:\n\t@echo 'x.c:1: warning: unused' >&2; "
		 "echo '/bin/sh: 1: flex: not found' >&2; exit 1\n"));
	assert_int_equal(make_config(p, NULL, NULL, &err), -1);
	assert_int_equal(err.status, EXIT_NO_VERDICT);
	assert_true(str_starts(err.text, "make allnoconfig failed: /bin/sh: 1: flex: not found\n"));
	error_clear(&err);
	free(put(p->src, "Makefile", "allnoconfig:\n"));
	assert_int_equal(make_config(p, NULL, NULL, &err), -1);
	assert_non_null(strstr(err.text, "result.config: cannot open"));
}

/* As with a python that has no kconfiglib: then the symbols alone are told. */
static void without_kconfiglib_the_symbols_are_told(void **state)
{
	const struct place *p = *state;
	cleanup_free char *text =
		str_printf("ifdef KBUILD_KCONFIG\n"
			   "allnoconfig:\n"
			   "\t@echo \"No module named 'kconfiglib'\" >$(MMRIG_ERRORS)\n"
			   "else\n%sendif\n",
			   makefile);

	free(put(p->src, "Makefile", text));
	expect_unmet(p, "CONFIG_TAGS=y\n",
		     "1: TAGS=y came out as n; to be told why, install python3-kconfiglib");
}

/* ---- fragments ---- */

static void shipped_fragments_go_by_name(void **state)
{
	static const char *const shipped[] = { "arm-like", "debug",	"debuginfo", "kasan",
					       "lockdep",  "memcg-off", "numa",	     "page_owner" };
	char **names = kconfig_names();

	for (size_t i = 0; i < ARRAY_SIZE(shipped); i++) {
		cleanup_free char *path = kconfig_find(shipped[i], NULL);
		cleanup_free char *end = str_printf("/" KCONFIG_FOLDER "/%s.config", shipped[i]);

		assert_string_equal(names[i], shipped[i]);
		assert_true(str_ends(path, end));
		assert_true(file_exists(path));
		free(names[i]);
	}
	assert_null(names[ARRAY_SIZE(shipped)]);
	free(names);
}

static void expect_not_found(const char *name, const char *message)
{
	cleanup_error struct error err = ERROR_INIT;

	assert_null(kconfig_find(name, &err));
	assert_int_equal(err.status, EXIT_USAGE);
	assert_string_equal(err.text, message);
}

static void other_fragments_go_by_path(void **state)
{
	const struct place *p = *state;
	cleanup_free char *path = put(p->dir, "a b,c.config", ""),
			  *found = kconfig_find(path, NULL);
	cleanup_free char *folder = str_printf("%s: not a regular file", p->dir);

	assert_string_equal(found, path);
	expect_not_found(p->dir, folder);
	expect_not_found("none.config", "none.config: No such file or directory");
	expect_not_found("kasn", "no config fragment is named \"kasn\"; did you mean kasan?");
	expect_not_found("base",
			 "no config fragment is named \"base\"; there are arm-like, debug, "
			 "debuginfo, kasan, lockdep, memcg-off, numa, page_owner; a file is "
			 "given with its folder, as ./my.config");
	expect_not_found("",
			 "no config fragment is named \"\"; there are arm-like, debug, debuginfo, "
			 "kasan, lockdep, memcg-off, numa, page_owner; a file is given with its "
			 "folder, as ./my.config");
}

/* ---- a whole kernel ---- */

static int make_real(const struct place *p, const char *const *fragment, struct error *err)
{
	const char *cc = getenv("MMRIG_TEST_CC"), *tree = getenv("MMRIG_TEST_TREE");
	cleanup_free char *cc_arg = str_printf("CC=%s", cc ? cc : "gcc");
	const char *const arg[] = { "ARCH=x86", cc_arg, NULL };
	cleanup_free char *unmet = path_join(p->dir, "unmet.txt");
	struct kconfig_request r = { .src = tree,
				     .obj = p->obj,
				     .list = unmet,
				     .make_arg = arg,
				     .fragment = fragment };

	return kconfig_make(&r, err);
}

static void shipped_fragments_stick_on_a_kernel(void **state)
{
	char **names = kconfig_names();

	for (size_t i = 0; names[i]; i++) {
		cleanup_error struct error err = ERROR_INIT;
		cleanup_free char *path = kconfig_find(names[i], NULL);
		const char *const list[] = { path, NULL };

		if (make_real(*state, list, &err) < 0)
			fail_msg("%s: %s", names[i], err.text);
		free(names[i]);
	}
	free(names);
}

static void kernels_own_dependencies_are_told(void **state)
{
	const struct place *p = *state;
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *path = put(p->dir, "my.config",
				      "CONFIG_HZ_250=y\nCONFIG_HZ_1000=y\n"
				      "CONFIG_KVM_AMD=y\nCONFIG_PSSI=y\n");
	const char *const list[] = { path, NULL };

	assert_int_equal(make_real(p, list, &err), -1);
	assert_int_equal(err.status, EXIT_USAGE);
	assert_non_null(strstr(err.text,
			       "my.config:1: HZ_250=y came out as n: it is one of the choice "
			       "\"Timer frequency\", where HZ_1000 won\n"));
	assert_non_null(strstr(err.text,
			       "my.config:3: KVM_AMD=y came out as n: it needs KVM, which is "
			       "n for want of VIRTUALIZATION, which is n\n"));
	assert_non_null(strstr(err.text, "my.config:4: PSSI=y: no such symbol in "));
	assert_non_null(strstr(err.text, "; did you mean PSI?"));
}

/* ---- what is not there to test with ---- */

static bool has_kconfiglib(void)
{
	static const char *const argv[] = { "/usr/bin/python3", "-c", "import kconfiglib", NULL };

	return child_run(argv, NULL, NULL, NULL, NULL, NULL) == 0;
}

static void python3_kconfiglib_is_not_installed(void **state)
{
	skip();
}

static void mmrig_test_tree_names_no_kernel_tree(void **state)
{
	skip();
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest always[] = {
		cmocka_unit_test(shipped_fragments_go_by_name),
		IN_PLACE(other_fragments_go_by_path),
		IN_PLACE(makes_own_words_are_told),
	};
	const struct CMUnitTest on_kconfiglib[] = {
		IN_PLACE(asks_become_the_config),
		IN_PLACE(a_whole_config_is_a_start),
		IN_PLACE(a_later_member_of_a_choice_wins),
		IN_PLACE(a_later_member_of_a_choice_is_told),
		IN_PLACE(unchanged_configs_are_not_touched),
		IN_PLACE(other_builds_variables_are_not_heard),
		IN_PLACE(what_a_killed_run_left_is_swept),
		IN_PLACE(unmet_dependencies_are_told),
		IN_PLACE(what_is_on_and_should_be_off_is_told),
		IN_PLACE(members_that_lost_are_told),
		IN_PLACE(values_of_other_types_are_told),
		IN_PLACE(unknown_symbols_are_told),
		IN_PLACE(three_are_shown_and_all_are_kept),
		IN_PLACE(the_base_is_held_to_its_word),
		IN_PLACE(without_kconfiglib_the_symbols_are_told),
	};
	const struct CMUnitTest no_kconfiglib[] = {
		cmocka_unit_test(python3_kconfiglib_is_not_installed),
	};
	const struct CMUnitTest on_tree[] = {
		IN_PLACE(shipped_fragments_stick_on_a_kernel),
		IN_PLACE(kernels_own_dependencies_are_told),
	};
	const struct CMUnitTest no_tree[] = {
		cmocka_unit_test(mmrig_test_tree_names_no_kernel_tree),
	};
	int failed = cmocka_run_group_tests(always, NULL, NULL);

	failed += has_kconfiglib() ? cmocka_run_group_tests(on_kconfiglib, NULL, NULL) :
				     cmocka_run_group_tests(no_kconfiglib, NULL, NULL);
	failed += getenv("MMRIG_TEST_TREE") ? cmocka_run_group_tests(on_tree, NULL, NULL) :
					      cmocka_run_group_tests(no_tree, NULL, NULL);
	return failed;
}
