// SPDX-License-Identifier: GPL-2.0-only
/* What somebody pasted, and what is made of it: an account, JSON, a scenario that can be run. */
#include <jansson.h>
#include <string.h>

#include "ci/fuzz/fuzz.h"
#include "harness/report/memreport.h"
#include "harness/scenario/scenario.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

#define MEMORY (2ULL << 30)

static bool exceeds(const struct memzone *z, enum memzone_field a, enum memzone_field b)
{
	return z->have >> a & z->have >> b & 1 && z->value[a] > z->value[b];
}

/* What contradicts itself is left out. */
static void check_zone(const struct memreport *r, const struct memzone *z)
{
	uint64_t pages = 0;

	FUZZ_CHECK(z->orders <= MEMREPORT_ORDERS);
	FUZZ_CHECK(strnlen(z->name, sizeof(z->name)) < sizeof(z->name));
	for (unsigned int k = 0; k < z->orders; k++)
		pages += z->free[k] << k;
	FUZZ_CHECK(pages * r->page_kb < 1ULL << 42);
	FUZZ_CHECK(!(z->have >> MEMZONE_MANAGED & 1) || pages <= z->value[MEMZONE_MANAGED]);
	FUZZ_CHECK(!exceeds(z, MEMZONE_FREE, MEMZONE_MANAGED));
	FUZZ_CHECK(!exceeds(z, MEMZONE_MANAGED, MEMZONE_PRESENT));
	FUZZ_CHECK(!exceeds(z, MEMZONE_MIN, MEMZONE_LOW) && !exceeds(z, MEMZONE_LOW, MEMZONE_HIGH));
}

/* The blocks hold what was asked for, but for what does not fill one of the lowest order in use. */
static void check_scale(const struct memscale *s)
{
	uint64_t sum = 0, least = 0;

	for (int k = 0; k < MEMSCALE_ORDERS; k++) {
		sum += s->blocks[k] << k;
		if (s->blocks[k] && !least)
			least = 1ULL << k;
	}
	FUZZ_CHECK(s->pages <= MEMORY / 4096);
	FUZZ_CHECK(s->held[MEMTYPE_UNMOVABLE] + s->held[MEMTYPE_RECLAIMABLE] <= 1);
	FUZZ_CHECK(sum <= s->pages);
	FUZZ_CHECK(!sum || s->pages - sum < least);
}

static void check_scenario(const char *yaml)
{
	cleanup_error struct error err = ERROR_INIT;
	struct scenario *s;
	struct scenario_plan plan;

	FUZZ_CHECK(scenario_parse("imported.yaml", yaml, strlen(yaml), &s, &err) == 0);
	FUZZ_CHECK(scenario_expand(s, 0, &plan, &err) == 0);
	scenario_plan_free(&plan);
	scenario_free(s);
}

static void check_report(const struct memreport_set *set, size_t i, enum memunlisted unlisted)
{
	struct memscale_ask ask = { MEMORY, MEMSCALE_PAGES_MIN, unlisted };
	struct memscale scale;
	struct memimport m = { .label = "pasted, by somebody", .set = set, .chosen = i };
	cleanup_free char *account = NULL, *json = NULL, *yaml = NULL;
	json_t *doc;

	for (size_t z = 0; z < set->report[i].nzones; z++)
		check_zone(&set->report[i], &set->report[i].zone[z]);
	memreport_scale_as(&set->report[i], &ask, &scale);
	FUZZ_CHECK(!scale.refused || !scale.pages);
	FUZZ_CHECK(scale.certain_kb + scale.guessed_kb <= scale.unlisted_kb);
	if (scale.pages || scale.refused)
		m.scale = &scale;
	if (scale.pages) {
		check_scale(&scale);
		yaml = memreport_scenario(&m);
		check_scenario(yaml);
	}
	account = memreport_account(&m);
	json = memreport_json(&m, yaml);
	doc = json_loads(json, 0, NULL);
	FUZZ_CHECK(json_is_object(doc) && *account);
	json_decref(doc);
}

static void run(const uint8_t *data, size_t len)
{
	cleanup_error struct error err = ERROR_INIT;
	struct memreport_set set;
	int ret = memreport_parse("input", data, len, &set, &err);

	if (ret < 0) {
		FUZZ_CHECK(err.text && err.status == EXIT_USAGE && !set.n);
		return;
	}
	FUZZ_CHECK(set.n && set.best < set.n);
	for (size_t i = 0; i < set.n && i < 4; i++)
		for (int how = MEMUNLISTED_REFUSE; how <= MEMUNLISTED_NONE; how++)
			check_report(&set, i, (enum memunlisted)how);
	memreport_set_free(&set);
}

const struct fuzz_target fuzz_report = { "report", run };
