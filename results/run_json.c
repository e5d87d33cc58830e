// SPDX-License-Identifier: GPL-2.0-only
#include "results/run_json.h"

#include <math.h>

#include "results/run_text.h"
#include "results/util/cleanup.h"

json_t *run_json_text(const char *s)
{
	cleanup_free char *clean = s ? run_text_utf8(s) : NULL;

	return clean ? json_string(clean) : json_null();
}

json_t *run_json_number(double value)
{
	if (value == floor(value) && fabs(value) < 9007199254740992.0)
		return json_integer((json_int_t)value);
	return json_real(value);
}

json_t *run_json_u64(uint64_t value)
{
	cleanup_free char *text = NULL;

	if (value <= INT64_MAX)
		return json_integer((json_int_t)value);
	text = str_printf("%ju", (uintmax_t)value);
	return json_string(text);
}

json_t *run_json_metrics(const struct run *r)
{
	json_t *o = json_object();

	for (size_t i = 0; i < r->nmetrics; i++) {
		cleanup_free char *name = run_text_utf8(r->metric[i].name);

		if (isfinite(r->metric[i].value))
			json_object_set_new(o, name, run_json_number(r->metric[i].value));
	}
	return o;
}

json_t *run_json_phases(const struct run *r)
{
	json_t *o = json_object();

	for (int i = 0; i < PHASE_COUNT; i++)
		if (r->phase[i] >= 0 && isfinite(r->phase[i]))
			json_object_set_new(o, wire_phase_names[i], json_real(r->phase[i]));
	return o;
}

json_t *run_json_strings(char *const *list)
{
	json_t *a = json_array();

	for (size_t i = 0; list && list[i]; i++)
		json_array_append_new(a, run_json_text(list[i]));
	return a;
}

json_t *run_json_taint(const struct run *r)
{
	cleanup_free char *letters = run_taint_letters(r->taint_after_known ? r->taint_after : r->taint_before);
	json_t *o;

	if (!r->taint_before_known && !r->taint_after_known)
		return NULL;
	o = json_object();
	if (r->taint_before_known)
		json_object_set_new(o, "before", run_json_u64(r->taint_before));
	if (r->taint_after_known)
		json_object_set_new(o, "after", run_json_u64(r->taint_after));
	json_object_set_new(o, "letters", json_string(letters));
	return o;
}

static void put_text(json_t *o, const char *key, const char *s)
{
	if (s)
		json_object_set_new(o, key, run_json_text(s));
}

static void put_number(json_t *o, const char *key, double value)
{
	if (isfinite(value))
		json_object_set_new(o, key, run_json_number(value));
}

/* JSON of the guest goes in as what it is; what does not parse is kept as text. */
static void put_raw(json_t *o, const char *key, const char *s)
{
	json_t *value = s ? json_loads(s, 0, NULL) : NULL;

	if (value)
		json_object_set_new(o, key, value);
	else
		put_text(o, key, s);
}

static json_t *kernel_to_json(const struct run_kernel *k)
{
	json_t *o = json_object();

	put_text(o, "name", k->name);
	put_text(o, "release", k->release);
	put_text(o, "build_id", k->build_id);
	put_text(o, "image", k->image);
	put_text(o, "image_hash", k->image_hash);
	put_text(o, "config_hash", k->config_hash);
	put_text(o, "provenance", k->provenance);
	if (k->folder) {
		json_t *files = json_array();

		for (size_t i = 0; i < k->nkept; i++)
			json_array_append_new(files, run_json_text(k->kept[i].name));
		put_text(o, "folder", k->folder);
		json_object_set_new(o, "kept", files);
	}
	return o;
}

static json_t *variant_to_json(const struct run_variant *v)
{
	json_t *o = json_object(), *values = json_array();

	put_text(o, "label", v->label);
	for (size_t i = 0; i < v->nvalues; i++) {
		json_t *value = json_object();

		put_text(value, "name", v->value[i].name);
		put_text(value, "text", v->value[i].text);
		json_array_append_new(values, value);
	}
	json_object_set_new(o, "values", values);
	json_object_set_new(o, "memory_bytes", run_json_u64(v->memory_bytes));
	json_object_set_new(o, "cpus", json_integer(v->cpus));
	return o;
}

static void put_identity(json_t *o, const struct runset *set, const struct run *r)
{
	json_object_set_new(o, "runset", run_json_text(set->id));
	json_object_set_new(o, "scenario", run_json_text(set->scenario));
	put_text(o, "scenario_text", set->scenario_text);
	json_object_set_new(o, "cell", run_json_u64(r->cell));
	json_object_set_new(o, "kernel_index", run_json_u64(r->kernel));
	json_object_set_new(o, "variant_index", run_json_u64(r->variant));
	if (r->kernel < set->nkernels)
		json_object_set_new(o, "kernel", kernel_to_json(&set->kernel[r->kernel]));
	if (r->variant < set->nvariants)
		json_object_set_new(o, "variant", variant_to_json(&set->variant[r->variant]));
}

/* Negative means not known, and is left out. */
static void put_share(json_t *o, const char *key, double v)
{
	if (v >= 0)
		put_number(o, key, v);
}

json_t *run_to_json(const struct runset *set, const struct run *r)
{
	json_t *o = json_object(), *taint;

	json_object_set_new(o, "schema", json_integer(RUN_SCHEMA));
	json_object_set_new(o, "id", run_json_text(r->id));
	json_object_set_new(o, "verdict", json_string(verdict_name(r->verdict)));
	put_text(o, "why", r->why);
	put_text(o, "detail", r->detail);
	json_object_set_new(o, "seed", run_json_u64(r->seed));
	put_text(o, "reproduce", r->reproduce);
	put_identity(o, set, r);
	put_text(o, "accel", r->accel);
	put_text(o, "qemu_version", r->qemu_version);
	put_text(o, "qemu_command", r->qemu_command);
	put_text(o, "host", r->host);
	put_number(o, "started", r->started);
	put_number(o, "ended", r->ended);
	put_number(o, "host_cpu", r->host_cpu);
	put_share(o, "host_wait", r->host_wait);
	put_share(o, "host_steal", r->host_steal);
	put_share(o, "host_memory", r->host_memory);
	put_share(o, "host_load", r->host_load);
	put_text(o, "forked_from", r->forked_from);
	if (r->restore_s > 0)
		put_number(o, "restore", r->restore_s);
	if (r->dirty_bytes)
		json_object_set_new(o, "dirty_bytes", run_json_u64(r->dirty_bytes));
	json_object_set_new(o, "phases", run_json_phases(r));
	json_object_set_new(o, "metrics", run_json_metrics(r));
	put_raw(o, "layout", r->layout_json);
	put_raw(o, "workload", r->workload_json);
	put_raw(o, "profile", r->profile_json);
	put_raw(o, "splats", r->splats_json);
	taint = run_json_taint(r);
	if (taint)
		json_object_set_new(o, "taint", taint);
	if (r->no_effect)
		json_object_set_new(o, "no_effect", run_json_strings(r->no_effect));
	return o;
}

/* The numbers of the cells, as in run.json. */
static json_t *left_out_to_json(const struct runset *set)
{
	json_t *a = json_array();

	for (size_t i = 0; i < set->nkernels * set->nvariants; i++)
		if (set->left_out[i])
			json_array_append_new(a, json_integer((json_int_t)i));
	return a;
}

json_t *runset_to_json(const struct runset *set, double created)
{
	json_t *o = json_object(), *kernels = json_array(), *variants = json_array();

	json_object_set_new(o, "schema", json_integer(RUN_SCHEMA));
	json_object_set_new(o, "id", run_json_text(set->id));
	put_number(o, "created", created);
	json_object_set_new(o, "scenario", run_json_text(set->scenario));
	put_text(o, "title", set->title);
	put_text(o, "scenario_text", set->scenario_text);
	put_text(o, "command", set->command);
	put_text(o, "table_style", set->table_style);
	put_text(o, "row_title", set->row_title);
	json_object_set_new(o, "metrics", run_json_strings(set->metric));
	for (size_t i = 0; i < set->nkernels; i++)
		json_array_append_new(kernels, kernel_to_json(&set->kernel[i]));
	json_object_set_new(o, "kernels", kernels);
	for (size_t i = 0; i < set->nvariants; i++)
		json_array_append_new(variants, variant_to_json(&set->variant[i]));
	json_object_set_new(o, "variants", variants);
	if (set->left_out)
		json_object_set_new(o, "left_out", left_out_to_json(set));
	json_object_set_new(o, "runs", json_integer(set->runs));
	return o;
}
