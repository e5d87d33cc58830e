// SPDX-License-Identifier: GPL-2.0-only
/* Which part of a predicate that is never true is to blame, and how that is said. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "guest/expr_tree.h"

#define SHOWN_MAX 60
#define LISTED_MAX 8

static void __attribute__((format(printf, 2, 3))) say(struct expr_finding *f, const char *fmt, ...)
{
	size_t n = strlen(f->text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->text + n, sizeof(f->text) - n, fmt, ap);
	va_end(ap);
}

/* What was written, in one line, the end of it cut off. */
static void say_node(struct expr_finding *f, const char *text, const struct tree_node *n)
{
	uint32_t len = n->to - n->from;

	for (uint32_t i = 0; i < len && i < SHOWN_MAX; i++) {
		char c = text[n->from + i];

		say(f, "%c", c >= 0 && c < ' ' ? ' ' : c);
	}
	if (len > SHOWN_MAX)
		say(f, "...");
}

static bool is_var(const struct tree_node *n, enum expr_var var)
{
	return n->op == OP_VAR && n->imm == var;
}

static void say_number(struct expr_finding *f, bool zone, int64_t v)
{
	if (zone && v >= 0 && v <= EXPR_ZONE_DEVICE)
		say(f, "%s", expr_zone_names[v]);
	else
		say(f, "%" PRId64, v);
}

static void say_list(struct expr_finding *f, bool zone, uint64_t mask)
{
	int left = __builtin_popcountll(mask);

	for (int64_t i = 0; i < 64; i++) {
		if (!(mask >> i & 1))
			continue;
		say_number(f, zone, i);
		left--;
		say(f, "%s", left > 1 ? ", " : left ? " or " : "");
	}
}

static void say_value(struct expr_finding *f, bool zone, const struct expr_value *v)
{
	if (v->lo == v->hi)
		say_number(f, zone, v->lo);
	else if (v->mask && (zone || v->mod > 1 || v->hi == v->lo + 1) &&
		 __builtin_popcountll(v->mask) <= LISTED_MAX)
		say_list(f, zone, v->mask);
	else if (v->mod > 1)
		say(f, "%" PRId64 " to %" PRId64 " in steps of %" PRId64, v->lo, v->hi, v->mod);
	else
		say(f, "%" PRId64 " to %" PRId64, v->lo, v->hi);
}

/* ": pfn % 8 is 0 to 7", of the one side that is no constant. */
static void say_subject(struct tree *t, const char *text, int i, struct expr_finding *f)
{
	const struct tree_node *n = &t->node[i];
	struct expr_value v = tree_value(t, i);

	if (v.none || (v.lo == INT64_MIN && v.hi == INT64_MAX))
		return;
	say(f, ": ");
	say_node(f, text, n);
	if (is_var(n, EXPR_RAND)) {
		say(f, " is 0 or more, and less than 1");
		return;
	}
	say(f, " is ");
	say_value(f, is_var(n, EXPR_ZONE), &v);
	if (n->op == OP_VAR && t->domain->hint[n->imm])
		say(f, "%s", t->domain->hint[n->imm]);
}

static void say_why(struct tree *t, const char *text, int i, struct expr_finding *f)
{
	const struct tree_node *n = &t->node[i];
	bool left, right;

	if (n->op == OP_CONST) {
		say(f, ": it is 0 for every page");
		return;
	}
	if (n->op == OP_IN && t->node[n->kid[1]].op == OP_CONST && t->node[n->kid[2]].op == OP_CONST &&
	    t->node[n->kid[1]].imm > t->node[n->kid[2]].imm) {
		say(f, ": %" PRId64 " is more than %" PRId64, t->node[n->kid[1]].imm,
		    t->node[n->kid[2]].imm);
		return;
	}
	if (n->op == OP_VAR)
		say_subject(t, text, i, f);
	if (n->op != OP_IN && (n->op < OP_EQ || n->op > OP_GE))
		return;
	left = t->node[n->kid[0]].op != OP_CONST;
	right = t->node[n->kid[1]].op != OP_CONST;
	if (left != right)
		say_subject(t, text, left ? n->kid[0] : n->kid[1], f);
}

/* A constant that was folded into the operator, and whose own text is forgotten. */
static bool is_false(const struct tree_node *n)
{
	return n->op == OP_CONST && !n->imm;
}

/* The smallest part that is never true; *beside: what it contradicts, or -1. */
static int smallest(struct tree *t, int *beside)
{
	int i = t->root;

	*beside = -1;
	for (;;) {
		const struct tree_node *n = &t->node[i];

		if (n->op == OP_BOOL) {
			i = n->kid[0];
		} else if ((n->op != OP_LAND && n->op != OP_LOR) || is_false(&t->node[n->kid[1]])) {
			return i;
		} else if (tree_truth(t, n->kid[0]) == EXPR_NEVER) {
			i = n->kid[0];
		} else if (tree_truth(t, n->kid[1]) == EXPR_NEVER) {
			i = n->kid[1];
		} else {
			*beside = n->kid[0];
			return n->kid[1];
		}
	}
}

void tree_find(struct tree *t, const char *text, struct expr_finding *f)
{
	int beside, i;

	t->budget = TREE_BUDGET;
	t->nfacts = 0;
	i = smallest(t, &beside);
	*f = (struct expr_finding){ .column = (int)t->node[i].from + 1,
				    .len = (int)(t->node[i].to - t->node[i].from) };
	f->blame_from = beside < 0 ? f->column - 1 : (int)t->node[beside].from;
	f->blame_len = (int)t->node[i].to - f->blame_from;
	say_node(f, text, &t->node[i]);
	say(f, " is never true");
	if (beside < 0) {
		say_why(t, text, i, f);
		return;
	}
	say(f, " where ");
	say_node(f, text, &t->node[beside]);
	say(f, " is");
}
