// SPDX-License-Identifier: GPL-2.0-only
#include "guest/pageblocks.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define READ_PAGES 8192

#define KPF(name) (1ULL << KPF_##name)
/* include/uapi/linux/kernel-page-flags.h */
#define KPF_LRU 5
#define KPF_SLAB 7
#define KPF_BUDDY 10
#define KPF_ANON 12
#define KPF_SWAPBACKED 14
#define KPF_COMPOUND_TAIL 16
#define KPF_HUGE 17
#define KPF_HWPOISON 19
#define KPF_NOPAGE 20
#define KPF_OFFLINE 23
#define KPF_PGTABLE 26
/* include/linux/kernel-page-flags.h */
#define KPF_RESERVED 32

#define KEPT (KPF(SLAB) | KPF(HUGE) | KPF(HWPOISON) | KPF(OFFLINE) | KPF(PGTABLE) | KPF(RESERVED))
#define MOVES (KPF(LRU) | KPF(ANON) | KPF(SWAPBACKED))

/* A map that is being made: the block at hand, and the chunk. */
struct map {
	const struct pageblocks *p;
	enum wire_phase phase;
	unsigned int order;
	uint64_t nblocks, block;
	uint32_t count[PAGE_KINDS], pages; /* of the block */
	enum page_kind head;
	size_t len; /* of the payload */
};

static uint64_t flags[READ_PAGES];
static uint8_t payload[TASK_MESSAGE_MAX];

enum page_kind page_kind(uint64_t f, enum page_kind head)
{
	if (f & KPF(NOPAGE))
		return PAGE_HOLE;
	/* Old kernels show neither SLAB nor LRU on a tail. A head that is none: it came in between. */
	if (f & KPF(COMPOUND_TAIL) && (head == PAGE_MOVABLE || head == PAGE_UNMOVABLE))
		return head;
	if (f & KPF(BUDDY))
		return PAGE_FREE;
	/* First, as the slab allocator's own fields may look like the mark of an anonymous page. */
	if (f & KEPT)
		return PAGE_UNMOVABLE;
	return f & MOVES ? PAGE_MOVABLE : PAGE_UNMOVABLE;
}

void pageblocks_init(void)
{
	mlock(flags, sizeof(flags));
	mlock(payload, sizeof(payload));
}

static uint64_t blocks_of(uint64_t pfn_end, unsigned int order)
{
	return (pfn_end + (1ULL << order) - 1) >> order;
}

static void map_begin(struct map *m, const struct pageblocks *p, enum wire_phase phase)
{
	*m = (struct map){ .p = p, .phase = phase, .order = p->order, .head = PAGE_HOLE };
	while (blocks_of(p->pfn_end, m->order) > PAGEBLOCKS_MAX)
		m->order++;
	m->nblocks = blocks_of(p->pfn_end, m->order);
}

static void chunk_begin(struct map *m)
{
	uint64_t left = m->nblocks - m->block;

	m->len = wire_sample_head(payload, mono_ns(), EDGE_END, m->phase, "pageblocks");
	m->len += (size_t)sprintf((char *)payload + m->len,
				  "pageblocks 1 order %u first %" PRIu64 " blocks %" PRIu64 "\n",
				  m->order, m->block, left < PAGEBLOCKS_CHUNK ? left : PAGEBLOCKS_CHUNK);
}

/* Six numbers of 32 bits with what parts them make 66 bytes; the blocks have five digits only. */
#define LINE_MAX 61
_Static_assert(PAGEBLOCKS_CHUNK * LINE_MAX + 128 < TASK_MESSAGE_MAX, "a chunk is one message");

static void block_end(struct map *m)
{
	const uint32_t *n = m->count;

	if (m->block % PAGEBLOCKS_CHUNK == 0)
		chunk_begin(m);
	if (n[PAGE_HOLE] < m->pages)
		m->len += (size_t)sprintf((char *)payload + m->len,
					  "%" PRIu64 " %u %u %u %u %u\n", m->block, n[PAGE_FREE],
					  n[PAGE_PINNED], n[PAGE_MOVABLE], n[PAGE_UNMOVABLE],
					  n[PAGE_HOLE]);
	m->block++;
	if (m->block % PAGEBLOCKS_CHUNK == 0 || m->block == m->nblocks)
		task_send_bytes(m->p->child, WIRE_SAMPLE, payload, m->len);
	memset(m->count, 0, sizeof(m->count));
	m->pages = 0;
}

static inline bool bit(const uint8_t *bits, uint64_t pfn)
{
	return bits && bits[pfn / 8] >> pfn % 8 & 1;
}

/* The next n pages, from pfn on; returns how many of them were given back and are free. */
static int64_t map_add(struct map *m, uint64_t pfn, size_t n)
{
	uint32_t block_pages = 1u << m->order;
	int64_t freed = 0;

	for (size_t i = 0; i < n; i++, pfn++) {
		m->head = page_kind(flags[i], m->head);
		freed += flags[i] & KPF(BUDDY) && bit(m->p->freed, pfn);
		m->count[bit(m->p->pinned, pfn) ? PAGE_PINNED : m->head]++;
		if (++m->pages == block_pages)
			block_end(m);
	}
	return freed;
}

/* What is left of the last block is a hole. */
static void map_end(struct map *m)
{
	if (!m->pages)
		return;
	m->count[PAGE_HOLE] += (1u << m->order) - m->pages;
	m->pages = 1u << m->order;
	block_end(m);
}

/* How many pages from pfn on are RAM; or, *hole, are none. */
static uint64_t run_length(const struct pageblocks *p, uint64_t pfn, bool *hole)
{
	size_t i = 0;

	*hole = false;
	if (!p->ram->n)
		return p->pfn_end - pfn;
	while (i < p->ram->n && p->ram->range[i].end <= pfn)
		i++;
	*hole = i == p->ram->n || p->ram->range[i].first > pfn;
	if (i == p->ram->n)
		return p->pfn_end - pfn;
	return (*hole ? p->ram->range[i].first : p->ram->range[i].end) - pfn;
}

/* The flags of some pages from pfn on; how many, or -1. The kernel's array may end before the last zone. */
static ssize_t flags_read(const struct pageblocks *p, uint64_t pfn)
{
	uint64_t left = p->pfn_end - pfn;
	ssize_t got = 0;
	uint64_t n;
	bool hole;

	n = run_length(p, pfn, &hole);
	n = n < left ? n : left;
	n = n < READ_PAGES ? n : READ_PAGES;
	if (!hole)
		got = pread(p->kpageflags_fd, flags, n * 8, (off_t)(pfn * 8));
	if (got)
		return got < 8 ? -1 : got / 8;
	for (size_t i = 0; i < n; i++)
		flags[i] = KPF(NOPAGE);
	return (ssize_t)n;
}

int64_t pageblocks_send(const struct pageblocks *p, enum wire_phase phase)
{
	int64_t freed = 0;
	struct map m;

	map_begin(&m, p, phase);
	for (uint64_t pfn = 0; pfn < p->pfn_end;) {
		ssize_t n = flags_read(p, pfn);

		if (n < 0)
			return -1;
		freed += map_add(&m, pfn, (size_t)n);
		pfn += (size_t)n;
		task_progress(p->child, pfn, p->pfn_end);
	}
	map_end(&m);
	return freed;
}
