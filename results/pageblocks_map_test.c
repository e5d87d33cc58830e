// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "results/pageblocks_map.h"
#include "results/util/cleanup.h"

static void take(struct pageblocks *p, const char *text)
{
	assert_int_equal(pageblocks_add(p, text, strlen(text)), 0);
	assert_int_equal(p->bad, 0);
}

/* Blocks 64 to 70, with 66 missing, of 8 pages: one of each state. */
static const char one_of_each[] = "pageblocks 1 order 3 first 64 blocks 8\n"
				  "64 8 0 0 0 0\n"
				  "65 1 1 6 0 0\n"
				  "67 0 1 7 0 0\n"
				  "68 2 0 6 0 0\n"
				  "69 0 0 8 0 0\n"
				  "70 3 0 4 1 0\n"
				  "71 0 0 0 8 0\n";

static void letters(void **state)
{
	struct pageblocks p = { 0 };
	cleanup_free char *text = NULL;

	take(&p, one_of_each);
	text = pageblocks_text(&p);
	assert_string_equal(text, "      64  .p PmMuU\n"
				  "\n"
				  ". wholly free                     1 pageblock\n"
				  "m movable, partly free            1 pageblock\n"
				  "M movable                         1 pageblock\n"
				  "u unmovable, partly free          1 pageblock\n"
				  "U unmovable                       1 pageblock\n"
				  "p pinned, partly free             1 pageblock\n"
				  "P pinned                          1 pageblock\n"
				  "  free                           14 pages\n"
				  "  pinned                          2 pages\n"
				  "  movable                        31 pages\n"
				  "  unmovable                       9 pages\n");
	pageblocks_free(&p);
}

/* More than 64 rows of 64: two blocks are one letter, and the worse of them names it. */
static void many_blocks_share_a_letter(void **state)
{
	struct pageblocks p = { 0 };
	cleanup_free char *text = NULL;

	take(&p, "pageblocks 1 order 3 first 0 blocks 4097\n"
		 "0 8 0 0 0 0\n"
		 "1 0 1 7 0 0\n"
		 "4096 0 0 8 0 0\n");
	text = pageblocks_text(&p);
	assert_ptr_equal(strstr(text, "       0  p\n"), text);
	assert_non_null(strstr(text, "\n    4096  M\n"));
	assert_non_null(strstr(text, "a letter is 2 pageblocks\n"));
	pageblocks_free(&p);
}

/* What has no block is no picture: it would be drawn over a good one. */
static void nothing(void **state)
{
	struct pageblocks p = { 0 };
	cleanup_free char *text = pageblocks_text(&p);

	assert_string_equal(text, "no map of pageblocks\n");
	assert_null(pageblocks_svg(&p, "x", NULL));
	assert_null(pageblocks_svg(&p, "x", "y"));
}

static void picture(void **state)
{
	struct pageblocks p = { 0 };
	cleanup_free char *svg = NULL;

	take(&p, one_of_each);
	svg = pageblocks_svg(&p, "a<b>&\"\x1b", NULL);
	assert_non_null(strstr(svg, "<title>a&lt;b&gt;&amp;&quot;\\x1b</title>"));
	assert_non_null(strstr(svg, "y=\"12\">a&lt;b&gt;&amp;&quot;\\x1b</text>"));
	assert_null(strstr(svg, "class=\"trouble\""));
	/* 16 squares a row, 32 wide each: block 64 is the first, and the only one that is free. */
	assert_non_null(strstr(svg, "<path d=\"M0,0h32v32h-32z\" class=\"k0\"/>"));
	/* Block 71 is the eighth. */
	assert_non_null(strstr(svg, "<path d=\"M224,0h32v32h-32z\" class=\"k4\"/>"));
	/* One line of caption, 16 and 4 behind it; a row of 32; eight entries of 20, and 8. */
	assert_non_null(strstr(svg, "translate(0,20)"));
	assert_non_null(strstr(svg, "viewBox=\"0 0 512 220\""));
	assert_non_null(strstr(svg, ">movable, partly free: 1</text>"));
	pageblocks_free(&p);
}

/* It says so itself, in lines that fit, however hostile the reason. */
static void picture_of_trouble(void **state)
{
	struct pageblocks p = { 0 };
	cleanup_free char *svg = NULL;
	size_t n = 0;

	take(&p, one_of_each);
	svg = pageblocks_svg(&p, "x", "does not hold: layout step 2 (pin): <script>alert(1)</script> and so many more "
				      "words that two lines are not enough for all of them, \xff\n\x1b[31m as one sees "
				      "here where the third begins to be needed for what is left");
	for (const char *at = svg; (at = strstr(at, "class=\"trouble\"")); at++)
		n++;
	assert_int_equal(n, 3);
	assert_null(strstr(svg, "<script>"));
	assert_null(strchr(svg, '\x1b'));
	assert_non_null(strstr(svg, "translate(0,68)")); /* four lines */
	pageblocks_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(letters),
		cmocka_unit_test(many_blocks_share_a_letter),
		cmocka_unit_test(nothing),
		cmocka_unit_test(picture),
		cmocka_unit_test(picture_of_trouble),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
