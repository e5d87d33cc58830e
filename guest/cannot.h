/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_CANNOT_H
#define MMRIG_CANNOT_H
/*
 * What a step asks for and this guest cannot have, whatever is tried: a where that selects no page, more
 * pages than there are to choose from, a zone without memory. It is neither the host's fault nor a layout
 * off its mark, and the run ends as `unsupported`. All return -1, with r->why.
 */
#include "guest/layout.h"

int step_cannot(struct step_report *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* `where` selects none of the pages that are held and not pinned: tells where those stand. */
int step_no_page(const struct layout *l, struct step_report *r);
/* After region_map(): 0 where it found a page that is available, else as step_no_page(). */
int step_any_page(const struct layout *l, struct step_report *r);
/* The same, where `where` may select any page of the guest. */
int step_no_block(const struct layout *l, struct step_report *r);
/* A fill of a zone (NULL: all) or node (-1: all) without memory: tells which there are. */
int step_no_memory(const struct layout *l, const char *zone, int64_t node, struct step_report *r);
/* `where` divides by zero. */
int step_divides_by_zero(struct step_report *r);

#endif
