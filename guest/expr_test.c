// SPDX-License-Identifier: GPL-2.0-only
/*
 * Three independent oracles: the C compiler itself (EVAL stringifies an expression that C also
 * computes), a tree walk over random expressions in 128-bit arithmetic, and values worked out by
 * hand.
 */
#include "guest/expr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define ALL ((1u << EXPR_VAR_COUNT) - 1)
#define PFN (1u << EXPR_PFN)

static int64_t value_of(const char *text, const int64_t *vars)
{
	struct expr_error error;
	struct expr *e = expr_compile(text, ALL, NULL, 0, &error);
	int64_t v = 0;

	if (!e)
		fail_msg("%s: column %d: %s", text, error.column, error.text);
	assert_int_equal(expr_eval(e, vars, &v), EXPR_OK);
	expr_free(e);
	return v;
}

#define EVAL(e) assert_int_equal(value_of(#e, vars), (int64_t)(e))

static void test_as_c(void **state)
{
	const int64_t pfn = 262148, block = 512, offset = 4, order = -3, node = 1;
	const int64_t vars[EXPR_VAR_COUNT] = { pfn, block, offset, order, 0, node, 0 };

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wparentheses"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wbitwise-op-parentheses"
#pragma GCC diagnostic ignored "-Wshift-op-parentheses"
#pragma GCC diagnostic ignored "-Wlogical-op-parentheses"
#endif
	EVAL(pfn % 8 == 4);
	EVAL(pfn - 1 - 2 - 3);
	EVAL(1 + 2 * 3 - 4 / 2 % 3);
	EVAL(pfn & 7 == 4);
	EVAL((pfn & 7) == 4);
	EVAL(pfn | 1 ^ 3 & 2);
	EVAL(1 << 2 + 3);
	EVAL(pfn >> 1 >> 2);
	EVAL(pfn > block == offset < block);
	EVAL(0 || 1 && 0);
	EVAL(1 || 0 && 0);
	EVAL(!pfn == 0);
	EVAL(-order * 2);
	EVAL(- -order);
	EVAL(~pfn & 0xff);
	EVAL(order % 2);
	EVAL(order / 2);
	EVAL(order >> 1);
	EVAL(pfn != 3 && block || node);
	EVAL(!(pfn % 2) && (block - 512 || offset == 4));
	EVAL(2 - 3 * order + pfn / block % 7);
	EVAL(7 && 8);
	EVAL(100 / 7 * 7 + 100 % 7);
#pragma GCC diagnostic pop
}

static void test_own_words(void **state)
{
	const int64_t vars[EXPR_VAR_COUNT] = { 10, 0, 0, 0, EXPR_ZONE_NORMAL, 0, 0 };

	assert_int_equal(value_of("pfn in 10..12", vars), 1);
	assert_int_equal(value_of("pfn in 8..10", vars), 1);
	assert_int_equal(value_of("pfn in 11..12", vars), 0);
	assert_int_equal(value_of("pfn in 5 + 5..pfn", vars), 1);
	assert_int_equal(value_of("3 in pfn..12", vars), 0);
	assert_int_equal(value_of("3 in 1..3 && 3 in 3..3", vars), 1);
	assert_int_equal(value_of("min(pfn, 3) * 100 + max(pfn, 3)", vars), 310);
	assert_int_equal(value_of("max(2, min(9, 5))", vars), 5);
	assert_int_equal(value_of("4K + 2M", vars), 4096 + 2097152);
	assert_int_equal(value_of("3G", vars), 3221225472);
	assert_int_equal(value_of("1T", vars), 1099511627776);
	assert_int_equal(value_of("0x7F", vars), 127);
	assert_int_equal(value_of("9223372036854775807", vars), INT64_MAX);
	assert_int_equal(value_of("9223372036854775807 + 1", vars), INT64_MIN);
	assert_int_equal(value_of("zone == normal", vars), 1);
	assert_int_equal(value_of("zone == dma32", vars), 0);
	assert_int_equal(value_of(" pfn\n== 10 ", vars), 1);
	assert_int_equal(value_of("(9223372036854775807 + 1) / (0 - 1)", vars), INT64_MIN);
	assert_int_equal(value_of("(9223372036854775807 + 1) % (0 - 1)", vars), 0);
	assert_int_equal(value_of("pfn % -3", vars), 1);
	assert_int_equal(value_of("7 && pfn", vars), 1);
	assert_int_equal(value_of("pfn % 8 %2", vars), 0);
}

static void test_constants(void **state)
{
	const struct expr_const consts[] = { { "step", 8 }, { "residue", 4 } };
	const int64_t vars[EXPR_VAR_COUNT] = { 12 };
	struct expr_error error;
	struct expr *e = expr_compile("pfn % step == residue", PFN, consts, 2, &error);
	int64_t v;

	assert_non_null(e);
	assert_int_equal(expr_uses(e), PFN);
	expr_eval(e, vars, &v);
	assert_int_equal(v, 1);
	expr_free(e);
	e = expr_compile("step * 2 + (residue && 0 && pfn)", PFN, consts, 2, &error);
	assert_non_null(e);
	assert_int_equal(expr_uses(e), 0);
	expr_eval(e, vars, &v);
	assert_int_equal(v, 16);
	expr_free(e);
}

static void test_div_zero(void **state)
{
	static const struct {
		const char *text;
		int fails;
		int64_t value;
	} t[] = {
		{ "1 / node", 1, 0 },
		{ "pfn % node", 1, 0 },
		{ "node && pfn / node", 0, 0 },
		{ "!node || pfn % node == 0", 0, 1 },
		{ "node != 0 && pfn / node > 2 || 1", 0, 1 },
		{ "1 && 5 / node", 1, 0 },
		{ "(node && 3 / node) + (!node || 3 / node) * 10", 0, 10 },
		{ "min(1 / node, 0)", 1, 0 },
		{ "pfn || 1 / node", 0, 1 },
		{ "0 && 1 / node", 0, 0 },
	};
	const int64_t vars[EXPR_VAR_COUNT] = { 12 };
	const uint32_t pfn = 12;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct expr_error error;
		struct expr *e = expr_compile(t[i].text, ALL, NULL, 0, &error);
		int64_t v = 0;
		uint8_t out = 9;

		assert_non_null(e);
		assert_int_equal(expr_eval(e, vars, &v), t[i].fails ? EXPR_DIV_ZERO : EXPR_OK);
		assert_int_equal(v, t[i].value);
		assert_int_equal(expr_eval_pfns(e, &pfn, 1, 512, 1, 0, 0, 0, &out),
				 t[i].fails ? EXPR_DIV_ZERO : EXPR_OK);
		if (!t[i].fails)
			assert_int_equal(out, t[i].value != 0);
		expr_free(e);
	}
}

static void test_errors(void **state)
{
	static const struct {
		const char *text;
		int column;
		const char *part;
	} t[] = {
		{ "pfn %% 8", 6, "expected a value, found \"%\"" },
		{ "", 1, "empty" },
		{ "  ", 1, "empty" },
		{ "pfm % 8 == 4", 1, "unknown name \"pfm\"; did you mean pfn?" },
		{ "pfn % stepp == 4", 7, "did you mean step?" },
		{ "1 + blok", 5, "did you mean block?" },
		{ "pfn == 4 and block", 10,
		  "expected an operator, found \"and\"; did you mean &&?" },
		{ "pfn & nothing_like_it", 7, "the variables here are pfn, block" },
		{ "order == 0", 1, "order cannot be used here; allowed are pfn, block" },
		{ "pfn / 0", 7, "division by zero" },
		{ "pfn % (4 - 4)", 8, "modulo by zero" },
		{ "7 % zero", 5, "modulo by zero" },
		{ "9223372036854775808", 1, "does not fit 64 bits" },
		{ "1 + 0x8000000000000000", 5, "does not fit 64 bits" },
		{ "99999999999T", 1, "does not fit 64 bits" },
		{ "pfn = 4", 5, "compare with ==" },
		{ "pfn == 4)", 9, "expected an operator, found \")\"" },
		{ "(pfn == 4", 10, "\")\" is missing" },
		{ "pfn ==", 7, "a value is missing" },
		{ "pfn 4", 5, "expected an operator" },
		{ "pfn @ 4", 5, "unexpected character \"@\"" },
		{ "pfn + \xc3\xa9", 7, "unexpected character \\xc3" },
		{ "12ab", 1, "\"12ab\" is not a number" },
		{ "0x", 1, "\"0x\" is not a number" },
		{ "4k", 1, "\"4k\" is not a number" },
		{ "pfn in 4", 9, ".." },
		{ "pfn in 4..", 11, "a value is missing" },
		{ "min(1)", 6, "min takes two values, and here is one" },
		{ "max(pfn)", 8, "max takes two values, and here is one" },
		{ "min()", 5, "min takes two values, as in min(8, step)" },
		{ "min(1; 2)", 6, "unexpected character" },
		{ "min(1", 6, "\",\" is missing" },
		{ "min 1", 5, "expected \"(\"" },
		{ "max(1, 2, 3)", 9, "max takes two values, and here are more; nest it, as in max(a, max(b, c))" },
		{ "1 << 64", 6, "shift by 64" },
		{ "pfn >> -1", 8, "shift by -1" },
		{ "rand", 1, "compared with a decimal" },
		{ "rand < 1", 1, "compared with a decimal" },
		{ "rand + 0.5 < 1", 1, "compared with a decimal" },
		{ "pfn < 0.5", 7, "only be compared with rand" },
		{ "0.5", 1, "only be compared with rand" },
		{ "rand < 1.5", 8, "outside 0 to 1" },
		{ "rand < 250%", 8, "outside 0 to 1" },
		{ "rand < 0.1234567890123456", 8, "at most" },
		{ "!rand", 2, "compared with a decimal" },
		{ "rand && pfn", 1, "compared with a decimal" },
		{ "pfn < 25%", 7, "only be compared with rand" },
		{ "rand < step", 1, "or n % of a whole number" },
		{ "rand < (step + 93) %", 9, "101% lies outside 0 to 1" },
		{ "rand < -1 %", 9, "can only be compared with rand" },
		{ "pfn < share", 7, "only be compared with rand" },
		{ "pfn %", 6, "a value is missing" },
		{ "(pfn %) == 3", 7, "expected a value, found \")\"" },
		{ "rand < pfn %", 13, "a value is missing" },
		{ "zone == DMA33", 9,
		  "unknown name \"DMA33\"; the zones are DMA, DMA32, Normal, HighMem, Movable, Device" },
		{ "zone in Normal..Moveable", 17, "the zones are DMA, " },
		{ "Dma31 == zone", 1, "did you mean dma32?" },
	};
	const struct expr_const consts[] = { { "step", 8 }, { "zero", 0 }, { "share", 0, "25%" } };
	const unsigned int allowed = ALL & ~(1u << EXPR_ORDER);

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct expr_error error;

		assert_null(expr_compile(t[i].text, allowed, consts, 3, &error));
		if (error.column != t[i].column || !strstr(error.text, t[i].part))
			fail_msg("%s: got %d: %s, not %d: %s", t[i].text, error.column, error.text,
				 t[i].column, t[i].part);
	}
}

/* n times `left`, then "1", then n times `right`. */
static char *nested(const char *left, const char *right, size_t n)
{
	char *text = malloc(n * (strlen(left) + strlen(right)) + 2), *p = text;

	for (size_t i = 0; i < n; i++)
		p = stpcpy(p, left);
	*p++ = '1';
	for (size_t i = 0; i < n; i++)
		p = stpcpy(p, right);
	*p = '\0';
	return text;
}

static void test_bounded(void **state)
{
	static const char *const shapes[][2] = { { "(", ")" },
						 { "!", "" },
						 { "-", "" },
						 { "", "+1" },
						 { "pfn+(", ")" },
						 { "min(pfn,", ")" },
						 { "pfn|pfn^pfn&pfn==pfn<pfn<<pfn+pfn*(", ")" },
						 { "", "*pfn" },
						 { "pfn in 1..(", ")" },
						 { "pfn&&(", ")" } };
	const int64_t vars[EXPR_VAR_COUNT] = { 3 };

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		for (size_t n = 1; n <= 100000; n = n < 70 ? n + 1 : n * 37) {
			char *text = nested(shapes[i][0], shapes[i][1], n);
			struct expr_error error;
			struct expr *e = expr_compile(text, ALL, NULL, 0, &error);
			int64_t v;

			if (e)
				assert_int_equal(expr_eval(e, vars, &v), EXPR_OK);
			else
				assert_true(*error.text);
			assert_true(e || n > 6);
			expr_free(e);
			free(text);
		}
	}
}

/* ---- random trees ---- */

enum { N_CONST, N_VAR, N_UNARY, N_BINARY, N_IN, N_CALL };

struct node {
	int kind, op, precedence;
	int64_t value;
	struct node *kid[3];
};

static const struct {
	const char *text;
	int precedence;
} binary[] = { { "||", 1 }, { "&&", 2 }, { "|", 3 },  { "^", 4 },  { "&", 5 },	{ "==", 6 },
	       { "!=", 6 }, { "<", 7 },	 { "<=", 7 }, { ">", 7 },  { ">=", 7 }, { "<<", 8 },
	       { ">>", 8 }, { "+", 9 },	 { "-", 9 },  { "*", 10 }, { "/", 10 }, { "%", 10 } };

static uint64_t random_state = 88172645463325252ULL;

static unsigned int random_below(unsigned int n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned int)(random_state >> 33) % n;
}

static struct node *grow(int depth)
{
	static const int64_t numbers[] = { 0,  1,  2,	3,    4,       7,	   8,
					   63, 64, 512, 4096, 1000003, 4294967296, INT64_MAX };
	struct node *n = calloc(1, sizeof(*n));
	unsigned int dice = random_below(20);

	n->precedence = 12;
	if (!depth || dice < 3) {
		n->kind = random_below(2) ? N_CONST : N_VAR;
		n->value = n->kind == N_CONST ? numbers[random_below(14)] : (int)random_below(5);
	} else if (dice < 5) {
		n->kind = N_UNARY;
		n->op = (int)random_below(3);
		n->precedence = 11;
		n->kid[0] = grow(depth - 1);
	} else if (dice < 17) {
		n->kind = N_BINARY;
		n->op = (int)random_below(18);
		n->precedence = binary[n->op].precedence;
		n->kid[0] = grow(depth - 1);
		n->kid[1] = grow(depth - 1);
	} else if (dice < 19) {
		n->kind = N_IN;
		n->precedence = 7;
		for (int i = 0; i < 3; i++)
			n->kid[i] = grow(depth - 1);
	} else {
		n->kind = N_CALL;
		n->op = (int)random_below(2);
		n->kid[0] = grow(depth - 1);
		n->kid[1] = grow(depth - 1);
	}
	return n;
}

static void prune(struct node *n)
{
	for (int i = 0; n && i < 3; i++)
		prune(n->kid[i]);
	free(n);
}

static void write_node(FILE *f, const struct node *n, int at_least)
{
	static const char *const names[] = { "pfn", "block", "offset", "zone", "node" };
	bool brackets = n->precedence < at_least || !random_below(8);

	fputs(brackets ? "(" : "", f);
	switch (n->kind) {
	case N_CONST:
		fprintf(f, "%lld", (long long)n->value);
		break;
	case N_VAR:
		fputs(names[n->value], f);
		break;
	case N_UNARY:
		putc("-!~"[n->op], f);
		write_node(f, n->kid[0], 11);
		break;
	case N_BINARY:
		write_node(f, n->kid[0], n->precedence);
		fprintf(f, random_below(2) ? " %s " : "%s ", binary[n->op].text);
		write_node(f, n->kid[1], n->precedence + 1);
		break;
	case N_IN:
		write_node(f, n->kid[0], 7);
		fputs(" in ", f);
		write_node(f, n->kid[1], 8);
		fputs("..", f);
		write_node(f, n->kid[2], 8);
		break;
	default:
		fputs(n->op ? "max(" : "min(", f);
		write_node(f, n->kid[0], 0);
		putc(',', f);
		write_node(f, n->kid[1], 0);
		putc(')', f);
	}
	fputs(brackets ? ")" : "", f);
}

static int64_t wrap(__int128 v)
{
	return (int64_t)(uint64_t)(unsigned __int128)v;
}

static int64_t walk(const struct node *n, const int64_t *vars, bool *failed);

static int64_t walk_binary(const struct node *n, const int64_t *vars, bool *failed)
{
	const char *op = binary[n->op].text;
	__int128 a = walk(n->kid[0], vars, failed), b;
	int shift;

	if (*failed)
		return 0;
	if (strcmp(op, "||") == 0 && a)
		return 1;
	if (strcmp(op, "&&") == 0 && !a)
		return 0;
	b = walk(n->kid[1], vars, failed);
	if (*failed)
		return 0;
	shift = (int)((uint64_t)b % 64);
	switch (n->op) {
	case 0:
	case 1:
		return b != 0;
	case 2:
		return (int64_t)a | (int64_t)b;
	case 3:
		return (int64_t)a ^ (int64_t)b;
	case 4:
		return (int64_t)a & (int64_t)b;
	case 5:
		return a == b;
	case 6:
		return a != b;
	case 7:
		return a < b;
	case 8:
		return a <= b;
	case 9:
		return a > b;
	case 10:
		return a >= b;
	case 11:
		return wrap((__int128)((unsigned __int128)a << shift));
	case 12:
		return wrap(a >> shift);
	case 13:
		return wrap(a + b);
	case 14:
		return wrap(a - b);
	case 15:
		return wrap(a * b);
	default:
		if (!b) {
			*failed = true;
			return 0;
		}
		return wrap(n->op == 16 ? a / b : a % b);
	}
}

static int64_t walk(const struct node *n, const int64_t *vars, bool *failed)
{
	static const int index[] = { EXPR_PFN, EXPR_BLOCK, EXPR_OFFSET, EXPR_ZONE, EXPR_NODE };
	int64_t a, b, c;

	if (n->kind == N_CONST)
		return n->value;
	if (n->kind == N_VAR)
		return vars[index[n->value]];
	if (n->kind == N_BINARY)
		return walk_binary(n, vars, failed);
	a = walk(n->kid[0], vars, failed);
	if (n->kind == N_UNARY)
		return n->op == 0 ? wrap(-(__int128)a) : n->op == 1 ? a == 0 : ~a;
	b = walk(n->kid[1], vars, failed);
	if (n->kind == N_CALL)
		return (n->op ? a > b : a < b) ? a : b;
	c = walk(n->kid[2], vars, failed);
	return b <= a && a <= c;
}

#define ROWS 300 /* more than one chunk, and no multiple of one */

static void check_batch(const struct node *n, const struct expr *e, const char *text,
			uint32_t pageblock)
{
	uint32_t pfn[ROWS];
	uint8_t want[ROWS], got[ROWS];
	bool failed = false;
	int64_t zone = random_below(6), node = random_below(3), cma = random_below(2);

	for (size_t i = 0; i < ROWS; i++) {
		int64_t vars[EXPR_VAR_COUNT], v;
		bool row_failed = false;

		pfn[i] = i % 3 ? (uint32_t)(random_state >> 20) : (uint32_t)i;
		random_below(2);
		vars[EXPR_PFN] = pfn[i];
		vars[EXPR_BLOCK] = pfn[i] / pageblock;
		vars[EXPR_OFFSET] = pfn[i] % pageblock;
		vars[EXPR_ZONE] = zone;
		vars[EXPR_NODE] = node;
		vars[EXPR_CMA] = cma;
		want[i] = walk(n, vars, &row_failed) != 0;
		failed |= row_failed;
		if (expr_eval(e, vars, &v) != (row_failed ? EXPR_DIV_ZERO : EXPR_OK) ||
		    (!row_failed && (v != 0) != want[i]) ||
		    (!row_failed && v != walk(n, vars, &row_failed)))
			fail_msg("%s: wrong at pfn %u", text, pfn[i]);
	}
	if (expr_eval_pfns(e, pfn, ROWS, pageblock, 5, zone, node, cma, got) !=
	    (failed ? EXPR_DIV_ZERO : EXPR_OK))
		fail_msg("%s: batch: wrong status", text);
	if (!failed && memcmp(want, got, ROWS) != 0)
		fail_msg("%s: batch: wrong rows", text);
}

/* Constant divisors of zero and shifts out of range are compile errors and are skipped here. */
static void test_random_trees(void **state)
{
	static const uint32_t pageblocks[] = { 512, 1, 1024, 500 };
	int compiled = 0;

	for (int i = 0; i < 6000; i++) {
		struct node *n = grow(1 + (int)random_below(5));
		struct expr_error error;
		char *text = NULL;
		size_t len;
		FILE *f = open_memstream(&text, &len);
		struct expr *e;

		write_node(f, n, 0);
		fclose(f);
		e = expr_compile(text, ALL, NULL, 0, &error);
		if (e) {
			check_batch(n, e, text, pageblocks[i % 4]);
			compiled++;
		} else if (!strstr(error.text, "by zero") && !strstr(error.text, "shift by")) {
			fail_msg("%s: column %d: %s", text, error.column, error.text);
		}
		expr_free(e);
		free(text);
		prune(n);
	}
	assert_true(compiled > 4000);
}

/* ---- rand ---- */

static unsigned int hits(const char *text, uint64_t seed, unsigned int n)
{
	struct expr_error error;
	struct expr *e = expr_compile(text, ALL, NULL, 0, &error);
	uint32_t *pfn = calloc(n, sizeof(*pfn));
	uint8_t *out = calloc(n, 1);
	unsigned int sum = 0;

	if (!e)
		fail_msg("%s: %s", text, error.text);
	for (unsigned int i = 0; i < n; i++)
		pfn[i] = i;
	expr_eval_pfns(e, pfn, n, 512, seed, 0, 0, 0, out);
	for (unsigned int i = 0; i < n; i++)
		sum += out[i];
	free(pfn);
	free(out);
	expr_free(e);
	return sum;
}

static void test_rand_statistics(void **state)
{
	const unsigned int n = 1 << 18;
	unsigned int bin[256] = { 0 }, same = 0;
	double chi2 = 0;

	for (uint64_t seed = 1; seed <= 4; seed++) {
		/* standard deviation of the count: sqrt(n/4 * 3/4) = 222 */
		assert_in_range(hits("rand < 25%", seed, n), n / 4 - 1000, n / 4 + 1000);
		assert_int_equal(hits("rand < 0.25", seed, n) + hits("0.25 <= rand", seed, n), n);
		assert_int_equal(hits("rand in 0.25..0.5", seed, n),
				 hits("rand >= 0.25 && rand <= 50%", seed, n));
	}
	assert_int_equal(hits("rand >= 0.0", 1, n), n);
	assert_int_equal(hits("rand < 1.0", 1, n), n);
	assert_int_equal(hits("rand < 100%", 1, n), n);
	assert_int_equal(hits("rand < 0.0", 1, n), 0);
	assert_int_equal(hits("rand == 0.3", 1, n), 0);
	assert_int_equal(hits("rand != 0.3", 1, n), n);
	for (unsigned int i = 0; i < n; i++) {
		bin[expr_rand(1, i) >> 24]++;
		/* the next seed must not give the same sequence one further */
		same += expr_rand(1, i + 1) == expr_rand(2, i);
	}
	for (int i = 0; i < 256; i++)
		chi2 += ((double)bin[i] - n / 256.0) * ((double)bin[i] - n / 256.0) / (n / 256.0);
	/* 255 degrees of freedom: mean 255, standard deviation 22.6 */
	assert_true(chi2 > 165 && chi2 < 345);
	assert_true(same < 3);
	assert_int_equal(expr_rand(7, 99), expr_rand(7, 99));
}

/* Thresholds at the edge of a step of 2^-32, given to expr_eval as the fixed-point value. */
static void test_rand_thresholds(void **state)
{
	static const struct {
		const char *text;
		int64_t rand;
		int64_t value;
	} t[] = {
		{ "rand < 0.25", 0x3fffffff, 1 },
		{ "rand < 0.25", 0x40000000, 0 },
		{ "rand <= 0.25", 0x40000000, 1 },
		{ "rand == 0.25", 0x40000000, 1 },
		{ "rand > 25%", 0x40000000, 0 },
		{ "rand >= 25%", 0x40000000, 1 },
		{ "rand < 12.5%", 0x1fffffff, 1 },
		{ "rand < 12.5%", 0x20000000, 0 },
		/* 0.1 * 2^32 = 429496729.6 */
		{ "rand < 0.1", 429496729, 1 },
		{ "rand < 0.1", 429496730, 0 },
		{ "rand >= 0.1", 429496729, 0 },
		{ "rand > 0.1", 429496730, 1 },
		{ "0.1 > rand", 429496729, 1 },
		{ "10% <= rand", 429496729, 0 },
		{ "rand in 0.1..0.25", 429496729, 0 },
		{ "rand in 0.1..0.25", 429496730, 1 },
		{ "rand < 25% && pfn % 8 == 4", 5, 1 },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		int64_t vars[EXPR_VAR_COUNT] = { [EXPR_PFN] = 4, [EXPR_RAND] = t[i].rand };

		if (value_of(t[i].text, vars) != t[i].value)
			fail_msg("%s at %lld", t[i].text, (long long)t[i].rand);
	}
}

/* Names for shares: 25 % of 2^32 is 0x40000000, 12.5 % half of that. */
static void test_rand_names(void **state)
{
	static const struct expr_const consts[] = { { "quarter", 0, "25%" },
						    { "eighth", 0, "0.125" },
						    { "n", 25 },
						    { "rest", 0, "17" } };
	static const char *const same[] = { "rand < quarter",  "rand < n %",	   "rand < n%",
					    "rand < (n) %",    "rand < (n + 0)%",  "n % > rand",
					    "quarter > rand",  "rand < quarter && 1", "rand < 25 %",
					    "!(rand >= quarter)", "rand < n % || 0" };
	struct expr_error error;
	struct expr *e;
	int64_t vars[EXPR_VAR_COUNT] = { 0 }, v;

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		e = expr_compile(same[i], ALL, consts, 4, &error);
		if (!e)
			fail_msg("%s: column %d: %s", same[i], error.column, error.text);
		vars[EXPR_RAND] = 0x3fffffff;
		expr_eval(e, vars, &v);
		assert_int_equal(v, 1);
		vars[EXPR_RAND] = 0x40000000;
		expr_eval(e, vars, &v);
		assert_int_equal(v, 0);
		expr_free(e);
	}
	e = expr_compile("rand in eighth..quarter", ALL, consts, 4, &error);
	assert_non_null(e);
	vars[EXPR_RAND] = 0x1fffffff;
	expr_eval(e, vars, &v);
	assert_int_equal(v, 0);
	vars[EXPR_RAND] = 0x20000000;
	expr_eval(e, vars, &v);
	assert_int_equal(v, 1);
	expr_free(e);
	assert_null(expr_compile("rand < rest", ALL, consts, 4, &error));
	assert_string_equal(error.text, "rest is no share such as 25%");
	/* A modulo is one where a value follows. */
	e = expr_compile("n % 8 == 1", ALL, consts, 4, &error);
	assert_non_null(e);
	expr_eval(e, vars, &v);
	assert_int_equal(v, 1);
	expr_free(e);
	assert_true(expr_is_decimal("25%"));
	assert_true(expr_is_decimal("0.125"));
	assert_false(expr_is_decimal("25"));
	assert_false(expr_is_decimal("125%"));
	assert_false(expr_is_decimal("25% 8"));
	assert_false(expr_is_decimal("a word"));
	assert_false(expr_is_decimal(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_c),
		cmocka_unit_test(test_own_words),
		cmocka_unit_test(test_constants),
		cmocka_unit_test(test_div_zero),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_random_trees),
		cmocka_unit_test(test_rand_statistics),
		cmocka_unit_test(test_rand_thresholds),
		cmocka_unit_test(test_rand_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
