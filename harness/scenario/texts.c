// SPDX-License-Identifier: GPL-2.0-only
#include "harness/scenario/texts.h"

#include <stdlib.h>
#include <string.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/str.h"

static size_t texts_length(char **words)
{
	size_t n = 0;

	while (words && words[n])
		n++;
	return n;
}

void texts_add(char ***words, const char *word)
{
	size_t n = texts_length(*words);

	for (size_t i = 0; i < n; i++)
		if (strcmp((*words)[i], word) == 0)
			return;
	*words = xreallocarray(*words, n + 2, sizeof(**words));
	(*words)[n] = xstrdup(word);
	(*words)[n + 1] = NULL;
}

void texts_add_all(char ***words, const char *const *more)
{
	for (; more && *more; more++)
		texts_add(words, *more);
}

void texts_add_list(char ***words, const struct node *list)
{
	for (size_t i = 0; list && i < list->n; i++)
		texts_add(words, list->value[i]->text);
}

void texts_finish(char ***words)
{
	if (!*words)
		*words = xcalloc(1, sizeof(**words));
}

void texts_free(char **words)
{
	for (char **w = words; w && *w; w++)
		free(*w);
	free(words);
}
