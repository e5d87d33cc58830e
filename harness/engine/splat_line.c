// SPDX-License-Identifier: GPL-2.0-only
/* What dmesg, printk, journald, syslog and netconsole put before a message. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "harness/engine/splat_impl.h"
#include "results/util/str.h"

static size_t digits(const char *p)
{
	return strspn(p, "0123456789");
}

/* `what` with '0' for any digit, '_' for a digit or a blank, '~' for any letter. */
static bool shaped(const char *p, const char *what)
{
	for (; *what; p++, what++) {
		bool ok = *what == '0' ? isdigit((unsigned char)*p) :
			  *what == '_' ? isdigit((unsigned char)*p) || *p == ' ' :
			  *what == '~' ? isalpha((unsigned char)*p) :
					 *p == *what;

		if (!ok)
			return false;
	}
	return true;
}

/* "12.345678]" behind "[" and blanks: its end, or NULL. */
static const char *stamp_end(const char *p, uint64_t *us)
{
	size_t n = digits(p), f;
	uint64_t fraction = 0;

	if (!n || n > 12 || p[n] != '.')
		return NULL;
	f = digits(p + n + 1);
	if (!f || f > 9)
		return NULL;
	for (size_t i = 0; i < 6; i++)
		fraction = fraction * 10 + (i < f ? (uint64_t)(p[n + 1 + i] - '0') : 0);
	if (us)
		*us = strtoull(p, NULL, 10) * 1000000u + fraction;
	p += n + 1 + f;
	p += strspn(p, " ");
	return *p == ']' ? p + 1 : NULL;
}

bool splat_line_has_inner_stamp(const char *message)
{
	for (const char *p = strchr(message, '['); p; p = strchr(p + 1, '[')) {
		const char *q = p + 1 + strspn(p + 1, " "), *dot = strchr(q, '.');

		if (dot && digits(dot + 1) == 6 && stamp_end(q, NULL))
			return true;
	}
	return false;
}

/* "[   12.345678]", "[  T123]", "[    C0]", "[Mon Nov 30 17:12:32 2026]". */
static const char *bracket(const char *p, struct splat_line *l)
{
	const char *q = p + 1 + strspn(p + 1, " "), *end;
	uint64_t us;

	if (*q == 'T' || *q == 'C') {
		size_t n = digits(q + 1);

		if (n && n < 12 && q[1 + n] == ']') {
			l->caller = *q;
			l->caller_id = strtoull(q + 1, NULL, 10);
			return q + n + 2;
		}
	}
	if (shaped(p, "[~~~ ~~~ _0 00:00:00 0000]"))
		return p + strlen("[~~~ ~~~ _0 00:00:00 0000]");
	end = stamp_end(q, &us);
	if (end) {
		l->has_stamp = true;
		l->stamp_us = us;
	}
	return end;
}

/* "6,4013,1349956262,-;" and with more fields before the semicolon. */
static const char *netconsole(const char *p, struct splat_line *l)
{
	size_t level = digits(p), seq, us;
	const char *s = p + level + 1, *t, *end;

	if (!level || level > 3 || p[level] != ',')
		return NULL;
	seq = digits(s);
	if (!seq || seq > 18 || s[seq] != ',')
		return NULL;
	t = s + seq + 1;
	us = digits(t);
	if (!us || us > 18 || t[us] != ',' || !strchr("-c+", t[us + 1]) || !t[us + 1])
		return NULL;
	end = strchr(t + us, ';');
	if (!end)
		return NULL;
	l->has_sequence = l->has_stamp = true;
	l->sequence = strtoull(s, NULL, 10);
	l->stamp_us = strtoull(t, NULL, 10);
	return end + 1;
}

/* Behind a daemon's time: "HOST kernel: ", or "HOST " and a message of netconsole. */
static const char *host_part(const char *p)
{
	size_t host = strcspn(p, " ");
	const char *q = p + host;

	if (!host || *q != ' ')
		return NULL;
	if (str_starts(q + 1, "kernel: "))
		return q + 1 + strlen("kernel: ");
	return digits(q + 1) && q[1 + digits(q + 1)] == ',' ? q + 1 : NULL;
}

/* "Nov 30 17:12:32 ", "2026-11-30T17:12:32.123456+01:00 ", "2026-11-30 17:12:32 ". */
static const char *daemon_time(const char *p)
{
	const char *q = p, *host;

	if (shaped(p, "~~~ _0 00:00:00 "))
		return host_part(p + strlen("~~~ _0 00:00:00 "));
	if (!shaped(p, "0000-00-00T00:00:00") && !shaped(p, "0000-00-00 00:00:00"))
		return NULL;
	q += strlen("0000-00-00T00:00:00");
	if (*q == '.' || *q == ',')
		q += 1 + digits(q + 1);
	if (*q == 'Z')
		q++;
	else if ((*q == '+' || *q == '-') && (shaped(q + 1, "00:00") || shaped(q + 1, "0000")))
		q += q[3] == ':' ? 6 : 5;
	if (*q != ' ')
		return NULL;
	host = host_part(q + 1);
	return host ? host : q + 1;
}

/* "<4>" */
static const char *level(const char *p)
{
	size_t n = digits(p + 1);

	return n && n < 4 && p[1 + n] == '>' ? p + n + 2 : NULL;
}

/* "kern  :warn  : ", as dmesg -x has it. */
static const char *facility(const char *p)
{
	const char *q = p + strlen("kern");

	if (!str_starts(p, "kern "))
		return NULL;
	q += strspn(q, " ");
	if (*q != ':')
		return NULL;
	q += 1 + strspn(q + 1, "abcdefghijklmnopqrstuvwxyz");
	q += strspn(q, " ");
	return *q == ':' ? q + 1 : NULL;
}

void splat_line_parse(const char *line, struct splat_line *l)
{
	const char *p = line, *next;

	memset(l, 0, sizeof(*l));
	for (int i = 0; i < 8; i++) {
		const char *q = p + strspn(p, " ");

		next = *q == '<' ? level(q) : *q == '[' ? bracket(q, l) : NULL;
		if (!next && isdigit((unsigned char)*q))
			next = netconsole(q, l);
		if (!next && isalnum((unsigned char)*q))
			next = daemon_time(q);
		if (!next)
			next = facility(q);
		if (!next)
			break;
		p = next;
	}
	l->message = p + strspn(p, " \t");
	/* One blank parts the message from its prefix; netconsole and a bare line have none. */
	l->indented = l->message - p > (p == line || p[-1] == ';' || p[-1] == ' ' ? 0 : 1);
}
