// SPDX-License-Identifier: GPL-2.0-only
#include "guest/step_zones.h"

#include <stdio.h>
#include <string.h>

#include "guest/expr_code.h"

#define DMA_BYTES (16ull << 20)
#define Q35_LOW (2ull << 30)
#define PC_HIGH_FROM (3584ull << 20)
#define PC_LOW (3ull << 30)

/* What lies below 4 GiB, of so much memory: the first of it. */
static uint64_t low_least(uint64_t memory)
{
	return memory < STEP_NORMAL_FROM ? memory : Q35_LOW;
}

static uint64_t low_most(uint64_t memory)
{
	return memory < PC_HIGH_FROM ? memory : PC_LOW;
}

/* Of the memory from byte `from` to byte `to`, how much lies between these two. */
static uint64_t overlap(uint64_t from, uint64_t to, uint64_t first, uint64_t end)
{
	from = from > first ? from : first;
	to = to < end ? to : end;
	return to > from ? to - from : 0;
}

uint64_t step_zone_bytes(const struct step_context *c, int zone, int64_t node)
{
	uint64_t from = 0, to = c->memory_bytes;

	if (node >= 0 && c->nnodes) {
		for (int64_t i = 0; i < node && (size_t)i < c->nnodes; i++)
			from += c->node_bytes[i];
		to = from + ((size_t)node < c->nnodes ? c->node_bytes[node] : 0);
	}
	switch (zone) {
	case EXPR_ZONE_DMA:
		return overlap(from, to, 0, DMA_BYTES);
	case EXPR_ZONE_DMA32:
		return overlap(from, to, 0, low_most(c->memory_bytes));
	case EXPR_ZONE_NORMAL:
		return overlap(from, to, low_least(c->memory_bytes), c->memory_bytes);
	case EXPR_ZONE_MOVABLE:
		return c->movable ? to - from : 0;
	default:
		return 0;
	}
}

uint64_t step_zones(const struct step_context *c, int64_t node)
{
	uint64_t zones = 0;

	for (int zone = 0; zone <= EXPR_ZONE_DEVICE; zone++)
		zones |= (uint64_t)(step_zone_bytes(c, zone, node) != 0) << zone;
	return zones;
}

struct zones_text step_zones_text(uint64_t zones)
{
	int left = __builtin_popcountll(zones);
	struct zones_text t = { "" };

	for (int zone = 0; zone <= EXPR_ZONE_DEVICE; zone++) {
		size_t n = strlen(t.text);

		if (!(zones >> zone & 1))
			continue;
		left--;
		snprintf(t.text + n, sizeof(t.text) - n, "%s%s", expr_zone_names[zone],
			 left > 1 ? ", " : left ? " and " : "");
	}
	return t;
}
