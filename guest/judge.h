/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_JUDGE_H
#define MMRIG_JUDGE_H
/*
 * Is what a step got near enough to what it was asked for? Each call notes what was found, so that the
 * report of the step tells the error and the tolerance by which it was judged.
 *
 * Which tolerance: that of the step itself (shape has one), else the scenario's, else the step's
 * default. Some steps cannot hit a mark more closely than to a few pages or blocks, and being off by no
 * more than that slack is taken as hit; a tolerance of 0 takes that away, and means exactly as asked.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct layout;
struct job_line;

#define TOLERANCE_PPM_DEFAULT 20000 /* of steps without a default of their own */
#define JUDGED_NO_SHARE UINT64_MAX  /* an error against 0, which has no share */

/* The worst that a step was found to be. */
struct judgement {
	bool made; /* something was judged */
	bool held;
	uint64_t error_ppm, tolerance_ppm; /* of what was asked for; rounded up */
	uint64_t slack; /* in the unit of what was asked for; 0 where the tolerance allows more */
};

/* Reads the scenario's tolerance. */
void judge_init(struct layout *l);
/* Before each step. */
void judge_begin(struct layout *l);
/* The tolerance of a step in millionths; `line` may be NULL, and may have a `tolerance`. */
uint64_t layout_tolerance(const struct layout *l, const struct job_line *line, uint64_t dflt_ppm);
/* |asked - got| within the tolerance of asked. */
bool layout_within(struct layout *l, uint64_t asked, uint64_t got);
/* The same, or within so many units. */
bool layout_within_slack(struct layout *l, uint64_t asked, uint64_t got, uint64_t slack);
/* An error that the step has worked out itself. */
bool layout_within_ppm(struct layout *l, uint64_t error_ppm, uint64_t tolerance_ppm);

/* part of whole in millionths, rounded up: above a limit exactly where the true value is. */
uint64_t judge_ppm(uint64_t part, uint64_t whole);

/*
 * Members of the report: ,"error":0.0123,"tolerance":0.02,"slack":2 - error null where it has no share,
 * slack only where it allows more than the tolerance, and nothing at all where nothing was judged.
 */
void judge_json(const struct judgement *j, char *out, size_t room);
/* "off by 6.1 % of what was asked for, and the tolerance is 5 %"; "" where it held, or was not judged. */
void judge_text(const struct judgement *j, char *out, size_t room);

#endif
