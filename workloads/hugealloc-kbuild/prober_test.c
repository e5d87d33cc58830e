// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "workloads/hugealloc-kbuild/prober.h"

/* 2 4 4 4 5 5 7 9 have mean 5 and sum of squares 32. */
static void test_moments(void **state)
{
	static const uint64_t ns[] = { 2000, 4000, 4000, 4000, 5000, 5000, 7000, 9000 };
	struct prober *p = calloc(1, sizeof(*p));
	char text[512];

	assert_int_equal(prober_metrics(p, text, sizeof(text)), 0);
	for (size_t i = 0; i < 8; i++)
		prober_add(p, ns[i], i % 4 != 0);
	assert_true(prober_metrics(p, text, sizeof(text)) > 0);
	assert_string_equal(text, ",\"hugealloc_mean\":5000.0,\"hugealloc_stddev\":2138.1,\"hugealloc_max\":9000,"
				  "\"hugealloc_share\":75.0000,\"hugealloc_attempts\":8");
	free(p);
}

/* One value has no spread; a constant none either, however large it is. */
static void test_no_spread(void **state)
{
	struct prober *p = calloc(1, sizeof(*p));

	prober_add(p, 5, true);
	assert_true(prober_stddev(p) == 0);
	for (int i = 0; i < 1000; i++)
		prober_add(p, 5, true);
	assert_true(prober_stddev(p) == 0 && p->mean_ns == 5);
	memset(p, 0, sizeof(*p));
	for (int i = 0; i < 1000; i++)
		prober_add(p, 3000000000000 + (uint64_t)(i % 2), true);
	assert_true(prober_stddev(p) > 0.49 && prober_stddev(p) < 0.51);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moments),
		cmocka_unit_test(test_no_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
