// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "results/stats_internal.h"
#include "results/util/cleanup.h"

void stats_layouts(const char *const *forked_from, size_t n, size_t *layout)
{
	for (size_t i = 0; i < n; i++) {
		layout[i] = i;
		for (size_t k = 0; forked_from[i] && k < i; k++) {
			if (forked_from[k] && strcmp(forked_from[k], forked_from[i]) == 0) {
				layout[i] = layout[k];
				break;
			}
		}
	}
}

struct placed {
	size_t layout, index;
};

static int by_layout(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->layout != y->layout)
		return (x->layout > y->layout) - (x->layout < y->layout);
	return (x->index > y->index) - (x->index < y->index);
}

static double median_of(const struct stats_sample *s, const struct placed *p, size_t n)
{
	cleanup_free double *v = xreallocarray(NULL, n, sizeof(*v));
	cleanup_free double *sorted = NULL;

	for (size_t i = 0; i < n; i++)
		v[i] = s->value[p[i].index];
	sorted = stats_sorted(v, n);
	return stats_sorted_median(sorted, n);
}

void units_make(const struct stats_sample *s, struct units *u)
{
	cleanup_free struct placed *p = NULL;

	/* A copy in any case: sorted ones are sorted faster, and they will be. */
	*u = (struct units){ .value = stats_sorted(s->value, s->n), .n = s->n };
	if (!s->layout)
		return;
	u->n = 0;
	p = xreallocarray(NULL, s->n ? s->n : 1, sizeof(*p));
	for (size_t i = 0; i < s->n; i++)
		p[i] = (struct placed){ s->layout[i], i };
	qsort(p, s->n, sizeof(*p), by_layout);
	for (size_t i = 0, end; i < s->n; i = end) {
		for (end = i + 1; end < s->n && p[end].layout == p[i].layout; end++)
			u->grouped = true;
		u->value[u->n++] = median_of(s, p + i, end - i);
	}
}

void units_free(struct units *u)
{
	free(u->value);
	u->value = NULL;
}
