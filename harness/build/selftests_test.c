// SPDX-License-Identifier: GPL-2.0-only
/* Which tests a Makefile of selftests has; building them is ci/e2e/kselftest.sh's. */
#include "harness/build/selftests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "results/util/cleanup.h"
#include "results/util/str.h"

static void expect(const char *makefile, const char *names)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	char **found = selftests_of_makefile(makefile);

	for (size_t i = 0; found[i]; i++)
		strbuf_addf(&sb, "%s%s", i ? " " : "", found[i]);
	assert_string_equal(sb.len ? sb.data : "", names);
	selftests_names_free(found);
}

static void test_names(void **state)
{
	expect("", "");
	expect("all:\n\techo TEST_GEN_FILES += x\n", "");
	expect("TEST_GEN_FILES = cow\nTEST_GEN_FILES += compaction_test cow # twice\n"
	       "TEST_GEN_PROGS := mseal_test\n", "compaction_test cow mseal_test");
	/* Whatever the condition; what is not spelled out is no name. */
	expect("ifeq ($(ARCH),x)\n  TEST_GEN_FILES += a\nendif\nTEST_GEN_FILES += $(MORE) b\n", "a b");
	expect("TEST_GEN_FILES_NOT = c\nTEST_PROGS += run.sh\nMY_TEST_GEN_FILES = d\n", "");
}

/* Those that are built for 32 and 64 bits, under the name that has the bits. */
static void test_both_sizes(void **state)
{
	expect("VMTARGETS := protection_keys\nVMTARGETS += pkey\nTEST_GEN_FILES += $(BINARIES_64)\n"
	       "TEST_GEN_FILES += protection_keys z\n", "pkey_64 protection_keys_64 z");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_both_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
