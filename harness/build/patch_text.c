// SPDX-License-Identifier: GPL-2.0-only
#include "harness/build/patch_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "results/util/cleanup.h"

struct parser {
	struct patch_text *p;
	char *old_name;		       /* of a "--- " line that waits for its "+++ " */
	unsigned long old_n, new_n;    /* lines that the hunk still has */
	struct patch_section *section; /* NULL before the first, and after a "diff " line */
};

/* Without the time behind a tab. */
static char *file_name(const char *text)
{
	return xstrndup(text, strcspn(text, "\t\r"));
}

static void begin_section(struct parser *a, const char *new_name)
{
	struct patch_text *p = a->p;

	p->item = xreallocarray(p->item, p->n + 1, sizeof(*p->item));
	a->section = &p->item[p->n++];
	*a->section = (struct patch_section){ .old_name = STEAL(a->old_name),
					      .new_name = file_name(new_name) };
}

/* The count of "-100,7", which is 1 when it is not said. */
static unsigned long count_of(const char *range)
{
	size_t digits = strspn(range, "0123456789");

	return range[digits] == ',' ? strtoul(range + digits + 1, NULL, 10) : 1;
}

static bool begin_hunk(struct parser *a, const char *line)
{
	const char *plus = strstr(line, " +");
	struct patch_section *s = a->section;

	if (!s || !str_starts(line, "@@ -") || !plus || !isdigit((unsigned char)line[4]))
		return false;
	a->old_n = count_of(line + 4);
	a->new_n = count_of(plus + 2);
	s->hunk = xreallocarray(s->hunk, s->n + 1, sizeof(*s->hunk));
	s->hunk[s->n++] = (struct patch_hunk){ strtoul(line + 4, NULL, 10),
					       xstrndup(line, strcspn(line, "\r")) };
	return true;
}

static void take_body(struct parser *a, char mark)
{
	if (a->old_n && mark != '+' && mark != '\\')
		a->old_n--;
	if (a->new_n && mark != '-' && mark != '\\')
		a->new_n--;
}

static void take_source(struct parser *a, const char *line)
{
	static const char *const marks[] = { "rename from ", "copy from " };

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (str_starts(line, marks[i])) {
			cleanup_free char *name = file_name(line + strlen(marks[i]));

			strbuf_add(&a->p->sources, name, strlen(name) + 1);
		}
}

static bool is_encoding(const char *line)
{
	static const char field[] = "content-transfer-encoding:";

	if (strncasecmp(line, field, strlen(field)) != 0)
		return false;
	line += strlen(field);
	line += strspn(line, " \t");
	return !strncasecmp(line, "base64", 6) || !strncasecmp(line, "quoted-printable", 16);
}

static void take_line(struct parser *a, const char *line)
{
	if (a->old_n || a->new_n) {
		take_body(a, *line);
	} else if (str_starts(line, "diff ")) {
		a->section = NULL;
	} else if (str_starts(line, "--- ")) {
		free(a->old_name);
		a->old_name = file_name(line + 4);
	} else if (str_starts(line, "+++ ") && a->old_name) {
		begin_section(a, line + 4);
		a->p->crlf |= str_ends(line, "\r");
	} else if (!begin_hunk(a, line)) {
		take_source(a, line);
		a->p->encoded |= is_encoding(line);
	}
}

void patch_text_parse(const char *text, struct patch_text *p)
{
	struct parser a = { .p = p };

	*p = (struct patch_text){ 0 };
	while (*text) {
		size_t n = strcspn(text, "\n");
		cleanup_free char *line = xstrndup(text, n);

		take_line(&a, line);
		text += n + (text[n] == '\n');
	}
	free(a.old_name);
}

static void section_free(struct patch_section *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->hunk[i].header);
	free(s->hunk);
	free(s->old_name);
	free(s->new_name);
}

void patch_text_free(struct patch_text *p)
{
	for (size_t i = 0; i < p->n; i++)
		section_free(&p->item[i]);
	free(p->item);
	strbuf_free(&p->sources);
	*p = (struct patch_text){ 0 };
}

const char *patch_strip(const char *name)
{
	const char *slash = strchr(name, '/');

	return slash ? slash + strspn(slash, "/") : name;
}

const struct patch_section *patch_find(const struct patch_text *p, size_t from, const char *file)
{
	for (size_t i = from; i < p->n; i++)
		if (!strcmp(patch_strip(p->item[i].old_name), file) ||
		    !strcmp(patch_strip(p->item[i].new_name), file))
			return &p->item[i];
	return NULL;
}
