// SPDX-License-Identifier: GPL-2.0-only
#include "guest/region.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest/release.h"

#define CHUNK 8192

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

int region_init(struct layout *l)
{
	size_t bytes = l->pfn_end / 8 + 1;
	uint8_t *map = mmap(NULL, 4 * bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (map == MAP_FAILED)
		return -1;
	l->own = map;
	l->avail = map + bytes;
	l->pick = map + 2 * bytes;
	l->aside = map + 3 * bytes;
	return 0;
}

int region_taken(struct layout *l, size_t from, size_t n)
{
	if (layout_read_pfns(l, from, n) < 0)
		return -1;
	for (size_t i = from; i < from + n; i++) {
		uint32_t pfn = LAYOUT_PFN(l->pfn[i]);

		if (pfn == LAYOUT_GONE || !bit_test(l->freed, pfn))
			continue;
		bit_clear(l->freed, pfn);
		l->nfreed--;
	}
	return 0;
}

static int populate(struct layout *l, size_t from, size_t n)
{
	uint8_t *at = l->region + from * 4096;

	if (madvise(at, n * 4096, MADV_POPULATE_WRITE) == 0)
		return 0;
	if (errno != EINVAL)
		return -1;
	for (size_t i = 0; i < n; i++) /* before 5.14 */
		*(volatile uint8_t *)(at + i * 4096) = 1;
	return 0;
}

/* The next run of pages that are gone, at or after l->hole: its length, at most `most`. */
static size_t next_hole(struct layout *l, size_t most)
{
	size_t n = 0;

	while (l->hole < l->filled_pages && LAYOUT_PFN(l->pfn[l->hole]) != LAYOUT_GONE)
		l->hole++;
	while (n < most && l->hole + n < l->filled_pages &&
	       LAYOUT_PFN(l->pfn[l->hole + n]) == LAYOUT_GONE)
		n++;
	return n;
}

int64_t region_take(struct layout *l, uint64_t pages)
{
	uint64_t left = pages;
	int failed;

	while (left) {
		size_t n = next_hole(l, left), from = l->hole;

		if (!n) {
			from = l->filled_pages;
			n = l->region_pages - from < left ? l->region_pages - from : left;
			l->filled_pages += n;
			l->hole = l->filled_pages;
		} else {
			l->hole += n;
		}
		if (!n)
			break;
		for (size_t i = from; i < from + n; i++)
			l->pfn[i] = LAYOUT_GONE;
		failed = populate(l, from, n) < 0 ? errno : 0;
		if (region_taken(l, from, n) < 0)
			return -1;
		errno = failed;
		if (failed)
			return -1;
		left -= n;
	}
	return (int64_t)(pages - left);
}

int64_t region_reread(struct layout *l)
{
	static uint32_t before[CHUNK];
	int64_t n = 0;

	for (size_t i = 0; i < l->filled_pages; i += CHUNK) {
		size_t m = l->filled_pages - i < CHUNK ? l->filled_pages - i : CHUNK;

		memcpy(before, l->pfn + i, m * sizeof(*before));
		if (layout_read_pfns(l, i, m) < 0)
			return -1;
		for (size_t k = 0; k < m; k++) {
			uint32_t pfn = LAYOUT_PFN(before[k]);

			if (pfn == LAYOUT_GONE || LAYOUT_PFN(l->pfn[i + k]) != LAYOUT_GONE)
				continue;
			bit_set(l->freed, pfn);
			n++;
		}
	}
	l->nfreed += (uint64_t)n;
	if (n)
		l->hole = 0;
	return n;
}

int region_give_picked(struct layout *l)
{
	static struct release b;

	b.n = 0;
	for (size_t i = 0; i < l->filled_pages; i++) {
		uint32_t pfn = LAYOUT_PFN(l->pfn[i]);

		if (pfn == LAYOUT_GONE || l->pfn[i] & LAYOUT_PINNED || !bit_test(l->pick, pfn))
			continue;
		if (release_add(&b, l->region + i * 4096) < 0)
			return -1;
	}
	if (release_flush(&b) < 0)
		return -1;
	memset(l->pick, 0, l->pfn_end / 8 + 1);
	return 0;
}

int region_prune_freed(struct layout *l)
{
	static uint64_t flags[CHUNK];

	for (uint32_t pfn = 0, n; pfn < l->pfn_end; pfn += n) {
		ssize_t got;

		n = l->pfn_end - pfn < CHUNK ? l->pfn_end - pfn : CHUNK;
		got = pread(l->map.kpageflags_fd, flags, n * sizeof(*flags), (off_t)pfn * 8);
		if (got < 8)
			return -1;
		n = (uint32_t)(got / 8);
		for (uint32_t i = 0; i < n; i++) {
			if (!bit_test(l->freed, pfn + i) || flags[i] & KPF_BUDDY_BIT)
				continue;
			bit_clear(l->freed, pfn + i);
			l->nfreed--;
		}
	}
	return 0;
}

void region_forget_freed(struct layout *l)
{
	memset(l->freed, 0, l->pfn_end / 8 + 1);
	l->nfreed = 0;
}

void region_mark_held(struct layout *l)
{
	for (size_t i = 0; i < l->filled_pages; i++)
		if (LAYOUT_PFN(l->pfn[i]) != LAYOUT_GONE)
			l->pfn[i] |= LAYOUT_CHOSEN;
}

void region_pick_not_held(struct layout *l)
{
	for (size_t i = 0; i < l->filled_pages; i++) {
		if (!(l->pfn[i] & LAYOUT_CHOSEN) && LAYOUT_PFN(l->pfn[i]) != LAYOUT_GONE)
			bit_set(l->pick, LAYOUT_PFN(l->pfn[i]));
		l->pfn[i] &= ~LAYOUT_CHOSEN;
	}
}

void region_count_zones(const struct layout *l, uint64_t count[ZONES_MAX])
{
	const struct zone *zone = NULL;

	memset(count, 0, ZONES_MAX * sizeof(*count));
	for (size_t i = 0; i < l->filled_pages; i++) {
		uint32_t pfn = LAYOUT_PFN(l->pfn[i]);

		if (pfn == LAYOUT_GONE)
			continue;
		if (!zone || pfn < zone->start_pfn || pfn - zone->start_pfn >= zone->spanned)
			zone = zones_of_pfn(&l->zones, pfn);
		if (zone)
			count[zone - l->zones.zone]++;
	}
}

int region_map(struct layout *l, const struct expr *where)
{
	static uint8_t picked[CHUNK];
	size_t bytes = l->pfn_end / 8 + 1;

	memset(l->own, 0, bytes);
	memset(l->avail, 0, bytes);
	memset(l->pick, 0, bytes);
	for (size_t i = 0; i < l->filled_pages; i += CHUNK) {
		size_t m = l->filled_pages - i < CHUNK ? l->filled_pages - i : CHUNK;

		if (layout_select(l, where, i, m, picked) < 0)
			return -1;
		for (size_t k = 0; k < m; k++) {
			uint32_t pfn = LAYOUT_PFN(l->pfn[i + k]);

			if (pfn == LAYOUT_GONE)
				continue;
			bit_set(l->own, pfn);
			if (picked[k] && !(l->pfn[i + k] & LAYOUT_PINNED))
				bit_set(l->avail, pfn);
		}
	}
	return 0;
}
