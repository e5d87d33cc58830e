/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_PROFILE_H
#define MMRIG_PROFILE_H
/*
 * Where the guest's CPUs are, seen from outside: each vCPU's instruction pointer as QEMU tells it,
 * again and again, with nothing stopped. Under TCG the pointer is that of the last block of
 * translated code that was left for the outside, so that a function's share is right and the place
 * within it is not. The names come from the guest's own kallsyms, which is hostile text.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

struct profile *profile_new(void);
void profile_free(struct profile *p);
/* The answer to `info registers -a`. Returns how many CPUs were seen in it. */
size_t profile_add(struct profile *p, const char *registers);
/* Lines of guest/symbols.h; what is beyond 32 MiB in all is dropped. */
void profile_symbols(struct profile *p, const void *text, size_t len);
/*
 * {"samples": N, "locks": N, "top": [{"symbol", "samples"}...]}, the 40 most frequent; heap. locks:
 * samples within a function that waits for a lock. Addresses below the kernel's are "[user]", those
 * that no symbol covers "[unknown]". NULL: there is no sample.
 */
char *profile_json(struct profile *p);

#endif
