// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "results/run_fixture.h"
#include "results/run_json.h"
#include "results/run_text.h"
#include "results/table.h"
#include "results/util/cleanup.h"

static void expect_text(char *got, const char *want)
{
	assert_string_equal(got, want);
	free(got);
}

static void test_text(void **state)
{
	expect_text(run_text_utf8("plain \xc3\xa4 \t"), "plain \xc3\xa4 \t");
	expect_text(run_text_utf8("a\xff" "b\xc3"), "a\\xffb\\xc3");
	/* Overlong slash, surrogate, beyond U+10FFFF, a lone continuation. */
	expect_text(run_text_utf8("\xc0\xaf"), "\\xc0\\xaf");
	expect_text(run_text_utf8("\xed\xa0\x80"), "\\xed\\xa0\\x80");
	expect_text(run_text_utf8("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
	expect_text(run_text_utf8("\x80"), "\\x80");
	expect_text(run_text_utf8("\xf0\x9f\x90\xa7"), "\xf0\x9f\x90\xa7");
	expect_text(run_text_printable("\x1b[31m\n\x7f\xc2\x9b" "0\xc3\xa4"),
		    "\\x1b[31m\\x0a\\x7f\\xc2\\x9b0\xc3\xa4");
	assert_int_equal(run_text_columns("pfn \xc3\xa4\xf0\x9f\x90\xa7"), 6);
}

static void expect_lines(const char *text, size_t width, const char *want)
{
	struct strbuf sb = STRBUF_INIT;
	size_t n;
	char **lines = run_text_wrap(text, width, &n);

	for (size_t i = 0; i < n; i++)
		strbuf_addf(&sb, "%s|", lines[i]);
	assert_null(lines[n]);
	assert_string_equal(sb.data, want);
	strbuf_free(&sb);
	run_text_lines_free(lines);
}

static void test_wrap(void **state)
{
	expect_lines("", 10, "|");
	expect_lines("short", 10, "short|");
	expect_lines("exactly_10", 10, "exactly_10|");
	expect_lines("two words", 5, "two|words|");
	expect_lines("compact_daemon_free_scanned", 15, "compact_daemon_|free_scanned|");
	expect_lines("abcdefgh", 3, "abc|def|gh|");
	expect_lines("pfn % 8 == 4, patched", 14, "pfn % 8 == 4,|patched|");
	expect_lines("\xc3\xa4\xc3\xa4\xc3\xa4", 2, "\xc3\xa4\xc3\xa4|\xc3\xa4|");
}

static void test_metrics(void **state)
{
	struct run r = { 0 };

	assert_null(run_metric(&r, "time"));
	run_set_metric(&r, "time", 1.5);
	run_set_metric(&r, "zero", 0);
	run_set_metric(&r, "time", 2.5);
	run_set_metric(&r, "nan", NAN);
	run_set_metric(&r, "inf", INFINITY);
	assert_int_equal(r.nmetrics, 2);
	assert_true(*run_metric(&r, "time") == 2.5);
	assert_true(*run_metric(&r, "zero") == 0);
	run_free(&r);
	assert_int_equal(r.nmetrics, 0);
}

/* Letters as the kernel's admin-guide lists them: bit 0 first. */
static void test_taint(void **state)
{
	struct run r = { .taint_after = 9 };
	json_t *o, *want = json_loads("{\"before\": 0, \"letters\": \"\"}", 0, NULL);

	expect_text(run_taint_letters(0), "");
	expect_text(run_taint_letters(1), "P");
	expect_text(run_taint_letters(1 << 7 | 1 << 9), "DW"); /* an oops and a warning */
	expect_text(run_taint_letters(1 << 5), "B");	       /* bad page */
	expect_text(run_taint_letters(1 << 12 | 1 << 13), "OE");
	expect_text(run_taint_letters(1 << 14), "L"); /* soft lockup */
	expect_text(run_taint_letters(1 << 18), "N");
	expect_text(run_taint_letters(1ull << 63 | 1), "P?");
	assert_null(run_json_taint(&r)); /* nothing is known */
	r.taint_before_known = true;
	o = run_json_taint(&r);
	assert_true(json_equal(o, want));
	json_decref(o);
	json_decref(want);
	r.taint_after_known = true;
	o = run_json_taint(&r);
	want = json_loads("{\"before\": 0, \"after\": 9, \"letters\": \"PR\"}", 0, NULL);
	assert_true(json_equal(o, want));
	json_decref(o);
	json_decref(want);
}

static struct run full_run(void)
{
	struct run r = { .id = xstrdup("0007"),
			 .cell = 1,
			 .variant = 1,
			 .seed = UINT64_MAX,
			 .verdict = VERDICT_SPLAT,
			 .why = xstrdup("BUG: \xff \x1b[0m"),
			 .detail = xstrdup("line 1\nline 2"),
			 .accel = xstrdup("tcg"),
			 .qemu_version = xstrdup("7.2.22"),
			 .qemu_command = xstrdup("qemu -x 'a b'"),
			 .host = xstrdup("bench"),
			 .reproduce = xstrdup("mmrig run x --seed 7"),
			 .started = 1796058900.123456,
			 .ended = 1796058999.5,
			 .host_cpu = 12.25,
			 .layout_json = xstrdup("[{\"step\":\"fill\",\"seconds\":4.6}]"),
			 .workload_json = xstrdup("{\"bad\": 1e999}") };

	for (int i = 0; i < PHASE_COUNT; i++)
		r.phase[i] = i < 2 ? 3.1 + i : -1;
	run_set_metric(&r, "allocstall", 86);
	run_set_metric(&r, "time", 4.6);
	run_set_metric(&r, "huge", 1.8446744073709552e19);
	r.no_effect = xcalloc(2, sizeof(*r.no_effect));
	r.no_effect[0] = xstrdup("compact_stall");
	r.profile_json = xstrdup("{\"samples\":8,\"top\":[]}");
	r.splats_json = xstrdup("[{\"class\":\"BUG\",\"corrupted\":true}]");
	r.taint_before_known = r.taint_after_known = true;
	r.taint_after = 1ull << 63 | 512;
	return r;
}

static void test_run_json(void **state)
{
	struct runset set = fixture_set();
	struct run r = full_run(), back;
	struct error err = ERROR_INIT;
	json_t *o, *again;
	char *text;

	set.id = xstrdup("set");
	o = run_to_json(&set, &r);
	text = json_dumps(o, JSON_REAL_PRECISION(17));
	assert_non_null(text);
	again = json_loads(text, 0, NULL);
	assert_non_null(again);
	assert_int_equal(run_from_json("x", again, &set, &back, &err), 0);
	assert_string_equal(back.id, "0007");
	assert_int_equal(back.verdict, VERDICT_SPLAT);
	assert_true(back.seed == UINT64_MAX);
	assert_int_equal(back.variant, 1);
	assert_string_equal(back.why, "BUG: \\xff \x1b[0m");
	assert_string_equal(back.detail, r.detail);
	assert_string_equal(back.qemu_command, r.qemu_command);
	assert_string_equal(back.reproduce, r.reproduce);
	assert_true(back.started == r.started && back.ended == r.ended && back.host_cpu == 12.25);
	assert_true(back.phase[PHASE_BOOT] == 3.1 && back.phase[PHASE_LAYOUT] == 4.1);
	assert_true(back.phase[PHASE_WORKLOAD] == -1);
	assert_int_equal(back.nmetrics, 3);
	assert_true(*run_metric(&back, "time") == 4.6);
	assert_true(*run_metric(&back, "huge") == 1.8446744073709552e19);
	assert_string_equal(back.layout_json,
			    "[{\"step\":\"fill\",\"seconds\":4.5999999999999996}]");
	assert_string_equal(back.workload_json, r.workload_json);
	assert_string_equal(back.splats_json, r.splats_json);
	assert_string_equal(back.profile_json, r.profile_json);
	assert_true(back.taint_before_known && back.taint_before == 0);
	assert_true(back.taint_after_known && back.taint_after == (1ull << 63 | 512));
	assert_string_equal(back.no_effect[0], "compact_stall");
	assert_null(back.no_effect[1]);
	/* It can be read without its set. */
	assert_string_equal(json_string_value(
				    json_object_get(json_object_get(o, "kernel"), "release")),
			    "7.3.4+deb13-cloud-amd64");
	json_decref(o);
	json_decref(again);
	free(text);
	run_free(&r);
	run_free(&back);
	runset_free(&set);
}

static void expect_damaged(const struct runset *set, const char *text, const char *what)
{
	cleanup_error struct error err = ERROR_INIT;
	json_t *o = json_loads(text, 0, NULL);
	struct run r;

	assert_non_null(o);
	assert_int_equal(run_from_json("dir/run.json", o, set, &r, &err), -1);
	assert_int_equal(err.status, EXIT_NO_VERDICT);
	assert_non_null(strstr(err.text, "dir/run.json"));
	if (!strstr(err.text, what))
		fail_msg("\"%s\" does not say \"%s\"", err.text, what);
	json_decref(o);
	run_free(&r);
}

static void test_damaged(void **state)
{
	struct runset set = fixture_set();

	expect_damaged(&set, "[]", "schema");
	expect_damaged(&set, "{}", "schema");
	expect_damaged(&set, "{\"schema\": 2}", "newer");
	expect_damaged(&set, "{\"schema\": 1}", "verdict");
	expect_damaged(&set, "{\"schema\": 1, \"verdict\": \"fine\"}", "verdict");
	expect_damaged(&set, "{\"schema\": 1, \"verdict\": \"ok\"}", "id");
	expect_damaged(&set,
		       "{\"schema\": 1, \"verdict\": \"ok\", \"id\": \"1\", \"kernel_index\": 9}",
		       "kernel 9");
	expect_damaged(&set,
		       "{\"schema\": 1, \"verdict\": \"ok\", \"id\": \"1\", \"variant_index\": 2}",
		       "variant 2");
	runset_free(&set);
}

static void test_superseded(void **state)
{
	/* As a set may hold them that was resumed: in no order. */
	static const struct {
		const char *id;
		bool superseded;
	} want[] = {
		{ "0001", false },    { "0002", true },	   { "0003.2", true }, { "0003", true },
		{ "0003.10", false }, { "0002.2", false }, { "0020", true },   { "0003.9", true },
		{ "0020.2", false },  { "0200", false },   { "10000", false }, { "1000", true },
		{ "1000.2", false },
	};
	struct run run[ARRAY_SIZE(want)] = { 0 };
	struct runset set = { .run = run, .nruns = ARRAY_SIZE(want) };

	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		run[i].id = xstrdup(want[i].id);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		if (runset_superseded(&set, i) != want[i].superseded)
			fail_msg("%s: %d", want[i].id, !want[i].superseded);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		run_free(&run[i]);
}

static void test_median(void **state)
{
	const double odd[] = { 5, 1, 3 }, even[] = { 4, 1, 3, 1000 }, one[] = { 7 };

	assert_true(isnan(stat_median(NULL, 0)));
	assert_true(stat_median(one, 1) == 7);
	assert_true(stat_median(odd, 3) == 3);
	assert_true(stat_median(even, 4) == 3.5);
	assert_true(odd[0] == 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),	 cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_metrics),	 cmocka_unit_test(test_run_json),
		cmocka_unit_test(test_damaged),	 cmocka_unit_test(test_median),
		cmocka_unit_test(test_taint),	 cmocka_unit_test(test_superseded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
