// SPDX-License-Identifier: GPL-2.0-only
#include "results/table_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "results/run_fixture.h"
#include "results/util/cleanup.h"

static void add_run(struct runset *set, size_t variant, enum verdict verdict, const char *json)
{
	fixture_run(set, variant, 0, verdict)->profile_json = json ? xstrdup(json) : NULL;
}

static char *table_of(const struct runset *set)
{
	struct strbuf sb = STRBUF_INIT;
	struct table_cell *cell;
	size_t n;

	strbuf_adds(&sb, "");
	cell = table_cells(set, &n);
	table_profile(set, cell, n, &sb);
	table_cells_free(cell, n);
	return strbuf_steal(&sb);
}

/* Samples of a cell's runs are added up: (60 + 20) of (100 + 100). */
static void test_shares(void **state)
{
	struct runset set = fixture_set();
	char *text;

	add_run(&set, 0, VERDICT_OK, "{\"samples\":100,\"locks\":60,\"top\":["
				     "{\"symbol\":\"_raw_spin_lock\",\"samples\":60},"
				     "{\"symbol\":\"clear_page\",\"samples\":40}]}");
	add_run(&set, 0, VERDICT_OK, "{\"samples\":100,\"locks\":20,\"top\":["
				     "{\"symbol\":\"_raw_spin_lock\",\"samples\":20}]}");
	add_run(&set, 0, VERDICT_SPLAT, "{\"samples\":1,\"top\":[{\"symbol\":\"x\",\"samples\":1}]}");
	add_run(&set, 1, VERDICT_OK, "{\"samples\":8,\"locks\":0,\"top\":["
				     "{\"symbol\":\"a\\u001b[31m\",\"samples\":1}]}");
	text = table_of(&set);
	assert_string_equal(text,
			    "\n"
			    "    share of samples in    pfn % 8 == 0  pfn % 8 == 4\n"
			    "    _raw_spin_lock               40.00%             -\n"
			    "    clear_page                   20.00%             -\n"
			    "    a\\x1b[31m                         -        12.50%\n"
			    "    all waits for locks          40.00%         0.00%\n");
	free(text);
	runset_free(&set);
}

static void test_nothing(void **state)
{
	static const char *const json[] = { NULL, "", "{", "[]", "{\"top\":5}", "{\"top\":[5,{}]}",
					    "{\"samples\":-1,\"top\":[{\"symbol\":4}]}" };
	struct runset set = fixture_set();
	char *text;

	for (size_t i = 0; i < ARRAY_SIZE(json); i++)
		add_run(&set, 0, VERDICT_OK, json[i]);
	text = table_of(&set);
	assert_string_equal(text, "");
	free(text);
	runset_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
