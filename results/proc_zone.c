// SPDX-License-Identifier: GPL-2.0-only
/* zoneinfo, pressure and slabinfo. */
#include "results/proc.h"

#include <stdlib.h>

#include "results/proc_cursor.h"
#include "results/util/str.h"

/* ---- zoneinfo ---- */

static const struct {
	const char *word;
	enum zone_field field;
} zone_words[] = {
	{ "pages free", ZONE_FREE }, { "min", ZONE_MIN },
	{ "low", ZONE_LOW },	     { "high", ZONE_HIGH },
	{ "boost", ZONE_BOOST },     { "spanned", ZONE_SPANNED },
	{ "present", ZONE_PRESENT }, { "managed", ZONE_MANAGED },
	{ "count:", ZONE_PCP },	     { "nr_free_pages_blocks", ZONE_FREE_BLOCKS },
};

/* "managed  18446744073709533486" is true, of a kernel that miscounted, and below zero. */
static void take_field(struct zone_row *z, enum zone_field field, uint64_t value)
{
	if (value >> 63)
		return;
	if (field == ZONE_PCP && value > INT64_MAX - z->value[field])
		return;
	if (field == ZONE_PCP)
		z->value[field] += value;
	else if (!(z->have >> field & 1))
		z->value[field] = value;
	z->have |= 1u << field;
}

static void take_zone_line(struct zone_row *z, struct cursor line)
{
	for (size_t i = 0; i < sizeof(zone_words) / sizeof(zone_words[0]); i++) {
		struct cursor c = line;
		uint64_t value;

		if (!cursor_take(&c, zone_words[i].word) || c.p == c.end ||
		    (*c.p != ' ' && *c.p != '\t'))
			continue;
		if (cursor_number(&c, &value) && cursor_at_end(&c))
			take_field(z, zone_words[i].field, value);
		return;
	}
}

static struct zone_row *zone_begin(struct zone_table *t, unsigned int node, const char *zone)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->row[i].node == node && strcmp(t->row[i].zone, zone) == 0)
			return NULL;
	if (t->n >= PROC_ROWS_MAX)
		return NULL;
	if ((t->n & (t->n - 1)) == 0)
		t->row = xreallocarray(t->row, t->n ? 2 * t->n : 1, sizeof(*t->row));
	memset(&t->row[t->n], 0, sizeof(*t->row));
	t->row[t->n].node = node;
	strcpy(t->row[t->n].zone, zone);
	return &t->row[t->n++];
}

int zoneinfo_parse(const void *data, size_t len, struct zone_table *t)
{
	struct cursor text = { data, (const char *)data + len }, line;
	struct zone_row *zone = NULL;
	bool whole;

	memset(t, 0, sizeof(*t));
	while (cursor_line(&text, &line, &whole) && whole) {
		struct cursor c = line;
		char name[PROC_NAME_MAX];
		unsigned int node;

		if (cursor_zone(&c, &node, name))
			zone = zone_begin(t, node, name);
		else if (zone)
			take_zone_line(zone, line);
	}
	return t->n ? 0 : -1;
}

void zone_table_free(struct zone_table *t)
{
	free(t->row);
	memset(t, 0, sizeof(*t));
}

/* ---- pressure ---- */

int psi_parse(const void *data, size_t len, struct psi *p)
{
	struct cursor text = { data, (const char *)data + len }, line;
	bool whole;

	memset(p, 0, sizeof(*p));
	while (cursor_line(&text, &line, &whole) && whole) {
		bool some = cursor_take(&line, "some "),
		     full = !some && cursor_take(&line, "full ");
		uint64_t us;

		if (!some && !full)
			continue;
		while (line.p < line.end && !cursor_take(&line, "total="))
			line.p++;
		if (line.p == line.end || !cursor_number(&line, &us) || !cursor_at_end(&line))
			continue;
		if (some) {
			p->some_known = true;
			p->some_us = us;
		} else {
			p->full_known = true;
			p->full_us = us;
		}
	}
	return p->some_known || p->full_known ? 0 : -1;
}

/* ---- slabinfo ---- */

/* "name active num objsize perslab pagesperslab : tunables ... : slabdata active num shared". */
static bool take_cache(struct cursor c, struct slab_totals *t)
{
	uint64_t active, num, objsize, perslab, pages, slabs, n[4];

	cursor_skip_blanks(&c);
	if (c.p == c.end || *c.p == '#')
		return false;
	while (c.p < c.end && *c.p != ' ' && *c.p != '\t')
		c.p++;
	if (!cursor_number(&c, &active) || !cursor_number(&c, &num) ||
	    !cursor_number(&c, &objsize) || !cursor_number(&c, &perslab) ||
	    !cursor_number(&c, &pages) || !cursor_take(&c, ":") || !cursor_take(&c, "tunables"))
		return false;
	for (int i = 0; i < 3; i++)
		if (!cursor_number(&c, &n[i]))
			return false;
	if (!cursor_take(&c, ":") || !cursor_take(&c, "slabdata") || !cursor_number(&c, &n[3]) ||
	    !cursor_number(&c, &slabs))
		return false;
	t->caches++;
	t->objects += (double)active;
	t->used_bytes += (double)active * (double)objsize;
	t->size_bytes += (double)num * (double)objsize;
	t->pages += (double)slabs * (double)pages;
	return true;
}

int slabinfo_parse(const void *data, size_t len, struct slab_totals *t)
{
	struct cursor text = { data, (const char *)data + len }, line;
	bool whole;

	memset(t, 0, sizeof(*t));
	while (cursor_line(&text, &line, &whole) && whole)
		take_cache(line, t);
	return t->caches ? 0 : -1;
}
