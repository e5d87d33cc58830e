// SPDX-License-Identifier: GPL-2.0-only
/*
 * Evaluation: one row at a time for everything, and a column of rows an instruction for what
 * cannot fail, which is what layouts use: the switch is paid once for ROWS rows, and the loops are
 * plain enough to be vectorised.
 */
#include <string.h>

#include "guest/expr_code.h"

#define ROWS 256
#define COLUMNS 8 /* 16 KiB of stack; deeper programs go row by row */

struct batch {
	const uint32_t *pfn;
	size_t n; /* rows, at most ROWS */
	uint32_t pageblock_pages;
	uint64_t seed;
	int64_t zone, node, cma;
};

static uint64_t mix64(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

#define GOLDEN_GAMMA 0x9e3779b97f4a7c15ULL

/* The seed is mixed first: seeds 1, 2, 3 must not give shifted copies of one sequence. */
uint32_t expr_rand(uint64_t seed, uint64_t pfn)
{
	return (uint32_t)(mix64(mix64(seed + GOLDEN_GAMMA) + (pfn + 1) * GOLDEN_GAMMA) >> 32);
}

enum expr_status expr_eval(const struct expr *e, const int64_t vars[EXPR_VAR_COUNT], int64_t *value)
{
	/* The first is below the stack: a pointer in front of an array is undefined. */
	int64_t stack[1 + EXPR_STACK_MAX], *top = stack;

	for (size_t i = 0; i < e->n; i++) {
		const struct expr_insn *insn = &e->insn[i];
		int64_t right;

		switch (insn->op) {
		case OP_CONST:
			*++top = insn->imm;
			break;
		case OP_VAR:
			*++top = vars[insn->imm];
			break;
		case OP_SKIP_FALSE:
		case OP_SKIP_TRUE:
			if ((*top != 0) == (insn->op == OP_SKIP_TRUE)) {
				*top = *top != 0;
				i += (size_t)insn->imm;
			} else {
				top--;
			}
			break;
		case OP_IN:
			if (insn->has_imm) {
				*top = *top >= insn->imm && *top <= insn->imm2;
			} else {
				top -= 2;
				*top = top[0] >= top[1] && top[0] <= top[2];
			}
			break;
		case OP_NEG:
		case OP_NOT:
		case OP_COMPL:
		case OP_BOOL:
			*top = expr_apply((enum expr_op)insn->op, *top, 0);
			break;
		default:
			right = insn->has_imm ? insn->imm : *top--;
			if (!right && (insn->op == OP_DIV || insn->op == OP_MOD))
				return EXPR_DIV_ZERO;
			*top = expr_apply((enum expr_op)insn->op, *top, right);
		}
	}
	*value = *top;
	return EXPR_OK;
}

static int64_t derive(const struct batch *b, enum expr_var v, uint32_t pfn)
{
	switch (v) {
	case EXPR_PFN:
		return pfn;
	case EXPR_BLOCK:
		return pfn / b->pageblock_pages;
	case EXPR_OFFSET:
		return pfn % b->pageblock_pages;
	case EXPR_ZONE:
		return b->zone;
	case EXPR_NODE:
		return b->node;
	case EXPR_CMA:
		return b->cma;
	case EXPR_RAND:
		return expr_rand(b->seed, pfn);
	default:
		return 0;
	}
}

static void load_column(const struct batch *b, enum expr_var v, int64_t *col)
{
	uint32_t size = b->pageblock_pages, shift = (uint32_t)__builtin_ctz(size);
	bool power = !(size & (size - 1));

	if (v == EXPR_PFN)
		for (size_t i = 0; i < b->n; i++)
			col[i] = b->pfn[i];
	else if (v == EXPR_BLOCK && power)
		for (size_t i = 0; i < b->n; i++)
			col[i] = b->pfn[i] >> shift;
	else if (v == EXPR_OFFSET && power)
		for (size_t i = 0; i < b->n; i++)
			col[i] = b->pfn[i] & (size - 1);
	else
		for (size_t i = 0; i < b->n; i++)
			col[i] = derive(b, v, b->pfn[i]);
}

/* By a constant: a mask for powers of two, and 32-bit division where the value is small. */
static void mod_column(int64_t *col, size_t n, int64_t by)
{
	if (by > 0 && !(by & (by - 1))) {
		for (size_t i = 0; i < n; i++) {
			int64_t bias = (col[i] >> 63) & (by - 1);

			col[i] = (int64_t)(((uint64_t)col[i] + (uint64_t)bias) &
					   (uint64_t)(by - 1)) -
				 bias;
		}
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (((uint64_t)col[i] | (uint64_t)by) >> 32)
			col[i] = expr_apply(OP_MOD, col[i], by);
		else
			col[i] = (uint32_t)col[i] % (uint32_t)by;
	}
}

static void div_column(int64_t *col, size_t n, int64_t by)
{
	for (size_t i = 0; i < n; i++) {
		if (((uint64_t)col[i] | (uint64_t)by) >> 32)
			col[i] = expr_apply(OP_DIV, col[i], by);
		else
			col[i] = (uint32_t)col[i] / (uint32_t)by;
	}
}

#define COLUMN_OP(OP)                                                        \
	case OP:                                                             \
		if (has_imm)                                                 \
			for (size_t i = 0; i < n; i++)                       \
				left[i] = expr_apply(OP, left[i], imm);      \
		else                                                         \
			for (size_t i = 0; i < n; i++)                       \
				left[i] = expr_apply(OP, left[i], right[i]); \
		break

/* Unary operators come with has_imm set, the value unused. */
static void apply_column(enum expr_op op, int64_t *left, const int64_t *right, size_t n,
			 bool has_imm, int64_t imm)
{
	switch (op) {
		COLUMN_OP(OP_NEG);
		COLUMN_OP(OP_NOT);
		COLUMN_OP(OP_COMPL);
		COLUMN_OP(OP_BOOL);
		COLUMN_OP(OP_ADD);
		COLUMN_OP(OP_SUB);
		COLUMN_OP(OP_MUL);
		COLUMN_OP(OP_SHL);
		COLUMN_OP(OP_SHR);
		COLUMN_OP(OP_AND);
		COLUMN_OP(OP_OR);
		COLUMN_OP(OP_XOR);
		COLUMN_OP(OP_EQ);
		COLUMN_OP(OP_NE);
		COLUMN_OP(OP_LT);
		COLUMN_OP(OP_LE);
		COLUMN_OP(OP_GT);
		COLUMN_OP(OP_GE);
		COLUMN_OP(OP_MIN);
		COLUMN_OP(OP_MAX);
		COLUMN_OP(OP_LAND);
		COLUMN_OP(OP_LOR);
	case OP_DIV:
		div_column(left, n, imm);
		break;
	case OP_MOD:
		mod_column(left, n, imm);
		break;
	default:
		break;
	}
}

static void in_column(int64_t *x, const struct expr_insn *insn, const int64_t *lo,
		      const int64_t *hi, size_t n)
{
	if (insn->has_imm)
		for (size_t i = 0; i < n; i++)
			x[i] = (x[i] >= insn->imm) & (x[i] <= insn->imm2);
	else
		for (size_t i = 0; i < n; i++)
			x[i] = (x[i] >= lo[i]) & (x[i] <= hi[i]);
}

static void eval_columns(const struct expr *e, const struct batch *b, uint8_t *out)
{
	int64_t stack[COLUMNS][ROWS];
	int top = -1;

	for (size_t k = 0; k < e->n; k++) {
		const struct expr_insn *insn = &e->insn[k];

		if (insn->op == OP_CONST) {
			top++;
			for (size_t i = 0; i < b->n; i++)
				stack[top][i] = insn->imm;
		} else if (insn->op == OP_VAR) {
			load_column(b, (enum expr_var)insn->imm, stack[++top]);
		} else if (insn->op == OP_IN) {
			top -= insn->has_imm ? 0 : 2;
			in_column(stack[top], insn, insn->has_imm ? NULL : stack[top + 1],
				  insn->has_imm ? NULL : stack[top + 2], b->n);
		} else if (insn->op <= OP_BOOL || insn->has_imm) {
			apply_column((enum expr_op)insn->op, stack[top], NULL, b->n, true,
				     insn->imm);
		} else {
			top--;
			apply_column((enum expr_op)insn->op, stack[top], stack[top + 1], b->n,
				     false, 0);
		}
	}
	for (size_t i = 0; i < b->n; i++)
		out[i] = stack[top][i] != 0;
}

static enum expr_status eval_rows(const struct expr *e, const struct batch *b, uint8_t *out)
{
	for (size_t i = 0; i < b->n; i++) {
		int64_t vars[EXPR_VAR_COUNT], value;

		for (int v = 0; v < EXPR_VAR_COUNT; v++)
			vars[v] = e->uses & (1u << v) ? derive(b, (enum expr_var)v, b->pfn[i]) : 0;
		if (expr_eval(e, vars, &value) != EXPR_OK)
			return EXPR_DIV_ZERO;
		out[i] = value != 0;
	}
	return EXPR_OK;
}

enum expr_status expr_eval_pfns(const struct expr *e, const uint32_t *pfn, size_t n,
				uint32_t pageblock_pages, uint64_t seed, int64_t zone, int64_t node,
				int64_t cma, uint8_t *out)
{
	struct batch b = { .pageblock_pages = pageblock_pages ? pageblock_pages : 1,
			   .seed = seed,
			   .zone = zone,
			   .node = node,
			   .cma = cma };

	for (size_t at = 0; at < n; at += b.n) {
		b.pfn = pfn + at;
		b.n = n - at < ROWS ? n - at : ROWS;
		if (!e->can_fail && e->depth <= COLUMNS)
			eval_columns(e, &b, out + at);
		else if (eval_rows(e, &b, out + at) != EXPR_OK)
			return EXPR_DIV_ZERO;
	}
	return EXPR_OK;
}
