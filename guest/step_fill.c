// SPDX-License-Identifier: GPL-2.0-only
/*
 * fill: takes free memory with pages of one kind until so much is left; see guest/fill.h for the
 * kinds. thp leaves smaller free pages alone, so that the number of whole blocks left can be set
 * exactly after other steps have made holes.
 *
 * node: the pages are bound to it, and only it counts. zone: only the zone counts; since nothing can
 * be asked of one zone alone, what came from others is given back at the end.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/cannot.h"
#include "guest/fill.h"
#include "guest/fill_check.h"
#include "guest/region.h"

#define MIB_PAGES 256u
/* A big piece at a time while far from the target; each look at zoneinfo then costs nothing. */
#define FILL_PIECE_PAGES (256u * MIB_PAGES)

struct fill {
	const struct fill_kind *kind;
	bool blocks;	 /* the target is a number of whole blocks */
	int64_t node;	 /* -1: all */
	const char *zone; /* NULL: all */
	struct zones view; /* the zones that count, as last read */
	uint64_t target;   /* pages to leave */
	uint64_t left;	   /* pages that are left now, in the same sense */
	uint64_t taken;
};

static bool counts(const struct fill *f, const struct zone *z)
{
	return (f->node < 0 || f->node == z->node) && (!f->zone || strcasecmp(f->zone, z->name) == 0);
}

/* What "left" means in each unit, now, in pages. Pages on the per-CPU lists are free. */
static void measure(struct layout *l, struct fill *f)
{
	zones_read(&l->zones, l->block_order);
	f->view.n = 0;
	for (size_t i = 0; i < l->zones.n; i++)
		if (counts(f, &l->zones.zone[i]))
			f->view.zone[f->view.n++] = l->zones.zone[i];
	f->left = f->blocks ? zones_whole_blocks(&f->view) : zones_free(&f->view) + zones_pcp(&f->view);
}

static uint64_t target_pages(struct layout *l, const struct fill *f, const char *unit, int64_t leave)
{
	if (strcmp(unit, "percent") == 0)
		return zones_managed(&f->view) * (uint64_t)leave / 100;
	if (strcmp(unit, "high") == 0)
		return zones_high(&f->view) * (uint64_t)leave;
	if (strcmp(unit, "blocks") == 0)
		return (uint64_t)leave << l->block_order;
	return (uint64_t)leave / 4096;
}

/* Room in the zones that the kernel takes from before it comes to the one that counts. */
static uint64_t room_before(const struct layout *l, const struct fill *f)
{
	struct zones before = { .n = 0 };

	for (size_t i = 0; f->zone && i < l->zones.n; i++)
		if (l->zones.zone[i].index > f->view.zone[0].index &&
		    (f->node < 0 || f->node == l->zones.zone[i].node))
			before.zone[before.n++] = l->zones.zone[i];
	return zones_room(&before);
}

/*
 * Whether the target lies below what can be had: then the last pages are not worth an OOM kill. Of
 * whole blocks it is not known; those that come as huge pages come one at a time.
 */
static bool out_of_reach(const struct fill *f, uint64_t room)
{
	return f->blocks ? !f->kind->blocks : f->target + room < f->left;
}

/* Pages that may be taken in one go: half of the room at the most. */
static uint64_t next_piece(const struct layout *l, const struct fill *f)
{
	uint64_t excess = f->left - f->target, outside = room_before(l, f);
	uint64_t room = zones_room(&f->view) + outside;
	uint64_t piece = excess > 4 * FILL_PIECE_PAGES ? FILL_PIECE_PAGES :
			 excess > 64 * MIB_PAGES       ? excess / 4 :
			 excess > 16 * MIB_PAGES       ? excess / 2 :
							 2 * MIB_PAGES;

	if (room < ZONES_LEAST_ROOM && out_of_reach(f, room))
		return 0;
	/* Near the end small steps: a refill of the per-CPU lists breaks up blocks of its own. */
	if (piece > excess)
		piece = excess;
	if (piece < outside / 2)
		piece = outside / 2;
	if (piece > room / 2)
		piece = room / 2;
	if (f->blocks && piece >= l->block_pages) /* partly used blocks count as gone */
		piece = piece / l->block_pages * l->block_pages;
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

/* Until the target is reached, or no more can be had. */
static void take_all(struct layout *l, struct fill *f, struct step_report *r)
{
	uint64_t total = f->left;

	while (f->left > f->target + (f->blocks ? l->block_pages - 1 : 0)) {
		uint64_t piece = next_piece(l, f);
		int64_t got;

		if (!piece)
			return;
		task_progress(l->child, total - f->left,
			      total > f->target ? total - f->target : 1);
		got = f->kind->take(l, piece);
		if (got < 0)
			snprintf(r->why, sizeof(r->why), "%s: %s after %" PRIu64 " MiB", f->kind->how,
				 strerror(errno), f->taken / MIB_PAGES);
		if (got <= 0)
			return;
		f->taken += (uint64_t)got;
		measure(l, f);
	}
}

/* Pages taken since region_mark_held() that stand in no zone that counts. */
static int give_others_back(struct layout *l, struct fill *f, struct step_report *r)
{
	int64_t gone = -1;

	memset(l->pick, 0, l->pfn_end / 8 + 1);
	region_pick_not_held(l);
	for (uint32_t pfn = 0; pfn < l->pfn_end; pfn++)
		if (bit_test(l->pick, pfn) && zones_of_pfn(&f->view, pfn))
			bit_clear(l->pick, pfn);
	if (region_give_picked(l) == 0)
		gone = region_reread(l);
	if (gone < 0) {
		snprintf(r->why, sizeof(r->why), "cannot give pages of other zones back: %s",
			 strerror(errno));
		return -1;
	}
	f->taken -= (uint64_t)gone;
	return 0;
}

static int bind_to(const struct fill *f, struct step_report *r)
{
	unsigned long mask[16] = { 0 };

	if (f->node < 0)
		return 0;
	mask[f->node / 64] = 1ul << f->node % 64;
	if (syscall(__NR_set_mempolicy, MPOL_BIND, mask, 1024ul) == 0)
		return 0;
	snprintf(r->why, sizeof(r->why), "node %d: %s", (int)f->node, strerror(errno));
	return -1;
}

static int fill(struct layout *l, struct fill *f, struct step_report *r)
{
	int ret = bind_to(f, r);

	if (ret == 0 && f->zone)
		region_mark_held(l);
	if (f->kind->begin)
		f->kind->begin();
	if (ret == 0)
		take_all(l, f, r);
	if (f->kind->end)
		f->kind->end();
	if (ret == 0 && f->zone)
		ret = give_others_back(l, f, r);
	if (f->node >= 0)
		syscall(__NR_set_mempolicy, MPOL_DEFAULT, NULL, 0ul);
	if (!f->kind->own)
		region_prune_freed(l);
	measure(l, f);
	return ret;
}

/* Pages in the unit that the step is asked in. */
static uint64_t in_unit(const struct layout *l, const struct fill *f, uint64_t pages)
{
	return f->blocks ? pages >> l->block_order : pages * 4096;
}

/*
 * Base pages come by way of the per-CPU lists, whose refills break up blocks of their own: whole
 * blocks cannot be hit closer than a few with them, but exactly with huge pages.
 */
static void judge(struct layout *l, const struct fill *f, struct step_report *r)
{
	uint64_t slack = f->kind->blocks ? l->block_pages : f->blocks ? 2 * l->block_pages : MIB_PAGES;
	bool near = layout_within_slack(l, in_unit(l, f, f->target), in_unit(l, f, f->left),
					in_unit(l, f, slack));

	r->ok = near && !r->why[0];
	if (!r->ok && !r->why[0])
		snprintf(r->why, sizeof(r->why),
			 "%" PRIu64 " pages were to be left free and %" PRIu64
			 " are; the low watermarks add up to %" PRIu64 " pages",
			 f->target, f->left, zones_low(&f->view));
}

static const struct fill_kind *const kinds[] = { &fill_anon, &fill_thp,	 &fill_file,
						 &fill_shmem, &fill_slab, &fill_hugetlb };

static int read_params(struct layout *l, const struct job_line *line, struct fill *f,
		       struct step_report *r)
{
	const char *kind = job_get(line, "kind"), *unit = job_get(line, "leave_unit");

	*f = (struct fill){ .kind = &fill_anon, .node = job_get_i64(line, "node", -1),
			    .zone = job_get(line, "zone"),
			    .blocks = unit && strcmp(unit, "blocks") == 0 };
	for (size_t i = 0; kind && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i]->name, kind) == 0)
			f->kind = kinds[i];
	measure(l, f);
	f->target = target_pages(l, f, unit ? unit : "bytes", job_get_i64(line, "leave", 0));
	if (f->zone && !f->kind->own)
		return step_cannot(r, "zone: pages of %s cannot be given back one by one", f->kind->name);
	return f->view.n && zones_managed(&f->view) ? 0 : step_no_memory(l, f->zone, f->node, r);
}

static int fill_run(struct layout *l, const struct job_line *line, struct step_report *r)
{
	static struct fill f; /* 8 KiB, with its zones */
	uint64_t before[ZONES_MAX];
	char went[256] = "";

	if (read_params(l, line, &f, r) < 0)
		return -1;
	region_count_zones(l, before);
	snprintf(r->asked, sizeof(r->asked), "\"leave_%s\":%" PRIu64, f.blocks ? "blocks" : "bytes",
		 in_unit(l, &f, f.target));
	if (fill(l, &f, r) < 0)
		return -1;
	where_it_went(l, before, went, sizeof(went));
	snprintf(r->got, sizeof(r->got),
		 "\"leave_%s\":%" PRIu64 ",\"filled_pages\":%" PRIu64 ",\"free_pages\":%" PRIu64
		 ",\"pcp_pages\":%" PRIu64 ",\"low_watermark_pages\":%" PRIu64 "%s",
		 f.blocks ? "blocks" : "bytes", in_unit(l, &f, f.left),
		 f.taken, zones_free(&f.view), zones_pcp(&f.view), zones_low(&f.view), went);
	snprintf(r->how, sizeof(r->how), "%s", f.kind->how);
	judge(l, &f, r);
	return 0;
}

static const char *const fill_kinds[] = { "anon", "thp", "file", "shmem", "slab", "hugetlb", NULL };
static const char *const fill_zones[] = { "dma", "dma32", "normal", "movable", NULL };
static const struct param_spec fill_params[] = {
	{ "kind", PARAM_CHOICE, NULL, "what to fill with", 0, 0, "anon", fill_kinds },
	{ "leave", PARAM_AMOUNT, NULL,
	  "free memory to leave: bytes, per cent of RAM, multiples of the high watermarks, or whole "
	  "free pageblocks",
	  0, 0, NULL, NULL },
	{ "zone", PARAM_CHOICE, NULL, "fill only this zone, with anon or thp", 0, 0, "", fill_zones },
	{ "node", PARAM_NUMBER, NULL, "fill only this NUMA node", 0, 1023, "", NULL },
};
static const char *const fill_needs[] = { "file:/proc/kpageflags", NULL };
static const char *const fill_moves[] = { "nr_active_anon|nr_inactive_anon|nr_file_pages|"
					  "nr_slab_reclaimable|nr_slab_unreclaimable|htlb_buddy_alloc_success",
					  NULL };

/* Debian 12's kernel has it as a module, later ones built in. */
static const char *fill_module(const struct job_line *line)
{
	const char *kind = job_get(line, "kind");

	return kind && strcmp(kind, "file") == 0 ? "fuse" : NULL;
}

const struct layout_step step_fill = {
	.name = "fill",
	.summary = "take free memory with pages of one kind until so much is left",
	.params = fill_params,
	.nparams = sizeof(fill_params) / sizeof(fill_params[0]),
	.needs = fill_needs,
	.moves = fill_moves,
	.run = (void *)fill_run,
	.check = fill_check,
	.after = fill_after,
	.module = fill_module,
};
