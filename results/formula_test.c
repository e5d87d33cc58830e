// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "results/counter.h"
#include "results/formula.h"
#include "results/util/cleanup.h"

/* a is 12, b 4, zero 0; nothing else exists. */
static const double *lookup(void *arg, const char *name)
{
	static const double a = 12, b = 4, zero = 0;

	return strcmp(name, "a") == 0	 ? &a :
	       strcmp(name, "b") == 0	 ? &b :
	       strcmp(name, "zero") == 0 ? &zero :
					   NULL;
}

static void expect(const char *text, double at_zero, enum formula_result result, double value)
{
	struct formula_env env = { lookup, NULL, at_zero };
	double got = -77;
	enum formula_result r = formula_eval(text, &env, &got);

	if (r != result || (r == FORMULA_VALUE && got != value))
		fail_msg("%s: result %d, value %f", text, r, got);
}

static void test_arithmetic(void **state)
{
	expect("a", NAN, FORMULA_VALUE, 12);
	expect("100 * a / b", NAN, FORMULA_VALUE, 300);
	expect("a - b - 3", NAN, FORMULA_VALUE, 5);
	expect("a / b / 2", NAN, FORMULA_VALUE, 1.5);
	expect("2 + a * b", NAN, FORMULA_VALUE, 50);
	expect("(2 + a) * (b - 1.5)", NAN, FORMULA_VALUE, 35);
	expect("b - a", NAN, FORMULA_VALUE, -8);
	expect("zero", NAN, FORMULA_VALUE, 0);
}

static void test_absent_and_zero(void **state)
{
	expect("a + none", 100, FORMULA_ABSENT, 0);
	expect("none / zero", 100, FORMULA_ABSENT, 0);
	expect("a / zero", NAN, FORMULA_UNDEFINED, 0);
	expect("100 * zero / zero", 100, FORMULA_VALUE, 100);
	expect("a / (b - 4)", 0, FORMULA_VALUE, 0);
	expect("zero / a", 100, FORMULA_VALUE, 0);
	expect("none | b", NAN, FORMULA_VALUE, 4);
	expect("a | b", NAN, FORMULA_VALUE, 12);
	expect("a | none", NAN, FORMULA_VALUE, 12);
	expect("none | nil | b", NAN, FORMULA_VALUE, 4);
	expect("none | nil", NAN, FORMULA_ABSENT, 0);
	expect("none + (none | b)", NAN, FORMULA_ABSENT, 0);
	expect("a + (none | b)", NAN, FORMULA_VALUE, 16);
	/* A division that is not looked at does no harm, and one that is, does. */
	expect("a | a / zero", NAN, FORMULA_VALUE, 12);
	expect("none / zero | b", NAN, FORMULA_VALUE, 4);
	expect("a / zero | b", NAN, FORMULA_UNDEFINED, 0);
}

static void test_malformed(void **state)
{
	static const char *const bad[] = { "",	     "a +",  "a b", "(a",  "a)",    "* a",
					   "a ** b", "a / ", "| a", "a |", "a & b", "()" };
	char deep[100];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		expect(bad[i], NAN, FORMULA_MALFORMED, 0);
	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	expect(deep, NAN, FORMULA_MALFORMED, 0);
}

static const double *any(void *arg, const char *name)
{
	static const double three = 3;
	const struct counter *of = arg, *c = counter_find(name);

	if (strcmp(name, "seconds") != 0 && (!c || (c->formula && c >= of)))
		fail_msg("%s: %s is no metric, or one that is derived later", of->name, name);
	return &three;
}

/* Every formula of the catalogue can be read, and stands on what is there before it. */
static void test_catalogue(void **state)
{
	size_t n = 0;

	for (size_t i = 0; i < counter_count; i++) {
		struct formula_env env = { any, (void *)&counter_table[i], 0 };
		double value;

		if (!counter_table[i].formula)
			continue;
		assert_int_equal(formula_eval(counter_table[i].formula, &env, &value),
				 FORMULA_VALUE);
		assert_int_equal(*counter_table[i].sources == NULL, 1);
		n++;
	}
	assert_true(n > 25);
}

static const double *some(void *arg, const char *name)
{
	static const double value[] = { 0, 1, 5e300, -2 };
	unsigned int pick = (unsigned int)rand() % 6;

	return pick < 4 ? &value[pick] : NULL;
}

/* Any text: an answer, and a finite one. */
static void test_mutated(void **state)
{
	static const char piece[][4] = { "a", "b ", "(", ")", "*", "/",	  "+",	"-",
					 "|", " ",  "7", "0", ".", "1.5", "_x", "\xff" };
	struct formula_env env = { some, NULL, NAN };

	srand(1);
	for (int round = 0; round < 20000; round++) {
		char text[64] = "";
		double value = NAN;

		for (int i = rand() % 12; i >= 0; i--)
			strcat(text, piece[(size_t)rand() % ARRAY_SIZE(piece)]);
		if (formula_eval(text, &env, &value) == FORMULA_VALUE)
			assert_true(isfinite(value));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arithmetic), cmocka_unit_test(test_absent_and_zero),
		cmocka_unit_test(test_malformed),  cmocka_unit_test(test_catalogue),
		cmocka_unit_test(test_mutated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
