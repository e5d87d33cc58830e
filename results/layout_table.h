/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_LAYOUT_TABLE_H
#define MMRIG_LAYOUT_TABLE_H
/* What the steps of a layout asked for and got, for people. Heap strings; guest text is escaped. */
#include "results/run.h"

/*
 * A row for each thing that a step asked for: asked, got, what it is off by, the step's guest
 * seconds; below, how each step did it, and why one failed. "-" where a step did not say what it
 * got. A run without a layout: one line that says so.
 */
char *layout_table(const struct run *r);

#endif
