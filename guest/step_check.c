// SPDX-License-Identifier: GPL-2.0-only
#include "guest/step_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "guest/expr_truth.h"
#include "guest/job.h"
#include "guest/step_zones.h"

#define PAGE_BYTES 4096
/* x86 gives away no page of the first 64 KiB, and since 5.13 none of the first 1 MiB. */
#define PFN_FIRST 16
#define HOLE_MOST (2ull << 30) /* at q35; at pc it is smaller */

static void __attribute__((format(printf, 4, 0)))
set(struct step_fault *f, const char *param, bool of_memory, const char *fmt, va_list ap)
{
	f->param = param;
	f->of_memory = of_memory;
	f->of_others = f->of_literal = false;
	vsnprintf(f->why, sizeof(f->why), fmt, ap);
}

int step_fault(struct step_fault *f, const char *param, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set(f, param, false, fmt, ap);
	va_end(ap);
	return -1;
}

int step_fault_of_memory(struct step_fault *f, const char *param, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set(f, param, true, fmt, ap);
	va_end(ap);
	return -1;
}

static uint64_t nodes_with_memory(const struct step_context *c)
{
	uint64_t set = 0;

	for (size_t i = 0; i < c->nnodes && i < 64; i++)
		set |= (uint64_t)(c->node_bytes[i] != 0) << i;
	return c->nnodes ? set : 1;
}

/* What the zones that may be had, and are not here, take. */
static const char *zone_hint(uint64_t zones)
{
	static const char *const hints[2][2] = {
		{ "; normal takes 2816M of memory or more, and movable takes vm: {movablecore: SIZE}",
		  "; normal takes 2816M of memory or more" },
		{ "; movable takes vm: {movablecore: SIZE}", NULL },
	};

	return hints[zones >> EXPR_ZONE_NORMAL & 1][zones >> EXPR_ZONE_MOVABLE & 1];
}

void step_domain(const struct step_context *c, struct expr_domain *d)
{
	uint64_t end = c->memory_bytes + (c->memory_bytes >= STEP_NORMAL_FROM ? HOLE_MOST : 0);

	*d = (struct expr_domain){ .pageblock_pages = STEP_BLOCK_BYTES / PAGE_BYTES };
	d->var[EXPR_PFN].lo = PFN_FIRST;
	d->var[EXPR_PFN].hi = (int64_t)(end / PAGE_BYTES) - 1;
	d->var[EXPR_ORDER].hi = 10;
	d->var[EXPR_RAND].hi = UINT32_MAX;
	d->var[EXPR_CMA].hi = c->cma;
	d->set[EXPR_CMA] = c->cma ? 3 : 1;
	d->set[EXPR_NODE] = nodes_with_memory(c);
	d->set[EXPR_ZONE] = step_zones(c, -1);
	if (!c->cma)
		d->hint[EXPR_CMA] = " in a guest without vm: {cma: SIZE}";
	if (!c->nnodes)
		d->hint[EXPR_NODE] = " in a guest without vm: {numa: [...]}";
	d->hint[EXPR_ZONE] = zone_hint(d->set[EXPR_ZONE]);
}

void step_gives_back(const struct job_line *line, struct step_context *c)
{
	c->left_unit = STEP_UNKNOWN;
}

int step_check_held(const struct step_context *c, const char *done, struct step_fault *f)
{
	if (c->held)
		return 0;
	return step_fault(
		f, NULL,
		"no step before it takes pages of the layout's own, so there is nothing to be %s; put "
		"fill: {kind: anon, leave: ...} before it (kind thp and shape do too)",
		done);
}

int step_check_some(const struct job_line *line, const char *param, const char *what,
		    struct step_fault *f)
{
	if (job_get_i64(line, param, -1) != 0)
		return 0;
	step_fault(f, param, "%s is 0, which would %s; leave the step out", param, what);
	f->of_literal = true;
	return -1;
}

int step_check_sample(const struct job_line *line, uint64_t most, const char *unit,
		      struct step_fault *f)
{
	int64_t count = job_get_i64(line, "count", -1);

	if (job_get(line, "count") && job_get(line, "share"))
		return step_fault(f, NULL, "count and share: give one of them");
	if (count < 0 || (uint64_t)count <= most)
		return 0;
	return step_fault_of_memory(f, "count",
				    "count is %" PRId64 ", and the guest has %" PRIu64
				    " %s; ask for fewer, or give it more memory",
				    count, most, unit);
}
