/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_COMPARE_INTERNAL_H
#define MMRIG_COMPARE_INTERNAL_H
/* Between the files of the comparison; nobody else includes this. */
#include "results/compare.h"
#include "results/util/str.h"

/* What every run is on one axis. */
struct axis {
	char *name;
	/*
	 * PLACE: kernel and the vary axes: runs that differ there are never laid together. SHARED: what
	 * all runs of a table have to share, unless it is the axis of the columns. LABEL: neither.
	 */
	enum axis_kind { AXIS_PLACE, AXIS_SHARED, AXIS_LABEL } kind;
	bool of_variant; /* a vary axis */
	char **value;	 /* distinct, in order of appearance */
	size_t n;
	uint32_t *at; /* [run] -> value */
};

/* All runs of all frames as points on all axes. */
struct points {
	struct compare_run *run;
	size_t nruns;
	struct axis *axis;
	size_t naxes;
};

#define AXIS_KERNEL "kernel"
#define AXIS_RUNSET "runset"
#define AXIS_VARIANT "variant"
#define AXIS_CELL "cell"

/* compare_axis.c */
void points_make(const struct frame *frame, size_t nframes, struct points *p);
void points_free(struct points *p);
const struct run *points_run(const struct points *p, size_t i);
/* By its whole name; NULL: none. */
const struct axis *points_find(const struct points *p, const char *name);
/* By name; a key of a scenario also by the end of its path where only one has that. NULL: none. */
const struct axis *points_axis(const struct points *p, const char *name);
/* Do the runs differ there? */
static inline bool axis_varies(const struct axis *a)
{
	return a->n > 1;
}
/* Adds an axis; value(arg, run) gives the text of each run, which is copied. */
struct axis *points_add(struct points *p, const char *name, enum axis_kind kind,
			const char *(*value)(const void *arg, const struct compare_run *run),
			const void *arg);

/* What the kernels were built of, as in struct compare; heap. */
char **points_origin(const struct frame *frame, size_t nframes);

/* compare_scenario.c: an axis for each key in which the scenarios of the frames differ. */
void points_add_scenario(struct points *p, const struct frame *frame, size_t nframes);

/* compare_check.c */
/*
 * What has to be shared and is not, in any section: added to `warning` when forced, else an error.
 * section_of[run], SIZE_MAX: in none.
 */
int compare_check(const struct points *p, const struct axis *by, const size_t *section_of,
		  size_t nsections, bool force, struct strbuf *warning, struct error *err);
/* Notes that forbid nothing: hosts, pooled run sets, forks on one side only. */
void compare_hints(const struct points *p, const struct axis *by, const size_t *section_of,
		   size_t nsections, struct strbuf *warning);
/* "kernel 7.3.4; 8G, 2 CPUs, tcg": what all have in common. Heap. */
char *compare_context(const struct points *p, const struct axis *by);

/* compare_metric.c: fills c->metric. */
int compare_choose_metrics(const struct frame *frame, size_t nframes,
			   const struct compare_options *opt, struct compare *c,
			   struct strbuf *warning, struct error *err);

#endif
