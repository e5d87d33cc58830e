// SPDX-License-Identifier: GPL-2.0-only
/* alloc-order: asks the kernel for a block of one order, again and again; tells how it went. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/histogram.h"
#include "guest/workload.h"
#include "workloads/alloc-order/method.h"

#define ATTEMPTS_A_PAUSE 16

struct bench {
	struct alloc_state state;
	const struct alloc_method *method;
	uint64_t outcomes[3];	      /* by enum alloc_outcome */
	struct histogram met, missed; /* missed: by fallback or failure */
	uint64_t total_ns;
};

static int prepare(struct workload_run *w)
{
	struct bench *b = malloc(sizeof(*b));
	const char *kind = job_get(w->line, "kind"), *via = job_get(w->line, "via");
	char why[128];

	if (!b)
		return task_fail(w->child, "infra", "alloc-order: no memory for the histograms");
	memset(b, 0, sizeof(*b)); /* faulted in now, not while it runs */
	w->data = b;
	b->state.child = w->child;
	b->state.who = "alloc-order";
	b->state.order = (unsigned int)job_get_i64(w->line, "order", 0);
	b->state.count = (uint64_t)job_get_i64(w->line, "count", 1);
	b->state.hold = job_get_i64(w->line, "hold", 1) != 0;
	b->method = alloc_method_choose(via ? via : "auto", kind && strcmp(kind, "movable") == 0,
					b->state.order, why, sizeof(why));
	if (!b->method)
		return task_fail(w->child, "unsupported", "alloc-order: %s", why);
	return b->method->prepare(&b->state);
}

static int attempt(struct bench *b, uint64_t i)
{
	enum alloc_outcome outcome = b->method->take(&b->state, i);

	if (outcome == ALLOC_BROKEN)
		return -1;
	b->outcomes[outcome]++;
	b->total_ns += b->state.ns;
	histogram_add(outcome == ALLOC_MET ? &b->met : &b->missed, b->state.ns);
	if (outcome == ALLOC_FALLBACK || (outcome == ALLOC_MET && !b->state.hold))
		return b->method->give(&b->state, i);
	return 0;
}

static void put_extra(const struct bench *b, char *out, size_t room)
{
	const struct alloc_method *m = b->method;
	size_t n;

	n = (size_t)snprintf(out, room, "\"via\":\"%s\",\"method\":\"%s\",\"histogram\":", m->name,
			     m->how(b->state.order));
	n += histogram_json(&b->met, out + n, (room - n) / 2);
	n += (size_t)snprintf(out + n, room - n, ",\"histogram_missed\":");
	histogram_json(&b->missed, out + n, room - n);
}

static void report(struct workload_run *w)
{
	static char metrics[1024], extra[24000];
	const struct bench *b = w->data;
	const uint64_t *of = b->outcomes;
	size_t n;

	n = (size_t)snprintf(metrics, sizeof(metrics),
			     "\"time\":%.6f,\"alloc_attempts\":%" PRIu64
			     ",\"alloc_success\":%" PRIu64
			     ",\"alloc_success_share\":%.6g,\"alloc_fallback\":%" PRIu64
			     ",\"alloc_fail\":%" PRIu64,
			     (double)b->total_ns / 1e9, b->state.count, of[ALLOC_MET],
			     100.0 * (double)of[ALLOC_MET] / (double)b->state.count,
			     of[ALLOC_FALLBACK], of[ALLOC_FAILED]);
	n += histogram_metrics(&b->met, "alloc", metrics + n, sizeof(metrics) - n);
	histogram_metrics(&b->missed, "alloc_missed", metrics + n, sizeof(metrics) - n);
	put_extra(b, extra, sizeof(extra));
	workload_result(w, metrics, extra);
}

static int run(struct workload_run *w)
{
	struct bench *b = w->data;
	uint64_t random = w->seed;

	if (b->method->begin && b->method->begin(&b->state) < 0)
		return -1;
	for (uint64_t i = 0; i < b->state.count; i++) {
		if (i % ATTEMPTS_A_PAUSE == 0)
			workload_pause(&random);
		if (attempt(b, i) < 0)
			return -1;
		task_progress(w->child, i + 1, b->state.count);
	}
	if (b->method->end)
		b->method->end(&b->state);
	report(w);
	return 0;
}

static const char *const kinds[] = { "unmovable", "movable", NULL };
static const char *const ways[] = { "auto", "packet", "pipe", "thp", "hugetlb", NULL };

static const struct param_spec params[] = {
	{ "order", PARAM_NUMBER, NULL, "order of the blocks, 1 << order pages each", 0,
	  ALLOC_ORDER_MAX, NULL, NULL },
	{ "count", PARAM_NUMBER, "attempts", "how often to ask for one", 1, 500000, NULL, NULL },
	{ "kind", PARAM_CHOICE, NULL, "whether compaction may move what was allocated", 0, 0,
	  "unmovable", kinds },
	{ "via", PARAM_CHOICE, NULL,
	  "what asks the kernel; auto: packet up to order 3, pipe above, thp for movable", 0, 0,
	  "auto", ways },
	{ "hold", PARAM_BOOL, NULL, "keep what was got until the end, or give it back at once", 0,
	  0, "true", NULL },
};
static const char *const moves[] = { "pgalloc_normal|pgalloc_dma32|pgalloc_dma|pgalloc_movable",
				     NULL };

const struct workload workload_alloc_order = {
	.name = "alloc-order",
	.summary = "ask for blocks of one order and count how often it was met",
	.params = params,
	.nparams = sizeof(params) / sizeof(params[0]),
	.moves = moves,
	.prepare = (void *)prepare,
	.run = (void *)run,
};
