/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_BACKGROUND_H
#define MMRIG_BACKGROUND_H
/*
 * A second workload, beside the one that is measured: the job's line `background`, with the parameters of
 * that workload and warm_up_ms. PID 1:
 *
 *	background_prepare()	before the layout: its process, and its prepare()
 *	background_setup()	settle phase: its setup()
 *	background_start()	the same, last: lets it run, and waits for the end of its warm-up
 *	background_poll()	while the other one is measured
 *	background_stop()	collect phase: tells it to stop, and sends what it came to
 *
 * A background that fails before it is told to stop fails the run; one that ends by itself has its result,
 * and how long it was there. What it said is sent as WIRE_PARTIAL, member "background": {"workload": NAME,
 * "seconds": S, "stopped": bool, "result": what it told, "failed": the failure of one that was told to stop}.
 */
#include "guest/workload.h"

/* Of the three: the verdict and the reason where the run is at its end. Text stays until the next call. */
struct background_end {
	const char *verdict;
	char why[512];
};

/* 0 also where the job has none; -1: no such workload, or no process. */
int background_prepare(const struct job *job, uint64_t seed);
bool background_is_there(void);
void background_seed(uint64_t seed);
/* Its report pipe, for poll(); -1: none. */
int background_fd(void);
/* 0, or -1 with *end. beat() is called twice a second while they wait. */
int background_setup(void (*beat)(const struct task *t), struct background_end *end);
int background_start(void (*beat)(const struct task *t), struct background_end *end);
int background_poll(struct background_end *end);
void background_stop(void);

/* What worker processes do: all phases of one workload. */
void workload_main(struct task_child *c, const struct job *job, const struct job_line *line,
		   const struct workload *workload);

/* "WHAT" of a WIRE_FAIL's payload as plain text, with its verdict; for tests too. */
const char *background_failure(const char *payload, char *what, size_t room);

#endif
