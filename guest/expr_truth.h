/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_EXPR_TRUTH_H
#define MMRIG_EXPR_TRUTH_H
/*
 * Can a predicate be true at all? Found out without evaluating it, from the ranges of its variables:
 * intervals, remainders, and what the sides of && and || say about each other. Libc only.
 */
#include "guest/expr.h"

struct expr_domain {
	struct {
		int64_t lo, hi;
	} var[EXPR_VAR_COUNT];
	uint64_t set[EXPR_VAR_COUNT]; /* bits of the values that a variable has, 0 to 63; 0: its range */
	uint32_t pageblock_pages;     /* block and offset follow from pfn; 0: they have ranges of their own */
	const char *hint[EXPR_VAR_COUNT]; /* behind the range of the variable, in a message; may be NULL */
};

enum expr_truth {
	EXPR_SOMETIMES, /* or it cannot be told */
	EXPR_NEVER,	/* proved: no values of the variables make it true */
	EXPR_ALWAYS,	/* proved: none make it false (some may divide by zero) */
};

/* The part of an EXPR_NEVER that is to blame. */
struct expr_finding {
	int column; /* 1-based, in characters of the text */
	int len;
	int blame_from, blame_len; /* the same, and with what it contradicts; from 0 */
	char text[400];		   /* "node == 7 is never true: node is 0" */
};

/* `text` is what e was compiled of. *f is filled for EXPR_NEVER; it may be NULL. */
enum expr_truth expr_truth(const struct expr *e, const char *text, const struct expr_domain *d,
			   struct expr_finding *f);

#endif
