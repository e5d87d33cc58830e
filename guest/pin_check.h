/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_PIN_CHECK_H
#define MMRIG_PIN_CHECK_H
/* Do the pins stand where they were put? Read from pagemap; l->pfn says where they stood. */
#include <stdint.h>

#include "guest/layout.h"

/* How many pins there are; *moved: those that stand elsewhere now, or are gone. */
uint64_t pin_check(struct layout *l, uint64_t *moved);
/*
 * After the workload: a STEP "pins" of how many pins there are and how many moved. 0, or -1 after
 * task_fail(): a layout whose pins move was not the one that the run is about.
 */
int pin_check_report(struct layout *l);

#endif
