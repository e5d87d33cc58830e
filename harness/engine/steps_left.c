// SPDX-License-Identifier: GPL-2.0-only
#include "harness/engine/steps_left.h"

#include <stdlib.h>

#include <jansson.h>

#define STEPS_MAX 256 /* as of harness/engine/guest_state.c */

static bool has_report(const json_t *steps, uint64_t index)
{
	json_t *step;
	size_t i;

	json_array_foreach(steps, i, step) {
		const json_t *v = json_object_get(step, "index");

		if (json_is_integer(v) && json_integer_value(v) == (json_int_t)index)
			return true;
	}
	return false;
}

static void add_unless_reported(json_t *steps, uint64_t index, const char *name, uint64_t begun)
{
	const char *state = index < begun ? STEP_NOT_FINISHED : STEP_NOT_REACHED;

	if (has_report(steps, index) || json_array_size(steps) >= STEPS_MAX)
		return;
	json_array_append_new(steps, json_pack("{s:I, s:s, s:s}", "index", (json_int_t)index, "step", name,
					       "state", state));
}

void steps_left_to_run(const struct job *job, uint64_t begun, struct run *r)
{
	json_t *steps = r->layout_json ? json_loads(r->layout_json, 0, NULL) : NULL;
	const struct job_line *line = NULL;
	uint64_t n = 0;

	if (!json_is_array(steps)) {
		json_decref(steps);
		steps = json_array();
	}
	while ((line = job_next(job, line, "step")))
		add_unless_reported(steps, n++, job_get(line, "do"), begun);
	if (n)
		add_unless_reported(steps, n, "proof", begun);
	if (json_array_size(steps)) {
		free(r->layout_json);
		r->layout_json = json_dumps(steps, JSON_COMPACT);
	}
	json_decref(steps);
}
