// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "results/counter.h"
#include "results/util/cleanup.h"

#define ZONES_MAX 16
#define ZONE_NAME_MAX 16

struct zone_sum {
	char name[ZONE_NAME_MAX];
	double pages;
};

struct cursor {
	const char *p, *end;
};

static void skip_blanks(struct cursor *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t'))
		c->p++;
}

static bool take_word(struct cursor *c, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0)
		return false;
	c->p += n;
	skip_blanks(c);
	return true;
}

static bool take_count(struct cursor *c, uint64_t *value)
{
	const char *start = c->p;

	*value = 0;
	for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(*c->p - '0'), value))
			return false;
	return c->p > start && (c->p == c->end || strchr(" \t\r,", *c->p));
}

static bool take_zone(struct cursor *c, char name[ZONE_NAME_MAX])
{
	size_t n = 0;

	for (; c->p < c->end && *c->p != ' ' && *c->p != '\t'; c->p++) {
		char ch = *c->p;
		bool good = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
			    (ch >= '0' && ch <= '9');

		if (!good || n == ZONE_NAME_MAX - 1)
			return false;
		name[n++] = ch;
	}
	name[n] = '\0';
	skip_blanks(c);
	return n > 0;
}

/* "Node 0, zone   Normal   836  296 ...": only the first count is of interest. */
static bool parse_line(struct cursor c, char name[ZONE_NAME_MAX], uint64_t *order0)
{
	uint64_t node;

	skip_blanks(&c);
	if (!take_word(&c, "Node") || !take_count(&c, &node) || !take_word(&c, ",") ||
	    !take_word(&c, "zone"))
		return false;
	return take_zone(&c, name) && take_count(&c, order0);
}

static struct zone_sum *zone_of(struct zone_sum *zone, size_t *n, const char *name)
{
	for (size_t i = 0; i < *n; i++)
		if (strcmp(zone[i].name, name) == 0)
			return &zone[i];
	if (*n == ZONES_MAX)
		return NULL;
	strcpy(zone[*n].name, name);
	return &zone[(*n)++];
}

void counter_buddyinfo(const void *data, size_t len, struct run *r)
{
	const char *p = data, *end = p + len;
	struct zone_sum zone[ZONES_MAX] = { 0 };
	size_t nzones = 0;
	double total = 0;

	while (p < end) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		struct cursor line = { p, newline ? newline : end };
		char name[ZONE_NAME_MAX];
		uint64_t order0;

		if (parse_line(line, name, &order0)) {
			struct zone_sum *z = zone_of(zone, &nzones, name);

			if (z) {
				z->pages += (double)order0;
				total += (double)order0;
			}
		}
		p = line.end + 1;
	}
	if (!nzones)
		return;
	run_set_metric(r, "free_pages_order0", total);
	for (size_t i = 0; i < nzones; i++) {
		cleanup_free char *metric = str_printf("free_order0_%s", zone[i].name);

		run_set_metric(r, metric, zone[i].pages);
	}
}
