// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "guest/background.h"

/* What task_fail() makes of a text comes back as it was. */
static void test_failure(void **state)
{
	static const char *const texts[] = { "fio: cannot open \"x\\y\"", "line one\nline two\t\x1b[1m", "" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char escaped[256], payload[512], what[256];

		json_escape(escaped, sizeof(escaped), texts[i]);
		snprintf(payload, sizeof(payload), "{\"verdict\":\"workload-failed\",\"what\":\"%s\"}", escaped);
		assert_string_equal(background_failure(payload, what, sizeof(what)), "workload-failed");
		assert_string_equal(what, texts[i]);
	}
}

static void test_failure_damaged(void **state)
{
	char what[64], small[8];

	assert_string_equal(background_failure("", what, sizeof(what)), "infra");
	assert_string_equal(what, "failed, and did not say why");
	assert_string_equal(background_failure("{\"verdict\":\"unsupported\",\"what\":\"a long reason\"}", small,
					       sizeof(small)),
			    "unsupported");
	assert_string_equal(small, "a long ");
	background_failure("{\"what\":\"\\u00\"}", what, sizeof(what));
	background_failure("{\"what\":\"\\", what, sizeof(what));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_failure),
		cmocka_unit_test(test_failure_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
