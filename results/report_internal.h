/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_REPORT_INTERNAL_H
#define MMRIG_REPORT_INTERNAL_H
/* Shared by report*.c: the runs as cells, the page in the making, and a function a section. */
#include "results/pageblocks.h"
#include "results/proc.h"
#include "results/report.h"
#include "results/report_html.h"
#include "results/report_plot.h"

#define REPORT_OVERLAY 8 /* so many runs are drawn over one another; beyond, one a cell */

struct report_run {
	const struct runset *set;
	const struct run *run;
};

/* A point of the comparison (section and column), or a cell of a set where nothing is compared. */
struct report_cell {
	char *label;
	struct report_run *run;
	size_t nruns, nok;
	size_t typical; /* the ok run with the median of the first metric; SIZE_MAX: no run is ok */
};

struct report_metric {
	const char *name;
	char *title;
	const char *unit;
};

/* One counter or level over the time of a run. */
struct report_line {
	double *v; /* as read: a sum since the boot, or a level; NAN: the sample lacks it */
	bool level, any; /* any: some sample has it */
};

/* The series of one run: seconds from the begin of its workload. */
struct report_series {
	struct report_track {
		double *t;
		size_t n, room;
		struct report_line *line;
		size_t nlines;
	} vmstat, psi[3];
	struct {
		double *t;
		double (*pages)[PROC_ORDERS_MAX]; /* free pages in blocks of each order, all zones */
		size_t n, room;
		unsigned int orders;
	} buddy;
	struct pageblocks before, after;
	bool begun, ended; /* the workload */
	double begin_s, end_s; /* of the guest's clock; made relative once all is read */
	double last_s; /* the last sample of all */
};

/* A run whose samples are drawn. */
struct report_shown {
	size_t cell;
	const struct report_run *run;
	bool typical;
	struct report_series *series; /* NULL: could not be read */
};

struct report {
	const struct report_input *in;
	struct report_cell *cell;
	size_t ncells;
	struct report_metric *metric;
	size_t nmetrics;
	struct report_shown *shown;
	size_t nshown;
	bool overlay;	      /* all ok runs are shown, not one a cell */
	struct strbuf faults; /* <li>s: samples that could not be read */
	struct plots plots;
	struct strbuf html;
};

/* report_cells.c */
void report_cells_make(struct report *r);
void report_cells_free(struct report *r);
/* The ok runs' values; heap. run (may be NULL): the index in cell->run of each, heap. */
double *report_values(const struct report_cell *cell, const char *metric, size_t *n, size_t **run);
/* "0003" of the set, with the set's name where there are several; escaped. */
void report_run_name(const struct report *r, const struct report_run *run, struct strbuf *sb);

/* report_series.c */
struct report_tracked {
	const char *name;
	const struct counter *counter; /* NULL: a key of vmstat by its own name */
	bool level;
};
/* What is followed over time: heap. */
struct report_tracked *report_tracked(const struct report *r, size_t *n);
extern const char *const report_psi_names[3];
int report_series_read(struct store *s, const struct report_run *run,
		       const struct report_tracked *tracked, size_t ntracked,
		       struct report_series **out, struct error *err);
/* Feeds one sample; what report_series_read() does with each. */
struct report_reader {
	struct report_series *series;
	const struct report_tracked *tracked;
	size_t ntracked;
};
int report_series_take(void *reader, const struct wire_sample *sample);
/* Once all are fed: times are made relative to the workload's begin. */
void report_series_end(struct report_series *s);
void report_series_free(struct report_series *s);
void report_shown_read(struct report *r, const struct report_tracked *tracked, size_t ntracked);

/* The sections of the page, in their order; each appends to r->html. */
void report_put_verdict(struct report *r);
void report_put_tables(struct report *r);
void report_put_values(struct report *r);
void report_put_time(struct report *r, const struct report_tracked *tracked, size_t ntracked);
void report_put_seconds(struct report *r);
void report_put_heat(struct report *r);
void report_put_map(struct report *r);
void report_put_latency(struct report *r);
void report_put_runs(struct report *r);
void report_put_origin(struct report *r);

/* "+669", "-1.5", "0"; a number that is none: "-". */
void report_put_signed(struct strbuf *sb, double v);
/* A list of the cells with their colours, as many as have one. */
void report_put_legend(struct report *r);
extern const char report_style[];

#endif
