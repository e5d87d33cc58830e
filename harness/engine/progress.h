/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_PROGRESS_H
#define MMRIG_PROGRESS_H
/*
 * What the user sees while a run set is made. On a terminal: one live line, redrawn at most ten
 * times a second and cleared before anything else is printed. Everywhere: one lasting line for the
 * start of the set, for each finished run, and for each note. Every text is made printable, so
 * whatever a guest says may be passed in.
 *
 *	alias-tmpfs 3/20  pfn % 8 == 4  workload 48%  1:23  left 12:40
 *
 * Several runs may be in the air at once: k (from 1) names the run; the live line shows the oldest.
 * Every function takes p == NULL and is then silent. Not for use by several threads.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "guest/wire.h"
#include "results/util/str.h"
#include "results/verdict.h"

struct progress;

struct progress_config {
	FILE *out; /* not closed */
	bool is_tty;
	unsigned int columns; /* 0: ask the terminal before each redraw; 80 if it does not say */
	uint64_t (*now_ns)(void *arg); /* monotonic; NULL: CLOCK_MONOTONIC */
	void *clock_arg;
};

struct progress *progress_new(const struct progress_config *config);
/* total: all runs of the plan. */
void progress_start(struct progress *p, const char *scenario, unsigned int total);
/* n of them are there already, from the set that is resumed: told, and not waited for. */
void progress_kept(struct progress *p, unsigned int n);
void progress_run_begin(struct progress *p, unsigned int k, const char *label, uint64_t seed);
/* total 0: not known. A call with the next phase ends the one before. */
void progress_phase(struct progress *p, unsigned int k, enum wire_phase phase, uint64_t done,
		    uint64_t total);
/* why and summary may be NULL: "splat, 20.1 s; WHY", "ok, 41.3 s; SUMMARY". */
void progress_run_end(struct progress *p, unsigned int k, enum verdict verdict, const char *why,
		      const char *summary);
/* A lasting line: "mmrig: text". */
void progress_note(struct progress *p, const char *text);
/*
 * What is being done beside the runs, such as fetching a kernel; percent < 0: not known. It takes
 * the live line until text NULL ends it; without a terminal each new text is one lasting line.
 * "warning: ..." is a note. Fits kernel_fetch_options.progress with the progress as its arg.
 */
void progress_task(void *progress, const char *text, double percent);
/* Redraws the live line when it is due; to be called from a timer of about 100 ms. */
void progress_tick(struct progress *p);
/* Takes the live line away, for others who print on the same terminal; it comes back by itself. */
void progress_clear(struct progress *p);
/* Clears the line and frees p. */
void progress_finish(struct progress *p);

/*
 * Seconds until the set is done, judged by the finished runs and by how long each of their phases
 * took; < 0 while nothing has finished.
 */
double progress_seconds_left(const struct progress *p);

/* Adds s with control characters, and bytes that are not UTF-8, as \xNN. */
void progress_printable(struct strbuf *sb, const char *s);

#endif
