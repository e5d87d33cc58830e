/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_PROC_CURSOR_H
#define MMRIG_PROC_CURSOR_H
/* Between the parsers of proc.h: reading on in a line, never beyond its end. */
#include <string.h>

#include "results/proc.h"

struct cursor {
	const char *p, *end;
};

/* The next line of `text`, without its newline, which *whole tells of; false at the end. */
static inline bool cursor_line(struct cursor *text, struct cursor *line, bool *whole)
{
	const char *newline;

	if (text->p >= text->end)
		return false;
	newline = memchr(text->p, '\n', (size_t)(text->end - text->p));
	*whole = newline != NULL;
	line->p = text->p;
	line->end = newline ? newline : text->end;
	text->p = newline ? newline + 1 : text->end;
	return true;
}

static inline void cursor_skip_blanks(struct cursor *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\r'))
		c->p++;
}

static inline bool cursor_at_end(struct cursor *c)
{
	cursor_skip_blanks(c);
	return c->p == c->end;
}

/* Blanks, then this text. */
static inline bool cursor_take(struct cursor *c, const char *word)
{
	size_t n = strlen(word);

	cursor_skip_blanks(c);
	if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0)
		return false;
	c->p += n;
	return true;
}

/* Blanks, then a whole number that ends at a blank, a comma or the end. */
static inline bool cursor_number(struct cursor *c, uint64_t *value)
{
	const char *start;

	cursor_skip_blanks(c);
	start = c->p;
	*value = 0;
	for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(*c->p - '0'), value))
			return false;
	return c->p > start && (c->p == c->end || memchr(" \t\r,", *c->p, 4));
}

/* Blanks, then a name of letters and digits that ends at a blank, a comma or the end. */
static inline bool cursor_name(struct cursor *c, char name[PROC_NAME_MAX])
{
	size_t n = 0;

	cursor_skip_blanks(c);
	for (; c->p < c->end && !memchr(" \t\r,", *c->p, 4); c->p++) {
		char ch = *c->p;
		bool good = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
			    (ch >= '0' && ch <= '9');

		if (!good || n == PROC_NAME_MAX - 1)
			return false;
		name[n++] = ch;
	}
	name[n] = '\0';
	return n > 0;
}

#define PROC_NODE_MAX 9999

/* "Node 0, zone   Normal" */
static inline bool cursor_zone(struct cursor *c, unsigned int *node, char zone[PROC_NAME_MAX])
{
	uint64_t number;

	if (!cursor_take(c, "Node") || !cursor_number(c, &number) || number > PROC_NODE_MAX ||
	    !cursor_take(c, ",") || !cursor_take(c, "zone") || !cursor_name(c, zone))
		return false;
	*node = (unsigned int)number;
	return true;
}

#endif
