// SPDX-License-Identifier: GPL-2.0-only
#include "guest/proof.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static struct step_report judged(uint64_t nfreed, int64_t buddy, const char *const *steps, struct layout *l)
{
	static struct job job;
	struct step_report r = { .ok = true };

	job_free(&job);
	job = (struct job){ 0 };
	for (; steps && *steps; steps++)
		job_add(&job, "step", "do", *steps, NULL);
	*l = (struct layout){ .job = &job, .nfreed = nfreed, .block_order = 9, .tolerance_ppm = 20000 };
	l->zones.n = 1;
	l->zones.zone[0] = (struct zone){ .name = "DMA32", .free = 2000, .managed = 9000, .whole = 1024 };
	judge_begin(l);
	proof_judge(l, buddy, 40, true, &r);
	return r;
}

/* 970 on the buddy lists and 40 that wait on those of the CPUs are all of 1000; 939 leave 2.1 % open. */
static void test_given_back(void **state)
{
	struct layout l;
	struct step_report r = judged(1000, 970, NULL, &l);

	assert_true(r.ok && l.judged.made && l.judged.error_ppm == 0);
	assert_string_equal(r.asked, "\"free_pages\":1000");
	assert_string_equal(r.got, "\"free_pages\":970,\"pcp_pages\":40,\"whole_blocks\":2");
	assert_string_equal(r.how, "/proc/kpageflags; the 40 pages on the per-CPU lists, held short, count as free");
	assert_true(judged(1000, 940, NULL, &l).ok);
	r = judged(1000, 939, NULL, &l);
	assert_false(r.ok);
	assert_int_equal(l.judged.error_ppm, 21000);
	assert_non_null(strstr(r.why, "1000 pages were given back, 939 of them are free and 40 pages sit"));
	r = judged(1000, -1, NULL, &l);
	assert_false(r.ok);
	assert_non_null(strstr(r.why, "cannot read /proc/kpageflags"));
}

/* It does not say that 0 of 0 pages were found. */
static void test_nothing(void **state)
{
	static const struct {
		const char *steps[4], *how;
	} t[] = {
		{ { "fill", "pin" }, "no page was given back that must be free where it stands" },
		{ { "fill", "shape" },
		  "no page was given back that must be free where it stands; what is free after shape is read back in "
		  "the step's own row" },
		{ { "fill", "age" },
		  "no page was given back that must be free where it stands; what is free after age is read back in "
		  "the step's own row" },
		{ { "age", "shape" },
		  "no page was given back that must be free where it stands; what is free after shape and age is read "
		  "back in the step's own row" },
	};
	struct layout l;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct step_report r = judged(0, 0, t[i].steps, &l);

		assert_true(r.ok);
		assert_false(l.judged.made);
		assert_string_equal(r.asked, "");
		assert_string_equal(r.got, "\"pcp_pages\":40,\"whole_blocks\":2");
		assert_string_equal(r.how, t[i].how);
		assert_string_equal(r.why, "");
	}
	assert_false(judged(0, -1, t[0].steps, &l).ok);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_given_back),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
