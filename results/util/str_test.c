// SPDX-License-Identifier: GPL-2.0-only
#include "results/util/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "results/util/cleanup.h"
#include "results/verdict.h"

static void test_parse_bytes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} t[] = {
		{ "0", 0 },
		{ "4096", 4096 },
		{ "1K", 1024 },
		{ "512M", 536870912 },
		{ "8G", 8589934592 },
		{ "2GiB", 2147483648 },
		{ "2gb", 2147483648 },
		{ "7b", 7 },
		{ "1.5G", 1610612736 },
		{ "0.5K", 512 },
		{ "1.25T", 1374389534720 },
		{ "0.001K", 1 },
		{ "007", 7 },
		{ "1.0", 1 },
		{ "18446744073709551615", UINT64_MAX },
		{ "16777215T", 18446742974197923840u },
		{ "16777215.999999999T", 18446744073709550516u },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		uint64_t bytes = 99;

		if (str_parse_bytes(t[i].text, &bytes, NULL) < 0 || bytes != t[i].bytes)
			fail_msg("%s: %llu", t[i].text, (unsigned long long)bytes);
	}
}

static void test_parse_bytes_bad(void **state)
{
	static const char *const t[] = { "",
					 "G",
					 "-1",
					 "+1",
					 " 1",
					 "1 ",
					 "1 G",
					 "1.",
					 "1.G",
					 ".5G",
					 "1.5",
					 "1.-5G",
					 "1. 5G",
					 "1.+5G",
					 "1.5.5G",
					 "1GG",
					 "1X",
					 "1GiBB",
					 "1iB",
					 "0x10",
					 "18446744073709551616",
					 "16777216T",
					 "17179869184G",
					 "1.0000000001G",
					 "1e3",
					 "99999999999999999999G" };

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct error err = ERROR_INIT;
		uint64_t bytes;

		if (str_parse_bytes(t[i], &bytes, &err) != -1)
			fail_msg("\"%s\" gives %llu", t[i], (unsigned long long)bytes);
		assert_int_equal(err.status, EXIT_USAGE);
		assert_true(str_starts(err.text, "\""));
		assert_int_equal(memcmp(err.text + 1, t[i], strlen(t[i])), 0);
		error_clear(&err);
	}
}

/* A size all the same, so it is not the form of it that is at fault. */
static void test_parse_bytes_too_much(void **state)
{
	static const char *const t[] = { "18446744073709551616", "16777216T", "17179869184G", "16777216.5TiB",
					 "99999999999999999999G" };

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		cleanup_error struct error err = ERROR_INIT;
		uint64_t bytes;

		assert_int_equal(str_parse_bytes(t[i], &bytes, &err), -1);
		assert_non_null(strstr(err.text, "is more than any machine can have"));
	}
}

static void test_format_bytes(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} t[] = { { 0, "0" },
		  { 1, "1" },
		  { 1024, "1K" },
		  { 1536, "1536" },
		  { 8589934592, "8G" },
		  { 1610612736, "1536M" },
		  { 1099511627776, "1T" },
		  { UINT64_MAX, "18446744073709551615" } };

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		cleanup_free char *text = str_format_bytes(t[i].bytes);
		uint64_t back;

		assert_string_equal(text, t[i].text);
		assert_int_equal(str_parse_bytes(text, &back, NULL), 0);
		assert_int_equal(back, t[i].bytes);
	}
}

static void test_parse_u64(void **state)
{
	static const char *const bad[] = { "",	 " 1",	"1 ",  "-1",
					   "+1", "0x1", "1.0", "18446744073709551616" };
	struct error err = ERROR_INIT;
	uint64_t v;

	assert_int_equal(str_parse_u64("18446744073709551615", 0, UINT64_MAX, &v, NULL), 0);
	assert_int_equal(v, UINT64_MAX);
	assert_int_equal(str_parse_u64("5", 5, 5, &v, NULL), 0);
	assert_int_equal(str_parse_u64("4", 5, 9, &v, &err), -1);
	assert_string_equal(err.text, "4 is out of range; allowed are 5 to 9");
	error_clear(&err);
	assert_int_equal(str_parse_u64("10", 5, 9, &v, NULL), -1);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(str_parse_u64(bad[i], 0, UINT64_MAX, &v, NULL), -1);
}

static void test_nearest(void **state)
{
	static const char *const names[] = { "memory", "cpus", "min", "allocstall", "pfn", "" };
	static const struct {
		const char *word, *nearest;
	} t[] = {
		{ "memroy", "memory" },
		{ "MEMORY", "memory" },
		{ "memor", "memory" },
		{ "cpu", "cpus" },
		{ "cpsu", "cpus" },
		{ "allocstal", "allocstall" },
		{ "alokstall", "allocstall" },
		{ "pfm", "pfn" },
		{ "mni", "min" },
		{ "mxx", NULL },
		{ "xxxxxx", NULL },
		{ "cp", NULL },
		{ "cpux", "cpus" },
		{ "pf", "pfn" },
		{ "meomry", "memory" },
		{ "mmroyx", NULL },
	};
	cleanup_free char *long_word = xcalloc(1, 301);

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		const char *got = str_nearest(t[i].word, names, 5);

		if (t[i].nearest ? !got || strcmp(got, t[i].nearest) != 0 : got != NULL)
			fail_msg("%s: %s", t[i].word, got ? got : "(none)");
	}
	/* a third of 300 letters must not make everything near */
	memset(long_word, 'x', 300);
	assert_null(str_nearest(long_word, names, 6));
	assert_null(str_nearest("xyz", names, 0));
	assert_string_equal(str_nearest("", names, 6), "");
}

static void test_strbuf(void **state)
{
	struct strbuf sb = STRBUF_INIT;
	char *s = strbuf_steal(&sb);

	assert_string_equal(s, "");
	free(s);
	strbuf_add(&sb, "", 0);
	assert_string_equal(sb.data, "");
	for (int i = 0; i < 1000; i++)
		strbuf_addf(&sb, "%03d", i);
	strbuf_add(&sb, "a\0b", 3);
	strbuf_adds(&sb, "c");
	assert_int_equal(sb.len, 3004);
	assert_int_equal(memcmp(sb.data + 2997, "999a\0bc", 8), 0);
	s = strbuf_steal(&sb);
	assert_int_equal(memcmp(s, "000001002", 9), 0);
	assert_null(sb.data);
	free(s);
	strbuf_free(&sb);
}

static void test_quoted(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_add_quoted(&sb, "debian:7.3");
	strbuf_adds(&sb, " ");
	strbuf_add_quoted(&sb, "a b,c");
	strbuf_adds(&sb, " ");
	strbuf_add_quoted(&sb, "it's");
	strbuf_adds(&sb, " ");
	strbuf_add_quoted(&sb, "");
	strbuf_adds(&sb, " ");
	strbuf_add_quoted(&sb, "pfn<$(x)");
	assert_string_equal(sb.data, "debian:7.3 'a b,c' 'it'\\''s' '' 'pfn<$(x)'");
	strbuf_free(&sb);
}

static void test_affixes(void **state)
{
	assert_true(str_starts("abc", "ab") && str_starts("abc", "") && str_starts("", ""));
	assert_false(str_starts("a", "ab") || str_starts("", "a"));
	assert_true(str_ends("abc", "bc") && str_ends("abc", "abc") && str_ends("abc", ""));
	assert_false(str_ends("bc", "abc") || str_ends("abc", "b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_bytes),  cmocka_unit_test(test_parse_bytes_bad),
		cmocka_unit_test(test_parse_bytes_too_much),
		cmocka_unit_test(test_format_bytes), cmocka_unit_test(test_parse_u64),
		cmocka_unit_test(test_nearest),	     cmocka_unit_test(test_strbuf),
		cmocka_unit_test(test_quoted),	     cmocka_unit_test(test_affixes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
