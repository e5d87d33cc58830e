// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/build/build_impl.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

static void expect(const char *log, const char *line, const char *lines)
{
	cleanup_free char *found = NULL, *around = build_first_error(log, &found);

	if (!line) {
		assert_null(around);
		assert_null(found);
		return;
	}
	assert_string_equal(found, line);
	assert_string_equal(around, lines);
}

/* The compiler's message, three lines on either side. */
static void test_compiler(void **state)
{
	expect("  CC      mm/a.o\n  CC      mm/b.o\n  CC      mm/compaction.o\n  CC      mm/c.o\n"
	       "mm/compaction.c: In function 'f':\n"
	       "mm/compaction.c:12:9: error: 'x' undeclared (first use in this function)\n"
	       "   12 |         x = 1;\n      |         ^\n"
	       "mm/compaction.c:12:9: note: each undeclared identifier is reported only once\n"
	       "make[3]: *** [scripts/Makefile.build:289: mm/compaction.o] Error 1\n",
	       "mm/compaction.c:12:9: error: 'x' undeclared (first use in this function)",
	       "      CC      mm/compaction.o\n      CC      mm/c.o\n"
	       "    mm/compaction.c: In function 'f':\n"
	       "    mm/compaction.c:12:9: error: 'x' undeclared (first use in this function)\n"
	       "       12 |         x = 1;\n          |         ^\n"
	       "    mm/compaction.c:12:9: note: each undeclared identifier is reported only once");
}

/* As 7.3's own make printed it, of a patch with two mistakes. */
static void test_real_log(void **state)
{
	cleanup_free char *log = file_read("harness/build/testdata/make-7.3-fails.txt", 0, NULL, NULL);

	assert_non_null(log);
	expect(log,
	       "../src/mm/compaction.c:32:24: error: 'struct zone' has no member named 'no_such_member'",
	       "      CC      mm/show_mem.o\n      CC      mm/interval_tree.o\n"
	       "    ../src/mm/compaction.c: In function 'fast_find_block':\n"
	       "    ../src/mm/compaction.c:32:24: error: 'struct zone' has no member named "
	       "'no_such_member'\n"
	       "       32 |         return cc->zone->no_such_member;\n"
	       "          |                        ^~\n"
	       "    ../src/mm/compaction.c: At top level:");
}

/* With several jobs make may speak of one before the compiler of another does; that counts more. */
static void test_make_speaks_first(void **state)
{
	expect("make[1]: *** Waiting for unfinished jobs....\nmm/b.c:1:1: error: no\n",
	       "mm/b.c:1:1: error: no",
	       "    make[1]: *** Waiting for unfinished jobs....\n    mm/b.c:1:1: error: no");
}

static void test_linker(void **state)
{
	expect("  LD      vmlinux.o\nld: mm/a.o: in function `f':\na.c:(.text+0x5): undefined reference to `g'\n",
	       "a.c:(.text+0x5): undefined reference to `g'",
	       "      LD      vmlinux.o\n    ld: mm/a.o: in function `f':\n"
	       "    a.c:(.text+0x5): undefined reference to `g'");
}

static void test_others(void **state)
{
	expect("  ZSTD22  arch/x86/boot/compressed/vmlinux.bin.zst\n/bin/sh: 1: zstd: not found\n",
	       "/bin/sh: 1: zstd: not found",
	       "      ZSTD22  arch/x86/boot/compressed/vmlinux.bin.zst\n    /bin/sh: 1: zstd: not found");
	expect("make[2]: *** No rule to make target 'mm/x.o'.  Stop.\n",
	       "make[2]: *** No rule to make target 'mm/x.o'.  Stop.",
	       "    make[2]: *** No rule to make target 'mm/x.o'.  Stop.");
	expect("***\n*** Compiler is too old.\n***\n", "*** Compiler is too old.",
	       "    ***\n    *** Compiler is too old.\n    ***");
	expect("ERROR: modpost: \"f\" [a.ko] undefined!\n", "ERROR: modpost: \"f\" [a.ko] undefined!",
	       "    ERROR: modpost: \"f\" [a.ko] undefined!");
}

static void test_none(void **state)
{
	expect("", NULL, NULL);
	expect("  CC      lib/error.o\n  CC      lib/xxx***.o\nwarning: errors are fine\n", NULL, NULL);
}

static void test_edges(void **state)
{
	cleanup_free char *line = NULL, *lines = NULL;
	char log[1000];

	expect("error: ", "error: ", "    error: ");
	expect("\n\n\n\nerror: x", "error: x", "    \n    \n    \n    error: x");
	memset(log, 'a', sizeof(log));
	memcpy(log, "error: ", 7);
	log[999] = '\0';
	lines = build_first_error(log, &line);
	assert_int_equal(strlen(line), 999);
	assert_int_equal(strlen(lines), 4 + 240 + 3);
}

static void test_disk_full(void **state)
{
	assert_true(build_is_disk_full("/tmp/cc1.s: Assembler messages:\n"
				       "Fatal error: can't write 8 bytes: No space left on device\n"));
	assert_true(build_is_disk_full("cp: error writing 'x': Disk quota exceeded\n"));
	assert_false(build_is_disk_full("  CC      fs/space.o\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compiler), cmocka_unit_test(test_real_log),
		cmocka_unit_test(test_make_speaks_first),
		cmocka_unit_test(test_linker),	 cmocka_unit_test(test_others),
		cmocka_unit_test(test_none),	 cmocka_unit_test(test_edges),
		cmocka_unit_test(test_disk_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
