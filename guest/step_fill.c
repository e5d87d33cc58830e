// SPDX-License-Identifier: GPL-2.0-only
/*
 * fill: takes free memory with anonymous pages until so much is left. kind anon takes base pages,
 * from wherever the allocator finds them; kind thp takes whole free pageblocks as huge pages and
 * leaves smaller free pages alone, so that the number of whole blocks left can be set exactly
 * after other steps have made holes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "guest/layout.h"
#include "guest/region.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define MIB_PAGES 256u
/* A big piece at a time while far from the target; each look at zoneinfo then costs nothing. */
#define FILL_PIECE_PAGES (256u * MIB_PAGES)

/* What "left" means in each unit, now, in pages. Pages on the per-CPU lists are free. */
static uint64_t measure(struct layout *l, bool blocks)
{
	zones_read(&l->zones, l->block_order);
	if (blocks)
		return zones_whole_blocks(&l->zones);
	return zones_free(&l->zones) + zones_pcp(&l->zones);
}

static uint64_t target_pages(struct layout *l, const char *unit, int64_t leave)
{
	if (strcmp(unit, "percent") == 0)
		return zones_managed(&l->zones) * (uint64_t)leave / 100;
	if (strcmp(unit, "high") == 0)
		return zones_high(&l->zones) * (uint64_t)leave;
	if (strcmp(unit, "blocks") == 0)
		return (uint64_t)leave << l->block_order;
	return (uint64_t)leave / 4096;
}

/* One whole free pageblock, as a huge page, behind the filled part. */
static int64_t take_huge(struct layout *l)
{
	size_t at = l->filled_pages = layout_align(l), n = l->block_pages;

	if (l->region_pages - at < n)
		return 0;
	if (madvise(l->region + at * 4096, n * 4096, MADV_HUGEPAGE) < 0 ||
	    madvise(l->region + at * 4096, n * 4096, MADV_POPULATE_WRITE) < 0)
		return -1;
	l->filled_pages += n;
	return region_taken(l, at, n) < 0 ? -1 : (int64_t)n;
}

/* Pages that may be taken in one go: half of the room at the most. */
static uint64_t next_piece(struct layout *l, uint64_t excess)
{
	uint64_t room = zones_room(&l->zones) / 2;
	uint64_t piece = excess > 4 * FILL_PIECE_PAGES ? FILL_PIECE_PAGES :
			 excess > 64 * MIB_PAGES       ? excess / 4 :
			 excess > 16 * MIB_PAGES       ? excess / 2 :
							 2 * MIB_PAGES;

	/* Near the end small steps: a refill of the per-CPU lists breaks up blocks of its own. */
	if (piece > excess)
		piece = excess;
	if (piece > room)
		piece = room;
	return piece;
}

/* Where the fill went: ",\"node0_DMA32\":pages,...", by what the zones held of it before. */
static void where_it_went(struct layout *l, const uint64_t *before, char *out, size_t room)
{
	uint64_t count[ZONES_MAX];
	size_t n = 0;

	region_count_zones(l, count);
	for (size_t z = 0; z < l->zones.n && n < room; z++)
		if (count[z] > before[z])
			n += (size_t)snprintf(out + n, room - n, ",\"node%d_%s\":%" PRIu64,
					      l->zones.zone[z].node, l->zones.zone[z].name,
					      count[z] - before[z]);
}

struct fill {
	bool blocks, thp;
	uint64_t target; /* pages to leave */
	uint64_t left;	 /* pages that are left now, in the same sense */
	uint64_t taken;
};

/* Until the target is reached, or no more can be had. */
static void take_all(struct layout *l, struct fill *f, struct step_report *r)
{
	uint64_t total = f->left;

	while (f->left > f->target + (f->blocks ? l->block_pages - 1 : 0)) {
		uint64_t piece = next_piece(l, f->left - f->target);
		int64_t got;

		if (f->blocks && piece >= l->block_pages) /* partly used blocks count as gone */
			piece = piece / l->block_pages * l->block_pages;
		if (!piece)
			return;
		task_progress(l->child, total - f->left,
			      total > f->target ? total - f->target : 1);
		got = f->thp ? take_huge(l) : region_take(l, piece);
		if (got < 0)
			snprintf(r->why, sizeof(r->why), "populate at %zu MiB failed: %s",
				 l->filled_pages / MIB_PAGES, strerror(errno));
		if (got <= 0)
			return;
		f->taken += (uint64_t)got;
		f->left = measure(l, f->blocks);
	}
}

/*
 * Base pages come by way of the per-CPU lists, whose refills break up blocks of their own: whole
 * blocks cannot be hit closer than a few with them, but exactly with huge pages.
 */
static void judge(struct layout *l, const struct fill *f, struct step_report *r)
{
	uint64_t slack = !f->blocks ? MIB_PAGES : f->thp ? l->block_pages : 2 * l->block_pages;
	uint64_t off = f->left > f->target ? f->left - f->target : f->target - f->left;

	r->ok = !r->why[0] && (layout_within(l, f->target, f->left) || off <= slack);
	if (!r->ok && !r->why[0])
		snprintf(r->why, sizeof(r->why),
			 "%" PRIu64 " pages were to be left free and %" PRIu64
			 " are; the low watermarks add up to %" PRIu64 " pages",
			 f->target, f->left, zones_low(&l->zones));
}

static int fill_run(struct layout *l, const struct job_line *line, struct step_report *r)
{
	const char *unit = job_get(line, "leave_unit"), *kind = job_get(line, "kind");
	struct fill f = { .blocks = unit && strcmp(unit, "blocks") == 0,
			  .thp = kind && strcmp(kind, "thp") == 0 };
	uint64_t before[ZONES_MAX];
	char went[256] = "";

	f.left = measure(l, f.blocks);
	f.target = target_pages(l, unit ? unit : "bytes", job_get_i64(line, "leave", 0));
	region_count_zones(l, before);
	snprintf(r->asked, sizeof(r->asked), "\"leave_%s\":%" PRIu64, f.blocks ? "blocks" : "bytes",
		 f.blocks ? f.target >> l->block_order : f.target * 4096);
	take_all(l, &f, r);
	f.left = measure(l, f.blocks);
	where_it_went(l, before, went, sizeof(went));
	snprintf(r->got, sizeof(r->got),
		 "\"leave_%s\":%" PRIu64 ",\"filled_pages\":%" PRIu64 ",\"free_pages\":%" PRIu64
		 ",\"pcp_pages\":%" PRIu64 ",\"low_watermark_pages\":%" PRIu64 "%s",
		 f.blocks ? "blocks" : "bytes", f.blocks ? f.left >> l->block_order : f.left * 4096,
		 f.taken, zones_free(&l->zones), zones_pcp(&l->zones), zones_low(&l->zones), went);
	snprintf(r->how, sizeof(r->how), "MADV_POPULATE_WRITE, %s", f.thp ? "huge pages" : "base pages");
	judge(l, &f, r);
	return 0;
}

static const char *const fill_kinds[] = { "anon", "thp", NULL };
static const struct param_spec fill_params[] = {
	{ "kind", PARAM_CHOICE, NULL, "what to fill with", 0, 0, "anon", fill_kinds },
	{ "leave", PARAM_AMOUNT, NULL,
	  "free memory to leave: bytes, percent of RAM, multiples of the high watermarks, or whole "
	  "free pageblocks",
	  0, 0, NULL, NULL },
};
static const char *const fill_needs[] = { "file:/proc/kpageflags", NULL };
static const char *const fill_moves[] = { "nr_active_anon|nr_inactive_anon", NULL };

const struct layout_step step_fill = {
	.name = "fill",
	.summary = "take free memory with pages of one kind until so much is left",
	.params = fill_params,
	.nparams = sizeof(fill_params) / sizeof(fill_params[0]),
	.needs = fill_needs,
	.moves = fill_moves,
	.run = (void *)fill_run,
};
