// SPDX-License-Identifier: GPL-2.0-only
/* hugealloc-kbuild: a kernel build, and a process beside it that asks for huge pages at a steady rate. */
#include <stdio.h>

#include "workloads/hugealloc-kbuild/prober.h"
#include "workloads/kbuild/build.h"

#define POLL_MS_MAX 500
#define HISTOGRAM_BYTES 16384

struct bench {
	struct kbuild build;
	struct prober prober;
	char metrics[2048], extra[HISTOGRAM_BYTES];
};

static int prepare(struct workload_run *w)
{
	struct bench *b = workload_room(w, sizeof(*b));

	w->data = b;
	return b ? prober_init(&b->prober, w->child, (uint64_t)job_get_i64(w->line, "rate", 20)) : -1;
}

static int setup(struct workload_run *w)
{
	return kbuild_setup(w, &((struct bench *)w->data)->build);
}

static int build(struct workload_run *w, struct bench *b)
{
	int wait_ms = 0;

	while (kbuild_poll(&b->build, wait_ms < POLL_MS_MAX ? wait_ms : POLL_MS_MAX)) {
		wait_ms = prober_work(&b->prober);
		if (wait_ms < 0)
			return -1;
	}
	return 0;
}

static int run(struct workload_run *w)
{
	struct bench *b = w->data;
	size_t n;

	b->build.is_busy = true;
	if (prober_begin(&b->prober) < 0 || kbuild_start(w, &b->build) < 0 || build(w, b) < 0)
		return -1;
	prober_end(&b->prober);
	if (kbuild_finish(w, &b->build) < 0)
		return -1;
	n = kbuild_metrics(&b->build, b->metrics, sizeof(b->metrics));
	prober_metrics(&b->prober, b->metrics + n, sizeof(b->metrics) - n);
	n = (size_t)snprintf(b->extra, sizeof(b->extra), "\"histogram\":");
	histogram_json(&b->prober.took, b->extra + n, sizeof(b->extra) - n);
	workload_result(w, b->metrics, b->extra);
	return 0;
}

static const struct param_spec params[] = {
	KBUILD_PARAMS,
	{ "rate", PARAM_NUMBER, "attempts a second", "huge pages that are asked for", 1, 10000, "20", NULL },
};
static const char *const moves[] = { "thp_fault_alloc|thp_fault_fallback", NULL };

const struct workload workload_hugealloc_kbuild = {
	.name = "hugealloc-kbuild",
	.summary = "build a kernel while huge pages are asked for at a steady rate, each one timed",
	.params = params,
	.nparams = sizeof(params) / sizeof(params[0]),
	.moves = moves,
	.check = kbuild_check,
	.prepare = (void *)prepare,
	.setup = (void *)setup,
	.run = (void *)run,
	.toolbox = &kbuild_toolbox,
	.scratch_bytes = kbuild_scratch,
};
