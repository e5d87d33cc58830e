// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <string.h>

#include "results/counter.h"
#include "results/util/cleanup.h"

#define ZONES_MAX 64 /* zones of all nodes */
#define ZONE_NAME_MAX 16

struct zone_sum {
	char name[ZONE_NAME_MAX];
	uint64_t node;
	double pages;
};

struct zone_sums {
	struct zone_sum zone[ZONES_MAX];
	size_t n;
};

#define NODE_MAX 9999
/* Of what is summed over nodes. */
#define ALL_NODES UINT64_MAX

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
static bool parse_line(struct cursor c, char name[ZONE_NAME_MAX], uint64_t *node, uint64_t *order0)
{
	skip_blanks(&c);
	if (!take_word(&c, "Node") || !take_count(&c, node) || *node > NODE_MAX || !take_word(&c, ",") ||
	    !take_word(&c, "zone"))
		return false;
	return take_zone(&c, name) && take_count(&c, order0);
}

static void add(struct zone_sums *sums, uint64_t node, const char *name, uint64_t pages)
{
	size_t i = 0;

	while (i < sums->n && (sums->zone[i].node != node || strcmp(sums->zone[i].name, name) != 0))
		i++;
	if (i == ZONES_MAX)
		return;
	if (i == sums->n) {
		strcpy(sums->zone[i].name, name);
		sums->zone[i].node = node;
		sums->n++;
	}
	sums->zone[i].pages += (double)pages;
}

static void set_metric(struct run *r, const struct zone_sum *z)
{
	cleanup_free char *metric =
		z->node == ALL_NODES ?
			str_printf("free_order0_%s", z->name) :
			str_printf("free_order0_node%" PRIu64 "_%s", z->node, z->name);

	run_set_metric(r, metric, z->pages);
}

static bool has_nodes(const struct zone_sums *apart)
{
	for (size_t i = 1; i < apart->n; i++)
		if (apart->zone[i].node != apart->zone[0].node)
			return true;
	return false;
}

void counter_buddyinfo(const void *data, size_t len, struct run *r)
{
	const char *p = data, *end = p + len;
	struct zone_sums all = { 0 }, apart = { 0 };
	double total = 0;

	while (p < end) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		struct cursor line = { p, newline ? newline : end };
		char name[ZONE_NAME_MAX];
		uint64_t node, order0;

		if (parse_line(line, name, &node, &order0)) {
			add(&all, ALL_NODES, name, order0);
			add(&apart, node, name, order0);
		}
		p = line.end + 1;
	}
	if (!all.n)
		return;
	for (size_t i = 0; i < all.n; i++)
		total += all.zone[i].pages;
	run_set_metric(r, "free_pages_order0", total);
	for (size_t i = 0; i < all.n; i++)
		set_metric(r, &all.zone[i]);
	for (size_t i = 0; has_nodes(&apart) && i < apart.n; i++)
		set_metric(r, &apart.zone[i]);
}
