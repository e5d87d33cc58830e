/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_EXPR_VALUE_H
#define MMRIG_EXPR_VALUE_H
/*
 * What an expression may come to, when its variables are known by their ranges alone: never less than
 * it can, sometimes more. Arithmetic is that of guest/expr.h; an evaluation that divides by zero has no
 * value.
 */
#include "guest/expr_code.h"

struct expr_value {
	bool none;	  /* no value at all; the rest means nothing */
	int64_t lo, hi;	  /* from lo to hi, both among them */
	int64_t mod, rem; /* and equal to rem modulo mod; mod 0: rem alone */
	uint64_t mask;	  /* and, where all are 0 to 63, those whose bits are set; otherwise 0 */
};

struct expr_value expr_value_range(int64_t lo, int64_t hi);
struct expr_value expr_value_const(int64_t v);
/* Bits of those that are possible, 0 to 63. */
struct expr_value expr_value_mask(uint64_t mask);
/* Of an operator; b means nothing for those that take one value. */
struct expr_value expr_value_apply(enum expr_op op, struct expr_value a, struct expr_value b);
struct expr_value expr_value_in(struct expr_value x, struct expr_value lo, struct expr_value hi);
/* Those that are in both. */
struct expr_value expr_value_meet(struct expr_value a, struct expr_value b);
/* Those of a for which `a OP b` can be true; a comparison. */
struct expr_value expr_value_restrict(struct expr_value a, enum expr_op op, struct expr_value b);
/* The same numbers, equal to rem modulo mod (1 or more). */
struct expr_value expr_value_congruent(struct expr_value a, int64_t mod, int64_t rem);

static inline bool expr_value_is_exact(const struct expr_value *v)
{
	return !v->none && v->lo == v->hi;
}

static inline bool expr_value_may_be_true(const struct expr_value *v)
{
	return !v->none && (v->lo != 0 || v->hi != 0);
}

static inline bool expr_value_may_be_false(const struct expr_value *v)
{
	return !v->none && v->lo <= 0 && v->hi >= 0 && (!v->mask || v->mask & 1) &&
	       (v->mod <= 1 || v->rem == 0);
}

#endif
