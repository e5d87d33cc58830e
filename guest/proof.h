/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_PROOF_H
#define MMRIG_PROOF_H
/*
 * The proof at the end of a layout: every page that was given back must be free in the kernel's own flags,
 * but for what may sit on the per-CPU lists (free too, on no buddy list). What shape and age give back is
 * not among them: see region_forget_freed(). The same pass over the flags makes the map, which is sent.
 */
#include "guest/layout.h"

/* Reports it as step `index`; lowered: what pcp_limit_lower() said. 0, or -1 with WIRE_FAIL sent. */
int proof_run(struct layout *l, int index, bool lowered);
/*
 * The report. Of the pages given back, `buddy` are on a buddy list (-1: cannot be told), and pcp pages are
 * on the per-CPU lists. Where none was given back nothing is asked for, and nothing judged.
 */
void proof_judge(struct layout *l, int64_t buddy, uint64_t pcp, bool lowered, struct step_report *r);

#endif
