// SPDX-License-Identifier: GPL-2.0-only
/* free: gives back the pages of the fill that a predicate selects. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "guest/cannot.h"
#include "guest/layout.h"
#include "guest/region.h"
#include "guest/release.h"

#define CHUNK 8192

/* One chunk's pages that may go; -1: division by zero. */
static int select_chunk(struct layout *l, const struct expr *where, size_t i, size_t m, uint8_t *picked)
{
	if (layout_select(l, where, i, m, picked) < 0)
		return -1;
	for (size_t k = 0; k < m; k++)
		if (l->pfn[i + k] & LAYOUT_PINNED)
			picked[k] = 0;
	return 0;
}

static int64_t count_candidates(struct layout *l, const struct expr *where)
{
	static uint8_t picked[CHUNK];
	int64_t n = 0;

	for (size_t i = 0; i < l->filled_pages; i += CHUNK) {
		size_t m = l->filled_pages - i < CHUNK ? l->filled_pages - i : CHUNK;

		if (select_chunk(l, where, i, m, picked) < 0)
			return -1;
		for (size_t k = 0; k < m; k++)
			n += picked[k];
	}
	return n;
}

/* The caller reads pagemap again to prove it. */
static int release(struct layout *l, const struct expr *where, struct sample sample,
		   struct step_report *r)
{
	static struct release b;
	static uint8_t picked[CHUNK];

	memset(&b, 0, sizeof(b));
	for (size_t i = 0; i < l->filled_pages; i += CHUNK) {
		size_t m = l->filled_pages - i < CHUNK ? l->filled_pages - i : CHUNK;

		if (select_chunk(l, where, i, m, picked) < 0)
			return -1;
		for (size_t k = 0; k < m; k++) {
			if (!picked[k] || !sample_take(&sample, LAYOUT_PFN(l->pfn[i + k])))
				continue;
			if (release_add(&b, l->region + (i + k) * 4096) < 0)
				goto failed;
		}
		if (i % (64 * CHUNK) == 0)
			task_progress(l->child, i, l->filled_pages);
	}
	if (release_flush(&b) < 0)
		goto failed;
	snprintf(r->how, sizeof(r->how), "%s", b.single ? "madvise" : "process_madvise");
	return 0;
failed:
	snprintf(r->why, sizeof(r->why), "MADV_DONTNEED: %s", strerror(errno));
	return -1;
}

/* How many were to go, or -1 with r->why. */
static int64_t give_back(struct layout *l, const struct job_line *line, const struct expr *where,
			 struct step_report *r)
{
	int64_t candidates = count_candidates(l, where), want;

	if (candidates <= 0)
		return candidates ? step_divides_by_zero(r) : step_no_page(l, r);
	want = sample_size(line, (uint64_t)candidates, r);
	if (want < 0 || release(l, where,
				(struct sample){ (uint64_t)candidates, (uint64_t)want, l->seed ^ 0x66726565 },
				r) < 0)
		return -1;
	return want;
}

/*
 * Where the predicate names the CMA areas: pages of them that the kernel counts as free of that type.
 * Asked is what it had before, and what this step has given back of them.
 */
static void add_cma(struct layout *l, uint64_t asked, struct step_report *r)
{
	size_t a = strlen(r->asked), g = strlen(r->got);

	snprintf(r->asked + a, sizeof(r->asked) - a, ",\"cma_free_pages\":%" PRIu64, asked);
	snprintf(r->got + g, sizeof(r->got) - g,
		 ",\"cma_free_pages\":%" PRIu64 ",\"cma_pages\":%" PRIu64, zones_cma(&l->zones),
		 l->cma.pages);
	r->ok &= layout_within_slack(l, asked, zones_cma(&l->zones), zones_pcp(&l->zones));
}

/* Pages of CMA areas that the layout has given back and not taken again. */
static uint64_t cma_freed(const struct layout *l)
{
	uint64_t n = 0;

	for (size_t i = 0; i < l->cma.n; i++)
		for (uint64_t pfn = l->cma.area[i].first; pfn < l->cma.area[i].end && pfn < l->pfn_end; pfn++)
			n += bit_test(l->freed, (uint32_t)pfn);
	return n;
}

static int free_run(struct layout *l, const struct job_line *line, struct step_report *r)
{
	struct expr *where = layout_where(l, line, r);
	uint64_t before, after, cma_before, given;
	bool cma;
	int64_t asked, gone;

	if (!where)
		return -1;
	zones_read(&l->zones, l->block_order);
	before = zones_free(&l->zones) + zones_pcp(&l->zones);
	cma_before = zones_cma(&l->zones);
	given = cma_freed(l);
	asked = give_back(l, line, where, r);
	cma = expr_uses(where) & 1u << EXPR_CMA;
	expr_free(where);
	if (asked < 0)
		return -1;
	gone = region_reread(l);
	if (gone < 0) {
		snprintf(r->why, sizeof(r->why), "cannot read /proc/self/pagemap: %s", strerror(errno));
		return -1;
	}
	zones_read(&l->zones, l->block_order);
	after = zones_free(&l->zones) + zones_pcp(&l->zones);
	snprintf(r->asked, sizeof(r->asked), "\"pages\":%" PRId64, asked);
	snprintf(r->got, sizeof(r->got),
		 "\"pages\":%" PRId64 ",\"free_pages_gained\":%" PRId64 ",\"pcp_pages\":%" PRIu64,
		 gone, (int64_t)(after - before), zones_pcp(&l->zones));
	r->ok = layout_within(l, (uint64_t)asked, (uint64_t)gone);
	if (cma)
		add_cma(l, cma_before + cma_freed(l) - given, r);
	return 0;
}

static const struct param_spec free_params[] = {
	{ "where", PARAM_PREDICATE, NULL, "pages of the fill to free, pinned ones stay; all where absent", 0, 0,
	  "", NULL },
	{ "count", PARAM_NUMBER, "pages", "so many of them, by the seed", 0, 0, "", NULL },
	{ "share", PARAM_SHARE, NULL, "such a share of them, by the seed", 0, 0, "", NULL },
};
static const char *const free_moves[] = { "pgfree", NULL };

static int free_check(const struct job_line *line, const struct step_context *c,
		      struct step_fault *f)
{
	if (step_check_held(c, "given back", f) < 0)
		return -1;
	if (!job_get(line, "where") && !job_get(line, "count") && !job_get(line, "share"))
		return step_fault(f, NULL,
				  "which pages? give where, count or share; share: 100%% are all");
	if (step_check_sample(line, c->memory_bytes / 4096, "pages", f) < 0 ||
	    step_check_some(line, "share", "free nothing", f) < 0)
		return -1;
	return step_check_some(line, "count", "free nothing", f);
}

const struct layout_step step_free = {
	.name = "free",
	.summary = "give back the pages of the fill that a predicate selects",
	.params = free_params,
	.nparams = sizeof(free_params) / sizeof(free_params[0]),
	.moves = free_moves,
	.run = (void *)free_run,
	.after = step_gives_back,
	.check = free_check,
};
