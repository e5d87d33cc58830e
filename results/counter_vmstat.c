// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "results/counter.h"
#include "results/util/cleanup.h"

/* Real files have about 200 rows; a hostile one shall not grow without bound. */
#define VMSTAT_ROWS_MAX 4096
#define ROWS_FIRST 256

enum { NO_KEY, KEY, BRACKET };

/* Which bytes a key is of. A table: this is the inner loop of every snapshot that is read. */
static const uint8_t key_class[256] = {
	['a' ... 'z'] = KEY, ['A' ... 'Z'] = KEY, ['0' ... '9'] = KEY,
	['_'] = KEY,	     ['('] = BRACKET,	  [')'] = BRACKET,
};

static uint32_t hash_step(uint32_t hash, char c)
{
	return (hash ^ (uint8_t)c) * 16777619u;
}

static uint32_t hash_end(uint32_t hash)
{
	return hash ^ hash >> 15;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

/* "key value": decimal, unsigned, in 64 bits, nothing else on the line. */
static bool parse_line(const char *p, const char *end, bool meminfo, struct vmstat_row *row,
		       uint32_t *hash)
{
	size_t n = 0;
	uint32_t h = 2166136261u;
	uint64_t value = 0;

	for (; p < end && n < sizeof(row->key) - 1; p++) {
		uint8_t class = key_class[(uint8_t)*p];

		if (class == NO_KEY || (class == BRACKET && !meminfo))
			break;
		row->key[n++] = *p;
		h = hash_step(h, *p);
	}
	row->key[n] = '\0';
	*hash = hash_end(h);
	if (meminfo && n && p < end && *p == ':')
		p++;
	if (!n || p == end || !blank(*p))
		return false;
	while (p < end && blank(*p))
		p++;
	while (end > p && (blank(end[-1]) || end[-1] == '\r'))
		end--;
	if (meminfo && end - p > 3 && memcmp(end - 3, " kB", 3) == 0)
		end -= 3;
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

/* The slot of the key: of its row, or the free one where it belongs. */
static uint16_t *slot_of(const struct vmstat *v, const char *key, uint32_t hash)
{
	size_t i = hash & (v->slots - 1);

	while (v->slot[i] && strcmp(v->row[v->slot[i] - 1].key, key) != 0)
		i = (i + 1) & (v->slots - 1);
	return &v->slot[i];
}

static uint32_t hash_of(const char *key)
{
	uint32_t h = 2166136261u;

	while (*key)
		h = hash_step(h, *key++);
	return hash_end(h);
}

/* Twice as many rows; four slots a row. */
static void grow(struct vmstat *v, size_t *room)
{
	*room = *room ? 2 * *room : ROWS_FIRST;
	v->row = xreallocarray(v->row, *room, sizeof(*v->row));
	free(v->slot);
	v->slots = 4 * *room;
	v->slot = xcalloc(v->slots, sizeof(*v->slot));
	for (size_t i = 0; i < v->n; i++)
		*slot_of(v, v->row[i].key, hash_of(v->row[i].key)) = (uint16_t)(i + 1);
}

static int parse(const void *data, size_t len, bool meminfo, struct vmstat *v)
{
	const char *p = data, *end = p + len, *newline;
	size_t room = 0;

	memset(v, 0, sizeof(*v));
	for (; p < end && v->n < VMSTAT_ROWS_MAX; p = newline + 1) {
		struct vmstat_row row;
		uint16_t *slot;
		uint32_t hash;

		newline = memchr(p, '\n', (size_t)(end - p));
		if (!newline)
			break;
		if (!parse_line(p, newline, meminfo, &row, &hash))
			continue;
		if (v->n == room)
			grow(v, &room);
		slot = slot_of(v, row.key, hash);
		if (*slot)
			continue;
		memcpy(v->row[v->n].key, row.key, strlen(row.key) + 1);
		v->row[v->n].value = row.value;
		*slot = (uint16_t)++v->n;
	}
	return v->n ? 0 : -1;
}

int vmstat_parse(const void *data, size_t len, struct vmstat *v)
{
	return parse(data, len, false, v);
}

int meminfo_parse(const void *data, size_t len, struct vmstat *v)
{
	return parse(data, len, true, v);
}

void vmstat_free(struct vmstat *v)
{
	free(v->row);
	free(v->slot);
	memset(v, 0, sizeof(*v));
}

const uint64_t *vmstat_get(const struct vmstat *v, const char *key)
{
	const uint16_t *slot = v->n ? slot_of(v, key, hash_of(key)) : NULL;

	return slot && *slot ? &v->row[*slot - 1].value : NULL;
}
