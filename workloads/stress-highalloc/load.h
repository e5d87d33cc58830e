/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_HIGHALLOC_LOAD_H
#define MMRIG_HIGHALLOC_LOAD_H
/*
 * Processes that use memory as compilers do: they read files through the page cache, more than fits;
 * fill memory of their own and give it back a piece at a time; and make and delete small files, whose
 * inodes and dentries are slab.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "guest/task.h"

#define LOAD_MAX 64

struct load_shared {
	_Atomic uint64_t seed; /* not 0: go */
	_Atomic uint64_t read_bytes, anon_bytes, files; /* so far, of all */
};

struct load {
	struct task_child *child;
	unsigned int n;	     /* processes, 1 to LOAD_MAX */
	uint64_t anon_bytes; /* that all of them hold at a time */
	uint64_t file_bytes; /* that all of them read, again and again */
	uint64_t files;	     /* that all of them keep at a time */
	int file_fd;	     /* guest/zero_file.h */
	struct load_shared *shared;
	pid_t pid[LOAD_MAX];
};

/* Forks them; they wait. 0, or -1 after task_fail(). */
int load_prepare(struct load *l);
void load_start(struct load *l, uint64_t seed);
/* Ends them and deletes their files. How many had ended by themselves, which none should. */
unsigned int load_stop(struct load *l);

#endif
