// SPDX-License-Identifier: GPL-2.0-only
/*
 * reclaim: makes the kernel take back so much memory that can be had without losing anything: page
 * cache, slab with a shrinker, and anonymous pages where there is swap. Through memory.reclaim of
 * the root of cgroup v2 (5.19), which takes an amount; where the kernel has none, all clean page
 * cache goes (drop_caches), and no amount can be kept.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/region.h"

#define CGROUP "/cgroup"
#define PIECE_BYTES (8u << 20) /* small enough for the progress to be seen, and the target to be kept */

/*
 * Of the root cgroup: before 6.14 what memory.reclaim takes is not counted in /proc/vmstat. The key's
 * blank keeps pgsteal_kswapd and the like out, which are parts of it.
 */
static uint64_t stolen(void)
{
	static const char *const all[] = { "pgsteal " };
	static const char *const parts[] = { "pgsteal_kswapd", "pgsteal_direct", "pgsteal_khugepaged" };
	static char text[65536];

	if (file_slurp(CGROUP "/memory.stat", text, sizeof(text)) > 0)
		return vmstat_parse_sum(text, all, 1);
	return vmstat_sum(parts, sizeof(parts) / sizeof(parts[0]));
}

static bool has_amounts(void)
{
	mkdir(CGROUP, 0755);
	if (access(CGROUP "/memory.reclaim", W_OK) < 0)
		mount("cgroup2", CGROUP, "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
	return access(CGROUP "/memory.reclaim", W_OK) == 0;
}

/* Until so many pages are had, or a piece gives nothing. */
static void reclaim_pages(struct layout *l, uint64_t pages)
{
	uint64_t start = stolen(), had = 0, before;

	do {
		uint64_t bytes = (pages - had) * 4096 < PIECE_BYTES ? (pages - had) * 4096 : PIECE_BYTES;
		char text[32];

		before = had;
		snprintf(text, sizeof(text), "%" PRIu64, bytes);
		/* EAGAIN: less than that; what it was is read from the counters. */
		if (file_put(CGROUP "/memory.reclaim", text) < 0 && errno != EAGAIN)
			return;
		had = stolen() - start;
		task_progress(l->child, had, pages);
	} while (had < pages && had > before);
}

static int reclaim_run(struct layout *l, const struct job_line *line, struct step_report *r)
{
	uint64_t asked = (uint64_t)job_get_i64(line, "bytes", 0) / 4096, before, free, got;
	bool amounts = has_amounts();

	before = stolen();
	zones_read(&l->zones, l->block_order);
	free = zones_free(&l->zones) + zones_pcp(&l->zones);
	if (amounts) {
		snprintf(r->how, sizeof(r->how), "memory.reclaim of the root cgroup");
		reclaim_pages(l, asked);
	} else {
		snprintf(r->how, sizeof(r->how), "drop_caches: this kernel has no memory.reclaim (5.19)");
		file_put("/proc/sys/vm/drop_caches", "3");
	}
	got = stolen() - before;
	if (region_reread(l) < 0 || region_prune_freed(l) < 0) {
		snprintf(r->why, sizeof(r->why), "cannot read pagemap or kpageflags: %s", strerror(errno));
		return -1;
	}
	zones_read(&l->zones, l->block_order);
	snprintf(r->asked, sizeof(r->asked), "\"pages\":%" PRIu64, asked);
	snprintf(r->got, sizeof(r->got), "\"pages\":%" PRIu64 ",\"free_pages_gained\":%" PRId64, got,
		 (int64_t)(zones_free(&l->zones) + zones_pcp(&l->zones) - free));
	/* More than asked comes of the size of the kernel's own batches, and does no harm. */
	r->ok = layout_within(l, asked, got < asked ? got : asked);
	if (!r->ok)
		snprintf(r->why, sizeof(r->why),
			 "%" PRIu64 " of %" PRIu64 " pages could be reclaimed; is there page cache, or swap?",
			 got, asked);
	return 0;
}

static const struct param_spec reclaim_params[] = {
	{ "bytes", PARAM_BYTES, NULL, "how much", 4096, 0, NULL, NULL },
};
static const char *const reclaim_needs[] = { "file:/proc/kpageflags", NULL };
static const char *const reclaim_moves[] = { "pgsteal", NULL };

static int reclaim_check(const struct job_line *line, const struct step_context *c,
			 struct step_fault *f)
{
	uint64_t bytes = (uint64_t)job_get_i64(line, "bytes", 0);

	if (!c->swap && !c->cache)
		return step_fault(
			f, NULL,
			"there is nothing to reclaim: the guest has no swap, and no step before it fills page "
			"cache; give it vm: {swap: {size: 512M}}, or put fill: {kind: file, leave: ...} before");
	if (bytes <= c->memory_bytes)
		return 0;
	return step_fault_of_memory(
		f, "bytes",
		"bytes is %s, and the guest has %s; ask for less, or give it more memory",
		size_text(bytes).text, size_text(c->memory_bytes).text);
}

const struct layout_step step_reclaim = {
	.name = "reclaim",
	.summary = "make the kernel take back page cache, slab, and what can be swapped",
	.params = reclaim_params,
	.nparams = sizeof(reclaim_params) / sizeof(reclaim_params[0]),
	.needs = reclaim_needs,
	.moves = reclaim_moves,
	.run = (void *)reclaim_run,
	.check = reclaim_check,
	.after = step_gives_back,
};
