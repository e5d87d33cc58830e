/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_CMD_KERNEL_H
#define MMRIG_CMD_KERNEL_H
/* What the subcommands of mmrig kernel share. */
#include <jansson.h>
#include <stdbool.h>

#include "harness/cmd/opt.h"
#include "harness/kernel/kernel.h"

/* Progress on stderr: one live line on a terminal, one line a step elsewhere. */
struct kernel_progress {
	bool terminal;
	bool quiet;
	char *text; /* the step shown last */
	int percent;
};
struct kernel_progress kernel_progress_begin(bool quiet);
/* Fits kernel_fetch_options.progress and build_request.progress. */
void kernel_progress_show(void *progress, const char *text, double percent);
void kernel_progress_end(struct kernel_progress *p);

/* With "build" for one that was built here. */
json_t *kernel_json(const struct kernel *k);
/* Prints and frees it; returns an exit status. */
int kernel_print_document(json_t *o, struct error *err);

extern const struct command command_kernel_build, command_kernel_diff, command_kernel_rm;

#endif
