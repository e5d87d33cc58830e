// SPDX-License-Identifier: GPL-2.0-only
/* Which sub-tests a comparison of selftests lists, and under what: from two kernels of two runs each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "results/compare_fixture.h"
#include "results/compare_text.h"

#define RUNS_MAX 4

struct fixture {
	struct frame frame;
	struct run run[RUNS_MAX];
	struct compare_run ref[RUNS_MAX];
};

/* One column after the other has so many runs; each sub: "[1,\"pass\",\"a\",\"\",\"\"],...". */
static struct compare make(struct fixture *f, const char *const *col, size_t runs, const char *const *subs)
{
	struct compare c = compare_fixture("kernel", col, LIST("time"), LIST(""));

	*f = (struct fixture){ 0 };
	for (size_t i = 0; i < c.ncols * runs; i++) {
		f->run[i].verdict = VERDICT_OK;
		f->run[i].workload_json = str_printf(
			"{\"selftest.t.0\":[%s],\"selftest.t\":{\"verdict\":\"%s\",\"why\":\"\"}}", subs[i],
			strstr(subs[i], "fail") ? "fail" : "pass");
		f->ref[i] = (struct compare_run){ &f->frame, i };
	}
	f->frame.set.run = f->run;
	f->frame.set.nruns = c.ncols * runs;
	for (size_t i = 0; i < c.ncols; i++) {
		c.section[0].cell[i].run = &f->ref[i * runs];
		c.section[0].cell[i].nruns = runs;
		c.section[0].cell[i].verdict[VERDICT_OK] = (unsigned int)runs;
		c.section[0].cell[i].unit = "run";
	}
	return c;
}

static char *text_of(struct compare *c, struct fixture *f)
{
	char *text = NULL;

	assert_int_equal(compare_kselftest(c, NULL, &text, NULL), 0);
	for (size_t i = 0; i < f->frame.set.nruns; i++)
		free(f->run[i].workload_json);
	for (size_t i = 0; i < c->ncols; i++)
		c->section[0].cell[i].run = NULL; /* the fixture's own */
	fixture_free(c);
	return text;
}

static void expect(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("lacks \"%s\":\n%s", part, text);
}

#define SUB(n, verdict, name, reason) "[" #n ",\"" verdict "\",\"" name "\",\"\",\"" reason "\"]"

static void test_kinds(void **state)
{
	static const char *const base = SUB(1, "pass", "a", "") "," SUB(2, "fail", "b", "") "," SUB(
		3, "fail", "c", "no luck") "," SUB(4, "pass", "d", "") "," SUB(5, "skip", "", "no swap") ","
		SUB(6, "pass", "f", "");
	static const char *const head = SUB(1, "fail", "a", "broke") "," SUB(2, "pass", "b", "") "," SUB(
		3, "fail", "c", "no luck") "," SUB(4, "skip", "d", "need hugetlb") "," SUB(
		5, "skip", "", "no swap") "," SUB(6, "pass", "f", "");
	static const char *const other = SUB(1, "fail", "a", "broke") "," SUB(2, "pass", "b", "") "," SUB(
		3, "fail", "c", "no luck") "," SUB(4, "skip", "d", "need hugetlb") "," SUB(
		5, "skip", "", "no swap") "," SUB(6, "fail", "f", "at times");
	const char *const subs[] = { base, base, head, other };
	struct fixture f;
	struct compare c = make(&f, LIST("7.3", "7.4"), 2, subs);
	cleanup_free char *text = text_of(&c, &f);

	expect(text, "test                  verdict   pass fail skip  xfl  verdict   pass fail skip  xfl\n"
		     "t                     fail         3    2    1    0  fail         2    2    2    0\n");
	expect(text, "7.4: new failures (1):\n  t: a: pass -> fail\n      broke\n");
	expect(text, "7.4: fixed (1):\n  t: b: fail -> pass\n");
	expect(text, "7.4: failed in the base too (1):\n  t: c\n      no luck\n");
	expect(text, "7.4: other changes (1):\n  t: d: pass -> skip\n      need hugetlb [wants huge pages]\n");
	expect(text, "7.4: skipped in both (1):\n  t: 1: no swap [wants swap]\n");
	expect(text, "decide nothing (1):\n  t: f: pass -> pass or fail\n      at times\n");
}

static void test_equal(void **state)
{
	const char *const subs[] = { SUB(1, "pass", "a", ""), SUB(1, "pass", "a", "") };
	struct fixture f;
	struct compare c = make(&f, LIST("7.3", "7.4"), 1, subs);
	cleanup_free char *text = text_of(&c, &f);

	expect(text, "\n7.4: no new failure\n");
	assert_null(strstr(text, "fixed"));
}

/* Nothing to hold it against. */
static void test_alone(void **state)
{
	const char *const subs[] = { SUB(1, "fail", "a", "") "," SUB(2, "skip", "b", ""), SUB(1, "pass", "a", "") };
	struct fixture f;
	struct compare c = make(&f, LIST("7.3"), 1, subs);
	cleanup_free char *text = text_of(&c, &f), *good = NULL;

	expect(text, "\nfailed (1):\n  t: a\n");
	expect(text, "\nskipped (1):\n  t: 1: no reason is told\n");
	c = make(&f, LIST("7.3"), 1, subs + 1);
	good = text_of(&c, &f);
	expect(good, "\nnone failed, none was skipped\n");
}

/* A sub-test that only one of the two has. */
static void test_one_sided(void **state)
{
	const char *const subs[] = { SUB(1, "pass", "a", ""), SUB(1, "pass", "a", "") "," SUB(2, "pass", "b", "") };
	struct fixture f;
	struct compare c = make(&f, LIST("7.3", "7.4"), 1, subs);
	cleanup_free char *text = text_of(&c, &f);

	expect(text, "7.4: in one of the two only (1):\n  t: b: - -> pass\n");
}

static void test_no_selftests(void **state)
{
	const char *const subs[] = { "", "" };
	struct fixture f;
	struct compare c = make(&f, LIST("7.3", "7.4"), 1, subs);
	cleanup_free char *text = NULL;

	for (size_t i = 0; i < 2; i++) {
		free(f.run[i].workload_json);
		f.run[i].workload_json = xstrdup("{\"metrics\":{}}");
	}
	text = text_of(&c, &f);
	expect(text, "no run has verdicts of selftests\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),	  cmocka_unit_test(test_equal),
		cmocka_unit_test(test_alone),	  cmocka_unit_test(test_one_sided),
		cmocka_unit_test(test_no_selftests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
