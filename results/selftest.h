/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_SELFTEST_H
#define MMRIG_SELFTEST_H
/*
 * What a run of kselftest-mm came to, out of run.workload_json; its form is told in
 * workloads/kselftest-mm/selftests.h. The text is a guest's: what does not fit the form is left out.
 */
#include <stdbool.h>
#include <stddef.h>

struct selftest_sub {
	unsigned int number; /* in its test, from 1 */
	/* "pass", "fail", "skip", "xfail", "xpass" */
	char *verdict;
	char *name, *context, *reason; /* ktap.h; "" where there is none */
	/*
	 * What it is called in every run: its context, or its name, or its reason, or "#3"; of several that are called
	 * alike, the second and later ones with " (2)". selftest_align().
	 */
	char *id;
};

struct selftest {
	char *name;
	char *verdict; /* those of a sub-test, "timeout", "crash", "broken", "not built" */
	char *why;     /* "" where there is nothing to say */
	double seconds;
	struct selftest_sub *sub;
	size_t nsubs;
};

struct selftest_run {
	struct selftest *test; /* in the order in which they ran */
	size_t n;
};

/* json may be NULL. 0, or -1: it is no JSON, or has no test in it. The caller frees either way. */
int selftest_read(const char *json, struct selftest_run *run);
void selftest_run_free(struct selftest_run *run);
struct selftest *selftest_find(const struct selftest_run *run, const char *name);
struct selftest_sub *selftest_find_sub(const struct selftest *t, const char *id);

/*
 * Names that fit across runs. Many tests leave out a sub-test's name where it is skipped, and some put
 * what they measured into it: one without name and context, or with a name that differs in digits alone,
 * is called as the one of the same number is in the first run that has as many sub-tests.
 */
void selftest_align(struct selftest_run *run, size_t n);

/* Does such a verdict, of a test or sub-test, speak against the kernel? */
bool selftest_is_bad(const char *verdict);
/*
 * What the guest lacked, as a reason tells: "swap", "huge pages", "memory", "nodes", "privilege",
 * "kernel support"; NULL: it does not say.
 */
const char *selftest_lack(const char *reason);

#endif
