// SPDX-License-Identifier: GPL-2.0-only
#include "results/beside.h"

#include <jansson.h>

#include "results/util/cleanup.h"
#include "results/util/str.h"

#define NAME_MAX_BYTES 64

/* Its name, heap, and whether it was told to stop. NULL: the run had none. */
static char *of_run(const struct run *r, bool *to_the_end)
{
	json_t *o = r->workload_json ? json_loads(r->workload_json, 0, NULL) : NULL;
	json_t *beside = json_object_get(o, "background");
	const char *text = json_string_value(json_object_get(beside, "workload"));
	char *name = text && *text ? xstrndup(text, NAME_MAX_BYTES) : NULL;

	*to_the_end = json_is_true(json_object_get(beside, "stopped"));
	json_decref(o);
	return name;
}

char *beside_text(const struct runset *set)
{
	cleanup_free char *name = NULL;
	size_t runs = 0, whole = 0;

	for (size_t i = 0; i < set->nruns; i++) {
		cleanup_free char *found = NULL;
		bool to_the_end;

		if (set->run[i].verdict != VERDICT_OK)
			continue;
		found = of_run(&set->run[i], &to_the_end);
		if (!found)
			continue;
		runs++;
		whole += to_the_end;
		if (!name)
			name = STEAL(found);
	}
	return name ? str_printf("%s, at work to the end in %zu of %zu run%s", name, whole, runs,
				 runs == 1 ? "" : "s") : NULL;
}
