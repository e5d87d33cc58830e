// SPDX-License-Identifier: GPL-2.0-only
/* What is refused before the boot. */
#include "guest/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "guest/job.h"

static void expect(const char *params, const char *param, const char *why)
{
	struct step_context c = { .memory_bytes = 512u << 20 };
	struct step_fault f = { .param = "untouched" };
	char text[256];
	struct job job;
	int bad, ret;

	snprintf(text, sizeof(text), "workload do=stress-highalloc share=950000 %s\n", params);
	assert_int_equal(job_parse(&job, text, &bad), 0);
	ret = workload_find("stress-highalloc")->check(job_next(&job, NULL, "workload"), &c, &f);
	job_free(&job);
	if (!why) {
		assert_int_equal(ret, 0);
		return;
	}
	assert_int_equal(ret, -1);
	assert_string_equal(f.param, param);
	if (!strstr(f.why, why))
		fail_msg("\"%s\" lacks \"%s\"", f.why, why);
}

static void test_ways(void **state)
{
	expect("order=9 kind=movable via=auto load_anon=300000", NULL, NULL);
	expect("order=9 kind=movable via=hugetlb", NULL, NULL);
	expect("order=4 kind=unmovable via=auto", NULL, NULL);
	expect("order=9 kind=unmovable via=thp", "order", "thp makes movable requests");
	expect("order=10 kind=movable via=auto", "order", "thp makes no requests of order 10");
	expect("order=8 kind=movable via=hugetlb", "order", "hugetlb makes no requests of order 8");
}

static void test_shares(void **state)
{
	expect("order=9 kind=movable load_anon=999999", NULL, NULL);
	expect("order=9 kind=movable load_anon=1000000", "load_anon", "load_anon is all of memory");
}

/* 512 MiB are 268435456 bytes twice; 0.3906 per cent of it is 2097000 bytes, a block of order 9 2097152. */
static void test_less_than_a_block(void **state)
{
	struct step_context c = { .memory_bytes = 512u << 20 };
	struct step_fault f = { 0 };
	struct job job;
	int bad;

	assert_int_equal(job_parse(&job, "workload do=stress-highalloc order=9 share=3906\n", &bad), 0);
	assert_int_equal(workload_find("stress-highalloc")->check(&job.line[0], &c, &f), -1);
	assert_string_equal(f.param, "share");
	assert_true(f.of_memory);
	job_free(&job);
	assert_int_equal(job_parse(&job, "workload do=stress-highalloc order=9 share=3907\n", &bad), 0);
	assert_int_equal(workload_find("stress-highalloc")->check(&job.line[0], &c, &f), 0);
	job_free(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_less_than_a_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
