/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_FRAME_H
#define MMRIG_FRAME_H
/*
 * A run set by columns: what comparisons are made of. Ten thousand runs of three hundred metrics
 * are 24 MB here, and are read from the index without opening one run.json.
 */
#include "results/run.h"
#include "results/util/error.h"

struct frame {
	/*
	 * Its runs without their metrics. Of the rest of a run at least these are filled: id, cell,
	 * kernel, variant, seed, verdict, why, accel, qemu_version, host, started, ended,
	 * forked_from.
	 */
	struct runset set;
	size_t nmetrics;
	char **metric; /* names, sorted, each once */
	double *value; /* [metric * set.nruns + run]; NAN: the run does not have it */
};

/* Moves the set over, which is empty afterwards. */
void frame_from_set(struct runset *set, struct frame *f);
/* The column of a metric: set.nruns values; NULL when no run has it. */
const double *frame_column(const struct frame *f, const char *metric);
void frame_free(struct frame *f);

struct store;
/* As store_load_set(); from the index where the set is in it, else from the folder. */
int store_load_frame(struct store *s, const char *which, struct frame *f, struct error *err);

#endif
