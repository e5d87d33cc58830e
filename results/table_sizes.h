/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_TABLE_SIZES_H
#define MMRIG_TABLE_SIZES_H
/*
 * Page faults by size of huge page: the medians over the runs of the metrics fault_<size>_..., and of
 * what the kernel itself counted (its own statistics of a size, else those of vmstat for 2048 kB).
 */
#include "results/table_cells.h"
#include "results/util/str.h"

void table_sizes(const struct runset *set, const struct table_cell *cell, size_t n,
		 struct strbuf *sb);
/* Does the metric stand in that table? */
bool table_sizes_has(const char *metric);

#endif
