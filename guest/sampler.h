/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_SAMPLER_H
#define MMRIG_SAMPLER_H
/*
 * Snapshots and series of the kernel's counters. Every file is opened, and read once, at the
 * start: a later read allocates nothing, in the kernel neither (the seq_file keeps its buffer).
 * What is read goes to a locked arena and leaves over the wire only when sampler_flush() is
 * called, so that reporting does not disturb what is measured.
 */
#include <stddef.h>
#include <stdint.h>

#include "guest/wire.h"

/* arena_bytes of memory, faulted in. 0 or -1. Files that this kernel lacks are left out. */
int sampler_init(size_t arena_bytes);
/* Every file. */
void sampler_snapshot(enum wire_phase phase, enum wire_edge edge);
/* vmstat, buddyinfo and PSI only. Flushes by itself when the arena is three quarters full. */
void sampler_series(enum wire_phase phase);
void sampler_flush(void);
/* Guest seconds spent in sampler_snapshot() and sampler_series() so far. */
double sampler_seconds(void);
/* The newest vmstat text of the arena's owner, re-read now into a static buffer. NULL: unreadable. */
const char *sampler_vmstat(void);

#endif
