/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_PAGETYPE_H
#define MMRIG_PAGETYPE_H
/* How many pageblocks are of one type, by the table "Number of blocks type" of /proc/pagetypeinfo. */
#include <stdint.h>

/* All zones together; -1: it has no column of that name ("CMA", "HighAtomic"). */
int64_t pagetype_parse(const char *pagetypeinfo, const char *type);
/* The same, read now; -1 also where it cannot be read. */
int64_t pagetype_blocks(const char *type);

#endif
