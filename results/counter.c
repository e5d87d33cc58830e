// SPDX-License-Identifier: GPL-2.0-only
#include "results/counter.h"

#include <ctype.h>
#include <string.h>

#include "results/util/cleanup.h"

#define DIGITS_MAX 4
#define WORD_MAX 40

/* The kernel's names; "free_order0_node_Normal" shall not be a zone of the name "node". */
static size_t zone_fits(const char *name)
{
	static const char *const zone[] = {
		"DMA", "DMA32", "Normal", "HighMem", "Movable", "Device"
	};
	size_t n = strcspn(name, "_");

	for (size_t i = 0; i < ARRAY_SIZE(zone); i++)
		if (strlen(zone[i]) == n && memcmp(zone[i], name, n) == 0)
			return n;
	return 0;
}

/* How much of the name a <word> of a pattern takes; 0: it does not fit. */
static size_t placeholder_fits(const char *word, size_t len, const char *name)
{
	bool number = (len == 5 && memcmp(word, "order", 5) == 0) ||
		      (len == 4 && memcmp(word, "node", 4) == 0) ||
		      (len == 7 && memcmp(word, "threads", 7) == 0);
	bool size = len == 4 && memcmp(word, "size", 4) == 0;
	bool stat = len == 4 && memcmp(word, "stat", 4) == 0;
	size_t n = strspn(name, "0123456789");

	if (len == 4 && memcmp(word, "zone", 4) == 0)
		return zone_fits(name);
	if (number)
		return n <= DIGITS_MAX ? n : 0;
	if (size)
		return n && n <= 2 * DIGITS_MAX && str_starts(name + n, "kB") ? n + 2 : 0;
	for (n = 0; isalnum((unsigned char)name[n]) || (stat && name[n] == '_'); n++)
		;
	return n <= WORD_MAX ? n : 0;
}

/* The pattern against the whole name; with title set, its words are put in there on the way. */
static bool pattern_fits(const char *pattern, const char *name, struct strbuf *title)
{
	while (*pattern) {
		const char *stop = *pattern == '<' ? strchr(pattern, '>') : NULL;
		size_t n;

		if (!stop) {
			if (*pattern++ != *name++)
				return false;
			continue;
		}
		n = placeholder_fits(pattern + 1, (size_t)(stop - pattern - 1), name);
		if (!n)
			return false;
		if (title) {
			cleanup_free char *word = xstrndup(pattern, (size_t)(stop - pattern) + 1);
			char *at = title->data ? strstr(title->data, word) : NULL;
			cleanup_free char *rest = at ? xstrdup(at + strlen(word)) : NULL;

			if (at) {
				title->len = (size_t)(at - title->data);
				strbuf_add(title, name, n);
				strbuf_adds(title, rest);
			}
		}
		name += n;
		pattern = stop + 1;
	}
	return !*name;
}

const struct counter *counter_find(const char *name)
{
	for (size_t i = 0; i < counter_count; i++)
		if (strcmp(counter_table[i].name, name) == 0)
			return &counter_table[i];
	for (size_t i = 0; i < counter_count; i++)
		if (strchr(counter_table[i].name, '<') &&
		    pattern_fits(counter_table[i].name, name, NULL))
			return &counter_table[i];
	return NULL;
}

char *counter_title(const char *name)
{
	const struct counter *c = counter_find(name);
	struct strbuf title = STRBUF_INIT;

	strbuf_adds(&title, c ? c->title : name);
	if (c && strcmp(c->name, name) != 0)
		pattern_fits(c->name, name, &title);
	return strbuf_steal(&title);
}

const char *counter_nearest(const char *name)
{
	cleanup_free const char **names = xreallocarray(NULL, counter_count, sizeof(*names));
	size_t n = 0;

	for (size_t i = 0; i < counter_count; i++)
		if (!strchr(counter_table[i].name, '<'))
			names[n++] = counter_table[i].name;
	return str_nearest(name, names, n);
}

bool counter_source_matches(const char *source, const char *key)
{
	size_t n;

	while (*source == '-')
		source++;
	n = strlen(source);
	if (n && source[n - 1] == '*')
		return strncmp(source, key, n - 1) == 0;
	return strcmp(source, key) == 0;
}
