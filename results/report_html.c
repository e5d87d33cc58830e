// SPDX-License-Identifier: GPL-2.0-only
#include "results/report_html.h"

#include <stdlib.h>
#include <string.h>

#include "results/run_text.h"
#include "results/util/cleanup.h"

/*
 * Valid UTF-8, yet not to be shown: marks and overrides of direction (a line of a console could
 * read backwards), line separators, the byte order mark, and U+FFFE and U+FFFF, which are not XML.
 */
static bool is_unwanted(const unsigned char *s)
{
	if (s[0] == 0xef)
		return (s[1] == 0xbf && s[2] >= 0xbe) || (s[1] == 0xbb && s[2] == 0xbf);
	return run_text_is_direction((const char *)s) ||
	       (s[0] == 0xe2 && s[1] == 0x80 && (s[2] == 0xa8 || s[2] == 0xa9));
}

static const char *entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	}
	return NULL;
}

/* s is valid UTF-8 without control characters. */
static void put_clean(struct strbuf *sb, const char *s)
{
	const unsigned char *u = (const unsigned char *)s;

	while (*u) {
		const char *e = entity((char)*u);
		size_t n = *u == 0xd8 ? 2 : 3;

		if (e) {
			strbuf_adds(sb, e);
			u++;
		} else if (*u >= 0x80 && is_unwanted(u)) {
			while (n--)
				strbuf_addf(sb, "\\x%02x", *u++);
		} else {
			strbuf_add(sb, u++, 1);
		}
	}
}

void html_text(struct strbuf *sb, const char *s)
{
	cleanup_free char *clean = s ? run_text_printable(s) : NULL;

	if (clean)
		put_clean(sb, clean);
}

void html_lines(struct strbuf *sb, const char *s, size_t limit)
{
	size_t len = s ? strlen(s) : 0;

	if (limit && len > limit) {
		const char *newline = memrchr(s, '\n', limit);

		len = newline ? (size_t)(newline + 1 - s) : limit;
	}
	for (const char *end = s + len; len && s < end;) {
		size_t n = strcspn(s, "\n\t");
		cleanup_free char *piece = NULL;

		if (n > (size_t)(end - s))
			n = (size_t)(end - s);
		piece = xstrndup(s, n && s[n] == '\n' && s[n - 1] == '\r' ? n - 1 : n);
		html_text(sb, piece);
		s += n;
		if (s < end)
			strbuf_add(sb, s++, 1);
	}
}

/* The byte at which the n-th character (from 0) begins. */
static size_t offset_of(const char *s, size_t n)
{
	size_t at = 0;

	for (; s[at]; at++)
		if (((unsigned char)s[at] & 0xc0) != 0x80 && n-- == 0)
			break;
	return at;
}

char *html_short(const char *s, size_t columns)
{
	char *clean = run_text_printable(s ? s : ""), *cut;
	size_t n = run_text_columns(clean), tail = columns / 2;

	if (n <= columns)
		return clean;
	cut = str_printf("%.*s…%s", (int)offset_of(clean, columns - tail - 1), clean,
			 clean + offset_of(clean, n - tail));
	free(clean);
	return cut;
}

void html_element(struct strbuf *sb, const char *tag, const char *s)
{
	strbuf_addf(sb, "<%s>", tag);
	html_text(sb, s);
	strbuf_addf(sb, "</%s>", tag);
}
