// SPDX-License-Identifier: GPL-2.0-only
/* template: writes to so many pages of new memory, one after the other. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "guest/histogram.h"
#include "guest/workload.h"

#define PAGE_BYTES 4096ull

struct bench {
	struct histogram took;
	char metrics[512], extra[24000];
};

/* Before the layout: memory is there to be had, and what is made here is not measured. */
static int prepare(struct workload_run *w)
{
	w->data = workload_room(w, sizeof(struct bench));
	return w->data ? 0 : -1;
}

static void touch(struct workload_run *w, uint8_t *memory, uint64_t pages)
{
	struct bench *b = w->data;

	for (uint64_t i = 0; i < pages; i++) {
		uint64_t start = mono_ns();

		*(volatile uint8_t *)(memory + i * PAGE_BYTES) = 1;
		histogram_add(&b->took, mono_ns() - start);
		task_progress(w->child, i + 1, pages); /* one that stands still is a stall */
	}
}

static int run(struct workload_run *w)
{
	struct bench *b = w->data;
	uint64_t pages = (uint64_t)job_get_i64(w->line, "pages", 1000), start;
	uint8_t *memory = mmap(NULL, pages * PAGE_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t n;

	if (memory == MAP_FAILED)
		return task_fail(w->child, "workload-failed", "template: cannot map: %s", strerror(errno));
	start = mono_ns();
	touch(w, memory, pages);
	n = (size_t)snprintf(b->metrics, sizeof(b->metrics), "\"time\":%.6f", (double)(mono_ns() - start) / 1e9);
	histogram_metrics(&b->took, "touch", b->metrics + n, sizeof(b->metrics) - n);
	n = (size_t)snprintf(b->extra, sizeof(b->extra), "\"histogram\":");
	histogram_json(&b->took, b->extra + n, sizeof(b->extra) - n);
	workload_result(w, b->metrics, b->extra);
	return 0;
}

static const struct param_spec params[] = {
	{ "pages", PARAM_NUMBER, "pages", "how many are written to", 1, 100000000, "1000", NULL },
};
/* A run in which none of these moved did not do what it says. */
static const char *const moves[] = { "pgalloc_normal|pgalloc_dma32|pgalloc_dma|pgalloc_movable", NULL };

const struct workload workload_template = {
	.name = "template",
	.summary = "write to so many pages of new memory",
	.params = params,
	.nparams = sizeof(params) / sizeof(params[0]),
	.moves = moves,
	.prepare = (void *)prepare,
	.run = (void *)run,
};
