/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_TASK_H
#define MMRIG_TASK_H
/*
 * The agent's children: one holds the layout's memory, one runs the workload. Both are forked at
 * start-up, before memory is scarce, and wait for a word. PID 1 never does work that can be
 * killed for want of memory; what a child has to say comes through a pipe, its progress through a
 * shared page, so that asking costs nothing.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "guest/wire.h"

/* Child messages beside the wire types that PID 1 passes on as they are. */
#define TASK_DONE 128 /* empty payload: finished well */

struct task_shared {
	_Atomic uint64_t done, total;
	_Atomic uint64_t seed; /* of the run; a fork gets its own before it is told to go */
	_Atomic bool stop;     /* a background whose time is over: what it has found by now is its result */
};

struct task {
	pid_t pid;
	int go_fd;     /* PID 1 writes one byte to start it */
	int report_fd; /* PID 1 reads messages: u8 type, u16 length, payload */
	struct task_shared *shared;
};

/* What the child sees. */
struct task_child {
	int go_fd, report_fd;
	struct task_shared *shared;
};

/* Forks; the child calls fn and then waits for ever, so that its memory stays as it is. */
int task_start(struct task *t, void (*fn)(struct task_child *c, void *arg), void *arg,
	       int oom_score_adj);
void task_go(struct task *t);

/* Child side. */
void task_wait_go(struct task_child *c);
void task_send(struct task_child *c, int type, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* len below TASK_MESSAGE_MAX */
void task_send_bytes(struct task_child *c, int type, const void *payload, size_t len);
/* WIRE_FAIL with a verdict ("infra", "workload-failed", "unsupported") and a reason. Returns -1. */
int task_fail(struct task_child *c, const char *verdict, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void task_progress(struct task_child *c, uint64_t done, uint64_t total);

/* PID 1: one message, or 0 when there is none yet, or -1 when the child is gone. */
#define TASK_MESSAGE_MAX 32768
int task_read(struct task *t, char *payload, uint32_t *len);

/* Copies text into a JSON string body (no quotes): escapes, drops what does not fit. */
void json_escape(char *out, size_t room, const char *text);
uint64_t mono_ns(void);

#endif
