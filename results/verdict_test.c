// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "results/verdict.h"

static void test_names(void **state)
{
	static const char *const names[VERDICT_COUNT] = {
		"ok", "workload-failed", "splat", "stall", "boot-timeout", "guest-lost",
		"unsupported", "infra", "interrupted",
	};
	enum verdict v;

	for (int i = 0; i < VERDICT_COUNT; i++) {
		assert_string_equal(verdict_name((enum verdict)i), names[i]);
		assert_true(strlen(verdict_summary((enum verdict)i)) > 0);
		assert_true(verdict_parse(names[i], &v));
		assert_int_equal(v, i);
	}
	assert_false(verdict_parse("OK", &v));
	assert_false(verdict_parse("", &v));
	assert_false(verdict_parse("okay", &v));
}

static void test_exit_of_each(void **state)
{
	assert_int_equal(verdict_exit(VERDICT_OK), 0);
	assert_int_equal(verdict_exit(VERDICT_WORKLOAD_FAILED), 1);
	assert_int_equal(verdict_exit(VERDICT_SPLAT), 1);
	assert_int_equal(verdict_exit(VERDICT_STALL), 1);
	assert_int_equal(verdict_exit(VERDICT_BOOT_TIMEOUT), 4);
	assert_int_equal(verdict_exit(VERDICT_GUEST_LOST), 4);
	assert_int_equal(verdict_exit(VERDICT_UNSUPPORTED), 4);
	assert_int_equal(verdict_exit(VERDICT_INFRA), 4);
	assert_int_equal(verdict_exit(VERDICT_INTERRUPTED), 130);
}

static enum exit_status of_set(unsigned int ok, unsigned int splat, unsigned int infra,
			       unsigned int interrupted)
{
	unsigned int count[VERDICT_COUNT] = { 0 };

	count[VERDICT_OK] = ok;
	count[VERDICT_SPLAT] = splat;
	count[VERDICT_INFRA] = infra;
	count[VERDICT_INTERRUPTED] = interrupted;
	return verdict_exit_of_set(count);
}

static void test_exit_of_set(void **state)
{
	assert_int_equal(of_set(0, 0, 0, 0), 0);
	assert_int_equal(of_set(9, 0, 0, 0), 0);
	assert_int_equal(of_set(9, 0, 1, 0), 4);
	assert_int_equal(of_set(9, 1, 5, 0), 1);
	assert_int_equal(of_set(9, 1, 5, 1), 130);
}

static void test_table(void **state)
{
	static const int statuses[] = { 0, 1, 2, 3, 4, 125, 130 };

	assert_int_equal(exit_status_count, sizeof(statuses) / sizeof(statuses[0]));
	for (size_t i = 0; i < exit_status_count; i++) {
		assert_int_equal(exit_status_table[i].status, statuses[i]);
		assert_true(strlen(exit_status_table[i].summary) > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_exit_of_each),
		cmocka_unit_test(test_exit_of_set),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
