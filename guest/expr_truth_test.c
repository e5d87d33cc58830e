// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reference is brute force: in guests so small that every page can be tried, what is called never
 * true is true nowhere, and what is called always true is false nowhere.
 */
#include "guest/expr_truth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "guest/expr_tree.h"

#define ALL ((1u << EXPR_VAR_COUNT) - 1)

/* A guest of 512 MiB, with two nodes of three, and the zones of one without ZONE_MOVABLE. */
static const struct expr_domain guest = {
	.var = { [EXPR_PFN] = { 16, 131071 }, [EXPR_RAND] = { 0, 0xffffffff }, [EXPR_ORDER] = { 0, 10 } },
	.set = { [EXPR_ZONE] = 7, [EXPR_NODE] = 5 },
	.pageblock_pages = 512,
	.hint = { [EXPR_NODE] = "; see vm: numa" },
};

static enum expr_truth truth_of(const char *text, const struct expr_domain *d, struct expr_finding *f)
{
	struct expr_error error;
	struct expr *e = expr_compile(text, ALL, NULL, 0, &error);
	enum expr_truth t;

	if (!e)
		fail_msg("%s: column %d: %s", text, error.column, error.text);
	t = expr_truth(e, text, d, f);
	expr_free(e);
	return t;
}

static void test_never(void **state)
{
	static const struct {
		const char *text;
		int column;
		const char *why;
	} t[] = {
		{ "node == 7", 1, "node == 7 is never true: node is 0 or 2" },
		{ "node == 1", 1, NULL },
		{ "7 == node", 1, NULL },
		{ "pfn % 8 == 9", 1, "pfn % 8 == 9 is never true: pfn % 8 is 0 to 7" },
		{ "pfn % 8 == -1", 1, NULL },
		{ "pfn % 8 > 7", 1, NULL },
		{ "9 == pfn % 8", 1, "9 == pfn % 8 is never true: pfn % 8 is 0 to 7" },
		{ "pfn in 5..1", 1, "pfn in 5..1 is never true: 5 is more than 1" },
		{ "pfn in 0..15", 1, "pfn in 0..15 is never true: pfn is 16 to 131071" },
		{ "pfn >= 131072", 1, NULL },
		{ "pfn % 99999999 == 0", 1,
		  "pfn % 99999999 == 0 is never true: pfn % 99999999 is 16 to 131071" },
		{ "offset == 5000", 1, "offset == 5000 is never true: offset is 0 to 511" },
		{ "offset == 512", 1, NULL },
		{ "block == 256", 1, "block == 256 is never true: block is 0 to 255" },
		{ "block > 255 || offset < 0", 1, "block > 255 is never true: block is 0 to 255" },
		{ "zone == HighMem", 1, "zone == HighMem is never true: zone is dma, dma32 or normal" },
		{ "zone == Movable && pfn % 2 == 0", 1, NULL },
		{ "pfn % 2 == 0 && zone == Movable", 17, "zone == Movable is never true: zone is" },
		{ "order == 11", 1, "order is 0 to 10" },
		{ "rand < 0%", 1, "rand < 0% is never true: rand is 0 or more, and less than 1" },
		{ "rand >= 1.0", 1, NULL },
		{ "rand > 100%", 1, NULL },
		{ "0", 1, "0 is never true: it is 0 for every page" },
		{ "pfn && 2 > 3", 1, "pfn && 2 > 3 is never true" },
		{ "pfn % 16 == 3 && pfn % 8 == 5", 18,
		  "pfn % 8 == 5 is never true where pfn % 16 == 3 is" },
		{ "pfn % 8 == 3 && pfn % 8 == 5", 17, NULL },
		{ "pfn < 100 && pfn > 200", 14, "pfn > 200 is never true where pfn < 100 is" },
		{ "pfn < 100 && block > 0", 14, NULL },
		{ "block > 3 && pfn < 2048", 14, NULL },
		{ "offset == 3 && pfn % 512 == 4", 16, NULL },
		{ "offset == 3 && pfn % 2 == 0", 16, NULL },
		{ "pfn % 2 == 1 && offset in 4..4", 17, NULL },
		{ "!(pfn >= 16)", 1, "!(pfn >= 16) is never true" },
		{ "!(pfn < 100) && pfn < 50", 17, NULL },
		{ "!(pfn < 100 || offset > 5) && offset == 6", 31, NULL },
		{ "pfn * 8 % 8 == 1", 1, "pfn * 8 % 8 is 0" },
		{ "(pfn * 2 + 1) % 2 == 0", 1, NULL },
		{ "(pfn - 16) / 1000 > 131", 1, NULL },
		{ "(pfn >> 9) > 255", 1, NULL },
		{ "(pfn & 7) == 8", 1, "pfn & 7 is 0 to 7" },
		{ "(pfn & 6) == 7", 1, NULL },
		{ "(pfn | 1) < 16", 1, NULL },
		{ "min(pfn, 9) > 9", 1, NULL },
		{ "max(pfn % 8, 3) == 2", 1, NULL },
		{ "pfn / 0x100000", 1, NULL },
		{ "pfn % 3 * 2 == 3", 1, "pfn % 3 * 2 is 0, 2 or 4" },
		{ "node && node < 2", 9, "node < 2 is never true where node is" },
		{ "pfn % 8 == 4 && (node == 7 || offset < 3)", 18, NULL },
		{ "pfn / node == 200000", 1, NULL },
		{ "node && pfn / node > 70000", 9, NULL },
		{ "1 % (pfn - pfn % 1 - pfn + 1) == 5", 1, NULL },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct expr_finding f = { 0 };

		if (truth_of(t[i].text, &guest, &f) != EXPR_NEVER)
			fail_msg("%s: not seen", t[i].text);
		if (f.column != t[i].column || (t[i].why && !strstr(f.text, t[i].why)))
			fail_msg("%s: column %d: %s", t[i].text, f.column, f.text);
	}
}

static void test_sometimes(void **state)
{
	static const char *const t[] = {
		"pfn % 8 == 7",
		"pfn % 8 == 0",
		"pfn == 16",
		"pfn == 131071",
		"offset == 511",
		"offset == 0 && block == 255",
		"node == 2",
		"zone == DMA",
		"zone == Normal",
		"zone != Normal && node != 0",
		"rand < 25%",
		"rand == 0.5",
		"pfn % 16 == 3 && pfn % 8 == 3",
		"pfn % 8 == 3 && pfn % 16 == 11",
		"pfn < 1000 && block == 1",
		"node == 7 || pfn % 8 == 4",
		"pfn % 8 == 4 && (node == 7 || offset < 5)",
		"pfn * pfn == 289",
		"pfn / 512 % 2 == 1 && pfn % 512 == 0",
		"pfn * 0x7fffffffffff < 0", /* it wraps */
		"node && 4 / node == 2",
		"pfn ^ 131071",
		"(pfn & 7) == 7",
		"!(pfn % 2)",
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		if (truth_of(t[i], &guest, NULL) != EXPR_SOMETIMES)
			fail_msg("%s: decided", t[i]);
	assert_int_equal(truth_of("5", &guest, NULL), EXPR_ALWAYS);
	assert_int_equal(truth_of("pfn >= 16", &guest, NULL), EXPR_ALWAYS);
	assert_int_equal(truth_of("pfn % 8 < 8 && offset < 512", &guest, NULL), EXPR_ALWAYS);
	assert_int_equal(truth_of("pfn > 50 || pfn < 60", &guest, NULL), EXPR_ALWAYS);
	assert_int_equal(truth_of("rand < 100%", &guest, NULL), EXPR_ALWAYS);
}

static void test_finding(void **state)
{
	struct expr_finding f;
	char text[400];

	truth_of("pfn % 2 == 0 && (node == 7)", &guest, &f);
	assert_int_equal(f.column, 18);
	assert_int_equal(f.len, 9);
	assert_non_null(strstr(f.text, "; see vm: numa"));
	/* Long ones are cut, and of more than one line one is made. */
	truth_of("pfn\n<\t3", &guest, &f);
	assert_string_equal(f.text, "pfn < 3 is never true: pfn is 16 to 131071");
	memset(text, ' ', sizeof(text));
	memcpy(text, "pfn <", 5);
	memcpy(text + 390, "3", 2);
	truth_of(text, &guest, &f);
	assert_int_equal(f.len, 391);
	assert_non_null(strstr(f.text, "... is never true: pfn is"));
}

/* Each level doubles what a look at it takes: an end, and soon. */
static void test_bounded(void **state)
{
	char text[2000] = "pfn";

	for (int i = 0; i < 20; i++) {
		char longer[2000];

		snprintf(longer, sizeof(longer), "((%s) + 1 && node)", text);
		strcpy(text, longer);
	}
	truth_of(text, &guest, NULL);
	text[0] = '\0';
	for (int i = 0; i < 100; i++)
		strcat(text, i ? " && pfn > 3" : "pfn < 3");
	assert_int_equal(truth_of(text, &guest, NULL), EXPR_SOMETIMES); /* too large to be looked at */
}

/* ---- against brute force ---- */

static uint64_t random_state = 88172645463325252ULL;

static unsigned int random_below(unsigned int n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned int)(random_state >> 33) % n;
}

static void write_random(FILE *f, int depth, bool truth)
{
	static const char *const vars[] = { "pfn", "pfn", "block", "offset", "zone", "node" };
	static const char *const logic[] = { "&&", "||", "&&" };
	static const char *const compare[] = { "==", "!=", "<", "<=", ">", ">=", "==" };
	static const char *const math[] = { "+", "-", "*", "/", "%", "%", "<<", ">>", "&", "|", "^" };
	static const char *const numbers[] = { "0", "1", "2", "3", "4", "5", "8", "9", "16", "40", "63", "64",
					       "-1", "-7", "1000", "0x7fffffffffffffff" };
	unsigned int dice = random_below(10);

	if (!depth || (!truth && dice < 3)) {
		fputs(random_below(2) ? vars[random_below(6)] : numbers[random_below(16)], f);
	} else if (truth && dice < 4) {
		fputs("(", f);
		write_random(f, depth - 1, true);
		fprintf(f, ") %s (", logic[random_below(3)]);
		write_random(f, depth - 1, true);
		fputs(")", f);
	} else if (truth && dice < 5) {
		fputs("!(", f);
		write_random(f, depth - 1, true);
		fputs(")", f);
	} else if (dice < 6) {
		fputs("(", f);
		write_random(f, depth - 1, false);
		fputs(") in (", f);
		write_random(f, 0, false);
		fputs(")..(", f);
		write_random(f, random_below(2), false);
		fputs(")", f);
	} else if (truth || dice < 7) {
		fputs("((", f);
		write_random(f, depth - 1, false);
		fprintf(f, ") %s (", compare[random_below(7)]);
		write_random(f, (int)random_below((unsigned int)depth), false);
		fputs("))", f);
	} else if (dice < 8) {
		fprintf(f, "%s(", random_below(2) ? "min" : "max");
		write_random(f, depth - 1, false);
		fputs(", ", f);
		write_random(f, depth - 1, false);
		fputs(")", f);
	} else {
		fprintf(f, "%s((", random_below(6) ? "" : random_below(2) ? "-" : "~");
		write_random(f, depth - 1, false);
		fprintf(f, ") %s (", math[random_below(11)]);
		write_random(f, random_below(3) ? 0 : depth - 1, false);
		fputs("))", f);
	}
}

/* Pages 3 to 40 in pageblocks of 8, zones 0, 1, 2 and 4, nodes 0 and 2. */
#define PFN_LO 3
#define PFN_HI 40

static const struct expr_domain small = {
	.var = { [EXPR_PFN] = { PFN_LO, PFN_HI } },
	.set = { [EXPR_ZONE] = 0x17, [EXPR_NODE] = 5 },
	.pageblock_pages = 8,
};

static void try_all(const struct expr *e, bool *is_true, bool *is_false)
{
	*is_true = *is_false = false;
	for (int64_t pfn = PFN_LO; pfn <= PFN_HI; pfn++)
		for (int64_t zone = 0; zone < 5; zone++)
			for (int64_t node = 0; node < 3; node += 2) {
				const int64_t vars[EXPR_VAR_COUNT] = { pfn, pfn / 8, pfn % 8, 0, zone, node };
				int64_t v;

				if (zone == 3 || expr_eval(e, vars, &v) != EXPR_OK)
					continue;
				*(v ? is_true : is_false) = true;
			}
}

static void test_brute_force(void **state)
{
	unsigned int compiled = 0, never = 0, always = 0, missed = 0;

	for (int i = 0; i < 30000; i++) {
		char *text = NULL;
		size_t len;
		FILE *f = open_memstream(&text, &len);
		struct expr_error error;
		bool is_true, is_false;
		enum expr_truth said;
		struct expr_finding found;
		struct expr *e;

		write_random(f, 1 + (int)random_below(4), true);
		fclose(f);
		e = expr_compile(text, ALL, NULL, 0, &error);
		if (!e) {
			free(text);
			continue;
		}
		compiled++;
		try_all(e, &is_true, &is_false);
		said = expr_truth(e, text, &small, &found);
		if ((said == EXPR_NEVER && is_true) || (said == EXPR_ALWAYS && is_false))
			fail_msg("%s is said to be %s", text, said == EXPR_NEVER ? "never" : "always");
		if (said == EXPR_NEVER &&
		    (found.column < 1 || (size_t)(found.column - 1 + found.len) > strlen(text)))
			fail_msg("%s: blamed is %d, %d", text, found.column, found.len);
		never += said == EXPR_NEVER;
		always += said == EXPR_ALWAYS;
		missed += said == EXPR_SOMETIMES && !is_true;
		expr_free(e);
		free(text);
	}
	if (getenv("V"))
		print_message("%u: %u never, %u always, %u more are never\n", compiled, never, always, missed);
	assert_true(compiled > 20000 && never > 2000 && always > 1000);
	assert_true(missed < never / 4); /* what is not seen is little */
}

/* The values of a single operator, over every pair of small ranges. */
static void test_operators(void **state)
{
	static const int64_t edges[][2] = { { 0, 0 },	{ 0, 5 },    { 1, 3 },	   { 7, 70 },  { -3, 4 },
					    { -9, -2 }, { 60, 66 },  { 100, 105 }, { -1, -1 }, { 8, 8 },
					    { 64, 64 }, { -70, 70 }, { 62, 63 } };

	for (int op = OP_ADD; op <= OP_GE + 2; op++)
		for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
			for (size_t k = 0; k < sizeof(edges) / sizeof(edges[0]); k++) {
				struct expr_value a = expr_value_range(edges[i][0], edges[i][1]);
				struct expr_value b = expr_value_range(edges[k][0], edges[k][1]);
				struct expr_value v = expr_value_apply((enum expr_op)op, a, b);

				for (int64_t x = a.lo; x <= a.hi; x++)
					for (int64_t y = b.lo; y <= b.hi; y++) {
						struct expr_value one;

						if (!y && (op == OP_DIV || op == OP_MOD))
							continue;
						one = expr_value_const(
							expr_apply((enum expr_op)op, x, y));
						if (expr_value_meet(v, one).none)
							fail_msg("operator %d of %lld and %lld", op, (long long)x,
								 (long long)y);
					}
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_never),	    cmocka_unit_test(test_sometimes),
		cmocka_unit_test(test_finding),	    cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_brute_force), cmocka_unit_test(test_operators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
