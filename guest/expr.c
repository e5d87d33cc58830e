// SPDX-License-Identifier: GPL-2.0-only
/*
 * The compiler: precedence climbing that emits postfix code and folds as it goes. Every parse
 * function returns the operand that it left on the (future) stack; after an error p->failed is set
 * and operands mean nothing.
 */
#include "guest/expr.h"

#include <stdlib.h>

#include "guest/expr_parse.h"

static struct operand parse_binary(struct parser *p, int precedence);

static void take(struct parser *p)
{
	p->end = (uint32_t)(p->at - p->text);
	p->token = expr_next_token(p->text, &p->at, p->error);
	if (p->token.kind == TOKEN_BAD)
		p->failed = true;
}

static void need_integer(struct parser *p, const struct operand *o)
{
	if (o->kind == OPERAND_RAND)
		FAIL(p, o->column,
		     "rand can only be compared with a decimal such as 0.25 or with a "
		     "percentage such as 25%%, or n %% of a whole number n");
	else if (o->kind == OPERAND_DECIMAL)
		FAIL(p, o->column, "a decimal or percentage can only be compared with rand");
}

static bool is_comparison(enum expr_op op)
{
	return op >= OP_EQ && op <= OP_GE;
}

static bool is_zone(const struct parser *p, const struct operand *o)
{
	return p->n == o->start + 1 && p->insn[o->start].op == OP_VAR &&
	       p->insn[o->start].imm == EXPR_ZONE;
}

static void parse_two(struct parser *p, struct operand *left, const struct expr_token *t)
{
	struct operand right;

	p->beside_zone = is_zone(p, left);
	right = parse_binary(p, t->precedence + 1);
	p->beside_zone = false;
	if (p->failed)
		return;
	if (is_comparison(t->op) && left->kind == OPERAND_RAND && right.kind == OPERAND_DECIMAL) {
		expr_emit_rand(p, t->op, left, &right);
	} else if (is_comparison(t->op) && left->kind == OPERAND_DECIMAL &&
		   right.kind == OPERAND_RAND) {
		expr_emit_rand(p, expr_mirrored(t->op), left, left);
	} else {
		need_integer(p, left);
		need_integer(p, &right);
		expr_emit_binary(p, t->op, left, &right);
	}
	left->kind = OPERAND_INTEGER;
}

static void parse_in(struct parser *p, struct operand *x)
{
	struct operand lo, hi;

	p->beside_zone = is_zone(p, x);
	lo = parse_binary(p, EXPR_PRECEDENCE_SHIFT);
	if (p->failed)
		return;
	if (p->token.kind != TOKEN_RANGE) {
		FAIL(p, p->token.column, "expected .. and the upper bound of \"in\", as in 0..7");
		return;
	}
	take(p);
	hi = parse_binary(p, EXPR_PRECEDENCE_SHIFT);
	p->beside_zone = false;
	if (p->failed)
		return;
	if (x->kind == OPERAND_RAND && lo.kind == OPERAND_DECIMAL && hi.kind == OPERAND_DECIMAL) {
		expr_emit(p, (struct expr_insn){ .op = OP_IN,
						 .has_imm = 1,
						 .imm = lo.ceil,
						 .imm2 = hi.floor,
						 .from = x->from,
						 .to = p->end });
	} else {
		need_integer(p, x);
		need_integer(p, &lo);
		need_integer(p, &hi);
		expr_emit_in(p, x, lo.start, hi.start);
	}
	x->kind = OPERAND_INTEGER;
}

static void parse_logic(struct parser *p, struct operand *left, const struct expr_token *t)
{
	size_t skip = p->n;
	struct operand right;

	expr_emit(p,
		  (struct expr_insn){ .op = t->op == OP_LAND ? OP_SKIP_FALSE : OP_SKIP_TRUE });
	right = parse_binary(p, t->precedence + 1);
	if (p->failed)
		return;
	need_integer(p, left);
	need_integer(p, &right);
	expr_emit_logic(p, t->op, skip, left, &right);
}

static void expect(struct parser *p, enum expr_token_kind kind, const char *what)
{
	if (p->failed)
		return;
	if (p->token.kind == kind)
		take(p);
	else if (p->token.kind == TOKEN_END)
		FAIL(p, p->token.column, "the expression ends where %s is missing", what);
	else if (expr_operator_meant(p))
		FAIL(p, p->token.column, "expected %s, found \"%.*s\"; did you mean %s?", what,
		     expr_shown_len(p), p->token.start, expr_operator_meant(p));
	else
		FAIL(p, p->token.column, "expected %s, found \"%.*s\"", what, expr_shown_len(p),
		     p->token.start);
}

/* Behind min or max. */
static struct operand parse_call(struct parser *p, enum expr_op op, struct operand name)
{
	const char *word = op == OP_MIN ? "min" : "max";
	struct operand a, b;

	expect(p, TOKEN_OPEN, "\"(\"");
	if (!p->failed && p->token.kind == TOKEN_CLOSE)
		FAIL(p, p->token.column, "%s takes two values, as in %s(8, step)", word, word);
	a = parse_binary(p, 1);
	need_integer(p, &a);
	if (!p->failed && p->token.kind == TOKEN_CLOSE)
		FAIL(p, p->token.column, "%s takes two values, and here is one", word);
	expect(p, TOKEN_COMMA, "\",\"");
	b = parse_binary(p, 1);
	need_integer(p, &b);
	if (!p->failed && p->token.kind == TOKEN_COMMA)
		FAIL(p, p->token.column, "%s takes two values, and here are more; nest it, as in %s(a, %s(b, c))",
		     word, word, word);
	expect(p, TOKEN_CLOSE, "\")\"");
	a.from = name.from;
	expr_emit_binary(p, op, &a, &b);
	a.column = name.column;
	return a;
}

static struct operand parse_name(struct parser *p)
{
	struct operand o = { .column = p->token.column,
			     .from = (uint32_t)p->token.column - 1,
			     .start = p->n };
	enum expr_op op = expr_token_is(&p->token, "min") ? OP_MIN :
			  expr_token_is(&p->token, "max") ? OP_MAX :
							    OP_CONST;

	if (op != OP_CONST) {
		take(p);
		return parse_call(p, op, o);
	}
	expr_resolve(p, &o);
	if (!p->failed)
		take(p);
	return o;
}

static struct operand parse_open(struct parser *p)
{
	uint32_t from = (uint32_t)p->token.column - 1;
	struct operand o;

	take(p);
	o = parse_binary(p, 1);
	expect(p, TOKEN_CLOSE, "\")\"");
	o.from = from;
	return o;
}

static struct operand parse_primary(struct parser *p)
{
	struct operand o = { .column = p->token.column,
			     .from = (uint32_t)p->token.column - 1,
			     .start = p->n };

	switch (p->token.kind) {
	case TOKEN_NAME:
		return parse_name(p);
	case TOKEN_NUMBER:
		expr_emit_const(p, p->token.number);
		break;
	case TOKEN_DECIMAL:
		o.kind = OPERAND_DECIMAL;
		o.floor = p->token.floor;
		o.ceil = p->token.ceil;
		break;
	case TOKEN_OPEN:
		return parse_open(p);
	case TOKEN_BAD:
		return o;
	default:
		expect(p, TOKEN_NUMBER, "a value");
		return o;
	}
	if (!p->failed)
		take(p);
	return o;
}

/* "n %" of a constant n: a percentage. Behind anything else the value to divide by is missing. */
static struct operand parse_percent(struct parser *p, struct operand o)
{
	int64_t n;

	take(p);
	if (p->failed)
		return o;
	if (o.kind != OPERAND_INTEGER || !expr_is_const(p, o.start, p->n)) {
		expect(p, TOKEN_NUMBER, "a value");
		return o;
	}
	n = p->insn[o.start].imm;
	p->n = o.start;
	if (n < 0 || n > 100)
		FAIL(p, o.column, "%lld%% lies outside 0 to 1, where rand is", (long long)n);
	o.kind = OPERAND_DECIMAL;
	o.floor = (int64_t)((uint64_t)n << 32) / 100;
	o.ceil = (int64_t)(((uint64_t)n << 32) + 99) / 100;
	return o;
}

static struct operand parse_unary(struct parser *p)
{
	int column = p->token.column;
	struct operand o = { .column = column, .from = (uint32_t)column - 1, .start = p->n };
	enum expr_op op = p->token.kind == TOKEN_NOT				 ? OP_NOT :
			  p->token.kind == TOKEN_COMPL				 ? OP_COMPL :
			  p->token.kind == TOKEN_BINARY && p->token.op == OP_SUB ? OP_NEG :
										   OP_CONST;

	if (p->failed)
		return o;
	if (++p->nesting > EXPR_NESTING_MAX) {
		FAIL(p, column, "nested too deeply; at most %d levels", EXPR_NESTING_MAX);
	} else if (op == OP_CONST) {
		o = parse_primary(p);
		if (!p->failed && p->token.kind == TOKEN_PERCENT)
			o = parse_percent(p, o);
	} else {
		take(p);
		o = parse_unary(p);
		need_integer(p, &o);
		o.from = (uint32_t)column - 1;
		o = expr_emit_unary(p, op, o);
		o.column = column;
	}
	p->nesting--;
	return o;
}

/* Operators at least as tight as `precedence`. */
static struct operand parse_binary(struct parser *p, int precedence)
{
	struct operand left = parse_unary(p);

	while (!p->failed && p->token.kind == TOKEN_BINARY && p->token.precedence >= precedence) {
		struct expr_token t = p->token;

		take(p);
		if (t.op == OP_IN)
			parse_in(p, &left);
		else if (t.op == OP_LAND || t.op == OP_LOR)
			parse_logic(p, &left, &t);
		else
			parse_two(p, &left, &t);
	}
	return left;
}

struct expr *expr_compile(const char *text, unsigned int allowed, const struct expr_const *consts,
			  size_t nconsts, struct expr_error *error)
{
	struct parser p = { .text = text,
			    .at = text,
			    .allowed = allowed,
			    .consts = consts,
			    .nconsts = nconsts,
			    .error = error };
	struct operand o;
	struct expr *e;

	*error = (struct expr_error){ 0 };
	take(&p);
	if (!p.failed && p.token.kind == TOKEN_END)
		FAIL(&p, 1, "the expression is empty");
	o = parse_binary(&p, 1);
	if (!p.failed && p.token.kind != TOKEN_END)
		expect(&p, TOKEN_END, "an operator");
	need_integer(&p, &o);
	e = expr_emit_end(&p);
	free(p.insn);
	return e;
}

void expr_free(struct expr *e)
{
	free(e);
}

unsigned int expr_uses(const struct expr *e)
{
	return e->uses;
}
