/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_COMPARE_CELLS_H
#define MMRIG_COMPARE_CELLS_H
/* What stands in the cells of a comparison's tables. Heap strings; "-" where nothing is known. */
#include "results/compare.h"

/*
 * "671 (480..963)": median, least and most; one value alone where all are equal. The bounds are
 * rounded from 100,000 on: "1,089,532 (686k..1.39M)".
 */
char *compare_cell_median(const struct compare_value *v);
/*
 * A shift as people read it: in per cent of the baseline's median, where that is not 0, the unit is
 * not itself per cent, and shift and interval are below ten times it; else in the unit, rounded
 * from 100,000 on. "+33.1%", "+669", "-1.21M".
 */
char *compare_cell_shift(const struct compare_metric *m, const struct stats_result *r);
/* Its interval in the same form: "+30.2 .. +38.0%". */
char *compare_cell_interval(const struct compare_metric *m, const struct stats_result *r);
/* "0.040", "<0.001": Holm's. */
char *compare_cell_p(const struct stats_result *r);
/* "+1.00": Cliff's delta. */
char *compare_cell_delta(const struct stats_result *r);
/* "allocstall", "time, s": the unit where it is none of plain counting. */
char *compare_cell_name(const struct compare_metric *m);
/*
 * How the numbers were made, without line breaks: tests, correction, level, single layouts, what
 * more runs would decide; compare_parts.h has the rest. One string a remark; NULL-terminated.
 */
char **compare_remarks(const struct compare *c);
void compare_remarks_free(char **remarks);

#endif
