// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "harness/build/patch_text.h"
#include "results/util/cleanup.h"

#define cleanup_patch __attribute__((cleanup(patch_text_free)))

static void files_and_hunks_in_order(void **state)
{
	static const char text[] =
		"From: someone\n\n@@ -1 +1 @@ no hunk: no file yet\n"
		"diff --git a/mm/x.c b/mm/x.c\n"
		"--- a/mm/x.c\t2026-01-01\n+++ b/mm/x.c\n"
		"@@ -10,3 +10,4 @@ static int f(void)\n one\n--- two\n+++ drei\n+four\n three\n"
		"@@ -50 +51 @@\n-a\n+b\n\\ No newline at end of file\n"
		"-- \n2.39\n\n"
		"--- /dev/null\n+++ b/mm/new.c\n@@ -0,0 +1,2 @@\n+x\n+y\n"
		"diff --git a/old b/new\nrename from old\nrename to new\n";
	cleanup_patch struct patch_text p = { 0 };

	patch_text_parse(text, &p);
	assert_int_equal(p.n, 2);
	assert_string_equal(p.item[0].old_name, "a/mm/x.c");
	assert_string_equal(p.item[0].new_name, "b/mm/x.c");
	assert_int_equal(p.item[0].n, 2);
	assert_int_equal(p.item[0].hunk[0].line, 10);
	assert_string_equal(p.item[0].hunk[0].header, "@@ -10,3 +10,4 @@ static int f(void)");
	assert_int_equal(p.item[0].hunk[1].line, 50);
	assert_string_equal(p.item[1].old_name, "/dev/null");
	assert_int_equal(p.item[1].n, 1);
	assert_int_equal(p.sources.len, 4);
	assert_string_equal(p.sources.data, "old");
	assert_false(p.encoded);
	assert_ptr_equal(patch_find(&p, 0, "mm/x.c"), &p.item[0]);
	assert_ptr_equal(patch_find(&p, 0, "mm/new.c"), &p.item[1]);
	assert_null(patch_find(&p, 1, "mm/x.c"));
}

static void carriage_returns_and_encodings(void **state)
{
	cleanup_patch struct patch_text p = { 0 }, file = { 0 }, mail = { 0 };

	patch_text_parse("--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n", &p);
	assert_string_equal(p.item[0].old_name, "a/x");
	assert_string_equal(p.item[0].hunk[0].header, "@@ -1 +1 @@");
	assert_true(p.crlf);
	/* Of a file that has them. */
	patch_text_parse("--- a/x\n+++ b/x\n@@ -1 +1 @@ f()\r\n-a\r\n+b\r\n", &file);
	assert_false(file.crlf);
	patch_text_parse("Content-Transfer-Encoding: Base64\n\nAAAA\n", &mail);
	assert_true(mail.encoded);
	assert_int_equal(mail.n, 0);
}

/* Nothing of it is a patch; none may crash. */
static void rubbish(void **state)
{
	static const char *const texts[] = { "",
					     "\n",
					     "--- ",
					     "+++ ",
					     "--- a\n+++ ",
					     "--- a\n+++ b\n@@ -",
					     "--- a\n+++ b\n@@ -1",
					     "--- a\n+++ b\n@@ -1,99999999999999999999 +1,2 @@\n-x",
					     "--- a\n--- b\n--- c\n+++ d\n+++ e\n",
					     "@@ -1 +1 @@\n-a\n+b\n" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cleanup_patch struct patch_text p = { 0 };

		patch_text_parse(texts[i], &p);
		assert_true(p.n <= 1);
	}
}

static void first_folder_is_stripped(void **state)
{
	assert_string_equal(patch_strip("a/mm/x.c"), "mm/x.c");
	assert_string_equal(patch_strip("a//x.c"), "x.c");
	assert_string_equal(patch_strip("x.c"), "x.c");
	assert_string_equal(patch_strip(""), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_and_hunks_in_order),
		cmocka_unit_test(carriage_returns_and_encodings),
		cmocka_unit_test(rubbish),
		cmocka_unit_test(first_folder_is_stripped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
