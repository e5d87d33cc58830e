// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/kselftest-mm/ktap.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A plan or number beyond this is noise: the largest test of mm has some 1500. */
#define NUMBER_MAX 100000

const char *const ktap_verdict_names[] = { "pass", "fail", "skip", "xfail", "xpass" };

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Without blanks at both ends, and printable: it is shown. */
static void copy_text(char *out, const char *text, size_t len)
{
	size_t n = 0;

	while (len && isspace((unsigned char)*text))
		text++, len--;
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	for (; n < len && n + 1 < KTAP_TEXT_MAX; n++)
		out[n] = isprint((unsigned char)text[n]) ? text[n] : '?';
	out[n] = '\0';
}

static void set_text(char *out, const char *text)
{
	copy_text(out, text, strlen(text));
}

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t");
}

/* "12" and what follows; false: no number, or one that cannot be meant. */
static bool take_number(const char **p, unsigned int *n)
{
	unsigned long value;
	char *end;

	if (!isdigit((unsigned char)**p))
		return false;
	value = strtoul(*p, &end, 10);
	if (value > NUMBER_MAX)
		return false;
	*n = (unsigned int)value;
	*p = end;
	return true;
}

/* ---- ok, not ok ---- */

struct directive {
	const char *word;
	enum ktap_verdict when_ok, when_not;
};

/* The test says so itself: "not ok 3 # SKIP" is no failure, as kselftest.h and TAP have it. */
static const struct directive directives[] = {
	{ "SKIP", KTAP_SKIP, KTAP_SKIP },
	{ "XFAIL", KTAP_XFAIL, KTAP_XFAIL },
	{ "TODO", KTAP_XPASS, KTAP_XFAIL },
	{ "XPASS", KTAP_XPASS, KTAP_XPASS },
	{ "error", KTAP_PASS, KTAP_FAIL },
};

/* The first "# WORD" of the line that is a directive: a name may have a '#' of its own. */
static const struct directive *find_directive(const char *text, const char **at, const char **rest)
{
	for (const char *p = strchr(text, '#'); p; p = strchr(p + 1, '#')) {
		const char *word = skip_blanks(p + 1);

		for (size_t i = 0; i < sizeof(directives) / sizeof(directives[0]); i++) {
			size_t n = strlen(directives[i].word);

			if (strncasecmp(word, directives[i].word, n) != 0 ||
			    isalnum((unsigned char)word[n]))
				continue;
			*at = p;
			*rest = word + n;
			return &directives[i];
		}
	}
	return NULL;
}

static void set_context(const struct ktap *k, bool indented, char *out)
{
	set_text(out, indented && *k->subtest ? k->subtest : *k->run ? k->run : k->info);
}

/* p: behind "ok" or "not ok". */
static void take_result(struct ktap *k, const char *p, bool ok, bool indented)
{
	struct ktap_result r = { .verdict = ok ? KTAP_PASS : KTAP_FAIL };
	const struct directive *d;
	const char *at, *rest;

	p = skip_blanks(p);
	if (!take_number(&p, &r.number))
		r.number = k->next;
	k->next = r.number + 1;
	p = skip_blanks(p);
	if (*p == '-' && (p[1] == ' ' || !p[1]))
		p = skip_blanks(p + 1);
	d = find_directive(p, &at, &rest);
	copy_text(r.name, p, d ? (size_t)(at - p) : strlen(p));
	if (d) {
		r.verdict = ok ? d->when_ok : d->when_not;
		set_text(r.reason, rest + strspn(rest, " \t:"));
	}
	set_context(k, indented, r.context);
	/* What stands behind SKIP is the name again, and the reason was said before. */
	if (!*r.name && *r.context && strcmp(r.reason, r.context) == 0) {
		set_text(r.name, r.reason);
		*r.reason = '\0';
	}
	if (r.verdict != KTAP_PASS && !*r.reason)
		set_text(r.reason, k->diagnostic);
	k->count[r.verdict]++;
	*k->diagnostic = *k->info = '\0';
	if (k->result)
		k->result(k->arg, &r);
}

/* ---- lines ---- */

static void take_plan(struct ktap *k, const char *line)
{
	const char *p = line + strlen("1..");
	unsigned int n;

	if (k->planned || !take_number(&p, &n))
		return;
	k->planned = true;
	k->plan = n;
	p = skip_blanks(p);
	if (n == 0 && *p == '#') {
		p = skip_blanks(p + 1);
		if (strncasecmp(p, "SKIP", 4) == 0)
			p += 4;
		set_text(k->bail, p);
	}
}

/* Of the harness's own lines about a test, none tells why it failed. */
static bool says_nothing(const char *text)
{
	static const char *const words[] = { "RUN ", "OK ", "FAIL ", "SKIP ", "Totals:", "Planned tests" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (begins(text, words[i]))
			return true;
	return strstr(text, ": Test failed") || strstr(text, ": Test terminated by assertion");
}

static void take_comment(struct ktap *k, const char *text)
{
	text = skip_blanks(text);
	if (begins(text, "[RUN]"))
		set_text(k->run, text + strlen("[RUN]"));
	else if (begins(text, "[INFO]"))
		set_text(k->info, text + strlen("[INFO]"));
	else if (begins(text, "Subtest:"))
		set_text(k->subtest, text + strlen("Subtest:"));
	else if (*text && !says_nothing(text))
		set_text(k->diagnostic, text);
}

/* Is it "ok" as a word? "okay" and "ok_then" are not. */
static bool is_word(const char *p, const char *word)
{
	size_t n = strlen(word);

	return strncmp(p, word, n) == 0 && (!p[n] || p[n] == ' ' || p[n] == '\t');
}

static void take_line(struct ktap *k)
{
	const char *p = skip_blanks(k->line);
	bool indented = p != k->line;

	if (is_word(p, "ok"))
		take_result(k, p + 2, true, indented);
	else if (is_word(p, "not ok"))
		take_result(k, p + strlen("not ok"), false, indented);
	else if (begins(p, "1..") && !indented)
		take_plan(k, p);
	else if (begins(p, "Bail out!"))
		set_text(k->bail, p + strlen("Bail out!"));
	else if (*p == '#')
		take_comment(k, p + 1);
	else if (*p && !begins(p, "TAP version") && !begins(p, "KTAP version"))
		set_text(k->diagnostic, p);
	if (*p && !(*p == '#' && says_nothing(skip_blanks(p + 1))))
		set_text(k->last, *p == '#' ? p + 1 : p);
}

static void finish_line(struct ktap *k)
{
	k->line[k->len] = '\0';
	take_line(k);
	k->len = 0;
}

void ktap_begin(struct ktap *k, void (*result)(void *arg, const struct ktap_result *r), void *arg)
{
	*k = (struct ktap){ .result = result, .arg = arg, .next = 1 };
}

void ktap_feed(struct ktap *k, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (data[i] == '\n')
			finish_line(k);
		else if (data[i] && k->len + 1 < KTAP_LINE_MAX)
			k->line[k->len++] = data[i];
	}
}

void ktap_end(struct ktap *k)
{
	if (k->len)
		finish_line(k);
}

unsigned int ktap_results(const struct ktap *k)
{
	unsigned int n = 0;

	for (int v = 0; v < KTAP_VERDICTS; v++)
		n += k->count[v];
	return n;
}
