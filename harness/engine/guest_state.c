// SPDX-License-Identifier: GPL-2.0-only
#include "harness/engine/guest_state.h"

#include <math.h>
#include <string.h>

#include "guest/registry.h"
#include "guest/task.h"
#include "results/util/cleanup.h"

#define STEPS_MAX 256
#define LOG_MAX 65536
/*
 * The agent's own limits, twice over. A MiB of JSON makes 30 MiB of objects and there may be
 * STEPS_MAX of them; the time that metrics take grows with the square of their number.
 */
#define JSON_MAX (2 * TASK_MESSAGE_MAX)
/* All PARTIALs and RESULTs of a run together; what comes after that is not taken. */
#define RESULT_BYTES_MAX (1u << 20)
#define RESULT_METRICS_MAX 4096

static json_t *object_of(const struct wire_frame *f)
{
	json_t *o = NULL;

	if (f->len <= JSON_MAX)
		o = json_loadb((const char *)f->payload, f->len, JSON_REJECT_DUPLICATES, NULL);
	if (o && !json_is_object(o)) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static char *string_member(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? xstrndup(s, 4096) : NULL;
}

static uint64_t number_member(const json_t *o, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(o, key));

	return v > 0 ? (uint64_t)v : 0;
}

static bool taint_member(const json_t *o, uint64_t *taint)
{
	const json_t *v = json_object_get(o, "tainted");

	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return false;
	*taint = (uint64_t)json_integer_value(v);
	return true;
}

static bool phase_member(const json_t *o, enum wire_phase *phase)
{
	const char *name = json_string_value(json_object_get(o, "phase"));

	for (int p = 0; name && p < PHASE_COUNT; p++) {
		if (strcmp(wire_phase_names[p], name) == 0) {
			*phase = (enum wire_phase)p;
			return true;
		}
	}
	return false;
}

static void take_phase(struct guest_state *g, const json_t *o)
{
	const char *edge = json_string_value(json_object_get(o, "edge"));
	enum wire_phase phase;

	if (!edge || !phase_member(o, &phase))
		return;
	g->phase = phase;
	if (strcmp(edge, "begin") == 0) {
		g->begin_ns[phase] = number_member(o, "mono_ns");
		g->done = g->total = 0;
	} else if (strcmp(edge, "end") == 0) {
		g->end_ns[phase] = number_member(o, "mono_ns");
	}
}

static void take_sample(struct guest_state *g, const struct wire_frame *f)
{
	struct wire_sample s;

	if (!wire_sample_parse(f->payload, f->len, &s))
		return;
	if (strcmp(s.name, "kallsyms") == 0) {
		if (g->symbols)
			g->symbols(g->arg, s.data, s.len);
		return;
	}
	if (g->sample)
		g->sample(g->arg, f->payload, f->len);
	if (s.edge == EDGE_NONE)
		return;
	edges_take(&g->edges, &s);
	if (strcmp(s.name, "vmstat") == 0) {
		struct vmstat *v = &g->vmstat[s.phase][s.edge == EDGE_END];

		vmstat_free(v);
		vmstat_parse(s.data, s.len, v);
	}
}

static void take_step(struct guest_state *g, json_t *o)
{
	if (json_is_true(json_object_get(o, "begun"))) {
		g->begun = number_member(o, "index") + 1;
		return;
	}
	if (!g->steps)
		g->steps = json_array();
	if (json_array_size(g->steps) < STEPS_MAX)
		json_array_append(g->steps, o);
}

static void merge_metrics(json_t *into, const json_t *more)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)more, key, value)
		if (json_object_size(into) < RESULT_METRICS_MAX || json_object_get(into, key))
			json_object_set(into, key, value);
}

static void take_result(struct guest_state *g, json_t *o, size_t bytes, bool whole)
{
	const char *key;
	json_t *value, *metrics;

	if (g->result_bytes + bytes > RESULT_BYTES_MAX)
		return;
	g->result_bytes += bytes;
	g->whole = g->whole || whole;
	if (!g->result)
		g->result = json_pack("{s:{}}", "metrics");
	metrics = json_object_get(g->result, "metrics");
	json_object_foreach(o, key, value)
		if (strcmp(key, "metrics") == 0)
			merge_metrics(metrics, value);
		else
			json_object_set(g->result, key, value);
}

static void take_json(struct guest_state *g, const struct wire_frame *f)
{
	json_t *o = object_of(f);

	if (!o)
		return;
	if (number_member(o, "mono_ns"))
		g->last_ns = number_member(o, "mono_ns");
	switch (f->type) {
	case WIRE_HELLO:
		g->hello = true;
		g->hello_ns = number_member(o, "mono_ns");
		free(g->release);
		g->release = string_member(o, "release");
		free(g->channel);
		g->channel = string_member(o, "channel");
		g->taint_before_known = taint_member(o, &g->taint_before);
		break;
	case WIRE_PHASE:
		take_phase(g, o);
		break;
	case WIRE_PROGRESS:
		g->done = number_member(o, "done");
		g->total = number_member(o, "total");
		break;
	case WIRE_STEP:
		take_step(g, o);
		break;
	case WIRE_RESULT:
	case WIRE_PARTIAL:
		take_result(g, o, f->len, f->type == WIRE_RESULT);
		break;
	case WIRE_FAIL:
		if (!g->failed) {
			g->failed = true;
			g->fail_verdict = string_member(o, "verdict");
			g->fail_what = string_member(o, "what");
		}
		break;
	case WIRE_READY:
		g->ready = true;
		break;
	case WIRE_END:
		g->ended = true;
		g->taint_after_known = taint_member(o, &g->taint_after);
		g->sampling_s = json_number_value(json_object_get(o, "sampling"));
		break;
	}
	json_decref(o);
}

void guest_state_feed(struct guest_state *g, const uint8_t *data, size_t len)
{
	struct wire_frame f;

	if (wire_reader_feed(&g->reader, data, len) < 0)
		return;
	while (wire_reader_next(&g->reader, &f)) {
		g->frames++;
		if (f.type == WIRE_SAMPLE) {
			take_sample(g, &f);
		} else if (f.type == WIRE_LOG) {
			if (g->log.len + f.len < LOG_MAX) {
				strbuf_add(&g->log, f.payload, f.len);
				strbuf_adds(&g->log, "\n");
			}
		} else {
			take_json(g, &f);
		}
	}
}

static void workload_metrics(const struct guest_state *g, struct run *r)
{
	json_t *metrics = json_object_get(g->result, "metrics"), *value;
	const char *key;

	json_object_foreach(metrics, key, value)
		if (json_is_number(value) && isfinite(json_number_value(value)))
			run_set_metric(r, key, json_number_value(value));
}

/* Its metrics with a prefix, so that those of the workload beside it are told apart. */
static void background_metrics(const struct guest_state *g, struct run *r)
{
	json_t *background = json_object_get(g->result, "background"), *value;
	json_t *metrics = json_object_get(json_object_get(background, "result"), "metrics");
	const char *key;

	json_object_foreach(metrics, key, value) {
		cleanup_free char *name = str_printf("background_%s", key);

		if (json_is_number(value) && isfinite(json_number_value(value)))
			run_set_metric(r, name, json_number_value(value));
	}
	value = json_object_get(background, "seconds");
	if (json_is_number(value))
		run_set_metric(r, "background_seconds", json_number_value(value));
}

static void put_workload(struct guest_state *g, struct run *r)
{
	workload_metrics(g, r);
	background_metrics(g, r);
	if (!g->result)
		return;
	/* A guest's own word on that is not asked for. */
	if (g->whole)
		json_object_del(g->result, "partial");
	else
		json_object_set_new(g->result, "partial", json_true());
	r->workload_json = json_dumps(g->result, JSON_COMPACT);
}

/* Did this counter or level move? A raw vmstat key is compared as it is, a canonical name by its sum. */
static bool name_moved(const struct vmstat *begin, const struct vmstat *end, const char *name)
{
	const uint64_t *b = vmstat_get(begin, name), *e = vmstat_get(end, name);
	struct run delta = { 0 };
	const double *v;
	bool yes;

	if (b && e)
		return *b != *e;
	counter_deltas(begin, end, &delta);
	v = run_metric(&delta, name);
	yes = v && *v != 0;
	run_free(&delta);
	return yes;
}

/* "a|b": one of them is enough. A key that the kernel does not have cannot have moved. */
static bool moved(const struct vmstat *begin, const struct vmstat *end, const char *names)
{
	cleanup_free char *copy = xstrdup(names);
	char *save = NULL;

	for (char *name = strtok_r(copy, "|", &save); name; name = strtok_r(NULL, "|", &save))
		if (name_moved(begin, end, name))
			return true;
	return false;
}

static void no_effect_add(struct run *r, const char *where, const char *name)
{
	size_t n = 0;

	while (r->no_effect && r->no_effect[n])
		n++;
	r->no_effect = xreallocarray(r->no_effect, n + 2, sizeof(char *));
	r->no_effect[n] = str_printf("%s: %s", where, name);
	r->no_effect[n + 1] = NULL;
}

static void check_moves(const struct guest_state *g, char *const *moves, struct run *r)
{
	const struct vmstat(*v)[2] = g->vmstat;
	size_t i;
	json_t *step;

	if (v[PHASE_WORKLOAD][0].n && v[PHASE_WORKLOAD][1].n)
		for (; moves && *moves; moves++)
			if (!moved(&v[PHASE_WORKLOAD][0], &v[PHASE_WORKLOAD][1], *moves))
				no_effect_add(r, "workload", *moves);
	if (!v[PHASE_LAYOUT][0].n || !v[PHASE_LAYOUT][1].n)
		return;
	json_array_foreach(g->steps, i, step) {
		const char *name = json_string_value(json_object_get(step, "step"));
		const struct layout_step *s = name ? layout_step_find(name) : NULL;
		const char *how = json_string_value(json_object_get(step, "how"));

		if (!s || !s->moves || (how && strcmp(how, "vmsplice") == 0))
			continue;
		for (const char *const *m = s->moves; *m; m++)
			if (!moved(&v[PHASE_LAYOUT][0], &v[PHASE_LAYOUT][1], *m))
				no_effect_add(r, name, *m);
	}
}

void guest_state_to_run(struct guest_state *g, char *const *moves, struct run *r)
{
	metrics_complete_daemon(&g->vmstat[PHASE_COLLECT][1], &g->vmstat[PHASE_WORKLOAD][1]);
	for (int p = PHASE_LAYOUT; p < PHASE_COUNT; p++)
		if (g->begin_ns[p] && g->end_ns[p] >= g->begin_ns[p])
			r->phase[p] = (double)(g->end_ns[p] - g->begin_ns[p]) / 1e9;
	metrics_from_edges(&g->edges, r);
	r->taint_before_known = g->taint_before_known;
	r->taint_before = g->taint_before;
	r->taint_after_known = g->taint_after_known;
	r->taint_after = g->taint_after;
	if (g->whole && g->ended)
		run_set_metric(r, "sampling", g->sampling_s);
	if (g->steps)
		r->layout_json = json_dumps(g->steps, JSON_COMPACT);
	put_workload(g, r);
	check_moves(g, moves, r);
}

void guest_state_free(struct guest_state *g)
{
	wire_reader_free(&g->reader);
	free(g->fail_verdict);
	free(g->fail_what);
	free(g->release);
	free(g->channel);
	json_decref(g->steps);
	json_decref(g->result);
	for (int p = 0; p < PHASE_COUNT; p++)
		for (int e = 0; e < 2; e++)
			vmstat_free(&g->vmstat[p][e]);
	edges_free(&g->edges);
	strbuf_free(&g->log);
}
