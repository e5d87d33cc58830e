/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_VERDICT_H
#define MMRIG_VERDICT_H
/* The one list of verdicts and of exit statuses; the manual prints it from the tables behind it. */
#include <stdbool.h>
#include <stddef.h>

enum exit_status {
	EXIT_GOOD = 0,		/* done, and nothing against the kernel */
	EXIT_AGAINST = 1,	/* a verdict against the kernel: regression, splat, stall, gate failed */
	EXIT_USAGE = 2,		/* bad usage or bad input; nothing was started */
	EXIT_INCONCLUSIVE = 3,	/* the runs made do not decide it */
	EXIT_NO_VERDICT = 4,	/* infrastructure, unsupported */
	EXIT_SKIP = 125,	/* for git bisect run: this revision cannot be tested */
	EXIT_INTERRUPTED = 130, /* ended by the user */
};

enum verdict {
	VERDICT_OK,
	VERDICT_WORKLOAD_FAILED,
	VERDICT_SPLAT,
	VERDICT_STALL,
	VERDICT_BOOT_TIMEOUT,
	VERDICT_GUEST_LOST,
	VERDICT_UNSUPPORTED,
	VERDICT_INFRA,
	VERDICT_INTERRUPTED,
	VERDICT_COUNT,
};

const char *verdict_name(enum verdict v);	 /* "ok", "workload-failed", ... */
const char *verdict_summary(enum verdict v); /* one line for the manual */
enum exit_status verdict_exit(enum verdict v);
bool verdict_parse(const char *name, enum verdict *v);

struct exit_status_row {
	enum exit_status status;
	const char *summary;
};
extern const struct exit_status_row exit_status_table[];
extern const size_t exit_status_count;

/*
 * The exit status of a whole run set: interrupted before all else, then a verdict against the
 * kernel, then no verdict, then good. counts has VERDICT_COUNT entries.
 */
enum exit_status verdict_exit_of_set(const unsigned int *counts);

#endif
