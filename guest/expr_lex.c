// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "guest/expr_code.h"

#define DECIMAL_DIGITS_MAX 15 /* so that digits times 2^32 times 100 fits 128 bits by far */

static const struct {
	const char *text;
	enum expr_token_kind kind;
	enum expr_op op;
	int precedence;
} operators[] = {
	/* longer ones before their prefixes */
	{ "||", TOKEN_BINARY, OP_LOR, 1 },
	{ "&&", TOKEN_BINARY, OP_LAND, 2 },
	{ "==", TOKEN_BINARY, OP_EQ, 6 },
	{ "!=", TOKEN_BINARY, OP_NE, 6 },
	{ "<<", TOKEN_BINARY, OP_SHL, EXPR_PRECEDENCE_SHIFT },
	{ ">>", TOKEN_BINARY, OP_SHR, EXPR_PRECEDENCE_SHIFT },
	{ "<=", TOKEN_BINARY, OP_LE, 7 },
	{ ">=", TOKEN_BINARY, OP_GE, 7 },
	{ "..", TOKEN_RANGE, OP_IN, 0 },
	{ "|", TOKEN_BINARY, OP_OR, 3 },
	{ "^", TOKEN_BINARY, OP_XOR, 4 },
	{ "&", TOKEN_BINARY, OP_AND, 5 },
	{ "<", TOKEN_BINARY, OP_LT, 7 },
	{ ">", TOKEN_BINARY, OP_GT, 7 },
	{ "+", TOKEN_BINARY, OP_ADD, 9 },
	{ "-", TOKEN_BINARY, OP_SUB, 9 },
	{ "*", TOKEN_BINARY, OP_MUL, 10 },
	{ "/", TOKEN_BINARY, OP_DIV, 10 },
	{ "%", TOKEN_BINARY, OP_MOD, 10 },
	{ "!", TOKEN_NOT, OP_NOT, 0 },
	{ "~", TOKEN_COMPL, OP_COMPL, 0 },
	{ "(", TOKEN_OPEN, OP_CONST, 0 },
	{ ")", TOKEN_CLOSE, OP_CONST, 0 },
	{ ",", TOKEN_COMMA, OP_CONST, 0 },
};

enum expr_token_kind expr_fail(struct expr_error *error, int column, const char *fmt, ...)
{
	va_list ap;

	error->column = column;
	va_start(ap, fmt);
	vsnprintf(error->text, sizeof(error->text), fmt, ap);
	va_end(ap);
	return TOKEN_BAD;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_blanks(const char *p)
{
	while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')
		p++;
	return p;
}

static int digit_value(char c, int base)
{
	int v = isdigit((unsigned char)c)  ? c - '0' :
		isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 :
					     base;

	return v < base ? v : -1;
}

static int suffix_shift(char c)
{
	static const char suffixes[] = "KMGT";
	const char *s = c ? strchr(suffixes, c) : NULL;

	return s ? 10 * (int)(s - suffixes + 1) : 0;
}

static void lex_integer(struct expr_token *t, struct expr_error *error)
{
	int base = t->start[0] == '0' && (t->start[1] == 'x' || t->start[1] == 'X') ? 16 : 10;
	const char *p = t->start + (base == 16 ? 2 : 0), *first = p;
	int64_t v = 0;
	bool overflow = false;

	for (; digit_value(*p, base) >= 0; p++)
		overflow |= __builtin_mul_overflow(v, base, &v) ||
			    __builtin_add_overflow(v, digit_value(*p, base), &v);
	if (p > first && suffix_shift(*p))
		overflow |= __builtin_mul_overflow(v, (int64_t)1 << suffix_shift(*p++), &v);
	if (p == first || is_name_char(*p)) {
		while (is_name_char(*p))
			p++;
		t->kind = expr_fail(error, t->column,
				    "\"%.*s\" is not a number; write 123, 0x7f, "
				    "or 4K, 2M, 1G, 1T",
				    (int)(p - t->start > 60 ? 60 : p - t->start), t->start);
		return;
	}
	t->kind = TOKEN_NUMBER;
	t->len = (int)(p - t->start);
	t->number = v;
	if (overflow)
		t->kind = expr_fail(error, t->column, "%.*s does not fit 64 bits",
				    t->len > 60 ? 60 : t->len, t->start);
}

/* "25%" is a percentage where no value follows to divide by: "25% 8" is a modulo. */
static bool is_percent(const char *p)
{
	const char *next;

	if (*p != '%')
		return false;
	next = skip_blanks(p + 1);
	return !*next || strchr("),&|^=<>", *next) || (next[0] == '!' && next[1] == '=') ||
	       (next[0] == '.' && next[1] == '.');
}

/* digits[.digits][%] as 32-bit fixed point. */
static void lex_decimal(struct expr_token *t, struct expr_error *error)
{
	const char *p = t->start;
	unsigned __int128 v = 0, scale = 1, scaled;
	int digits = 0;

	for (bool behind = false;
	     isdigit((unsigned char)*p) || (*p == '.' && !behind && p[1] != '.'); p++) {
		if (*p == '.') {
			behind = true;
			continue;
		}
		if (++digits > DECIMAL_DIGITS_MAX) {
			t->kind = expr_fail(error, t->column, "a decimal has at most %d digits",
					    DECIMAL_DIGITS_MAX);
			return;
		}
		v = v * 10 + (unsigned int)(*p - '0');
		scale *= behind ? 10 : 1;
	}
	if (*p == '%') {
		scale *= 100;
		p++;
	}
	t->kind = TOKEN_DECIMAL;
	t->len = (int)(p - t->start);
	scaled = v << 32;
	if (v > scale) {
		t->kind = expr_fail(error, t->column, "%.*s lies outside 0 to 1, where rand is",
				    t->len, t->start);
		return;
	}
	t->floor = (int64_t)(scaled / scale);
	t->ceil = (int64_t)((scaled + scale - 1) / scale);
}

static void lex_number(struct expr_token *t, struct expr_error *error)
{
	const char *p = t->start;

	while (isdigit((unsigned char)*p))
		p++;
	if ((*p == '.' && isdigit((unsigned char)p[1])) || is_percent(p))
		lex_decimal(t, error);
	else
		lex_integer(t, error);
}

static void lex_name(struct expr_token *t)
{
	t->kind = TOKEN_NAME;
	while (is_name_char(t->start[t->len]))
		t->len++;
	if (t->len == 2 && memcmp(t->start, "in", 2) == 0) {
		t->kind = TOKEN_BINARY;
		t->op = OP_IN;
		t->precedence = 7;
	}
}

static void lex_operator(struct expr_token *t, struct expr_error *error)
{
	unsigned char c = (unsigned char)*t->start;

	if (is_percent(t->start)) {
		t->kind = TOKEN_PERCENT;
		t->len = 1;
		return;
	}
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		if (strncmp(t->start, operators[i].text, strlen(operators[i].text)) != 0)
			continue;
		t->kind = operators[i].kind;
		t->op = operators[i].op;
		t->precedence = operators[i].precedence;
		t->len = (int)strlen(operators[i].text);
		return;
	}
	if (c == '=')
		t->kind = expr_fail(error, t->column, "\"=\" is no operator; compare with ==");
	else if (isprint(c))
		t->kind = expr_fail(error, t->column, "unexpected character \"%c\"", c);
	else
		t->kind = expr_fail(error, t->column, "unexpected character \\x%02x", c);
}

struct expr_token expr_next_token(const char *text, const char **at, struct expr_error *error)
{
	struct expr_token t = { .kind = TOKEN_END, .start = skip_blanks(*at) };

	t.column = (int)(t.start - text) + 1;
	if (isdigit((unsigned char)*t.start))
		lex_number(&t, error);
	else if (isalpha((unsigned char)*t.start) || *t.start == '_')
		lex_name(&t);
	else if (*t.start)
		lex_operator(&t, error);
	*at = t.start + t.len;
	return t;
}

/* Optimal string alignment, on words of at most 31 characters; 1000 for longer ones. */
unsigned int expr_name_distance(const char *a, const char *b, size_t n)
{
	unsigned int d[32][32];
	size_t m = strlen(a);

	if (m > 31 || n > 31)
		return 1000;
	for (size_t i = 0; i <= m; i++) {
		for (size_t j = 0; j <= n; j++) {
			unsigned int best;

			if (!i || !j) {
				d[i][j] = (unsigned int)(i + j);
				continue;
			}
			best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			if (d[i - 1][j] + 1 < best)
				best = d[i - 1][j] + 1;
			if (d[i][j - 1] + 1 < best)
				best = d[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 1 < best)
				best = d[i - 2][j - 2] + 1;
			d[i][j] = best;
		}
	}
	return d[m][n];
}
