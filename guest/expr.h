/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_EXPR_H
#define MMRIG_EXPR_H
/*
 * Integer expressions over page frames, checked on the host and evaluated in the guest by this one
 * compiler. Values are signed 64-bit, wrapping on + - *; comparisons and logic give 0 or 1.
 *
 *	|| && | ^ & == != < <= > >= in << >> + - * / % ! ~ unary- ( ) min(a,b) max(a,b)
 *	x in lo..hi       (inclusive)
 *	123 0x7f 4K 2M 1G 1T (binary units)
 *
 * C precedence, with `in` at the level of < and >. && and || short-circuit. Division or modulo by a
 * constant zero is a compile error; by a variable zero it is EXPR_DIV_ZERO at evaluation.
 * `rand` is the one real number: uniform in [0,1), a pure function of seed and pfn; it may only be
 * compared with a decimal such as 0.25 (or with a percentage such as 25%), and compiles to an
 * integer comparison of 32-bit fixed point. Decimals are allowed nowhere else. "25%" is a percentage
 * where no value follows the sign, and so is "n %" of a constant n or of "(n + 5)". A constant may be
 * a share itself. Shifts take 0 to 63; by a variable, its low six bits.
 * Names that are no variable are looked up among the constants given at compile time.
 * Libc only. A compiled expression is a small postfix program with folded constants; evaluating
 * allocates nothing and is safe for concurrent use.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum expr_var {
	EXPR_PFN,
	EXPR_BLOCK,  /* pfn / pageblock pages */
	EXPR_OFFSET, /* pfn % pageblock pages */
	EXPR_ORDER,
	EXPR_ZONE, /* compare with the names dma, dma32, normal, highmem, movable, device */
	EXPR_NODE,
	EXPR_RAND,
	EXPR_CMA, /* 1 in a CMA area, else 0 */
	EXPR_VAR_COUNT,
};

/* The numbers that EXPR_ZONE takes; the same names are predefined constants. */
enum expr_zone { EXPR_ZONE_DMA, EXPR_ZONE_DMA32, EXPR_ZONE_NORMAL, EXPR_ZONE_HIGHMEM, EXPR_ZONE_MOVABLE,
		 EXPR_ZONE_DEVICE };

struct expr_const {
	const char *name;
	int64_t value;
	const char *decimal; /* "25%" or "0.25": to compare rand with, and no integer; else NULL */
};

struct expr_error {
	int column; /* 1-based, in characters of the text; 0 when the error has no place */
	char text[200];
};

struct expr; /* opaque; expr_free() */

/*
 * Compiles `text`. allowed is a bit set of (1 << enum expr_var); using another variable is an error
 * that names those allowed. NULL on error, with *error filled: what, and where known the nearest
 * known name ("unknown name \"pfm\"; did you mean pfn?").
 */
struct expr *expr_compile(const char *text, unsigned int allowed, const struct expr_const *consts,
			  size_t nconsts, struct expr_error *error);
void expr_free(struct expr *e);
/* Is the text what expr_const.decimal takes? */
bool expr_is_decimal(const char *text);
/* Which variables the program reads (after folding), a bit set. */
unsigned int expr_uses(const struct expr *e);

enum expr_status { EXPR_OK, EXPR_DIV_ZERO };

/* vars[EXPR_RAND] is the 32-bit fixed-point value of expr_rand(). */
enum expr_status expr_eval(const struct expr *e, const int64_t vars[EXPR_VAR_COUNT], int64_t *value);
/*
 * Batch: out[i] = truth of the expression at pfn[i] (0 or 1), for predicates whose variables are
 * all functions of pfn, with zone, node and cma constant over the batch. Derives block, offset, rand.
 */
enum expr_status expr_eval_pfns(const struct expr *e, const uint32_t *pfn, size_t n,
				uint32_t pageblock_pages, uint64_t seed, int64_t zone, int64_t node,
				int64_t cma, uint8_t *out);

/* Uniform 32-bit value, a pure function of (seed, pfn); splitmix64 finaliser (Vigna 2015). */
uint32_t expr_rand(uint64_t seed, uint64_t pfn);

#endif
