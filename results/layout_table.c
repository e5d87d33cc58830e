// SPDX-License-Identifier: GPL-2.0-only
#include "results/layout_table.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "results/compare_parts.h"
#include "results/table_cells.h"
#include "results/table_grid.h"
#include "results/util/cleanup.h"

enum { COL_ASKED, COL_GOT, COL_OFF, COL_TIME };

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

/* "1 fill". */
static char *step_name(const json_t *step)
{
	return str_printf("%lld %s", (long long)json_integer_value(json_object_get(step, "index")) + 1,
			  text_of(step, "step"));
}

/* Of what was asked; against 0 there is no share. */
static char *off_text(double asked, double got)
{
	if (got == asked)
		return xstrdup("0");
	if (asked == 0)
		return table_number(got - asked);
	return str_printf("%+.2f%%", 100 * (got - asked) / fabs(asked));
}

static void put_asked(struct grid *g, const json_t *step, const char *what, const json_t *asked, bool first)
{
	cleanup_free char *name = step_name(step), *label = str_printf("%s: %s", name, what);
	const json_t *got = json_object_get(json_object_get(step, "got"), what);
	size_t row = grid_add_row(g, label);

	grid_set(g, row, COL_ASKED, table_number(json_number_value(asked)));
	if (json_is_number(got)) {
		grid_set(g, row, COL_GOT, table_number(json_number_value(got)));
		grid_set(g, row, COL_OFF, off_text(json_number_value(asked), json_number_value(got)));
	}
	if (first)
		grid_set(g, row, COL_TIME,
			 compare_number(json_number_value(json_object_get(step, "seconds")), 2));
	else
		grid_set(g, row, COL_TIME, xstrdup(""));
}

static void put_step(struct grid *g, json_t *step)
{
	json_t *asked = json_object_get(step, "asked"), *value;
	const char *what;
	bool first = true;

	json_object_foreach(asked, what, value) {
		if (!json_is_number(value))
			continue;
		put_asked(g, step, what, value, first);
		first = false;
	}
	if (first) { /* asked for nothing that can be counted */
		cleanup_free char *name = step_name(step);
		size_t row = grid_add_row(g, name);

		grid_set(g, row, COL_TIME,
			 compare_number(json_number_value(json_object_get(step, "seconds")), 2));
	}
}

static void put_how(struct strbuf *sb, const json_t *step)
{
	cleanup_free char *name = step_name(step), *line = NULL;
	bool ok = json_is_true(json_object_get(step, "ok"));

	if (ok)
		line = str_printf("%s: %s", name, text_of(step, "how"));
	else
		line = str_printf("%s: FAILED: %s", name, text_of(step, "why"));
	grid_put_wrapped(sb, TABLE_INDENT, line);
}

char *layout_table(const struct run *r)
{
	json_t *steps = r->layout_json ? json_loads(r->layout_json, 0, NULL) : NULL, *step;
	struct grid g = { .corner = "step: what was asked for", .label_min = 24 };
	struct strbuf sb = STRBUF_INIT;
	size_t i;

	if (!json_is_array(steps) || !json_array_size(steps)) {
		json_decref(steps);
		return xstrdup("    no step of a layout was made\n");
	}
	grid_add_col(&g, "asked", 8, 2);
	grid_add_col(&g, "got", 8, 2);
	grid_add_col(&g, "off", 6, 2);
	grid_add_col(&g, "time, s", 7, 2);
	json_array_foreach(steps, i, step)
		put_step(&g, step);
	grid_render(&g, &sb);
	grid_free(&g);
	strbuf_adds(&sb, "\n");
	json_array_foreach(steps, i, step)
		put_how(&sb, step);
	json_decref(steps);
	return strbuf_steal(&sb);
}
