// SPDX-License-Identifier: GPL-2.0-only
/*
 * shape: free lists as asked, block by block. Memory is filled as far as it goes; then aligned groups
 * of pages are given back whose buddies stay taken, the largest first: pages wait on the per-CPU
 * lists and leave them in the order in which they came, so what still waits at the end are single
 * pages. What was free anyway counts as part of what was asked.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "guest/cannot.h"
#include "guest/full.h"
#include "guest/groups.h"
#include "guest/region.h"

#define ROUNDS 3
/*
 * What the kernel allocates meanwhile for itself breaks up the largest block of another type, and its
 * pieces are too many of the smaller orders; the next time it has what it needs.
 */
#define TRIES 8

static const char *const order_names[ORDERS] = { "order0", "order1", "order2", "order3",
						 "order4", "order5", "order6", "order7",
						 "order8", "order9", "order10" };

static uint64_t pages_of(const uint64_t blocks[ORDERS])
{
	uint64_t n = 0;

	for (unsigned int k = 0; k < ORDERS; k++)
		n += blocks[k] << k;
	return n;
}

/*
 * How far off, in millionths of the pages asked for, rounded up: the pages that are too many, order by order, or
 * those that are missing, whichever are more. With equal sums it is the total variation distance.
 */
static uint64_t distance_ppm(const uint64_t asked[ORDERS], const uint64_t got[ORDERS])
{
	uint64_t more = 0, less = 0, total = pages_of(asked);

	for (unsigned int k = 0; k < ORDERS; k++) {
		if (got[k] > asked[k])
			more += (got[k] - asked[k]) << k;
		else
			less += (asked[k] - got[k]) << k;
	}
	if (more < less)
		more = less;
	return judge_ppm(more, total);
}

/* Gives back what is missing of each order, the largest first; -1 with r->why. */
static int give_missing(struct layout *l, const uint64_t asked[ORDERS], uint64_t round,
			struct step_report *r)
{
	uint64_t have[ORDERS];

	if (free_blocks_read(have) < 0) {
		snprintf(r->why, sizeof(r->why), "cannot read /proc/buddyinfo");
		return -1;
	}
	for (unsigned int k = ORDERS; k-- > 0;) {
		if (have[k] >= asked[k] ||
		    !groups_pick(l, k, asked[k] - have[k], l->seed + round * ORDERS, false))
			continue;
		task_progress(l->child, round * ORDERS + ORDERS - k, ROUNDS * ORDERS);
		if (region_give_picked(l) < 0) {
			snprintf(r->why, sizeof(r->why), "cannot give pages back: %s", strerror(errno));
			return -1;
		}
	}
	return 0;
}

static void print_blocks(char *out, size_t room, const uint64_t blocks[ORDERS])
{
	size_t n = 0;

	for (unsigned int k = 0; k < ORDERS; k++)
		n += (size_t)snprintf(out + n, n < room ? room - n : 0, "%s\"%s\":%" PRIu64,
				      k ? "," : "", order_names[k], blocks[k]);
}

#define SHAPE_TOLERANCE_PPM 50000
#define FLOOR_PAGES 2048 /* what the guest's own processes need to go on */

/* Below the low watermarks every request of the kernel reclaims, and the next step ends in an OOM. */
static int check_floor(struct layout *l, const uint64_t asked[ORDERS], struct step_report *r)
{
	zones_read(&l->zones, l->block_order);
	if (pages_of(asked) < FLOOR_PAGES)
		return step_cannot(
			r, "%" PRIu64 " free pages are asked for; with fewer than %d the guest runs out of memory",
			pages_of(asked), FLOOR_PAGES);
	if (pages_of(asked) >= zones_low(&l->zones))
		return 0;
	return step_cannot(r,
			   "%" PRIu64 " free pages are asked for, fewer than the low watermarks of %" PRIu64
			   "; lower vm.min_free_kbytes in sysctl: boot:, or ask for more",
			   pages_of(asked), zones_low(&l->zones));
}

static int build(struct layout *l, const uint64_t asked[ORDERS], const struct expr *where,
		 struct step_report *r)
{
	int ret;

	if (full_begin(l, r) < 0)
		return -1;
	ret = region_map(l, where) < 0 ? step_divides_by_zero(r) : step_any_page(l, r);
	for (uint64_t round = 0; ret == 0 && round < ROUNDS; round++)
		ret = give_missing(l, asked, round, r);
	full_end();
	if (ret == 0 && region_reread(l) < 0) {
		snprintf(r->why, sizeof(r->why), "cannot read /proc/self/pagemap: %s", strerror(errno));
		ret = -1;
	}
	return ret;
}

static int shape_run(struct layout *l, const struct job_line *line, struct step_report *r)
{
	uint64_t asked[ORDERS], got[ORDERS], off = UINT64_MAX;
	uint64_t tolerance = layout_tolerance(l, line, SHAPE_TOLERANCE_PPM);
	struct expr *where;
	size_t n;
	int ret = 0;

	for (unsigned int k = 0; k < ORDERS; k++)
		asked[k] = (uint64_t)job_get_i64(line, order_names[k], 0);
	print_blocks(r->asked, sizeof(r->asked), asked);
	if (check_floor(l, asked, r) < 0)
		return -1;
	where = layout_where(l, line, r);
	if (!where)
		return -1;
	for (int try = 0; ret == 0 && off > tolerance && try < TRIES; try++) {
		ret = build(l, asked, where, r);
		if (ret == 0 && free_blocks_read(got) < 0)
			ret = -1;
		off = ret == 0 ? distance_ppm(asked, got) : 0;
	}
	expr_free(where);
	if (ret < 0)
		return -1;
	region_forget_freed(l);
	zones_read(&l->zones, l->block_order);
	print_blocks(r->got, sizeof(r->got), got);
	n = strlen(r->got);
	snprintf(r->got + n, sizeof(r->got) - n, ",\"pcp_pages\":%" PRIu64 ",\"distance\":%.4f",
		 zones_pcp(&l->zones), (double)off / 1e6);
	snprintf(r->how, sizeof(r->how), "MADV_DONTNEED of aligned groups whose buddies stay");
	r->ok = layout_within_ppm(l, off, tolerance);
	if (!r->ok)
		snprintf(r->why, sizeof(r->why),
			 "the free lists are not as asked; a guest with more memory comes nearer, or tolerance: allows it");
	return 0;
}

#define ORDER(name, size) \
	{ name, PARAM_NUMBER, "blocks", "free blocks of " size, 0, 1 << 30, "0", NULL }
static const struct param_spec shape_params[] = {
	ORDER("order0", "4 KiB"),   ORDER("order1", "8 KiB"),	ORDER("order2", "16 KiB"),
	ORDER("order3", "32 KiB"),  ORDER("order4", "64 KiB"),	ORDER("order5", "128 KiB"),
	ORDER("order6", "256 KiB"), ORDER("order7", "512 KiB"), ORDER("order8", "1 MiB"),
	ORDER("order9", "2 MiB"),   ORDER("order10", "4 MiB"),
	{ "where", PARAM_PREDICATE, NULL, "pages that may be given back; all where absent", 0, 0, "",
	  NULL },
	{ "tolerance", PARAM_SHARE, NULL,
	  "free pages that may be of a wrong order; without it the scenario's tolerance, else 5%", 0, 0, "",
	  NULL },
};
static const char *const shape_needs[] = { "file:/proc/kpageflags", NULL };
static const char *const shape_moves[] = { "pgfree", NULL };

static int shape_check(const struct job_line *line, const struct step_context *c,
		       struct step_fault *f)
{
	uint64_t pages = 0, most = 0;
	const char *largest = NULL;

	for (unsigned int k = 0; k < ORDERS; k++) {
		uint64_t n = (uint64_t)job_get_i64(line, order_names[k], 0) << k;

		pages += n;
		if (n > most) {
			most = n;
			largest = order_names[k];
		}
	}
	if (pages < FLOOR_PAGES)
		return step_fault(
			f, NULL,
			"fewer than 2048 free pages in all leave a guest nothing to go on");
	if (pages <= c->memory_bytes / 4096)
		return 0;
	return step_fault_of_memory(f, largest,
				    "the orders add up to %" PRIu64
				    " free pages, and the guest of %s has %" PRIu64
				    " in all; ask for fewer, or give it more memory",
				    pages, size_text(c->memory_bytes).text, c->memory_bytes / 4096);
}

static void shape_after(const struct job_line *line, struct step_context *c)
{
	c->held = true;
	step_gives_back(line, c);
}

const struct layout_step step_shape = {
	.name = "shape",
	.summary = "free lists as asked: so many free blocks of each order, all else taken",
	.params = shape_params,
	.nparams = sizeof(shape_params) / sizeof(shape_params[0]),
	.needs = shape_needs,
	.moves = shape_moves,
	.run = (void *)shape_run,
	.check = shape_check,
	.after = shape_after,
};
