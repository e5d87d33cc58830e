/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_THPSCALE_REPORT_H
#define MMRIG_THPSCALE_REPORT_H
/* From the faults of a round to its metrics and the members of the result. */
#include "workloads/thpscale/round.h"

/*
 * Metrics: of the classes base, mthp, huge and of both (all of them, as mmtests calls it) the means in us,
 * fault_CLASS_N of the whole range and fault_first_CLASS_N of the first write; of those that were seen,
 * the shares huge_share_N and mthp_share_N in per cent; with nodes, local_share_CLASS_N. A class
 * without a fault has none. Ends without a comma; room is at least 2048.
 */
void round_metrics(const struct round *r, char *out, size_t room);
/*
 * "threads_N": {"anon_us", "file_us": means of the threads, "faults": {CLASS: n}, "fault": {CLASS:
 * histogram in ns}, "fault_first": {...}}; room is at least 30000.
 */
void round_extra(const struct round *r, char *out, size_t room);

#endif
