// SPDX-License-Identifier: GPL-2.0-only
#include "guest/words.h"

#include <string.h>

static int is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* One character, unquoted; *p moves on. quote: the one that is open, or 0. */
static char take(const char **p, char quote)
{
	const char *s = *p;
	int escaped = s[0] == '\\' && s[1] && quote != '\'' &&
		      (!quote || s[1] == '"' || s[1] == '\\');

	*p += escaped ? 2 : 1;
	return s[escaped];
}

/* Copies one word down to out; NULL: a quote is not closed. */
static char *copy_word(const char **p, char *out)
{
	char quote = 0;

	for (const char *s = *p; *s && (quote || !is_blank(*s)); s = *p) {
		if (quote ? *s == quote : *s == '"' || *s == '\'') {
			quote = quote ? 0 : *s;
			++*p;
			continue;
		}
		*out++ = take(p, quote);
	}
	return quote ? NULL : out;
}

int words_split(char *text, char **argv, int max)
{
	const char *p = text;
	char *out = text;
	int n = 0;

	for (;;) {
		while (is_blank(*p))
			p++;
		if (!*p)
			break;
		if (n == max)
			return -1;
		argv[n++] = out;
		out = copy_word(&p, out);
		if (!out)
			return -1;
		p += *p != '\0'; /* before the end of the word is written: it may stand there */
		*out++ = '\0';
	}
	argv[n] = NULL;
	return n;
}
