// SPDX-License-Identifier: GPL-2.0-only
/* From the snapshots of a run to its metrics, and the formulas among them. */
#include <math.h>
#include <string.h>

#include "ci/fuzz/fuzz.h"
#include "results/formula.h"
#include "results/metrics.h"
#include "results/run_json.h"
#include "results/util/cleanup.h"

/* One file of a snapshot; its bytes end where the allocation ends. */
static void take_section(struct edges *e, char edge, const char *name, size_t name_len,
			 const uint8_t *data, size_t len)
{
	cleanup_free uint8_t *exact = xmalloc(len ? len : 1);
	struct wire_sample s = { .mono_ns = edge == 'b' ? 1000000000 : 3500000000,
				 .edge = edge == 'b' ? EDGE_BEGIN : EDGE_END,
				 .phase = edge == 'r' ? PHASE_COLLECT : PHASE_WORKLOAD,
				 .data = exact,
				 .len = (uint32_t)len };

	if (name_len >= sizeof(s.name))
		return;
	memcpy(s.name, name, name_len);
	if (strlen(s.name) != name_len)
		return;
	memcpy(exact, data, len);
	edges_take(e, &s);
}

/* Files one after the other, each below a line "@@ b vmstat": b begin, e end, r at rest. */
static void take_sections(struct edges *e, const uint8_t *data, size_t len)
{
	const uint8_t *end = data + len, *at = len ? memmem(data, len, "@@ ", 3) : NULL;

	while (at && end - at > 5) {
		const uint8_t *newline = memchr(at, '\n', (size_t)(end - at)), *next;

		if (!newline || newline - at < 5)
			return;
		next = memmem(newline + 1, (size_t)(end - newline - 1), "@@ ", 3);
		take_section(e, (char)at[3], (const char *)at + 5, (size_t)(newline - at - 5),
			     newline + 1, (size_t)((next ? next : end) - newline - 1));
		at = next;
	}
}

static void check_same(const struct run *a, const struct run *b)
{
	FUZZ_CHECK(a->nmetrics == b->nmetrics);
	for (size_t i = 0; i < a->nmetrics; i++) {
		FUZZ_CHECK(strcmp(a->metric[i].name, b->metric[i].name) == 0);
		FUZZ_CHECK(a->metric[i].value == b->metric[i].value);
	}
	FUZZ_CHECK(!a->detail == !b->detail && (!a->detail || strcmp(a->detail, b->detail) == 0));
}

/* Every metric that was derived can be stored and read. */
static void check_stored(const struct run *r)
{
	json_t *o = run_json_metrics(r), *value;
	const char *name;

	json_object_foreach(o, name, value) {
		const double *have = run_metric(r, name);

		FUZZ_CHECK(have && *have == json_number_value(value));
	}
	FUZZ_CHECK(json_object_size(o) == r->nmetrics);
	json_decref(o);
}

static void run_edges(const uint8_t *data, size_t len)
{
	struct run first = { 0 }, second = { 0 };
	struct edges e = { 0 };

	take_sections(&e, data, len);
	metrics_from_edges(&e, &first);
	metrics_from_edges(&e, &second);
	fuzz_check_run(&first);
	check_same(&first, &second);
	check_stored(&first);
	run_free(&first);
	run_free(&second);
	edges_free(&e);
}

static const double *get(void *arg, const char *name)
{
	static const struct metric known[] = {
		{ (char *)"a", 7 }, { (char *)"b", 2.5 }, { (char *)"zero", 0 },
		{ (char *)"huge", 1e300 }, { (char *)"pgscan_direct", 4294967296.0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(known[i].name, name) == 0)
			return &known[i].value;
	return NULL;
}

static void run_formula(const uint8_t *data, size_t len)
{
	cleanup_free char *text = fuzz_text(data, len), *within = str_printf("(%s)", text);
	struct formula_env env = { get, NULL, NAN }, at_zero = { get, NULL, 100 };
	double value = NAN, again = NAN, other = NAN;
	enum formula_result result = formula_eval(text, &env, &value);

	FUZZ_CHECK((result == FORMULA_VALUE) == (bool)isfinite(value));
	if (result == FORMULA_VALUE)
		FUZZ_CHECK(formula_eval(text, &at_zero, &other) == FORMULA_VALUE && other == value);
	/* Brackets around the whole change nothing, unless they are too many. */
	if (formula_eval(within, &env, &again) == FORMULA_VALUE && result == FORMULA_VALUE)
		FUZZ_CHECK(again == value);
}

const struct fuzz_target fuzz_edges = { "edges", run_edges };
const struct fuzz_target fuzz_formula = { "formula", run_formula };
