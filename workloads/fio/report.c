// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/fio/report.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/json_walk.h"

/* What is safe in JSON; of `more` too. */
static void copy_name(char *out, size_t room, const char *text, size_t len, const char *more)
{
	size_t n = 0;

	for (; n < len && text[n] && n + 1 < room; n++)
		out[n] = isalnum((unsigned char)text[n]) || strchr(more, text[n]) ? text[n] : '_';
	out[n] = '\0';
}

static void take_figure(struct fio_direction *d, const char *path, double value)
{
	const struct {
		const char *path;
		double *value;
	} figures[] = {
		{ "total_ios", &d->ios },
		{ "iops", &d->iops },
		{ "bw_bytes", &d->bw_bytes },
		{ "lat_ns/mean", &d->lat_mean },
		{ "lat_ns/max", &d->lat_max },
		{ "clat_ns/percentile/99.000000", &d->lat_p99 },
	};

	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		if (strcmp(path, figures[i].path) == 0)
			*figures[i].value = value;
}

static void take_of_group(struct fio_group *g, const char *path, const char *value, size_t len)
{
	if (strcmp(path, "jobname") == 0)
		copy_name(g->name, sizeof(g->name), value, len, "");
	else if (strncmp(path, "read/", 5) == 0)
		take_figure(&g->read, path + 5, strtod(value, NULL));
	else if (strncmp(path, "write/", 6) == 0)
		take_figure(&g->write, path + 6, strtod(value, NULL));
}

static void take(void *arg, const char *path, const char *value, size_t len, int is_string)
{
	struct fio_report *r = arg;
	char *end;
	size_t i;

	if (strcmp(path, "fio version") == 0)
		copy_name(r->version, sizeof(r->version), value, len, ".-");
	if (strncmp(path, "jobs/", 5) != 0)
		return;
	i = strtoul(path + 5, &end, 10);
	if (*end != '/' || i >= FIO_GROUPS_MAX)
		return;
	if (i >= r->ngroups)
		r->ngroups = i + 1;
	take_of_group(&r->group[i], end + 1, value, len);
}

int fio_report_read(const char *json, struct fio_report *r)
{
	memset(r, 0, sizeof(*r));
	return json_walk(json, take, r) == 0 && r->ngroups ? 0 : -1;
}

struct out {
	char *text;
	size_t room, n;
	const char *suffix;
};

static void put(struct out *o, const char *direction, const char *name, double value)
{
	int n;

	if (!isfinite(value))
		return;
	n = snprintf(o->text + o->n, o->room - o->n, ",\"fio_%s_%s%s%s\":%.9g", direction, name,
		     *o->suffix ? "_" : "", o->suffix, value);
	if ((size_t)n < o->room - o->n)
		o->n += (size_t)n;
	else
		o->text[o->n] = '\0';
}

static void put_direction(struct out *o, const char *name, const struct fio_direction *d)
{
	if (d->ios <= 0)
		return;
	put(o, name, "iops", d->iops);
	put(o, name, "bw", d->bw_bytes);
	put(o, name, "lat_mean", d->lat_mean);
	if (d->lat_p99 > 0)
		put(o, name, "lat_p99", d->lat_p99);
	put(o, name, "lat_max", d->lat_max);
}

void fio_report_metrics(const struct fio_report *r, char *out, size_t room)
{
	struct out o = { out, room, 0, "" };

	*out = '\0';
	for (size_t i = 0; i < r->ngroups; i++) {
		o.suffix = r->ngroups > 1 ? r->group[i].name : "";
		put_direction(&o, "read", &r->group[i].read);
		put_direction(&o, "write", &r->group[i].write);
	}
}
