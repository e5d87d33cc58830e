/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_TABLE_PROFILE_H
#define MMRIG_TABLE_PROFILE_H
/*
 * Hot functions of the workload phase (run.profile_json), a column a cell: the share of all samples
 * of its ok runs, the 20 functions that are highest in any cell; "-" where one is not among those that
 * the cell has (its most frequent). Nothing where no run has a profile.
 */
#include "results/table_cells.h"
#include "results/util/str.h"

void table_profile(const struct runset *set, const struct table_cell *cell, size_t n,
		   struct strbuf *sb);

#endif
