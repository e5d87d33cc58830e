/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_PROGRAM_CGROUP_H
#define MMRIG_PROGRAM_CGROUP_H
/* The cgroup (version 2) of one program. */
#include "guest/program.h"

/* Makes p->cgroup with the limits of p->spec. 0, or -1 after task_fail(). */
int program_cgroup_make(struct program *p);
/* In the forked child, before chroot(): moves itself there. 0 or -1. */
int program_cgroup_join(const struct program *p);
/* CPU time so far, of all that ever ran in it; 0 where it cannot be read. */
uint64_t program_cgroup_usec(const struct program *p, const char *key);
/* Times that it ran into pids.max, and that the OOM killer took one for memory.max. */
uint64_t program_cgroup_pids_hit(const struct program *p);
uint64_t program_cgroup_oom_kills(const struct program *p);
void program_cgroup_kill(const struct program *p);
/* Of every program that there is. */
void program_cgroup_kill_all(void);
bool program_cgroup_is_empty(const struct program *p);
void program_cgroup_remove(struct program *p);
/* "KEY NUMBER" lines of such a file; 0 where there is none. */
uint64_t cgroup_number(const char *text, const char *key);

#endif
