// SPDX-License-Identifier: GPL-2.0-only
/* Rows of counts: where they end, and what of them is none. */
#include <ctype.h>

#include "harness/report/memreport_impl.h"
#include "results/util/cleanup.h"

static bool is_digit(const struct cursor *c, const char *p)
{
	return p < c->end && isdigit((unsigned char)*p);
}

/*
 * "// 3 of them", "<- look", and words behind a row that may be whole. "-1", ",5", ">" and "..." are no
 * comments: a count, or what is left of it, stands there.
 */
static bool is_comment(const struct cursor *c, bool whole)
{
	if (isalpha((unsigned char)*c->p))
		return whole;
	if (isdigit((unsigned char)*c->p) || *c->p == '>' || *c->p == '.')
		return false;
	return !is_digit(c, c->p + 1);
}

void columns_take(struct reader *rd, struct cursor *text, unsigned int whole, struct columns *c)
{
	memset(c, 0, sizeof(*c));
	while (!cursor_at_end(text)) {
		struct cursor try = *text;
		bool at_least = *try.p == '>' && is_digit(&try, try.p + 1);
		uint64_t value;

		try.p += at_least;
		if (!reader_number(rd, &try, &value)) {
			if (!is_comment(text, c->n >= whole))
				c->bad = rd->word;
			return;
		}
		if (value >= MEMREPORT_BLOCKS_MAX)
			c->impossible = rd->word;
		if (c->n < MEMREPORT_ORDERS) {
			c->value[c->n] = value;
			c->at_least |= (uint32_t)at_least << c->n;
		}
		c->n++;
		*text = try;
	}
}

bool columns_garbage(struct reader *rd, const char *of, const struct columns *c)
{
	if (c->n > MEMREPORT_ORDERS) {
		memreport_remark(reader_report(rd), rd->rec.line,
				 "%s: %u columns, more orders than any kernel has: garbage; "
				 "this row is left out",
				 of, c->n);
	} else if (c->impossible.p) {
		cleanup_free char *text = reader_text(&c->impossible);

		memreport_remark(reader_report(rd), rd->rec.line,
				 "%s: %s blocks are more than any machine has: garbage; "
				 "this row is left out",
				 of, text);
	} else {
		return false;
	}
	return true;
}

bool columns_cut(struct reader *rd, const char *of, const struct columns *c)
{
	cleanup_free char *text = NULL;

	if (!c->bad.p)
		return false;
	text = reader_text(&c->bad);
	memreport_remark(reader_report(rd), rd->rec.line, "%s: \"%s\" in column %u is no count: %s", of,
			 text, c->n + 1,
			 c->n ? "the row is taken up to there" : "the row is left out");
	return true;
}
