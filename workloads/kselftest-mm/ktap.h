/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_KTAP_H
#define MMRIG_KTAP_H
/*
 * Reads what a kernel selftest writes: TAP version 13 and KTAP, as kselftest.h and kselftest_harness.h
 * have it, with whatever else the test prints between. Bytes come as they come; libc only.
 *
 * A result is one "ok" or "not ok" line. What a sub-test is called depends on its outcome: many tests
 * name it where it passes and give only a reason where it is skipped ("ok 3 # SKIP no swap"). Therefore a
 * result has a context as well: the last "# [RUN] ..." before it, or the "# Subtest: ..." that it
 * stands indented under; in a test that has no such line, "# [INFO] ..." between it and the result before.
 */
#include <stdbool.h>
#include <stddef.h>

#define KTAP_LINE_MAX 512 /* bytes of a line that count */
#define KTAP_TEXT_MAX 160 /* of a name, context or reason */

enum ktap_verdict { KTAP_PASS, KTAP_FAIL, KTAP_SKIP, KTAP_XFAIL, KTAP_XPASS, KTAP_VERDICTS };
/* "pass", "fail", "skip", "xfail", "xpass". */
extern const char *const ktap_verdict_names[];

struct ktap_result {
	unsigned int number; /* in its plan; as counted here where the line has none */
	enum ktap_verdict verdict;
	char name[KTAP_TEXT_MAX];    /* may be empty */
	char context[KTAP_TEXT_MAX]; /* may be empty */
	char reason[KTAP_TEXT_MAX];  /* of its directive, or the last diagnostic line before it; of a pass none */
};

struct ktap {
	void (*result)(void *arg, const struct ktap_result *r);
	void *arg;
	/* Read when all is fed: */
	unsigned int count[KTAP_VERDICTS];
	bool planned;
	unsigned int plan; /* of the outermost one; 0 with planned: the test skips itself */
	char bail[KTAP_TEXT_MAX];   /* reason of "Bail out!" or of "1..0 # SKIP"; may be empty */
	char last[KTAP_TEXT_MAX];   /* the last line that says something; may be empty */

	/* Its inner life. */
	char line[KTAP_LINE_MAX];
	size_t len;
	unsigned int next;
	char run[KTAP_TEXT_MAX], info[KTAP_TEXT_MAX], subtest[KTAP_TEXT_MAX], diagnostic[KTAP_TEXT_MAX];
};

void ktap_begin(struct ktap *k, void (*result)(void *arg, const struct ktap_result *r), void *arg);
void ktap_feed(struct ktap *k, const char *data, size_t len);
/* A last line without its newline counts. */
void ktap_end(struct ktap *k);
/* Results in all. */
unsigned int ktap_results(const struct ktap *k);

#endif
