/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_RESULTS_BESIDE_H
#define MMRIG_RESULTS_BESIDE_H
/*
 * The workload that ran beside the measured one (`background`), as the guest reported it: "background":
 * {"workload": NAME, "stopped": bool}. It comes from the guest: the name may be any text.
 */
#include "results/run.h"

/*
 * Of the runs that ended ok: "stress-ng, at work to the end in 3 of 3 runs". Heap; NULL: none had one. One
 * that ended by itself before was no load for part of what was measured.
 */
char *beside_text(const struct runset *set);

#endif
