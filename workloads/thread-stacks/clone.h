/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_THREAD_CLONE_H
#define MMRIG_THREAD_CLONE_H
/*
 * Threads that do nothing but sleep, for the sake of their kernel stacks (16 KiB, order 2, on
 * x86-64). Where the kernel has CONFIG_VMAP_STACK it takes the pages one by one from vmalloc(), and
 * nobody asks for order 2; else it asks for the block with GFP_KERNEL|__GFP_ZERO, accounted, which
 * up to order 3 does not fail: it reclaims and compacts until the OOM killer ends somebody.
 */
#include "workloads/alloc-order/method.h"

#define THREAD_STACK_ORDER 2

/* `via: clone`: each attempt is one thread more. */
extern const struct alloc_method alloc_clone;

/*
 * Does the kernel take stacks from vmalloc()? Found by starting threads, in a process that is ended
 * again. 1, 0, or -1 with errno.
 */
int stacks_are_vmapped(void);

/* kB that /proc/meminfo has for a key ("VmallocUsed"); -1 where it has none. */
int64_t meminfo_kb(const char *text, const char *key);

#endif
