/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_REPORT_FIXTURE_H
#define MMRIG_REPORT_FIXTURE_H
/* For the unit tests of reports, after cmocka.h: pages, and whether they are well-formed. */
#include <ctype.h>
#include <string.h>

#include "results/report_internal.h"
#include "results/store_fixture.h"

struct xml {
	const char *at;
	char open[64][24]; /* elements that are not closed yet */
	size_t depth;
};

static inline void xml_fail(const struct xml *x, const char *what)
{
	fail_msg("not well-formed: %s: %.60s", what, x->at);
}

/* Only what XML itself knows, and numbers. */
static inline void xml_entity(struct xml *x)
{
	static const char *const known[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;" };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (!str_starts(x->at, known[i]))
			continue;
		x->at += strlen(known[i]);
		return;
	}
	xml_fail(x, "entity");
}

static inline void xml_name(struct xml *x, char *name, size_t size)
{
	size_t n = strspn(x->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-:");

	if (!n || n >= size)
		xml_fail(x, "name");
	memcpy(name, x->at, n);
	name[n] = '\0';
	x->at += n;
}

static inline void xml_attributes(struct xml *x)
{
	char name[32];

	while (*x->at == ' ' || *x->at == '\n') {
		x->at++;
		xml_name(x, name, sizeof(name));
		if (str_starts(name, "on") || strcmp(name, "href") == 0) {
			if (!str_starts(x->at, "=\"#"))
				xml_fail(x, "an attribute that acts");
		}
		if (!str_starts(x->at, "=\""))
			xml_fail(x, "attribute");
		for (x->at += 2; *x->at != '"';) {
			if (*x->at == '<' || !*x->at)
				xml_fail(x, "attribute's value");
			if (*x->at == '&')
				xml_entity(x);
			else
				x->at++;
		}
		x->at++;
	}
}

static inline void xml_tag(struct xml *x)
{
	char name[24];

	if (x->at[1] == '/') {
		x->at += 2;
		xml_name(x, name, sizeof(name));
		if (!x->depth || strcmp(x->open[--x->depth], name) != 0 || *x->at++ != '>')
			xml_fail(x, name);
		return;
	}
	x->at++;
	if (x->depth == ARRAY_SIZE(x->open))
		xml_fail(x, "depth");
	xml_name(x, x->open[x->depth++], sizeof(x->open[0]));
	if (strcasecmp(x->open[x->depth - 1], "script") == 0)
		xml_fail(x, "script");
	xml_attributes(x);
	if (str_starts(x->at, "/>")) {
		x->depth--;
		x->at++;
	}
	if (*x->at++ != '>')
		xml_fail(x, "tag");
}

/* Every element closed, every attribute quoted, no script, nothing that follows a link elsewhere. */
static inline void expect_well_formed(const char *page)
{
	static const char doctype[] = "<!DOCTYPE html>\n";
	struct xml x = { .at = page };

	assert_true(str_starts(page, doctype));
	for (x.at += strlen(doctype); *x.at;) {
		if (*x.at == '<')
			xml_tag(&x);
		else if (*x.at == '&')
			xml_entity(&x);
		else if ((unsigned char)*x.at < 0x20 && *x.at != '\n' && *x.at != '\t')
			xml_fail(&x, "control character");
		else
			x.at++;
	}
	assert_int_equal(x.depth, 0);
}

static inline void expect_has(const char *page, const char *what)
{
	if (!strstr(page, what))
		fail_msg("the page lacks \"%s\"", what);
}

static inline void expect_lacks(const char *page, const char *what)
{
	const char *at = strcasestr(page, what);

	if (at)
		fail_msg("the page has \"%s\": %.80s", what, at > page + 20 ? at - 20 : at);
}

/* Where `what` is, behind `from`. */
static inline const char *expect_behind(const char *from, const char *what)
{
	const char *at = strstr(from, what);

	if (!at)
		fail_msg("not behind it: \"%s\"", what);
	return at + strlen(what);
}

static inline void need_gnuplot(void)
{
	cleanup_free char *path = xstrdup(getenv("PATH") ? getenv("PATH") : "");

	for (char *save, *dir = strtok_r(path, ":", &save); dir; dir = strtok_r(NULL, ":", &save)) {
		cleanup_free char *program = str_printf("%s/gnuplot", dir);

		if (access(program, X_OK) == 0)
			return;
	}
	fail_msg("gnuplot is not in PATH; run: make deps");
}

#endif
