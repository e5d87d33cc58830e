// SPDX-License-Identifier: GPL-2.0-only
#include "guest/layout.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest/mix_blocks.h"
#include "guest/mixed.h"
#include "guest/proof.h"
#include "guest/region.h"

#define CHUNK 8192
#define PAGEMAP_PRESENT (1ULL << 63)
#define PAGEMAP_PFN ((1ULL << 55) - 1)

static uint64_t pagemap_chunk[CHUNK];

static void *reserve(size_t bytes, int flags)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int read_consts(struct layout *l)
{
	const struct job_line *line = NULL;
	size_t n = 0;

	while ((line = job_next(l->job, line, "const")))
		n++;
	l->consts = calloc(n + 1, sizeof(*l->consts));
	if (!l->consts)
		return -1;
	while ((line = job_next(l->job, line, "const")))
		l->consts[l->nconsts++] = (struct expr_const){ job_get(line, "name"),
							       job_get_i64(line, "value", 0),
							       job_get(line, "decimal") };
	return 0;
}

static bool has_steps(const struct layout *l)
{
	return job_next(l->job, NULL, "step");
}

/* Where the machine's memory lies, and how it is read. NULL, or what is in the way. */
static const char *find_memory(struct layout *l)
{
	uint64_t end = 0;

	l->block_order = pageblock_order();
	l->block_pages = 1u << l->block_order;
	if (zones_read(&l->zones, l->block_order) < 0)
		return "cannot read /proc/zoneinfo";
	for (size_t i = 0; i < l->zones.n; i++) {
		const struct zone *z = &l->zones.zone[i];

		if (z->start_pfn + z->spanned > end)
			end = z->start_pfn + z->spanned;
		l->has_movable |= z->index == EXPR_ZONE_MOVABLE && z->managed;
	}
	if (end >= LAYOUT_GONE)
		return "a guest of 4 TiB or more is too large";
	l->pfn_end = (uint32_t)end;
	l->nblocks = end / l->block_pages + 1;
	l->map.pfn_end = end;
	l->map.order = l->block_order;
	ram_read(&l->map.ram);
	if (pageblocks_init(&l->map) < 0)
		return "no address space for the map of the pageblocks";
	l->map.kpageflags_fd = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	memmap_open(&l->map.memmap, "/proc/kcore"); /* without, the map says less */
	return NULL;
}

int layout_init(struct layout *l, struct task_child *child, const struct job *job)
{
	const char *why;

	memset(l, 0, sizeof(*l));
	l->map.kpageflags_fd = -1;
	l->child = child;
	l->job = job;
	l->seed = (uint64_t)job_option(job, "seed", 1);
	judge_init(l);
	why = find_memory(l);
	if (!has_steps(l)) {
		if (why || l->map.kpageflags_fd < 0)
			task_send(child, WIRE_LOG, "no map of the pageblocks: %s",
				  why ? why : "/proc/kpageflags is missing");
		return 0;
	}
	if (why)
		return task_fail(child, "infra", "layout: %s", why);
	if (read_consts(l) < 0)
		return task_fail(child, "infra", "layout: no memory for the constants");
	l->region_pages = zones_managed(&l->zones) / l->block_pages * l->block_pages;
	l->pagemap_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (l->pagemap_fd < 0 || l->map.kpageflags_fd < 0)
		return task_fail(child, "unsupported",
				 "/proc/kpageflags: missing; the kernel needs CONFIG_PROC_PAGE_MONITOR=y");
	l->region = reserve(l->region_pages * 4096 + 4096 * (size_t)l->block_pages, 0);
	l->pfn = reserve(l->region_pages * sizeof(uint32_t), MAP_POPULATE);
	l->block = reserve(l->nblocks * sizeof(uint32_t), MAP_POPULATE);
	l->freed = reserve(l->pfn_end / 8 + 1, MAP_POPULATE);
	l->pinned = reserve(l->pfn_end / 8 + 1, MAP_POPULATE);
	if (!l->region || !l->pfn || !l->block || !l->freed || !l->pinned || region_init(l) < 0 ||
	    mix_blocks_init(l) < 0)
		return task_fail(child, "infra", "layout: no address space for the bookkeeping");
	l->map.freed = l->freed;
	l->map.pinned = l->pinned;
	/* Aligned, and never huge: a layout is made of single pages. */
	l->region = (uint8_t *)(((uintptr_t)l->region + 4096 * (uintptr_t)l->block_pages - 1) &
				~(4096 * (uintptr_t)l->block_pages - 1));
	madvise(l->region, l->region_pages * 4096, MADV_NOHUGEPAGE);
	return 0;
}

int layout_read_pfns(struct layout *l, size_t from, size_t n)
{
	uintptr_t first = (uintptr_t)l->region / 4096;

	for (size_t i = 0; i < n;) {
		size_t want = n - i < CHUNK ? n - i : CHUNK;
		ssize_t got = pread(l->pagemap_fd, pagemap_chunk, want * 8,
				    (off_t)((first + from + i) * 8));

		if (got < 8)
			return -1;
		for (size_t k = 0; k < (size_t)got / 8; k++) {
			uint32_t *slot = &l->pfn[from + i + k];
			uint64_t e = pagemap_chunk[k];

			*slot = (*slot & (LAYOUT_PINNED | LAYOUT_CHOSEN)) |
				(e & PAGEMAP_PRESENT ? (uint32_t)(e & PAGEMAP_PFN) : LAYOUT_GONE);
		}
		i += (size_t)got / 8;
	}
	return 0;
}

size_t layout_align(struct layout *l)
{
	size_t at = l->filled_pages;

	for (; at % l->block_pages && at < l->region_pages; at++)
		l->pfn[at] = LAYOUT_GONE;
	return at;
}

struct expr *layout_where(struct layout *l, const struct job_line *line, struct step_report *r)
{
	const char *text = job_get(line, "where");
	struct expr_error e;
	struct expr *x;

	/* `round` of a step within repeat: the last of the constants, for this line only. */
	l->consts[l->nconsts] = (struct expr_const){ "round", job_get_i64(line, "round", 0), NULL };
	x = expr_compile(text ? text : "1", (1u << EXPR_VAR_COUNT) - 1, l->consts,
			 l->nconsts + !!job_get(line, "round"), &e);

	if (!x)
		snprintf(r->why, sizeof(r->why), "where: column %d: %s", e.column, e.text);
	else if (expr_uses(x) & 1u << EXPR_CMA &&
		 cma_read(&l->cma, l->block_pages, r->why, sizeof(r->why)) < 0) {
		expr_free(x);
		x = NULL;
	}
	return x;
}

int layout_select(struct layout *l, const struct expr *where, size_t from, size_t n, uint8_t *out)
{
	bool zoned = expr_uses(where) & (1u << EXPR_ZONE | 1u << EXPR_NODE);
	bool reserved = expr_uses(where) & 1u << EXPR_CMA, cma = false;
	static uint32_t clean[CHUNK];

	for (size_t i = 0; i < n;) {
		const struct zone *zone = NULL;
		size_t run = 0;

		for (; i + run < n && run < CHUNK; run++) {
			uint32_t pfn = LAYOUT_PFN(l->pfn[from + i + run]);

			if (zoned && run && zones_of_pfn(&l->zones, pfn) != zone)
				break;
			if (reserved && run && cma_has(&l->cma, pfn) != cma)
				break;
			if (zoned && !run)
				zone = zones_of_pfn(&l->zones, pfn);
			if (reserved && !run)
				cma = cma_has(&l->cma, pfn);
			clean[run] = pfn;
		}
		if (expr_eval_pfns(where, clean, run, l->block_pages, l->seed, zone ? zone->index : 0,
				   zone ? zone->node : 0, cma, out + i) != EXPR_OK)
			return -1;
		for (size_t k = 0; k < run; k++)
			if (clean[k] == LAYOUT_GONE)
				out[i + k] = 0;
		i += run;
	}
	return 0;
}

void layout_begin(struct layout *l, int index, const char *name)
{
	task_send(l->child, WIRE_STEP, "{\"index\":%d,\"step\":\"%s\",\"begun\":true}", index, name);
	judge_begin(l);
}

void layout_report(struct layout *l, int index, const char *name, uint64_t start_ns,
		   const struct step_report *r)
{
	char why[512], how[512], judged[128];

	json_escape(why, sizeof(why), r->why);
	json_escape(how, sizeof(how), r->how);
	judge_json(&l->judged, judged, sizeof(judged));
	task_send(l->child, WIRE_STEP,
		  "{\"index\":%d,\"step\":\"%s\",\"asked\":{%s},\"got\":{%s}%s,\"seconds\":%.3f,"
		  "\"ok\":%s,\"how\":\"%s\",\"why\":\"%s\"}",
		  index, name, r->asked, r->got, judged, (double)(mono_ns() - start_ns) / 1e9,
		  r->ok ? "true" : "false", how, why);
}

static void send_map(struct layout *l, enum wire_phase phase)
{
	if (l->map.kpageflags_fd >= 0 && pageblocks_read(&l->map, l->child) >= 0)
		pageblocks_send(&l->map, l->child, phase);
}

void layout_complete_why(const struct layout *l, struct step_report *r)
{
	char judged[160];
	size_t n = strlen(r->why);

	judge_text(&l->judged, judged, sizeof(judged));
	if (*judged)
		snprintf(r->why + n, sizeof(r->why) - n, "%s%s", n ? "; " : "", judged);
	else if (!n)
		snprintf(r->why, sizeof(r->why), "what it got is not what was asked for");
}

static int run_step(struct layout *l, int index, const struct job_line *line)
{
	const char *name = job_get(line, "do");
	const struct layout_step *step = name ? layout_step_find(name) : NULL;
	struct step_report r = { .ok = true };
	uint64_t start = mono_ns();

	if (!step)
		return task_fail(l->child, "infra", "layout step %d: unknown step \"%s\"",
				 index + 1, name ? name : "");
	layout_begin(l, index, name);
	if (((layout_step_fn)step->run)(l, line, &r) < 0)
		r.ok = false;
	if (!r.ok)
		layout_complete_why(l, &r);
	layout_report(l, index, name, start, &r);
	if (r.ok)
		return 0;
	send_map(l, PHASE_LAYOUT); /* how far it came is what the reader wants to see now */
	return task_fail(l->child, r.cannot ? "unsupported" : "infra", "layout step %d (%s): %s", index + 1, name,
			 r.why);
}

static int run_steps(struct layout *l)
{
	const struct job_line *line = NULL;
	bool lowered = pcp_limit_lower();
	int index = 0, ret = 0;

	while (ret == 0 && (line = job_next(l->job, line, "step")))
		ret = run_step(l, index++, line);
	if (ret == 0)
		ret = proof_run(l, index++, lowered);
	if (ret == 0)
		ret = mixed_report(l, &index);
	pcp_limit_restore();
	l->nsteps = index;
	if (ret == 0)
		task_send(l->child, TASK_DONE, "%s", "");
	return ret;
}

int layout_run(struct layout *l)
{
	if (has_steps(l))
		return run_steps(l);
	layout_map(l, PHASE_LAYOUT);
	return 0;
}

void layout_map(struct layout *l, enum wire_phase phase)
{
	send_map(l, phase);
	task_send(l->child, TASK_DONE, "%s", "");
}
