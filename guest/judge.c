// SPDX-License-Identifier: GPL-2.0-only
#include "guest/judge.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "guest/layout.h"

void judge_init(struct layout *l)
{
	int64_t ppm = job_option(l->job, "tolerance_ppm", -1);

	l->tolerance_given = ppm >= 0;
	l->tolerance_ppm = ppm >= 0 ? (uint64_t)ppm : TOLERANCE_PPM_DEFAULT;
}

void judge_begin(struct layout *l)
{
	memset(&l->judged, 0, sizeof(l->judged));
}

uint64_t layout_tolerance(const struct layout *l, const struct job_line *line, uint64_t dflt_ppm)
{
	int64_t own = line ? job_get_i64(line, "tolerance", -1) : -1;

	if (own >= 0)
		return (uint64_t)own;
	return l->tolerance_given ? l->tolerance_ppm : dflt_ppm;
}

uint64_t judge_ppm(uint64_t part, uint64_t whole)
{
	unsigned __int128 ppm;

	if (!whole)
		return part ? JUDGED_NO_SHARE : 0;
	ppm = ((unsigned __int128)part * 1000000 + whole - 1) / whole;
	return ppm < JUDGED_NO_SHARE ? (uint64_t)ppm : JUDGED_NO_SHARE - 1;
}

/* A failure is worse than what held, and a larger error than a smaller. */
static bool note(struct layout *l, const struct judgement *j)
{
	const struct judgement *old = &l->judged;

	if (!old->made || (old->held && !j->held) ||
	    (old->held == j->held && j->error_ppm > old->error_ppm))
		l->judged = *j;
	return j->held;
}

bool layout_within_slack(struct layout *l, uint64_t asked, uint64_t got, uint64_t slack)
{
	uint64_t off = asked > got ? asked - got : got - asked;
	uint64_t tolerance = l->tolerance_ppm;
	struct judgement j = { .made = true, .error_ppm = judge_ppm(off, asked), .tolerance_ppm = tolerance };

	if (tolerance && judge_ppm(slack, asked) > tolerance)
		j.slack = slack;
	j.held = j.error_ppm <= tolerance || (j.slack && off <= j.slack);
	return note(l, &j);
}

bool layout_within(struct layout *l, uint64_t asked, uint64_t got)
{
	return layout_within_slack(l, asked, got, 0);
}

bool layout_within_ppm(struct layout *l, uint64_t error_ppm, uint64_t tolerance_ppm)
{
	const struct judgement j = { .made = true,
				     .held = error_ppm <= tolerance_ppm,
				     .error_ppm = error_ppm,
				     .tolerance_ppm = tolerance_ppm };

	return note(l, &j);
}

void judge_json(const struct judgement *j, char *out, size_t room)
{
	char error[32] = "null", slack[40] = "";

	out[0] = '\0';
	if (!j->made)
		return;
	if (j->error_ppm != JUDGED_NO_SHARE)
		snprintf(error, sizeof(error), "%.6f", (double)j->error_ppm / 1e6);
	if (j->slack)
		snprintf(slack, sizeof(slack), ",\"slack\":%" PRIu64, j->slack);
	snprintf(out, room, ",\"error\":%s,\"tolerance\":%.6f%s", error, (double)j->tolerance_ppm / 1e6,
		 slack);
}

void judge_text(const struct judgement *j, char *out, size_t room)
{
	double tolerance = (double)j->tolerance_ppm / 1e4;
	char slack[48] = "";

	out[0] = '\0';
	if (!j->made || j->held)
		return;
	if (j->slack)
		snprintf(slack, sizeof(slack), " (or %" PRIu64 " in all)", j->slack);
	if (j->error_ppm == JUDGED_NO_SHARE)
		snprintf(out, room, "nothing was asked for, and the tolerance is %.6g %%%s", tolerance, slack);
	else
		snprintf(out, room, "off by %.6g %% of what was asked for, and the tolerance is %.6g %%%s",
			 (double)j->error_ppm / 1e4, tolerance, slack);
}
