// SPDX-License-Identifier: GPL-2.0-only
/*
 * GitHub's tables. Whatever its syntax or HTML would take for more than text is escaped, so that a
 * label is seen as it is; a control character stands as \xNN.
 */
#include <ctype.h>
#include <string.h>

#include "results/compare_cells.h"
#include "results/compare_parts.h"
#include "results/compare_text.h"
#include "results/run_text.h"
#include "results/util/cleanup.h"

/* Within a word it stresses nothing: the names of metrics stay legible as they are. */
static bool within_word(const char *start, const char *s)
{
	return *s == '_' && s > start && isalnum((unsigned char)s[-1]) &&
	       isalnum((unsigned char)s[1]);
}

/* Entities for all of it: within a table, a backslash in front does not do everywhere. */
static void add_text(struct strbuf *sb, const char *text)
{
	cleanup_free char *clean = run_text_printable(text ? text : "");

	for (const char *s = clean; *s; s++) {
		if (*s == '<')
			strbuf_adds(sb, "&lt;");
		else if (*s == '>')
			strbuf_adds(sb, "&gt;");
		else if (*s == '&')
			strbuf_adds(sb, "&amp;");
		else if (*s == '@')
			strbuf_adds(sb, "&#64;"); /* no mention of somebody */
		else if (strchr("|`*_[]\\~#$", *s) && !within_word(clean, s))
			strbuf_addf(sb, "&#%d;", *s);
		else
			strbuf_add(sb, s, 1);
	}
}

static void add_cell(struct strbuf *sb, const char *text)
{
	strbuf_adds(sb, " ");
	add_text(sb, text && *text ? text : "-");
	strbuf_adds(sb, " |");
}

static void put_values(const struct compare_value *v, struct strbuf *sb)
{
	cleanup_free char *text = compare_cell_median(v);

	add_cell(sb, text);
}

static void put_result(const struct compare_metric *m, const struct stats_result *r, const char *unit,
		       struct strbuf *sb)
{
	cleanup_free char *shift = NULL, *interval = NULL, *change = NULL, *p = NULL, *delta = NULL,
			  *more = compare_more(r, unit), *outcome = NULL;

	if (r) {
		shift = compare_cell_shift(m, r);
		interval = compare_cell_interval(m, r);
		change = strcmp(interval, "-") == 0 ? xstrdup(shift) :
						      str_printf("%s (%s)", shift, interval);
		p = compare_cell_p(r);
		delta = compare_cell_delta(r);
		outcome = compare_absent(r) ? xstrdup("-") : str_printf("%s%s%s", stats_outcome_name(r->outcome), more ? ", " : "",
				     more ? more : "");
	}
	add_cell(sb, change);
	add_cell(sb, p);
	add_cell(sb, delta);
	add_cell(sb, outcome);
}

/* With one column beside the baseline there is no need to say which is meant. */
static void put_result_heads(const struct compare *c, size_t col, struct strbuf *sb)
{
	cleanup_free char *change = c->ncols > 2 ? str_printf("%s: change", c->col[col]) :
						   xstrdup("change");

	add_cell(sb, change);
	add_cell(sb, "p");
	add_cell(sb, "Cliff's delta");
	add_cell(sb, "outcome");
}

static void put_head(const struct compare *c, struct strbuf *sb)
{
	size_t columns = c->ncols;

	strbuf_adds(sb, "|");
	add_cell(sb, "metric");
	for (size_t i = 0; i < c->ncols; i++)
		add_cell(sb, c->col[i]);
	for (size_t i = 0; i < c->ncols; i++) {
		if (i == c->baseline)
			continue;
		put_result_heads(c, i, sb);
		columns += 4;
	}
	strbuf_adds(sb, "\n| --- |");
	for (size_t i = 0; i < columns; i++)
		strbuf_adds(sb, " ---: |");
	strbuf_adds(sb, "\n");
}

static void put_metric(const struct compare *c, size_t section, size_t metric, struct strbuf *sb)
{
	cleanup_free char *heading = compare_cell_name(&c->metric[metric]);

	strbuf_adds(sb, "|");
	add_cell(sb, heading);
	for (size_t i = 0; i < c->ncols; i++)
		put_values(compare_value(c, section, metric, i), sb);
	for (size_t i = 0; i < c->ncols; i++)
		if (i != c->baseline)
			put_result(&c->metric[metric], compare_test(c, section, metric, i),
				   compare_unit(c, section, i), sb);
	strbuf_adds(sb, "\n");
}

static void put_line(const char *before, const char *text, const char *after, struct strbuf *sb)
{
	if (!text || !*text)
		return;
	strbuf_adds(sb, before);
	add_text(sb, text);
	strbuf_adds(sb, after);
}

static void put_notes(const struct compare *c, struct strbuf *sb)
{
	char **notes = compare_notes(c);
	cleanup_free char *key = NULL;

	key = str_printf("median (min to max); change: Hodges-Lehmann shift (%g %% interval), in"
			 " per cent of the baseline's median where that is not 0; p: Mann-Whitney,"
			 " two-sided, corrected (Holm) over %zu test%s",
			 100 * (1 - c->stats.alpha), c->tests, c->tests == 1 ? "" : "s");
	put_line("- ", key, "\n", sb);
	for (size_t i = 0; notes[i]; i++)
		put_line("- ", notes[i], "\n", sb);
	compare_notes_free(notes);
}

char *compare_markdown(const struct compare *c)
{
	struct strbuf sb = STRBUF_INIT;

	put_line("### ", c->title, "\n\n", &sb);
	put_line("", c->context, "\n\n", &sb);
	for (size_t s = 0; s < c->nsections; s++) {
		put_line("#### ", c->section[s].label, "\n\n", &sb);
		put_head(c, &sb);
		for (size_t m = 0; m < c->nmetrics; m++)
			put_metric(c, s, m, &sb);
		strbuf_adds(&sb, "\n");
	}
	put_notes(c, &sb);
	return strbuf_steal(&sb);
}
