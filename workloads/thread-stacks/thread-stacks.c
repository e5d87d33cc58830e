// SPDX-License-Identifier: GPL-2.0-only
/* thread-stacks: blocks of the size of a kernel stack, until one is not to be had. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/histogram.h"
#include "guest/workload.h"
#include "workloads/thread-stacks/clone.h"

#define STACK_BYTES (4096ull << THREAD_STACK_ORDER)
#define ATTEMPTS_A_PAUSE 16

struct bench {
	struct alloc_state state;
	const struct alloc_method *method;
	bool vmapped;
	uint64_t before_miss, met, missed;
	uint64_t ns;
	struct histogram hit, miss;
};

static const struct alloc_method *choose(const struct job_line *line, bool vmapped)
{
	const char *via = job_get(line, "via");

	if (via && strcmp(via, "pipe") == 0)
		return &alloc_pipe;
	if (via && strcmp(via, "packet") == 0)
		return &alloc_packet;
	if (via && strcmp(via, "clone") == 0)
		return &alloc_clone;
	return vmapped ? &alloc_packet : &alloc_clone;
}

static int prepare(struct workload_run *w)
{
	struct bench *b = malloc(sizeof(*b));
	int vmapped = stacks_are_vmapped();

	if (!b)
		return task_fail(w->child, "infra", "no memory for the histograms");
	if (vmapped < 0)
		return task_fail(w->child, "infra", "thread-stacks: cannot start threads: %s",
				 strerror(errno));
	memset(b, 0, sizeof(*b)); /* faulted in now, not while it runs */
	w->data = b;
	b->vmapped = vmapped;
	b->state = (struct alloc_state){ .child = w->child, .who = "thread-stacks",
					 .order = THREAD_STACK_ORDER, .hold = true,
					 .count = (uint64_t)job_get_i64(w->line, "count", 1) };
	b->method = choose(w->line, vmapped);
	return b->method->prepare(&b->state);
}

static int attempt(struct bench *b, uint64_t i)
{
	enum alloc_outcome outcome = b->method->take(&b->state, i);

	if (outcome == ALLOC_BROKEN)
		return -1;
	b->ns += b->state.ns;
	histogram_add(outcome == ALLOC_MET ? &b->hit : &b->miss, b->state.ns);
	if (outcome == ALLOC_MET) {
		b->met++;
		b->before_miss += b->missed == 0;
		return 0;
	}
	b->missed++;
	return outcome == ALLOC_FALLBACK ? b->method->give(&b->state, i) : 0;
}

static void report(struct workload_run *w)
{
	static char metrics[1024], extra[24000];
	const struct bench *b = w->data;
	size_t n;

	n = (size_t)snprintf(metrics, sizeof(metrics),
			     "\"time\":%.6f,\"stacks\":%" PRIu64 ",\"stacks_missed\":%" PRIu64,
			     (double)b->ns / 1e9, b->before_miss, b->missed);
	n += histogram_metrics(&b->hit, "stack", metrics + n, sizeof(metrics) - n);
	histogram_metrics(&b->miss, "stack_missed", metrics + n, sizeof(metrics) - n);
	n = (size_t)snprintf(extra, sizeof(extra),
			     "\"via\":\"%s\",\"method\":\"%s\",\"vmap_stack\":%s,\"met\":%" PRIu64
			     ",\"ended_by\":\"%s\",\"histogram\":",
			     b->method->name, b->method->how(THREAD_STACK_ORDER),
			     b->vmapped ? "true" : "false", b->met,
			     b->met + b->missed < b->state.count ? "misses" : "count");
	histogram_json(&b->hit, extra + n, sizeof(extra) - n);
	workload_result(w, metrics, extra);
}

static int run(struct workload_run *w)
{
	struct bench *b = w->data;
	uint64_t random = w->seed, misses = (uint64_t)job_get_i64(w->line, "misses", 1);

	if (b->method->begin && b->method->begin(&b->state) < 0)
		return -1;
	for (uint64_t i = 0; i < b->state.count && b->missed < misses; i++) {
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

static int check(const struct job_line *line, const struct step_context *c, struct step_fault *f)
{
	uint64_t count = (uint64_t)job_get_i64(line, "count", 1);

	if (count * STACK_BYTES <= c->memory_bytes)
		return 0;
	return step_fault_of_memory(f, "count",
				    "count is %" PRIu64 " stacks of 16K, %s, and the guest has %s", count,
				    size_text(count * STACK_BYTES).text,
				    size_text(c->memory_bytes).text);
}

static const char *const ways[] = { "auto", "packet", "pipe", "clone", NULL };

static const struct param_spec params[] = {
	{ "count", PARAM_NUMBER, "stacks", "how many at the most", 1, 1000000, NULL, NULL },
	{ "misses", PARAM_NUMBER, "misses", "fallbacks or failures after which it ends", 1, 1000000, "1",
	  NULL },
	{ "via", PARAM_CHOICE, NULL,
	  "what asks the kernel; auto: threads (clone), or packet where their stacks are vmalloc'ed", 0,
	  0, "auto", ways },
};
static const char *const moves[] = { "pgalloc_normal|pgalloc_dma32|pgalloc_dma|pgalloc_movable",
				     NULL };

const struct workload workload_thread_stacks = {
	.name = "thread-stacks",
	.summary = "ask for kernel stacks, or blocks of their size, until one is missed",
	.params = params,
	.nparams = sizeof(params) / sizeof(params[0]),
	.moves = moves,
	.prepare = (void *)prepare,
	.run = (void *)run,
	.check = check,
};
