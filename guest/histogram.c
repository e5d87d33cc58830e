// SPDX-License-Identifier: GPL-2.0-only
#include "guest/histogram.h"

#include <inttypes.h>
#include <stdio.h>

unsigned int histogram_index(uint64_t value)
{
	unsigned int shift;

	if (value < HISTOGRAM_SUB)
		return (unsigned int)value;
	shift = 63 - (unsigned int)__builtin_clzll(value) - 4; /* log2 of 16 buckets */
	return (shift + 1) * HISTOGRAM_SUB + (unsigned int)(value >> shift) - HISTOGRAM_SUB;
}

void histogram_bounds(unsigned int index, uint64_t *low, uint64_t *high)
{
	unsigned int shift = index / HISTOGRAM_SUB;

	if (shift == 0) {
		*low = *high = index;
		return;
	}
	shift--;
	*low = (uint64_t)(index % HISTOGRAM_SUB + HISTOGRAM_SUB) << shift;
	*high = *low + ((1ULL << shift) - 1);
}

void histogram_add(struct histogram *h, uint64_t value)
{
	h->count[histogram_index(value)]++;
	h->n++;
	if (value > h->max)
		h->max = value;
}

uint64_t histogram_quantile(const struct histogram *h, uint64_t per_million)
{
	uint64_t rank, seen = 0, low, high;

	if (!h->n)
		return 0;
	rank = (uint64_t)(((unsigned __int128)h->n * per_million + 999999) / 1000000);
	if (rank == 0)
		rank = 1;
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->count[i];
		if (seen >= rank) {
			histogram_bounds(i, &low, &high);
			return high < h->max ? high : h->max;
		}
	}
	return h->max;
}

size_t histogram_json(const struct histogram *h, char *out, size_t room)
{
	size_t n;
	const char *comma = "";

	if (room < sizeof("[]"))
		return 0;
	n = (size_t)snprintf(out, room, "[");
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS && n + 80 < room; i++) {
		uint64_t low, high;

		if (!h->count[i])
			continue;
		histogram_bounds(i, &low, &high);
		n += (size_t)snprintf(out + n, room - n, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
				      comma, low, high, h->count[i]);
		comma = ",";
	}
	return n + (size_t)snprintf(out + n, room - n, "]");
}

size_t histogram_metrics(const struct histogram *h, const char *name, char *out, size_t room)
{
	if (!h->n)
		return 0;
	return (size_t)snprintf(out, room,
				",\"%s_median\":%" PRIu64 ",\"%s_p99\":%" PRIu64
				",\"%s_max\":%" PRIu64,
				name, histogram_quantile(h, 500000), name,
				histogram_quantile(h, 990000), name, h->max);
}
