/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_EXPR_PARSE_H
#define MMRIG_EXPR_PARSE_H
/* Between the compiler's files: expr.c parses, expr_names.c looks names up, expr_emit.c makes code. */
#include "guest/expr_code.h"

struct parser {
	const char *text, *at;
	struct expr_token token; /* the next one, not yet taken */
	uint32_t end;		 /* where the last one taken ends, in the text */
	unsigned int allowed;
	const struct expr_const *consts;
	size_t nconsts;
	unsigned int nesting;
	bool beside_zone; /* what comes is compared with the variable zone */
	struct expr_insn *insn;
	size_t n, room;
	bool failed;
	struct expr_error *error;
};

enum operand_kind { OPERAND_INTEGER, OPERAND_RAND, OPERAND_DECIMAL };

struct operand {
	enum operand_kind kind;
	int column;
	uint32_t from;	     /* where it begins in the text, brackets included */
	size_t start;	     /* its code is insn[start..]; a DECIMAL has none */
	int64_t floor, ceil; /* DECIMAL */
};

#define FAIL(p, column, ...)                                        \
	do {                                                        \
		if (!(p)->failed)                                   \
			expr_fail((p)->error, column, __VA_ARGS__); \
		(p)->failed = true;                                 \
	} while (0)

/* ---- expr_emit.c; all of them do nothing once p->failed ---- */

void expr_emit(struct parser *p, struct expr_insn insn);
/* The token that stands next is this constant. */
void expr_emit_const(struct parser *p, int64_t value);
/* Whether insn[start..end) is one constant. */
bool expr_is_const(const struct parser *p, size_t start, size_t end);
struct operand expr_emit_unary(struct parser *p, enum expr_op op, struct operand o);
void expr_emit_binary(struct parser *p, enum expr_op op, const struct operand *left,
		      const struct operand *right);
/* rand OP decimal */
void expr_emit_rand(struct parser *p, enum expr_op op, const struct operand *rand,
		    const struct operand *decimal);
/* x in lo..hi, both bounds on the stack or both folded into the instruction. */
void expr_emit_in(struct parser *p, const struct operand *x, size_t lo, size_t hi);
/* Behind both sides of && or ||; the instruction at `skip` skips the right one. */
void expr_emit_logic(struct parser *p, enum expr_op op, size_t skip, struct operand *left,
		     struct operand *right);
/* The whole; NULL on error. */
struct expr *expr_emit_end(struct parser *p);

/* ---- expr_names.c ---- */

bool expr_token_is(const struct expr_token *t, const char *name);
/* How many characters of the token a message shows. */
int expr_shown_len(const struct parser *p);
/* The operator that a word of another language stands for, or NULL. */
const char *expr_operator_meant(const struct parser *p);
/* The name that stands next, a variable or a constant, into *o; fails where it is none. */
void expr_resolve(struct parser *p, struct operand *o);

#endif
