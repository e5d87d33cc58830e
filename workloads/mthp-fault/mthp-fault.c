// SPDX-License-Identifier: GPL-2.0-only
/* mthp-fault: page faults with one size of huge page enabled, for one size after the other. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest/histogram.h"
#include "guest/sampler.h"
#include "guest/procfs.h"
#include "guest/settle.h"
#include "guest/workload.h"
#include "workloads/alloc-order/method.h"

#define THP "/sys/kernel/mm/transparent_hugepage"
#define ORDER_FIRST 2
#define ORDER_PMD 9
#define ORDERS_ALL (ORDER_PMD + 1 - ORDER_FIRST)
#define FAULTS_A_PAUSE 16
#define REST_MS 2000

struct part {
	struct alloc_state state;
	uint64_t met, faults;
	struct histogram hit, missed;
	uint64_t scanned, scanned_daemon; /* by the free scanner; of them kcompactd's */
};

struct bench {
	struct part part[ORDERS_ALL];
	size_t n;
	uint64_t total; /* faults of all parts */
	uint64_t done, ns;
	uint64_t random;
};

static unsigned int size_kb(const struct part *p)
{
	return 4u << p->state.order;
}

static bool kernel_has(unsigned int order)
{
	char path[128];

	snprintf(path, sizeof(path), THP "/hugepages-%ukB/enabled", 4u << order);
	return access(path, W_OK) == 0 || (order == ORDER_PMD && access(THP "/enabled", W_OK) == 0);
}

static uint64_t faults_of(const struct job_line *line, unsigned int order)
{
	uint64_t count = (uint64_t)job_get_i64(line, "count", 1);
	uint64_t fit = (uint64_t)job_get_i64(line, "most", 0) >> (12 + order);

	return count < fit ? count : fit;
}

static int add_part(struct workload_run *w, struct bench *b, unsigned int order)
{
	struct part *p = &b->part[b->n++];

	p->state = (struct alloc_state){ .child = w->child, .order = order, .hold = true,
					 .count = faults_of(w->line, order) };
	b->total += p->state.count;
	return alloc_thp.prepare(&p->state);
}

static int prepare(struct workload_run *w)
{
	int64_t from = job_get_i64(w->line, "from", 0), to = job_get_i64(w->line, "to", 0);
	struct bench *b = malloc(sizeof(*b));

	if (!b)
		return task_fail(w->child, "infra", "no memory for the histograms");
	memset(b, 0, sizeof(*b)); /* faulted in now, not while it runs */
	w->data = b;
	for (unsigned int order = ORDER_FIRST; order <= ORDER_PMD; order++) {
		int64_t bytes = 4096ll << order;

		if (bytes < from || bytes > to || !kernel_has(order))
			continue;
		if (add_part(w, b, order) < 0)
			return -1;
	}
	if (!b->n)
		return task_fail(w->child, "unsupported",
				 "mthp-fault: this kernel has no huge pages of %" PRId64 " to %" PRId64
				 " kB; sizes below 2048 kB came with 6.8",
				 from >> 10, to >> 10);
	return 0;
}

static void read_scanned(uint64_t *all, uint64_t *daemon)
{
	static const char *const of_all[] = { "compact_free_scanned" };
	static const char *const of_daemon[] = { "compact_daemon_free_scanned" };
	const char *text = sampler_vmstat();

	*all = vmstat_parse_sum(text ? text : "", of_all, 1);
	*daemon = vmstat_parse_sum(text ? text : "", of_daemon, 1);
}

static int fault(struct workload_run *w, struct bench *b, struct part *p, uint64_t i)
{
	enum alloc_outcome outcome = alloc_thp.take(&p->state, i);

	if (outcome == ALLOC_BROKEN)
		return -1;
	p->faults++;
	p->met += outcome == ALLOC_MET;
	b->ns += p->state.ns;
	histogram_add(outcome == ALLOC_MET ? &p->hit : &p->missed, p->state.ns);
	task_progress(w->child, ++b->done, b->total);
	return 0;
}

/* What this size was given is free again before the next one begins. */
static int run_part(struct workload_run *w, struct bench *b, struct part *p)
{
	uint64_t all, daemon;

	read_scanned(&all, &daemon);
	if (alloc_thp.begin(&p->state) < 0)
		return -1;
	for (uint64_t i = 0; i < p->state.count; i++) {
		if (i % FAULTS_A_PAUSE == 0)
			workload_pause(&b->random);
		if (fault(w, b, p, i) < 0)
			return -1;
	}
	alloc_thp.end(&p->state);
	settle(REST_MS); /* the kernel adds up a pass of kcompactd when it ends */
	read_scanned(&p->scanned, &p->scanned_daemon);
	p->scanned -= all;
	p->scanned_daemon -= daemon;
	munmap(p->state.region, p->state.count << (12 + p->state.order));
	return 0;
}

/* ---- the result ---- */

static size_t put_part(const struct part *p, char *out, size_t room)
{
	char name[32], missed[48];
	size_t n;

	snprintf(name, sizeof(name), "fault_%ukB", size_kb(p));
	snprintf(missed, sizeof(missed), "%s_missed", name);
	n = (size_t)snprintf(out, room,
			     ",\"%s_attempts\":%" PRIu64 ",\"%s_share\":%.6g,\"%s_free_scanned\":%.6g",
			     name, p->faults, name, 100.0 * (double)p->met / (double)p->faults, name,
			     (double)p->scanned / (double)p->faults);
	n += histogram_metrics(&p->hit, name, out + n, room - n);
	return n + histogram_metrics(&p->missed, missed, out + n, room - n);
}

static size_t put_extra(const struct bench *b, char *out, size_t room)
{
	size_t n = (size_t)snprintf(out, room, "\"sizes\":[");

	for (size_t i = 0; i < b->n; i++) {
		const struct part *p = &b->part[i];

		n += (size_t)snprintf(out + n, room - n,
				      "%s{\"size_kb\":%u,\"method\":\"%s\",\"met\":%" PRIu64
				      ",\"base_pages\":%" PRIu64
				      ",\"free_scanned\":%" PRIu64
				      ",\"free_scanned_daemon\":%" PRIu64 "}",
				      i ? "," : "", size_kb(p), alloc_thp.how(p->state.order),
				      p->met, p->faults - p->met, p->scanned, p->scanned_daemon);
	}
	n += (size_t)snprintf(out + n, room - n, "]");
	if (!kernel_has(ORDER_PMD - 1))
		n += (size_t)snprintf(out + n, room - n,
				      ",\"note\":\"this kernel has no size but 2048 kB: it is older "
				      "than 6.8\"");
	return n;
}

static void report(struct workload_run *w, const struct bench *b)
{
	static char metrics[8192], extra[8192];
	size_t n = (size_t)snprintf(metrics, sizeof(metrics), "\"time\":%.6f", (double)b->ns / 1e9);

	for (size_t i = 0; i < b->n; i++)
		n += put_part(&b->part[i], metrics + n, sizeof(metrics) - n);
	put_extra(b, extra, sizeof(extra));
	workload_result(w, metrics, extra);
}

static int run(struct workload_run *w)
{
	struct bench *b = w->data;

	b->random = w->seed;
	for (size_t i = 0; i < b->n; i++)
		if (run_part(w, b, &b->part[i]) < 0)
			return -1;
	report(w, b);
	return 0;
}

/* ---- on the host ---- */

static int check_size(const struct job_line *line, const char *name, struct step_fault *f)
{
	int64_t bytes = job_get_i64(line, name, 0);

	if ((bytes & (bytes - 1)) == 0)
		return 0;
	return step_fault(f, name, "%s is %s: huge pages are of 16K, 32K, 64K ... 2M", name,
			  size_text((uint64_t)bytes).text);
}

static int check(const struct job_line *line, const struct step_context *c, struct step_fault *f)
{
	int64_t from = job_get_i64(line, "from", 0), to = job_get_i64(line, "to", 0);
	uint64_t most = (uint64_t)job_get_i64(line, "most", 0);

	if (check_size(line, "from", f) < 0 || check_size(line, "to", f) < 0)
		return -1;
	if (from > to)
		return step_fault(f, "from", "from is %s, and to only %s",
				  size_text((uint64_t)from).text, size_text((uint64_t)to).text);
	if (most < (uint64_t)to)
		return step_fault(f, "most", "most is %s: not one page of %s", size_text(most).text,
				  size_text((uint64_t)to).text);
	if (most >= c->memory_bytes)
		return step_fault_of_memory(f, "most", "most is %s, and the guest has %s",
					    size_text(most).text, size_text(c->memory_bytes).text);
	return 0;
}

static const struct param_spec params[] = {
	{ "count", PARAM_NUMBER, "faults", "page faults of each size", 1, 500000, NULL, NULL },
	{ "most", PARAM_BYTES, "bytes", "memory that the faults of one size take: fewer, where it ends",
	  2 << 20, 0, "memory / 16", NULL },
	{ "from", PARAM_BYTES, "bytes", "smallest size of huge page", 16 << 10, 2 << 20, "16K", NULL },
	{ "to", PARAM_BYTES, "bytes", "largest size of huge page", 16 << 10, 2 << 20, "2M", NULL },
};
static const char *const needs[] = { "file:" THP "/enabled", NULL };
static const char *const moves[] = { "pgalloc_normal|pgalloc_dma32|pgalloc_dma|pgalloc_movable",
				     NULL };

const struct workload workload_mthp_fault = {
	.name = "mthp-fault",
	.summary = "page faults with one size of huge page enabled, size by size",
	.params = params,
	.nparams = sizeof(params) / sizeof(params[0]),
	.needs = needs,
	.moves = moves,
	.prepare = (void *)prepare,
	.run = (void *)run,
	.check = check,
};
