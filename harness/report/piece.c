// SPDX-License-Identifier: GPL-2.0-only
/* What mails and logs put before a line. */
#include <ctype.h>
#include <string.h>

#include "harness/engine/splat_impl.h"
#include "harness/report/memreport_impl.h"

/* "> ", ">>>> ", "| " of a mail; ">100000" is a count. */
static const char *skip_quotes(const char *s)
{
	for (;;) {
		const char *q = s + strspn(s, " ");

		if ((*q != '>' && *q != '|') || isdigit((unsigned char)q[1]))
			return s;
		s = q + 1;
		if (*s == ' ')
			s++;
	}
}

/* What is left of "Mar 26 12:32:25 kernel: " and other daemons' forms, which have no host. */
static const char *skip_daemon(const char *s)
{
	static const char months[] = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec ";
	char month[5] = { 0 };
	const char *kernel;

	strncpy(month, s, 4);
	if (strlen(month) < 4 || month[3] != ' ' || !strstr(months, month))
		return NULL;
	kernel = strstr(s, "kernel: ");
	return kernel && kernel - s < 80 ? kernel + strlen("kernel: ") : NULL;
}

void piece_strip(const char *text, struct piece *p)
{
	struct splat_line l;
	const char *unquoted = skip_quotes(text), *rest;

	splat_line_parse(unquoted, &l);
	rest = skip_daemon(l.message);
	p->prefixed = rest || l.message - unquoted > (long)strspn(unquoted, " ");
	if (rest)
		splat_line_parse(rest, &l);
	p->text = l.message;
	p->indented = l.indented;
	p->has_stamp = l.has_stamp;
	p->stamp_us = l.stamp_us;
}

char *piece_find_stamp(char *s)
{
	for (s = strchr(s, '['); s; s = strchr(s + 1, '[')) {
		const char *q = s + 1 + strspn(s + 1, " ");
		size_t seconds = strspn(q, "0123456789");

		if (seconds && seconds < 12 && q[seconds] == '.' &&
		    strspn(q + seconds + 1, "0123456789") == 6 && q[seconds + 7] == ']')
			return s;
	}
	return NULL;
}
