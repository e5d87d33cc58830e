// SPDX-License-Identifier: GPL-2.0-only
/*
 * mix: pages of the kernel's own in a share of the pageblocks. An allocation takes the free page that
 * suits it best, wherever it stands. So memory is filled first, for the time of the step; then one
 * aligned group is given back in each chosen pageblock, and the kernel is made to allocate until
 * each of these blocks has a page of it. Pages given back wait on the per-CPU lists, which serve
 * movable requests only: single pages that are given back before and after (the cushion) push them
 * out, and keep the watermarks away. Free lists are last in, first out; what goes astray all the
 * same is tried again.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "guest/cannot.h"
#include "guest/full.h"
#include "guest/groups.h"
#include "guest/mix_blocks.h"
#include "guest/mixed.h"
#include "guest/region.h"

#define CUSHION 1536 /* pages: two zones' lists, and what is free on the unmovable lists */
#define CUSHION_LEAST 768 /* what does it, if need be: pages of two lists, and room for some batches */
/*
 * Pages above the low watermarks that are not asked for: a per-CPU list refills itself with up to 252
 * at once, and then the watermark refuses a request that the list could serve. That was an OOM kill.
 */
#define MARGIN 320
#define BATCH 16
#define ATTEMPTS_MORE 4096 /* pages that may go elsewhere: all that the cushion and the floor hold */
#define ROUNDS 6

static const struct pollute *const ways[] = { &pollute_packet, &pollute_pipes, &pollute_tables,
					    &pollute_dentries };

static const struct pollute *way_of(const struct job_line *line, struct step_report *r)
{
	const char *kind = job_get(line, "kind"), *how = job_get(line, "how");
	bool any = !how || strcmp(how, "auto") == 0;

	/* Either follows from the other. */
	kind = kind || !any ? kind : "unmovable";
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if ((any || strcmp(how, ways[i]->name) == 0) &&
		    (!kind || strcmp(kind, ways[i]->migratetype) == 0))
			return ways[i];
	step_cannot(r, "how: %s does not give %s pages", how, kind);
	return NULL;
}

static int give(struct layout *l, struct step_report *r)
{
	if (region_give_picked(l) == 0 && region_reread(l) >= 0)
		return 0;
	snprintf(r->why, sizeof(r->why), "cannot give pages back: %s", strerror(errno));
	return -1;
}

static int give_cushion(struct layout *l, struct mix *m, bool again, struct step_report *r)
{
	uint64_t n = mix_limit_cushion(l, CUSHION, CUSHION_LEAST, again);

	groups_pick(l, 0, n, m->seed++, false);
	return give(l, r);
}

/* How many more can be asked for: a failure falls back to single pages, or ends in an OOM kill. */
static unsigned int next_batch(struct layout *l, const struct mix *m, uint64_t want)
{
	uint64_t blocks[ORDERS], have = 0, room;

	zones_read(&l->zones, l->block_order);
	if (free_blocks_read(blocks) < 0)
		return 0;
	for (unsigned int k = m->order; k < ORDERS; k++)
		have += blocks[k] << (k - m->order);
	room = zones_room(&l->zones);
	room = room > MARGIN ? (room - MARGIN) >> m->order : 0;
	have = have < room ? have : room;
	want = want && want < BATCH ? want : BATCH;
	return (unsigned int)(have < want ? have : want);
}

static int fail_to_read(struct step_report *r)
{
	if (errno == EDOM)
		return step_divides_by_zero(r);
	snprintf(r->why, sizeof(r->why), "cannot read /proc/kpageflags: %s", strerror(errno));
	return -1;
}

/*
 * Is it enough? Pages go astray as well, into blocks that hold nothing: near the end these are counted
 * too, lest a few blocks that are hard to hit cost more of them than there were to be.
 */
static int look(struct layout *l, struct mix *m, bool *done)
{
	m->taken = mix_count_taken(l, m);
	*done = m->taken >= m->chosen;
	if (*done || m->chosen - m->taken > m->asked / 16)
		return 0;
	if (mix_count_held(l, m) < 0)
		return -1;
	*done = mix_is_done(l, m);
	return 0;
}

/* The kernel's turn: `want` allocations, and more until every chosen block is taken. */
static int pollute(struct layout *l, struct mix *m, uint64_t want, struct step_report *r)
{
	uint64_t made = 0;
	unsigned int looks = 0;
	bool done = false;

	while (made < want || (made < want + ATTEMPTS_MORE && !done)) {
		unsigned int n = next_batch(l, m, want > made ? want - made : 0);

		if (!n)
			break;
		if (m->p->more(l, m->order, n, r->why, sizeof(r->why)) < 0)
			return -1;
		made += n;
		/* A look costs as much as some batches. */
		if (made >= want && ++looks % 4 == 1 && look(l, m, &done) < 0)
			return fail_to_read(r);
		task_progress(l->child, m->taken, m->chosen);
	}
	m->taken = mix_count_taken(l, m);
	return 0;
}

/* With memory full: the cushion, groups in the chosen blocks that have nothing yet, the cushion. */
static int run_round(struct layout *l, struct mix *m, const struct expr *where, struct step_report *r)
{
	uint64_t groups;

	if (region_map(l, where) < 0 || mix_choose(l, m) < 0)
		return fail_to_read(r);
	if (m->taken >= m->chosen)
		return 0;
	if (give_cushion(l, m, false, r) < 0 || region_map(l, where) < 0)
		return -1;
	groups = mix_pick_groups(l, m);
	if (give(l, r) < 0 || region_map(l, where) < 0 || give_cushion(l, m, true, r) < 0)
		return -1;
	return pollute(l, m, groups, r);
}

static int run_rounds(struct layout *l, struct mix *m, const struct expr *where, struct step_report *r)
{
	int ret = 0;

	for (int round = 0; ret == 0 && round < ROUNDS; round++) {
		ret = full_begin(l, r);
		if (ret < 0)
			break;
		/* Kernels before 6.15 break up the largest free block first, later ones the smallest. */
		m->group_order = m->order + (round % 2 ? 3 : 0);
		ret = run_round(l, m, where, r);
		if (ret == 0 && mix_count_held(l, m) < 0)
			ret = fail_to_read(r);
		if (ret == 0 && mix_is_done(l, m))
			break;
	}
	memset(l->pick, 0, l->pfn_end / 8 + 1);
	region_pick_not_held(l);
	if (give(l, r) < 0)
		ret = -1;
	full_end();
	return ret;
}

/* What stands when all is given back that was taken for the time of the step. */
static int count_all(struct layout *l, struct mix *m, struct step_report *r)
{
	m->taken = mix_count_taken(l, m);
	if (mix_count_pages(l, m) < 0 || region_prune_freed(l) < 0 || mix_count_held(l, m) < 0)
		return fail_to_read(r);
	mix_mark(l, m);
	return 0;
}

/* For the end of the layout, of all the guest's pageblocks: those outside of `where` are as they were. */
static void note(struct layout *l, const struct mix *m, uint64_t before, int64_t type_ppm)
{
	struct mixed_kind *k = &l->mixed.kind[m->reclaimable ? MIXED_RECLAIMABLE : MIXED_UNMOVABLE];

	*k = (struct mixed_kind){ .any = true, .before = before,
				  .asked = before - m->before + m->asked,
				  .type_ppm = type_ppm < 0 ? m->share_ppm : (uint64_t)type_ppm };
}

static void report(struct layout *l, const struct mix *m, struct step_report *r)
{
	struct mixed_kind k = { .asked = m->asked, .before = m->before };

	snprintf(r->asked, sizeof(r->asked), "\"blocks\":%" PRIu64, m->asked);
	snprintf(r->got, sizeof(r->got),
		 "\"blocks\":%" PRIu64 ",\"before\":%" PRIu64 ",\"of\":%" PRIu64 ",\"candidates\":%" PRIu64
		 ",\"chosen\":%" PRIu64 ",\"taken\":%" PRIu64 ",\"pages\":%" PRIu64
		 ",\"pages_outside\":%" PRIu64,
		 m->held, m->before, m->all, m->candidates, m->chosen, m->taken, m->inside, m->outside);
	snprintf(r->how, sizeof(r->how), "%s, order %u%s", m->p->how, m->order,
		 m->before >= m->asked ? "; none made: as many blocks held such before" : "");
	r->ok = layout_within_ppm(l, judge_ppm(mixed_off(&k, m->held), m->all), l->tolerance_ppm) &&
		layout_within(l, m->chosen, m->taken);
	if (m->holds && m->aside != m->p->made()) {
		r->ok = false;
		snprintf(r->why, sizeof(r->why), "%" PRIu64 " pages of the kernel's were made, %" PRIu64
			 " were found", m->p->made(), m->aside);
	} else if (!r->ok) {
		snprintf(r->why, sizeof(r->why),
			 "%" PRIu64 " of %" PRIu64 " pageblocks hold such pages, %" PRIu64
			 " were asked for; of %" PRIu64 " chosen ones %" PRIu64 " hold as many as they should",
			 m->held, m->all, m->asked, m->chosen, m->taken);
	}
}

static int build(struct layout *l, struct mix *m, const struct expr *where, struct step_report *r)
{
	int ret;

	if (m->held >= m->asked)
		return 0;
	if (m->p->start(&m->order, r->why, sizeof(r->why)) < 0)
		return -1;
	m->holds = m->p->holds;
	region_mark_held(l);
	ret = run_rounds(l, m, where, r);
	return ret == 0 ? count_all(l, m, r) : -1;
}

static int mix_run(struct layout *l, const struct job_line *line, struct step_report *r)
{
	const struct pollute *p = way_of(line, r);
	struct mix m = { .p = p, .reclaimable = p && strcmp(p->migratetype, "reclaimable") == 0,
			 .share_ppm = (uint64_t)job_get_i64(line, "share", 0),
			 .seed = l->seed ^ 0x6d6978,
			 .order = (unsigned int)job_get_i64(line, "order", 0),
			 .per_block = (unsigned int)job_get_i64(line, "per_block", 1) };
	struct expr *where = p ? layout_where(l, line, r) : NULL;
	uint64_t before;
	int ret = -1;

	if (where && mix_begin(l, &m, where) < 0) {
		fail_to_read(r);
	} else if (where && !m.all) {
		step_no_block(l, r);
	} else if (where) {
		before = mix_blocks_held(l, m.reclaimable);
		ret = build(l, &m, where, r);
		note(l, &m, before, job_get_i64(line, "type_share", -1));
	}
	expr_free(where);
	if (ret == 0)
		report(l, &m, r);
	return ret;
}

static const char *const mix_kinds[] = { "unmovable", "reclaimable", NULL };
static const char *const mix_hows[] = { "auto", "packet", "pipes", "pagetables", "dentries", NULL };
static const struct param_spec mix_params[] = {
	{ "kind", PARAM_CHOICE, NULL,
	  "what the kernel thinks of the pages; where absent what how gives, unmovable of auto", 0, 0, "",
	  mix_kinds },
	{ "share", PARAM_SHARE, NULL,
	  "of all pageblocks, to hold such pages in the end: those of the guest's own count, as "
	  "unmovable ones", 0, 0, NULL, NULL },
	{ "type_share", PARAM_SHARE, NULL,
	  "of the pageblocks that should be of this type in /proc/pagetypeinfo, as in the report of another "
	  "machine: stands beside what the guest has, and changes nothing",
	  0, 0, "", NULL },
	{ "per_block", PARAM_NUMBER, "allocations", "in each chosen pageblock", 1, 64, "1", NULL },
	{ "how", PARAM_CHOICE, NULL,
	  "rings of packet sockets, pages of pipes (found in /proc/kcore), page tables, or dentries; auto: "
	  "packet, and dentries if reclaimable",
	  0, 0, "auto", mix_hows },
	{ "order", PARAM_NUMBER, NULL, "size of each allocation, of packet rings only", 0, 8, "0", NULL },
	{ "where", PARAM_PREDICATE, NULL,
	  "pages that the kernel may get, and with them the pageblocks that share is of; all where "
	  "absent", 0, 0, "", NULL },
};
static const char *const mix_needs[] = { "file:/proc/kpageflags", NULL };
static const char *const mix_moves[] = { "pgalloc_normal|pgalloc_dma32|pgalloc_dma|pgalloc_movable", NULL };

static bool is_reclaimable(const struct job_line *line)
{
	const char *kind = job_get(line, "kind"), *how = job_get(line, "how");

	if (kind)
		return strcmp(kind, "reclaimable") == 0;
	return how && strcmp(how, "dentries") == 0;
}

static int mix_check(const struct job_line *line, const struct step_context *c,
		     struct step_fault *f)
{
	const char *kind = job_get(line, "kind"), *how = job_get(line, "how");
	bool any = !how || strcmp(how, "auto") == 0, packet = any || strcmp(how, "packet") == 0;
	bool reclaimable = is_reclaimable(line);

	if (!any && kind && (strcmp(how, "dentries") == 0) != reclaimable) {
		step_fault(f, "how",
			   "how is %s, and kind %s: packet, pipes and pagetables give unmovable pages, dentries "
			   "reclaimable ones; leave kind out",
			   how, kind);
		f->of_others = true;
		return -1;
	}
	if ((reclaimable || !packet) && job_get_i64(line, "order", 0)) {
		step_fault(f, "order", "order goes with packet alone; the others are single pages");
		f->of_others = true;
		return -1;
	}
	return step_check_some(line, "share", "put the kernel's pages nowhere", f);
}

static void mix_after(const struct job_line *line, struct step_context *c)
{
	c->cache |= is_reclaimable(line);
}

const struct layout_step step_mix = {
	.name = "mix",
	.summary = "have pages of the kernel's own in a share of the pageblocks",
	.params = mix_params,
	.nparams = sizeof(mix_params) / sizeof(mix_params[0]),
	.needs = mix_needs,
	.moves = mix_moves,
	.run = (void *)mix_run,
	.check = mix_check,
	.after = mix_after,
};
