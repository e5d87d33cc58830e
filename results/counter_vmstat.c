// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "results/counter.h"
#include "results/util/cleanup.h"

/* Real files have about 200 rows; a hostile one shall not grow without bound. */
#define VMSTAT_ROWS_MAX 4096

static bool key_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* "key value": decimal, unsigned, in 64 bits, nothing else on the line. */
static bool parse_line(const char *p, const char *end, struct vmstat_row *row)
{
	size_t n = 0;
	uint64_t value = 0;

	while (p < end && key_char(*p) && n < sizeof(row->key) - 1)
		row->key[n++] = *p++;
	row->key[n] = '\0';
	if (!n || p == end || (*p != ' ' && *p != '\t'))
		return false;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	while (end > p && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	if (p == end)
		return false;
	for (; p < end; p++) {
		if (*p < '0' || *p > '9' || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return false;
	}
	row->value = value;
	return true;
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct vmstat_row *)a)->key, ((const struct vmstat_row *)b)->key);
}

/* A second row of the same key is no better than the first: the first that was read stands. */
static bool seen(const struct vmstat *v, const char *key)
{
	for (size_t i = 0; i < v->n; i++)
		if (strcmp(v->row[i].key, key) == 0)
			return true;
	return false;
}

int vmstat_parse(const void *data, size_t len, struct vmstat *v)
{
	const char *p = data, *end = p + len;
	size_t room = 0;

	v->row = NULL;
	v->n = 0;
	while (p < end && v->n < VMSTAT_ROWS_MAX) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		const char *stop = newline ? newline : end;
		struct vmstat_row row;

		if (parse_line(p, stop, &row) && !seen(v, row.key)) {
			if (v->n == room) {
				room = room ? 2 * room : 256;
				v->row = xreallocarray(v->row, room, sizeof(*v->row));
			}
			v->row[v->n++] = row;
		}
		p = stop + 1;
	}
	if (v->n)
		qsort(v->row, v->n, sizeof(*v->row), by_key);
	return v->n ? 0 : -1;
}

void vmstat_free(struct vmstat *v)
{
	free(v->row);
	v->row = NULL;
	v->n = 0;
}

const uint64_t *vmstat_get(const struct vmstat *v, const char *key)
{
	size_t lo = 0, hi = v->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int order = strcmp(key, v->row[mid].key);

		if (order == 0)
			return &v->row[mid].value;
		if (order < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}
