// SPDX-License-Identifier: GPL-2.0-only
/*
 * Of its YAML only the form is read that stress-ng writes: "      key: value", a line each, and
 * "    - stressor: NAME" before those of one stressor.
 */
#include "workloads/stress-ng/report.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is safe in JSON; of `more` too. */
static void copy_name(char *out, size_t room, const char *text, size_t len, const char *more)
{
	size_t n = 0;

	for (; n < len && text[n] && n + 1 < room; n++)
		out[n] = isalnum((unsigned char)text[n]) || strchr(more, text[n]) ? text[n] : '_';
	out[n] = '\0';
}

/* The value behind "key: " of a line, without quotes; NULL: another key. */
static const char *value_of(const char *line, const char *key, size_t *len)
{
	size_t n = strlen(key);

	line += strspn(line, " -");
	if (strncmp(line, key, n) != 0 || strncmp(line + n, ": ", 2) != 0)
		return NULL;
	line += n + 2;
	line += strspn(line, " '");
	*len = strcspn(line, "'\n");
	return line;
}

static void take_figure(struct stress_figures *f, const char *line)
{
	const struct {
		const char *key;
		double *value;
	} figures[] = {
		{ "bogo-ops", &f->ops },
		{ "bogo-ops-per-second-real-time", &f->rate },
		{ "bogo-ops-per-second-usr-sys-time", &f->cpu_rate },
	};
	const char *value;
	size_t len;

	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		if ((value = value_of(line, figures[i].key, &len)))
			*figures[i].value = strtod(value, NULL);
}

static void take_line(struct stress_report *r, const char *line, int *skipping)
{
	const char *value;
	size_t len;

	if ((value = value_of(line, "stress-ng-version", &len)) && !*r->version) {
		copy_name(r->version, sizeof(r->version), value, len, ".-");
	} else if ((value = value_of(line, "stressor", &len))) {
		*skipping = r->n == STRESS_MAX;
		if (!*skipping)
			copy_name(r->stressor[r->n].name, STRESS_NAME_MAX, value, len, "");
		r->n += !*skipping;
	} else if (r->n && !*skipping) {
		take_figure(&r->stressor[r->n - 1], line);
	}
}

int stress_report_read(const char *yaml, struct stress_report *r)
{
	int skipping = 0;

	memset(r, 0, sizeof(*r));
	while (*yaml) {
		take_line(r, yaml, &skipping);
		yaml += strcspn(yaml, "\n");
		yaml += *yaml == '\n';
	}
	return r->n ? 0 : -1;
}

static size_t put(char *out, size_t room, size_t at, const char *what, const char *name, double value)
{
	int n = isfinite(value) ? snprintf(out + at, room - at, ",\"stress_%s_%s\":%.9g", what, name,
					   value) :
				  0;

	if ((size_t)n < room - at)
		return at + (size_t)n;
	out[at] = '\0';
	return at;
}

void stress_report_metrics(const struct stress_report *r, char *out, size_t room)
{
	size_t at = 0;

	*out = '\0';
	for (size_t i = 0; i < r->n; i++) {
		const struct stress_figures *f = &r->stressor[i];

		at = put(out, room, at, "bogo_ops", f->name, f->ops);
		at = put(out, room, at, "bogo_rate", f->name, f->rate);
		at = put(out, room, at, "bogo_cpu_rate", f->name, f->cpu_rate);
	}
}
