// SPDX-License-Identifier: GPL-2.0-only
/*
 * The compiler: precedence climbing that emits postfix code and folds as it goes. Every parse
 * function returns the operand that it left on the (future) stack; after an error p->failed is set
 * and operands mean nothing.
 */
#include "guest/expr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "guest/expr_code.h"

const char *const expr_var_names[EXPR_VAR_COUNT] = {
	[EXPR_PFN] = "pfn",	[EXPR_BLOCK] = "block", [EXPR_OFFSET] = "offset",
	[EXPR_ORDER] = "order", [EXPR_ZONE] = "zone",	[EXPR_NODE] = "node",
	[EXPR_RAND] = "rand",
};

const char *const expr_zone_names[] = {
	[EXPR_ZONE_DMA] = "dma",	 [EXPR_ZONE_DMA32] = "dma32",
	[EXPR_ZONE_NORMAL] = "normal",	 [EXPR_ZONE_HIGHMEM] = "highmem",
	[EXPR_ZONE_MOVABLE] = "movable", [EXPR_ZONE_DEVICE] = "device",
};

#define ZONE_COUNT (sizeof(expr_zone_names) / sizeof(expr_zone_names[0]))

struct parser {
	const char *text, *at;
	struct expr_token token; /* the next one, not yet taken */
	unsigned int allowed;
	const struct expr_const *consts;
	size_t nconsts;
	unsigned int nesting;
	struct expr_insn *insn;
	size_t n, room;
	bool failed;
	struct expr_error *error;
};

enum operand_kind { OPERAND_INTEGER, OPERAND_RAND, OPERAND_DECIMAL };

struct operand {
	enum operand_kind kind;
	int column;
	size_t start;	     /* its code is insn[start..]; a DECIMAL has none */
	int64_t floor, ceil; /* DECIMAL */
};

static struct operand parse_binary(struct parser *p, int precedence);

static void take(struct parser *p)
{
	p->token = expr_next_token(p->text, &p->at, p->error);
	if (p->token.kind == TOKEN_BAD)
		p->failed = true;
}

#define FAIL(p, column, ...)                                        \
	do {                                                        \
		if (!(p)->failed)                                   \
			expr_fail((p)->error, column, __VA_ARGS__); \
		(p)->failed = true;                                 \
	} while (0)

static void emit(struct parser *p, struct expr_insn insn)
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

static void emit_const(struct parser *p, int64_t value)
{
	emit(p, (struct expr_insn){ .op = OP_CONST, .imm = value });
}

/* Whether insn[start..end) is one constant. */
static bool is_const(const struct parser *p, size_t start, size_t end)
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

static void need_integer(struct parser *p, const struct operand *o)
{
	if (o->kind == OPERAND_RAND)
		FAIL(p, o->column,
		     "rand can only be compared with a decimal such as 0.25 or with a "
		     "percentage such as 25%%");
	else if (o->kind == OPERAND_DECIMAL)
		FAIL(p, o->column, "a decimal or percentage can only be compared with rand");
}

static struct operand emit_unary(struct parser *p, enum expr_op op, struct operand o)
{
	if (p->failed)
		return o;
	if (is_const(p, o.start, p->n))
		p->insn[o.start].imm = expr_apply(op, p->insn[o.start].imm, 0);
	else
		emit(p, (struct expr_insn){ .op = (uint8_t)op });
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

static void emit_binary(struct parser *p, enum expr_op op, const struct operand *left,
			const struct operand *right)
{
	struct expr_insn insn = { .op = (uint8_t)op };

	if (p->failed)
		return;
	if (is_const(p, right->start, p->n)) {
		insn.has_imm = 1;
		insn.imm = p->insn[right->start].imm;
		check_constant_right(p, op, insn.imm, right->column);
		p->n--;
		if (!p->failed && is_const(p, left->start, p->n)) {
			p->insn[left->start].imm =
				expr_apply(op, p->insn[left->start].imm, insn.imm);
			return;
		}
	}
	emit(p, insn);
}

static enum expr_op mirrored(enum expr_op op)
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

/* rand OP decimal: R/2^32 against d is R against d * 2^32, rounded so that the truth stays. */
static void emit_rand(struct parser *p, enum expr_op op, const struct operand *decimal)
{
	struct expr_insn insn = { .op = (uint8_t)op, .has_imm = 1 };

	insn.imm = op == OP_LT || op == OP_GE ? decimal->ceil : decimal->floor;
	if ((op == OP_EQ || op == OP_NE) && decimal->floor != decimal->ceil)
		insn.imm = -1; /* between two values of rand: equal to none */
	emit(p, insn);
}

static bool is_comparison(enum expr_op op)
{
	return op >= OP_EQ && op <= OP_GE;
}

static void parse_two(struct parser *p, struct operand *left, const struct expr_token *t)
{
	struct operand right = parse_binary(p, t->precedence + 1);

	if (p->failed)
		return;
	if (is_comparison(t->op) && left->kind == OPERAND_RAND && right.kind == OPERAND_DECIMAL) {
		emit_rand(p, t->op, &right);
	} else if (is_comparison(t->op) && left->kind == OPERAND_DECIMAL &&
		   right.kind == OPERAND_RAND) {
		emit_rand(p, mirrored(t->op), left);
	} else {
		need_integer(p, left);
		need_integer(p, &right);
		emit_binary(p, t->op, left, &right);
	}
	left->kind = OPERAND_INTEGER;
}

/* x in lo..hi, both bounds on the stack or both folded into the instruction. */
static void emit_in(struct parser *p, const struct operand *x, size_t lo, size_t hi)
{
	struct expr_insn insn = { .op = OP_IN };

	if (p->failed)
		return;
	if (is_const(p, lo, hi) && is_const(p, hi, p->n)) {
		insn.has_imm = 1;
		insn.imm = p->insn[lo].imm;
		insn.imm2 = p->insn[hi].imm;
		p->n = lo;
		if (is_const(p, x->start, p->n)) {
			int64_t v = p->insn[x->start].imm;

			p->insn[x->start].imm = v >= insn.imm && v <= insn.imm2;
			return;
		}
	}
	emit(p, insn);
}

static void parse_in(struct parser *p, struct operand *x)
{
	struct operand lo = parse_binary(p, EXPR_PRECEDENCE_SHIFT), hi;

	if (p->failed)
		return;
	if (p->token.kind != TOKEN_RANGE) {
		FAIL(p, p->token.column, "expected .. and the upper bound of \"in\", as in 0..7");
		return;
	}
	take(p);
	hi = parse_binary(p, EXPR_PRECEDENCE_SHIFT);
	if (p->failed)
		return;
	if (x->kind == OPERAND_RAND && lo.kind == OPERAND_DECIMAL && hi.kind == OPERAND_DECIMAL) {
		emit(p, (struct expr_insn){ .op = OP_IN,
					    .has_imm = 1,
					    .imm = lo.ceil,
					    .imm2 = hi.floor });
	} else {
		need_integer(p, x);
		need_integer(p, &lo);
		need_integer(p, &hi);
		emit_in(p, x, lo.start, hi.start);
	}
	x->kind = OPERAND_INTEGER;
}

static void remove_insns(struct parser *p, size_t from, size_t to)
{
	memmove(p->insn + from, p->insn + to, (p->n - to) * sizeof(*p->insn));
	p->n -= to - from;
}

/*
 * && and ||. The right side is skipped at evaluation only where it can fail (divide by zero): a
 * program without skips can be evaluated a column at a time.
 */
static void parse_logic(struct parser *p, struct operand *left, const struct expr_token *t)
{
	bool is_and = t->op == OP_LAND;
	size_t skip = p->n;
	struct operand right;

	emit(p, (struct expr_insn){ .op = is_and ? OP_SKIP_FALSE : OP_SKIP_TRUE });
	right = parse_binary(p, t->precedence + 1);
	if (p->failed)
		return;
	need_integer(p, left);
	need_integer(p, &right);
	if (is_const(p, left->start, skip)) {
		if ((p->insn[left->start].imm != 0) != is_and) { /* decided */
			p->insn[left->start].imm = !is_and;
			p->n = left->start + 1;
			return;
		}
		remove_insns(p, left->start, right.start);
		right.start = left->start;
		emit_unary(p, OP_BOOL, right);
	} else if (can_fail(p, right.start, p->n)) {
		emit(p, (struct expr_insn){ .op = OP_BOOL });
		if (!p->failed)
			p->insn[skip].imm = (int64_t)(p->n - skip - 1);
	} else {
		remove_insns(p, skip, skip + 1);
		right.start = skip;
		emit_binary(p, t->op, left, &right);
	}
}

static bool token_is(const struct expr_token *t, const char *name)
{
	return strlen(name) == (size_t)t->len && memcmp(name, t->start, (size_t)t->len) == 0;
}

static void list_allowed(const struct parser *p, char *out, size_t size)
{
	size_t len = 0;

	out[0] = '\0';
	for (int v = 0; v < EXPR_VAR_COUNT; v++)
		if (p->allowed & (1u << v) && len < size)
			len += (size_t)snprintf(out + len, size - len, "%s%s", len ? ", " : "",
						expr_var_names[v]);
}

static void nearer(const struct parser *p, const char *name, const char **best,
		   unsigned int *distance)
{
	unsigned int d = expr_name_distance(name, p->token.start, (size_t)p->token.len);

	if (d < *distance) {
		*distance = d;
		*best = name;
	}
}

static const char *nearest_name(const struct parser *p)
{
	unsigned int distance = (p->token.len >= 6 ? (unsigned int)p->token.len / 3 : 1) + 1;
	const char *best = NULL;

	for (int v = 0; v < EXPR_VAR_COUNT; v++)
		if (p->allowed & (1u << v))
			nearer(p, expr_var_names[v], &best, &distance);
	for (size_t i = 0; i < p->nconsts; i++)
		nearer(p, p->consts[i].name, &best, &distance);
	for (size_t i = 0; i < ZONE_COUNT; i++)
		nearer(p, expr_zone_names[i], &best, &distance);
	return best;
}

/* The operator that a word of another language stands for, or NULL. */
static const char *operator_meant(const struct parser *p)
{
	static const char *const words[][2] = { { "and", "&&" },
						{ "or", "||" },
						{ "not", "!" },
						{ "mod", "%" } };

	for (size_t i = 0; p->token.kind == TOKEN_NAME && i < sizeof(words) / sizeof(words[0]); i++)
		if (token_is(&p->token, words[i][0]))
			return words[i][1];
	return NULL;
}

static int shown_len(const struct parser *p)
{
	return p->token.len > 60 ? 60 : p->token.len;
}

static void fail_unknown(struct parser *p)
{
	const char *best = operator_meant(p);
	int len = shown_len(p);
	char allowed[80];

	if (!best)
		best = nearest_name(p);
	list_allowed(p, allowed, sizeof(allowed));
	if (best)
		FAIL(p, p->token.column, "unknown name \"%.*s\"; did you mean %s?", len,
		     p->token.start, best);
	else if (*allowed)
		FAIL(p, p->token.column,
		     "unknown name \"%.*s\"; it is no constant, and the variables "
		     "here are %s",
		     len, p->token.start, allowed);
	else
		FAIL(p, p->token.column,
		     "unknown name \"%.*s\"; it is no constant, and there are no "
		     "variables here",
		     len, p->token.start);
}

static bool resolve_variable(struct parser *p, struct operand *o)
{
	char allowed[80];

	for (int v = 0; v < EXPR_VAR_COUNT; v++) {
		if (!token_is(&p->token, expr_var_names[v]))
			continue;
		list_allowed(p, allowed, sizeof(allowed));
		if (!(p->allowed & (1u << v)))
			FAIL(p, p->token.column, "%s cannot be used here; %s%s", expr_var_names[v],
			     *allowed ? "allowed are " : "only numbers and constants are allowed",
			     allowed);
		if (v == EXPR_RAND)
			o->kind = OPERAND_RAND;
		emit(p, (struct expr_insn){ .op = OP_VAR, .imm = v });
		return true;
	}
	return false;
}

static bool resolve_constant(struct parser *p)
{
	for (size_t i = 0; i < p->nconsts; i++) {
		if (token_is(&p->token, p->consts[i].name)) {
			emit_const(p, p->consts[i].value);
			return true;
		}
	}
	for (size_t i = 0; i < ZONE_COUNT; i++) {
		/* The kernel's own spelling too: DMA32, Normal. */
		if (strlen(expr_zone_names[i]) == (size_t)p->token.len &&
		    strncasecmp(expr_zone_names[i], p->token.start, (size_t)p->token.len) == 0) {
			emit_const(p, (int64_t)i);
			return true;
		}
	}
	return false;
}

static void expect(struct parser *p, enum expr_token_kind kind, const char *what)
{
	if (p->failed)
		return;
	if (p->token.kind == kind)
		take(p);
	else if (p->token.kind == TOKEN_END)
		FAIL(p, p->token.column, "the expression ends where %s is missing", what);
	else if (operator_meant(p))
		FAIL(p, p->token.column, "expected %s, found \"%.*s\"; did you mean %s?", what,
		     shown_len(p), p->token.start, operator_meant(p));
	else
		FAIL(p, p->token.column, "expected %s, found \"%.*s\"", what, shown_len(p),
		     p->token.start);
}

/* Behind min or max. */
static struct operand parse_call(struct parser *p, enum expr_op op, int column)
{
	struct operand a, b;

	expect(p, TOKEN_OPEN, "\"(\"");
	a = parse_binary(p, 1);
	need_integer(p, &a);
	expect(p, TOKEN_COMMA, "\",\"");
	b = parse_binary(p, 1);
	need_integer(p, &b);
	emit_binary(p, op, &a, &b);
	expect(p, TOKEN_CLOSE, "\")\"");
	a.column = column;
	return a;
}

static struct operand parse_name(struct parser *p)
{
	struct operand o = { .column = p->token.column, .start = p->n };
	enum expr_op op = token_is(&p->token, "min") ? OP_MIN :
			  token_is(&p->token, "max") ? OP_MAX :
						       OP_CONST;

	if (op != OP_CONST) {
		take(p);
		return parse_call(p, op, o.column);
	}
	if (!resolve_variable(p, &o) && !resolve_constant(p))
		fail_unknown(p);
	if (!p->failed)
		take(p);
	return o;
}

static struct operand parse_primary(struct parser *p)
{
	struct operand o = { .column = p->token.column, .start = p->n };

	switch (p->token.kind) {
	case TOKEN_NAME:
		return parse_name(p);
	case TOKEN_NUMBER:
		emit_const(p, p->token.number);
		break;
	case TOKEN_DECIMAL:
		o.kind = OPERAND_DECIMAL;
		o.floor = p->token.floor;
		o.ceil = p->token.ceil;
		break;
	case TOKEN_OPEN:
		take(p);
		o = parse_binary(p, 1);
		expect(p, TOKEN_CLOSE, "\")\"");
		return o;
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

static struct operand parse_unary(struct parser *p)
{
	int column = p->token.column;
	struct operand o = { .column = column, .start = p->n };
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
	} else {
		take(p);
		o = parse_unary(p);
		need_integer(p, &o);
		o = emit_unary(p, op, o);
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

static struct expr *finish(struct parser *p)
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
	e = finish(&p);
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
