// SPDX-License-Identifier: GPL-2.0-only
#include "guest/mix_blocks.h"

#include <string.h>
#include <unistd.h>

#include "guest/groups.h"
#include "guest/region.h"

#define FLAGS_MAX 4096 /* pages of a block looked at with one read */
#define OF_KERNEL (KPF_SLAB_BIT | KPF_PGTABLE_BIT)

static bool is_kernels(struct layout *l, const struct mix *m, uint32_t pfn, uint64_t flags, uint64_t kinds)
{
	if (flags & kinds || bit_test(l->aside, pfn))
		return true;
	if (flags || !m->holds || !m->holds(pfn))
		return false;
	bit_set(l->aside, pfn);
	return true;
}

/* Pages of the kernel's from pfn on, n at most FLAGS_MAX; -1: cannot be read. */
static int64_t count_kernel(struct layout *l, const struct mix *m, uint32_t pfn, uint32_t n,
			    uint64_t kinds)
{
	static uint64_t flags[FLAGS_MAX];
	ssize_t got = pread(l->map.kpageflags_fd, flags, n * sizeof(*flags), (off_t)pfn * 8);
	int64_t found = 0;

	if (got < 0)
		return -1;
	for (uint32_t i = 0; i < (size_t)got / 8; i++)
		found += is_kernels(l, m, pfn + i, flags[i], kinds);
	return found;
}

/* kinds: the flags that count; what is aside does in any case. */
static int64_t count_block(struct layout *l, const struct mix *m, size_t b, uint64_t kinds)
{
	uint32_t first = (uint32_t)b * l->block_pages, end = first + l->block_pages;
	int64_t found = 0;

	if (end > l->pfn_end)
		end = l->pfn_end;
	for (uint32_t n; first < end; first += n) {
		int64_t more;

		n = end - first < FLAGS_MAX ? end - first : FLAGS_MAX;
		more = count_kernel(l, m, first, n, kinds);
		if (more < 0)
			return -1;
		found += more;
	}
	return found;
}

static bool in_dma_zone(const struct layout *l, size_t b)
{
	const struct zone *z = zones_of_pfn(&l->zones, (uint64_t)b * l->block_pages + l->block_pages - 1);

	return z && z->index == EXPR_ZONE_DMA;
}

static int find_candidates(struct layout *l, struct mix *m)
{
	memset(l->block, 0, l->nblocks * sizeof(*l->block));
	for (uint32_t pfn = 0; pfn < l->pfn_end; pfn++)
		if (bit_test(l->avail, pfn))
			l->block[pfn / l->block_pages] = MIX_CANDIDATE;
	m->candidates = 0;
	for (size_t b = 0; b < l->nblocks; b++) {
		int64_t n = l->block[b] == MIX_CANDIDATE ? count_block(l, m, b, OF_KERNEL) : 0;

		if (n < 0)
			return -1;
		if (n || in_dma_zone(l, b))
			l->block[b] = MIX_NONE;
		m->candidates += l->block[b] == MIX_CANDIDATE;
	}
	return 0;
}

/* Page frames aside; outside: those of them in blocks that are not chosen. */
static uint64_t count_aside(const struct layout *l, uint64_t *outside)
{
	uint64_t n = 0;

	*outside = 0;
	for (uint32_t pfn = 0; pfn < l->pfn_end; pfn++) {
		if (!bit_test(l->aside, pfn))
			continue;
		n++;
		*outside += l->block[pfn / l->block_pages] < MIX_CHOSEN;
	}
	return n;
}

int mix_choose(struct layout *l, struct mix *m)
{
	unsigned int bits = 0;
	uint64_t outside;

	if (find_candidates(l, m) < 0)
		return -1;
	m->aside_before = count_aside(l, &outside);
	m->asked = (m->candidates * m->share_ppm + 500000) / 1000000;
	while (1ull << bits < l->nblocks)
		bits++;
	for (uint32_t i = 0; i < 1ull << bits && m->chosen < m->asked; i++) {
		uint32_t b = groups_permute(i, bits, m->seed);

		if (b >= l->nblocks || l->block[b] != MIX_CANDIDATE)
			continue;
		l->block[b] = MIX_CHOSEN;
		m->chosen++;
	}
	for (size_t b = 0; b < l->nblocks; b++)
		if (l->block[b] == MIX_CANDIDATE)
			l->block[b] = MIX_NONE;
	return 0;
}

uint64_t mix_pick_groups(struct layout *l, struct mix *m)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < m->per_block; i++) {
		for (size_t b = 0; b < l->nblocks; b++)
			if (l->block[b] == MIX_CHOSEN)
				l->block[b] = MIX_CANDIDATE;
		n += groups_pick(l, m->group_order, m->chosen, m->seed++, true);
		for (size_t b = 0; b < l->nblocks; b++)
			if (l->block[b] == MIX_CANDIDATE)
				l->block[b] = MIX_CHOSEN;
	}
	return n;
}

void mix_limit_cushion(struct layout *l, uint32_t most)
{
	for (int chosen = 1; chosen >= 0; chosen--) {
		for (uint32_t pfn = 0; pfn < l->pfn_end; pfn++) {
			bool in = l->block[pfn / l->block_pages] >= MIX_CHOSEN;

			if (!bit_test(l->avail, pfn) || in != chosen)
				continue;
			if (most && pfn % 4 == 0)
				most--;
			else
				bit_clear(l->avail, pfn);
		}
	}
}

uint64_t mix_count_taken(struct layout *l, struct mix *m)
{
	uint64_t taken = 0, kinds = m->holds ? 0 : OF_KERNEL;

	for (size_t b = 0; b < l->nblocks; b++) {
		if (l->block[b] == MIX_CHOSEN && count_block(l, m, b, kinds) >= m->per_block)
			l->block[b] = MIX_TAKEN;
		taken += l->block[b] == MIX_TAKEN;
	}
	return taken;
}

int mix_count_pages(struct layout *l, struct mix *m)
{
	for (size_t b = 0; b < l->nblocks; b++) {
		bool chosen = l->block[b] >= MIX_CHOSEN;
		int64_t n = chosen || m->holds ? count_block(l, m, b, OF_KERNEL) : 0;

		if (n < 0)
			return -1;
		m->inside += chosen ? (uint64_t)n : 0;
	}
	/* What was there before is outside: no block that holds it was a candidate. */
	m->aside = count_aside(l, &m->outside) - m->aside_before;
	m->outside -= m->aside_before;
	return 0;
}
