// SPDX-License-Identifier: GPL-2.0-only
#include "results/pageblocks.h"

#include <stdlib.h>
#include <string.h>

#include "results/util/str.h"

const char *const page_kind_names[PAGE_KINDS] = { "free", "pinned", "movable", "unmovable", "hole" };

const char *const pageblock_state_names[BLOCK_STATES] = {
	[BLOCK_FREE] = "wholly free",
	[BLOCK_MOVABLE_PART] = "movable, partly free",
	[BLOCK_MOVABLE] = "movable",
	[BLOCK_UNMOVABLE_PART] = "unmovable, partly free",
	[BLOCK_UNMOVABLE] = "unmovable",
	[BLOCK_PINNED_PART] = "pinned, partly free",
	[BLOCK_PINNED] = "pinned",
	[BLOCK_HOLE] = "no memory",
};

/* A decimal number of at most UINT32_MAX; NULL when there is none. */
static const char *take_number(const char *at, const char *end, uint32_t *value)
{
	uint64_t v = 0;
	const char *start = at;

	for (; at < end && *at >= '0' && *at <= '9'; at++) {
		v = v * 10 + (uint64_t)(*at - '0');
		if (v > UINT32_MAX)
			return NULL;
	}
	*value = (uint32_t)v;
	return at == start ? NULL : at;
}

static const char *take_word(const char *at, const char *end, const char *word)
{
	size_t n = strlen(word);

	return at && (size_t)(end - at) >= n && memcmp(at, word, n) == 0 ? at + n : NULL;
}

struct chunk {
	uint32_t order, first, blocks;
};

/* Returns what follows the header's newline, or NULL. */
static const char *take_header(const char *at, const char *end, struct chunk *c)
{
	at = take_word(at, end, "pageblocks 1 order ");
	at = at ? take_number(at, end, &c->order) : NULL;
	at = take_word(at, end, " first ");
	at = at ? take_number(at, end, &c->first) : NULL;
	at = take_word(at, end, " blocks ");
	at = at ? take_number(at, end, &c->blocks) : NULL;
	at = take_word(at, end, "\n");
	if (!at || c->order > PAGEBLOCK_ORDER_MAX || c->first > PAGEBLOCKS_MAX ||
	    c->blocks > PAGEBLOCKS_MAX - c->first)
		return NULL;
	return at;
}

/* One line without its newline. */
static bool take_block(const char *at, const char *end, struct pageblock *b)
{
	at = take_number(at, end, &b->block);
	for (int i = 0; i < PAGE_KINDS; i++) {
		at = take_word(at, end, " ");
		at = at ? take_number(at, end, &b->pages[i]) : NULL;
	}
	return at == end;
}

static bool adds_up(const struct pageblock *b, unsigned int order)
{
	uint64_t sum = 0;

	for (int i = 0; i < PAGE_KINDS; i++)
		sum += b->pages[i];
	return sum == UINT64_C(1) << order;
}

static void push(struct pageblocks *p, const struct pageblock *b)
{
	if (p->n == p->room) {
		p->room = p->room ? 2 * p->room : 1024;
		p->block = xreallocarray(p->block, p->room, sizeof(*p->block));
	}
	p->block[p->n++] = *b;
}

int pageblocks_add(struct pageblocks *p, const void *data, size_t len)
{
	const char *at = data, *end = at + len, *newline;
	struct chunk c;
	uint32_t least;

	at = len ? take_header(at, end, &c) : NULL;
	if (!at || c.first < p->end || (p->end && c.order != p->order))
		return -1;
	p->order = c.order;
	least = c.first;
	for (; at < end; at = newline + 1) {
		struct pageblock b;

		newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline) {
			p->bad++;
			break;
		}
		if (!take_block(at, newline, &b) || b.block < least ||
		    b.block >= c.first + c.blocks || !adds_up(&b, c.order)) {
			p->bad++;
			continue;
		}
		least = b.block + 1;
		push(p, &b);
	}
	p->end = c.first + c.blocks;
	return 0;
}

void pageblocks_free(struct pageblocks *p)
{
	free(p->block);
	memset(p, 0, sizeof(*p));
}

enum pageblock_state pageblock_state(const uint64_t pages[PAGE_KINDS])
{
	bool part = pages[PAGES_FREE] > 0;

	if (pages[PAGES_PINNED])
		return part ? BLOCK_PINNED_PART : BLOCK_PINNED;
	if (pages[PAGES_UNMOVABLE])
		return part ? BLOCK_UNMOVABLE_PART : BLOCK_UNMOVABLE;
	if (pages[PAGES_MOVABLE])
		return part ? BLOCK_MOVABLE_PART : BLOCK_MOVABLE;
	return part ? BLOCK_FREE : BLOCK_HOLE;
}

void pageblocks_count(const struct pageblocks *p, size_t states[BLOCK_STATES],
		      uint64_t pages[PAGE_KINDS])
{
	uint64_t sum[PAGE_KINDS] = { 0 };

	memset(states, 0, BLOCK_STATES * sizeof(*states));
	for (size_t i = 0; i < p->n; i++) {
		uint64_t of[PAGE_KINDS];

		for (int k = 0; k < PAGE_KINDS; k++) {
			of[k] = p->block[i].pages[k];
			sum[k] += of[k];
		}
		states[pageblock_state(of)]++;
	}
	if (pages)
		memcpy(pages, sum, sizeof(sum));
}
