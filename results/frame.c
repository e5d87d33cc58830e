// SPDX-License-Identifier: GPL-2.0-only
#include "results/frame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/util/str.h"

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The index of a name; f->nmetrics when it is none of them. */
static size_t find(const struct frame *f, const char *name)
{
	char **found = bsearch(&name, f->metric, f->nmetrics, sizeof(*f->metric), by_name);

	return found ? (size_t)(found - f->metric) : f->nmetrics;
}

/* Runs of a set mostly have the same metrics in the same order. */
static bool same_place(const struct run *before, const struct run *r, size_t i)
{
	return before && i < before->nmetrics &&
	       strcmp(before->metric[i].name, r->metric[i].name) == 0;
}

static void collect_names(const struct runset *set, struct frame *f)
{
	const char **names = NULL;
	size_t n = 0, room = 0;

	for (size_t i = 0; i < set->nruns; i++) {
		const struct run *r = &set->run[i];

		for (size_t k = 0; k < r->nmetrics; k++) {
			if (same_place(i ? r - 1 : NULL, r, k))
				continue;
			if (n == room)
				names = xreallocarray(names, room = 2 * room + 64, sizeof(*names));
			names[n++] = r->metric[k].name;
		}
	}
	if (n)
		qsort(names, n, sizeof(*names), by_name);
	f->metric = xcalloc(n, sizeof(*f->metric));
	for (size_t i = 0; i < n; i++)
		if (!f->nmetrics || strcmp(f->metric[f->nmetrics - 1], names[i]) != 0)
			f->metric[f->nmetrics++] = xstrdup(names[i]);
	free(names);
}

static void take_values(struct frame *f)
{
	const struct runset *set = &f->set;

	f->value = xreallocarray(NULL, f->nmetrics * set->nruns, sizeof(*f->value));
	for (size_t i = 0; i < f->nmetrics * set->nruns; i++)
		f->value[i] = NAN;
	for (size_t i = 0; i < set->nruns; i++) {
		const struct run *r = &set->run[i];

		for (size_t k = 0; k < r->nmetrics; k++)
			if (isfinite(r->metric[k].value))
				f->value[find(f, r->metric[k].name) * set->nruns + i] =
					r->metric[k].value;
	}
}

void frame_from_set(struct runset *set, struct frame *f)
{
	memset(f, 0, sizeof(*f));
	collect_names(set, f);
	f->set = *set;
	memset(set, 0, sizeof(*set));
	take_values(f);
	for (size_t i = 0; i < f->set.nruns; i++) {
		struct run *r = &f->set.run[i];

		for (size_t k = 0; k < r->nmetrics; k++)
			free(r->metric[k].name);
		free(r->metric);
		r->metric = NULL;
		r->nmetrics = 0;
	}
}

const double *frame_column(const struct frame *f, const char *metric)
{
	size_t i = find(f, metric);

	return i < f->nmetrics ? &f->value[i * f->set.nruns] : NULL;
}

void frame_free(struct frame *f)
{
	for (size_t i = 0; i < f->nmetrics; i++)
		free(f->metric[i]);
	free(f->metric);
	free(f->value);
	runset_free(&f->set);
	memset(f, 0, sizeof(*f));
}
