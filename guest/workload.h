/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_WORKLOAD_H
#define MMRIG_WORKLOAD_H
/*
 * What a workload's code gets. It runs in a child of PID 1 that was forked before the layout, so
 * whatever it needs to hold (histograms, buffers) it should make in prepare time: prepare() is
 * called right after the fork, run() at the go. setup() comes between, in the settle phase, on the
 * layout: there the scratch disk is mounted, and nothing is measured yet. It returns 0 without a message.
 *
 * run() reports through workload_result() once, or task_fail(child, "workload-failed", ...), and
 * tells its progress with task_progress(), whose counter must move while it is well: the host
 * takes a counter that stands still for a stall.
 */
#include "guest/job.h"
#include "guest/registry.h"
#include "guest/task.h"

struct workload_run {
	struct task_child *child;
	const struct job *job;
	const struct job_line *line; /* its parameters */
	uint64_t seed; /* known to run(), not yet to prepare() */
	void *data; /* prepare()'s own */
};

/* 0, or -1 after task_fail(). */
typedef int (*workload_fn)(struct workload_run *w);

/*
 * Sends the WIRE_RESULT: metrics is the body of a JSON object ("\"time\":1.5,..."), extra more
 * members of the result ("\"histogram\":[...]") or NULL.
 */
void workload_result(struct workload_run *w, const char *metrics, const char *extra);

/*
 * The same for what is known already, WIRE_PARTIAL: it is on the host even if the guest then hangs or
 * the workload is killed. What was told so need not be told again by workload_result(), which
 * replaces metrics and members of the same name.
 */
void workload_partial(struct workload_run *w, const char *metrics, const char *extra);

/*
 * Zeroed address space, for ever: nothing of it takes memory before it is written, and none of it is a huge
 * page. What is static would be locked by PID 1, and all statics together may reach over a huge page's room,
 * which each process would then get whole. NULL after task_fail().
 */
void *workload_room(struct workload_run *w, size_t bytes);

/*
 * Sleeps for up to 50 us, drawn from the state, which starts as the run's seed: forks of one layout
 * would otherwise be one sample ten times over.
 */
void workload_pause(uint64_t *random);

#endif
