// SPDX-License-Identifier: GPL-2.0-only
/* pin: makes pages unmovable, one in every pageblock or all that a predicate selects. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/cannot.h"
#include "guest/layout.h"
#include "guest/region.h"

#define CHUNK 4096
#define TAKEN (UINT32_MAX - 1) /* in layout.block[]: the block holds a pin already */

enum pin_at { AT_FIRST, AT_LAST, AT_RANDOM };

/* Does page i (pfn a) take the block from page j (pfn b)? */
static bool better(struct layout *l, enum pin_at at, uint32_t a, uint32_t b)
{
	if (at == AT_RANDOM)
		return expr_rand(l->seed ^ 0x70696e, a) < expr_rand(l->seed ^ 0x70696e, b);
	return at == AT_FIRST ? a < b : a > b;
}

/* A long-term pin moves a page out of ZONE_MOVABLE first: such pages are not there to be chosen. */
static bool cannot_stay(struct layout *l, uint32_t pfn)
{
	const struct zone *zone = l->has_movable ? zones_of_pfn(&l->zones, pfn) : NULL;

	return zone && zone->index == EXPR_ZONE_MOVABLE;
}

/*
 * Marks pages CHOSEN and returns how many; UINT64_MAX: division by zero. except: so many pageblocks,
 * the lowest of those without a pin, are passed over.
 */
static uint64_t choose(struct layout *l, const struct expr *where, bool per_block, enum pin_at at,
		       uint64_t except)
{
	static uint8_t picked[CHUNK];
	uint64_t n = 0;

	for (size_t b = 0; b < l->nblocks; b++)
		l->block[b] = UINT32_MAX;
	/* A block that an earlier step gave its pin needs none. */
	for (size_t i = 0; per_block && i < l->filled_pages; i++)
		if (l->pfn[i] & LAYOUT_PINNED && LAYOUT_PFN(l->pfn[i]) != LAYOUT_GONE)
			l->block[LAYOUT_PFN(l->pfn[i]) / l->block_pages] = TAKEN;
	for (size_t i = 0; i < l->filled_pages; i += CHUNK) {
		size_t m = l->filled_pages - i < CHUNK ? l->filled_pages - i : CHUNK;

		if (layout_select(l, where, i, m, picked) < 0)
			return UINT64_MAX;
		for (size_t k = 0; k < m; k++) {
			uint32_t pfn = LAYOUT_PFN(l->pfn[i + k]), *slot;

			if (!picked[k] || l->pfn[i + k] & LAYOUT_PINNED) /* picked: not GONE */
				continue;
			if (cannot_stay(l, pfn))
				continue;
			if (!per_block) {
				l->pfn[i + k] |= LAYOUT_CHOSEN;
				n++;
				continue;
			}
			slot = &l->block[pfn / l->block_pages];
			if (*slot == TAKEN)
				continue;
			if (*slot == UINT32_MAX)
				n++;
			if (*slot == UINT32_MAX || better(l, at, pfn, LAYOUT_PFN(l->pfn[*slot])))
				*slot = (uint32_t)(i + k);
		}
	}
	for (size_t b = 0; per_block && b < l->nblocks; b++) {
		if (l->block[b] == UINT32_MAX || l->block[b] == TAKEN)
			continue;
		if (except) {
			except--;
			n--;
			continue;
		}
		l->pfn[l->block[b]] |= LAYOUT_CHOSEN;
	}
	return n;
}

/* Blocks of the machine that hold at least one page of the fill, and how many of them a pin. */
static uint64_t count_blocks(struct layout *l, uint64_t *with_pin)
{
	uint64_t n = 0;

	*with_pin = 0;
	memset(l->block, 0, l->nblocks * sizeof(*l->block));
	for (size_t i = 0; i < l->filled_pages; i++) {
		uint32_t pfn = LAYOUT_PFN(l->pfn[i]), *seen;

		if (pfn == LAYOUT_GONE)
			continue;
		seen = &l->block[pfn / l->block_pages];
		n += !*seen;
		*seen |= 1;
		if (l->pfn[i] & LAYOUT_PINNED && !(*seen & 2)) {
			*seen |= 2;
			(*with_pin)++;
		}
	}
	return n;
}

/*
 * Re-read after the pin: CHOSEN becomes PINNED, and the page must still stand where it was (a
 * long-term pin may move one). Returns how many stand; *blocks: pageblocks that hold a pin now,
 * old and new.
 */
static uint64_t settle_chosen(struct layout *l, uint64_t *blocks)
{
	uint64_t in_place = 0;

	*blocks = 0;
	memset(l->block, 0, l->nblocks * sizeof(*l->block));
	memset(l->pinned, 0, l->pfn_end / 8 + 1);
	for (size_t i = 0; i < l->filled_pages; i++) {
		uint32_t before = l->pfn[i], pfn;

		if (before & LAYOUT_CHOSEN) {
			if (layout_read_pfns(l, i, 1) == 0)
				in_place += l->pfn[i] == before;
			l->pfn[i] = LAYOUT_PFN(l->pfn[i]) | LAYOUT_PINNED;
		}
		pfn = LAYOUT_PFN(l->pfn[i]);
		if (!(l->pfn[i] & LAYOUT_PINNED) || pfn == LAYOUT_GONE)
			continue;
		*blocks += !l->block[pfn / l->block_pages]++;
		l->pinned[pfn / 8] |= (uint8_t)(1 << pfn % 8);
	}
	return in_place;
}

/* Of the n CHOSEN pages so many stay CHOSEN, by the seed; how many, or -1 with r->why. */
static int64_t thin(struct layout *l, const struct job_line *line, uint64_t n, struct step_report *r)
{
	int64_t want = sample_size(line, n, r);
	struct sample s = { n, (uint64_t)want, l->seed ^ 0x7468696e };

	for (size_t i = 0; want >= 0 && i < l->filled_pages; i++)
		if (l->pfn[i] & LAYOUT_CHOSEN && !sample_take(&s, LAYOUT_PFN(l->pfn[i])))
			l->pfn[i] &= ~LAYOUT_CHOSEN;
	if (want == 0)
		step_cannot(r, "share and count leave no page to pin");
	return want > 0 ? want : -1;
}

static void unchoose(struct layout *l)
{
	for (size_t i = 0; i < l->filled_pages; i++)
		l->pfn[i] &= ~LAYOUT_CHOSEN;
}

/* Pins the CHOSEN pages, n of them. */
static int pin_chosen(struct layout *l, size_t n, const char **how, struct step_report *r)
{
	void **page = malloc(n * sizeof(*page));
	size_t k = 0;
	int ret;

	if (!page) {
		snprintf(r->why, sizeof(r->why), "no memory for %zu addresses", n);
		return -1;
	}
	for (size_t i = 0; i < l->filled_pages && k < n; i++)
		if (l->pfn[i] & LAYOUT_CHOSEN)
			page[k++] = l->region + i * 4096;
	ret = pin_pages(page, k, how, r->why, sizeof(r->why));
	free(page);
	return ret;
}

static enum pin_at at_of(const struct job_line *line)
{
	const char *at = job_get(line, "at");

	return at && strcmp(at, "last") == 0 ? AT_LAST : at && strcmp(at, "random") == 0 ? AT_RANDOM : AT_FIRST;
}

/* No page is chosen: does `where` select none, or none that can be pinned? */
static int nothing_to_pin(struct layout *l, const struct job_line *line, const struct expr *where,
			  struct step_report *r)
{
	int64_t except = job_get_i64(line, "except", 0);

	if (region_map(l, where) < 0)
		return step_divides_by_zero(r);
	if (step_any_page(l, r) < 0)
		return -1;
	return step_cannot(r, "no page is left to pin: %s%s%s",
			   except ? "except passes over the pageblocks" : "the pageblocks have their pins",
			   except ? "" : " already",
			   l->has_movable ? ", and out of zone Movable a pin takes a page away" : "");
}

static int pin_run(struct layout *l, const struct job_line *line, struct step_report *r)
{
	const char *per = job_get(line, "per"), *how = "none";
	bool per_block = !per || strcmp(per, "pageblock") == 0;
	struct expr *where = layout_where(l, line, r);
	uint64_t chosen, blocks, before, in_place, with_pin;
	int64_t wanted;

	if (!where)
		return -1;
	blocks = count_blocks(l, &before);
	chosen = choose(l, where, per_block, at_of(line), (uint64_t)job_get_i64(line, "except", 0));
	if (chosen == UINT64_MAX)
		step_divides_by_zero(r);
	else if (!chosen)
		nothing_to_pin(l, line, where, r);
	expr_free(where);
	if (r->cannot)
		return -1;
	wanted = thin(l, line, chosen, r);
	if (wanted < 0 || pin_chosen(l, (size_t)wanted, &how, r) < 0) {
		unchoose(l);
		return -1;
	}
	chosen = (uint64_t)wanted;
	in_place = settle_chosen(l, &with_pin);
	if (per_block) {
		snprintf(r->asked, sizeof(r->asked), "\"blocks_with_pin\":%" PRIu64, before + chosen);
		snprintf(r->got, sizeof(r->got),
			 "\"blocks_with_pin\":%" PRIu64 ",\"filled_blocks\":%" PRIu64
			 ",\"pins\":%" PRIu64 ",\"moved\":%" PRIu64,
			 with_pin, blocks, chosen, chosen - in_place);
	} else {
		snprintf(r->asked, sizeof(r->asked), "\"pins\":%" PRIu64, chosen);
		snprintf(r->got, sizeof(r->got), "\"pins\":%" PRIu64 ",\"moved\":%" PRIu64, in_place,
			 chosen - in_place);
	}
	snprintf(r->how, sizeof(r->how), "%s", how);
	r->ok = per_block ? layout_within(l, before + chosen, with_pin) : layout_within(l, chosen, in_place);
	return 0;
}

static const char *const pin_per[] = { "pageblock", "page", NULL };
static const char *const pin_at[] = { "first", "last", "random", NULL };
static const struct param_spec pin_params[] = {
	{ "per", PARAM_CHOICE, NULL, "one page in every pageblock, or every page selected", 0, 0,
	  "pageblock", pin_per },
	{ "at", PARAM_CHOICE, NULL, "which of a pageblock's selected pages", 0, 0, "first", pin_at },
	{ "where", PARAM_PREDICATE, NULL, "pages to choose from; all where absent", 0, 0, "", NULL },
	{ "except", PARAM_NUMBER, "pageblocks",
	  "with per: pageblock, how many get no pin: the lowest of the fill", 0, 0, "0", NULL },
	{ "count", PARAM_NUMBER, "pins", "so many of the pages or blocks, by the seed", 1, 0, "", NULL },
	{ "share", PARAM_SHARE, NULL, "such a share of the pages or blocks, by the seed", 0, 0, "", NULL },
};
static const char *const pin_needs[] = { "file:/proc/kpageflags", NULL };
/* nr_foll_pin_acquired counts long-term pins alone; vmsplice takes plain references. */
static const char *const pin_moves[] = { "nr_foll_pin_acquired", NULL };

/* What chooses among the pages or blocks of `per: pageblock`. */
static int check_per_page(const struct job_line *line, struct step_fault *f)
{
	bool at = at_of(line) != AT_FIRST;

	if (!at && !job_get_i64(line, "except", 0))
		return 0;
	step_fault(f, at ? "at" : "except",
		   "%s goes with per: pageblock, and per is page; leave one of them out",
		   at ? "at" : "except");
	f->of_others = true;
	return -1;
}

static int pin_step_check(const struct job_line *line, const struct step_context *c,
			  struct step_fault *f)
{
	const char *per = job_get(line, "per");
	bool per_block = !per || strcmp(per, "pageblock") == 0;
	uint64_t blocks = c->memory_bytes / STEP_BLOCK_BYTES;
	int64_t except = job_get_i64(line, "except", 0);

	if (step_check_held(c, "pinned", f) < 0 || (!per_block && check_per_page(line, f) < 0))
		return -1;
	if (step_check_some(line, "share", "pin nothing", f) < 0) {
		f->of_literal = false; /* the guest takes a pin of nothing for a mistake */
		return -1;
	}
	if (per_block && (uint64_t)except >= blocks)
		return step_fault_of_memory(f, "except",
					    "except is %" PRId64 ", and the guest has %" PRIu64
					    " pageblocks; except fewer, or give it more memory",
					    except, blocks);
	return per_block ? step_check_sample(line, blocks, "pageblocks", f) :
			   step_check_sample(line, c->memory_bytes / 4096, "pages", f);
}

const struct layout_step step_pin = {
	.name = "pin",
	.summary = "make pages of the fill unmovable",
	.params = pin_params,
	.nparams = sizeof(pin_params) / sizeof(pin_params[0]),
	.needs = pin_needs,
	.moves = pin_moves,
	.run = (void *)pin_run,
	.check = pin_step_check,
};
