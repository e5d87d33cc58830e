// SPDX-License-Identifier: GPL-2.0-only
/* What the host writes for the guest: jobs, and the expressions in them. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "ci/fuzz/fuzz.h"
#include "guest/expr.h"
#include "guest/job.h"
#include "results/util/cleanup.h"

static void check_same(const struct job *a, const struct job *b)
{
	FUZZ_CHECK(a->nlines == b->nlines);
	for (size_t i = 0; i < a->nlines; i++) {
		const struct job_line *x = &a->line[i], *y = &b->line[i];

		FUZZ_CHECK(strcmp(x->word, y->word) == 0 && x->npairs == y->npairs);
		for (size_t k = 0; k < x->npairs; k++) {
			FUZZ_CHECK(strcmp(x->pair[k].key, y->pair[k].key) == 0);
			FUZZ_CHECK(strcmp(x->pair[k].value, y->pair[k].value) == 0);
		}
	}
}

static void run_job(const uint8_t *data, size_t len)
{
	cleanup_free char *text = fuzz_text(data, len), *written = NULL;
	int lines = (int)fuzz_lines(data, len) + 1, bad;
	struct job job, again;

	if (job_parse(&job, text, &bad) < 0) {
		FUZZ_CHECK(bad >= 1 && bad <= lines && !job.line);
		return;
	}
	FUZZ_CHECK(bad == 0 && job.nlines <= (size_t)lines);
	written = job_format(&job);
	FUZZ_CHECK(written && job_parse(&again, written, &bad) == 0);
	check_same(&job, &again);
	job_option(&job, "sample_ms", 100);
	job_free(&again);
	job_free(&job);
}

#define ALL ((1u << EXPR_VAR_COUNT) - 1)
#define PAGES 512
#define SEED 42

static const struct expr_const consts[] = { { "step", 8 }, { "residue", 4 }, { "none", 0 },
					    { "files", 250000 }, { "least", INT64_MIN } };

/* rand: the value that expr_rand() gives; a text cannot hold it. */
static void set_vars(uint32_t pfn, int64_t vars[EXPR_VAR_COUNT])
{
	vars[EXPR_PFN] = pfn;
	vars[EXPR_BLOCK] = pfn / PAGES;
	vars[EXPR_OFFSET] = pfn % PAGES;
	vars[EXPR_ORDER] = 0;
	vars[EXPR_ZONE] = EXPR_ZONE_NORMAL;
	vars[EXPR_NODE] = 1;
	vars[EXPR_RAND] = expr_rand(SEED, pfn);
	vars[EXPR_CMA] = 1;
}

/* The same expression with the values in the place of the variables; NULL where rand is used. */
static char *with_values(const char *text, const int64_t vars[EXPR_VAR_COUNT])
{
	static const char *const name[] = { [EXPR_PFN] = "pfn", [EXPR_BLOCK] = "block",
					    [EXPR_OFFSET] = "offset", [EXPR_ORDER] = "order",
					    [EXPR_ZONE] = "zone", [EXPR_NODE] = "node",
					    [EXPR_RAND] = "rand", [EXPR_CMA] = "cma" };
	struct strbuf sb = STRBUF_INIT;

	while (*text) {
		size_t n = 0, v = 0;

		while (isalnum((unsigned char)text[n]) || text[n] == '_')
			n++;
		while (n && v < ARRAY_SIZE(name) &&
		       (strlen(name[v]) != n || memcmp(name[v], text, n) != 0))
			v++;
		if (n && v == EXPR_RAND) {
			strbuf_free(&sb);
			return NULL;
		}
		if (n && v < ARRAY_SIZE(name))
			strbuf_addf(&sb, "%" PRId64 " ", vars[v]);
		else
			strbuf_add(&sb, text, n ? n : 1);
		text += n ? n : 1;
	}
	return strbuf_steal(&sb);
}

/* What the compiler folds, it folds to what evaluation gives. */
static void check_folded(const char *text, const int64_t vars[EXPR_VAR_COUNT],
			 enum expr_status status, int64_t value)
{
	cleanup_free char *constant = with_values(text, vars);
	const int64_t none[EXPR_VAR_COUNT] = { 0 };
	struct expr_error error;
	int64_t folded = 0;
	struct expr *e;

	e = constant ? expr_compile(constant, 0, consts, ARRAY_SIZE(consts), &error) : NULL;
	if (!e)
		return;
	FUZZ_CHECK(expr_uses(e) == 0);
	FUZZ_CHECK(expr_eval(e, none, &folded) == EXPR_OK);
	FUZZ_CHECK(status == EXPR_OK && folded == value);
	expr_free(e);
}

/* Row by row, all at once, and folded. */
static void check_values(const struct expr *e, const char *text)
{
	static const uint32_t pfn[] = { 0, 1, 4, 8, 511, 512, 4095, 4096, 1048576, 262148,
					UINT32_MAX };
	uint8_t out[ARRAY_SIZE(pfn)];
	enum expr_status all = expr_eval_pfns(e, pfn, ARRAY_SIZE(pfn), PAGES, SEED,
					      EXPR_ZONE_NORMAL, 1, 1, out);
	bool divided = false;

	for (size_t i = 0; i < ARRAY_SIZE(pfn); i++) {
		int64_t vars[EXPR_VAR_COUNT], value = 0;
		enum expr_status one;

		set_vars(pfn[i], vars);
		one = expr_eval(e, vars, &value);
		divided |= one == EXPR_DIV_ZERO;
		FUZZ_CHECK(one != EXPR_OK || all != EXPR_OK || out[i] == (value != 0));
		if (i == 5 || i == 9)
			check_folded(text, vars, one, value);
	}
	FUZZ_CHECK(divided == (all == EXPR_DIV_ZERO));
}

static void run_expr(const uint8_t *data, size_t len)
{
	cleanup_free char *text = fuzz_text(data, len);
	struct expr_error error = { 0 };
	struct expr *e = expr_compile(text, ALL, consts, ARRAY_SIZE(consts), &error);

	if (!e) {
		FUZZ_CHECK(strnlen(error.text, sizeof(error.text)) < sizeof(error.text));
		FUZZ_CHECK(*error.text && error.column >= 0 &&
			   (size_t)error.column <= strlen(text) + 1);
		return;
	}
	FUZZ_CHECK(!(expr_uses(e) & ~ALL));
	check_values(e, text);
	expr_free(e);
}

const struct fuzz_target fuzz_job = { "job", run_job };
const struct fuzz_target fuzz_expr = { "expr", run_expr };
