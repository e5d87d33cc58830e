/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_HOST_H
#define MMRIG_HOST_H
/* What the host can give, checked before a VM starts. */
#include <stddef.h>
#include <stdint.h>

#include "results/store.h"

/* MemAvailable of /proc/meminfo, bytes; 0 when unknown. */
uint64_t host_memory_available(void);
/*
 * A guest of this size fits: guest memory, QEMU's own, and a margin of 256 MiB for the host.
 * EXIT_USAGE with the largest --memory that would fit.
 */
int host_check_memory(uint64_t guest_bytes, struct error *err);
/* Room for so many runs (16 MiB each: console at most 3 MiB, samples, database). EXIT_NO_VERDICT. */
int host_check_disk(const struct store *s, size_t runs, struct error *err);

#endif
