/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_GNUPLOT_H
#define MMRIG_GNUPLOT_H
/*
 * One gnuplot child for a whole batch of figures: starting it costs more than drawing. No shell, no
 * start-up files, a bare environment; it dies with its parent, and at the deadline.
 *
 * gnuplot runs commands out of its scripts (system(), backquotes): a script must hold nothing but
 * numbers and text of ours.
 */
#include "results/util/str.h"

#define GNUPLOT_DEADLINE_S 60

/*
 * Appends what it wrote to its standard output. program NULL: "gnuplot", from PATH. Fails with
 * EXIT_NO_VERDICT: not found (says what to install), failed (with its last words), out of time.
 */
int gnuplot_run(const char *program, const char *script, size_t len, unsigned int seconds,
		struct strbuf *out, struct error *err);

#endif
