// SPDX-License-Identifier: GPL-2.0-only
#include "guest/mix_blocks.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
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

int mix_blocks_init(struct layout *l)
{
	size_t bytes = l->nblocks / 8 + 1;
	uint8_t *bits = mmap(NULL, 4 * bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (bits == MAP_FAILED)
		return -1;
	l->reclaimable = bits;
	l->scope = bits + bytes;
	l->held_before = bits + 2 * bytes;
	l->map.kernels = bits + 3 * bytes;
	l->map.kernels_order = l->block_order;
	return 0;
}

/* ---- which blocks there are ---- */

static bool has_ram(const struct layout *l, size_t b)
{
	uint64_t first = (uint64_t)b * l->block_pages, end = first + l->block_pages;

	for (size_t i = 0; i < l->map.ram.n; i++)
		if (l->map.ram.range[i].first < end && l->map.ram.range[i].end > first)
			return true;
	return !l->map.ram.n && first < l->pfn_end;
}

uint64_t mix_blocks_all(const struct layout *l)
{
	uint64_t n = 0;

	for (size_t b = 0; b < l->nblocks; b++)
		n += has_ram(l, b);
	return n;
}

static bool holds_kind(const struct layout *l, size_t b, bool reclaimable)
{
	return bit_test(l->map.kernels, (uint32_t)b) && bit_test(l->reclaimable, (uint32_t)b) == reclaimable;
}

/* The same while a step is at work: what came since it has filled memory is of its kind, also astray. */
static bool holds_now(const struct layout *l, const struct mix *m, size_t b)
{
	if (m->reclaimable && m->filled && !bit_test(l->held_before, (uint32_t)b))
		return bit_test(l->map.kernels, (uint32_t)b);
	return holds_kind(l, b, m->reclaimable);
}

uint64_t mix_blocks_held(const struct layout *l, bool reclaimable)
{
	uint64_t n = 0;

	for (size_t b = 0; b < l->nblocks; b++)
		n += holds_kind(l, b, reclaimable);
	return n;
}

static const struct zone *zone_of_block(const struct layout *l, size_t b)
{
	return zones_of_pfn(&l->zones, (uint64_t)b * l->block_pages + l->block_pages - 1);
}

/* Does `where` select a page of it? -1: division by zero. */
static int selects(struct layout *l, size_t b, const struct expr *where)
{
	static uint32_t pfn[FLAGS_MAX];
	static uint8_t picked[FLAGS_MAX];
	uint32_t first = (uint32_t)b * l->block_pages, end = first + l->block_pages;
	const struct zone *z = zone_of_block(l, b);

	for (uint32_t n; first < end; first += n) {
		n = end - first < FLAGS_MAX ? end - first : FLAGS_MAX;
		for (uint32_t i = 0; i < n; i++)
			pfn[i] = first + i;
		if (expr_eval_pfns(where, pfn, n, l->block_pages, l->seed, z ? z->index : 0, z ? z->node : 0,
				   cma_has(&l->cma, first), picked) != EXPR_OK)
			return -1;
		if (memchr(picked, 1, n))
			return 1;
	}
	return 0;
}

static int find_scope(struct layout *l, struct mix *m, const struct expr *where)
{
	memset(l->scope, 0, l->nblocks / 8 + 1);
	m->all = 0;
	for (size_t b = 0; b < l->nblocks; b++) {
		int in = has_ram(l, b) ? selects(l, b, where) : 0;

		if (in < 0) {
			errno = EDOM;
			return -1;
		}
		if (in)
			bit_set(l->scope, (uint32_t)b);
		m->all += (uint64_t)in;
	}
	return 0;
}

int mix_count_held(struct layout *l, struct mix *m)
{
	if (pageblocks_read(&l->map, l->child) < 0)
		return -1;
	m->held = 0;
	for (size_t b = 0; b < l->nblocks; b++)
		m->held += bit_test(l->scope, (uint32_t)b) && holds_now(l, m, b);
	return 0;
}

int mix_begin(struct layout *l, struct mix *m, const struct expr *where)
{
	uint64_t outside;

	memset(l->block, 0, l->nblocks * sizeof(*l->block));
	if (find_scope(l, m, where) < 0 || mix_count_held(l, m) < 0)
		return -1;
	m->before = m->held;
	m->asked = (m->all * m->share_ppm + 500000) / 1000000;
	m->aside_before = count_aside(l, &outside);
	return 0;
}

/* ---- which of them are chosen ---- */

static bool is_candidate(struct layout *l, size_t b)
{
	const struct zone *z = zone_of_block(l, b);

	return l->block[b] == MIX_CANDIDATE && !bit_test(l->map.kernels, (uint32_t)b) &&
	       bit_test(l->scope, (uint32_t)b) && !(z && z->index == EXPR_ZONE_DMA);
}

static uint64_t find_candidates(struct layout *l)
{
	uint64_t n = 0;

	for (uint32_t pfn = 0; pfn < l->pfn_end; pfn++)
		if (bit_test(l->avail, pfn) && l->block[pfn / l->block_pages] == MIX_NONE)
			l->block[pfn / l->block_pages] = MIX_CANDIDATE;
	for (size_t b = 0; b < l->nblocks; b++) {
		if (l->block[b] == MIX_CANDIDATE && !is_candidate(l, b))
			l->block[b] = MIX_NONE;
		n += l->block[b] == MIX_CANDIDATE;
	}
	return n;
}

/* Chosen blocks that hold nothing yet, the first `keep` of them left as they are, are chosen no more. */
static uint64_t drop_empty(struct layout *l, struct mix *m, uint64_t keep)
{
	uint64_t n = 0;

	for (size_t b = 0; b < l->nblocks; b++) {
		if (l->block[b] != MIX_CHOSEN || bit_test(l->map.kernels, (uint32_t)b))
			continue;
		if (n < keep) {
			n++;
			continue;
		}
		l->block[b] = MIX_NONE;
		m->chosen--;
	}
	return n;
}

bool mix_is_done(struct layout *l, struct mix *m)
{
	if (m->held < m->asked)
		return false;
	drop_empty(l, m, 0);
	return m->taken >= m->chosen;
}

int mix_choose(struct layout *l, struct mix *m)
{
	uint64_t want, candidates;
	unsigned int bits = 0;

	if (mix_count_held(l, m) < 0)
		return -1;
	if (!m->filled)
		memcpy(l->held_before, l->map.kernels, l->nblocks / 8 + 1);
	m->filled = true;
	want = m->asked > m->held ? m->asked - m->held : 0;
	want -= drop_empty(l, m, want);
	candidates = find_candidates(l);
	if (!m->candidates)
		m->candidates = candidates;
	while (1ull << bits < l->nblocks)
		bits++;
	for (uint32_t i = 0; i < 1ull << bits && want; i++) {
		uint32_t b = groups_permute(i, bits, m->seed);

		if (b >= l->nblocks || l->block[b] != MIX_CANDIDATE)
			continue;
		l->block[b] = MIX_CHOSEN;
		m->chosen++;
		want--;
	}
	for (size_t b = 0; b < l->nblocks; b++)
		if (l->block[b] == MIX_CANDIDATE)
			l->block[b] = MIX_NONE;
	return 0;
}

void mix_mark(struct layout *l, const struct mix *m)
{
	for (size_t b = 0; b < l->nblocks && m->reclaimable; b++)
		if (holds_now(l, m, b))
			bit_set(l->reclaimable, (uint32_t)b);
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

/* A block that holds something, or is to: pages of the kernel's that land there change no count. */
static bool is_open(const struct layout *l, uint32_t pfn)
{
	uint32_t b = pfn / l->block_pages;

	return l->block[b] >= MIX_CHOSEN || bit_test(l->map.kernels, b);
}

uint64_t mix_limit_cushion(struct layout *l, uint64_t most, uint64_t least, bool again)
{
	uint64_t n = 0;

	for (int open = 1; open >= 0; open--) {
		uint64_t end = open ? most : least;

		for (uint32_t pfn = 0; pfn < l->pfn_end; pfn++) {
			bool fits = open && again ? pfn % 8 == 2 : pfn % 4 == 0;

			if (!bit_test(l->avail, pfn) || is_open(l, pfn) != open)
				continue;
			if (n < end && fits)
				n++;
			else
				bit_clear(l->avail, pfn);
		}
	}
	return n;
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
