// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which tests a tree has. Its Makefile is read and not run: what it would leave out on this host (no 32-bit
 * libc, no liburing) is to be known as a test that cannot be built here.
 */
#include <stdlib.h>
#include <string.h>

#include "harness/build/selftests.h"
#include "results/util/cleanup.h"
#include "results/util/str.h"

struct names {
	char **item;
	size_t n;
};

static size_t find(const struct names *l, const char *name)
{
	size_t i = 0;

	while (i < l->n && strcmp(l->item[i], name) != 0)
		i++;
	return i;
}

static void add(struct names *l, const char *name, size_t len)
{
	cleanup_free char *copy = xstrndup(name, len);

	if (!len || strpbrk(copy, "$():%") || find(l, copy) < l->n)
		return;
	l->item = xreallocarray(l->item, l->n + 2, sizeof(*l->item));
	l->item[l->n++] = STEAL(copy);
	l->item[l->n] = NULL;
}

static void add_words(struct names *l, const char *p, size_t len)
{
	const char *end = p + len;

	while (p < end) {
		size_t n;

		p += strspn(p, " \t\\");
		if (p >= end || *p == '#')
			return;
		n = strcspn(p, " \t\\\n#");
		if (p + n > end)
			n = (size_t)(end - p);
		add(l, p, n);
		p += n;
	}
}

/* The words of "NAME = ..." and "NAME += ...", whatever conditions they stand under. */
static void add_variable(struct names *l, const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		const char *q = p + strspn(p, " ");

		if (strncmp(q, name, len) != 0)
			continue;
		q += len;
		q += strspn(q, " \t");
		q += strspn(q, ":+");
		if (*q == '=')
			add_words(l, q + 1, strcspn(q + 1, "\n"));
	}
}

static void drop(struct names *l, const char *name)
{
	size_t i = find(l, name);

	if (i == l->n)
		return;
	free(l->item[i]);
	l->n--;
	memmove(&l->item[i], &l->item[i + 1], (l->n - i + 1) * sizeof(*l->item));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **selftests_of_makefile(const char *text)
{
	struct names all = { 0 }, both = { 0 };

	add_variable(&all, text, "TEST_GEN_FILES");
	add_variable(&all, text, "TEST_GEN_PROGS");
	add_variable(&both, text, "VMTARGETS");
	add_variable(&both, text, "TARGETS"); /* as it was called until 6.1 */
	for (size_t i = 0; i < both.n; i++) {
		cleanup_free char *name = str_printf("%s_64", both.item[i]);

		drop(&all, both.item[i]);
		add(&all, name, strlen(name));
	}
	selftests_names_free(both.item);
	if (!all.item)
		all.item = xcalloc(1, sizeof(*all.item));
	qsort(all.item, all.n, sizeof(*all.item), by_name);
	return all.item;
}

void selftests_names_free(char **names)
{
	for (size_t i = 0; names && names[i]; i++)
		free(names[i]);
	free(names);
}
