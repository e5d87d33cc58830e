/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_SWAP_H
#define MMRIG_SWAP_H
/* Swap in the guest's own memory: zram, or the RAM disk of brd. Libc and plain system calls. */
#include <stddef.h>
#include <stdint.h>

#include "guest/job.h"

/*
 * Sets up what the `swap` line of the job asks for, and compares the total with it. 0 (also without
 * such a line), or -1: *verdict is "unsupported" or "infra", and why says what.
 */
int swap_setup(const struct job *job, const char **verdict, char *why, size_t room);
/*
 * The first page of a swap device of so many bytes, as mkswap writes it: version 1, no bad pages, no
 * label. page has page_size bytes. -1 when it is too small or too large to be one.
 */
int swap_header(void *page, size_t page_size, uint64_t bytes);

#endif
