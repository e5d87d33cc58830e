/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_PROGRAM_H
#define MMRIG_PROGRAM_H
/*
 * Runs a program of the toolbox (guest/toolbox.h), from a workload's child.
 *
 * It starts in a cgroup of its own, in the toolbox as its root, with an environment of PATH, HOME,
 * TMPDIR, LC_ALL and what the workload adds; stdin is empty. What it writes to stdout and stderr is
 * kept in one piece: the beginning and the end, with the number of bytes between. When it ends,
 * whatever it has left behind is killed and waited for, and its cgroup goes.
 *
 * Progress (task_progress()) is told while it is polled: the counter moves for each second in which
 * the program and its children used 10 % of a CPU or wrote output, or anything was read from a disk or
 * written to one. One that sleeps for ever, or hangs in the kernel, reaches the scenario's limit of
 * silence; one that spins, that of its phase.
 *
 * One that is told to stop (task_shared.stop) gets SIGINT, upon which many programs report what they have,
 * and is killed where it is still there 3 s later.
 *
 * Typical use, with a static struct program, since it is some 16 KiB:
 *
 *	program_run(&p, &spec, w->child)		start, poll, end
 *	if (program_check(&p, w->child, "fio") < 0)	OOM-killed, signalled, over its limits ...
 *		return -1;
 *	if (p.exit_status != 0)			its own exit status
 *		return task_fail(..., program_complaint(&p, NULL));
 *
 * Who has other work to do meanwhile calls program_start(), and program_poll() between. Every child of
 * the caller is waited for there, and what programs leave behind becomes its child.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "guest/task.h"

#define PROGRAM_HEAD_BYTES 8192
#define PROGRAM_TAIL_BYTES 4096
/* What a program may write to stdout and stderr; with more it is ended. */
#define PROGRAM_OUTPUT_MAX (256u << 20)
/* Of a program that forks without end; its children count, threads too. */
#define PROGRAM_PIDS_MAX 4096

struct program_spec {
	const char *const *argv; /* NULL-terminated; argv[0] is a path in the toolbox: "/usr/bin/fio" */
	const char *const *env;	 /* "NAME=VALUE", NULL-terminated, beside the four; may be NULL */
	const char *dir;	 /* working folder in the toolbox; NULL: /work */
	uint64_t memory_max_bytes; /* memory.max; 0: none, and its memory is not accounted at all */
	/* Gets all of its output, as it comes; may be NULL. */
	void (*take)(void *arg, const char *data, size_t len);
	void *take_arg;
	uint64_t pids_max; /* 0: PROGRAM_PIDS_MAX, or half of what the kernel has room for where that is less */
};

/* Bytes from the beginning and the end of a stream. Between: total - head_len - tail_len. */
struct program_output {
	char head[PROGRAM_HEAD_BYTES], tail[PROGRAM_TAIL_BYTES];
	size_t head_len, tail_len, tail_at; /* tail: a ring, its oldest byte at tail_at when it is full */
	uint64_t total;
};
void program_output_add(struct program_output *o, const char *data, size_t len);
/* Both ends as one text, with "[N bytes left out]" between; always NUL-terminated. Its length. */
size_t program_output_text(const struct program_output *o, char *text, size_t room);

struct program {
	/* Once it has ended: */
	int exit_status;	       /* of the program itself; 128 + signal where one ended it */
	int signal;		       /* that ended it; 0: none */
	double real_s, user_s, system_s; /* user and system: with all its children, dead or alive */
	uint64_t max_rss_bytes;	       /* the largest of its processes that were waited for */
	uint64_t oom_kills;	       /* within memory_max_bytes */
	uint64_t pids_max;	       /* that it had */
	bool pids_hit;		       /* it ran into that, and was ended for it */
	bool stopped;		       /* it was told to stop */
	int exec_errno;		       /* it could not be run at all; 0: it was */
	struct program_output output;

	/* Its inner life. */
	const struct program_spec *spec;
	struct task_child *child;
	pid_t pid;
	int pid_fd, output_fd;
	char cgroup[64];
	uint64_t start_ns, stop_ns, look_ns, look_usec, look_kib, look_output, progress;
};

/* 0, or -1 after task_fail(). spec must live as long as the program. */
int program_start(struct program *p, const struct program_spec *spec, struct task_child *child);
/*
 * Waits for timeout_ms at the most (0: not at all) for output or its end; takes what there is. true
 * while it runs.
 */
bool program_poll(struct program *p, int timeout_ms);
/* Ends it with all its children, at once; program_poll() is false from then on. */
void program_kill(struct program *p);
/* All of it; the caller is shielded from the OOM killer from here on. 0, or -1 after task_fail(). */
int program_run(struct program *p, const struct program_spec *spec, struct task_child *child);

/*
 * Did it end by itself, whatever its exit status? Else -1 after a task_fail() that says what ended
 * it, name in front.
 */
int program_check(const struct program *p, struct task_child *child, const char *name);
/*
 * The line of its output that tells best what it complains of: the first one that has "error",
 * "fail", "invalid", "unknown", "unrecognized" or "cannot" in it, else the last one. Lines that begin
 * with one of skip[] (NULL-terminated, may be NULL) do not count. Valid until the next call.
 */
const char *program_complaint(const struct program *p, const char *const *skip);

/*
 * A file that a program wrote, path as the program sees it; NUL-terminated. Its length, or -1: not
 * there, or longer than the room.
 */
long program_file(const char *path, char *text, size_t room);

#endif
