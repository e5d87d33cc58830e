// SPDX-License-Identifier: GPL-2.0-only
#include "guest/memmap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE 4096u
#define NOWHERE UINT64_MAX
#define KERNEL_HALF 0xff00000000000000ull /* with five levels of page tables; with four it begins later */
#define NOTE_MAX (256u * 1024)
#define SIZE_MAX_OF_PAGE 256u

/* The number behind `key`, which begins a line; -1: there is none. */
static long value_of(const char *text, size_t n, const char *key)
{
	size_t len = strlen(key);
	const char *at = memmem(text, n, key, len);

	/* The buffer ends with a NUL. */
	return at ? strtol(at + len, NULL, 10) : -1;
}

static int read_note(struct memmap *m, const struct kcore_segment *p)
{
	char *text = p->bytes <= NOTE_MAX ? malloc(p->bytes + 1) : NULL;
	ssize_t n = text ? pread(m->fd, text, p->bytes, (off_t)p->at) : -1;
	long size = -1, refcount = -1, mapcount = -1, lru = -1;

	if (n > 0) {
		text[n] = '\0';
		size = value_of(text, (size_t)n, "\nSIZE(page)=");
		refcount = value_of(text, (size_t)n, "\nOFFSET(page._refcount)=");
		mapcount = value_of(text, (size_t)n, "\nOFFSET(page._mapcount)=");
		lru = value_of(text, (size_t)n, "\nOFFSET(page.lru)=");
	}
	free(text);
	if (size < 8 || size > (long)SIZE_MAX_OF_PAGE || refcount < 0 || refcount > size - 4 ||
	    mapcount < 0 || mapcount > size - 4 || lru < 0 || lru > size - 16)
		return -1;
	m->size = (uint32_t)size;
	m->refcount = (uint32_t)refcount;
	m->mapcount = (uint32_t)mapcount;
	m->lru = (uint32_t)lru;
	return 0;
}

/*
 * A piece of the array comes right behind the RAM that it describes, from page to page: it is known by
 * its length, and by where the whole array would begin, which is the same for all.
 */
static void add_piece(struct memmap *m, const struct kcore_segment *ram,
		      const struct kcore_segment *p, uint64_t *begin)
{
	uint64_t first = ram->paddr / PAGE, end = first + ram->bytes / PAGE;
	uint64_t low = first * m->size / PAGE * PAGE, high = (end * m->size + PAGE - 1) / PAGE * PAGE;

	if (p->bytes != high - low || m->n == KCORE_RANGES_MAX ||
	    (m->n && p->vaddr - low != *begin))
		return;
	*begin = p->vaddr - low;
	m->range[m->n++] = (struct kcore_range){ first, end, (off_t)(p->at + first * m->size - low) };
}

static bool is_ram(const struct kcore_segment *p)
{
	return p->load && p->paddr != NOWHERE && p->paddr % PAGE == 0 &&
	       p->bytes >= PAGE && p->paddr < 1ull << 52 && p->bytes < 1ull << 52;
}

static int read_pieces(struct memmap *m)
{
	struct kcore_segment p, ram = { 0 };
	uint64_t begin = 0;
	int n = kcore_segments(m->fd);

	for (int i = 0; i < n; i++) {
		if (kcore_segment(m->fd, i, &p) < 0)
			return -1;
		if (p.note && read_note(m, &p) < 0)
			return -1;
		if (m->size && is_ram(&ram) && p.load && p.paddr == NOWHERE &&
		    p.at < INT64_MAX / 2)
			add_piece(m, &ram, &p, &begin);
		ram = p;
	}
	m->begin = begin;
	return m->n ? 0 : -1;
}

int memmap_open(struct memmap *m, const char *path)
{
	memset(m, 0, sizeof(*m));
	m->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (m->fd < 0)
		return -1;
	if (read_pieces(m) == 0)
		return 0;
	close(m->fd);
	m->fd = -1;
	m->n = 0;
	return -1;
}

void memmap_refresh(struct memmap *m)
{
	m->first = m->end = 0;
}

/* The structs of some pages from pfn on. */
static bool read_chunk(struct memmap *m, uint64_t pfn)
{
	for (const struct kcore_range *r = m->range; r < m->range + m->n; r++) {
		uint64_t n = MEMMAP_CHUNK / m->size;
		ssize_t got;

		if (pfn < r->first || pfn >= r->end)
			continue;
		if (n > r->end - pfn)
			n = r->end - pfn;
		got = pread(m->fd, m->chunk, n * m->size, r->at + (off_t)((pfn - r->first) * m->size));
		m->first = pfn;
		m->end = pfn + (got > 0 ? (uint64_t)got / m->size : 0);
		return m->end > pfn;
	}
	return false;
}

/*
 * A list's pointers lead into the kernel's half of the addresses; one that was taken off is poisoned, one
 * that never was on one leads to itself, and a tail's word there is odd (include/linux/mm_types.h, poison.h).
 */
static bool is_listed(const struct memmap *m, uint64_t pfn, const uint8_t *page)
{
	uint64_t next;

	memcpy(&next, page + m->lru, sizeof(next));
	return next >= KERNEL_HALF && !(next & 1) && next != m->begin + pfn * m->size + m->lru;
}

bool memmap_is_free(struct memmap *m, uint64_t pfn)
{
	const uint8_t *page;
	int32_t refcount, mapcount;

	if ((pfn < m->first || pfn >= m->end) && !read_chunk(m, pfn))
		return false;
	page = m->chunk + (pfn - m->first) * m->size;
	memcpy(&refcount, page + m->refcount, sizeof(refcount));
	memcpy(&mapcount, page + m->mapcount, sizeof(mapcount));
	return refcount == 0 && mapcount == -1 && is_listed(m, pfn, page);
}
