// SPDX-License-Identifier: GPL-2.0-only
/* The latencies that workloads report as histograms, a line a cell, all its runs added up. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/report_internal.h"
#include "results/util/cleanup.h"

#define BINS_OCTAVE 4
#define BINS (63 * BINS_OCTAVE) /* from 1 ns to 2^63 */

struct latency {
	double count[BINS];
	double total;
	size_t runs;
};

/* The workloads' buckets are sixteenths of an octave or narrower, so each lies in one bin here. */
static size_t bin_of(double ns)
{
	int octave;
	double part = frexp(ns, &octave); /* [0.5, 1) */
	size_t bin;

	if (!(ns >= 1))
		return 0;
	bin = (size_t)(octave - 1) * BINS_OCTAVE + (size_t)((part - 0.5) * 2 * BINS_OCTAVE);
	return bin < BINS ? bin : BINS - 1;
}

static double bin_ns(size_t bin)
{
	return ldexp(1 + (double)(bin % BINS_OCTAVE) / BINS_OCTAVE, (int)(bin / BINS_OCTAVE));
}

/* [[lo, hi, count], ...] of ns; what is otherwise is left out. */
static void add_run(struct latency *l, const struct run *run)
{
	json_t *o = run->workload_json ? json_loads(run->workload_json, 0, NULL) : NULL;
	json_t *list = json_object_get(o, "histogram"), *bucket;
	bool any = false;
	size_t i;

	json_array_foreach(list, i, bucket) {
		double lo = json_number_value(json_array_get(bucket, 0));
		double n = json_number_value(json_array_get(bucket, 2));

		if (json_array_size(bucket) != 3 || !isfinite(lo) || lo < 0 || !(n > 0) || n > 1e15)
			continue;
		l->count[bin_of(lo)] += n;
		l->total += n;
		any = true;
	}
	l->runs += any;
	json_decref(o);
}

static void cell_latency(const struct report_cell *cell, struct latency *l)
{
	memset(l, 0, sizeof(*l));
	for (size_t i = 0; i < cell->nruns; i++)
		if (cell->run[i].run->verdict == VERDICT_OK)
			add_run(l, cell->run[i].run);
}

struct reach {
	size_t lo, hi; /* bins */
	double top, least;
};

static void extend(struct reach *reach, const struct latency *l)
{
	for (size_t b = 0; b < BINS; b++) {
		double n = l->total > 0 ? l->count[b] / l->total : 0;

		if (!(n > 0))
			continue;
		reach->lo = b < reach->lo ? b : reach->lo;
		reach->hi = b > reach->hi ? b : reach->hi;
		reach->top = fmax(reach->top, n);
		reach->least = fmin(reach->least, n);
	}
}

/* Shares of a cell's operations, in per cent; a bin without any is at the bottom. */
static void draw_cell(struct report *r, size_t colour, const struct latency *l,
		      const struct reach *reach)
{
	double x[BINS + 2], y[BINS + 2];
	size_t n = 0;

	if (!(l->total > 0))
		return;
	for (size_t b = reach->lo; b <= reach->hi; b++) {
		x[n] = bin_ns(b);
		y[n++] = fmax(100 * l->count[b] / l->total, 50 * reach->least);
	}
	x[n] = bin_ns(reach->hi + 1);
	y[n] = n ? y[n - 1] : NAN;
	plot_steps(&r->plots, colour, x, y, n + 1);
}

static void put_figure(struct report *r, const struct latency *cell, size_t ncells,
		       const struct reach *reach)
{
	const struct plot_shape shape = { 720, 280, 60, "Latency of the workload's operations",
					  "Share of the operations by latency, both axes logarithmic; a line"
					  " a cell." };
	size_t plot = plot_begin(&r->plots, &shape);

	plot_axes(&r->plots, &(struct plot_axis){ bin_ns(reach->lo), bin_ns(reach->hi + 1), true, TICKS_TIME },
		  &(struct plot_axis){ 50 * reach->least, 130 * reach->top, true, TICKS_NUMBER });
	for (size_t i = 0; i < ncells; i++)
		draw_cell(r, i, &cell[i], reach);
	plot_end(&r->plots);
	strbuf_adds(&r->html, "<figure class=\"wide\">\n<figcaption>Share of the operations <small>% in a quarter of an"
			      " octave, both axes logarithmic</small></figcaption>\n");
	plots_put(&r->html, plot);
	strbuf_adds(&r->html, "\n</figure>\n");
}

void report_put_latency(struct report *r)
{
	size_t ncells = r->ncells < PLOT_COLOURS ? r->ncells : PLOT_COLOURS, runs = 0;
	struct latency *cell = xcalloc(ncells + 1, sizeof(*cell));
	struct reach reach = { BINS, 0, 0, 1 };
	double total = 0;

	strbuf_adds(&r->html, "<section id=\"latency\">\n<h2>Latency</h2>\n");
	for (size_t i = 0; i < ncells; i++) {
		cell_latency(&r->cell[i], &cell[i]);
		extend(&reach, &cell[i]);
		runs += cell[i].runs;
		total += cell[i].total;
	}
	if (total > 0) {
		strbuf_addf(&r->html, "<p>Of the workload’s own operations, all runs of a cell added up: %.0f"
				      " operations in %zu runs.</p>\n", total, runs);
		report_put_legend(r);
		put_figure(r, cell, ncells, &reach);
	} else {
		strbuf_adds(&r->html, "<p>The workload reported no histogram.</p>\n");
	}
	strbuf_adds(&r->html, "</section>\n");
	free(cell);
}
