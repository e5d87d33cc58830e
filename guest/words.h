/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_WORDS_H
#define MMRIG_WORDS_H
/*
 * A command line in words, as a shell would quote them: blanks part words, '...' and "..." keep what is
 * in them, a backslash the character behind it (within "..." only " and \). Nothing is expanded.
 */
#include <stddef.h>

/*
 * Splits text in place. Fills argv with at most max words and a NULL behind them (room: max + 1). How many,
 * or -1: more than that, or a quote that is not closed.
 */
int words_split(char *text, char **argv, int max);

#endif
