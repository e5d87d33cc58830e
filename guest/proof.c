// SPDX-License-Identifier: GPL-2.0-only
#include "guest/proof.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool has_step(const struct layout *l, const char *name)
{
	const struct job_line *line = NULL;

	while ((line = job_next(l->job, line, "step")))
		if (strcmp(job_get(line, "do"), name) == 0)
			return true;
	return false;
}

/* Nothing was asked for, so nothing is judged. */
static void prove_nothing(struct layout *l, int64_t buddy, struct step_report *r)
{
	bool shape = has_step(l, "shape"), age = has_step(l, "age");

	snprintf(r->how, sizeof(r->how), "no page was given back that must be free where it stands%s%s%s%s",
		 shape || age ? "; what is free after " : "", shape ? "shape" : age ? "age" : "",
		 shape && age ? " and age" : "", shape || age ? " is read back in the step's own row" : "");
	r->ok = buddy >= 0;
}

void proof_judge(struct layout *l, int64_t buddy, uint64_t pcp, bool lowered, struct step_report *r)
{
	uint64_t found = buddy < 0 ? 0 : (uint64_t)buddy + pcp;
	char free_pages[48] = "";

	if (!l->nfreed) {
		prove_nothing(l, buddy, r);
	} else {
		snprintf(r->how, sizeof(r->how),
			 "/proc/kpageflags; the %" PRIu64 " pages on the per-CPU lists, %s, count as free", pcp,
			 lowered ? "held short" : "which this kernel cannot hold short");
		snprintf(r->asked, sizeof(r->asked), "\"free_pages\":%" PRIu64, l->nfreed);
		snprintf(free_pages, sizeof(free_pages), "\"free_pages\":%" PRId64 ",", buddy);
		r->ok = layout_within(l, l->nfreed, found < l->nfreed ? found : l->nfreed) && buddy >= 0;
	}
	snprintf(r->got, sizeof(r->got), "%s\"pcp_pages\":%" PRIu64 ",\"whole_blocks\":%" PRIu64, free_pages,
		 pcp, zones_whole_blocks(&l->zones) >> l->block_order);
	if (r->ok)
		return;
	if (buddy < 0)
		snprintf(r->why, sizeof(r->why), "cannot read /proc/kpageflags");
	else
		snprintf(r->why, sizeof(r->why),
			 "%" PRIu64 " pages were given back, %" PRId64 " of them are free and %" PRIu64
			 " pages sit on the per-CPU lists",
			 l->nfreed, buddy, pcp);
	layout_complete_why(l, r);
}

int proof_run(struct layout *l, int index, bool lowered)
{
	struct step_report r = { .ok = true };
	uint64_t start = mono_ns(), pcp;
	int64_t buddy;

	layout_begin(l, index, "proof");
	buddy = pageblocks_read(&l->map, l->child);
	zones_read(&l->zones, l->block_order);
	pcp = zones_pcp(&l->zones);
	proof_judge(l, buddy, pcp, lowered, &r);
	layout_report(l, index, "proof", start, &r);
	if (buddy >= 0)
		pageblocks_send(&l->map, l->child, PHASE_LAYOUT);
	return r.ok ? 0 : task_fail(l->child, "infra", "layout proof: %s", r.why);
}
