// SPDX-License-Identifier: GPL-2.0-only
/* buddyinfo, pagetypeinfo and extfrag: a row a zone, a column an order. */
#include "results/proc.h"

#include <stdlib.h>

#include "results/proc_cursor.h"
#include "results/util/str.h"

enum cells { COUNTS, INDICES };

static bool same_row(const struct free_row *a, const struct free_row *b)
{
	return a->node == b->node && strcmp(a->zone, b->zone) == 0 && strcmp(a->type, b->type) == 0;
}

const struct free_row *free_table_find(const struct free_table *t, const struct free_row *like)
{
	for (size_t i = 0; i < t->n; i++)
		if (same_row(&t->row[i], like))
			return &t->row[i];
	return NULL;
}

void free_table_free(struct free_table *t)
{
	free(t->row);
	memset(t, 0, sizeof(*t));
}

/* NULL: it is there already, or there are too many. */
static struct free_row *add_row(struct free_table *t, const struct free_row *row)
{
	if (t->n >= PROC_ROWS_MAX || free_table_find(t, row))
		return NULL;
	if ((t->n & (t->n - 1)) == 0)
		t->row = xreallocarray(t->row, t->n ? 2 * t->n : 1, sizeof(*t->row));
	t->several_nodes |= t->n && t->row[0].node != row->node;
	t->row[t->n] = *row;
	return &t->row[t->n++];
}

/* "0.697", "-1.000": thousandths, whatever the locale. */
static bool take_index(struct cursor *c, double *value)
{
	bool minus = cursor_take(c, "-");
	uint64_t whole = 0, part = 0;
	const char *start = c->p;

	while (c->p < c->end && *c->p >= '0' && *c->p <= '9' && c->p - start < 9)
		whole = 10 * whole + (uint64_t)(*c->p++ - '0');
	if (c->p == start || c->end - c->p < 4 || *c->p++ != '.')
		return false;
	for (int i = 0; i < 3; i++, c->p++) {
		if (*c->p < '0' || *c->p > '9')
			return false;
		part = 10 * part + (uint64_t)(*c->p - '0');
	}
	*value = (double)(1000 * whole + part) / 1000;
	if (minus)
		*value = -*value;
	return c->p == c->end || memchr(" \t\r", *c->p, 3);
}

/* Columns up to the first that is no number; false when there is none. */
static bool take_cells(struct cursor *c, enum cells kind, struct free_row *row)
{
	unsigned int before = row->n;

	while (row->n < PROC_ORDERS_MAX && !cursor_at_end(c)) {
		struct cursor try = *c;
		bool at_least = kind == COUNTS && cursor_take(&try, ">");

		if (kind == INDICES ? !take_index(&try, &row->index[row->n]) :
				      !cursor_number(&try, &row->count[row->n]))
			break;
		if (at_least)
			row->at_least |= 1u << row->n;
		row->n++;
		*c = try;
	}
	return row->n > before;
}

/* What a cut-off file has lost of a row cannot be told from the row: the others have more. */
static void drop_short(struct free_table *t)
{
	unsigned int most = 0;
	size_t kept = 0;

	for (size_t i = 0; i < t->n; i++)
		most = t->row[i].n > most ? t->row[i].n : most;
	for (size_t i = 0; i < t->n; i++)
		if (t->row[i].n == most)
			t->row[kept++] = t->row[i];
	t->n = kept;
	t->several_nodes = false;
	for (size_t i = 1; i < t->n; i++)
		t->several_nodes |= t->row[i].node != t->row[0].node;
}

static int finish(struct free_table *t)
{
	drop_short(t);
	if (t->n)
		return 0;
	free_table_free(t);
	return -1;
}

/* A row that goes on where a terminal wrapped it: nothing but columns. */
static bool continues(struct cursor line, struct free_row *row, enum cells kind)
{
	struct free_row longer = *row;

	if (!take_cells(&line, kind, &longer) || !cursor_at_end(&line))
		return false;
	*row = longer;
	return true;
}

static int parse_zones(const void *data, size_t len, enum cells kind, struct free_table *t)
{
	struct cursor text = { data, (const char *)data + len }, line;
	struct free_row *open = NULL;
	bool whole;

	memset(t, 0, sizeof(*t));
	while (cursor_line(&text, &line, &whole) && whole) {
		struct free_row row = { 0 };

		if (open && continues(line, open, kind))
			continue;
		open = NULL;
		if (cursor_zone(&line, &row.node, row.zone) && take_cells(&line, kind, &row))
			open = add_row(t, &row);
	}
	return finish(t);
}

int buddyinfo_parse(const void *data, size_t len, struct free_table *t)
{
	return parse_zones(data, len, COUNTS, t);
}

int extfrag_parse(const void *data, size_t len, struct free_table *t)
{
	return parse_zones(data, len, INDICES, t);
}

/* "Number of blocks type     Unmovable      Movable": the columns of what follows. */
struct heading {
	char type[PROC_ORDERS_MAX][PROC_NAME_MAX];
	unsigned int n;
};

static void take_heading(struct cursor *c, struct heading *h)
{
	h->n = 0;
	while (h->n < PROC_ORDERS_MAX && cursor_name(c, h->type[h->n]))
		h->n++;
}

static void take_blocks(struct pagetypeinfo *p, const struct heading *h, const struct free_row *row)
{
	for (unsigned int i = 0; i < h->n && i < row->n; i++) {
		struct free_row one = { .node = row->node, .n = 1 };

		strcpy(one.zone, row->zone);
		strcpy(one.type, h->type[i]);
		one.count[0] = row->count[i];
		add_row(&p->blocks, &one);
	}
}

static bool take_type(struct cursor *c, struct free_row *row)
{
	return cursor_take(c, ",") && cursor_take(c, "type") && cursor_name(c, row->type);
}

static void take_line(struct pagetypeinfo *p, struct heading *h, struct cursor line,
		      struct free_row **open)
{
	struct cursor start = line;
	struct free_row row = { 0 };
	uint64_t order;

	if (*open && continues(line, *open, COUNTS))
		return;
	*open = NULL;
	if (cursor_take(&line, "Page block order:")) {
		if (cursor_number(&line, &order) && order < PROC_ORDERS_MAX)
			p->pageblock_order = (unsigned int)order;
	} else if (cursor_take(&line, "Number of blocks type")) {
		take_heading(&line, h);
	} else if (cursor_zone(&start, &row.node, row.zone)) {
		struct cursor after = start;

		if (take_type(&after, &row)) {
			if (take_cells(&after, COUNTS, &row))
				*open = add_row(&p->free, &row);
		} else if (h->n) {
			*row.type = '\0';
			if (take_cells(&start, COUNTS, &row))
				take_blocks(p, h, &row);
		}
	}
}

int pagetypeinfo_parse(const void *data, size_t len, struct pagetypeinfo *p)
{
	struct cursor text = { data, (const char *)data + len }, line;
	struct heading heading = { .n = 0 };
	struct free_row *open = NULL;
	bool whole;

	memset(p, 0, sizeof(*p));
	while (cursor_line(&text, &line, &whole) && whole)
		take_line(p, &heading, line, &open);
	drop_short(&p->free);
	if (p->free.n || p->blocks.n)
		return 0;
	pagetypeinfo_free(p);
	return -1;
}

void pagetypeinfo_free(struct pagetypeinfo *p)
{
	free_table_free(&p->free);
	free_table_free(&p->blocks);
	p->pageblock_order = 0;
}
