/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_BOOT_H
#define MMRIG_BOOT_H
/* What the agent does before its first phase. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/job.h"

void boot_mounts(void);
/*
 * Loads /modules/NN-name.ko in the order of their names, each with the parameters that the kernel's
 * command line has for it (NAME.param=value); one that fails is said on the console.
 */
void boot_modules(void);
/* A line on the kernel's console. */
void boot_say(const char *text);
/* 0, or -1 with what is missing, by name. */
int boot_needs(const struct job *job, char *why, size_t room);
/* Writes the `sysctl at=AT` lines and reads each back. */
int boot_sysctls(const struct job *job, const char *at, char *why, size_t room);
/* Remembers the threads kswapd* and kcompactd*, to be called once they exist. */
void boot_find_daemons(void);
/* All of them sleep; true where none was found. */
bool boot_daemons_asleep(void);
/* Sum of the background daemons' counters in a vmstat text. */
uint64_t boot_sum_keys(const char *vmstat);

#endif
