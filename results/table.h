/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_TABLE_H
#define MMRIG_TABLE_H
/*
 * Text for people and JSON for programs, from a run set alone. Guest text is escaped (control
 * characters become \xNN). 78 columns. Heap strings.
 */
#include "results/run.h"

/*
 * The set's own table: style "seed" is the look of the aliasing post (a row a variant; median and
 * max of allocstall; range of time), with a row per kernel x variant; style "sizes" has a row per
 * size of huge page, a table per kernel x variant. Runs that were not ok are counted below by
 * verdict, each with its reason.
 */
char *table_runset(const struct runset *set);
/*
 * The deltas that changed: for the metrics of the set, then every other that differs, median per
 * cell, one column a cell; "-" where absent. Plain: no claim of significance is made.
 */
char *table_deltas(const struct runset *set);
/* The JSON document of --json, schema 1 of the README. */
char *table_json(const struct runset *set);

/* Order statistics over v[n] (sorted copy inside). Linear interpolation between the two middle ones. */
double stat_median(const double *v, size_t n);

#endif
