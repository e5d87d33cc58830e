/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_EXPR_VALUE_IMPL_H
#define MMRIG_EXPR_VALUE_IMPL_H
/* Between expr_value.c and expr_meet.c. */
#include "guest/expr_value.h"

typedef __int128 wide;

static const struct expr_value none = { .none = true };

static inline uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

/* 0 to m - 1, also of a negative number. */
static inline int64_t residue(wide v, int64_t m)
{
	wide r = v % m;

	return (int64_t)(r < 0 ? r + m : r);
}

/* What its parts say about each other. A mask of 0 says nothing. */
struct expr_value expr_value_tidy(struct expr_value v);

#endif
