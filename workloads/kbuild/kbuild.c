// SPDX-License-Identifier: GPL-2.0-only
/* kbuild: make -jN of a kernel tree, with cold caches. README.md says what is built. */
#include "workloads/kbuild/build.h"

#define POLL_MS 500

struct bench {
	struct kbuild build;
	char metrics[1024];
};

static int setup(struct workload_run *w)
{
	struct bench *b = workload_room(w, sizeof(*b));

	w->data = b;
	return b ? kbuild_setup(w, &b->build) : -1;
}

static int run(struct workload_run *w)
{
	struct bench *b = w->data;

	if (kbuild_start(w, &b->build) < 0)
		return -1;
	while (kbuild_poll(&b->build, POLL_MS))
		;
	if (kbuild_finish(w, &b->build) < 0)
		return -1;
	kbuild_metrics(&b->build, b->metrics, sizeof(b->metrics));
	workload_result(w, b->metrics, NULL);
	return 0;
}

static const struct param_spec params[] = { KBUILD_PARAMS };

const struct workload workload_kbuild = {
	.name = "kbuild",
	.summary = "build a kernel with the compiler of the toolbox: make -jN, caches dropped",
	.params = params,
	.nparams = sizeof(params) / sizeof(params[0]),
	.check = kbuild_check,
	.setup = (void *)setup,
	.run = (void *)run,
	.toolbox = &kbuild_toolbox,
	.scratch_bytes = kbuild_scratch,
};
