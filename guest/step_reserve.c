// SPDX-License-Identifier: GPL-2.0-only
/*
 * reserve: pageblocks of type HighAtomic, which the kernel sets aside, up to 1 % of a zone, when an atomic
 * request above order 0 finds the zone below its low watermark. So the watermarks are raised around what
 * is free, for moments only: min stays below it, so that other requests are served, and low above. Of the
 * lower zones lowmem_reserve keeps everything meanwhile. The requests: guest/echo.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "guest/echo.h"
#include "guest/layout.h"
#include "guest/pagetype.h"
#include "guest/region.h"

#define TYPE "HighAtomic"
#define FLOOR_PAGES 4096 /* 16 MiB free: a tenth of it must do for the requests of others */
#define BURST 8		 /* echoes, some 64 pages; the watermarks follow */
#define ECHOES_A_BLOCK 256 /* 64 fill a block, and some meet a per-CPU list that has pages */

static struct {
	const char *path, *raised;
	char saved[128];
} knobs[] = {
	{ "/proc/sys/vm/min_free_kbytes", NULL, "" },
	/* At 10 the distance of low from min is a quarter of min, or a thousandth of the zone. */
	{ "/proc/sys/vm/watermark_scale_factor", "10", "" },
	{ "/proc/sys/vm/watermark_boost_factor", "0", "" },
	{ "/proc/sys/vm/lowmem_reserve_ratio", "1 1 1 1 1", "" },
};
#define KNOBS (sizeof(knobs) / sizeof(knobs[0]))

/* Where the kernel takes its own pages from first: the highest zone but Movable. */
static const struct zone *first_zone(const struct zones *z)
{
	const struct zone *best = NULL;

	for (size_t i = 0; i < z->n; i++)
		if (z->zone[i].managed && z->zone[i].index <= EXPR_ZONE_HIGHMEM &&
		    (!best || z->zone[i].index > best->index))
			best = &z->zone[i];
	return best;
}

/* vm.min_free_kbytes by which the zone's min is nine tenths of its free pages; 0: too few are free. */
static uint64_t min_kbytes(const struct zones *z)
{
	const struct zone *zone = first_zone(z);
	uint64_t shared = 0, free;

	if (!zone || zone->free < zone->cma + FLOOR_PAGES)
		return 0;
	/* A block that is in use may be free within, and is of no use to others. */
	free = zone->free - zone->cma - 512;
	for (size_t i = 0; i < z->n; i++)
		if (z->zone[i].index != EXPR_ZONE_MOVABLE && z->zone[i].index != EXPR_ZONE_DEVICE)
			shared += z->zone[i].managed;
	return free * 9 / 10 * shared / zone->managed * 4;
}

static void save(void)
{
	for (size_t i = 0; i < KNOBS; i++)
		if (file_slurp(knobs[i].path, knobs[i].saved, sizeof(knobs[i].saved)) <= 0)
			knobs[i].saved[0] = '\0';
}

static void restore(void)
{
	for (size_t i = 0; i < KNOBS; i++)
		if (knobs[i].saved[0])
			file_put(knobs[i].path, knobs[i].saved);
}

static int raise_marks(struct layout *l, struct step_report *r)
{
	char text[32];
	uint64_t kbytes;

	zones_read(&l->zones, l->block_order);
	kbytes = min_kbytes(&l->zones);
	if (!kbytes) {
		snprintf(r->why, sizeof(r->why),
			 "fewer than %d pages are free, in which it cannot be done; put reserve before the fill",
			 FLOOR_PAGES);
		return -1;
	}
	for (size_t i = 1; i < KNOBS; i++)
		file_put(knobs[i].path, knobs[i].raised);
	snprintf(text, sizeof(text), "%" PRIu64, kbytes);
	if (file_put(knobs[0].path, text) == 0)
		return 0;
	snprintf(r->why, sizeof(r->why), "vm.min_free_kbytes: %s", strerror(errno));
	return -1;
}

/* Until there are so many, or no more come. */
static int make(struct layout *l, struct echo *e, int64_t before, int64_t asked, struct step_report *r)
{
	int64_t most = asked * ECHOES_A_BLOCK;

	for (int64_t i = 0; i < most && pagetype_blocks(TYPE) - before < asked; i++) {
		if (i % BURST == 0 && raise_marks(l, r) < 0)
			return -1;
		if (echo_send(e) < 0) {
			snprintf(r->why, sizeof(r->why), "ICMP echo: %s", strerror(errno));
			return -1;
		}
		task_progress(l->child, (uint64_t)i, (uint64_t)most);
	}
	return 0;
}

static int reserve_run(struct layout *l, const struct job_line *line, struct step_report *r)
{
	int64_t before = pagetype_blocks(TYPE), asked = job_get_i64(line, "blocks", 1), got;
	struct echo e;
	int ret;

	snprintf(r->asked, sizeof(r->asked), "\"blocks\":%" PRId64, asked);
	if (before < 0 || echo_open(&e) < 0) {
		snprintf(r->why, sizeof(r->why), "%s: %s", before < 0 ? "/proc/pagetypeinfo" : "ICMP echo",
			 before < 0 ? "it shows no HighAtomic" : strerror(errno));
		return -1;
	}
	save();
	ret = make(l, &e, before, asked, r);
	restore();
	echo_close(&e);
	if (ret < 0)
		return -1;
	region_prune_freed(l);
	zones_read(&l->zones, l->block_order);
	got = pagetype_blocks(TYPE) - before;
	snprintf(r->got, sizeof(r->got), "\"blocks\":%" PRId64 ",\"before\":%" PRId64, got, before);
	snprintf(r->how, sizeof(r->how), "answers to ICMP echoes while the watermarks are raised");
	r->ok = layout_within(l, (uint64_t)asked, got < 0 ? 0 : (uint64_t)got);
	if (!r->ok)
		snprintf(r->why, sizeof(r->why),
			 "the kernel has set %" PRId64 " pageblocks aside; it keeps no more than 1 %% of a zone, of "
			 "which the first has %" PRIu64 " pages, and none where that is less than a pageblock",
			 got, first_zone(&l->zones)->managed);
	return 0;
}

static const char *const reserve_kinds[] = { "highatomic", NULL };
static const struct param_spec reserve_params[] = {
	{ "kind", PARAM_CHOICE, NULL, "what they are kept for", 0, 0, "highatomic", reserve_kinds },
	{ "blocks", PARAM_NUMBER, "pageblocks", "so many; the kernel keeps no more than 1% of a zone", 1, 1024,
	  NULL, NULL },
};
static const char *const reserve_needs[] = { "file:/proc/pagetypeinfo",
					     "sysctl:net.ipv4.icmp_echo_ignore_all", NULL };
static const char *const reserve_moves[] = { "pgalloc_dma32|pgalloc_normal", NULL };

static int reserve_check(const struct job_line *line, const struct step_context *c, struct step_fault *f)
{
	int64_t blocks = job_get_i64(line, "blocks", 1);
	uint64_t most = c->memory_bytes / 100 / STEP_BLOCK_BYTES + 1;
	size_t nodes = 0;

	for (size_t i = 0; i < c->nnodes; i++)
		nodes += c->node_bytes[i] != 0;
	if (nodes > 1)
		return step_fault(f, NULL, "the kernel would take from the other node; one node only can be made short");
	if ((uint64_t)blocks <= most)
		return 0;
	return step_fault_of_memory(f, "blocks",
				    "blocks is %" PRId64 ", and the kernel keeps no more than 1%% of a zone, "
				    "%" PRIu64 " pageblocks of %s",
				    blocks, most, size_text(c->memory_bytes).text);
}

const struct layout_step step_reserve = {
	.name = "reserve",
	.summary = "pageblocks that the kernel keeps for atomic requests above order 0",
	.params = reserve_params,
	.nparams = sizeof(reserve_params) / sizeof(reserve_params[0]),
	.needs = reserve_needs,
	.moves = reserve_moves,
	.run = (void *)reserve_run,
	.check = reserve_check,
};
