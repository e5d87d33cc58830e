/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_MIXED_H
#define MMRIG_MIXED_H
/* What is left of the mix steps when the layout stands: later steps move pages, and take some more. */
#include "guest/layout.h"

/* "Number of blocks type" of /proc/pagetypeinfo, all zones together. */
struct block_types {
	uint64_t unmovable, movable, reclaimable, other;
};
/* false: there is no such table. text: NUL-terminated. */
bool block_types_parse(const char *text, struct block_types *t);

/*
 * Pageblocks that are too many or too few of a kind. What the guest had in more blocks than were asked
 * for, when the step began, is no fault of the step.
 */
uint64_t mixed_off(const struct mixed_kind *k, uint64_t got);

/*
 * After pageblocks_read(): a STEP message "mixed", where the layout has a mix step, and ++*index. -1,
 * WIRE_FAIL sent: more than the tolerance of all pageblocks are off. Where a fill with slab followed,
 * too many are none.
 */
int mixed_report(struct layout *l, int *index);

#endif
