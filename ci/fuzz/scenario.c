// SPDX-License-Identifier: GPL-2.0-only
/* Scenarios: YAML, --set (lines "#set KEY=VALUE"), and the variants of both. */
#include <string.h>

#include "ci/fuzz/fuzz.h"
#include "harness/scenario/scenario.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

static void check_error(const struct error *err)
{
	FUZZ_CHECK(err->status == EXIT_USAGE && err->text && *err->text);
}

static void check_job(const struct job *job)
{
	cleanup_free char *text = job_format(job), *again_text = NULL;
	struct job again;
	int bad;

	FUZZ_CHECK(text && job_parse(&again, text, &bad) == 0);
	again_text = job_format(&again);
	FUZZ_CHECK(strcmp(text, again_text) == 0 && again.nlines == job->nlines);
	job_free(&again);
}

static void check_variant(const struct variant *v)
{
	uint64_t bytes = 0;
	unsigned int cpus = 0;

	FUZZ_CHECK(v->label && v->cmdline && v->cpus > 0 && v->memory_bytes > 0);
	FUZZ_CHECK(!*v->cmdline || *v->cmdline == ' ');
	for (size_t i = 0; i < v->nnodes; i++) {
		bytes += v->node[i].memory_bytes;
		cpus += v->node[i].cpus;
	}
	FUZZ_CHECK(!v->nnodes || (bytes == v->memory_bytes && cpus == v->cpus));
	check_job(&v->job);
}

/*
 * run.json keeps the text: it must expand to the same again. Not so where --set resized a guest
 * with NUMA nodes: their sizes follow what was set, and stay in the text as they were written.
 */
static void check_text(const struct scenario_plan *plan)
{
	cleanup_error struct error err = ERROR_INIT;
	struct scenario_plan again;
	struct scenario *s;

	if (scenario_parse("fuzz.yaml", plan->text, strlen(plan->text), &s, &err) < 0)
		fuzz_broken(__FILE__, __LINE__, err.text);
	if (scenario_expand(s, 0, &again, &err) < 0)
		fuzz_broken(__FILE__, __LINE__, err.text);
	FUZZ_CHECK(strcmp(again.text, plan->text) == 0 && again.nvariants == plan->nvariants);
	for (size_t i = 0; i < plan->nvariants; i++) {
		cleanup_free char *a = job_format(&plan->variant[i].job);
		cleanup_free char *b = job_format(&again.variant[i].job);

		FUZZ_CHECK(strcmp(a, b) == 0);
		FUZZ_CHECK(strcmp(plan->variant[i].label, again.variant[i].label) == 0);
	}
	scenario_plan_free(&again);
	scenario_free(s);
}

static void expand(const struct scenario *s, uint64_t memory, bool assigned)
{
	cleanup_error struct error err = ERROR_INIT;
	struct scenario_plan plan;

	if (scenario_expand(s, memory, &plan, &err) < 0) {
		check_error(&err);
		return;
	}
	FUZZ_CHECK(plan.name && plan.text && plan.runs > 0 && plan.nvariants > 0);
	for (size_t i = 0; i < plan.nvariants; i++)
		check_variant(&plan.variant[i]);
	if (!memory && !(assigned && plan.variant[0].nnodes))
		check_text(&plan);
	scenario_plan_free(&plan);
}

static void assign(struct scenario *s, const char *text)
{
	const char *at = text;

	while ((at = strstr(at, "#set "))) {
		cleanup_error struct error err = ERROR_INIT;
		cleanup_free char *assignment = xstrndup(at + 5, strcspn(at + 5, "\n"));

		if (scenario_set(s, assignment, &err) < 0)
			check_error(&err);
		at += 5;
	}
}

static void run_scenario(const uint8_t *data, size_t len)
{
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *text = fuzz_text(data, len);
	struct scenario *s;

	if (scenario_parse("fuzz.yaml", (const char *)data, len, &s, &err) < 0) {
		check_error(&err);
		FUZZ_CHECK(strncmp(err.text, "fuzz.yaml", 9) == 0);
		return;
	}
	expand(s, 0, false);
	expand(s, 3221225472, false);
	assign(s, text);
	expand(s, 0, true);
	scenario_free(s);
}

const struct fuzz_target fuzz_scenario = { "scenario", run_scenario };
