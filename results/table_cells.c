// SPDX-License-Identifier: GPL-2.0-only
#include "results/table_cells.h"

#include <math.h>
#include <string.h>

#include "results/counter.h"
#include "results/table.h"
#include "results/util/cleanup.h"

static const char *kernel_label(const struct run_kernel *k)
{
	if (k->name && *k->name)
		return k->name;
	return k->release && *k->release ? k->release : "kernel";
}

static char *cell_label(const struct runset *set, size_t variant, size_t kernel)
{
	const char *v = set->variant[variant].label, *k = kernel_label(&set->kernel[kernel]);

	if (!v || !*v)
		return xstrdup(k);
	return set->nkernels > 1 ? str_printf("%s, %s", v, k) : xstrdup(v);
}

struct table_cell *table_cells(const struct runset *set, size_t *n)
{
	struct table_cell *cell = xcalloc(set->nvariants * set->nkernels, sizeof(*cell));

	*n = 0;
	for (size_t v = 0; v < set->nvariants; v++) {
		for (size_t k = 0; k < set->nkernels; k++) {
			struct table_cell *c;

			if (!runset_has_cell(set, k, v))
				continue;
			c = &cell[(*n)++];
			c->variant = v;
			c->kernel = k;
			c->label = cell_label(set, v, k);
			for (size_t i = 0; i < set->nruns; i++) {
				if (!table_cell_has(c, &set->run[i]))
					continue;
				c->nruns++;
				c->nok += set->run[i].verdict == VERDICT_OK;
			}
		}
	}
	return cell;
}

void table_cells_free(struct table_cell *cell, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(cell[i].label);
	free(cell);
}

bool table_cell_has(const struct table_cell *cell, const struct run *r)
{
	return r->kernel == cell->kernel && r->variant == cell->variant;
}

double *table_values(const struct runset *set, const struct table_cell *cell, const char *metric,
		     size_t *n)
{
	double *v = xreallocarray(NULL, set->nruns, sizeof(*v));

	*n = 0;
	for (size_t i = 0; i < set->nruns; i++) {
		const struct run *r = &set->run[i];
		const double *value = run_metric(r, metric);

		if (value && r->verdict == VERDICT_OK && table_cell_has(cell, r))
			v[(*n)++] = *value;
	}
	return v;
}

static char *with_separators(const char *digits)
{
	struct strbuf sb = STRBUF_INIT;
	size_t n;

	if (*digits == '-')
		strbuf_add(&sb, digits++, 1);
	n = strlen(digits);
	for (size_t i = 0; i < n; i++) {
		if (i && n > 4 && (n - i) % 3 == 0)
			strbuf_adds(&sb, ",");
		strbuf_add(&sb, digits + i, 1);
	}
	return strbuf_steal(&sb);
}

char *table_number(double value)
{
	cleanup_free char *digits = NULL;
	double size = fabs(value);
	char *s;

	if (!isfinite(value))
		return xstrdup("-");
	if (size >= 1e15)
		return str_printf("%.4g", value);
	if (value == floor(value) || size >= 10000) {
		digits = str_printf("%.0f", value);
		return with_separators(digits);
	}
	if (size < 1)
		return str_printf("%.3g", value);
	s = str_printf("%.*f", size >= 100 ? 1 : 2, value);
	for (char *end = s + strlen(s) - 1; *end == '0'; end--)
		*end = '\0';
	if (str_ends(s, "."))
		s[strlen(s) - 1] = '\0';
	return s;
}

char *table_median(const struct runset *set, const struct table_cell *cell, const char *metric)
{
	size_t n;
	cleanup_free double *v = table_values(set, cell, metric, &n);

	return table_number(stat_median(v, n));
}

char *table_range_of(const double *v, size_t n, int decimals)
{
	cleanup_free char *lo_text = NULL, *hi_text = NULL;
	double lo, hi;

	if (!n)
		return xstrdup("-");
	lo = hi = v[0];
	for (size_t i = 1; i < n; i++) {
		lo = fmin(lo, v[i]);
		hi = fmax(hi, v[i]);
	}
	lo_text = str_printf("%.*f", decimals, lo);
	hi_text = str_printf("%.*f", decimals, hi);
	if (strcmp(lo_text, hi_text) == 0)
		return STEAL(lo_text);
	return str_printf("%s-%s", lo_text, hi_text);
}

char *table_range(const struct runset *set, const struct table_cell *cell, const char *metric,
		  int decimals)
{
	size_t n;
	cleanup_free double *v = table_values(set, cell, metric, &n);

	return table_range_of(v, n, decimals);
}

int table_decimals_for(double most)
{
	if (most >= 1 || most == 0)
		return 1;
	return most >= 0.1 ? 2 : 3;
}

int table_decimals(const struct runset *set, const char *metric)
{
	double most = 0;

	for (size_t i = 0; i < set->nruns; i++) {
		const double *value = run_metric(&set->run[i], metric);

		if (value && set->run[i].verdict == VERDICT_OK)
			most = fmax(most, fabs(*value));
	}
	return table_decimals_for(most);
}

char *table_heading(const char *metric)
{
	const struct counter *c = counter_find(metric);

	if (!c || strcmp(c->unit, "events") == 0 || strcmp(c->unit, "pages") == 0 ||
	    strcmp(c->unit, "files") == 0 || strcmp(c->unit, "blocks") == 0 ||
	    strcmp(c->unit, "objects") == 0 || strcmp(c->unit, "index") == 0)
		return xstrdup(metric);
	return str_printf("%s, %s", metric, c->unit);
}
