// SPDX-License-Identifier: GPL-2.0-only
#include "ci/fuzz/fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/counter.h"
#include "results/util/cleanup.h"

#define TARGETS(X)                                                         \
	X(vmstat) X(meminfo) X(buddyinfo) X(extfrag) X(pagetypeinfo)       \
	X(zoneinfo) X(psi) X(slabinfo) X(zones) X(edges) X(formula)        \
	X(json) X(samples) X(wire) X(guest) X(job) X(expr) X(scenario)     \
	X(console) X(qmp) X(report) X(ktap)

#define DECLARE(name) extern const struct fuzz_target fuzz_##name;
TARGETS(DECLARE)

#define LIST(name) &fuzz_##name,
const struct fuzz_target *const fuzz_targets[] = { TARGETS(LIST) NULL };

const struct fuzz_target *fuzz_find(const char *name)
{
	for (size_t i = 0; fuzz_targets[i]; i++)
		if (strcmp(fuzz_targets[i]->name, name) == 0)
			return fuzz_targets[i];
	return NULL;
}

void fuzz_broken(const char *file, int line, const char *condition)
{
	fprintf(stderr, "%s:%d: broken promise: %s\n", file, line, condition);
	abort();
}

char *fuzz_text(const uint8_t *data, size_t len)
{
	return xstrndup(len ? (const char *)data : "", len);
}

size_t fuzz_lines(const uint8_t *data, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += data[i] == '\n';
	return n;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct metric *)a)->name, ((const struct metric *)b)->name);
}

static void check_metrics(const struct run *r)
{
	cleanup_free struct metric *sorted = xcalloc(r->nmetrics + 1, sizeof(*sorted));

	if (r->nmetrics)
		memcpy(sorted, r->metric, r->nmetrics * sizeof(*sorted));
	qsort(sorted, r->nmetrics, sizeof(*sorted), by_name);
	for (size_t i = 0; i < r->nmetrics; i++) {
		FUZZ_CHECK(isfinite(sorted[i].value));
		FUZZ_CHECK(!i || strcmp(sorted[i - 1].name, sorted[i].name) != 0);
	}
}

void fuzz_check_run(const struct run *r)
{
	cleanup_free char *notes = xstrdup(r->detail ? r->detail : "");
	char *save = NULL;

	check_metrics(r);
	for (char *line = strtok_r(notes, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		FUZZ_CHECK(counter_is_note(line));
}
