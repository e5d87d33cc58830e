// SPDX-License-Identifier: GPL-2.0-only
/* Values that two things are known of. */
#include "guest/expr_value_impl.h"

/* Both congruences, or the stronger one where both together would take long to find. */
static bool meet_congruence(struct expr_value *v, const struct expr_value *b)
{
	uint64_t common = gcd((uint64_t)v->mod, (uint64_t)b->mod);
	wide x = v->rem;

	if (!v->mod || !b->mod) {
		const struct expr_value *exact = v->mod ? b : v, *other = v->mod ? v : b;

		if (other->mod ? residue((wide)exact->rem - other->rem, other->mod) != 0 :
				 exact->rem != other->rem)
			return false;
		v->rem = exact->rem;
		v->mod = 0;
		return true;
	}
	if (residue((wide)v->rem - b->rem, (int64_t)common))
		return false;
	if (b->mod / (int64_t)common > 4096 || (wide)b->mod / (int64_t)common * v->mod > INT64_MAX) {
		if (b->mod > v->mod) {
			v->mod = b->mod;
			v->rem = b->rem;
		}
		return true;
	}
	while (residue(x - b->rem, b->mod))
		x += v->mod;
	v->mod *= b->mod / (int64_t)common;
	v->rem = residue(x, v->mod);
	return true;
}

struct expr_value expr_value_meet(struct expr_value a, struct expr_value b)
{
	if (a.none || b.none || !meet_congruence(&a, &b))
		return none;
	a.lo = a.lo > b.lo ? a.lo : b.lo;
	a.hi = a.hi < b.hi ? a.hi : b.hi;
	if (a.mask && b.mask && !(a.mask & b.mask))
		return none;
	a.mask = a.mask && b.mask ? a.mask & b.mask : a.mask | b.mask;
	return expr_value_tidy(a);
}

static struct expr_value without(struct expr_value a, int64_t v)
{
	if (a.mask && v >= 0 && v < 64)
		return expr_value_mask(a.mask & ~(1ull << v));
	if (a.lo == v && a.hi == v)
		return none;
	a.lo += a.lo == v;
	a.hi -= a.hi == v;
	return expr_value_tidy(a);
}

struct expr_value expr_value_restrict(struct expr_value a, enum expr_op op, struct expr_value b)
{
	if (a.none || b.none)
		return none;
	if ((op == OP_LT && b.hi == INT64_MIN) || (op == OP_GT && b.lo == INT64_MAX))
		return none;
	switch (op) {
	case OP_EQ:
		return expr_value_meet(a, b);
	case OP_NE:
		return b.lo == b.hi ? without(a, b.lo) : a;
	case OP_LT:
	case OP_LE:
		return expr_value_meet(a, expr_value_range(INT64_MIN, b.hi - (op == OP_LT)));
	case OP_GT:
	case OP_GE:
		return expr_value_meet(a, expr_value_range(b.lo + (op == OP_GT), INT64_MAX));
	default:
		return a;
	}
}

struct expr_value expr_value_congruent(struct expr_value a, int64_t mod, int64_t rem)
{
	return expr_value_meet(a, (struct expr_value){ .lo = INT64_MIN,
						       .hi = INT64_MAX,
						       .mod = mod,
						       .rem = residue(rem, mod) });
}
