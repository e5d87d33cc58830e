/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_PAGEBLOCKS_H
#define MMRIG_PAGEBLOCKS_H
/*
 * The agent's sample "pageblocks": what the pages of every pageblock are. Text:
 *
 *	pageblocks 1 order 9 first 0 blocks 2048
 *	BLOCK FREE PINNED MOVABLE UNMOVABLE HOLE
 *	...
 *
 * The header has the version, the pageblock order and the blocks that this chunk speaks of; a line
 * for each of them that has any page, ascending, whose numbers add up to the pages of a block. A
 * map may come in several chunks, each a sample with a header of its own and `first` above all
 * blocks of the one before. Bytes come from a guest.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum page_kind { PAGES_FREE, PAGES_PINNED, PAGES_MOVABLE, PAGES_UNMOVABLE, PAGES_HOLE, PAGE_KINDS };

#define PAGEBLOCKS_MAX (4U << 20)
#define PAGEBLOCK_ORDER_MAX 20

struct pageblock {
	uint32_t block;
	uint32_t pages[PAGE_KINDS];
};

/* Zero-initialise; pageblocks_free(). */
struct pageblocks {
	unsigned int order;
	struct pageblock *block; /* ascending by number; those without a line are not there */
	size_t n, room;
	uint32_t end; /* one above the last block that a chunk spoke of */
	size_t bad;   /* lines that were no pageblock of their chunk, left out */
};

/*
 * Takes a chunk in. One whose header is none, has another version or order, or does not follow what
 * came before, is -1 and changes nothing. A line that is malformed, cut off (no newline), out of
 * order or outside of its chunk, or whose pages do not add up, is counted in `bad` and left out.
 */
int pageblocks_add(struct pageblocks *p, const void *data, size_t len);
void pageblocks_free(struct pageblocks *p);

/* What a block is called and coloured by: the kind that ties it down most, and whether pages are free. */
enum pageblock_state {
	BLOCK_FREE,	      /* nothing but free pages (and holes) */
	BLOCK_MOVABLE_PART,   /* movable pages, and free ones */
	BLOCK_MOVABLE,	      /* movable pages, none free */
	BLOCK_UNMOVABLE_PART, /* unmovable pages, no pin, and free ones */
	BLOCK_UNMOVABLE,
	BLOCK_PINNED_PART, /* a pinned page, and free ones */
	BLOCK_PINNED,
	BLOCK_HOLE, /* no memory at all */
	BLOCK_STATES,
};
enum pageblock_state pageblock_state(const uint64_t pages[PAGE_KINDS]);
extern const char *const pageblock_state_names[BLOCK_STATES];
extern const char *const page_kind_names[PAGE_KINDS];

/* Blocks by state; pages (may be NULL): by kind. */
void pageblocks_count(const struct pageblocks *p, size_t states[BLOCK_STATES],
		      uint64_t pages[PAGE_KINDS]);

#endif
