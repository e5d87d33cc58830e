// SPDX-License-Identifier: GPL-2.0-only
/* What selftests print: four whole outputs of 7.3's, and lines made for the cases that those lack. */
#include "workloads/kselftest-mm/ktap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "results/util/cleanup.h"
#include "results/util/file.h"

#define RESULTS_MAX 100

static struct ktap_result result[RESULTS_MAX];
static size_t nresults;

static void take(void *arg, const struct ktap_result *r)
{
	assert_true(nresults < RESULTS_MAX);
	result[nresults++] = *r;
}

static struct ktap read_text(const char *text, size_t step)
{
	size_t len = strlen(text);
	struct ktap k;

	nresults = 0;
	ktap_begin(&k, take, NULL);
	for (size_t i = 0; i < len; i += step)
		ktap_feed(&k, text + i, len - i < step ? len - i : step);
	ktap_end(&k);
	assert_int_equal(ktap_results(&k), nresults);
	return k;
}

/* Whole, and byte by byte. */
static struct ktap read_sample(const char *name)
{
	cleanup_free char *path = str_printf("workloads/kselftest-mm/testdata/%s.txt", name);
	cleanup_free char *found = file_exists(path) ? xstrdup(path) : data_path(path, NULL);
	size_t len;
	cleanup_free char *text = found ? file_read(found, 1 << 20, &len, NULL) : NULL;
	struct ktap whole, bytes;

	assert_non_null(text);
	bytes = read_text(text, 1);
	whole = read_text(text, len);
	assert_memory_equal(whole.count, bytes.count, sizeof(whole.count));
	assert_int_equal(whole.plan, nresults);
	return whole;
}

static void expect(size_t i, enum ktap_verdict verdict, const char *name, const char *context,
		   const char *reason)
{
	assert_true(i < nresults);
	assert_string_equal(ktap_verdict_names[result[i].verdict], ktap_verdict_names[verdict]);
	assert_string_equal(result[i].name, name);
	assert_string_equal(result[i].context, context);
	assert_string_equal(result[i].reason, reason);
}

static void test_info_lines(void **state)
{
	struct ktap k = read_sample("mkdirty");

	assert_int_equal(k.count[KTAP_PASS], 6);
	expect(0, KTAP_PASS, "SIGSEGV generated, page not modified", "PTRACE write access", "");
	expect(1, KTAP_PASS, "SIGSEGV generated, page not modified", "PTRACE write access to THP", "");
}

static void test_harness(void **state)
{
	struct ktap k = read_sample("mdwe_test");

	assert_int_equal(ktap_results(&k), 36);
	expect(0, KTAP_PASS, "global.prctl_flags", "", "");
	assert_int_equal(result[35].number, 36);
}

static void test_skip_without_name(void **state)
{
	struct ktap k = read_sample("on-fault-limit");

	assert_int_equal(k.count[KTAP_SKIP], 1);
	expect(0, KTAP_SKIP, "", "", "The test must be run from a normal user");
}

static void test_mremap(void **state)
{
	struct ktap k = read_sample("mremap_test");

	assert_int_equal(k.count[KTAP_FAIL], 0);
	assert_int_equal(ktap_results(&k), 26);
	for (size_t i = 0; i < nresults; i++)
		assert_int_equal(result[i].number, i + 1);
}

static void test_failures(void **state)
{
	read_text("TAP version 13\n1..4\n"
		  "# [RUN] one\n# it broke: Cannot allocate memory\nnot ok 1 Pages are there\n"
		  "not ok 2 Pages are there\n"
		  "# memory-failure.c:10:x:Expected 1 == 2\n# x: Test failed\n#          FAIL  global.x\n"
		  "not ok 3 - global.x\n"
		  "not ok 4 # error cannot set up\n", 7);
	assert_int_equal(nresults, 4);
	expect(0, KTAP_FAIL, "Pages are there", "one", "it broke: Cannot allocate memory");
	expect(1, KTAP_FAIL, "Pages are there", "one", ""); /* a reason is of one result alone */
	expect(2, KTAP_FAIL, "global.x", "one", "memory-failure.c:10:x:Expected 1 == 2");
	expect(3, KTAP_FAIL, "", "one", "cannot set up");
}

static void test_directives(void **state)
{
	struct ktap k = read_text("ok 1 a # SKIP no swap\n"
				  "not ok 2 b # skip: no swap\n"
				  "ok 3 # XFAIL known\n"
				  "not ok 4 c # TODO later\n"
				  "ok 5 d # TODO later\n"
				  "ok 6 e #2 # SKIPPER\n"
				  "# [RUN] f\n# MADV_PAGEOUT did not work, is swap enabled?\n"
				  "ok 7 # SKIP f\n", 100);

	assert_int_equal(nresults, 7);
	expect(0, KTAP_SKIP, "a", "", "no swap");
	expect(1, KTAP_SKIP, "b", "", "no swap");
	expect(2, KTAP_XFAIL, "", "", "known");
	expect(3, KTAP_XFAIL, "c", "", "later");
	expect(4, KTAP_XPASS, "d", "", "later");
	expect(5, KTAP_PASS, "e #2 # SKIPPER", "", "");
	expect(6, KTAP_SKIP, "f", "f", "MADV_PAGEOUT did not work, is swap enabled?");
	assert_false(k.planned);
}

static void test_nested(void **state)
{
	struct ktap k = read_text("KTAP version 1\n1..1\n  KTAP version 1\n  # Subtest: suite\n  1..2\n"
				  "  ok 1 first\n  not ok 2 second\nnot ok 1 suite\n", 3);

	assert_int_equal(k.plan, 1);
	expect(0, KTAP_PASS, "first", "suite", "");
	expect(1, KTAP_FAIL, "second", "suite", "");
	expect(2, KTAP_FAIL, "suite", "", "");
}

static void test_ends(void **state)
{
	struct ktap k = read_text("1..0 # SKIP no hugetlb pages\n", 1);

	assert_true(k.planned);
	assert_int_equal(k.plan, 0);
	assert_string_equal(k.bail, "no hugetlb pages");
	k = read_text("1..9\nok 1 a\nBail out! mmap failed\n# Totals: pass:1 fail:0\n", 1);
	assert_string_equal(k.bail, "mmap failed");
	assert_int_equal(k.plan, 9);
	k = read_text("ok 1 no newline", 1);
	expect(0, KTAP_PASS, "no newline", "", "");
	k = read_text("no TAP at all\nFAILED: x\n", 5);
	assert_int_equal(nresults, 0);
	assert_string_equal(k.last, "FAILED: x");
}

/* Neither is a result, nor may anything run over its room. */
static void test_noise(void **state)
{
	char line[3 * KTAP_LINE_MAX];
	struct ktap k;

	read_text("okay 1 x\nok_2 y\nnot okay 3\n ok", 2);
	assert_int_equal(nresults, 1); /* the last: "ok" with nothing behind it */
	assert_int_equal(result[0].number, 1);
	k = read_text("1..99999999999999\nok 99999999999999 x\n", 4);
	assert_false(k.planned);
	assert_int_equal(result[0].number, 1);
	memset(line, 'x', sizeof(line));
	memcpy(line, "not ok 1 ", 9);
	line[sizeof(line) - 1] = '\0';
	read_text(line, 64);
	assert_int_equal(strlen(result[0].name), KTAP_TEXT_MAX - 1);
	read_text("ok 1 a\033[31m\xff\n", 1);
	assert_string_equal(result[0].name, "a?[31m?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_info_lines), cmocka_unit_test(test_harness),
		cmocka_unit_test(test_skip_without_name), cmocka_unit_test(test_mremap),
		cmocka_unit_test(test_failures),   cmocka_unit_test(test_directives),
		cmocka_unit_test(test_nested),	   cmocka_unit_test(test_ends),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
