// SPDX-License-Identifier: GPL-2.0-only
#include "results/compare_rows.h"

#include <math.h>
#include <string.h>

#include "results/compare_parts.h"
#include "results/util/cleanup.h"

char *rows_value(const char *metric, double mean)
{
	return compare_number(mean, 2);
}

static bool any_column(const struct compare *c, size_t section, const char *metric)
{
	for (size_t i = 0; i < c->ncols; i++)
		if (isfinite(compare_mean(c, section, metric, i)))
			return true;
	return false;
}

size_t rows_add(struct pairs *p, size_t section, const struct counter_row *rows,
		const struct rows_style *style)
{
	const struct compare *c = p->c;
	size_t added = 0;

	for (; rows->row; rows++) {
		double base = compare_mean(c, section, rows->metric, c->baseline);
		cleanup_free char *label = NULL;
		size_t row;

		if (!any_column(c, section, rows->metric))
			continue;
		label = str_printf("%s%s", style->prefix ? style->prefix : "", rows->row);
		row = pairs_add(p, label);
		added++;
		for (size_t i = 0; i < c->ncols; i++) {
			double mean = compare_mean(c, section, rows->metric, i);

			pairs_set(p, row, i, style->value(rows->metric, mean),
				  style->share ? style->share(base, mean) : NULL, false);
		}
	}
	return added;
}

void rows_metrics(const struct counter_row *rows, const char **list, size_t room, size_t *n)
{
	for (; rows->row; rows++) {
		bool seen = false;

		for (size_t i = 0; i < *n && !seen; i++)
			seen = strcmp(list[i], rows->metric) == 0;
		if (!seen && *n + 1 < room)
			list[(*n)++] = rows->metric;
	}
	list[*n] = NULL;
}
