// SPDX-License-Identifier: GPL-2.0-only
/*
 * age: free memory as it is after long use. Each operation takes new pages and gives as many of those
 * held back, an aligned group somewhere: what is used stays the same, but free memory comes to
 * be what was given back. Which groups go is a function of the seed and of where the pages stand.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "guest/cannot.h"
#include "guest/groups.h"
#include "guest/region.h"

#define ROUND_MAX 8192 /* operations between two looks at where the pages stand */
#define SLACK_PAGES 256

/* Operations of one round, so that what it takes is half of the room at the most; their pages. */
static uint64_t next_round(struct layout *l, uint64_t left, unsigned int orders, uint64_t *pages)
{
	uint64_t mean2 = 2 * ((1ull << orders) - 1) / orders, room, n; /* twice the pages of a group */

	zones_read(&l->zones, l->block_order);
	room = zones_room(&l->zones) / 2;
	n = left < ROUND_MAX ? left : ROUND_MAX;
	if (n * mean2 / 2 > room)
		n = room * 2 / mean2;
	*pages = 0;
	for (unsigned int k = 0; k < orders; k++)
		*pages += (n / orders + (k < n % orders)) << k;
	return n;
}

/* The largest first; operations done, -1 with errno. */
static int64_t give_groups(struct layout *l, uint64_t n, unsigned int orders, uint64_t seed)
{
	uint64_t done = 0;

	for (unsigned int k = orders; k-- > 0;)
		done += groups_pick(l, k, n / orders + (k < n % orders), seed + k, false);
	return region_give_picked(l) < 0 || region_reread(l) < 0 ? -1 : (int64_t)done;
}

static int64_t age(struct layout *l, uint64_t operations, unsigned int orders, const struct expr *where,
		   struct step_report *r)
{
	uint64_t done = 0, pages, n;

	for (uint64_t round = 0; done < operations; round++) {
		int64_t given;

		n = next_round(l, operations - done, orders, &pages);
		if (!n)
			break;
		if (region_map(l, where) < 0)
			return step_divides_by_zero(r);
		if (!round && step_any_page(l, r) < 0)
			return -1;
		if (region_take(l, pages) < (int64_t)pages ||
		    (given = give_groups(l, n, orders, l->seed + round * ORDERS)) < 0) {
			snprintf(r->why, sizeof(r->why), "cannot take or give back %" PRIu64 " pages: %s",
				 pages, strerror(errno));
			return -1;
		}
		if (!given)
			break;
		done += (uint64_t)given;
		task_progress(l->child, done, operations);
	}
	return (int64_t)done;
}

static uint64_t used(struct layout *l)
{
	zones_read(&l->zones, l->block_order);
	return zones_managed(&l->zones) - zones_free(&l->zones) - zones_pcp(&l->zones);
}

static int age_run(struct layout *l, const struct job_line *line, struct step_report *r)
{
	uint64_t operations = (uint64_t)job_get_i64(line, "operations", 0), before, after, whole;
	unsigned int orders = (unsigned int)job_get_i64(line, "orders", 1);
	struct expr *where = layout_where(l, line, r);
	int64_t done;

	if (!where)
		return -1;
	before = used(l);
	whole = zones_whole_blocks(&l->zones) >> l->block_order;
	done = age(l, operations, orders, where, r);
	expr_free(where);
	if (done < 0)
		return -1;
	if (region_taken(l, 0, l->filled_pages) < 0) {
		snprintf(r->why, sizeof(r->why), "cannot read pagemap: %s", strerror(errno));
		return -1;
	}
	/* Scattered free memory sets compaction to work, which moves pages of ours onto those given back. */
	region_forget_freed(l);
	after = used(l);
	snprintf(r->asked, sizeof(r->asked), "\"operations\":%" PRIu64 ",\"used_pages\":%" PRIu64,
		 operations, before);
	snprintf(r->got, sizeof(r->got),
		 "\"operations\":%" PRId64 ",\"used_pages\":%" PRIu64 ",\"whole_blocks_before\":%" PRIu64
		 ",\"whole_blocks\":%" PRIu64,
		 done, after, whole, zones_whole_blocks(&l->zones) >> l->block_order);
	snprintf(r->how, sizeof(r->how), "MADV_POPULATE_WRITE, then MADV_DONTNEED");
	r->ok = layout_within(l, operations, (uint64_t)done) &&
		layout_within_slack(l, before, after, SLACK_PAGES);
	return 0;
}

static const struct param_spec age_params[] = {
	{ "operations", PARAM_NUMBER, "operations", "groups of pages to take and give back", 1, 1 << 30,
	  NULL, NULL },
	{ "orders", PARAM_NUMBER, "orders", "sizes of a group: 1 is single pages, 4 up to 8 pages", 1, 10,
	  "4", NULL },
	{ "where", PARAM_PREDICATE, NULL, "pages that may be given back; all where absent", 0, 0, "",
	  NULL },
};
static const char *const age_needs[] = { "file:/proc/kpageflags", NULL };
static const char *const age_moves[] = { "pgfree", NULL };

static int age_check(const struct job_line *line, const struct step_context *c,
		     struct step_fault *f)
{
	return step_check_held(c, "given back", f);
}

const struct layout_step step_age = {
	.name = "age",
	.summary = "take and give back pages at random, with as much used as before",
	.params = age_params,
	.nparams = sizeof(age_params) / sizeof(age_params[0]),
	.needs = age_needs,
	.moves = age_moves,
	.run = (void *)age_run,
	.after = step_gives_back,
	.check = age_check,
};
