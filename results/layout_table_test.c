// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "results/layout_table.h"
#include "results/util/cleanup.h"

/* Steps as a 7.3.4 guest of 8 GiB reported them, the last with its numbers changed. */
static const char real[] =
	"[{\"index\":0,\"step\":\"fill\",\"asked\":{\"leave_blocks\":96},\"got\":{\"leave_blocks\":96,"
	"\"filled_pages\":1959424},\"seconds\":33.465,\"ok\":true,\"how\":\"MADV_POPULATE_WRITE, base pages\","
	"\"why\":\"\"},"
	"{\"index\":2,\"step\":\"free\",\"asked\":{\"pages\":221887},\"got\":{\"pages\":221000},"
	"\"seconds\":1.28,\"ok\":true,\"how\":\"process_madvise\",\"why\":\"\"},"
	"{\"index\":3,\"step\":\"mix\",\"asked\":{\"blocks\":10,\"pages\":0},\"got\":{},"
	"\"seconds\":0.5,\"ok\":false,\"how\":\"x\",\"why\":\"no \\u001b[31mmemory\"}]";

static void steps_asked_and_got(void **state)
{
	const struct run r = { .layout_json = (char *)real };
	cleanup_free char *text = layout_table(&r);

	/* (221000 - 221887) / 221887 = -0.3998 % */
	assert_string_equal(text,
			    "    step: what was asked for     asked       got     off  time, s\n"
			    "    1 fill: leave_blocks            96        96       0    33.47\n"
			    "    3 free: pages              221,887   221,000  -0.40%     1.28\n"
			    "    4 mix: blocks                   10         -       -     0.50\n"
			    "    4 mix: pages                     0         -       -\n"
			    "\n"
			    "    1 fill: MADV_POPULATE_WRITE, base pages\n"
			    "    3 free: process_madvise\n"
			    "    4 mix: FAILED: no \\x1b[31mmemory\n");
}

static void without_a_layout(void **state)
{
	static const char *const none[] = { NULL, "", "[]", "{}", "[1,\"x\",null]" };

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		const struct run r = { .layout_json = (char *)none[i] };
		cleanup_free char *text = layout_table(&r);

		assert_non_null(text);
		if (i < 4)
			assert_string_equal(text, "    no step of a layout was made\n");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_asked_and_got),
		cmocka_unit_test(without_a_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
