/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_STEPS_LEFT_H
#define MMRIG_STEPS_LEFT_H
/* The steps of a layout that a run did not come to the end of. */
#include <stdint.h>

#include "guest/job.h"
#include "results/run.h"

/*
 * Adds an object {"index","step","state"} to the run's layout for each step of the job, and for the
 * proof behind them, that has no report there. state: STEP_NOT_FINISHED where its beginning was told
 * (its index is below `begun`), else STEP_NOT_REACHED.
 */
void steps_left_to_run(const struct job *job, uint64_t begun, struct run *r);

#endif
