/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_KERNEL_CACHE_H
#define MMRIG_KERNEL_CACHE_H
/*
 * The cache folder of kernels: ROOT/NAME/ is a finished tree (tree.h). What is being made stands in
 * ROOT/.new-PID/ and is renamed when finished, so a name is a whole kernel or nothing.
 */
#include <stdbool.h>

#include "harness/kernel/kernel.h"

/* Exit status 2 when a kernel cannot be called so. */
int cache_check_name(const char *name, struct error *err);
/*
 * Takes the lock of a root, waiting for another fetch (wait is called once before; may be NULL),
 * and sweeps what killed ones left. Returns the descriptor that holds it, or -1.
 */
int cache_lock(const char *root, void (*wait)(void *arg), void *arg, struct error *err);
/* An empty ROOT/.new-PID; only with the lock held. Heap. */
char *cache_begin(const char *root, struct error *err);
/* ROOT/.new-PID's folder `tree` becomes ROOT/name; k's paths follow. */
int cache_commit(const char *root, const char *tree, const char *name, struct kernel *k,
		 struct error *err);
/* Removes ROOT/.new-PID; errors do not matter, the next lock sweeps. */
void cache_end(char *scratch);
/* The cached kernel of this name: 1 found, 0 not there, -1 damaged. */
int cache_find(const char *root, const char *name, struct kernel *k, struct error *err);

#endif
