// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "results/compare_fixture.h"
#include "results/compare_text.h"

static const double fast[] = { 49, 49.5, 50, 50.5, 51 };
static const double slow[] = { 52.2, 52.7, 53.2, 53.7, 54.2 };

/* All but the one that reads samples. */
static char *(*const form[])(const struct compare *c) = {
	compare_mmtests, compare_markdown, compare_csv,	     compare_json,
	compare_stalls,	 compare_defrag,   compare_thpscale, compare_highalloc,
};

/*
 * By hand: stddev of fast sqrt(0.625); 100 - 53.2 / 0.5 = -6.4; CoeffVar 1 - 50 / 53.2 less. files:
 * harmonic mean of 100 and 200 400 / 3, its stddev (400 / 3)^2 / 400. Of two, the best one is 95 %.
 */
static void test_mmtests(void **state)
{
	static const double hundred[] = { 100, 100 }, two[] = { 200, 100 }, faults[] = { 1, 2 };
	static const double none[] = { 0, 0 }, five[] = { 5, 0 };
	struct compare c = compare_fixture("kernel", LIST("v6.14", "v6.15"),
					   LIST("time", "files", "allocstall", "?pgmajfault",
						"?pswpin", "?thp_fault_alloc"),
					   LIST(""));
	cleanup_free char *text = NULL;

	fixture_values(&c, 0, "time", 0, fast, 5);
	fixture_values(&c, 0, "time", 1, slow, 5);
	fixture_values(&c, 0, "files", 0, two, 2);
	fixture_values(&c, 0, "files", 1, hundred, 2);
	fixture_values(&c, 0, "allocstall", 0, none, 2);
	fixture_values(&c, 0, "allocstall", 1, five, 2);
	fixture_values(&c, 0, "pgmajfault", 0, faults, 2);
	fixture_values(&c, 0, "pswpin", 0, none, 2);
	fixture_values(&c, 0, "pswpin", 1, five, 2);
	fixture_warn(&c, "other hosts");
	fixture_test(&c);
	text = compare_mmtests(&c);
	expect_text(text,
		    "a-title\n"
		    "kernel 7.3.4; 8G, 2 CPUs, tcg\n"
		    "\n"
		    "                                  v6.14                 v6.15\n"
		    "Min       time            49.00 (   0.00%)      52.20 (  -6.53%)\n"
		    "Amean     time            50.00 (   0.00%)      53.20 *  -6.40%*\n"
		    "Stddev    time             0.79 (   0.00%)       0.79 (   0.00%)\n"
		    "CoeffVar  time             1.58 (   0.00%)       1.49 (   6.02%)\n"
		    "Max       time            51.00 (   0.00%)      54.20 (  -6.27%)\n"
		    "BAmean-95 time            49.75 (   0.00%)      52.95 (  -6.43%)\n"
		    "Min       files          100.00 (   0.00%)     100.00 (   0.00%)\n"
		    "Hmean     files          133.33 (   0.00%)     100.00 ( -25.00%)\n"
		    "Stddev    files           44.44 (   0.00%)       0.00 ( 100.00%)\n"
		    "CoeffVar  files           33.33 (   0.00%)       0.00 ( 100.00%)\n"
		    "Max       files          200.00 (   0.00%)     100.00 ( -50.00%)\n"
		    "BHmean-95 files          200.00 (   0.00%)     100.00 ( -50.00%)\n"
		    "Min       allocstall       0.00 (   0.00%)       0.00 (   0.00%)\n"
		    "Amean     allocstall       0.00 (   0.00%)       2.50 (       -)\n"
		    "Stddev    allocstall       0.00 (   0.00%)       3.54 (       -)\n"
		    "CoeffVar  allocstall       0.00 (   0.00%)     141.42 (       -)\n"
		    "Max       allocstall       0.00 (   0.00%)       5.00 (       -)\n"
		    "BAmean-95 allocstall       0.00 (   0.00%)       0.00 (   0.00%)\n"
		    "\n"
		    "MMTests Statistics: vmstat\n"
		    "# mean over the runs, of 5 each\n"
		    "                                        v6.14          v6.15\n"
		    "Ops Major Faults                         1.50              -\n"
		    "Ops Swap Ins                             0.00           2.50\n"
		    "Ops Allocation stalls                    0.00           2.50\n"
		    "\n"
		    "* x%*: the difference stands: Mann-Whitney, corrected (Holm) over 3 tests, p\n"
		    "  <= 0.05\n"
		    "positive is better\n"
		    "\n"
		    "5 runs each\n"
		    "files: 2 of 5 runs have it (v6.14)\n"
		    "files: 2 of 5 runs have it (v6.15)\n"
		    "allocstall: 2 of 5 runs have it (v6.14)\n"
		    "allocstall: 2 of 5 runs have it (v6.15)\n"
		    "warning: other hosts\n");
	fixture_free(&c);
}

/* One per cent, and certain: less than the margin of 5, and hence no star. */
static void test_mmtests_same(void **state)
{
	struct compare c = compare_fixture("kernel", LIST("a", "b"), LIST("time"), LIST(""));
	cleanup_free char *text = NULL;

	fixture_around(&c, 0, "time", 0, 100, 0.01, 8);
	fixture_around(&c, 0, "time", 1, 101, 0.01, 8);
	fixture_test(&c);
	assert_true(compare_result(&c, 0, 0, 1)->p_adjusted < 0.001);
	text = compare_mmtests(&c);
	expect_line(text, "Amean     time          100.00 (   0.00%)     101.00 (  -1.00%)");
	fixture_free(&c);
}

/* There is no harmonic mean of 0; without a better end there is no best share; one run: no spread. */
static void test_mmtests_odd(void **state)
{
	static const double some[] = { 0, 100 }, one[] = { 7 };
	struct compare c = compare_fixture("kernel", LIST("a", "b"), LIST("files", "pgfree"),
					   LIST("first", "second"));
	cleanup_free char *text = NULL;

	fixture_values(&c, 0, "files", 0, some, 2);
	fixture_values(&c, 0, "pgfree", 1, one, 1);
	fixture_values(&c, 1, "pgfree", 0, one, 1);
	fixture_values(&c, 1, "pgfree", 1, some, 2);
	fixture_test(&c);
	text = compare_mmtests(&c);
	expect_line(text, "Amean     files          50.00 (   0.00%)          - (       -)");
	expect_line(text, "Min       pgfree             - (       -)       7.00 (       -)");
	expect_line(text, "Stddev    pgfree             - (       -)          - (       -)");
	expect_line(text, "Max       pgfree          7.00 (   0.00%)     100.00 (1328.57%)");
	expect_line(text, "# no run has a counter of this block");
	expect_line(text, "positive is better; more, where neither is");
	expect_line(text, "first");
	expect_line(text, "second");
	assert_true(strstr(text, "Hmean") > strstr(text, "second"));
	assert_null(strstr(text, "BAmean-95 pgfree"));
	fixture_free(&c);
}

static void test_markdown(void **state)
{
	static const double none[] = { 0, 0, 0, 0, 0 }, few[] = { 0, 0, 0, 2, 0 };
	struct compare c = compare_fixture("kernel", LIST("base", "patched"),
					   LIST("time", "allocstall", "?pswpin"),
					   LIST("pfn % 8 == 0", "pfn % 8 == 4"));
	cleanup_free char *text = NULL;

	fixture_values(&c, 0, "time", 0, fast, 5);
	fixture_values(&c, 0, "time", 1, slow, 5);
	fixture_values(&c, 0, "allocstall", 0, none, 5);
	fixture_values(&c, 0, "allocstall", 1, few, 5);
	fixture_values(&c, 0, "pswpin", 0, few, 5);
	fixture_test(&c);
	c.section[1].cell[0].verdict[VERDICT_SPLAT] = 2;
	text = compare_markdown(&c);
	expect_line(text, "### a-title");
	expect_line(text, "#### pfn % 8 == 4");
	expect_line(text, "| metric | base | patched | change | p | Cliff's delta | outcome |");
	expect_line(text, "| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
	/*
	 * Shift 3.2 of 50; U = 25 of 25; p = 2 / C(10,5), of two tests 0.0159. The interval is from
	 * the third of the 25 differences, which are 3.2 + k / 2: one of k = -4, two of -3.
	 */
	expect_line(text, "| time, s | 50 (49..51) | 53.2 (52.2..54.2) |"
			  " +6.4% (+3.4 .. +9.4%) | 0.016 | +1.00 | worse |");
	expect_line(text, "| pswpin | 0 (0..2) | - | - | - | - | - |");
	expect_line(text, "- not ok, and in no number: 2 of 2 (pfn % 8 == 4, base): 2 splat");
	assert_non_null(strstr(text, "| allocstall | 0 | 0 (0..2) | 0 (0 .. +2) | 1.000 | +0.20 |"
				     " inconclusive"));
	fixture_free(&c);
}

static void test_markdown_columns(void **state)
{
	struct compare c = compare_fixture("kernel", LIST("a", "b", "c"), LIST("time"), LIST(""));
	cleanup_free char *text = NULL;

	c.baseline = 1;
	fixture_values(&c, 0, "time", 1, fast, 5);
	fixture_values(&c, 0, "time", 2, slow, 5);
	fixture_test(&c);
	text = compare_markdown(&c);
	expect_line(text, "| metric | a | b | c | a: change | p | Cliff's delta | outcome |"
			  " c: change | p | Cliff's delta | outcome |");
	expect_line(text, "| time, s | - | 50 (49..51) | 53.2 (52.2..54.2) | - | - | - |"
			  " inconclusive | +6.4% (+3.4 .. +9.4%) | 0.008 | +1.00 | worse |");
	fixture_free(&c);
}

static void test_csv(void **state)
{
	struct compare c =
		compare_fixture("kernel", LIST("base", "patched"), LIST("time"), LIST("x, \"y\""));
	cleanup_free char *text = NULL;

	fixture_values(&c, 0, "time", 0, fast, 5);
	fixture_values(&c, 0, "time", 1, slow, 5);
	fixture_warn(&c, "one");
	fixture_warn(&c, "two");
	fixture_test(&c);
	text = compare_csv(&c);
	/* 0.79056941504209488 is sqrt(0.625); the interval's level is 1 - 2 * 4 / 252. */
	expect_text(text,
		    "by,section,metric,unit,better,column,n,min,median,mean,stddev,max,shift,"
		    "shift_low,shift_high,confidence,u,p,p_method,p_adjusted,cliffs_delta,outcome,"
		    "more_runs,warning\r\n"
		    "kernel,\"x, \"\"y\"\"\",time,s,lower,base,5,49,50,50,0.79056941504209488,51,"
		    ",,,,,,,,,,,one; two\r\n"
		    "kernel,\"x, \"\"y\"\"\",time,s,lower,patched,5,52.200000000000003,"
		    "53.200000000000003,53.200000000000003,0.79056941504209488,54.200000000000003,"
		    "3.2000000000000028,1.7000000000000028,4.7000000000000028,0.96825396825396826,"
		    "25,0.0079365079365079361,exact,0.0079365079365079361,1,worse,,one; two\r\n");
	fixture_free(&c);
}

static json_t *load(const char *text)
{
	json_error_t why;
	json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, &why);

	if (!o)
		fail_msg("%s in line %d", why.text, why.line);
	return o;
}

static void test_json(void **state)
{
	static const double one[] = { 7 };
	struct compare c = compare_fixture("kernel", LIST("base", "patched"),
					   LIST("time", "?pswpin"), LIST("x"));
	cleanup_free char *text = NULL;
	json_t *got, *want;

	fixture_values(&c, 0, "time", 0, fast, 5);
	fixture_values(&c, 0, "time", 1, slow, 5);
	fixture_values(&c, 0, "pswpin", 1, one, 1);
	c.section[0].cell[1].verdict[VERDICT_STALL] = 1;
	c.section[0].cell[1].nruns++;
	fixture_warn(&c, "a warning");
	fixture_test(&c);
	text = compare_json(&c);
	got = load(text);
#define UNTESTED                                                                             \
	"\"shift\": null, \"u\": null, \"p\": null, \"p_adjusted\": null, \"method\": null," \
	" \"delta\": null, \"outcome\": null, \"more\": null, \"grouped\": null"
	want = load(
		"{\"schema\": 1, \"by\": \"kernel\", \"title\": \"a-title\","
		" \"context\": \"kernel 7.3.4; 8G, 2 CPUs, tcg\", \"baseline\": \"base\","
		" \"columns\": [\"base\", \"patched\"], \"origin\": [], \"warnings\": [\"a warning\"],"
		" \"alpha\": 0.05, \"margin\": 0, \"margin_relative\": 0.05, \"tests\": 1,"
		" \"sections\": [{\"label\": \"x\", \"cells\": ["
		"{\"column\": \"base\", \"runs\": 5, \"verdicts\": {\"ok\": 5}},"
		"{\"column\": \"patched\", \"runs\": 6, \"verdicts\": {\"ok\": 5, \"stall\": 1}}],"
		" \"metrics\": [{\"name\": \"time\", \"title\": \"Time of the workload\","
		" \"unit\": \"s\", \"better\": \"lower\", \"columns\": ["
		"{\"column\": \"base\", \"n\": 5, \"values\": [49, 49.5, 50, 50.5, 51], \"min\": 49,"
		" \"median\": 50, \"mean\": 50, \"stddev\": 0.79056941504209488, \"max\": 51, " UNTESTED
		"},"
		"{\"column\": \"patched\", \"n\": 5, \"values\": [52.2, 52.7, 53.2, 53.7, 54.2],"
		" \"min\": 52.2, \"median\": 53.2, \"mean\": 53.2,"
		" \"stddev\": 0.79056941504209488, \"max\": 54.2, \"shift\":"
		" {\"estimate\": 3.2000000000000028, \"low\": 1.7000000000000028,"
		" \"high\": 4.7000000000000028, \"confidence\": 0.96825396825396826,"
		" \"method\": \"exact\"}, \"u\": 25, \"p\": 0.0079365079365079361,"
		" \"p_adjusted\": 0.0079365079365079361, \"method\": \"exact\", \"delta\": 1,"
		" \"outcome\": \"worse\", \"more\": null, \"grouped\": false}]},"
		"{\"name\": \"pswpin\", \"title\": \"Swap ins\", \"unit\": \"pages\","
		" \"better\": \"lower\", \"columns\": ["
		"{\"column\": \"base\", \"n\": 0, \"values\": [], \"min\": null, \"median\": null,"
		" \"mean\": null, \"stddev\": null, \"max\": null, " UNTESTED "},"
		"{\"column\": \"patched\", \"n\": 1, \"values\": [7], \"min\": 7, \"median\": 7,"
		" \"mean\": 7, \"stddev\": null, \"max\": 7, " UNTESTED "}]}]}]}");
	if (!json_equal(got, want))
		expect_text(text, "something else");
	json_decref(got);
	json_decref(want);
	fixture_free(&c);
}

#define HOSTILE "a|b,\"<script>&`x`\x1b[31m\nNode\r\t\xff_*[x](y)"

static void expect_harmless(const char *text, bool csv)
{
	for (const char *p = text; *p; p++) {
		unsigned char ch = (unsigned char)*p;

		if (ch == '\r' && csv && p[1] == '\n')
			continue;
		if (ch != '\n' && (ch < 0x20 || ch == 0x7f || ch == 0xff))
			fail_msg("byte %02x in:\n%.300s", ch, text);
	}
}

/* A hostile name everywhere at once: no byte of it is taken for anything but text. */
static void test_hostile(void **state)
{
	struct compare c = compare_fixture("by" HOSTILE, LIST(HOSTILE, "=cmd|' /C calc'!A0"),
					   LIST("time", "m" HOSTILE), LIST("@" HOSTILE));
	cleanup_free char *csv = NULL, *markdown = NULL, *json = NULL;
	json_t *o;

	fixture_values(&c, 0, "time", 0, fast, 5);
	fixture_values(&c, 0, "m" HOSTILE, 1, slow, 5);
	fixture_warn(&c, "-2+3" HOSTILE);
	fixture_test(&c);
	for (size_t i = 0; i < ARRAY_SIZE(form); i++) {
		cleanup_free char *text = form[i](&c);

		expect_harmless(text, form[i] == compare_csv);
	}
	csv = compare_csv(&c);
	assert_non_null(strstr(csv, ",'=cmd|' /C calc'!A0,"));
	assert_non_null(strstr(csv, ",\"'@a|b,\"\"<script>&`x`\\x1b[31m\\x0aNode"));
	assert_non_null(strstr(csv, ",\"'-2+3a|b,"));
	markdown = compare_markdown(&c);
	assert_null(strpbrk(markdown, "<>`*[]"));
	assert_non_null(strstr(markdown, " a&#124;b,\"&lt;script&gt;&amp;&#96;x&#96;&#92;x1b"));
	json = compare_json(&c);
	o = load(json);
	/* As it is, but for the byte that is no UTF-8. */
	assert_string_equal(json_string_value(json_array_get(json_object_get(o, "columns"), 0)),
			    "a|b,\"<script>&`x`\x1b[31m\nNode\r\t\\xff_*[x](y)");
	json_decref(o);
	fixture_free(&c);
}

/* What only looks like a formula stays as it is: the label of a variant is often a number. */
static void test_csv_numbers(void **state)
{
	static const struct {
		const char *label, *field;
	} good[] = {
		{ "-4", ",-4," },      { "+1.5e3", ",+1.5e3," }, { "-x", ",'-x," },
		{ "-inf", ",'-inf," }, { "+-1", ",'+-1," },	 { "a=1", ",a=1," },
		{ "--", ",'--," },     { "\t=1", ",\\x09=1," },
	};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct compare c =
			compare_fixture("kernel", LIST(good[i].label, "b"), LIST("time"), LIST(""));
		cleanup_free char *text = NULL;

		fixture_test(&c);
		text = compare_csv(&c);
		if (!strstr(text, good[i].field))
			fail_msg("no %s in:\n%s", good[i].field, text);
		fixture_free(&c);
	}
}

static void expect_no_nan(const struct compare *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(form); i++) {
		cleanup_free char *text = form[i](c), *low = xstrdup(text);

		assert_true(*text);
		for (char *p = low; *p; p++)
			*p = (char)tolower(*p);
		/* "nano" and "info" are in none of them. */
		if (strstr(low, "nan") || strstr(low, "inf") || strstr(low, "-0.00"))
			fail_msg("form %zu:\n%.900s", i, text);
	}
}

#define EVERY                                                                           \
	"time", "allocstall", "files", "pgfree", "fault_both_3", "?huge_share_3",       \
		"?highalloc_pass1", "?hugealloc_mean", "?pswpin", "?kswapd_efficiency", \
		"?kswapd_velocity"

/* Nothing at all, all alike, all zero, one run, one side only, and numbers of any size. */
static void test_no_nan(void **state)
{
	static const double sets[][4] = { { 0, 0, 0, 0 },      { 5, 5, 5, 5 },
					  { -3, 0, 3, -1e-9 }, { 1e149, -1e149, 1e15, 1e-300 },
					  { 1e-320, 0, 1, 2 }, { 99.999, 100.001, 100, 100 } };
	static const char *const metric[] = { EVERY, NULL };

	for (size_t i = 0; i <= 6 * ARRAY_SIZE(sets); i++) {
		struct compare c = compare_fixture("kernel", LIST("a", "b", "c"), LIST(EVERY),
						   LIST("one", "two"));
		const double *v = sets[i / 6 % ARRAY_SIZE(sets)];

		for (size_t m = 0; i && metric[m]; m++) {
			const char *name = metric[m] + (*metric[m] == '?');

			if (i % 3 != 1)
				fixture_values(&c, 0, name, 0, v, i % 2 ? 4 : 1);
			if (i % 3 != 2)
				fixture_values(&c, 0, name, 1, v + i % 2, i % 2 ? 3 : 1);
		}
		fixture_test(&c);
		expect_no_nan(&c);
		fixture_free(&c);
	}
}

/* No section, no column, no metric: still a text, and the warnings. */
static void test_empty(void **state)
{
	struct compare none = compare_fixture("kernel", LIST(NULL), LIST(NULL), LIST(NULL));
	struct compare bare = compare_fixture("kernel", LIST("a", "b"), LIST(NULL), LIST("x"));

	fixture_test(&none);
	fixture_test(&bare);
	expect_no_nan(&none);
	expect_no_nan(&bare);
	fixture_free(&none);
	fixture_free(&bare);
}

/* Every form says what was forced, and what is in no number (JSON and CSV: by their own fields). */
static void test_warnings(void **state)
{
	struct compare c = compare_fixture("kernel", LIST("a", "b"), LIST("time"), LIST("x"));

	fixture_values(&c, 0, "time", 0, fast, 5);
	fixture_values(&c, 0, "time", 1, slow, 5);
	fixture_warn(&c, "forced: memory differs");
	c.section[0].cell[1].verdict[VERDICT_INFRA] = 3;
	c.section[0].cell[1].verdict[VERDICT_STALL] = 1;
	c.section[0].cell[0].grouped = true;
	fixture_test(&c);
	for (size_t i = 0; i < ARRAY_SIZE(form); i++) {
		cleanup_free char *text = form[i](&c);

		assert_non_null(strstr(text, "forced: memory differs"));
		if (form[i] == compare_csv || form[i] == compare_json)
			continue;
		assert_non_null(
			strstr(text, "not ok, and in no number: 4 of 9 (x, b): 1 stall, 3 infra"));
		assert_non_null(strstr(text, "of one layout"));
	}
	fixture_free(&c);
}

/* Long labels: no line of these forms is wider than two of 22 columns make it, and none runs into
 * another. */
static void test_long_labels(void **state)
{
	struct compare c =
		compare_fixture("kernel",
				LIST("a-kernel-with-a-name-of-many-words-and-4-numbers",
				     "second"
				     "kernelwithoutanyplacewhereitcouldbebrokenatall"),
				LIST("time", "?pswpin", "?highalloc_pass1", "fault_both_3"),
				LIST(""));
	static char *(*const narrow[])(const struct compare *c) = {
		compare_mmtests,
		compare_stalls,
		compare_thpscale,
		compare_highalloc,
	};

	fixture_around(&c, 0, "time", 0, 5, 1, 5);
	fixture_around(&c, 0, "time", 1, 6, 1, 5);
	fixture_around(&c, 0, "pswpin", 0, 123456, 1, 5);
	fixture_around(&c, 0, "pswpin", 1, 123456, 1, 5);
	fixture_around(&c, 0, "highalloc_pass1", 1, 33, 1, 5);
	fixture_around(&c, 0, "fault_both_3", 1, 3729, 1, 5);
	fixture_test(&c);
	for (size_t i = 0; i < ARRAY_SIZE(narrow); i++) {
		cleanup_free char *text = narrow[i](&c);

		for (const char *p = text; *p; p += strcspn(p, "\n") + 1)
			if (strcspn(p, "\n") > 78)
				fail_msg("%zu wide:\n%s", strcspn(p, "\n"), text);
	}
	fixture_free(&c);
}

/* What the forms ask the core for: known metrics and patterns, each once. */
static void test_metrics(void **state)
{
	static const char *const *(*const list[])(void) = {
		compare_mmtests_metrics, compare_stalls_metrics,   compare_highalloc_metrics,
		compare_defrag_metrics,	 compare_thpscale_metrics, compare_thpscale_tested,
	};
	static const size_t count[] = { 66, 2, 15, 25, 4, 1 };

	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		const char *const *metric = list[i]();

		assert_int_equal(fixture_count(metric), count[i]);
		assert_ptr_equal(list[i](), metric);
		assert_int_equal(fixture_count(metric), count[i]);
		for (size_t j = 0; metric[j]; j++) {
			if (!counter_find(metric[j]))
				fail_msg("no metric %s", metric[j]);
			for (size_t k = 0; k < j; k++)
				assert_string_not_equal(metric[j], metric[k]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mmtests),	     cmocka_unit_test(test_mmtests_odd),
		cmocka_unit_test(test_markdown),     cmocka_unit_test(test_markdown_columns),
		cmocka_unit_test(test_csv),	     cmocka_unit_test(test_csv_numbers),
		cmocka_unit_test(test_json),	     cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_no_nan),	     cmocka_unit_test(test_empty),
		cmocka_unit_test(test_warnings),     cmocka_unit_test(test_long_labels),
		cmocka_unit_test(test_mmtests_same), cmocka_unit_test(test_metrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
