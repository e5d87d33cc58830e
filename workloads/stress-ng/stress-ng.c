// SPDX-License-Identifier: GPL-2.0-only
/* stress-ng: stressors as a job file or arguments say, with its figures among the metrics. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/program_params.h"
#include "workloads/stress-ng/report.h"

#define OUTPUT TOOLBOX_TMP "/stress-ng.yaml"
#define JOB TOOLBOX_TMP "/stress-ng.job"
#define REPORT_BYTES_MAX (256u << 10)

/* Its exit statuses, stress-ng(1). */
enum { STRESS_NO_RESOURCE = 3, STRESS_NOT_IMPLEMENTED = 4, STRESS_UNSTABLE = 7 };

struct bench {
	struct program program;
	struct program_params params;
	struct stress_report report;
	char seed[24];
	char yaml[REPORT_BYTES_MAX];
	char metrics[TASK_MESSAGE_MAX - 1024], extra[512];
};
/* What is no complaint, though it may have such words in it. */
static const char *const chat[] = { "stress-ng: info:", "stress-ng: metrc:", "stress-ng: debug:",
				    "stress-ng: warn:", NULL };

/* Without a limit it would run for a day. What is given later counts. */
static int make_arguments(struct bench *b, const struct workload_run *w)
{
	static const char *const always[] = { "/usr/bin/stress-ng", "--yaml",  OUTPUT, "--metrics",
					      "--temp-path",	    TOOLBOX_WORK, "--timeout", "60",
					      "--seed" };
	int job = program_params_put_job(w, JOB);

	if (job < 0)
		return -1;
	snprintf(b->seed, sizeof(b->seed), "%llu", (unsigned long long)w->seed);
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		program_params_add(&b->params, always[i]);
	program_params_add(&b->params, b->seed);
	if (program_params_take(&b->params, w, "stress-ng") < 0)
		return -1;
	if (job) {
		program_params_add(&b->params, "--job");
		program_params_add(&b->params, JOB);
	}
	return 0;
}

/* The status of one whose figures are there to be read, though perhaps not to be trusted, is no failure. */
static int judge(const struct bench *b, const struct workload_run *w)
{
	int status = b->program.exit_status;

	if (status == STRESS_UNSTABLE)
		return 0;
	if (status == STRESS_NO_RESOURCE || status == STRESS_NOT_IMPLEMENTED)
		return task_fail(w->child, "unsupported", "stress-ng skipped a stressor (status %d, %s): %s",
				 status,
				 status == STRESS_NO_RESOURCE ? "no resources" : "not implemented here",
				 program_complaint(&b->program, NULL));
	return program_params_status(&b->program, w, "stress-ng", chat);
}

static int report(struct bench *b, struct workload_run *w)
{
	size_t n;

	if (program_file(OUTPUT, b->yaml, sizeof(b->yaml)) < 0 ||
	    stress_report_read(b->yaml, &b->report) < 0)
		return task_fail(w->child, "workload-failed", "stress-ng: its figures cannot be read: %s",
				 program_complaint(&b->program, chat));
	n = (size_t)snprintf(b->metrics, sizeof(b->metrics), "\"time\":%.6f", b->program.real_s);
	n += program_params_metrics(&b->program, b->metrics + n, sizeof(b->metrics) - n);
	stress_report_metrics(&b->report, b->metrics + n, sizeof(b->metrics) - n);
	snprintf(b->extra, sizeof(b->extra), "\"version\":\"stress-ng-%s\",\"status\":%d%s",
		 b->report.version, b->program.exit_status,
		 b->program.exit_status == STRESS_UNSTABLE ?
			 ",\"note\":\"stress-ng says that its figures may not be trusted (status 7)\"" :
			 "");
	workload_result(w, b->metrics, b->extra);
	return 0;
}

static int run(struct workload_run *w)
{
	struct bench *b = workload_room(w, sizeof(*b));

	if (!b || make_arguments(b, w) < 0 || program_run(&b->program, &b->params.spec, w->child) < 0 ||
	    program_check(&b->program, w->child, "stress-ng") < 0 || judge(b, w) < 0)
		return -1;
	return report(b, w);
}

static const char *const packages[] = { "stress-ng", NULL };
static const struct toolbox_spec toolbox = { .packages = packages };

static const struct param_spec params[] = { PROGRAM_PARAMS("a job file of stress-ng(1)") };

const struct workload workload_stress_ng = {
	.name = "stress-ng",
	.summary = "run stress-ng: stressors as a job file or arguments say; 60 s each unless those say else",
	.params = params,
	.nparams = sizeof(params) / sizeof(params[0]),
	.check = program_params_check,
	.run = (void *)run,
	.toolbox = &toolbox,
	.scratch_bytes = program_params_scratch,
};
