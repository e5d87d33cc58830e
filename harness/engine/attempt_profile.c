// SPDX-License-Identifier: GPL-2.0-only
#include <jansson.h>

#include "harness/engine/attempt_impl.h"

static void on_registers(void *arg, const char *json)
{
	struct attempt *a = arg;
	json_t *o = json ? json_loads(json, JSON_DECODE_ANY, NULL) : NULL;

	a->profile_waits = false;
	if (json_is_string(o) && a->phase == PHASE_WORKLOAD)
		profile_add(a->profile, json_string_value(o));
	json_decref(o);
}

void attempt_ask_profile(struct attempt *a)
{
	if (!a->profile || a->profile_waits || a->phase != PHASE_WORKLOAD)
		return;
	a->profile_waits = vm_qmp(a->vm, "human-monitor-command",
				  "{\"command-line\":\"info registers -a\"}", on_registers, a,
				  NULL) == 0;
}

void attempt_keep_symbols(void *arg, const void *text, uint32_t len)
{
	struct attempt *a = arg;

	if (a->profile)
		profile_symbols(a->profile, text, len);
}
