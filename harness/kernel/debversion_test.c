// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "harness/kernel/debversion.h"

/* Each list is oldest first; the order is that of `dpkg --compare-versions`. */
static const char *const kernels[] = {
	"6.1.170-1",	     "6.12.43-1~bpo12+1", "6.12.43-1",	     "6.12.90-1~bpo12+1",
	"6.12.90-2~bpo12+1", "6.12.117-1",	  "6.16~rc7-1~exp1", "6.16.3-1~bpo13+1",
	"6.16.12-1~bpo13+1", "7.3~rc7-1~exp1",	  "7.3-1~exp1",	     "7.3.4-1~bpo12+1",
	"7.3.4-1~bpo13+1",   "7.3.4-1",		  "7.3.4-1+b1",	     "7.3.10-1",
	"1:0.1-1",
};
static const char *const odd[] = {
	"1.0~~", "1.0~", "1.0", "1.0a", "1.0+", "1.0.", "1.0.1",
};

static int sign(int x)
{
	return (x > 0) - (x < 0);
}

static void check_order(const char *const *list, int n)
{
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			assert_int_equal(sign(debversion_compare(list[i], list[k])), sign(i - k));
}

static void order_is_dpkgs(void **state)
{
	check_order(kernels, sizeof(kernels) / sizeof(*kernels));
	check_order(odd, sizeof(odd) / sizeof(*odd));
}

static void leading_zeros_do_not_count(void **state)
{
	assert_int_equal(debversion_compare("6.08-1", "6.8-1"), 0);
	assert_int_equal(debversion_compare("0:6.8-1", "6.8-1"), 0);
	assert_true(debversion_compare("6.8", "6.8-1") < 0);
	assert_int_equal(debversion_compare("6.8-0", "6.8"), 0);
}

static void series_matches_at_a_point(void **state)
{
	assert_true(debversion_matches("7.3.4-1~bpo13+1", "7.3"));
	assert_true(debversion_matches("7.3-1", "7.3"));
	assert_true(debversion_matches("7.3~rc7-1~exp1", "7.3"));
	assert_true(debversion_matches("7.3.4-1~bpo13+1", "7.3.4"));
	assert_false(debversion_matches("7.30-1", "7.3"));
	assert_false(debversion_matches("7.3.40-1", "7.3.4"));
	assert_false(debversion_matches("7.2-7.3", "7.3"));
	assert_false(debversion_matches("7.3.4-1", ""));
}

static void whole_version_matches_itself_only(void **state)
{
	assert_true(debversion_matches("7.3.4-1~bpo13+1", "7.3.4-1~bpo13+1"));
	assert_false(debversion_matches("7.3.4-1~bpo13+1", "7.3.4-1"));
	assert_false(debversion_matches("7.3.4-1.1", "7.3.4-1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_is_dpkgs),
		cmocka_unit_test(leading_zeros_do_not_count),
		cmocka_unit_test(series_matches_at_a_point),
		cmocka_unit_test(whole_version_matches_itself_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
