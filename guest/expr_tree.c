// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "guest/expr_tree.h"

static int add(struct tree *t, struct tree_node n)
{
	if (t->n == TREE_NODES_MAX)
		return -1;
	t->node[t->n] = n;
	return t->n++;
}

static int add_const(struct tree *t, int64_t value)
{
	return add(t, (struct tree_node){ .op = OP_CONST, .kid = { -1, -1, -1 }, .imm = value });
}

/* block is pfn / pages, and offset pfn % pages: what is said of one then holds for the others. */
static int add_var(struct tree *t, const struct expr_insn *insn)
{
	struct tree_node n = {
		.op = OP_VAR, .kid = { -1, -1, -1 }, .from = insn->from, .to = insn->to, .imm = insn->imm
	};
	int pfn, pages;

	if (!t->domain->pageblock_pages || (insn->imm != EXPR_BLOCK && insn->imm != EXPR_OFFSET))
		return add(t, n);
	n.op = insn->imm == EXPR_BLOCK ? OP_DIV : OP_MOD;
	n.imm = 0;
	pfn = add(t, (struct tree_node){ .op = OP_VAR, .kid = { -1, -1, -1 }, .imm = EXPR_PFN });
	pages = add_const(t, t->domain->pageblock_pages);
	n.kid[0] = (int16_t)pfn;
	n.kid[1] = (int16_t)pages;
	return pfn < 0 || pages < 0 ? -1 : add(t, n);
}

struct operands {
	int16_t node[EXPR_STACK_MAX + 1];
	int n;
};

/* The node of an operator, its operands taken from the stack and from the instruction. */
static int add_operator(struct tree *t, const struct expr_insn *insn, struct operands *stack)
{
	struct tree_node n = {
		.op = insn->op, .kid = { -1, -1, -1 }, .from = insn->from, .to = insn->to
	};
	int wants = insn->op <= OP_BOOL ? 1 : insn->op == OP_IN ? 3 : 2;
	int folded = !insn->has_imm || insn->op <= OP_BOOL ? 0 : wants - 1;

	for (int k = 0; k < folded; k++) {
		int c = add_const(t, k ? insn->imm2 : insn->imm);

		if (c < 0)
			return -1;
		n.kid[1 + k] = (int16_t)c;
	}
	for (int k = wants - folded; k-- > 0;)
		n.kid[k] = stack->node[--stack->n];
	return add(t, n);
}

/* insn[from .. to), which leave one value. */
static int build(struct tree *t, const struct expr *e, size_t from, size_t to)
{
	struct operands stack = { .n = 0 };

	for (size_t i = from; i < to; i++) {
		const struct expr_insn *insn = &e->insn[i];
		int n;

		if (insn->op == OP_CONST) {
			n = add_const(t, insn->imm);
			if (n >= 0) {
				t->node[n].from = insn->from;
				t->node[n].to = insn->to;
			}
		} else if (insn->op == OP_VAR) {
			n = add_var(t, insn);
		} else if (insn->op == OP_SKIP_FALSE || insn->op == OP_SKIP_TRUE) {
			struct tree_node logic = { .op = insn->op == OP_SKIP_FALSE ? OP_LAND : OP_LOR,
						   .kid = { stack.node[--stack.n], -1, -1 },
						   .from = insn->from,
						   .to = insn->to };
			int right = build(t, e, i + 1, i + 1 + (size_t)insn->imm);

			logic.kid[1] = (int16_t)right;
			n = right < 0 ? -1 : add(t, logic);
			i += (size_t)insn->imm;
		} else {
			n = add_operator(t, insn, &stack);
		}
		if (n < 0)
			return -1;
		stack.node[stack.n++] = (int16_t)n;
	}
	return stack.node[0];
}

bool tree_make(struct tree *t, const struct expr *e, const struct expr_domain *d)
{
	t->domain = d;
	t->n = t->nfacts = 0;
	t->budget = TREE_BUDGET;
	t->root = build(t, e, 0, e->n);
	return t->root >= 0;
}

/* ---- values ---- */

static bool is_same(const struct tree *t, int a, int b)
{
	const struct tree_node *x = &t->node[a], *y = &t->node[b];

	if (a == b)
		return true;
	if (x->op != y->op || x->imm != y->imm)
		return false;
	for (int k = 0; k < 3; k++)
		if ((x->kid[k] < 0) != (y->kid[k] < 0) ||
		    (x->kid[k] >= 0 && !is_same(t, x->kid[k], y->kid[k])))
			return false;
	return true;
}

static struct expr_value with_facts(const struct tree *t, int i, struct expr_value v)
{
	for (int k = 0; k < t->nfacts; k++)
		if (is_same(t, t->fact[k].node, i))
			v = expr_value_meet(v, t->fact[k].value);
	return v;
}

static struct expr_value of_var(const struct tree *t, int64_t var)
{
	const struct expr_domain *d = t->domain;

	return d->set[var] ? expr_value_mask(d->set[var]) :
			     expr_value_range(d->var[var].lo, d->var[var].hi);
}

struct expr_value tree_value(struct tree *t, int i)
{
	static const uint64_t masks[] = { [EXPR_SOMETIMES] = 3, [EXPR_NEVER] = 1, [EXPR_ALWAYS] = 2 };
	const struct tree_node *n = &t->node[i];

	if (--t->budget < 0)
		return expr_value_range(INT64_MIN, INT64_MAX);
	switch (n->op) {
	case OP_CONST:
		return expr_value_const(n->imm);
	case OP_VAR:
		return with_facts(t, i, of_var(t, n->imm));
	case OP_LAND:
	case OP_LOR:
		return with_facts(t, i, expr_value_mask(masks[tree_truth(t, i)]));
	case OP_IN:
		return with_facts(t, i,
				  expr_value_in(tree_value(t, n->kid[0]), tree_value(t, n->kid[1]),
						tree_value(t, n->kid[2])));
	default:
		return with_facts(t, i,
				  expr_value_apply((enum expr_op)n->op, tree_value(t, n->kid[0]),
						   n->kid[1] < 0 ? expr_value_const(0) :
								   tree_value(t, n->kid[1])));
	}
}

/* The right side of && counts where the left one is true, that of || where it is false. */
static enum expr_truth truth_of_logic(struct tree *t, const struct tree_node *n)
{
	bool is_and = n->op == OP_LAND;
	enum expr_truth decided = is_and ? EXPR_NEVER : EXPR_ALWAYS, left = tree_truth(t, n->kid[0]), right;
	int nfacts = t->nfacts;

	if (left == decided)
		return decided;
	tree_assume(t, n->kid[0], is_and);
	right = tree_truth(t, n->kid[1]);
	t->nfacts = nfacts;
	if (right == decided)
		return decided;
	return left == EXPR_SOMETIMES || right == EXPR_SOMETIMES ? EXPR_SOMETIMES : left;
}

enum expr_truth tree_truth(struct tree *t, int i)
{
	const struct tree_node *n = &t->node[i];
	struct expr_value v;

	if (n->op == OP_LAND || n->op == OP_LOR)
		return truth_of_logic(t, n);
	v = tree_value(t, i);
	if (!expr_value_may_be_true(&v))
		return EXPR_NEVER;
	return expr_value_may_be_false(&v) ? EXPR_SOMETIMES : EXPR_ALWAYS;
}

/* ---- facts ---- */

static void hold(struct tree *t, int i, struct expr_value v);

/* What an operand must be, by the constant c beside it, for the operator to come to v. */
static struct expr_value undone(enum expr_op op, struct expr_value kid, int64_t c, struct expr_value v)
{
	struct expr_value shifted;

	switch (op) {
	case OP_ADD:
	case OP_SUB:
		shifted = expr_value_apply(op, kid, expr_value_const(c));
		if (shifted.lo == INT64_MIN && shifted.hi == INT64_MAX) /* it may have wrapped */
			return kid;
		return expr_value_meet(kid, expr_value_apply(op == OP_ADD ? OP_SUB : OP_ADD, v,
							     expr_value_const(c)));
	case OP_DIV: {
		__int128 lo = (__int128)v.lo * c, hi = (__int128)v.hi * c + c - 1;

		if (c <= 0 || kid.lo < 0 || v.lo < 0)
			return kid;
		return expr_value_meet(kid, expr_value_range(lo > INT64_MAX ? INT64_MAX : (int64_t)lo,
							     hi > INT64_MAX ? INT64_MAX : (int64_t)hi));
	}
	case OP_MOD:
		if (c <= 1 || kid.lo < 0 || v.lo < 0)
			return kid;
		if (v.lo == v.hi)
			return expr_value_congruent(kid, c, v.lo);
		/* Of a step that divides c it is still known where within the step. */
		return v.mod > 1 && c % v.mod == 0 ? expr_value_congruent(kid, v.mod, v.rem) : kid;
	default:
		return kid;
	}
}

static void hold_operand(struct tree *t, int i, struct expr_value v)
{
	const struct tree_node *n = &t->node[i];
	struct expr_value right;

	if (v.none || n->kid[1] < 0 || n->kid[2] >= 0)
		return;
	right = tree_value(t, n->kid[1]);
	if (expr_value_is_exact(&right))
		hold(t, n->kid[0],
		     undone((enum expr_op)n->op, tree_value(t, n->kid[0]), right.lo, v));
}

static void hold(struct tree *t, int i, struct expr_value v)
{
	if (t->node[i].op == OP_CONST || t->nfacts == TREE_FACTS_MAX)
		return;
	t->fact[t->nfacts++] = (struct tree_fact){ i, v };
	hold_operand(t, i, v);
}

static enum expr_op negated(enum expr_op op)
{
	switch (op) {
	case OP_EQ:
		return OP_NE;
	case OP_NE:
		return OP_EQ;
	case OP_LT:
		return OP_GE;
	case OP_LE:
		return OP_GT;
	case OP_GT:
		return OP_LE;
	default:
		return OP_LT;
	}
}

static void assume_comparison(struct tree *t, const struct tree_node *n, enum expr_op op)
{
	struct expr_value a = tree_value(t, n->kid[0]), b = tree_value(t, n->kid[1]);

	hold(t, n->kid[0], expr_value_restrict(a, op, b));
	hold(t, n->kid[1], expr_value_restrict(b, expr_mirrored(op), a));
}

static void assume_in(struct tree *t, const struct tree_node *n, bool truth)
{
	struct expr_value x = tree_value(t, n->kid[0]), lo = tree_value(t, n->kid[1]),
			  hi = tree_value(t, n->kid[2]);

	if (x.none || lo.none || hi.none)
		return;
	if (truth)
		hold(t, n->kid[0],
		     expr_value_restrict(expr_value_restrict(x, OP_GE, lo), OP_LE, hi));
	else if (lo.hi <= x.lo) /* not below lo: hence above hi */
		hold(t, n->kid[0], expr_value_restrict(x, OP_GT, hi));
	else if (hi.lo >= x.hi)
		hold(t, n->kid[0], expr_value_restrict(x, OP_LT, lo));
}

void tree_assume(struct tree *t, int i, bool truth)
{
	const struct tree_node *n = &t->node[i];

	if (n->op == OP_NOT || n->op == OP_BOOL) {
		tree_assume(t, n->kid[0], truth == (n->op == OP_BOOL));
	} else if (n->op == (truth ? OP_LAND : OP_LOR)) {
		tree_assume(t, n->kid[0], truth);
		tree_assume(t, n->kid[1], truth);
	} else if (n->op >= OP_EQ && n->op <= OP_GE) {
		assume_comparison(t, n, truth ? (enum expr_op)n->op : negated((enum expr_op)n->op));
	} else if (n->op == OP_IN) {
		assume_in(t, n, truth);
	} else if (n->op != OP_LAND && n->op != OP_LOR) {
		hold(t, i,
		     expr_value_restrict(tree_value(t, i), truth ? OP_NE : OP_EQ, expr_value_const(0)));
	}
}

enum expr_truth expr_truth(const struct expr *e, const char *text, const struct expr_domain *d,
			   struct expr_finding *f)
{
	struct tree t;
	enum expr_truth truth;

	if (!tree_make(&t, e, d))
		return EXPR_SOMETIMES;
	truth = tree_truth(&t, t.root);
	if (truth == EXPR_NEVER && f)
		tree_find(&t, text, f);
	return truth;
}
