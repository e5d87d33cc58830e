/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_COMPARE_H
#define MMRIG_COMPARE_H
/*
 * Run sets laid against each other: numbers, no text. One axis of the runs makes the columns, of
 * which one is the baseline; each point of the other axes is a section with a table of its own.
 * The looks of it are in compare_text.h.
 *
 * Axes: "kernel"; "variant" (every point of the vary matrix a value); "cell" (every variant of every
 * kernel a value); "runset"; the name of a vary
 * axis ("residue"); "memory", "cpus", "accel", "qemu"; a key in which the scenarios differ, written as
 * a path ("sysctl.workload.vm.defrag_mode").
 *
 * Only `ok` runs enter a number. Forks of one layout, and repetitions of one seed of deterministic
 * runs, are grouped (stats.h).
 */
#include "results/frame.h"
#include "results/stats.h"

struct compare_options {
	/*
	 * NULL: kernel where there are several, and no runs of several run sets would stand together;
	 * else runset where there are; else variant.
	 */
	const char *by;
	/* A column's label, or a part of it that only one has. NULL: the first. */
	const char *baseline;
	/* NULL-terminated; NULL: the metrics that the scenarios show. */
	const char *const *metric;
	bool all_metrics; /* every metric that an ok run has; those asked for come first */
	/* NULL-terminated, or NULL: shown too where a run has them, but not tested: see quiet. */
	const char *const *quiet;
	/* The same, but tested. In both, a pattern of the catalogue stands for all that fit it. */
	const char *const *tested;
	/* Compare although what should be equal is not; it is then said in `warning`. */
	bool force;
	/* One column will do, where there are no two to compare: that of the kernels, unless `by` says another. */
	bool alone;
	struct stats_options stats;
};

struct compare_metric {
	const char *name; /* as the frames have it, or as asked */
	char *title;	  /* "Allocation stalls"; the name where the catalogue does not know it */
	const char *unit; /* "events", "" */
	enum counter_better better;
	/* Values only, for a form that shows them: no test, results unset, not in the correction. */
	bool quiet;
};

struct compare_run {
	const struct frame *frame;
	size_t index; /* of frame->set.run[] */
};

/* The runs of one column in one section. */
struct compare_cell {
	struct compare_run *run; /* all of them, in the order of the sets */
	size_t nruns;
	unsigned int verdict[VERDICT_COUNT];
	bool grouped; /* some of the ok runs are no samples of their own */
	const char *unit; /* a sample: "run", "layout" (forks), "seed" (deterministic runs) */
};

/* One metric in one column of one section: the ok runs that have it. */
struct compare_value {
	double *v;
	size_t *run; /* v[i] is of cell.run[run[i]] */
	size_t n;
	struct stats_summary summary;
};

struct compare_section {
	char *label; /* "pfn % 8 == 4"; "" where there is only one */
	struct compare_cell *cell;	 /* [col] */
	struct compare_value *value;	 /* [metric * ncols + col] */
	struct stats_result *result;	 /* the same; against the baseline's column, whose own are unset */
};

struct compare {
	char *by;
	char *title;   /* "alias-tmpfs"; several scenarios: joined with ", " */
	char *context; /* what all runs share: "kernel 7.3.4; 8G, 2 CPUs, tcg" */
	const char *row_title, *table_style; /* of the first set */
	char **col; /* labels */
	size_t ncols, baseline;
	struct compare_metric *metric;
	size_t nmetrics;
	struct compare_section *section;
	size_t nsections;
	size_t tests; /* in the list that Holm's correction was made over: see stats_correct() */
	struct stats_options stats;
	/*
	 * One line each, to stand with every form of the table: what differs and was forced, what
	 * was pooled, other hosts, a metric that no run has. NULL-terminated, never NULL.
	 */
	char **warning;
	/*
	 * A line for each kernel that mmrig built: what of, and the files of it that the run set keeps.
	 * NULL-terminated; NULL: there is none.
	 */
	char **origin;
};

/*
 * Keeps pointers into the frames, which must outlive it. Fails with EXIT_USAGE: nothing to compare
 * (one cell), no such axis, baseline or metric (with the nearest), a mismatch without force (every
 * one named, with the values and what to do); EXIT_NO_VERDICT where no run is ok.
 */
int compare_make(const struct frame *frame, size_t nframes, const struct compare_options *opt,
		 struct compare *out, struct error *err);
void compare_free(struct compare *c);

static inline const struct compare_value *compare_value(const struct compare *c, size_t section,
							size_t metric, size_t col)
{
	return &c->section[section].value[metric * c->ncols + col];
}
static inline const struct stats_result *compare_result(const struct compare *c, size_t section,
							size_t metric, size_t col)
{
	return &c->section[section].result[metric * c->ncols + col];
}

#endif
