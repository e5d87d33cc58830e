// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intervals, with a congruence and, for small numbers, a set beside them: `pfn % 8` is a set, and
 * `pfn * 8` a congruence. Two small operands are simply tried out, each with each.
 */
#include "guest/expr_value_impl.h"

static const struct expr_value any = { .lo = INT64_MIN, .hi = INT64_MAX, .mod = 1 };

static uint64_t bits_of_range(int64_t lo, int64_t hi)
{
	return (hi == 63 ? UINT64_MAX : (1ull << (hi + 1)) - 1) & ~((1ull << lo) - 1);
}

struct expr_value expr_value_mask(uint64_t mask)
{
	struct expr_value v = { .mask = mask };

	if (!mask)
		return none;
	v.lo = __builtin_ctzll(mask);
	v.hi = 63 - __builtin_clzll(mask);
	for (int64_t i = v.lo + 1; i <= v.hi; i++)
		if (mask >> i & 1)
			v.mod = (int64_t)gcd((uint64_t)v.mod, (uint64_t)(i - v.lo));
	v.rem = v.mod ? v.lo % v.mod : v.lo;
	return v;
}

struct expr_value expr_value_tidy(struct expr_value v)
{
	wide lo = v.lo, hi = v.hi;

	if (v.none)
		return none;
	if (v.mod == 0) {
		lo = lo > v.rem ? lo : v.rem;
		hi = hi < v.rem ? hi : v.rem;
	} else if (v.mod > 1) {
		lo += residue((wide)v.rem - lo, v.mod);
		hi -= residue(hi - v.rem, v.mod);
	}
	if (lo > hi)
		return none;
	v.lo = (int64_t)lo;
	v.hi = (int64_t)hi;
	if (v.lo >= 0 && v.hi < 64) {
		uint64_t mask = bits_of_range(v.lo, v.hi) & (v.mask ? v.mask : UINT64_MAX);

		for (int64_t i = v.lo; i <= v.hi && v.mod > 1; i++)
			if (i % v.mod != v.rem)
				mask &= ~(1ull << i);
		return expr_value_mask(mask);
	}
	v.mask = 0;
	if (v.lo == v.hi) {
		v.mod = 0;
		v.rem = v.lo;
	}
	return v;
}

struct expr_value expr_value_range(int64_t lo, int64_t hi)
{
	return expr_value_tidy((struct expr_value){ .lo = lo, .hi = hi, .mod = 1 });
}

struct expr_value expr_value_const(int64_t v)
{
	return expr_value_range(v, v);
}

/* All of them where the numbers leave 64 bits: those wrap. */
static struct expr_value of_wide(wide lo, wide hi, wide mod, wide rem)
{
	if (lo < INT64_MIN || hi > INT64_MAX)
		return any;
	if (mod < 0)
		mod = -mod;
	if (mod > INT64_MAX)
		mod = 1;
	return expr_value_tidy((struct expr_value){ .lo = (int64_t)lo,
					 .hi = (int64_t)hi,
					 .mod = mod ? (int64_t)mod : 1,
					 .rem = mod ? residue(rem, (int64_t)mod) : 0 });
}

/* ---- sets ---- */

struct found {
	uint64_t mask, gcd;
	int64_t first, lo, hi;
	bool some, small;
};

static void find(struct found *f, int64_t v)
{
	if (!f->some)
		*f = (struct found){ .first = v, .lo = v, .hi = v, .some = true, .small = true };
	f->lo = v < f->lo ? v : f->lo;
	f->hi = v > f->hi ? v : f->hi;
	f->small &= v >= 0 && v < 64;
	if (f->small)
		f->mask |= 1ull << v;
	f->gcd = gcd(f->gcd, v > f->first ? (uint64_t)v - (uint64_t)f->first :
					    (uint64_t)f->first - (uint64_t)v);
}

static struct expr_value try_out(enum expr_op op, uint64_t a, uint64_t b)
{
	struct found f = { 0 };

	for (int64_t i = 0; i < 64; i++)
		for (int64_t k = 0; a >> i & 1 && k < 64; k++)
			if (b >> k & 1 && (k || (op != OP_DIV && op != OP_MOD)))
				find(&f, expr_apply(op, i, k));
	if (!f.some)
		return none;
	if (f.small)
		return expr_value_mask(f.mask);
	return of_wide(f.lo, f.hi, f.gcd, f.first);
}

/* ---- arithmetic ---- */

static wide least(const wide v[4])
{
	wide x = v[0];

	for (int i = 1; i < 4; i++)
		x = v[i] < x ? v[i] : x;
	return x;
}

static wide greatest(const wide v[4])
{
	wide x = v[0];

	for (int i = 1; i < 4; i++)
		x = v[i] > x ? v[i] : x;
	return x;
}

static struct expr_value add(struct expr_value a, struct expr_value b, int sign)
{
	wide mod = (wide)gcd((uint64_t)a.mod, (uint64_t)b.mod), rem = (wide)a.rem + sign * (wide)b.rem;

	if (sign < 0)
		return of_wide((wide)a.lo - b.hi, (wide)a.hi - b.lo, mod, rem);
	return of_wide((wide)a.lo + b.lo, (wide)a.hi + b.hi, mod, rem);
}

static struct expr_value multiply(struct expr_value a, struct expr_value b)
{
	const wide v[4] = { (wide)a.lo * b.lo, (wide)a.lo * b.hi, (wide)a.hi * b.lo,
			    (wide)a.hi * b.hi };

	if (expr_value_is_exact(&a))
		return of_wide(least(v), greatest(v), (wide)b.mod * a.lo, (wide)b.rem * a.lo);
	if (expr_value_is_exact(&b))
		return of_wide(least(v), greatest(v), (wide)a.mod * b.lo, (wide)a.rem * b.lo);
	return of_wide(least(v), greatest(v), 1, 0);
}

static struct expr_value divide(struct expr_value a, struct expr_value b)
{
	wide most = a.lo < 0 && -(wide)a.lo > a.hi ? -(wide)a.lo : a.hi;

	if (b.lo < 0)
		return of_wide(-most, most, 1, 0);
	if (b.hi == 0)
		return none;
	b.lo = b.lo ? b.lo : 1;
	{
		const wide v[4] = { a.lo / b.lo, a.lo / b.hi, a.hi / b.lo, a.hi / b.hi };

		return of_wide(least(v), greatest(v), 1, 0);
	}
}

static struct expr_value modulo(struct expr_value a, struct expr_value b)
{
	wide most = (b.lo < 0 && -(wide)b.lo > b.hi ? -(wide)b.lo : (wide)b.hi) - 1;
	wide mod = expr_value_is_exact(&b) ? (wide)gcd((uint64_t)a.mod, b.lo < 0 ?
								       0 - (uint64_t)b.lo :
								       (uint64_t)b.lo) :
					     1;

	if (most < 0)
		return none;
	if (b.lo > 0 && a.lo >= 0 && a.hi < b.lo)
		return a;
	if (b.lo > 0 && b.lo == b.hi && a.lo >= 0 && a.lo / b.lo == a.hi / b.lo)
		return add(a, expr_value_const(a.lo / b.lo * b.lo), -1);
	return of_wide(a.lo >= 0 ? 0 : (-most > a.lo ? -most : a.lo),
		       a.hi <= 0 ? 0 : (most < a.hi ? most : a.hi), mod, a.rem);
}

/* ---- bits ---- */

/* The lowest number of ones alone that is no less. */
static int64_t ones(int64_t v)
{
	return v ? (int64_t)(UINT64_MAX >> __builtin_clzll((uint64_t)v)) : 0;
}

static struct expr_value bit_and(struct expr_value a, struct expr_value b)
{
	if (expr_value_is_exact(&a)) {
		struct expr_value swap = a;

		a = b;
		b = swap;
	}
	/* The low bits alone are a modulo. */
	if (expr_value_is_exact(&b) && a.lo >= 0 && b.lo > 0 && b.lo < INT64_MAX && ones(b.lo) == b.lo)
		return modulo(a, expr_value_const(b.lo + 1));
	if (a.lo >= 0 && b.lo >= 0)
		return expr_value_range(0, a.hi < b.hi ? a.hi : b.hi);
	if (a.lo >= 0 || b.lo >= 0)
		return expr_value_range(0, a.lo >= 0 ? a.hi : b.hi);
	return any;
}

static struct expr_value bit_or(struct expr_value a, struct expr_value b, bool exclusive)
{
	if (a.lo < 0 || b.lo < 0)
		return any;
	return expr_value_range(exclusive ? 0 : a.lo > b.lo ? a.lo : b.lo, ones(a.hi | b.hi));
}

static struct expr_value shift(enum expr_op op, struct expr_value a, struct expr_value b)
{
	if (b.lo < 0 || b.hi > 62) /* the low six bits count */
		return any;
	if (op == OP_SHL && b.lo == b.hi)
		return multiply(a, expr_value_const((int64_t)1 << b.lo));
	if (op == OP_SHL)
		return a.lo < 0 ? any : of_wide((wide)a.lo << b.lo, (wide)a.hi << b.hi, 1, 0);
	return expr_value_range(a.lo >> (a.lo < 0 ? b.lo : b.hi), a.hi >> (a.hi < 0 ? b.hi : b.lo));
}

/* ---- truth ---- */

static struct expr_value truth(bool may_be_false, bool may_be_true)
{
	return expr_value_mask((uint64_t)may_be_false | (uint64_t)may_be_true << 1);
}

static bool may_be_equal(const struct expr_value *a, const struct expr_value *b)
{
	return !expr_value_meet(*a, *b).none;
}

static struct expr_value compare(enum expr_op op, struct expr_value a, struct expr_value b)
{
	bool same = expr_value_is_exact(&a) && expr_value_is_exact(&b) && a.lo == b.lo;

	switch (op) {
	case OP_EQ:
		return truth(!same, may_be_equal(&a, &b));
	case OP_NE:
		return truth(may_be_equal(&a, &b), !same);
	case OP_LT:
		return truth(a.hi >= b.lo, a.lo < b.hi);
	case OP_LE:
		return truth(a.hi > b.lo, a.lo <= b.hi);
	case OP_GT:
		return truth(a.lo <= b.hi, a.hi > b.lo);
	default:
		return truth(a.lo < b.hi, a.hi >= b.lo);
	}
}

static struct expr_value unary(enum expr_op op, struct expr_value a)
{
	switch (op) {
	case OP_NEG:
		return of_wide(-(wide)a.hi, -(wide)a.lo, a.mod, -(wide)a.rem);
	case OP_COMPL:
		return of_wide(-1 - (wide)a.hi, -1 - (wide)a.lo, a.mod, -1 - (wide)a.rem);
	case OP_NOT:
		return truth(expr_value_may_be_true(&a), expr_value_may_be_false(&a));
	default:
		return truth(expr_value_may_be_false(&a), expr_value_may_be_true(&a));
	}
}

struct expr_value expr_value_apply(enum expr_op op, struct expr_value a, struct expr_value b)
{
	if (a.none || (op > OP_BOOL && b.none))
		return none;
	if (op <= OP_BOOL)
		return unary(op, a);
	if (a.mask && b.mask)
		return try_out(op, a.mask, b.mask);
	if (expr_value_is_exact(&a) && expr_value_is_exact(&b) && b.lo)
		return expr_value_const(expr_apply(op, a.lo, b.lo));
	switch (op) {
	case OP_ADD:
	case OP_SUB:
		return add(a, b, op == OP_ADD ? 1 : -1);
	case OP_MUL:
		return multiply(a, b);
	case OP_DIV:
		return divide(a, b);
	case OP_MOD:
		return modulo(a, b);
	case OP_SHL:
	case OP_SHR:
		return shift(op, a, b);
	case OP_AND:
		return bit_and(a, b);
	case OP_OR:
	case OP_XOR:
		return bit_or(a, b, op == OP_XOR);
	case OP_MIN:
		return expr_value_range(a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi);
	case OP_MAX:
		return expr_value_range(a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi);
	case OP_LAND:
		return truth(expr_value_may_be_false(&a) || expr_value_may_be_false(&b),
			     expr_value_may_be_true(&a) && expr_value_may_be_true(&b));
	case OP_LOR:
		return truth(expr_value_may_be_false(&a) && expr_value_may_be_false(&b),
			     expr_value_may_be_true(&a) || expr_value_may_be_true(&b));
	default:
		return compare(op, a, b);
	}
}

struct expr_value expr_value_in(struct expr_value x, struct expr_value lo, struct expr_value hi)
{
	struct expr_value above, below;

	if (x.none || lo.none || hi.none)
		return none;
	above = compare(OP_GE, x, lo);
	below = compare(OP_LE, x, hi);
	return truth(expr_value_may_be_false(&above) || expr_value_may_be_false(&below),
		     lo.lo <= hi.hi && expr_value_may_be_true(&above) && expr_value_may_be_true(&below) &&
			     !expr_value_meet(x, expr_value_range(lo.lo, hi.hi)).none);
}
