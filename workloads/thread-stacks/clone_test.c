// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/thread-stacks/clone.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_meminfo(void **state)
{
	static const char text[] = "MemTotal:         491520 kB\n"
				   "KernelStack:        1024 kB\n"
				   "VmallocTotal:   34359738367 kB\n"
				   "VmallocUsed:        9876 kB\n"
				   "HugePages_Total:       0";

	assert_int_equal(meminfo_kb(text, "MemTotal"), 491520);
	assert_int_equal(meminfo_kb(text, "VmallocUsed"), 9876);
	assert_int_equal(meminfo_kb(text, "HugePages_Total"), 0);
	assert_int_equal(meminfo_kb(text, "Vmalloc"), -1);
	assert_int_equal(meminfo_kb(text, "Total"), -1);
	assert_int_equal(meminfo_kb("", "MemTotal"), -1);
	assert_int_equal(meminfo_kb("\n\nMemTotal", "MemTotal"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_meminfo) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
