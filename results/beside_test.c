// SPDX-License-Identifier: GPL-2.0-only
#include "results/beside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "results/run_fixture.h"
#include "results/util/cleanup.h"

#define BESIDE(name, stopped) "{\"background\":{\"workload\":\"" name "\",\"stopped\":" stopped "}}"

static void add(struct runset *s, enum verdict verdict, const char *json)
{
	fixture_run(s, 0, 0, verdict)->workload_json = json ? xstrdup(json) : NULL;
}

/* Only of runs that are in the numbers. */
static void test_counted(void **state)
{
	struct runset s = fixture_set();
	cleanup_free char *none = NULL, *one = NULL, *many = NULL;

	add(&s, VERDICT_OK, NULL);
	add(&s, VERDICT_STALL, BESIDE("fio", "true"));
	none = beside_text(&s);
	assert_null(none);
	add(&s, VERDICT_OK, BESIDE("fio", "true"));
	one = beside_text(&s);
	assert_string_equal(one, "fio, at work to the end in 1 of 1 run");
	add(&s, VERDICT_OK, BESIDE("fio", "false"));
	add(&s, VERDICT_OK, BESIDE("fio", "true"));
	many = beside_text(&s);
	assert_string_equal(many, "fio, at work to the end in 2 of 3 runs");
	runset_free(&s);
}

static void test_hostile(void **state)
{
	static const char *const text[] = { "", "{", "[]", "{\"background\":5}", "{\"background\":{}}",
					    "{\"background\":{\"workload\":7}}", BESIDE("", "true"),
					    "{\"background\":[\"fio\"]}" };
	struct runset s = fixture_set();
	cleanup_free char *none = NULL, *odd = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		add(&s, VERDICT_OK, text[i]);
	none = beside_text(&s);
	assert_null(none);
	add(&s, VERDICT_OK, BESIDE("0123456789012345678901234567890123456789012345678901234567890123too long", "7"));
	odd = beside_text(&s);
	assert_string_equal(odd, "0123456789012345678901234567890123456789012345678901234567890123, at work to the "
				 "end in 0 of 1 run");
	runset_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_counted), cmocka_unit_test(test_hostile) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
