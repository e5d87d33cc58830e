// SPDX-License-Identifier: GPL-2.0-only
#include "results/run_text.h"

#include <stdbool.h>
#include <string.h>

#include "results/util/cleanup.h"

static bool is_continuation(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* Bytes of the valid sequence that starts at s, or 0 (overlong, surrogate, cut off, too large). */
static size_t sequence(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned int lo = 0x80, hi = 0xbf;
	size_t n;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		n = 2;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		n = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		n = 4;
	else
		return 0;
	if (s[0] == 0xe0)
		lo = 0xa0;
	else if (s[0] == 0xf0)
		lo = 0x90;
	else if (s[0] == 0xed)
		hi = 0x9f;
	else if (s[0] == 0xf4)
		hi = 0x8f;
	if (s[1] < lo || s[1] > hi)
		return 0;
	for (size_t i = 2; i < n; i++)
		if (!is_continuation(s[i]))
			return 0;
	return n;
}

bool run_text_is_direction(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	if (s[0] == 0xd8)
		return s[1] == 0x9c;
	if (s[0] != 0xe2)
		return false;
	if (s[1] == 0x80)
		return s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xaa && s[2] <= 0xae);
	return s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9;
}

static bool is_control(const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;

	if (run_text_is_direction(text))
		return true;
	return n == 1 ? s[0] < 0x20 || s[0] == 0x7f : n == 2 && s[0] == 0xc2 && s[1] < 0xa0;
}

static char *escape(const char *s, bool controls)
{
	struct strbuf sb = STRBUF_INIT;

	while (*s) {
		size_t n = sequence(s);
		bool bad = n == 0 || (controls && is_control(s, n));

		if (n == 0)
			n = 1;
		if (bad)
			for (size_t i = 0; i < n; i++)
				strbuf_addf(&sb, "\\x%02x", (unsigned char)s[i]);
		else
			strbuf_add(&sb, s, n);
		s += n;
	}
	return strbuf_steal(&sb);
}

char *run_text_utf8(const char *s)
{
	return escape(s, false);
}

char *run_text_printable(const char *s)
{
	return escape(s, true);
}

size_t run_text_columns(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += !is_continuation((unsigned char)*s);
	return n;
}

/* Bytes of the longest piece of at most `width` columns that ends well. */
static size_t piece(const char *s, size_t width)
{
	size_t columns = 0, good = 0, blank = 0, i = 0;

	while (s[i] && columns < width) {
		i++;
		while (is_continuation((unsigned char)s[i]))
			i++;
		columns++;
		if (s[i - 1] == ' ')
			blank = i;
		else if (strchr(",_/-", s[i - 1]) && s[i] != ' ')
			good = i;
	}
	if (!s[i] || s[i] == ' ')
		return i;
	return blank ? blank : good ? good : i;
}

char **run_text_wrap(const char *s, size_t width, size_t *n)
{
	char **lines = NULL;

	*n = 0;
	do {
		size_t len = piece(s, width ? width : 1), end = len;

		while (end && s[end - 1] == ' ')
			end--;
		lines = xreallocarray(lines, *n + 2, sizeof(*lines));
		lines[(*n)++] = xstrndup(s, end);
		lines[*n] = NULL;
		s += len;
		while (*s == ' ')
			s++;
	} while (*s);
	return lines;
}

void run_text_lines_free(char **lines)
{
	for (size_t i = 0; lines && lines[i]; i++)
		free(lines[i]);
	free(lines);
}
