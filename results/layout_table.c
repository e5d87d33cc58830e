// SPDX-License-Identifier: GPL-2.0-only
#include "results/layout_table.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "results/compare_parts.h"
#include "results/table_cells.h"
#include "results/table_grid.h"
#include "results/util/cleanup.h"

enum { COL_ASKED, COL_GOT, COL_ERROR, COL_TOLERANCE, COL_TIME };

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

static bool has_failed(const json_t *step)
{
	return json_is_false(json_object_get(step, "ok"));
}

/* exact: so many digits that what is above a tolerance is not shown as if it were it. */
static char *share_text(const char *sign, double share, bool exact)
{
	if (share == 0)
		return xstrdup("0");
	return str_printf("%s%.*f%%", sign, exact ? 4 : 2, 100 * share);
}

static bool in_bytes(const char *what)
{
	return str_ends(what, "_bytes");
}

static char *amount_text(const char *what, double v)
{
	cleanup_free char *mib = in_bytes(what) ? compare_number(v / (1 << 20), 2) : NULL;

	return mib ? str_printf("%sM", mib) : table_number(v);
}

/* Of what was asked; against 0 there is no share. alone: what was judged is this number. */
static char *error_text(const json_t *step, const char *what, double asked, double got, bool alone)
{
	const json_t *judged = json_object_get(step, "error");
	double share = asked == 0 ? 0 : fabs((got - asked) / asked);

	if (alone && json_is_number(judged))
		share = json_number_value(judged); /* more than asked, or free in another place, may be no error */
	else if (got == asked)
		share = 0;
	else if (asked == 0)
		return amount_text(what, got - asked);
	return share_text(got < asked ? "-" : "+", share, alone && has_failed(step));
}

/* "2%", or "2% or 1M" where being off by so much is taken as hit. what: NULL where it has no one unit. */
static char *tolerance_text(const json_t *step, const char *what)
{
	const json_t *tolerance = json_object_get(step, "tolerance");
	json_int_t slack = json_integer_value(json_object_get(step, "slack"));
	cleanup_free char *units = NULL;

	if (!json_is_number(tolerance))
		return xstrdup("-");
	if (slack <= 0)
		return str_printf("%.6g%%", 100 * json_number_value(tolerance));
	units = what && in_bytes(what) ? str_format_bytes((uint64_t)slack) : table_number((double)slack);
	return str_printf("%.6g%% or %s", 100 * json_number_value(tolerance), units);
}

static void put_time(struct grid *g, size_t row, const json_t *step, bool first)
{
	const json_t *seconds = json_object_get(step, "seconds");

	if (!first)
		grid_set(g, row, COL_TIME, xstrdup(""));
	else if (json_is_number(seconds))
		grid_set(g, row, COL_TIME, compare_number(json_number_value(seconds), 2));
}

static size_t put_row(struct grid *g, const json_t *step, const char *what)
{
	cleanup_free char *name = step_name(step);
	cleanup_free char *label = what ? str_printf("%s: %s", name, what) : xstrdup(name);

	return grid_add_row(g, label);
}

static void put_asked(struct grid *g, const json_t *step, const char *what, double asked, bool alone, bool first)
{
	const json_t *got = json_object_get(json_object_get(step, "got"), what);
	size_t row = put_row(g, step, what);

	grid_set(g, row, COL_ASKED, amount_text(what, asked));
	if (json_is_number(got)) {
		grid_set(g, row, COL_GOT, amount_text(what, json_number_value(got)));
		grid_set(g, row, COL_ERROR, error_text(step, what, asked, json_number_value(got), alone));
	}
	grid_set(g, row, COL_TOLERANCE, alone ? tolerance_text(step, what) : xstrdup(""));
	put_time(g, row, step, first);
}

/* What was judged of several numbers together, or the worst of them. */
static void put_total(struct grid *g, const json_t *step)
{
	const json_t *error = json_object_get(step, "error");
	size_t row;

	if (!json_object_get(step, "tolerance"))
		return;
	row = put_row(g, step, "in all");
	grid_set(g, row, COL_ASKED, xstrdup(""));
	grid_set(g, row, COL_GOT, xstrdup(""));
	if (json_is_number(error))
		grid_set(g, row, COL_ERROR, share_text("", json_number_value(error), has_failed(step)));
	grid_set(g, row, COL_TOLERANCE, tolerance_text(step, NULL));
	put_time(g, row, step, false);
}

static size_t count_asked(json_t *asked)
{
	const char *what;
	json_t *value;
	size_t n = 0;

	json_object_foreach(asked, what, value)
		n += json_is_number(value);
	return n;
}

/* Asked for none of it, and got none: an order of the free lists, of which only some are asked for. */
static bool is_nothing(const json_t *step, const char *what, const json_t *asked)
{
	const json_t *got = json_object_get(json_object_get(step, "got"), what);

	return json_number_value(asked) == 0 && json_is_number(got) && json_number_value(got) == 0;
}

/* Pages of a mix that went astray: none were asked for, and none is judged. */
static void put_outside(struct grid *g, const json_t *step)
{
	json_int_t n = json_integer_value(json_object_get(json_object_get(step, "got"), "pages_outside"));
	size_t row;

	if (n <= 0)
		return;
	row = put_row(g, step, "pages_outside");
	grid_set(g, row, COL_GOT, table_number((double)n));
	grid_set(g, row, COL_TOLERANCE, xstrdup(""));
	put_time(g, row, step, false);
}

static void put_step(struct grid *g, json_t *step)
{
	json_t *asked = json_object_get(step, "asked"), *value;
	size_t n = count_asked(asked);
	const char *what;
	bool first = true;

	json_object_foreach(asked, what, value) {
		if (!json_is_number(value) || (n > 1 && is_nothing(step, what, value)))
			continue;
		put_asked(g, step, what, json_number_value(value), n == 1, first);
		first = false;
	}
	if (n > 1)
		put_total(g, step);
	put_outside(g, step);
	if (first) { /* nothing that can be counted, or it did not come to that */
		const char *state = text_of(step, "state");

		put_time(g, put_row(g, step, *state ? state : has_failed(step) ? "failed" : NULL), step, true);
	}
}

static void put_how(struct strbuf *sb, const json_t *step)
{
	cleanup_free char *name = step_name(step), *line = NULL;

	if (json_is_true(json_object_get(step, "ok")))
		line = str_printf("%s: %s", name, text_of(step, "how"));
	else if (*text_of(step, "state"))
		return; /* its row says all there is to say */
	else
		line = str_printf("%s: FAILED: %s", name, text_of(step, "why"));
	grid_put_wrapped(sb, TABLE_INDENT, line);
}

size_t layout_steps_left(const struct run *r)
{
	json_t *steps = r->layout_json ? json_loads(r->layout_json, 0, NULL) : NULL, *step;
	size_t i, n = 0;

	json_array_foreach(steps, i, step)
		n += json_is_string(json_object_get(step, "state"));
	json_decref(steps);
	return n;
}

char *layout_table(const struct run *r)
{
	json_t *steps = r->layout_json ? json_loads(r->layout_json, 0, NULL) : NULL, *step;
	struct grid g = { .corner = "step", .label_min = 22 };
	struct strbuf sb = STRBUF_INIT;
	size_t i;

	if (!json_is_array(steps) || !json_array_size(steps)) {
		json_decref(steps);
		return xstrdup("    no step of a layout was made\n");
	}
	grid_add_col(&g, "asked", 8, 2);
	grid_add_col(&g, "got", 8, 2);
	grid_add_col(&g, "error", 6, 2);
	grid_add_col(&g, "tolerance", 9, 2);
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
