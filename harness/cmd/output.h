/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_CMD_OUTPUT_H
#define MMRIG_CMD_OUTPUT_H
#include "results/util/error.h"

/*
 * The value of --output, before any work is done: output_check(), and the run sets of $MMRIG_RESULTS
 * are no place for it. input may be NULL. -1, EXIT_USAGE.
 */
int command_check_output(const char *path, const char *const *input, struct error *err);

/*
 * The name must not end as that of a file of another form does: what is written is told by is ("the picture is
 * SVG"), and ends in `suffix`. Names without such an end are good. -1, EXIT_USAGE.
 */
int command_check_form(const char *path, const char *suffix, const char *is, struct error *err);

#endif
