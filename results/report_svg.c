// SPDX-License-Identifier: GPL-2.0-only
#include "results/report_svg.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/report_html.h"
#include "results/util/cleanup.h"

/* One tag, its text still in gnuplot's output: "<path stroke='..' d='..'/>". */
struct tag {
	const char *name, *end; /* end: its '>' */
	size_t len;		/* of the name */
	bool closing;
};

static bool tag_next(const char *at, struct tag *t)
{
	at = strchr(at, '<');
	if (!at)
		return false;
	t->closing = at[1] == '/';
	t->name = at + 1 + t->closing;
	t->len = strcspn(t->name, " \t\n/>");
	t->end = strchr(t->name, '>');
	return t->end;
}

static bool tag_is(const struct tag *t, const char *name)
{
	return t->len == strlen(name) && memcmp(t->name, name, t->len) == 0;
}

/* The value of an attribute, heap; NULL where the tag has none of that name. */
static char *attribute(const struct tag *t, const char *name)
{
	const char *at = t->name + t->len;
	size_t n = strlen(name);

	while (at < t->end) {
		const char *key, *value, *close;
		size_t key_len;

		key = at + strspn(at, " \t\n");
		key_len = strcspn(key, " =>");
		value = key + key_len + strspn(key + key_len, " =");
		if (value >= t->end || (*value != '\'' && *value != '"'))
			return NULL;
		close = strchr(value + 1, *value);
		if (!close || close > t->end)
			return NULL;
		if (key_len == n && memcmp(key, name, n) == 0)
			return xstrndup(value + 1, (size_t)(close - value - 1));
		at = close + 1;
	}
	return NULL;
}

/* Empty where the colour is none of ours: such a shape is gnuplot's own, and is left out. */
static void class_of(const char *colour, char *name, size_t size)
{
	static const char *const frame[] = { "ax", "gr", "ed" };
	static const char letter[] = { [SVG_LINE] = 'l', [SVG_BAR] = 'b', [SVG_DOT] = 'd' };
	unsigned int role, zero, n;

	*name = '\0';
	if (!colour || sscanf(colour, "rgb(%u,%u,%u)", &role, &zero, &n) != 3 || zero != 0)
		return;
	if (role == SVG_FRAME && n < ARRAY_SIZE(frame))
		snprintf(name, size, "%s", frame[n]);
	else if (role < ARRAY_SIZE(letter) && letter[role] && n < 100)
		snprintf(name, size, "%c%u", letter[role], n);
}

/* Digits and what paths are made of; gnuplot writes nothing else. */
static bool is_path(const char *d)
{
	return d && d[strspn(d, "0123456789MLHVZmlhvz.,-+e \t\n")] == '\0';
}

/* "M1.00,2.50 L3.00,4.00 " -> "M1,2.5 3,4": a third of a page is such paths. */
static void put_path(struct strbuf *sb, const char *d)
{
	bool lines = false;

	while (*d) {
		size_t digits = strspn(d, "0123456789.-");

		if (digits) {
			char number[32];

			snprintf(number, sizeof(number), "%.1f", strtod(d, NULL));
			if (str_ends(number, ".0"))
				number[strlen(number) - 2] = '\0';
			strbuf_adds(sb, number);
			d += digits;
			continue;
		}
		/* Pairs that follow a pair are lines anyway. */
		if (isspace((unsigned char)*d) && sb->data[sb->len - 1] != ' ')
			strbuf_adds(sb, " ");
		else if (!isspace((unsigned char)*d) && (*d != 'L' || !lines))
			strbuf_add(sb, d, 1);
		if (isalpha((unsigned char)*d))
			lines = *d == 'L' || *d == 'M';
		d++;
	}
	while (sb->len && sb->data[sb->len - 1] == ' ')
		sb->data[--sb->len] = '\0';
}

static void take_path(const struct tag *t, struct strbuf *out)
{
	cleanup_free char *d = attribute(t, "d"), *stroke = attribute(t, "stroke");
	char class[16];

	class_of(stroke, class, sizeof(class));
	if (!*class || !is_path(d))
		return;
	strbuf_addf(out, "<path class=\"%s\" d=\"", class);
	put_path(out, d);
	strbuf_adds(out, "\"/>\n");
}

/* A dot is a reference to a shape of radius 1. */
static void take_dot(const struct tag *t, struct strbuf *out)
{
	cleanup_free char *where = attribute(t, "transform"), *colour = attribute(t, "color");
	double x, y, scale;
	char class[16];

	class_of(colour, class, sizeof(class));
	if (!*class || !where ||
	    sscanf(where, "translate(%lf,%lf) scale(%lf)", &x, &y, &scale) != 3)
		return;
	strbuf_addf(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", class, x, y,
		    scale);
}

static void put_plain(struct strbuf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] == ' ' || (text[i] >= '0' && text[i] <= '9') || strchr("+-.,%", text[i]))
			strbuf_add(out, text + i, 1);
}

/* group: the <g> around it, which has its place. Returns what follows the text. */
static const char *take_text(const struct tag *t, const struct tag *group, char *const *label,
			     size_t nlabels, struct strbuf *out)
{
	cleanup_free char *where = group ? attribute(group, "transform") : NULL;
	cleanup_free char *anchor = group ? attribute(group, "text-anchor") : NULL;
	const char *text = t->end + 1, *end = strchr(text, '<');
	double x, y;
	size_t n;

	if (!end || !where || sscanf(where, "translate(%lf,%lf)", &x, &y) != 2)
		return end ? end : text;
	strbuf_addf(out, "<text x=\"%.1f\" y=\"%.1f\"", x, y);
	if (anchor && (strcmp(anchor, "middle") == 0 || strcmp(anchor, "end") == 0))
		strbuf_addf(out, " text-anchor=\"%s\"", anchor);
	strbuf_adds(out, ">");
	text += strspn(text, " ");
	if (sscanf(text, "@%zu@", &n) == 1 && n < nlabels)
		html_text(out, label[n]);
	else
		put_plain(out, text, (size_t)(end - text));
	strbuf_adds(out, "</text>\n");
	return end;
}

static const char *take_tag(const struct tag *t, struct tag *group, char *const *label,
			    size_t nlabels, struct strbuf *out)
{
	if (t->closing)
		return t->end + 1;
	if (tag_is(t, "defs")) {
		const char *end = strstr(t->end, "</defs>");

		return end ? end : t->end + 1;
	}
	if (tag_is(t, "g"))
		*group = *t;
	else if (tag_is(t, "path"))
		take_path(t, out);
	else if (tag_is(t, "use"))
		take_dot(t, out);
	else if (tag_is(t, "text"))
		return take_text(t, group->name ? group : NULL, label, nlabels, out);
	return t->end + 1;
}

char *svg_shapes(const char **at, char *const *label, size_t nlabels)
{
	struct strbuf out = STRBUF_INIT;
	struct tag t, group = { 0 };
	const char *p = strstr(*at, "<svg");

	strbuf_adds(&out, "");
	while (p && tag_next(p, &t)) {
		if (t.closing && tag_is(&t, "svg")) {
			*at = t.end + 1;
			return strbuf_steal(&out);
		}
		p = take_tag(&t, &group, label, nlabels, &out);
	}
	strbuf_free(&out);
	return NULL;
}
