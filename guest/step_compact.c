// SPDX-License-Identifier: GPL-2.0-only
/*
 * compact: one pass of compaction over all memory. Pages of the fill move; where they are is read
 * again. A pin that moved is no pin, and ends the layout.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "guest/pin_check.h"
#include "guest/region.h"

static const char *const keys[] = { "compact_migrate_scanned", "compact_free_scanned",
				    "pgmigrate_success", "pgmigrate_fail" };
#define KEYS (sizeof(keys) / sizeof(keys[0]))

static void read_keys(uint64_t v[KEYS])
{
	for (size_t i = 0; i < KEYS; i++)
		v[i] = vmstat_sum(&keys[i], 1);
}

static int compact_run(struct layout *l, const struct job_line *line, struct step_report *r)
{
	uint64_t before[KEYS], after[KEYS], whole, moved, pins;
	size_t n;

	read_keys(before);
	zones_read(&l->zones, l->block_order);
	whole = zones_whole_blocks(&l->zones) >> l->block_order;
	if (file_put("/proc/sys/vm/compact_memory", "1") < 0) {
		snprintf(r->why, sizeof(r->why), "vm.compact_memory: %s", strerror(errno));
		return -1;
	}
	read_keys(after);
	pins = pin_check(l, &moved);
	if (layout_read_pfns(l, 0, l->filled_pages) < 0 || region_prune_freed(l) < 0) {
		snprintf(r->why, sizeof(r->why), "cannot read pagemap or kpageflags: %s", strerror(errno));
		return -1;
	}
	zones_read(&l->zones, l->block_order);
	snprintf(r->asked, sizeof(r->asked), "\"pins_moved\":0");
	n = (size_t)snprintf(r->got, sizeof(r->got),
			     "\"whole_blocks_before\":%" PRIu64 ",\"whole_blocks\":%" PRIu64
			     ",\"pins\":%" PRIu64 ",\"pins_moved\":%" PRIu64,
			     whole, zones_whole_blocks(&l->zones) >> l->block_order, pins, moved);
	for (size_t i = 0; i < KEYS; i++)
		n += (size_t)snprintf(r->got + n, sizeof(r->got) - n, ",\"%s\":%" PRIu64, keys[i],
				      after[i] - before[i]);
	snprintf(r->how, sizeof(r->how), "vm.compact_memory");
	r->ok = layout_within_ppm(l, judge_ppm(moved, pins), 0);
	if (moved)
		snprintf(r->why, sizeof(r->why), "%" PRIu64 " of %" PRIu64 " pins moved", moved, pins);
	return 0;
}

static const char *const compact_needs[] = { "file:/proc/sys/vm/compact_memory", "file:/proc/kpageflags",
					     NULL };
static const char *const compact_moves[] = { "compact_migrate_scanned", NULL };

const struct layout_step step_compact = {
	.name = "compact",
	.summary = "compact all memory once",
	.needs = compact_needs,
	.moves = compact_moves,
	.run = (void *)compact_run,
	.after = step_gives_back,
};
