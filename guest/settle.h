/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_SETTLE_H
#define MMRIG_SETTLE_H
#include <stdint.h>

/*
 * Waits until the daemons of reclaim and compaction rest: three looks in a row, 100 ms apart, find
 * them asleep and their counters unchanged; limit_ms at the most. By PID 1, or by a child that it
 * forked after sampler_init().
 */
void settle(uint64_t limit_ms);

#endif
