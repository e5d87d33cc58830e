/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_CHILD_IMPL_H
#define MMRIG_CHILD_IMPL_H
/* What child.c and child_group.c share. */
#include <stdbool.h>

#include "harness/kernel/child.h"

/* Calls back for each whole line of sb and takes it out; the rest too when it is the last. */
void child_deliver_lines(struct strbuf *sb, void (*line)(void *, const char *), void *arg,
			 bool last);

#endif
