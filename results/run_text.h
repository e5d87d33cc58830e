/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_RUN_TEXT_H
#define MMRIG_RUN_TEXT_H
/*
 * Text that may come from a guest, made fit for JSON and for terminals. Heap strings. A byte that
 * may not stand as it is becomes four characters: \xNN.
 */
#include <stdbool.h>
#include <stddef.h>

/* Valid UTF-8: only bytes that belong to no valid sequence are replaced. */
char *run_text_utf8(const char *s);
/* The same, and control characters (C0, DEL, C1, those of direction) are replaced too. */
char *run_text_printable(const char *s);
/* U+061C, 200E, 200F, 202A to 202E, 2066 to 2069, at s, NUL-terminated: they make a line look like another. */
bool run_text_is_direction(const char *s);
/* Columns on a terminal, one a code point; for text from run_text_printable(). */
size_t run_text_columns(const char *s);
/*
 * Breaks into lines of at most `width` columns: at blanks, so that names stay whole; where there is
 * none, behind commas, underscores, slashes and hyphens; else anywhere. At least one line; the array ends with NULL.
 */
char **run_text_wrap(const char *s, size_t width, size_t *n);
void run_text_lines_free(char **lines);

#endif
