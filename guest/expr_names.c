// SPDX-License-Identifier: GPL-2.0-only
/* Names in an expression: variables, constants, zones; and what was meant where there is none. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "guest/expr_parse.h"

const char *const expr_var_names[EXPR_VAR_COUNT] = {
	[EXPR_PFN] = "pfn",	[EXPR_BLOCK] = "block", [EXPR_OFFSET] = "offset",
	[EXPR_ORDER] = "order", [EXPR_ZONE] = "zone",	[EXPR_NODE] = "node",
	[EXPR_RAND] = "rand",	[EXPR_CMA] = "cma",
};

const char *const expr_zone_names[] = {
	[EXPR_ZONE_DMA] = "dma",	 [EXPR_ZONE_DMA32] = "dma32",
	[EXPR_ZONE_NORMAL] = "normal",	 [EXPR_ZONE_HIGHMEM] = "highmem",
	[EXPR_ZONE_MOVABLE] = "movable", [EXPR_ZONE_DEVICE] = "device",
};

#define ZONE_COUNT (sizeof(expr_zone_names) / sizeof(expr_zone_names[0]))

bool expr_token_is(const struct expr_token *t, const char *name)
{
	return strlen(name) == (size_t)t->len && memcmp(name, t->start, (size_t)t->len) == 0;
}

int expr_shown_len(const struct parser *p)
{
	return p->token.len > 60 ? 60 : p->token.len;
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

static void nearer(const char *word, size_t len, const char *name, const char **best,
		   unsigned int *distance)
{
	unsigned int d = expr_name_distance(name, word, len);

	if (d < *distance) {
		*distance = d;
		*best = name;
	}
}

static const char *nearest_name(const struct parser *p)
{
	size_t len = (size_t)p->token.len;
	unsigned int distance = (len >= 6 ? (unsigned int)len / 3 : 1) + 1;
	const char *best = NULL;
	char lower[32] = "";

	for (int v = 0; v < EXPR_VAR_COUNT; v++)
		if (p->allowed & (1u << v))
			nearer(p->token.start, len, expr_var_names[v], &best, &distance);
	for (size_t i = 0; i < p->nconsts; i++)
		nearer(p->token.start, len, p->consts[i].name, &best, &distance);
	/* Zones are written as here and as the kernel does, Normal. */
	for (size_t i = 0; i < len && i + 1 < sizeof(lower); i++)
		lower[i] = (char)tolower((unsigned char)p->token.start[i]);
	for (size_t i = 0; len < sizeof(lower) && i < ZONE_COUNT; i++)
		nearer(lower, len, expr_zone_names[i], &best, &distance);
	return best;
}

const char *expr_operator_meant(const struct parser *p)
{
	static const char *const words[][2] = { { "and", "&&" },
						{ "or", "||" },
						{ "not", "!" },
						{ "mod", "%" } };

	for (size_t i = 0; p->token.kind == TOKEN_NAME && i < sizeof(words) / sizeof(words[0]); i++)
		if (expr_token_is(&p->token, words[i][0]))
			return words[i][1];
	return NULL;
}

static void fail_unknown(struct parser *p)
{
	const char *best = expr_operator_meant(p);
	int len = expr_shown_len(p);
	char allowed[80];

	if (!best)
		best = nearest_name(p);
	list_allowed(p, allowed, sizeof(allowed));
	if (p->beside_zone)
		FAIL(p, p->token.column,
		     "unknown name \"%.*s\"; the zones are DMA, DMA32, Normal, HighMem, Movable, Device",
		     len, p->token.start);
	else if (best)
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
		if (!expr_token_is(&p->token, expr_var_names[v]))
			continue;
		list_allowed(p, allowed, sizeof(allowed));
		if (!(p->allowed & (1u << v)))
			FAIL(p, p->token.column, "%s cannot be used here; %s%s", expr_var_names[v],
			     *allowed ? "allowed are " : "only numbers and constants are allowed",
			     allowed);
		if (v == EXPR_RAND)
			o->kind = OPERAND_RAND;
		expr_emit(p, (struct expr_insn){ .op = OP_VAR,
						 .imm = v,
						 .from = o->from,
						 .to = o->from + (uint32_t)p->token.len });
		return true;
	}
	return false;
}

/* The value of a constant that is a share; false with *error where the text is none. */
static bool read_decimal(const char *text, int64_t *floor, int64_t *ceil, struct expr_error *error)
{
	const char *at = text;
	struct expr_token t = expr_next_token(text, &at, error);

	if (t.kind != TOKEN_DECIMAL)
		return false;
	*floor = t.floor;
	*ceil = t.ceil;
	return expr_next_token(text, &at, error).kind == TOKEN_END;
}

bool expr_is_decimal(const char *text)
{
	struct expr_error error;
	int64_t floor, ceil;

	return read_decimal(text, &floor, &ceil, &error);
}

static void resolve_decimal(struct parser *p, const struct expr_const *c, struct operand *o)
{
	struct expr_error error;

	o->kind = OPERAND_DECIMAL;
	if (!read_decimal(c->decimal, &o->floor, &o->ceil, &error))
		FAIL(p, p->token.column, "%s is no share such as 25%%", c->name);
}

static bool resolve_constant(struct parser *p, struct operand *o)
{
	for (size_t i = 0; i < p->nconsts; i++) {
		if (!expr_token_is(&p->token, p->consts[i].name))
			continue;
		if (p->consts[i].decimal)
			resolve_decimal(p, &p->consts[i], o);
		else
			expr_emit_const(p, p->consts[i].value);
		return true;
	}
	for (size_t i = 0; i < ZONE_COUNT; i++) {
		/* The kernel's own spelling too: DMA32, Normal. */
		if (strlen(expr_zone_names[i]) == (size_t)p->token.len &&
		    strncasecmp(expr_zone_names[i], p->token.start, (size_t)p->token.len) == 0) {
			expr_emit_const(p, (int64_t)i);
			return true;
		}
	}
	return false;
}

void expr_resolve(struct parser *p, struct operand *o)
{
	if (!resolve_variable(p, o) && !resolve_constant(p, o))
		fail_unknown(p);
}
