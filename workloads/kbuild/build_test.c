// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "workloads/kbuild/build.c"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void assert_refused(struct job *job, const struct step_context *c, const char *param, const char *why)
{
	struct step_fault f = { 0 };

	assert_int_equal(kbuild_check(job_next(job, NULL, "workload"), c, &f), -1);
	if (param)
		assert_string_equal(f.param, param);
	else
		assert_null(f.param);
	if (!strstr(f.why, why))
		fail_msg("no \"%s\" in: %s", why, f.why);
}

static void test_check(void **state)
{
	static const struct {
		const char *config, *target, *scratch;
		uint64_t memory;
		const char *param, *why;
	} bad[] = {
		{ "tinyconfig", "-k mm/", "0", 512 << 20, "target", "\"-k\" is no target" },
		{ "tinyconfig", "CC=clang mm/", "0", 512 << 20, "target", "\"CC=clang\" is no target" },
		{ "tinyconfig --help", "mm/", "0", 512 << 20, "config", "\"--help\" is no target" },
		{ "tinyconfig", "'mm/", "0", 512 << 20, "target", "must be 1 to 32 targets" },
		{ "tinyconfig", "  ", "0", 512 << 20, "target", "must be 1 to 32 targets" },
		{ "tinyconfig", "mm/", "1048576", 512 << 20, "scratch", "0 or at least 256M" },
		{ "tinyconfig", "mm/", "0", 128 << 20, NULL, "at least 256M" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct step_context c = { .memory_bytes = bad[i].memory };
		struct job job = { 0 };

		job_add(&job, "workload", "config", bad[i].config, "target", bad[i].target, "scratch",
			bad[i].scratch, NULL);
		assert_refused(&job, &c, bad[i].param, bad[i].why);
		job_free(&job);
	}
}

static void test_good(void **state)
{
	struct step_context c = { .memory_bytes = 256 << 20 };
	struct step_fault f = { 0 };
	struct job job = { 0 };

	job_add(&job, "workload", "config", "tinyconfig kvm_guest.config", "target", "mm/ lib/math/", "scratch",
		"268435456", NULL);
	assert_int_equal(kbuild_check(job_next(&job, NULL, "workload"), &c, &f), 0);
	assert_int_equal(kbuild_scratch(job_next(&job, NULL, "workload")), 256 << 20);
	job_free(&job);
}

/* Of the time of the build and the agent together; a counter that is not there is no metric. */
static void test_metrics(void **state)
{
	struct kbuild b = { .misses_fd = -1, .agent_ns = 500000000, .setup_s = 12.5 };
	char text[512];

	b.program.real_s = 20;
	b.program.user_s = 30;
	b.program.system_s = 9.5;
	kbuild_metrics(&b, text, sizeof(text));
	assert_string_equal(text, "\"time\":20.000000,\"kbuild_real\":20.000000,\"kbuild_user\":30.000000,\"kbuild_system\":9.500000,"
				  "\"kbuild_setup\":12.500,\"agent_share\":1.2500");
	b.agent_ns = 0;
	kbuild_metrics(&b, text, sizeof(text));
	assert_null(strstr(text, "agent_share"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_metrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
