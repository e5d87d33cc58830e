/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_CMD_RESULTS_H
#define MMRIG_CMD_RESULTS_H
/* Commands below `mmrig results` that stand in files of their own. */
#include "harness/cmd/opt.h"

extern const struct command command_results_gc, command_results_export, command_results_import;

#endif
