/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_EXPR_CODE_H
#define MMRIG_EXPR_CODE_H
/* Inside the expression compiler: tokens, and the postfix program. Users take guest/expr.h. */
#include "guest/expr.h"

enum expr_op {
	/* one value onto the stack */
	OP_CONST, /* imm */
	OP_VAR,	  /* imm: enum expr_var */
	/* on the topmost value */
	OP_NEG,
	OP_NOT,
	OP_COMPL,
	OP_BOOL, /* 0 or 1 */
	/* two values to one; the right one is imm where has_imm */
	OP_ADD,
	OP_SUB,
	OP_MUL,
	OP_DIV,
	OP_MOD,
	OP_SHL,
	OP_SHR,
	OP_AND,
	OP_OR,
	OP_XOR,
	OP_EQ,
	OP_NE,
	OP_LT,
	OP_LE,
	OP_GT,
	OP_GE,
	OP_MIN,
	OP_MAX,
	OP_LAND, /* both sides have been evaluated; only where the right one cannot fail */
	OP_LOR,
	/* three values to one: x lo hi; the bounds are imm and imm2 where has_imm */
	OP_IN,
	/* decides on the topmost value whether to skip imm instructions, otherwise pops it */
	OP_SKIP_FALSE,
	OP_SKIP_TRUE,
};

struct expr_insn {
	uint8_t op;
	uint8_t has_imm;
	uint32_t from, to; /* the text that it stands for: text[from .. to) */
	int64_t imm, imm2;
};

struct expr {
	size_t n;
	unsigned int uses;
	unsigned int depth; /* of the value stack */
	bool can_fail;	    /* holds a division by something that is no constant */
	struct expr_insn insn[];
};

#define EXPR_STACK_MAX 64   /* values at once */
#define EXPR_NESTING_MAX 64 /* brackets and unary operators within each other */
#define EXPR_INSN_MAX 4096

/* The one meaning of every operator: folding, single and batch evaluation all come here. */
static inline __attribute__((always_inline)) int64_t expr_apply(enum expr_op op, int64_t a,
								int64_t b)
{
	uint64_t ua = (uint64_t)a, ub = (uint64_t)b;

	switch (op) {
	case OP_NEG:
		return (int64_t)-ua;
	case OP_NOT:
		return !a;
	case OP_COMPL:
		return ~a;
	case OP_BOOL:
		return a != 0;
	case OP_ADD:
		return (int64_t)(ua + ub);
	case OP_SUB:
		return (int64_t)(ua - ub);
	case OP_MUL:
		return (int64_t)(ua * ub);
	/* b is not 0 here; by -1 it wraps, where the machine would trap. */
	case OP_DIV:
		return b == -1 ? (int64_t)-ua : a / b;
	case OP_MOD:
		return b == -1 ? 0 : a % b;
	case OP_SHL:
		return (int64_t)(ua << (ub & 63));
	case OP_SHR:
		return a >> (ub & 63);
	case OP_AND:
		return a & b;
	case OP_OR:
		return a | b;
	case OP_XOR:
		return a ^ b;
	case OP_EQ:
		return a == b;
	case OP_NE:
		return a != b;
	case OP_LT:
		return a < b;
	case OP_LE:
		return a <= b;
	case OP_GT:
		return a > b;
	case OP_GE:
		return a >= b;
	case OP_MIN:
		return a < b ? a : b;
	case OP_MAX:
		return a > b ? a : b;
	case OP_LAND:
		return (a != 0) & (b != 0);
	case OP_LOR:
		return (a != 0) | (b != 0);
	default:
		return 0;
	}
}

/* a OP b is b MIRRORED a; a comparison. */
enum expr_op expr_mirrored(enum expr_op op);

/* ---- tokens ---- */

enum expr_token_kind {
	TOKEN_END,
	TOKEN_NUMBER,
	TOKEN_DECIMAL, /* 0.25 or 25%: only beside rand */
	TOKEN_NAME,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_COMMA,
	TOKEN_RANGE, /* .. */
	TOKEN_NOT,
	TOKEN_COMPL,
	TOKEN_BINARY, /* op and precedence; the operator `in` is one of them */
	TOKEN_PERCENT, /* the sign behind a value, where no other one follows */
	TOKEN_BAD,    /* error has been filled */
};

struct expr_token {
	enum expr_token_kind kind;
	int column; /* 1-based */
	const char *start;
	int len;
	enum expr_op op;
	int precedence;	     /* 1 for ||, the loosest */
	int64_t number;	     /* NUMBER */
	int64_t floor, ceil; /* DECIMAL as 32-bit fixed point, rounded down and up */
};

#define EXPR_PRECEDENCE_SHIFT 8

/* The token at *at, which is moved behind it. */
struct expr_token expr_next_token(const char *text, const char **at, struct expr_error *error);
/* Fills *error; a text that does not fit is cut. Returns TOKEN_BAD for the lexer's returns. */
enum expr_token_kind expr_fail(struct expr_error *error, int column, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- names ---- */

extern const char *const expr_var_names[EXPR_VAR_COUNT];
extern const char *const expr_zone_names[EXPR_ZONE_DEVICE + 1];
/* Typing errors between a and the n bytes at b; 1000 where one is longer than 31 characters. */
unsigned int expr_name_distance(const char *a, const char *b, size_t n);

#endif
