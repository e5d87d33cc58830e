// SPDX-License-Identifier: GPL-2.0-only
#include "results/util/str.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "results/util/cleanup.h"
#include "results/verdict.h"

static void *checked(void *p)
{
	if (!p) {
		fputs("mmrig: out of memory\n", stderr);
		abort();
	}
	return p;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size ? size : 1));
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	return checked(reallocarray(p, n ? n : 1, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *xstrndup(const char *s, size_t n)
{
	return checked(strndup(s, n));
}

char *str_vprintf(const char *fmt, va_list ap)
{
	char *s;

	if (vasprintf(&s, fmt, ap) < 0)
		checked(NULL);
	return s;
}

char *str_printf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = str_vprintf(fmt, ap);
	va_end(ap);
	return s;
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && strcmp(s + n - m, suffix) == 0;
}

void strbuf_add(struct strbuf *sb, const void *data, size_t len)
{
	if (sb->len + len + 1 > sb->room) {
		size_t room = sb->room ? sb->room : 64;

		while (room < sb->len + len + 1)
			room *= 2;
		sb->data = xreallocarray(sb->data, room, 1);
		sb->room = room;
	}
	if (len)
		memcpy(sb->data + sb->len, data, len);
	sb->len += len;
	sb->data[sb->len] = '\0';
}

void strbuf_adds(struct strbuf *sb, const char *s)
{
	strbuf_add(sb, s, strlen(s));
}

void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
{
	cleanup_free char *s = NULL;
	va_list ap;

	va_start(ap, fmt);
	s = str_vprintf(fmt, ap);
	va_end(ap);
	strbuf_adds(sb, s);
}

void strbuf_add_quoted(struct strbuf *sb, const char *word)
{
	if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"0123456789_-+=:,./@%")]) {
		strbuf_adds(sb, word);
		return;
	}
	strbuf_adds(sb, "'");
	for (; *word; word++) {
		if (*word == '\'')
			strbuf_adds(sb, "'\\''");
		else
			strbuf_add(sb, word, 1);
	}
	strbuf_adds(sb, "'");
}

void strbuf_free(struct strbuf *sb)
{
	free(sb->data);
	*sb = (struct strbuf)STRBUF_INIT;
}

char *strbuf_steal(struct strbuf *sb)
{
	char *s = sb->data ? sb->data : xstrdup("");

	*sb = (struct strbuf)STRBUF_INIT;
	return s;
}

static int unit_shift(const char *unit)
{
	static const char units[] = "KMGT";
	const char *u;

	if (!*unit || strcasecmp(unit, "b") == 0)
		return 0;
	u = strchr(units, toupper((unsigned char)*unit));
	if (!u)
		return -1;
	unit++;
	if (*unit && strcasecmp(unit, "b") != 0 && strcasecmp(unit, "ib") != 0)
		return -1;
	return 10 * (int)(u - units + 1);
}

int str_parse_bytes(const char *s, uint64_t *bytes, struct error *err)
{
	char *end, *frac_end;
	uint64_t whole, frac = 0, frac_scale = 1;
	bool too_much;
	int shift;

	errno = 0;
	whole = isdigit((unsigned char)*s) ? strtoull(s, &end, 10) : 0;
	if (!isdigit((unsigned char)*s))
		goto bad;
	too_much = errno == ERANGE;
	if (*end == '.') {
		if (!isdigit(
			    (unsigned char)end[1])) /* strtoull would skip blanks and take a sign */
			goto bad;
		frac = strtoull(end + 1, &frac_end, 10);
		if (frac_end - end > 10)
			goto bad;
		for (const char *p = end + 1; p < frac_end; p++)
			frac_scale *= 10;
		end = frac_end;
	}
	shift = unit_shift(end);
	if (shift < 0 || (!shift && frac))
		goto bad;
	if (too_much || (shift && whole >> (64 - shift)))
		return error_set(err, EXIT_USAGE, "\"%s\" is more than any machine can have", s);
	*bytes = (whole << shift) + (uint64_t)(((unsigned __int128)frac << shift) / frac_scale);
	return 0;
bad:
	return error_set(
		err, EXIT_USAGE,
		"\"%s\" is not a size; write bytes or a number with K, M, G or T, as in 512M", s);
}

char *str_format_bytes(uint64_t bytes)
{
	static const char units[] = "TGMK";

	for (int i = 0; units[i]; i++) {
		int shift = 40 - 10 * i;

		if (bytes && !(bytes & ((1ULL << shift) - 1)))
			return str_printf("%" PRIu64 "%c", bytes >> shift, units[i]);
	}
	return str_printf("%" PRIu64, bytes);
}

int str_parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *value, struct error *err)
{
	char *end = NULL;

	errno = 0;
	if (isdigit((unsigned char)*s))
		*value = strtoull(s, &end, 10);
	if (!end || *end || errno)
		return error_set(err, EXIT_USAGE, "\"%s\" is not a whole number", s);
	if (*value < min || *value > max)
		return error_set(err, EXIT_USAGE,
				 "%s is out of range; allowed are %" PRIu64 " to %" PRIu64, s, min,
				 max);
	return 0;
}

/* Optimal string alignment distance, case-insensitive; words are short, rows are on the stack. */
static size_t distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	size_t row[3][65];

	if (n > 64 || m > 64)
		return SIZE_MAX;
	for (size_t j = 0; j <= m; j++)
		row[1][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *prev2 = row[(i + 2) % 3], *prev = row[i % 3], *cur = row[(i + 1) % 3];

		cur[0] = i;
		for (size_t j = 1; j <= m; j++) {
			int ca = tolower((unsigned char)a[i - 1]),
			    cb = tolower((unsigned char)b[j - 1]);
			size_t best = prev[j - 1] + (ca != cb);

			if (prev[j] + 1 < best)
				best = prev[j] + 1;
			if (cur[j - 1] + 1 < best)
				best = cur[j - 1] + 1;
			if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
			    cb == tolower((unsigned char)a[i - 2]) && prev2[j - 2] + 1 < best)
				best = prev2[j - 2] + 1;
			cur[j] = best;
		}
	}
	return row[(n + 1) % 3][m];
}

const char *str_nearest(const char *word, const char *const *candidates, size_t n)
{
	size_t limit = strlen(word) / 3 ? strlen(word) / 3 : 1, best_distance = limit + 1;
	const char *best = NULL;

	for (size_t i = 0; i < n; i++) {
		size_t d = distance(word, candidates[i]);

		if (d < best_distance) {
			best_distance = d;
			best = candidates[i];
		}
	}
	return best;
}
