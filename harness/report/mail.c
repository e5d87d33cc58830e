// SPDX-License-Identifier: GPL-2.0-only
/* What mails, web pages and log daemons did to the text, undone. Each pass is linear. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "harness/report/memreport_impl.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

struct span {
	const char *p, *end;
};

static bool at(const struct span *s, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(s->end - s->p) >= n && memcmp(s->p, word, n) == 0;
}

/* ---- quoted-printable ---- */

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* "=" and blanks at the end of a line: the line goes on. Length of it, or 0. */
static size_t soft_break(const struct span *s)
{
	const char *q = s->p + 1;

	while (q < s->end && q - s->p < 8 && (*q == ' ' || *q == '\t' || *q == '\r'))
		q++;
	return q < s->end && *q == '\n' ? (size_t)(q + 1 - s->p) : 0;
}

static bool hex_pair(const struct span *s)
{
	return s->end - s->p > 2 && hex(s->p[1]) >= 0 && hex(s->p[2]) >= 0;
}

/*
 * In quoted-printable every "=" is of one of the two forms, and some are "=3D", since our texts have
 * "=" in them. A dump as it is has "order=0," and "= 15908kB".
 */
static bool is_quoted_printable(struct span s)
{
	size_t fits = 0, others = 0;
	bool equals = false;

	for (; (s.p = memchr(s.p, '=', (size_t)(s.end - s.p))) != NULL; s.p++) {
		equals |= at(&s, "=3D");
		if (hex_pair(&s) || soft_break(&s))
			fits++;
		else
			others++;
	}
	return equals && fits > 9 * others;
}

static void undo_quoted_printable(struct strbuf *text)
{
	struct span s = { text->data, text->data + text->len };
	struct strbuf out = STRBUF_INIT;

	while (s.p < s.end) {
		const char *eq = memchr(s.p, '=', (size_t)(s.end - s.p));
		size_t soft;
		char c;

		strbuf_add(&out, s.p, (size_t)((eq ? eq : s.end) - s.p));
		if (!eq)
			break;
		s.p = eq;
		soft = soft_break(&s);
		if (soft) {
			c = MAIL_LINE;
			s.p += soft;
			strbuf_add(&out, &c, 1);
		} else if (hex_pair(&s)) {
			c = (char)(16 * hex(s.p[1]) + hex(s.p[2]));
			c = (unsigned char)c < ' ' ? ' ' : c;
			strbuf_add(&out, &c, 1);
			s.p += 3;
		} else {
			strbuf_add(&out, s.p++, 1);
		}
	}
	strbuf_free(text);
	*text = out;
}

/* ---- HTML ---- */

static const char *const tags_inline[] = { "a",	   "b",	     "i",     "u",    "s",
					   "em",   "strong", "code",  "tt",   "font",
					   "span", "tbody",  "thead", "html", "body",
					   "head", "small",  "img",   "kbd",  "samp" };
static const char *const tags_line[] = { "br",	  "p",		"div", "pre",	"tr",	"li",
					 "ul",	  "ol",		"h1",  "h2",	"h3",	"h4",
					 "table", "blockquote", "hr",  "title", "meta", "link" };

static bool one_of(const char *name, size_t len, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(list[i]) == len && strncasecmp(name, list[i], len) == 0)
			return true;
	return false;
}

/*
 * Only tags that HTML knows: "<IRQ>", "</TASK>", "<48>" and "[<a0000001000175e0>]" are the kernel's.
 * Length of the tag, or 0; *becomes stands in its place.
 */
static size_t tag(const struct span *s, const char **becomes)
{
	static const char line_break[] = { MAIL_BREAK, '\0' };
	const char *name = s->p + 1, *end, *close;
	size_t len;

	if (name < s->end && *name == '/')
		name++;
	for (end = name; end < s->end && isalnum((unsigned char)*end) && end - name < 12; end++)
		;
	len = (size_t)(end - name);
	if (one_of(name, len, tags_line, ARRAY_SIZE(tags_line)))
		*becomes = line_break;
	else if (len == 2 && strncasecmp(name, "td", 2) == 0)
		*becomes = " ";
	else if (one_of(name, len, tags_inline, ARRAY_SIZE(tags_inline)))
		*becomes = "";
	else
		return 0;
	for (close = end; close < s->end && *close != '>'; close++)
		if (*close == '<')
			return 0;
	return close < s->end ? (size_t)(close + 1 - s->p) : 0;
}

static size_t entity(const struct span *s, char *becomes)
{
	static const struct {
		const char *name;
		char c;
	} names[] = { { "&gt;", '>' },	 { "&lt;", '<' },    { "&amp;", '&' },
		      { "&quot;", '"' }, { "&apos;", '\'' }, { "&nbsp;", ' ' } };
	size_t n = 2, base = 10;
	unsigned long value = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (at(s, names[i].name)) {
			*becomes = names[i].c;
			return strlen(names[i].name);
		}
	if (!at(s, "&#"))
		return 0;
	if (s->end - s->p > 2 && (s->p[2] == 'x' || s->p[2] == 'X')) {
		base = 16;
		n = 3;
	}
	for (; n < 10 && s->p + n < s->end && isxdigit((unsigned char)s->p[n]); n++) {
		int digit = hex((char)toupper((unsigned char)s->p[n]));

		value = value * base + (unsigned long)digit;
	}
	if (s->p + n >= s->end || s->p[n] != ';' || !value || value > 0x10ffff)
		return 0;
	*becomes = value == '\n'		? MAIL_BREAK :
		   value < ' ' || value == 0xa0 ? ' ' :
		   value < 0x80			? (char)value :
						  '?';
	return n + 1;
}

static bool undo_tags(struct strbuf *text)
{
	struct span s = { text->data, text->data + text->len };
	struct strbuf out = STRBUF_INIT;
	bool any = false;

	while (s.p < s.end) {
		const char *lt = memchr(s.p, '<', (size_t)(s.end - s.p)), *becomes = "<";
		size_t n;

		strbuf_add(&out, s.p, (size_t)((lt ? lt : s.end) - s.p));
		if (!lt)
			break;
		s.p = lt;
		n = tag(&s, &becomes);
		any |= n > 0;
		strbuf_adds(&out, becomes);
		s.p += n ? n : 1;
	}
	strbuf_free(text);
	*text = out;
	return any;
}

static bool undo_entities(struct strbuf *text)
{
	struct span s = { text->data, text->data + text->len };
	char *out = text->data;
	bool any = false;

	while (s.p < s.end) {
		char c = *s.p;
		size_t n = c == '&' ? entity(&s, &c) : 0;

		any |= n > 0;
		s.p += n ? n : 1;
		*out++ = c;
	}
	text->len = (size_t)(out - text->data);
	return any;
}

/* ---- control ---- */

/* "\x0a" of journald, "#012" of rsyslog, "\n" of JSON: length, or 0. */
static size_t written_newline(const struct span *s)
{
	return at(s, "\\x0a") || at(s, "\\x0A") || at(s, "#012") ? 4 : at(s, "\\n") ? 2 : 0;
}

static bool undo_written_newlines(struct strbuf *text)
{
	struct span s = { text->data, text->data + text->len };
	char *out = text->data;
	bool any = false;

	while (s.p < s.end) {
		size_t n = written_newline(&s);

		any |= n > 0;
		*out++ = n ? MAIL_BREAK : *s.p;
		s.p += n ? n : 1;
	}
	text->len = (size_t)(out - text->data);
	return any;
}

/* ESC [ ... letter, of a terminal that coloured it. */
static size_t escape(const struct span *s)
{
	const char *q = s->p + 1;

	if (q < s->end && *q == '[')
		for (q++; q < s->end && (isdigit((unsigned char)*q) || *q == ';'); q++)
			;
	return (size_t)((q < s->end ? q + 1 : s->end) - s->p);
}

/* Lines end with "\n"; other control characters and no-break spaces are blanks. */
static void undo_control(struct strbuf *text)
{
	struct span s = { text->data, text->data + text->len };
	char *out = text->data;

	while (s.p < s.end) {
		char c = *s.p;
		size_t n = 1;

		if (c == '\033') {
			s.p += escape(&s);
			continue;
		}
		if (at(&s, "\r\n") || at(&s, "\xc2\xa0"))
			n = 2;
		if (c == '\r' || c == '\f')
			c = '\n';
		else if (n == 2 || ((unsigned char)c < ' ' && c != '\n'))
			c = ' ';
		s.p += n;
		*out++ = c;
	}
	text->len = (size_t)(out - text->data);
}

/* ---- the input ---- */

static bool is_binary(const unsigned char *p, size_t len)
{
	size_t odd = 0;

	for (size_t i = 0; i < len; i++)
		odd += p[i] < ' ' && p[i] != '\t' && p[i] != '\n' && p[i] != '\r' && p[i] != '\033';
	return odd > len / 20;
}

/* A word whose end is not seen may be half a number: only "kB" and ")" end one for certain. */
static void drop_open_word(struct mail *m)
{
	struct strbuf *t = &m->text;
	size_t start = t->len;

	if (!t->len || t->data[t->len - 1] == '\n')
		return;
	if (t->len > 2 &&
	    (strcasecmp(t->data + t->len - 2, "kB") == 0 || t->data[t->len - 1] == ')'))
		start = t->len;
	else
		while (start && !strchr(" \n", t->data[start - 1]) &&
		       (unsigned char)t->data[start - 1] > MAIL_BREAK)
			start--;
	snprintf(m->dropped, sizeof(m->dropped), "%.*s", (int)sizeof(m->dropped) - 1,
		 t->data + start);
	t->len = start;
	strbuf_adds(t, "\n");
}

int mail_decode(const char *label, const void *data, size_t len, struct mail *m, struct error *err)
{
	memset(m, 0, sizeof(*m));
	if (!len)
		return error_set(err, EXIT_USAGE, "%s: is empty", label);
	if (len > MEMREPORT_INPUT_MAX)
		return error_set(err, EXIT_USAGE,
				 "%s: larger than %u MiB; cut out the report of memory", label,
				 MEMREPORT_INPUT_MAX >> 20);
	if (is_binary(data, len))
		return error_set(err, EXIT_USAGE, "%s: is no text", label);
	strbuf_add(&m->text, data, len);
	undo_control(&m->text);
	m->quoted_printable =
		is_quoted_printable((struct span){ m->text.data, m->text.data + m->text.len });
	if (m->quoted_printable)
		undo_quoted_printable(&m->text);
	m->html = undo_tags(&m->text);
	m->html |= undo_entities(&m->text);
	m->escapes = undo_written_newlines(&m->text);
	drop_open_word(m);
	return 0;
}
