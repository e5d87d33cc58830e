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

static uint64_t blocks_of(uint64_t pfn_end, unsigned int order)
{
	return (pfn_end + (1ULL << order) - 1) >> order;
}

int pageblocks_init(struct pageblocks *p)
{
	size_t bytes;

	while (blocks_of(p->pfn_end, p->order) > PAGEBLOCKS_MAX)
		p->order++;
	p->nblocks = blocks_of(p->pfn_end, p->order);
	bytes = (p->nblocks + 1) * sizeof(*p->count);
	p->count = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (p->count == MAP_FAILED)
		return -1;
	mlock(p->count, bytes);
	mlock(&p->memmap, sizeof(p->memmap));
	mlock(flags, sizeof(flags));
	mlock(payload, sizeof(payload));
	return 0;
}

static inline bool bit(const uint8_t *bits, uint64_t pfn)
{
	return bits && bits[pfn / 8] >> pfn % 8 & 1;
}

static inline void set_bit(uint8_t *bits, uint64_t i)
{
	bits[i / 8] |= (uint8_t)(1u << i % 8);
}

/* The n pages from pfn on, whose flags were read; how many of them were given back and are free. */
static int64_t count_pages(struct pageblocks *p, uint64_t pfn, size_t n, enum page_kind *head)
{
	int64_t freed = 0;

	for (size_t i = 0; i < n; i++, pfn++) {
		bool pinned = bit(p->pinned, pfn);

		*head = page_kind(flags[i], *head);
		if (!flags[i] && p->memmap.n && memmap_is_free(&p->memmap, pfn))
			*head = PAGE_FREE;
		freed += flags[i] & KPF(BUDDY) && bit(p->freed, pfn);
		p->count[pfn >> p->order][pinned ? PAGE_PINNED : *head]++;
		if (p->kernels && *head == PAGE_UNMOVABLE && !pinned && !(flags[i] & KPF(HUGE)))
			set_bit(p->kernels, pfn >> p->kernels_order);
	}
	return freed;
}

/* How many pages from pfn on are RAM; or, *hole, are none. */
static uint64_t run_length(const struct pageblocks *p, uint64_t pfn, bool *hole)
{
	size_t i = 0;

	*hole = false;
	if (!p->ram.n)
		return p->pfn_end - pfn;
	while (i < p->ram.n && p->ram.range[i].end <= pfn)
		i++;
	*hole = i == p->ram.n || p->ram.range[i].first > pfn;
	if (i == p->ram.n)
		return p->pfn_end - pfn;
	return (*hole ? p->ram.range[i].first : p->ram.range[i].end) - pfn;
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

int64_t pageblocks_read(struct pageblocks *p, struct task_child *child)
{
	enum page_kind head = PAGE_HOLE;
	int64_t freed = 0;

	memset(p->count, 0, p->nblocks * sizeof(*p->count));
	if (p->kernels)
		memset(p->kernels, 0, blocks_of(p->pfn_end, p->kernels_order) / 8 + 1);
	memmap_refresh(&p->memmap);
	for (uint64_t pfn = 0; pfn < p->pfn_end;) {
		ssize_t n = flags_read(p, pfn);

		if (n < 0)
			return -1;
		freed += count_pages(p, pfn, (size_t)n, &head);
		pfn += (size_t)n;
		task_progress(child, pfn, p->pfn_end);
	}
	if (p->nblocks) /* what is left of the last block */
		p->count[p->nblocks - 1][PAGE_HOLE] += (uint32_t)((p->nblocks << p->order) - p->pfn_end);
	return freed;
}

static size_t put_block(char *out, uint64_t block, const uint32_t n[PAGE_KINDS])
{
	return (size_t)sprintf(out, "%" PRIu64 " %u %u %u %u %u\n", block, n[PAGE_FREE], n[PAGE_PINNED],
			       n[PAGE_MOVABLE], n[PAGE_UNMOVABLE], n[PAGE_HOLE]);
}

/* Six numbers of 32 bits with what parts them make 66 bytes; the blocks have five digits only. */
#define LINE_MAX 61
_Static_assert(PAGEBLOCKS_CHUNK * LINE_MAX + 128 < TASK_MESSAGE_MAX, "a chunk is one message");

void pageblocks_send(const struct pageblocks *p, struct task_child *child, enum wire_phase phase)
{
	char *text = (char *)payload;
	uint64_t now = mono_ns();

	for (uint64_t first = 0; first < p->nblocks; first += PAGEBLOCKS_CHUNK) {
		uint64_t left = p->nblocks - first, n = left < PAGEBLOCKS_CHUNK ? left : PAGEBLOCKS_CHUNK;
		size_t len = wire_sample_head(payload, now, EDGE_END, phase, "pageblocks");

		len += (size_t)sprintf(text + len,
				       "pageblocks 1 order %u first %" PRIu64 " blocks %" PRIu64 "\n",
				       p->order, first, n);
		for (uint64_t b = first; b < first + n; b++)
			if (p->count[b][PAGE_HOLE] < 1u << p->order)
				len += put_block(text + len, b, p->count[b]);
		task_send_bytes(child, WIRE_SAMPLE, payload, len);
	}
}
