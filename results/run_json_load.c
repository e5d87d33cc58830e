// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <string.h>

#include "results/run_json.h"
#include "results/run_text.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

#define JSON_FILE_LIMIT (64UL << 20)
#define CELLS_MAX 1000000

json_t *run_json_load(const char *path, struct error *err)
{
	size_t len;
	cleanup_free char *text = file_read(path, JSON_FILE_LIMIT, &len, err);
	json_error_t where;
	json_t *o;

	if (!text) {
		if (err)
			err->status = EXIT_NO_VERDICT;
		return NULL;
	}
	o = json_loadb(text, len, 0, &where);
	if (!o)
		error_set(err, EXIT_NO_VERDICT, "%s:%d:%d: damaged: %s", path, where.line,
			  where.column, where.text);
	return o;
}

static char *take_text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? xstrdup(s) : NULL;
}

static char *take_raw(const json_t *o, const char *key)
{
	const json_t *value = json_object_get(o, key);
	char *dump, *copy;

	if (!value || json_is_string(value))
		return take_text(o, key);
	dump = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	copy = dump ? xstrdup(dump) : NULL;
	free(dump);
	return copy;
}

static double take_number(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

/* < 0 where absent: not known. */
static double take_share(const json_t *o, const char *key)
{
	const json_t *value = json_object_get(o, key);

	return json_is_number(value) ? json_number_value(value) : -1;
}

/* 0 where absent or no number; a caller that cares checks the range. */
static uint64_t take_u64(const json_t *o, const char *key)
{
	const json_t *value = json_object_get(o, key);
	uint64_t number;

	if (json_is_string(value))
		return str_parse_u64(json_string_value(value), 0, UINT64_MAX, &number, NULL) < 0 ?
		       0 : number;
	return json_integer_value(value) < 0 ? 0 : (uint64_t)json_integer_value(value);
}

static char **take_strings(const json_t *o, const char *key)
{
	const json_t *a = json_object_get(o, key), *item;
	char **list;
	size_t i, n = 0;

	if (!json_is_array(a))
		return NULL;
	list = xcalloc(json_array_size(a) + 1, sizeof(*list));
	json_array_foreach(a, i, item)
		if (json_is_string(item))
			list[n++] = xstrdup(json_string_value(item));
	return list;
}

static int check_schema(const char *label, const json_t *o, struct error *err)
{
	const json_t *schema = json_object_get(o, "schema");

	if (!json_is_object(o) || !json_is_integer(schema))
		return error_set(err, EXIT_NO_VERDICT, "%s: damaged: no \"schema\" in it", label);
	if (json_integer_value(schema) < RUN_SCHEMA)
		return error_set(err, EXIT_NO_VERDICT, "%s: damaged: schema %lld is none", label,
				 (long long)json_integer_value(schema));
	if (json_integer_value(schema) != RUN_SCHEMA)
		return error_set(err, EXIT_NO_VERDICT,
				 "%s: schema %lld, this mmrig reads %d; use a newer mmrig", label,
				 (long long)json_integer_value(schema), RUN_SCHEMA);
	return 0;
}

/* What is no number was never written by mmrig, and is not the same as absent. */
static int take_measurements(const char *label, json_t *o, struct run *r, struct error *err)
{
	json_t *metrics = json_object_get(o, "metrics"), *phases = json_object_get(o, "phases"),
	       *value;
	const char *name;

	for (int i = 0; i < PHASE_COUNT; i++) {
		value = json_object_get(phases, wire_phase_names[i]);
		r->phase[i] = json_is_number(value) ? json_number_value(value) : -1;
	}
	r->metric = xcalloc(json_object_size(metrics), sizeof(*r->metric));
	/* Each name stands once in an object, so run_set_metric() need not look for it. */
	json_object_foreach(metrics, name, value) {
		cleanup_free char *clean = json_is_number(value) ? NULL : run_text_printable(name);

		if (clean)
			return error_set(err, EXIT_NO_VERDICT, "%s: damaged: the metric %s is no number", label,
					 clean);
		if (isfinite(json_number_value(value)))
			r->metric[r->nmetrics++] =
				(struct metric){ xstrdup(name), json_number_value(value) };
	}
	return 0;
}

static void take_taint(const json_t *o, struct run *r)
{
	r->taint_before_known = json_object_get(o, "before") != NULL;
	r->taint_before = take_u64(o, "before");
	r->taint_after_known = json_object_get(o, "after") != NULL;
	r->taint_after = take_u64(o, "after");
}

int run_from_json(const char *label, json_t *o, const struct runset *set, struct run *r,
		  struct error *err)
{
	const char *verdict = json_string_value(json_object_get(o, "verdict"));

	memset(r, 0, sizeof(*r));
	if (check_schema(label, o, err) < 0)
		return -1;
	if (!verdict || !verdict_parse(verdict, &r->verdict))
		return error_set(err, EXIT_NO_VERDICT, "%s: damaged: no verdict that is known",
				 label);
	r->cell = take_u64(o, "cell");
	r->kernel = take_u64(o, "kernel_index");
	r->variant = take_u64(o, "variant_index");
	if (r->kernel >= set->nkernels || r->variant >= set->nvariants)
		return error_set(err, EXIT_NO_VERDICT,
				 "%s: damaged: kernel %zu, variant %zu are not in its run set",
				 label, r->kernel, r->variant);
	r->id = take_text(o, "id");
	if (!r->id)
		return error_set(err, EXIT_NO_VERDICT, "%s: damaged: no \"id\" in it", label);
	r->seed = take_u64(o, "seed");
	r->why = take_text(o, "why");
	r->detail = take_text(o, "detail");
	r->accel = take_text(o, "accel");
	r->qemu_version = take_text(o, "qemu_version");
	r->qemu_command = take_text(o, "qemu_command");
	r->host = take_text(o, "host");
	r->reproduce = take_text(o, "reproduce");
	r->started = take_number(o, "started");
	r->ended = take_number(o, "ended");
	r->host_cpu = take_number(o, "host_cpu");
	r->host_wait = take_share(o, "host_wait");
	r->host_steal = take_share(o, "host_steal");
	r->host_memory = take_share(o, "host_memory");
	r->host_load = take_share(o, "host_load");
	r->forked_from = take_text(o, "forked_from");
	r->restore_s = take_number(o, "restore");
	r->dirty_bytes = take_u64(o, "dirty_bytes");
	r->layout_json = take_raw(o, "layout");
	r->workload_json = take_raw(o, "workload");
	r->profile_json = take_raw(o, "profile");
	r->splats_json = take_raw(o, "splats");
	take_taint(json_object_get(o, "taint"), r);
	r->no_effect = take_strings(o, "no_effect");
	return take_measurements(label, o, r, err);
}

static void take_kernel(const json_t *o, struct run_kernel *k)
{
	const json_t *kept = json_object_get(o, "kept"), *name;
	size_t i;

	k->name = take_text(o, "name");
	k->release = take_text(o, "release");
	k->build_id = take_text(o, "build_id");
	k->image = take_text(o, "image");
	k->image_hash = take_text(o, "image_hash");
	k->config_hash = take_text(o, "config_hash");
	k->provenance = take_text(o, "provenance");
	k->folder = take_text(o, "folder");
	json_array_foreach(kept, i, name)
		if (json_is_string(name))
			run_kernel_keep(k, json_string_value(name), NULL, 0);
}

static int take_left_out(const char *label, const json_t *o, struct runset *set, struct error *err)
{
	const json_t *a = json_object_get(o, "left_out"), *item;
	size_t cells = set->nkernels * set->nvariants, i;

	if (!json_is_array(a) || !cells)
		return 0;
	if (set->nkernels > CELLS_MAX / set->nvariants)
		return error_set(err, EXIT_NO_VERDICT, "%s: damaged: more cells than a run set has", label);
	set->left_out = xcalloc(cells, sizeof(*set->left_out));
	json_array_foreach(a, i, item) {
		json_int_t cell = json_integer_value(item);

		if (!json_is_integer(item) || cell < 0 || (size_t)cell >= cells)
			return error_set(err, EXIT_NO_VERDICT,
					 "%s: damaged: a cell that is left out is not in it", label);
		set->left_out[cell] = true;
	}
	return 0;
}

static void take_variant(const json_t *o, struct run_variant *v)
{
	const json_t *values = json_object_get(o, "values"), *value;
	size_t i;

	v->label = take_text(o, "label");
	v->memory_bytes = take_u64(o, "memory_bytes");
	v->cpus = (unsigned int)take_u64(o, "cpus");
	v->value = xcalloc(json_array_size(values), sizeof(*v->value));
	json_array_foreach(values, i, value) {
		v->value[i].name = take_text(value, "name");
		v->value[i].text = take_text(value, "text");
	}
	v->nvalues = json_array_size(values);
}

int runset_from_json(const char *label, json_t *o, struct runset *set, double *created,
		     struct error *err)
{
	const json_t *kernels = json_object_get(o, "kernels"), *item;
	const json_t *variants = json_object_get(o, "variants");
	size_t i;

	memset(set, 0, sizeof(*set));
	if (check_schema(label, o, err) < 0)
		return -1;
	set->id = take_text(o, "id");
	set->scenario = take_text(o, "scenario");
	if (!set->id || !set->scenario || !json_is_array(kernels) || !json_is_array(variants)) {
		runset_free(set);
		return error_set(err, EXIT_NO_VERDICT,
				 "%s: damaged: it lacks id, scenario, kernels or variants", label);
	}
	set->title = take_text(o, "title");
	set->scenario_text = take_text(o, "scenario_text");
	set->command = take_text(o, "command");
	set->table_style = take_text(o, "table_style");
	set->row_title = take_text(o, "row_title");
	set->metric = take_strings(o, "metrics");
	set->runs = (unsigned int)take_u64(o, "runs");
	set->nkernels = json_array_size(kernels);
	set->kernel = xcalloc(set->nkernels, sizeof(*set->kernel));
	json_array_foreach(kernels, i, item)
		take_kernel(item, &set->kernel[i]);
	set->nvariants = json_array_size(variants);
	set->variant = xcalloc(set->nvariants, sizeof(*set->variant));
	json_array_foreach(variants, i, item)
		take_variant(item, &set->variant[i]);
	if (take_left_out(label, o, set, err) < 0) {
		runset_free(set);
		return -1;
	}
	if (created)
		*created = take_number(o, "created");
	return 0;
}
