// SPDX-License-Identifier: GPL-2.0-only
#include "results/formula.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 16

struct parser {
	const char *p;
	const struct formula_env *env;
	unsigned int depth;
	bool malformed, absent, zero;
};

static double parse_alternatives(struct parser *f);

static bool take(struct parser *f, char c)
{
	while (*f->p == ' ')
		f->p++;
	if (*f->p != c)
		return false;
	f->p++;
	return true;
}

static double parse_name(struct parser *f)
{
	char name[64];
	size_t n = 0;
	const double *v;

	while (isalnum((unsigned char)f->p[n]) || f->p[n] == '_')
		n++;
	if (!n || n >= sizeof(name)) {
		f->malformed = true;
		return 0;
	}
	memcpy(name, f->p, n);
	name[n] = '\0';
	f->p += n;
	v = f->env->get(f->env->arg, name);
	f->absent |= !v;
	return v ? *v : 0;
}

static double parse_number(struct parser *f)
{
	double v = 0, place = 1;

	for (; isdigit((unsigned char)*f->p); f->p++)
		v = 10 * v + (*f->p - '0');
	if (*f->p == '.')
		for (f->p++; isdigit((unsigned char)*f->p); f->p++)
			v += (*f->p - '0') * (place /= 10);
	return v;
}

static double parse_atom(struct parser *f)
{
	double v;

	if (take(f, '(')) {
		if (f->depth++ >= DEPTH_MAX) {
			f->malformed = true;
			return 0;
		}
		v = parse_alternatives(f);
		f->malformed |= !take(f, ')');
		f->depth--;
		return v;
	}
	return isdigit((unsigned char)*f->p) ? parse_number(f) : parse_name(f);
}

static double parse_product(struct parser *f)
{
	double v = parse_atom(f);

	while (!f->malformed) {
		if (take(f, '*')) {
			v *= parse_atom(f);
		} else if (take(f, '/')) {
			double by = parse_atom(f);

			f->zero |= by == 0;
			v = by == 0 ? 0 : v / by;
		} else {
			break;
		}
	}
	return v;
}

static double parse_sum(struct parser *f)
{
	double v = parse_product(f);

	while (!f->malformed) {
		if (take(f, '+'))
			v += parse_product(f);
		else if (take(f, '-'))
			v -= parse_product(f);
		else
			break;
	}
	return v;
}

static double parse_alternatives(struct parser *f)
{
	bool absent = f->absent, zero = f->zero;
	double v = parse_sum(f);

	while (!f->malformed && take(f, '|')) {
		bool lacks = f->absent && !absent, zero_before = f->zero;
		double other;

		/* Both sides are read; what the one that is not wanted lacks does not count. */
		f->absent = absent;
		f->zero = zero;
		other = parse_sum(f);
		if (lacks) {
			v = other;
		} else {
			f->absent = absent;
			f->zero = zero_before;
		}
	}
	return v;
}

enum formula_result formula_eval(const char *text, const struct formula_env *env, double *value)
{
	struct parser f = { .p = text, .env = env };
	double v = parse_alternatives(&f);

	while (*f.p == ' ')
		f.p++;
	if (f.malformed || *f.p)
		return FORMULA_MALFORMED;
	if (f.absent)
		return FORMULA_ABSENT;
	if (f.zero)
		v = env->at_zero;
	if (!isfinite(v))
		return FORMULA_UNDEFINED;
	*value = v;
	return FORMULA_VALUE;
}
