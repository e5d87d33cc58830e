// SPDX-License-Identifier: GPL-2.0-only
#include "guest/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_format(void **state)
{
	struct job job = { 0 };
	char *text;

	job_add(&job, "mmrig-job", "version", "1", "id", "0001", NULL);
	job_line_set(job_add(&job, "step", "do", "free", NULL), "where", "pfn % 8 == 4");
	job_add(&job, "const", "name", "", "value", "a\"b\\c\nd", NULL);
	text = job_format(&job);
	assert_string_equal(text, "mmrig-job version=1 id=0001\n"
				  "step do=free where=\"pfn % 8 == 4\"\n"
				  "const name=\"\" value=\"a\\\"b\\\\c\\nd\"\n");
	free(text);
	job_line_set(&job.line[0], "id", "0002");
	assert_string_equal(job_get(&job.line[0], "id"), "0002");
	assert_int_equal(job.line[0].npairs, 2);
	job_free(&job);
	assert_null(job.line);
}

static void test_round_trip(void **state)
{
	static const char *const values[] = { "",
					      " ",
					      "a",
					      "a b",
					      "\"",
					      "\\",
					      "\\n",
					      "\n",
					      "x=y",
					      "\t",
					      "\"quoted\" \\ and\nlines",
					      "\xc3\xa9",
					      "a\"",
					      "\\\\" };
	const size_t n = sizeof(values) / sizeof(values[0]);
	struct job job = { 0 }, back;
	const struct job_line *line = NULL;
	char *text, *again;
	int bad;

	for (size_t i = 0; i < n; i++)
		job_add(&job, i % 2 ? "odd" : "even", "value", values[i], "more", values[n - 1 - i],
			NULL);
	text = job_format(&job);
	assert_int_equal(job_parse(&back, text, &bad), 0);
	assert_int_equal(back.nlines, n);
	for (size_t i = 0; i < n; i += 2) {
		line = job_next(&back, line, "even");
		assert_non_null(line);
		assert_string_equal(job_get(line, "value"), values[i]);
		assert_string_equal(job_get(line, "more"), values[n - 1 - i]);
	}
	assert_null(job_next(&back, line, "even"));
	again = job_format(&back);
	assert_string_equal(again, text);
	free(text);
	free(again);
	job_free(&job);
	job_free(&back);
}

static void test_lookup(void **state)
{
	const char *text =
		"\noption name=a value=12\noption name=b value=-5\n\noption name=c value=9x\n"
		"option name=d value=99999999999999999999\nstep do=fill";
	struct job job;
	int bad;

	assert_int_equal(job_parse(&job, text, &bad), 0);
	assert_int_equal(job.nlines, 5);
	assert_int_equal(job_option(&job, "a", 1), 12);
	assert_int_equal(job_option(&job, "b", 1), -5);
	assert_int_equal(job_option(&job, "c", 7), 7);
	assert_int_equal(job_option(&job, "d", 7), 7);
	assert_int_equal(job_option(&job, "e", 8), 8);
	assert_null(job_get(job_next(&job, NULL, "step"), "where"));
	assert_null(job_next(&job, NULL, "steps"));
	job_free(&job);
}

static void test_bad(void **state)
{
	static const struct {
		const char *text;
		int line;
	} t[] = {
		{ "a b\n", 1 },	       { "a\nb c=\"x\n", 2 }, { "a\n\nb c=\"x\\t\"\n", 3 },
		{ "a b=1 b=2\n", 1 },  { "a =1\n", 1 },	      { "a b=\n", 1 },
		{ "a b=1  c=2\n", 1 }, { " a b=1\n", 1 },     { "a b=1\"2\"\n", 1 },
		{ "a b=\"1\"2\n", 1 }, { "a b=\"1\\", 1 },    { "a b=1\tc=2\n", 1 },
		{ "\"a\" b=1\n", 1 },  { "a b=1 \n", 1 },     { "a\nb\nc\nd e=f g\n", 4 },
		{ "a\r\n", 1 },	       { "a b=\"", 1 },	      { "a b=\"1\" c\n", 1 },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct job job;
		int bad = -1;

		if (job_parse(&job, t[i].text, &bad) != -1 || bad != t[i].line)
			fail_msg("%s: line %d", t[i].text, bad);
		assert_null(job.line);
	}
}

/* Any prefix of a good text, and the text with any one byte changed, is survived. */
static void test_hostile(void **state)
{
	static const char good[] =
		"mmrig-job version=1 id=\"a b\\\"\\\\\\n\"\nconst name=x value=4\n";
	char text[sizeof(good)];
	struct job job;
	int bad;

	for (size_t i = 0; i < sizeof(good); i++) {
		memcpy(text, good, sizeof(good));
		text[i] = '\0';
		if (job_parse(&job, text, &bad) == 0)
			job_free(&job);
		for (int c = 1; i + 1 < sizeof(good) && c < 256; c++) {
			text[i] = (char)c;
			if (job_parse(&job, text, &bad) == 0)
				job_free(&job);
		}
	}
}

static void test_remove(void **state)
{
	struct job job = { 0 };
	char *text;

	job_add(&job, "workload", "do", "a", NULL);
	job_add(&job, "step", "do", "fill", NULL);
	job_add(&job, "workload", "do", "b", NULL);
	job_remove(&job, "workload");
	job_remove(&job, "nothing");
	text = job_format(&job);
	assert_string_equal(text, "step do=fill\n");
	free(text);
	job_free(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format),	cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_remove),	cmocka_unit_test(test_lookup),	cmocka_unit_test(test_bad),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
