// SPDX-License-Identifier: GPL-2.0-only
/* Postfix code, folded as it is made. Every instruction knows the text that it stands for. */
#include <stdlib.h>
#include <string.h>

#include "guest/expr_parse.h"

void expr_emit(struct parser *p, struct expr_insn insn)
{
	if (p->failed)
		return;
	if (p->n == EXPR_INSN_MAX) {
		FAIL(p, p->token.column, "the expression is too long");
		return;
	}
	if (p->n == p->room) {
		size_t room = p->room ? 2 * p->room : 16;
		struct expr_insn *grown = realloc(p->insn, room * sizeof(*grown));

		if (!grown) {
			FAIL(p, 0, "out of memory");
			return;
		}
		p->insn = grown;
		p->room = room;
	}
	p->insn[p->n++] = insn;
}

void expr_emit_const(struct parser *p, int64_t value)
{
	uint32_t from = (uint32_t)p->token.column - 1;

	expr_emit(p, (struct expr_insn){ .op = OP_CONST,
					 .imm = value,
					 .from = from,
					 .to = from + (uint32_t)p->token.len });
}

bool expr_is_const(const struct parser *p, size_t start, size_t end)
{
	return end == start + 1 && p->insn[start].op == OP_CONST;
}

static bool insn_can_fail(const struct expr_insn *insn)
{
	return (insn->op == OP_DIV || insn->op == OP_MOD) && !insn->has_imm;
}

static bool can_fail(const struct parser *p, size_t start, size_t end)
{
	for (size_t i = start; i < end; i++)
		if (insn_can_fail(&p->insn[i]))
			return true;
	return false;
}

/* The constant at the beginning of an operand gets another value, and stands for all of it. */
static void refold(struct parser *p, const struct operand *o, int64_t value)
{
	p->insn[o->start].imm = value;
	p->insn[o->start].from = o->from;
	p->insn[o->start].to = p->end;
}

struct operand expr_emit_unary(struct parser *p, enum expr_op op, struct operand o)
{
	if (p->failed)
		return o;
	if (expr_is_const(p, o.start, p->n))
		refold(p, &o, expr_apply(op, p->insn[o.start].imm, 0));
	else
		expr_emit(p,
			  (struct expr_insn){ .op = (uint8_t)op, .from = o.from, .to = p->end });
	return o;
}

/* What a constant right-hand side can already be blamed for. */
static void check_constant_right(struct parser *p, enum expr_op op, int64_t value, int column)
{
	if ((op == OP_DIV || op == OP_MOD) && value == 0)
		FAIL(p, column, "%s by zero", op == OP_DIV ? "division" : "modulo");
	else if ((op == OP_SHL || op == OP_SHR) && (value < 0 || value > 63))
		FAIL(p, column, "shift by %lld; 0 to 63 are allowed", (long long)value);
}

void expr_emit_binary(struct parser *p, enum expr_op op, const struct operand *left,
		      const struct operand *right)
{
	struct expr_insn insn = { .op = (uint8_t)op, .from = left->from, .to = p->end };

	if (p->failed)
		return;
	if (expr_is_const(p, right->start, p->n)) {
		insn.has_imm = 1;
		insn.imm = p->insn[right->start].imm;
		check_constant_right(p, op, insn.imm, right->column);
		p->n--;
		if (!p->failed && expr_is_const(p, left->start, p->n)) {
			refold(p, left, expr_apply(op, p->insn[left->start].imm, insn.imm));
			return;
		}
	}
	expr_emit(p, insn);
}

enum expr_op expr_mirrored(enum expr_op op)
{
	switch (op) {
	case OP_LT:
		return OP_GT;
	case OP_LE:
		return OP_GE;
	case OP_GT:
		return OP_LT;
	case OP_GE:
		return OP_LE;
	default:
		return op;
	}
}

/* R/2^32 against d is R against d * 2^32, rounded so that the truth stays. */
void expr_emit_rand(struct parser *p, enum expr_op op, const struct operand *rand,
		    const struct operand *decimal)
{
	struct expr_insn insn = {
		.op = (uint8_t)op, .has_imm = 1, .from = rand->from, .to = p->end
	};

	insn.imm = op == OP_LT || op == OP_GE ? decimal->ceil : decimal->floor;
	if ((op == OP_EQ || op == OP_NE) && decimal->floor != decimal->ceil)
		insn.imm = -1; /* between two values of rand: equal to none */
	expr_emit(p, insn);
}

void expr_emit_in(struct parser *p, const struct operand *x, size_t lo, size_t hi)
{
	struct expr_insn insn = { .op = OP_IN, .from = x->from, .to = p->end };

	if (p->failed)
		return;
	if (expr_is_const(p, lo, hi) && expr_is_const(p, hi, p->n)) {
		insn.has_imm = 1;
		insn.imm = p->insn[lo].imm;
		insn.imm2 = p->insn[hi].imm;
		p->n = lo;
		if (expr_is_const(p, x->start, p->n)) {
			int64_t v = p->insn[x->start].imm;

			refold(p, x, v >= insn.imm && v <= insn.imm2);
			return;
		}
	}
	expr_emit(p, insn);
}

static void remove_insns(struct parser *p, size_t from, size_t to)
{
	memmove(p->insn + from, p->insn + to, (p->n - to) * sizeof(*p->insn));
	p->n -= to - from;
}

/*
 * The right side is skipped at evaluation only where it can fail (divide by zero): a program
 * without skips can be evaluated a column at a time.
 */
void expr_emit_logic(struct parser *p, enum expr_op op, size_t skip, struct operand *left,
		     struct operand *right)
{
	bool is_and = op == OP_LAND;

	if (p->failed)
		return;
	if (expr_is_const(p, left->start, skip)) {
		if ((p->insn[left->start].imm != 0) != is_and) { /* decided */
			p->n = left->start + 1;
			refold(p, left, !is_and);
			return;
		}
		remove_insns(p, left->start, right->start);
		right->start = left->start;
		right->from = left->from;
		expr_emit_unary(p, OP_BOOL, *right);
	} else if (can_fail(p, right->start, p->n)) {
		expr_emit(p,
			  (struct expr_insn){ .op = OP_BOOL, .from = right->from, .to = p->end });
		if (p->failed)
			return;
		p->insn[skip].imm = (int64_t)(p->n - skip - 1);
		p->insn[skip].from = left->from;
		p->insn[skip].to = p->end;
	} else {
		remove_insns(p, skip, skip + 1);
		right->start = skip;
		expr_emit_binary(p, op, left, right);
	}
}

static int stack_effect(const struct expr_insn *insn)
{
	if (insn->op <= OP_VAR)
		return 1;
	if (insn->op <= OP_BOOL)
		return 0;
	if (insn->op >= OP_SKIP_FALSE)
		return -1; /* when it does not skip */
	if (insn->has_imm)
		return 0;
	return insn->op == OP_IN ? -2 : -1;
}

/* Fills what is known of the whole; false when the stack would be too deep. */
static bool measure(struct expr *e)
{
	int depth = 0;

	for (size_t i = 0; i < e->n; i++) {
		depth += stack_effect(&e->insn[i]);
		if (depth > (int)e->depth)
			e->depth = (unsigned int)depth;
		if (e->insn[i].op == OP_VAR)
			e->uses |= 1u << e->insn[i].imm;
		e->can_fail |= insn_can_fail(&e->insn[i]);
	}
	return e->depth <= EXPR_STACK_MAX;
}

struct expr *expr_emit_end(struct parser *p)
{
	struct expr *e;

	if (p->failed)
		return NULL;
	e = calloc(1, sizeof(*e) + p->n * sizeof(*p->insn));
	if (!e) {
		FAIL(p, 0, "out of memory");
		return NULL;
	}
	e->n = p->n;
	memcpy(e->insn, p->insn, p->n * sizeof(*p->insn));
	if (!measure(e)) {
		FAIL(p, 1, "the expression is too complex: it needs more than %d values at once",
		     EXPR_STACK_MAX);
		free(e);
		return NULL;
	}
	return e;
}
