// SPDX-License-Identifier: GPL-2.0-only
#include "guest/registry.h"

#include <string.h>

extern const struct layout_step step_fill, step_pin, step_free, step_shape, step_mix, step_age,
	step_reclaim, step_compact, step_reserve;

/* Made by the Makefile of what stands in workloads/. */
#define WORKLOAD(name) extern const struct workload name;
#include "workloads.h"
#undef WORKLOAD

const struct layout_step *const layout_steps[] = {
	&step_fill, &step_pin, &step_free, &step_shape, &step_mix, &step_age, &step_reclaim, &step_compact,
	&step_reserve
};
const size_t layout_step_count = sizeof(layout_steps) / sizeof(layout_steps[0]);

#define WORKLOAD(name) &name,
const struct workload *const workload_table[] = {
#include "workloads.h"
};
const size_t workload_count = sizeof(workload_table) / sizeof(workload_table[0]);

const struct layout_step *layout_step_find(const char *name)
{
	for (size_t i = 0; i < layout_step_count; i++)
		if (strcmp(layout_steps[i]->name, name) == 0)
			return layout_steps[i];
	return NULL;
}

const struct workload *workload_find(const char *name)
{
	for (size_t i = 0; i < workload_count; i++)
		if (strcmp(workload_table[i]->name, name) == 0)
			return workload_table[i];
	return NULL;
}
