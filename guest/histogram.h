/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_HISTOGRAM_H
#define MMRIG_HISTOGRAM_H
/*
 * Log-linear histogram of nanoseconds: 16 buckets a power of two, so that a quantile is right to
 * 1/16 (6.25 %). The largest value is kept exactly. Fixed size, no allocation.
 */
#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_SUB 16
#define HISTOGRAM_BUCKETS (61 * HISTOGRAM_SUB)

struct histogram {
	uint64_t count[HISTOGRAM_BUCKETS];
	uint64_t n, max;
};

unsigned int histogram_index(uint64_t value);
/* The bucket holds [low, high]. */
void histogram_bounds(unsigned int index, uint64_t *low, uint64_t *high);
void histogram_add(struct histogram *h, uint64_t value);
/*
 * The smallest bucket's upper bound under which at least `per_million` of the values lie (nearest
 * rank), never above the largest value seen; 0 when empty.
 */
uint64_t histogram_quantile(const struct histogram *h, uint64_t per_million);
/*
 * "[[low,high,n],...]" of the buckets that are not empty; as many as fit. Returns the length,
 * 0 with nothing written where not even "[]" fits.
 */
size_t histogram_json(const struct histogram *h, char *out, size_t room);
/*
 * `,"NAME_median":1,"NAME_p99":2,"NAME_max":3` for the metrics of a result; nothing where there is
 * nothing to take a quantile of. Returns the length.
 */
size_t histogram_metrics(const struct histogram *h, const char *name, char *out, size_t room);

#endif
