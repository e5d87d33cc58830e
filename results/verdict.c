// SPDX-License-Identifier: GPL-2.0-only
#include "results/verdict.h"

#include <string.h>

static const struct {
	const char *name;
	enum exit_status exit;
	const char *summary;
} verdicts[VERDICT_COUNT] = {
	[VERDICT_OK] = { "ok", EXIT_GOOD, "the agent reported the end of every phase" },
	[VERDICT_WORKLOAD_FAILED] = { "workload-failed", EXIT_AGAINST,
				      "the workload ended with an error of its own, named in the run" },
	[VERDICT_SPLAT] = { "splat", EXIT_AGAINST,
			    "the kernel reported a fault on its console: which, with the lines" },
	[VERDICT_STALL] = { "stall", EXIT_AGAINST, "no progress within the limit of the phase" },
	[VERDICT_BOOT_TIMEOUT] = { "boot-timeout", EXIT_NO_VERDICT,
				   "the agent never said hello" },
	[VERDICT_GUEST_LOST] = { "guest-lost", EXIT_NO_VERDICT,
				 "the VM went away without the agent's end record" },
	[VERDICT_UNSUPPORTED] = { "unsupported", EXIT_NO_VERDICT,
				  "the kernel or the guest lacks what the scenario asks for, by name" },
	[VERDICT_INFRA] = { "infra", EXIT_NO_VERDICT, "the host's fault, or a layout off its mark" },
	[VERDICT_INTERRUPTED] = { "interrupted", EXIT_INTERRUPTED, "ended by the user" },
};

const struct exit_status_row exit_status_table[] = {
	{ EXIT_GOOD, "done and good" },
	{ EXIT_AGAINST, "a verdict against the kernel: regression, splat, stall, gate failed" },
	{ EXIT_USAGE, "bad usage or bad input; nothing was started" },
	{ EXIT_INCONCLUSIVE, "inconclusive: the runs made do not decide it" },
	{ EXIT_NO_VERDICT, "no verdict: infrastructure, or kernel or guest lack what is asked for" },
	{ EXIT_SKIP, "skip, where git bisect run calls" },
	{ EXIT_INTERRUPTED, "interrupted by the user" },
};
const size_t exit_status_count = sizeof(exit_status_table) / sizeof(exit_status_table[0]);

const char *verdict_name(enum verdict v)
{
	return verdicts[v].name;
}

const char *verdict_summary(enum verdict v)
{
	return verdicts[v].summary;
}

enum exit_status verdict_exit(enum verdict v)
{
	return verdicts[v].exit;
}

bool verdict_parse(const char *name, enum verdict *v)
{
	for (int i = 0; i < VERDICT_COUNT; i++) {
		if (strcmp(verdicts[i].name, name) == 0) {
			*v = (enum verdict)i;
			return true;
		}
	}
	return false;
}

enum exit_status verdict_exit_of_set(const unsigned int *counts)
{
	static const enum exit_status order[] = { EXIT_INTERRUPTED, EXIT_AGAINST, EXIT_NO_VERDICT };

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		for (int v = 0; v < VERDICT_COUNT; v++)
			if (counts[v] && verdicts[v].exit == order[i])
				return order[i];
	return EXIT_GOOD;
}
