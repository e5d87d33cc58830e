// SPDX-License-Identifier: GPL-2.0-only
#include "results/seconds.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void take_columns(const json_t *list, struct seconds_series *s)
{
	json_t *name;
	size_t i;

	json_array_foreach(list, i, name) {
		if (s->ncolumns == SECONDS_COLS_MAX || !json_is_string(name))
			return;
		s->column[s->ncolumns++] = xstrdup(json_string_value(name));
	}
}

static void take_rows(const json_t *list, struct seconds_series *s)
{
	json_t *row;
	size_t i;

	s->v = xcalloc(SECONDS_ROWS_MAX * (s->ncolumns + 1), sizeof(*s->v));
	json_array_foreach(list, i, row) {
		double *v = s->v + s->nrows * s->ncolumns;

		if (s->nrows == SECONDS_ROWS_MAX)
			return;
		for (size_t c = 0; c < s->ncolumns; c++) {
			json_t *value = json_array_get(row, c);

			v[c] = json_is_number(value) ? json_number_value(value) : NAN;
		}
		s->nrows++;
	}
}

bool seconds_of_run(const struct run *r, struct seconds_series *s)
{
	json_t *o = r->workload_json ? json_loads(r->workload_json, 0, NULL) : NULL;
	json_t *series = json_object_get(o, "series");

	memset(s, 0, sizeof(*s));
	take_columns(json_object_get(series, "columns"), s);
	if (s->ncolumns)
		take_rows(json_object_get(series, "rows"), s);
	json_decref(o);
	if (s->nrows)
		return true;
	seconds_free(s);
	return false;
}

void seconds_free(struct seconds_series *s)
{
	for (size_t i = 0; i < s->ncolumns; i++)
		free(s->column[i]);
	free(s->v);
	memset(s, 0, sizeof(*s));
}

size_t seconds_column(const struct seconds_series *s, const char *name)
{
	for (size_t i = 0; i < s->ncolumns; i++)
		if (strcmp(s->column[i], name) == 0)
			return i;
	return SIZE_MAX;
}
