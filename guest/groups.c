// SPDX-License-Identifier: GPL-2.0-only
#include "guest/groups.h"

#include <string.h>

#include "guest/region.h"

/* Each step can be undone modulo 2^bits: xor, an odd factor, a shift to the right. */
uint32_t groups_permute(uint32_t i, unsigned int bits, uint64_t seed)
{
	uint32_t mask = bits >= 32 ? UINT32_MAX : (1u << bits) - 1, x = i & mask;

	for (unsigned int round = 0; round < 3; round++) {
		x ^= expr_rand(seed, 2 * round) & mask;
		x = (x * (expr_rand(seed, 2 * round + 1) | 1)) & mask;
		x ^= x >> (bits / 2 + 1);
	}
	return x;
}

static bool all_set(const uint8_t *map, uint32_t first, uint32_t n)
{
	for (uint32_t i = first; i < first + n;) {
		if (i % 8 == 0 && first + n - i >= 8) {
			if (map[i / 8] != 0xff)
				return false;
			i += 8;
		} else if (!bit_test(map, i++)) {
			return false;
		}
	}
	return true;
}

/* A page of the buddy that stays: one that stays anyway where there is one. */
static bool keep_in(struct layout *l, uint32_t buddy, uint32_t n)
{
	uint32_t last = buddy + n < l->pfn_end ? buddy + n : l->pfn_end, own = UINT32_MAX;

	for (uint32_t i = buddy; i < last; i++) {
		if (!bit_test(l->own, i))
			continue;
		if (!bit_test(l->avail, i))
			return true;
		if (own == UINT32_MAX)
			own = i;
	}
	if (own == UINT32_MAX)
		return false;
	bit_clear(l->avail, own);
	return true;
}

static bool pick_group(struct layout *l, uint32_t first, unsigned int order, bool block)
{
	uint32_t n = 1u << order, *word = &l->block[first / l->block_pages];

	if ((block && *word != 1) || first + n > l->pfn_end || !all_set(l->avail, first, n))
		return false;
	if (order < GROUPS_TOP_ORDER && !keep_in(l, first ^ n, n))
		return false;
	for (uint32_t i = first; i < first + n; i++) {
		bit_clear(l->own, i);
		bit_clear(l->avail, i);
		bit_set(l->pick, i);
	}
	if (block)
		*word = 2;
	return true;
}

uint64_t groups_pick(struct layout *l, unsigned int order, uint64_t n, uint64_t seed, bool block)
{
	uint32_t groups = (l->pfn_end + (1u << order) - 1) >> order;
	unsigned int bits = 0;
	uint64_t got = 0;

	while (bits < 31 && 1u << bits < groups)
		bits++;
	for (uint64_t i = 0; i < 1ull << bits && got < n; i++) {
		uint32_t g = groups_permute((uint32_t)i, bits, seed + order);

		if (g < groups && bit_test(l->avail, g << order))
			got += pick_group(l, g << order, order, block);
	}
	return got;
}
