/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_FORMULA_H
#define MMRIG_FORMULA_H
/*
 * Arithmetic over metrics: "100 * pgsteal_kswapd / pgscan_kswapd", "pgscan_direct / seconds",
 * "nr_vmscan_write - pswpout". Numbers are floating; + - * / and parentheses as in C. "a | b" is a,
 * or where a name of a is absent, b: for names that the kernel changed. A formula one of whose
 * names is absent has no value.
 */
#include <stdbool.h>

struct formula_env {
	const double *(*get)(void *arg, const char *name); /* NULL: absent */
	void *arg;
	double at_zero; /* value where a divisor is 0; NAN: none */
};

enum formula_result {
	FORMULA_VALUE,
	FORMULA_ABSENT,	   /* a name is */
	FORMULA_UNDEFINED, /* division by zero, or a result that is not finite */
	FORMULA_MALFORMED,
};
enum formula_result formula_eval(const char *text, const struct formula_env *env, double *value);

#endif
