/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_KERNEL_INTERRUPT_H
#define MMRIG_KERNEL_INTERRUPT_H
/*
 * A line for whoever interrupts a fetch or a build. Most of their time they wait for helpers or unpack
 * archives, where nobody could hand an error up; all that they write is safe against a kill anyway. So the
 * signal itself ends the program. Where a program is run as a group (child.h), its runner takes the
 * signals, and hands up an error of the same words.
 */
#include <signal.h>
#include <stdbool.h>

#define INTERRUPT_SIGNALS 3 /* SIGINT, SIGTERM, SIGHUP */

struct interrupt {
	struct sigaction before[INTERRUPT_SIGNALS];
	bool ours[INTERRUPT_SIGNALS];
};

/*
 * Until interrupt_end() each of the signals ends us with EXIT_INTERRUPTED and "mmrig: kernel:
 * interrupted; NEXT" on stderr, once. One that is ignored, or has a handler, stays as it is. next:
 * what the same command will do; must stay there. One at a time.
 */
void interrupt_begin(struct interrupt *w, const char *next);
void interrupt_end(struct interrupt *w);
/* Another text from here on; of no effect when nothing is watched. */
void interrupt_next(const char *next);

#endif
