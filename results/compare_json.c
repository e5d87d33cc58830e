// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>

#include "results/compare_parts.h"
#include "results/compare_text.h"
#include "results/run_json.h"
#include "results/util/cleanup.h"

#define COMPARE_SCHEMA 1
/* Every double comes back as it was; ASCII alone, as in table_json.c. */
#define JSON_FORMAT (JSON_INDENT(1) | JSON_REAL_PRECISION(17) | JSON_ENSURE_ASCII)

static json_t *number(double value)
{
	return isfinite(value) ? run_json_number(value) : json_null();
}

static json_t *better_json(enum counter_better better)
{
	if (better == BETTER_NEITHER)
		return json_null();
	return json_string(better == BETTER_LOWER ? "lower" : "higher");
}

static json_t *cell_json(const struct compare *c, size_t section, size_t col)
{
	const struct compare_cell *cell = &c->section[section].cell[col];
	json_t *o = json_object(), *verdicts = json_object();

	for (int v = 0; v < VERDICT_COUNT; v++)
		if (cell->verdict[v])
			json_object_set_new(verdicts, verdict_name((enum verdict)v),
					    json_integer(cell->verdict[v]));
	json_object_set_new(o, "column", run_json_text(c->col[col]));
	json_object_set_new(o, "runs", json_integer((json_int_t)cell->nruns));
	json_object_set_new(o, "verdicts", verdicts);
	return o;
}

static json_t *shift_json(const struct stats_shift *shift)
{
	json_t *o = json_object();

	json_object_set_new(o, "estimate", number(shift->estimate));
	json_object_set_new(o, "low", number(shift->low));
	json_object_set_new(o, "high", number(shift->high));
	json_object_set_new(o, "confidence",
			    number(shift->method == STATS_NONE ? NAN : shift->confidence));
	json_object_set_new(o, "method", shift->method == STATS_NONE ?
						 json_null() :
						 json_string(stats_method_name(shift->method)));
	return o;
}

/* All keys are there in any case: null where no test was made. */
static void put_result(json_t *o, const struct stats_result *r)
{
	bool tested = r && r->rank.method != STATS_NONE;
	bool more = r && r->outcome == STATS_INCONCLUSIVE && r->more;

	json_object_set_new(o, "shift", r ? shift_json(&r->shift) : json_null());
	json_object_set_new(o, "u", number(r ? r->rank.u : NAN));
	json_object_set_new(o, "p", number(r ? r->rank.p : NAN));
	json_object_set_new(o, "p_adjusted", number(r ? r->p_adjusted : NAN));
	json_object_set_new(o, "method", tested ? json_string(stats_method_name(r->rank.method)) :
						  json_null());
	json_object_set_new(o, "delta", number(r ? r->rank.delta : NAN));
	json_object_set_new(o, "outcome",
			    r ? json_string(stats_outcome_name(r->outcome)) : json_null());
	json_object_set_new(o, "more", more ? json_integer((json_int_t)r->more) : json_null());
	json_object_set_new(o, "grouped", r ? json_boolean(r->grouped) : json_null());
}

static json_t *value_json(const struct compare *c, size_t section, size_t metric, size_t col)
{
	const struct compare_value *v = compare_value(c, section, metric, col);
	const struct stats_summary *s = &v->summary;
	json_t *o = json_object(), *values = json_array();

	for (size_t i = 0; i < v->n; i++)
		json_array_append_new(values, number(v->v[i]));
	json_object_set_new(o, "column", run_json_text(c->col[col]));
	json_object_set_new(o, "n", json_integer((json_int_t)v->n));
	json_object_set_new(o, "values", values);
	json_object_set_new(o, "min", number(v->n ? s->min : NAN));
	json_object_set_new(o, "median", number(v->n ? s->median : NAN));
	json_object_set_new(o, "mean", number(v->n ? s->mean : NAN));
	json_object_set_new(o, "stddev", number(v->n ? s->stddev : NAN));
	json_object_set_new(o, "max", number(v->n ? s->max : NAN));
	put_result(o, compare_test(c, section, metric, col));
	return o;
}

static json_t *metric_json(const struct compare *c, size_t section, size_t metric)
{
	const struct compare_metric *m = &c->metric[metric];
	json_t *o = json_object(), *columns = json_array();

	json_object_set_new(o, "name", run_json_text(m->name));
	json_object_set_new(o, "title", run_json_text(m->title));
	json_object_set_new(o, "unit", run_json_text(m->unit));
	json_object_set_new(o, "better", better_json(m->better));
	for (size_t i = 0; i < c->ncols; i++)
		json_array_append_new(columns, value_json(c, section, metric, i));
	json_object_set_new(o, "columns", columns);
	return o;
}

static json_t *section_json(const struct compare *c, size_t section)
{
	json_t *o = json_object(), *cells = json_array(), *metrics = json_array();

	for (size_t i = 0; i < c->ncols; i++)
		json_array_append_new(cells, cell_json(c, section, i));
	for (size_t m = 0; m < c->nmetrics; m++)
		json_array_append_new(metrics, metric_json(c, section, m));
	json_object_set_new(o, "label", run_json_text(c->section[section].label));
	json_object_set_new(o, "cells", cells);
	json_object_set_new(o, "metrics", metrics);
	return o;
}

static json_t *columns_json(const struct compare *c)
{
	json_t *columns = json_array();

	for (size_t i = 0; i < c->ncols; i++)
		json_array_append_new(columns, run_json_text(c->col[i]));
	return columns;
}

char *compare_json(const struct compare *c)
{
	json_t *o = json_object(), *sections = json_array();
	cleanup_free char *text = NULL;

	for (size_t s = 0; s < c->nsections; s++)
		json_array_append_new(sections, section_json(c, s));
	json_object_set_new(o, "schema", json_integer(COMPARE_SCHEMA));
	json_object_set_new(o, "by", run_json_text(c->by));
	json_object_set_new(o, "title", run_json_text(c->title));
	json_object_set_new(o, "context", run_json_text(c->context));
	json_object_set_new(o, "baseline",
			    run_json_text(c->baseline < c->ncols ? c->col[c->baseline] : NULL));
	json_object_set_new(o, "columns", columns_json(c));
	json_object_set_new(o, "origin", run_json_strings(c->origin));
	json_object_set_new(o, "warnings", run_json_strings(c->warning));
	json_object_set_new(o, "alpha", number(c->stats.alpha));
	json_object_set_new(o, "margin", number(c->stats.margin));
	json_object_set_new(o, "margin_relative", number(c->stats.margin_relative));
	json_object_set_new(o, "tests", json_integer((json_int_t)c->tests));
	json_object_set_new(o, "sections", sections);
	text = json_dumps(o, JSON_FORMAT);
	json_decref(o);
	return str_printf("%s\n", text ? text : "{}");
}
