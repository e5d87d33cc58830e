// SPDX-License-Identifier: GPL-2.0-only
/* fio: a job file or arguments of fio(1), with its figures among the metrics. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/program_params.h"
#include "workloads/fio/report.h"

#define OUTPUT TOOLBOX_TMP "/fio.json"
#define JOB TOOLBOX_TMP "/job.fio"
#define REPORT_BYTES_MAX (512u << 10)

struct bench {
	struct program program;
	struct program_params params;
	struct fio_report report;
	char seed[40];
	char json[REPORT_BYTES_MAX];
	char metrics[TASK_MESSAGE_MAX - 1024], extra[256];
};
/* Options before the first --name are those of every job, and a job file's own come before them. */
static int make_arguments(struct bench *b, const struct workload_run *w)
{
	int job = program_params_put_job(w, JOB);

	if (job < 0)
		return -1;
	snprintf(b->seed, sizeof(b->seed), "--randseed=%llu", (unsigned long long)w->seed);
	program_params_add(&b->params, "/usr/bin/fio");
	program_params_add(&b->params, "--output-format=json");
	program_params_add(&b->params, "--output=" OUTPUT);
	program_params_add(&b->params, "--eta=never");
	program_params_add(&b->params, "--group_reporting");
	program_params_add(&b->params, b->seed);
	if (program_params_take(&b->params, w, "fio") < 0)
		return -1;
	if (job)
		program_params_add(&b->params, JOB);
	return 0;
}

static int report(struct bench *b, const struct workload_run *w)
{
	size_t n;

	if (program_file(OUTPUT, b->json, sizeof(b->json)) < 0 ||
	    fio_report_read(b->json, &b->report) < 0)
		return task_fail(w->child, "workload-failed", "fio: its JSON cannot be read: %.200s",
				 program_complaint(&b->program, NULL));
	n = (size_t)snprintf(b->metrics, sizeof(b->metrics), "\"time\":%.6f", b->program.real_s);
	n += program_params_metrics(&b->program, b->metrics + n, sizeof(b->metrics) - n);
	fio_report_metrics(&b->report, b->metrics + n, sizeof(b->metrics) - n);
	snprintf(b->extra, sizeof(b->extra), "\"version\":\"%s\"", b->report.version);
	workload_result((struct workload_run *)w, b->metrics, b->extra);
	return 0;
}

static int run(struct workload_run *w)
{
	struct bench *b = workload_room(w, sizeof(*b));

	if (!b || make_arguments(b, w) < 0 || program_run(&b->program, &b->params.spec, w->child) < 0 ||
	    program_check(&b->program, w->child, "fio") < 0 ||
	    program_params_status(&b->program, w, "fio", NULL) < 0)
		return -1;
	return report(b, w);
}

static const char *const packages[] = { "fio", NULL };
static const struct toolbox_spec toolbox = { .packages = packages };

static const struct param_spec params[] = { PROGRAM_PARAMS("a job file of fio(1)") };

const struct workload workload_fio = {
	.name = "fio",
	.summary = "run fio: reads and writes of files as a job file or arguments say",
	.params = params,
	.nparams = sizeof(params) / sizeof(params[0]),
	.check = program_params_check,
	.run = (void *)run,
	.toolbox = &toolbox,
	.scratch_bytes = program_params_scratch,
};
