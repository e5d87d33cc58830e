// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <string.h>

#include "results/run_json.h"
#include "results/table.h"
#include "results/table_cells.h"
#include "results/util/cleanup.h"

/* ASCII alone: no byte of a guest reaches a terminal as it is. */
#define JSON_FORMAT (JSON_INDENT(1) | JSON_REAL_PRECISION(15) | JSON_ENSURE_ASCII)

/* A number where the whole text is one, as JSON spells them. */
static json_t *value_json(const char *text)
{
	json_t *number = NULL;

	if (text && (*text == '-' || (*text >= '0' && *text <= '9')))
		number = json_loads(text, JSON_DECODE_ANY, NULL);
	return json_is_number(number) ? number : (json_decref(number), run_json_text(text));
}

static json_t *variant_json(const struct run_variant *v)
{
	json_t *o = json_object();

	for (size_t i = 0; i < v->nvalues; i++)
		if (v->value[i].name)
			json_object_set_new(o, v->value[i].name, value_json(v->value[i].text));
	return o;
}

static json_t *kernel_json(const struct run_kernel *k)
{
	json_t *o = json_object();

	json_object_set_new(o, "name", run_json_text(k->name));
	json_object_set_new(o, "release", run_json_text(k->release));
	json_object_set_new(o, "build_id", run_json_text(k->build_id));
	return o;
}

static json_t *run_json(const struct run *r)
{
	json_t *o = json_object();

	json_object_set_new(o, "id", run_json_text(r->id));
	json_object_set_new(o, "seed", run_json_u64(r->seed));
	json_object_set_new(o, "verdict", json_string(verdict_name(r->verdict)));
	json_object_set_new(o, "accel", run_json_text(r->accel));
	json_object_set_new(o, "phases", run_json_phases(r));
	json_object_set_new(o, "metrics", run_json_metrics(r));
	json_object_set_new(o, "wall", json_real(r->ended - r->started));
	json_object_set_new(o, "host_cpu", json_real(r->host_cpu));
	if (r->forked_from) {
		json_object_set_new(o, "forked_from", run_json_text(r->forked_from));
		json_object_set_new(o, "restore", json_real(r->restore_s));
		json_object_set_new(o, "dirty_bytes", run_json_u64(r->dirty_bytes));
	}
	if (r->why)
		json_object_set_new(o, "why", run_json_text(r->why));
	if (r->layout_json) {
		json_t *layout = json_loads(r->layout_json, 0, NULL);

		if (layout)
			json_object_set_new(o, "layout", layout);
	}
	if (r->splats_json) {
		json_t *splats = json_loads(r->splats_json, 0, NULL);

		if (splats)
			json_object_set_new(o, "splats", splats);
	}
	if (r->taint_before_known || r->taint_after_known)
		json_object_set_new(o, "taint", run_json_taint(r));
	if (r->no_effect && r->no_effect[0])
		json_object_set_new(o, "no_effect", run_json_strings(r->no_effect));
	if (r->reproduce)
		json_object_set_new(o, "reproduce", run_json_text(r->reproduce));
	return o;
}

static json_t *cell_json(const struct runset *set, const struct table_cell *cell)
{
	json_t *o = json_object(), *runs = json_array();

	json_object_set_new(o, "kernel", kernel_json(&set->kernel[cell->kernel]));
	json_object_set_new(o, "variant", variant_json(&set->variant[cell->variant]));
	for (size_t i = 0; i < set->nruns; i++)
		if (table_cell_has(cell, &set->run[i]))
			json_array_append_new(runs, run_json(&set->run[i]));
	json_object_set_new(o, "runs", runs);
	return o;
}

char *table_json(const struct runset *set)
{
	json_t *o = json_object(), *cells = json_array();
	size_t n;
	struct table_cell *cell = table_cells(set, &n);
	char *text, *copy;

	json_object_set_new(o, "schema", json_integer(RUN_SCHEMA));
	json_object_set_new(o, "runset", run_json_text(set->id));
	json_object_set_new(o, "scenario", run_json_text(set->scenario));
	for (size_t i = 0; i < n; i++)
		json_array_append_new(cells, cell_json(set, &cell[i]));
	json_object_set_new(o, "cells", cells);
	text = json_dumps(o, JSON_FORMAT);
	copy = str_printf("%s\n", text ? text : "{}");
	free(text);
	json_decref(o);
	table_cells_free(cell, n);
	return copy;
}
