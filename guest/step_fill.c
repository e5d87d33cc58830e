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

static int populate(struct layout *l, size_t pages, bool thp)
{
	uint8_t *at = l->region + l->filled_pages * 4096;

	if (thp && madvise(at, pages * 4096, MADV_HUGEPAGE) < 0)
		return -1;

	if (madvise(at, pages * 4096, MADV_POPULATE_WRITE) < 0) {
		if (errno != EINVAL)
			return -1;
		for (size_t i = 0; i < pages; i++) /* before 5.14 */
			*(volatile uint8_t *)(at + i * 4096) = 1;
	}
	l->filled_pages += pages;
	return 0;
}

/*
 * Pages that an ordinary request may take without waking anybody: above the low watermark and what
 * lowmem_reserve keeps, zone by zone. Counting in the 442 pages that the DMA zone of a 512 MiB guest
 * keeps, or what sits on the list of another CPU, made a fill to 0 bytes end in an OOM kill.
 */
static uint64_t room_pages(const struct zones *zones)
{
	uint64_t room = 0;

	for (size_t i = 0; i < zones->n; i++) {
		const struct zone *z = &zones->zone[i];
		uint64_t keep = z->low + z->reserve;

		room += z->free > keep ? z->free - keep : 0;
	}
	return room;
}

/* Pages that may be taken in one go: half of the room at the most. */
static uint64_t next_piece(struct layout *l, uint64_t excess)
{
	uint64_t room = room_pages(&l->zones) / 2;
	uint64_t piece = excess > 4 * FILL_PIECE_PAGES ? FILL_PIECE_PAGES :
			 excess > 64 * MIB_PAGES       ? excess / 4 :
			 excess > 16 * MIB_PAGES       ? excess / 2 :
							 2 * MIB_PAGES;

	/* Near the end small steps: a refill of the per-CPU lists breaks up blocks of its own. */
	if (piece > excess)
		piece = excess;
	if (piece > room)
		piece = room;
	if (piece > l->region_pages - l->filled_pages)
		piece = l->region_pages - l->filled_pages;
	return piece;
}

/* Where the fill went: ",\"zone_DMA32\":pages,...,\"pfn_min\":..,\"pfn_max\":..". */
static void where_it_went(struct layout *l, size_t first, char *out, size_t room)
{
	uint64_t count[ZONES_MAX] = { 0 };
	uint32_t min = UINT32_MAX, max = 0;
	size_t n = 0;

	for (size_t i = first; i < l->filled_pages; i++) {
		uint32_t pfn = LAYOUT_PFN(l->pfn[i]);
		const struct zone *zone = pfn == LAYOUT_GONE ? NULL : zones_of_pfn(&l->zones, pfn);

		if (!zone)
			continue;
		count[zone - l->zones.zone]++;
		min = pfn < min ? pfn : min;
		max = pfn > max ? pfn : max;
	}
	for (size_t z = 0; z < l->zones.n && n < room; z++)
		if (count[z])
			n += (size_t)snprintf(out + n, room - n, ",\"node%d_%s\":%" PRIu64,
					      l->zones.zone[z].node, l->zones.zone[z].name, count[z]);
	if (max && n < room)
		snprintf(out + n, room - n, ",\"pfn_min\":%u,\"pfn_max\":%u", min, max);
}

static int fill_run(struct layout *l, const struct job_line *line, struct step_report *r)
{
	const char *unit = job_get(line, "leave_unit");
	bool blocks = unit && strcmp(unit, "blocks") == 0;
	uint64_t left = measure(l, blocks), total = left;
	uint64_t target = target_pages(l, unit ? unit : "bytes", job_get_i64(line, "leave", 0));
	char went[256] = "";
	uint64_t slack;
	size_t first = l->filled_pages;
	const char *kind = job_get(line, "kind");
	bool thp = kind && strcmp(kind, "thp") == 0;
	uint64_t step = 0; /* thp: one block a time */

	if (thp) {
		l->filled_pages = layout_align(l);
		first = l->filled_pages;
		step = l->block_pages;
	}
	snprintf(r->asked, sizeof(r->asked), "\"leave_%s\":%" PRIu64, blocks ? "blocks" : "bytes",
		 blocks ? target >> l->block_order : target * 4096);
	while (left > target + (blocks ? l->block_pages - 1 : 0)) {
		uint64_t excess = left - target, piece = next_piece(l, excess);

		if (blocks && piece >= l->block_pages) /* partly used blocks count as gone */
			piece = piece / l->block_pages * l->block_pages;
		if (step && piece)
			piece = step;
		if (!piece)
			break;
		task_progress(l->child, total - left, total > target ? total - target : 1);
		if (populate(l, piece, thp) < 0) {
			snprintf(r->why, sizeof(r->why), "populate at %zu MiB failed: %s",
				 l->filled_pages / MIB_PAGES, strerror(errno));
			break;
		}
		left = measure(l, blocks);
	}
	if (layout_read_pfns(l, first, l->filled_pages - first) < 0) {
		snprintf(r->why, sizeof(r->why), "cannot read /proc/self/pagemap: %s", strerror(errno));
		return -1;
	}
	left = measure(l, blocks);
	/*
	 * Base pages come by way of the per-CPU lists, whose refills break up blocks of their own:
	 * whole blocks cannot be hit closer than a few with them, but exactly with huge pages.
	 */
	where_it_went(l, first, went, sizeof(went));
	slack = !blocks ? MIB_PAGES : thp ? l->block_pages : 2 * l->block_pages;
	snprintf(r->got, sizeof(r->got),
		 "\"leave_%s\":%" PRIu64 ",\"filled_pages\":%zu,\"free_pages\":%" PRIu64
		 ",\"pcp_pages\":%" PRIu64 ",\"low_watermark_pages\":%" PRIu64 "%s",
		 blocks ? "blocks" : "bytes", blocks ? left >> l->block_order : left * 4096,
		 l->filled_pages - first, zones_free(&l->zones), zones_pcp(&l->zones),
		 zones_low(&l->zones), went);
	snprintf(r->how, sizeof(r->how), "MADV_POPULATE_WRITE, %s", thp ? "huge pages" : "base pages");
	r->ok = !r->why[0] && (layout_within(l, target, left) ||
			       (left > target ? left - target : target - left) <= slack);
	if (!r->ok && !r->why[0])
		snprintf(r->why, sizeof(r->why),
			 "%" PRIu64 " pages were to be left free and %" PRIu64
			 " are; the low watermarks add up to %" PRIu64 " pages",
			 target, left, zones_low(&l->zones));
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
