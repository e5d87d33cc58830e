// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "results/layout_table.h"
#include "results/util/cleanup.h"

/* Steps as a 7.3.4 guest of 8 GiB reported them before they told by what they were judged, the last changed. */
static const char old[] =
	"[{\"index\":0,\"step\":\"fill\",\"asked\":{\"leave_blocks\":96},\"got\":{\"leave_blocks\":96,"
	"\"filled_pages\":1959424},\"seconds\":33.465,\"ok\":true,\"how\":\"MADV_POPULATE_WRITE, base pages\","
	"\"why\":\"\"},"
	"{\"index\":2,\"step\":\"free\",\"asked\":{\"pages\":221887},\"got\":{\"pages\":221000},"
	"\"seconds\":1.28,\"ok\":true,\"how\":\"process_madvise\",\"why\":\"\"},"
	"{\"index\":3,\"step\":\"mix\",\"asked\":{\"blocks\":10,\"pages\":0},\"got\":{},"
	"\"seconds\":0.5,\"ok\":false,\"how\":\"x\",\"why\":\"no \\u001b[31mmemory\"}]";

static void steps_asked_and_got(void **state)
{
	const struct run r = { .layout_json = (char *)old };
	cleanup_free char *text = layout_table(&r);

	/* (221000 - 221887) / 221887 = -0.3998 % */
	assert_string_equal(text,
			    "    step                       asked       got   error  tolerance  time, s\n"
			    "    1 fill: leave_blocks          96        96       0          -    33.47\n"
			    "    3 free: pages            221,887   221,000  -0.40%          -     1.28\n"
			    "    4 mix: blocks                 10         -       -                0.50\n"
			    "    4 mix: pages                   0         -       -\n"
			    "\n"
			    "    1 fill: MADV_POPULATE_WRITE, base pages\n"
			    "    3 free: process_madvise\n"
			    "    4 mix: FAILED: no \\x1b[31mmemory\n");
}

/* By what each was judged, and where it stopped. */
static void tolerances(void **state)
{
	static const char steps[] =
		/* 1 MiB of 20 MiB is 5 %: the slack allows more than the tolerance. */
		"[{\"index\":0,\"step\":\"fill\",\"asked\":{\"leave_bytes\":20971520},\"got\":{\"leave_bytes\":"
		"20447232},\"error\":0.025,\"tolerance\":0.02,\"slack\":1048576,\"seconds\":1,\"ok\":true,"
		"\"how\":\"a\"},"
		"{\"index\":1,\"step\":\"fill\",\"asked\":{\"leave_blocks\":40},\"got\":{\"leave_blocks\":41},"
		"\"error\":0.025,\"tolerance\":0.02,\"slack\":2,\"seconds\":1,\"ok\":true,\"how\":\"b\"},"
		/* More than asked is no error there. */
		"{\"index\":2,\"step\":\"reclaim\",\"asked\":{\"pages\":100},\"got\":{\"pages\":132},\"error\":0,"
		"\"tolerance\":0.02,\"seconds\":1,\"ok\":true,\"how\":\"c\"},"
		/* 30 of 1000 pages are in the wrong order. */
		"{\"index\":3,\"step\":\"shape\",\"asked\":{\"order0\":200,\"order1\":0,\"order3\":100},\"got\":"
		"{\"order0\":230,\"order1\":0,\"order3\":97,\"distance\":0.03},\"error\":0.03,\"tolerance\":0.025,"
		"\"seconds\":2.5,\"ok\":false,\"how\":\"d\",\"why\":\"off\"},"
		"{\"index\":4,\"step\":\"free\",\"state\":\"not reached\"},"
		"{\"index\":5,\"step\":\"proof\",\"state\":\"not reached\"}]";
	const struct run r = { .layout_json = (char *)steps };
	cleanup_free char *text = layout_table(&r);

	assert_int_equal(layout_steps_left(&r), 2);
	assert_string_equal(
		text, "    step                       asked       got    error  tolerance  time, s\n"
		      "    1 fill: leave_bytes       20.00M    19.50M   -2.50%   2% or 1M     1.00\n"
		      "    2 fill: leave_blocks          40        41   +2.50%    2% or 2     1.00\n"
		      "    3 reclaim: pages             100       132        0         2%     1.00\n"
		      "    4 shape: order0              200       230  +15.00%                2.50\n"
		      "    4 shape: order3              100        97   -3.00%\n"
		      "    4 shape: in all                             3.0000%       2.5%\n"
		      "    5 free: not reached            -         -        -          -        -\n"
		      "    6 proof: not reached           -         -        -          -        -\n"
		      "\n"
		      "    1 fill: a\n"
		      "    2 fill: b\n"
		      "    3 reclaim: c\n"
		      "    4 shape: FAILED: off\n");
}

/* Before anything was asked; within a step; exactly 0 %, and an error against 0. */
static void odd_ends(void **state)
{
	static const char steps[] =
		"[{\"index\":0,\"step\":\"fill\",\"asked\":{\"leave_blocks\":0},\"got\":{\"leave_blocks\":3},"
		"\"error\":null,\"tolerance\":0,\"seconds\":1,\"ok\":false,\"why\":\"x\"},"
		"{\"index\":1,\"step\":\"pin\",\"asked\":{},\"got\":{},\"seconds\":0.25,\"ok\":false,\"why\":\"y\"},"
		"{\"index\":2,\"step\":\"free\",\"state\":\"not finished\"}]";
	const struct run r = { .layout_json = (char *)steps };
	cleanup_free char *text = layout_table(&r);

	assert_string_equal(text,
			    "    step                       asked       got   error  tolerance  time, s\n"
			    "    1 fill: leave_blocks           0         3       3         0%     1.00\n"
			    "    2 pin: failed                  -         -       -          -     0.25\n"
			    "    3 free: not finished           -         -       -          -        -\n"
			    "\n"
			    "    1 fill: FAILED: x\n"
			    "    2 pin: FAILED: y\n");
}

/* What a mix could not help, and a proof that had nothing to prove. */
static void what_was_not_asked_for(void **state)
{
	static const char steps[] =
		"[{\"index\":0,\"step\":\"mix\",\"asked\":{\"blocks\":40},\"got\":{\"blocks\":40,\"pages\":1203,"
		"\"pages_outside\":1383},\"error\":0,\"tolerance\":0.02,\"seconds\":3,\"ok\":true,\"how\":\"a\"},"
		"{\"index\":1,\"step\":\"mix\",\"asked\":{\"blocks\":4},\"got\":{\"blocks\":4,\"pages_outside\":0},"
		"\"error\":0,\"tolerance\":0.02,\"seconds\":1,\"ok\":true,\"how\":\"b\"},"
		"{\"index\":2,\"step\":\"proof\",\"asked\":{},\"got\":{\"pcp_pages\":40},\"seconds\":0.5,\"ok\":true,"
		"\"how\":\"no page was given back\"}]";
	const struct run r = { .layout_json = (char *)steps };
	cleanup_free char *text = layout_table(&r);

	assert_string_equal(text, "    step                       asked       got   error  tolerance  time, s\n"
				  "    1 mix: blocks                 40        40       0         2%     3.00\n"
				  "    1 mix: pages_outside           -      1383       -\n"
				  "    2 mix: blocks                  4         4       0         2%     1.00\n"
				  "    3 proof                        -         -       -          -     0.50\n"
				  "\n"
				  "    1 mix: a\n"
				  "    2 mix: b\n"
				  "    3 proof: no page was given back\n");
}

static void without_a_layout(void **state)
{
	static const char *const none[] = { NULL, "", "[]", "{}", "[1,\"x\",null]" };

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		const struct run r = { .layout_json = (char *)none[i] };
		cleanup_free char *text = layout_table(&r);

		assert_non_null(text);
		assert_int_equal(layout_steps_left(&r), 0);
		if (i < 4)
			assert_string_equal(text, "    no step of a layout was made\n");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_asked_and_got),
		cmocka_unit_test(tolerances),
		cmocka_unit_test(odd_ends),
		cmocka_unit_test(what_was_not_asked_for),
		cmocka_unit_test(without_a_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
