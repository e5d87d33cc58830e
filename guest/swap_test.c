// SPDX-License-Identifier: GPL-2.0-only
#include "guest/swap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* What mkswap of util-linux writes for 8 MiB, besides its random UUID: offsets and bytes. */
static void test_header(void **state)
{
	static const unsigned char facts[12] = { 1, 0, 0, 0, 0xff, 7, 0, 0, 0, 0, 0, 0 };
	unsigned char *page = malloc(4096);

	memset(page, 0xa5, 4096);
	assert_int_equal(swap_header(page, 4096, 8 << 20), 0);
	assert_memory_equal(page + 1024, facts, sizeof(facts));
	assert_memory_equal(page + 4086, "SWAPSPACE2", 10);
	for (size_t i = 0; i < 4086; i++)
		if (i < 1024 || i >= 1036)
			assert_int_equal(page[i], 0);
	free(page);
}

static void test_page_size(void **state)
{
	unsigned char *page = malloc(65536);

	assert_int_equal(swap_header(page, 65536, 1 << 20), 0);
	assert_int_equal(page[1028], 15); /* 16 pages, the last of which is 15 */
	assert_memory_equal(page + 65526, "SWAPSPACE2", 10);
	free(page);
}

static void test_bounds(void **state)
{
	unsigned char *page = malloc(4096);

	assert_int_equal(swap_header(page, 4096, 0), -1);
	assert_int_equal(swap_header(page, 4096, 8191), -1);
	assert_int_equal(swap_header(page, 4096, 8192), 0);
	assert_int_equal(page[1028], 1);
	assert_int_equal(swap_header(page, 4096, 4096ULL << 32), 0);
	assert_int_equal(swap_header(page, 4096, (4096ULL << 32) + 4096), -1);
	free(page);
}

static void test_jobs(void **state)
{
	struct job job = { 0 };
	const char *verdict = NULL;
	char why[128] = "";

	assert_int_equal(swap_setup(&job, &verdict, why, sizeof(why)), 0);
	job_add(&job, "swap", "kind", "floppy", "size", "8388608", NULL);
	assert_int_equal(swap_setup(&job, &verdict, why, sizeof(why)), -1);
	assert_string_equal(verdict, "infra");
	assert_string_equal(why, "swap: unknown kind \"floppy\"");
	job_free(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_page_size),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_jobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
