/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_FULL_H
#define MMRIG_FULL_H
/*
 * Memory filled as far down as it goes, so that what is given back afterwards is all that is free.
 * The watermarks are lowered for the time being, else tens of MiB stay free that nobody chose
 * (44 MB on a guest of 2 GiB with huge pages on). The caller's thread stays on one CPU, so that only
 * one list of each zone holds pages that it has given back.
 */
#include "guest/layout.h"

/*
 * Lowers, and takes what can be had; 0, or -1 with r->why (watermarks are as before then). May be
 * called again before full_end().
 */
int full_begin(struct layout *l, struct step_report *r);
/*
 * As before; full_begin() must have succeeded. Only once enough was given back: with memory full and
 * the watermarks up again, the next allocation of any process is an OOM kill.
 */
void full_end(void);

#endif
