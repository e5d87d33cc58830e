// SPDX-License-Identifier: GPL-2.0-only
/*
 * RFC 4180: a header, lines that end with CR LF, quotes where they are needed. Control characters
 * stand as \xNN. A text that a spreadsheet would take for a formula gets an apostrophe in front.
 */
#include <math.h>
#include <string.h>

#include "results/compare_parts.h"
#include "results/compare_text.h"
#include "results/run_text.h"
#include "results/util/cleanup.h"

static const char header[] =
	"by,section,metric,unit,better,column,n,min,median,mean,stddev,max,shift,shift_low,"
	"shift_high,confidence,u,p,p_method,p_adjusted,cliffs_delta,outcome,more_runs,warning\r\n";

static const char *better_name(enum counter_better better)
{
	return better == BETTER_LOWER ? "lower" : better == BETTER_HIGHER ? "higher" : "";
}

/* Digits and what belongs to a number; "-inf" and "+a1" are none. */
static bool is_number(const char *s)
{
	char *end;

	if (strspn(s, "0123456789.eE+-") != strlen(s))
		return false;
	strtod(s, &end);
	return end != s && !*end;
}

/* Appends to a row: a comma first, but at its beginning. */
static void add_field(struct strbuf *sb, const char *field)
{
	if (sb->len && sb->data[sb->len - 1] != '\n')
		strbuf_adds(sb, ",");
	if (!field[strcspn(field, ",\"")]) {
		strbuf_adds(sb, field);
		return;
	}
	strbuf_adds(sb, "\"");
	for (; *field; field++)
		strbuf_adds(sb, *field == '"' ? "\"\"" : (char[]){ *field, '\0' });
	strbuf_adds(sb, "\"");
}

static void add_text(struct strbuf *sb, const char *text)
{
	cleanup_free char *clean = run_text_printable(text ? text : "");
	bool formula = *clean && strchr("=+-@", *clean) && !is_number(clean);
	cleanup_free char *field = str_printf("%s%s", formula ? "'" : "", clean);

	add_field(sb, field);
}

static void add_number(struct strbuf *sb, double value)
{
	cleanup_free char *text = isfinite(value) ? str_printf("%.17g", value) : xstrdup("");

	add_field(sb, text);
}

static void add_values(struct strbuf *sb, const struct compare_value *v)
{
	const struct stats_summary *s = &v->summary;
	const double value[] = { s->min, s->median, s->mean, s->stddev, s->max };

	add_number(sb, (double)v->n);
	for (size_t i = 0; i < ARRAY_SIZE(value); i++)
		add_number(sb, v->n ? value[i] : NAN);
}

#define RESULT_FIELDS 11

static void add_result(struct strbuf *sb, const struct stats_result *r)
{
	bool interval = r && r->shift.method != STATS_NONE;

	if (!r) {
		for (int i = 0; i < RESULT_FIELDS; i++)
			add_field(sb, "");
		return;
	}
	add_number(sb, r->shift.estimate);
	add_number(sb, r->shift.low);
	add_number(sb, r->shift.high);
	add_number(sb, interval ? r->shift.confidence : NAN);
	add_number(sb, r->rank.u);
	add_number(sb, r->rank.p);
	add_field(sb, r->rank.method == STATS_NONE ? "" : stats_method_name(r->rank.method));
	add_number(sb, r->p_adjusted);
	add_number(sb, r->rank.delta);
	add_field(sb, stats_outcome_name(r->outcome));
	add_number(sb, r->outcome == STATS_INCONCLUSIVE && r->more ? (double)r->more : NAN);
}

static char *join_warnings(const struct compare *c)
{
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; c->warning && c->warning[i]; i++)
		strbuf_addf(&sb, "%s%s", i ? "; " : "", c->warning[i]);
	return strbuf_steal(&sb);
}

char *compare_csv(const struct compare *c)
{
	cleanup_free char *warnings = join_warnings(c);
	struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, header);
	for (size_t s = 0; s < c->nsections; s++) {
		for (size_t i = 0; i < c->nmetrics * c->ncols; i++) {
			size_t m = i / c->ncols, col = i % c->ncols;

			add_text(&sb, c->by);
			add_text(&sb, c->section[s].label);
			add_text(&sb, c->metric[m].name);
			add_text(&sb, c->metric[m].unit);
			add_field(&sb, better_name(c->metric[m].better));
			add_text(&sb, c->col[col]);
			add_values(&sb, compare_value(c, s, m, col));
			add_result(&sb, compare_test(c, s, m, col));
			add_text(&sb, warnings);
			strbuf_adds(&sb, "\r\n");
		}
	}
	return strbuf_steal(&sb);
}
