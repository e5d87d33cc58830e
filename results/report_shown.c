// SPDX-License-Identifier: GPL-2.0-only
/* Which runs are drawn, and what of them is followed over time. */
#include <stdlib.h>
#include <string.h>

#include "results/report_internal.h"
#include "results/util/cleanup.h"

/* What tells how reclaim and compaction went; those that never moved are only named. */
static const char *const usual[] = {
	"allocstall",
	"compact_stall",
	"compact_migrate_scanned",
	"compact_free_scanned",
	"compact_daemon_migrate_scanned",
	"compact_daemon_free_scanned",
	"pgmigrate_success",
	"pgscan_kswapd",
	"pgscan_direct",
	"pgsteal_kswapd",
	"pgsteal_direct",
	"workingset_refault",
	"pswpin",
	"pswpout",
	"thp_fault_alloc",
	"nr_free_pages",
};
#define TRACKED_MAX 40

/* False where no line of /proc/vmstat says it: the workload's own, formulas, levels of other files. */
static bool can_be_tracked(const char *name, struct report_tracked *out)
{
	const struct counter *c = counter_find(name);

	if (!c || c->formula || c->of_run || c->from_meminfo || !c->sources || !c->sources[0])
		return false;
	*out = (struct report_tracked){ name, c, c->gauge };
	return true;
}

static void track(struct report_tracked *list, size_t *n, const char *name)
{
	for (size_t i = 0; i < *n; i++)
		if (strcmp(list[i].name, name) == 0)
			return;
	if (*n < TRACKED_MAX && can_be_tracked(name, &list[*n]))
		(*n)++;
}

struct report_tracked *report_tracked(const struct report *r, size_t *n)
{
	struct report_tracked *list = xcalloc(TRACKED_MAX, sizeof(*list));

	*n = 0;
	for (size_t i = 0; i < r->nmetrics && *n < TRACKED_MAX - ARRAY_SIZE(usual); i++)
		track(list, n, r->metric[i].name);
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		track(list, n, usual[i]);
	return list;
}

static void show(struct report *r, size_t cell, size_t run, const struct report_tracked *tracked,
		 size_t ntracked)
{
	cleanup_error struct error err = ERROR_INIT;
	struct report_shown *s;

	r->shown = xreallocarray(r->shown, r->nshown + 1, sizeof(*r->shown));
	s = &r->shown[r->nshown++];
	*s = (struct report_shown){ .cell = cell,
				    .run = &r->cell[cell].run[run],
				    .typical = run == r->cell[cell].typical };
	if (report_series_read(r->in->store, s->run, tracked, ntracked, &s->series, &err) == 0)
		return;
	strbuf_adds(&r->faults, "<li>");
	report_run_name(r, s->run, &r->faults);
	strbuf_adds(&r->faults, ": ");
	html_text(&r->faults, err.text);
	strbuf_adds(&r->faults, "</li>\n");
}

void report_shown_read(struct report *r, const struct report_tracked *tracked, size_t ntracked)
{
	size_t ncells = r->ncells < PLOT_COLOURS ? r->ncells : PLOT_COLOURS, nok = 0;

	for (size_t i = 0; i < ncells; i++)
		nok += r->cell[i].nok;
	r->overlay = nok <= REPORT_OVERLAY;
	for (size_t i = 0; i < ncells; i++)
		for (size_t k = 0; k < r->cell[i].nruns; k++)
			if (k == r->cell[i].typical ||
			    (r->overlay && r->cell[i].run[k].run->verdict == VERDICT_OK))
				show(r, i, k, tracked, ntracked);
}
