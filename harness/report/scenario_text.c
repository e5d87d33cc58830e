// SPDX-License-Identifier: GPL-2.0-only
/* The scenario that builds the free lists of a report. */
#include <inttypes.h>

#include "harness/report/memreport_impl.h"
#include "results/run_text.h"
#include "results/util/cleanup.h"

#define COMMENT_COLUMNS 98
#define GUEST_PAGEBLOCK (2u << 20) /* bytes */
#define FILES 20000 /* small: it shows that the layout stands, and is not the failed request */

/* Nothing of the input can leave the comment: it is printable, and so has no newline. */
static void add_comment(struct strbuf *sb, const char *text)
{
	cleanup_free char *clean = run_text_printable(text);
	size_t n = 0;
	char **lines = run_text_wrap(clean, COMMENT_COLUMNS, &n);

	for (size_t i = 0; i < n; i++)
		strbuf_addf(sb, "%s %s\n", i ? "#  " : "#", lines[i]);
	run_text_lines_free(lines);
}

static void add_left_out(struct strbuf *sb, const struct memscale *s)
{
	cleanup_free char *text = str_printf("%" PRIu64
					     " kB more are free in CMA, which the failed "
					     "request could not take: left out",
					     s->cma_kb);

	if (s->cma_kb)
		add_comment(sb, text);
}

static void add_raised(struct strbuf *sb, const struct memscale *s)
{
	cleanup_free char *text = str_printf("That would leave the guest too little to go on: raised to %" PRIu64
					     " MiB, spread over the orders in the same way.",
					     s->pages * 4 / 1024);

	if (s->raised)
		add_comment(sb, text);
}

static void add_origin(struct strbuf *sb, const struct memimport *m)
{
	const struct memreport *r = &m->set->report[m->chosen];
	cleanup_free char *what = memreport_describe(r), *share = memscale_describe(m->scale);
	cleanup_free char *unlisted = memscale_describe_unlisted(m->scale);
	cleanup_free char *assumed = memscale_describe_assumed(m->scale);
	cleanup_free char *origin =
		str_printf("Made by mmrig layout import of %s, report %zu of %zu (line %zu).",
			   m->label, m->chosen + 1, m->set->n + m->set->left_out, r->line);
	cleanup_free char *understood =
		str_printf("Understood: %s; pages of %u kB.", what, r->page_kb);

	strbuf_adds(sb, "# SPDX-License-Identifier: GPL-2.0-only\n#\n");
	add_comment(sb, origin);
	add_comment(sb, understood);
	add_comment(sb, share);
	if (assumed)
		add_comment(sb, assumed);
	if (unlisted)
		add_comment(sb, unlisted);
	add_raised(sb, m->scale);
	add_left_out(sb, m->scale);
	for (size_t i = 0; i < r->nremarks; i++)
		add_comment(sb, r->remark[i]);
}

static void add_types(struct strbuf *sb, const struct memscale *s)
{
	cleanup_strbuf struct strbuf line = STRBUF_INIT;

	if (!s->have_mix)
		return;
	for (int t = 0; t < MEMTYPES; t++)
		if (s->have_mix >> t & 1 && s->mix[t] > 0)
			strbuf_addf(&line, "%s%.2f %% %s",
				    line.len ? ", " : "Pageblocks by their type, those that are wholly free too: ",
				    100 * s->mix[t], memtype_name((enum memtype)t));
	add_comment(sb, line.data);
}

static void add_mix_step(struct strbuf *sb, const struct memscale *s, const char *kind, enum memtype t)
{
	if (s->held[t] * (double)(s->memory_bytes / GUEST_PAGEBLOCK) >= 1)
		strbuf_addf(sb, "  - mix: {kind: %s, share: %.2f%%, type_share: %.2f%%}\n", kind,
			    100 * s->held[t], 100 * s->mix[t]);
}

static void add_mix(struct strbuf *sb, const struct memscale *s)
{
	cleanup_strbuf struct strbuf steps = STRBUF_INIT;

	add_mix_step(&steps, s, "unmovable", MEMTYPE_UNMOVABLE);
	add_mix_step(&steps, s, "reclaimable", MEMTYPE_RECLAIMABLE);
	if (!steps.len)
		return;
	strbuf_adds(sb, "  # Built: as large a share of all pageblocks holds pages of the kernel's in the end, those of the\n"
			"  # guest's own included (unmovable), as is of that type, and not wholly free, in the report.\n"
			"  # Not built: type_share, all of that type in the report. It stands beside what the guest's\n"
			"  # /proc/pagetypeinfo counts: the kernel calls a pageblock unmovable when it takes half of it or\n"
			"  # more, not for one page. Nor are how many such pages a pageblock holds, and other types.\n");
	if (s->held[MEMTYPE_UNMOVABLE] < MEMSCALE_GUEST_OWN)
		strbuf_adds(sb, "  # The guest's own kernel may stand in more pageblocks than the unmovable share: it stays there.\n");
	if (s->held_less)
		strbuf_adds(sb, "  # Fewer than in the report: free blocks of order 9 and 10 need pageblocks without.\n");
	strbuf_add(sb, steps.data, steps.len);
}

static void add_shape(struct strbuf *sb, const struct memscale *s)
{
	cleanup_free char *count = str_printf("%" PRIu64 " free pages.", s->pages);

	strbuf_adds(sb, "  # Free blocks of each order; all else is full. ");
	strbuf_addf(sb, "%s\n  - shape: {", count);
	for (int k = 0; k < MEMSCALE_ORDERS; k++)
		strbuf_addf(sb, "%sorder%d: %" PRIu64, k ? ", " : "", k, s->blocks[k]);
	strbuf_adds(sb, "}\n");
}

/*
 * A layout that leaves less than the low watermarks is refused, since it ends in an OOM kill. So the
 * guest boots with an eighth of it as the min watermark, and gets the machine's own proportion when
 * the layout stands.
 */
static void add_watermarks(struct strbuf *sb, const struct memscale *s)
{
	uint64_t boot_kb = s->pages * 4 / 8;

	strbuf_addf(sb, "sysctl:\n  boot: {vm.min_free_kbytes: %" PRIu64 ", vm.watermark_scale_factor: 1}\n",
		    boot_kb < 1024 ? 1024 : boot_kb);
	if (s->machine_boost_kb)
		strbuf_addf(sb, "  # The report's min watermarks are %" PRIu64 " kB, and %" PRIu64
				" kB%s of boost at that moment, which is left out.\n",
			    s->machine_min_kb, s->machine_boost_kb, s->boost_unsaid ? " or more" : "");
	/* A machine that reports a failure is below it. Built so, the guest would be in the OOM killer's hands. */
	if (s->min_kb > s->pages * 4 / 2)
		strbuf_addf(sb, "  workload: {vm.min_free_kbytes: %" PRIu64 ", vm.watermark_scale_factor: 10}"
				" # half of what is free; %" PRIu64 " in the report's proportion\n",
			    s->pages * 4 / 2, s->min_kb);
	else if (s->min_kb)
		strbuf_addf(sb, "  workload: {vm.min_free_kbytes: %" PRIu64 ", vm.watermark_scale_factor: 10}"
				" # as in the report\n", s->min_kb);
	else
		strbuf_adds(sb, "  workload: {vm.watermark_scale_factor: 10}\n");
}

/* Movable blocks of these orders can be asked for from user space (workloads/alloc-order). */
static bool has_way(const struct memevent *e)
{
	if (e->order > 10)
		return false;
	return e->gfp.type != MEMTYPE_MOVABLE || e->order == 0 || (e->order >= 2 && e->order <= 9);
}

/*
 * The one place that knows which workload makes requests like the one that failed: an eighth of what
 * is free, in blocks of that order.
 */
static void add_workload(struct strbuf *sb, const struct memevent *e, const struct memscale *s)
{
	bool known = e->kind && e->have_order && e->have_gfp;
	uint64_t count = known ? s->pages / 8 >> e->order : 0;

	if (known)
		strbuf_addf(sb, "# The request that failed was of order %u, %s, %s.\n", e->order,
			    memtype_name(e->gfp.type), e->gfp.atomic ? "atomic" : "not atomic");
	if (known && e->gfp.atomic)
		strbuf_adds(sb, "# User space cannot make the kernel ask atomically: these requests may wait.\n");
	if (known && has_way(e)) {
		strbuf_addf(sb, "workload:\n  alloc-order: {order: %u, kind: %s, count: %" PRIu64 "}\n"
				"metrics: [alloc_attempts, alloc_success_share, alloc_fallback, alloc_fail,"
				" alloc_median, alloc_p99, allocstall, compact_stall]\n",
			    e->order, e->gfp.type == MEMTYPE_MOVABLE ? "movable" : "unmovable", count ? count : 1);
		return;
	}
	strbuf_addf(sb, "# No workload asks for just that: small unmovable and reclaimable pages in its stead.\n"
			"workload:\n  tmpfs-files: {files: %d}\nmetrics: [allocstall, time]\n",
		    FILES);
}

char *memreport_scenario(const struct memimport *m)
{
	const struct memreport *r = &m->set->report[m->chosen];
	cleanup_free char *memory = str_format_bytes(m->scale->memory_bytes);
	struct strbuf sb = STRBUF_INIT;

	add_origin(&sb, m);
	add_types(&sb, m->scale);
	strbuf_adds(&sb, "name: imported\n");
	strbuf_addf(&sb, "title: the free lists of a report%s%s\n", r->event.kind ? ", " : "",
		    r->event.kind ? memevent_name(r->event.kind) : "");
	strbuf_adds(&sb, "kernel: debian:7.3\n");
	strbuf_addf(&sb, "vm: {memory: %s, cpus: 2}%s\nruns: 5\nlayout:\n", memory,
		    m->scale->base_kb || m->memory_by_user ? "" : " # the size of the machine is not said");
	add_mix(&sb, m->scale);
	add_shape(&sb, m->scale);
	add_watermarks(&sb, m->scale);
	add_workload(&sb, &r->event, m->scale);
	return strbuf_steal(&sb);
}
