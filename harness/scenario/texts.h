/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_SCENARIO_TEXTS_H
#define MMRIG_SCENARIO_TEXTS_H
/* NULL-terminated heap arrays of heap strings; NULL is an empty one. texts_free() frees them. */

struct node;

/* Appends a copy unless it is there already. */
void texts_add(char ***words, const char *word);
void texts_add_all(char ***words, const char *const *more);
/* The texts of a list; NULL: none. */
void texts_add_list(char ***words, const struct node *list);
/* An array with nothing in it in place of NULL. */
void texts_finish(char ***words);

#endif
