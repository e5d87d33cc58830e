/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_LAYOUT_TABLE_H
#define MMRIG_LAYOUT_TABLE_H
/* What the steps of a layout asked for and got, for people. Heap strings; guest text is escaped. */
#include "results/run.h"

/*
 * A row for each thing that a step asked for: asked, got, the error, the tolerance by which it was
 * judged, the step's guest seconds; where several numbers were judged together, a row "in all" with error and
 * tolerance. Pages of a mix that stand outside of the chosen pageblocks, where there are some, have a row too.
 * A step that was not reached, or not finished, is a row that says so. Below, how each step did it, and why
 * one failed. "-" where a step did not say. A run without a layout: one line that says so.
 */
char *layout_table(const struct run *r);
/* How many of its steps were not reached, or not finished; the proof at the end is one. */
size_t layout_steps_left(const struct run *r);

#endif
