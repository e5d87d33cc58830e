// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "results/report_html.h"
#include "results/util/cleanup.h"

static void expect_text(const char *s, const char *want)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, "");
	html_text(&sb, s);
	assert_string_equal(sb.data ? sb.data : "", want);
}

static void test_text(void **state)
{
	expect_text(NULL, "");
	expect_text("", "");
	expect_text("pfn % 8 == 4", "pfn % 8 == 4");
	expect_text("<script>alert('x & \"y\"')</script>",
		    "&lt;script&gt;alert(&#39;x &amp; &quot;y&quot;&#39;)&lt;/script&gt;");
	expect_text("]]>--><!--", "]]&gt;--&gt;&lt;!--");
	/* A terminal's escapes, newlines, NEL (C1), DEL. */
	expect_text("a\x1b[31mb\nc\td\r\x7f\x01", "a\\x1b[31mb\\x0ac\\x09d\\x0d\\x7f\\x01");
	expect_text("\xc2\x85", "\\xc2\\x85");
	/* Good UTF-8 stays, bad does not: overlong, surrogate, cut off. */
	expect_text("Grüße €", "Grüße €");
	expect_text("\xc0\xbc", "\\xc0\\xbc");
	expect_text("\xed\xa0\x80", "\\xed\\xa0\\x80");
	expect_text("a\xe2\x82", "a\\xe2\\x82");
	/* Not XML, and text that would run backwards. */
	expect_text("\xef\xbf\xbe\xef\xbf\xbf", "\\xef\\xbf\\xbe\\xef\\xbf\\xbf");
	expect_text("a\xe2\x80\xae"
		    "b\xe2\x81\xa6"
		    "c\xd8\x9c", "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6c\\xd8\\x9c");
	expect_text("\xef\xbf\xbd\xe2\x80\xa6", "\xef\xbf\xbd\xe2\x80\xa6");
}

static void expect_lines(const char *s, size_t limit, const char *want)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;

	html_lines(&sb, s, limit);
	assert_string_equal(sb.data ? sb.data : "", want);
}

static void test_lines(void **state)
{
	expect_lines(NULL, 0, "");
	expect_lines("a\n\tb<\n", 0, "a\n\tb&lt;\n");
	expect_lines("a\r\nb\rc", 0, "a\nb\\x0dc");
	expect_lines("one\ntwo\nthree\n", 9, "one\ntwo\n");
	expect_lines("one\ntwo\nthree\n", 14, "one\ntwo\nthree\n");
	expect_lines("without an end", 7, "without");
	/* Cut within a character: what is left of it is no UTF-8. */
	expect_lines("ab\xe2\x82\xac", 4, "ab\\xe2\\x82");
}

static void expect_short(const char *s, size_t columns, const char *want)
{
	cleanup_free char *got = html_short(s, columns);

	assert_string_equal(got, want);
}

static void test_short(void **state)
{
	expect_short("abcdef", 6, "abcdef");
	expect_short("abcdefg", 6, "ab…efg");
	expect_short("abcdefg", 5, "ab…fg");
	expect_short("äöüäöüx", 4, "ä…üx");
	expect_short("a\x1b", 9, "a\\x1b");
	expect_short("abc", 1, "…");
	expect_short(NULL, 3, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
