/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_PAGEBLOCKS_MAP_H
#define MMRIG_PAGEBLOCKS_MAP_H
/* Pictures of a map of pageblocks: from low to high addresses, row by row. */
#include "results/pageblocks.h"
#include "results/util/str.h"

/* Squares in rows; each stands for `merged` blocks that follow one another. */
struct squares {
	uint32_t first, merged;
	size_t columns, n;
	uint8_t *state; /* enum pageblock_state; BLOCK_HOLE where nothing is */
};

/* For the blocks [first, end), in at most `most` squares, a power of two in a row. No states yet. */
struct squares squares_of(uint32_t first, uint32_t end, size_t most);
/* The pages of all blocks of a square together say what it is. free(g->state). */
void squares_fill(struct squares *g, const struct pageblocks *p);

#define SQUARES_SIDE 512 /* width of the drawing */
size_t squares_rows(const struct squares *g);
/* SVG paths, one a state, of class k0, k1 ... (enum pageblock_state), and lines of class "sep". */
void squares_put(const struct squares *g, struct strbuf *sb);

/*
 * In letters, 64 a row, the first block of a row in front; below, how many blocks are what, and
 * the pages. Heap.
 */
char *pageblocks_text(const struct pageblocks *p);
/*
 * A picture that stands alone. trouble (may be NULL): stands below the title, in red; both are
 * escaped here. Heap; NULL where there is no block to draw.
 */
char *pageblocks_svg(const struct pageblocks *p, const char *title, const char *trouble);

#endif
