/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_VM_SPAWN_H
#define MMRIG_VM_SPAWN_H
/*
 * Starts a program that dies with the calling thread (PR_SET_PDEATHSIG), in a session of its own:
 * stdin /dev/null, stdout and stderr on `output`, fds[0..n) as 3, 4, 5 ..., all others closed,
 * signals at their defaults. libuv's uv_spawn() has no hook between fork and exec for this.
 */
#include <stddef.h>
#include <sys/types.h>

#include "results/util/error.h"

#define SPAWN_FDS_MAX 16

/*
 * argv[0] is a path. *pidfd is readable once the child has ended; the caller reaps.
 * EXIT_NO_VERDICT when it cannot start.
 */
int spawn_child(char *const *argv, int output, const int *fds, size_t n, pid_t *pid, int *pidfd,
		struct error *err);

#endif
