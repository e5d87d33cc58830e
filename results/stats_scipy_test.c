// SPDX-License-Identifier: GPL-2.0-only
/*
 * Against SciPy, to 1e-9: testdata/stats-scipy.json, made by ci/stats-scipy.py (which says what of
 * it comes from where), or the file given as the argument. ci/stats-check.sh makes fresh ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "results/run_fixture.h"
#include "results/stats_fixture.h"

#define TOLERANCE 1e-9

static const char *vector_file;
static json_t *doc;

static int load(void **state)
{
	size_t len = 0;
	json_error_t why;

	if (vector_file) {
		doc = json_load_file(vector_file, 0, &why);
	} else {
		char *text = fixture_read("stats-scipy.json", &len);

		doc = json_loadb(text, len, 0, &why);
		free(text);
	}
	if (!doc)
		print_error("%s:%d: %s\n", why.source, why.line, why.text);
	return doc ? 0 : -1;
}

static int unload(void **state)
{
	json_decref(doc);
	return 0;
}

static double *numbers(const json_t *o, const char *key, size_t *n)
{
	const json_t *a = json_object_get(o, key);
	double *v;

	*n = json_array_size(a);
	v = xcalloc(*n + 1, sizeof(*v));
	for (size_t i = 0; i < *n; i++)
		v[i] = json_number_value(json_array_get(a, i));
	return v;
}

/* null, and what is not there, is NAN. */
static double number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static void expect(const char *name, const char *what, double got, const json_t *o, const char *key)
{
	cleanup_free char *text = str_printf("%s: %s %s", name, what, key);

	expect_near(got, number(o, key), TOLERANCE, text);
}

static void expect_summary(const char *name, const char *side, const double *v, size_t n,
			   enum counter_better better, const json_t *want)
{
	struct stats_summary s;

	assert_int_equal(stats_summarise(v, n, better, &s, NULL), 0);
	assert_int_equal(s.n, n);
	expect(name, side, s.min, want, "min");
	expect(name, side, s.max, want, "max");
	expect(name, side, s.mean, want, "mean");
	expect(name, side, s.median, want, "median");
	expect(name, side, s.stddev, want, "stddev");
	expect(name, side, s.best95, want, "best95");
	expect(name, side, s.hmean, want, "hmean");
	expect(name, side, s.hstddev, want, "hstddev");
	if (!isnan(s.hmean))
		expect(name, side, s.best95_hmean, want, "best95_hmean");
	if (n > 1 && s.mean != 0)
		expect(name, side, s.coeffvar, want, "coeffvar");
}

static void expect_interval(const char *name, const json_t *shift, const char *key,
			    const struct stats_shift *s, double level)
{
	const json_t *want = json_object_get(shift, key);
	cleanup_free char *text = str_printf("%s: %s", name, key);

	if (json_is_null(want)) {
		expect_near(s->low, NAN, 0, text);
		assert_int_equal(s->method, STATS_NONE);
	} else if (want) {
		expect_near(s->low, json_number_value(json_array_get(want, 0)), TOLERANCE, text);
		expect_near(s->high, json_number_value(json_array_get(want, 1)), TOLERANCE, text);
		assert_string_equal(stats_method_name(s->method),
				    json_string_value(json_object_get(shift, "method")));
		assert_true(s->confidence >= level - 1e-12);
	}
}

static void check_vector(const json_t *v)
{
	const char *name = json_string_value(json_object_get(v, "name"));
	const char *better = json_string_value(json_object_get(v, "better"));
	const json_t *rank = json_object_get(v, "rank"), *shift = json_object_get(v, "shift");
	enum counter_better dir = strcmp(better, "higher") == 0 ? BETTER_HIGHER : BETTER_LOWER;
	size_t n, m;
	cleanup_free double *base = numbers(v, "base", &n), *head = numbers(v, "head", &m);
	struct stats_rank r = rank_of(base, n, head, m);
	bool exact = json_object_get(rank, "exact");

	expect_summary(name, "base", base, n, dir, json_object_get(v, "base_summary"));
	expect_summary(name, "head", head, m, dir, json_object_get(v, "head_summary"));
	expect(name, "rank", r.u, rank, "u");
	expect(name, "rank", r.delta, rank, "delta");
	/* Where SciPy can count no further because of the ties, ours may still. */
	if (exact || r.method == STATS_NORMAL)
		expect(name, "rank", r.p, rank, exact ? "exact" : "normal");
	assert_int_equal(exact && r.method != STATS_EXACT, 0);
	for (int i = 0; i < 3; i++) {
		static const double level[] = { 0.90, 0.95, 0.99 };
		static const char *const key[] = { "ci90", "ci95", "ci99" };
		struct stats_shift s = shift_of(base, n, head, m, level[i]);

		expect(name, "shift", s.estimate, shift, "estimate");
		expect_interval(name, shift, key[i], &s, level[i]);
	}
}

static void test_vectors(void **state)
{
	const json_t *all = json_object_get(doc, "vectors");

	assert_true(json_array_size(all) >= 30);
	for (size_t i = 0; i < json_array_size(all); i++)
		check_vector(json_array_get(all, i));
}

static void test_holm(void **state)
{
	const json_t *all = json_object_get(doc, "holm");

	assert_true(json_array_size(all) >= 5);
	for (size_t i = 0; i < json_array_size(all); i++) {
		size_t n, same;
		cleanup_free double *p = numbers(json_array_get(all, i), "p", &n);
		cleanup_free double *want = numbers(json_array_get(all, i), "adjusted", &same);

		assert_int_equal(n, same);
		stats_holm(p, n, p, NULL);
		for (size_t k = 0; k < n; k++)
			expect_near(p[k], want[k], TOLERANCE, "Holm");
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_holm),
	};

	vector_file = argc > 1 ? argv[1] : NULL;
	return cmocka_run_group_tests(tests, load, unload);
}
