/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_TABLE_SEED_H
#define MMRIG_TABLE_SEED_H
/* The table of the post on aliasing, of the values of a run set or of a comparison. */
#include "results/util/str.h"

struct table_seed_row {
	const char *label;
	double *stalls, *time; /* allocstall; the workload's, in seconds */
	size_t nstalls, ntime; /* 0: "-" */
};

/* title: heading of the labels, or NULL. Keeps nothing. */
void table_seed(const char *title, const struct table_seed_row *row, size_t n, struct strbuf *sb);

#endif
