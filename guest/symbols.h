/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_SYMBOLS_H
#define MMRIG_SYMBOLS_H
/*
 * The kernel's functions, for the host's profile: the lines of /proc/kallsyms of types t, T, w and
 * W as "ADDRESS NAME" or "ADDRESS NAME [MODULE]", in samples named "kallsyms" of whole lines each.
 */
#include "guest/wire.h"

/* Some 3 MB; nothing where there is no /proc/kallsyms. By PID 1, when nothing is measured any more. */
void symbols_send(enum wire_phase phase);
/*
 * One line of kallsyms, less its type and with one blank between words; the length, 0 for one that
 * is no function or does not fit.
 */
size_t symbols_line(const char *line, char *out, size_t room);

#endif
