// SPDX-License-Identifier: GPL-2.0-only
#include "results/compare_parts.h"

#include <math.h>
#include <string.h>

#include "results/run_text.h"
#include "results/table_grid.h"
#include "results/util/cleanup.h"

ssize_t compare_metric_index(const struct compare *c, const char *name)
{
	for (size_t i = 0; i < c->nmetrics; i++)
		if (strcmp(c->metric[i].name, name) == 0)
			return (ssize_t)i;
	return -1;
}

const struct compare_value *compare_value_of(const struct compare *c, size_t section,
					     const char *metric, size_t col)
{
	ssize_t m = compare_metric_index(c, metric);

	return m < 0 ? NULL : compare_value(c, section, (size_t)m, col);
}

double compare_mean(const struct compare *c, size_t section, const char *metric, size_t col)
{
	const struct compare_value *v = compare_value_of(c, section, metric, col);

	return v && v->n ? v->summary.mean : NAN;
}

const struct stats_result *compare_test(const struct compare *c, size_t section, size_t metric,
					size_t col)
{
	if (col == c->baseline || c->metric[metric].quiet)
		return NULL;
	return compare_result(c, section, metric, col);
}

bool compare_differs(const struct stats_result *r)
{
	return r && (r->outcome == STATS_BETTER || r->outcome == STATS_WORSE ||
		     r->outcome == STATS_CHANGED);
}

bool compare_absent(const struct stats_result *r)
{
	return !r->base.n && !r->head.n;
}

const char *compare_unit(const struct compare *c, size_t section, size_t col)
{
	const struct compare_cell *cell = c->section[section].cell;
	const char *unit = cell[cell[col].nruns ? col : c->baseline].unit;

	return unit ? unit : "run";
}

char *compare_more(const struct stats_result *r, const char *unit)
{
	if (!r || r->outcome != STATS_INCONCLUSIVE || !r->more)
		return NULL;
	return str_printf("%zu more %s%s", r->more, unit,
			  r->more == 1 ? "" : "s");
}

double compare_percent(double old, double new, enum counter_better better)
{
	double more = 100 * (new - old) / fabs(old);

	if (old == new)
		return 0;
	if (old == 0 || !isfinite(more))
		return NAN;
	return better == BETTER_LOWER ? -more : more;
}

/* No minus before what is printed as 0.00. */
static double rounded(double value, int decimals)
{
	return fabs(value) * pow(10, decimals) < 0.5 ? 0 : value;
}

char *compare_percent_text(double percent, bool sign)
{
	if (!isfinite(percent))
		return xstrdup("-");
	return str_printf(sign ? "%+.2f%%" : "%.2f%%", rounded(percent, 2));
}

char *compare_number(double value, int decimals)
{
	if (!isfinite(value))
		return xstrdup("-");
	if (fabs(value) >= 1e15)
		return str_printf("%.6g", value);
	return str_printf("%.*f", decimals, rounded(value, decimals));
}

void compare_put_title(const struct compare *c, size_t indent, struct strbuf *sb)
{
	if (c->title && *c->title)
		grid_put_wrapped(sb, indent, c->title);
	if (c->context && *c->context)
		grid_put_wrapped(sb, indent, c->context);
	if (sb->len)
		strbuf_adds(sb, "\n");
}

void compare_put_section(const struct compare *c, size_t section, size_t indent, struct strbuf *sb)
{
	const char *label = c->section[section].label;

	if (section)
		strbuf_adds(sb, "\n");
	if (label && *label)
		grid_put_wrapped(sb, indent, label);
}

static unsigned int cell_ok(const struct compare_cell *cell)
{
	return cell->verdict[VERDICT_OK];
}

/* Of the sections from `from` up to `to`: a cell that was not run at all, or left out, is none. */
static char *runs_text(const struct compare *c, size_t from, size_t to, unsigned int *most)
{
	unsigned int least = ~0u;

	*most = 0;
	for (size_t s = from; s < to; s++) {
		for (size_t i = 0; i < c->ncols; i++) {
			unsigned int n = cell_ok(&c->section[s].cell[i]);

			if (!c->section[s].cell[i].nruns)
				continue;
			least = n < least ? n : least;
			*most = n > *most ? n : *most;
		}
	}
	least = least > *most ? *most : least; /* none was run */
	return least < *most ? str_printf("%u to %u", least, *most) : str_printf("%u", *most);
}

char *compare_runs_text(const struct compare *c, size_t section)
{
	unsigned int most;

	return runs_text(c, section, section + 1, &most);
}

/* Of a kernel or a run set the variant is said first, as in the table of a run set. */
char *compare_cell_label(const struct compare *c, size_t section, size_t col)
{
	const char *row = c->section[section].label, *label = c->col[col];
	bool first = !c->by || strcmp(c->by, "kernel") == 0 || strcmp(c->by, "runset") == 0;

	if (!row || !*row)
		return xstrdup(label);
	return first ? str_printf("%s, %s", row, label) : str_printf("%s, %s", label, row);
}

void compare_put_star(const struct compare *c, struct strbuf *sb)
{
	cleanup_free char *text = NULL;

	if (!c->tests) /* of one column nothing stands */
		return;
	text = str_printf("* x%%*: the difference stands: Mann-Whitney, corrected (Holm) over"
			  " %zu test%s, p <= %g",
			  c->tests, c->tests == 1 ? "" : "s", c->stats.alpha);

	grid_put_wrapped(sb, 0, text);
}

struct notes {
	char **line;
	size_t n;
};

static void notes_add(struct notes *notes, char *line)
{
	notes->line = xreallocarray(notes->line, notes->n + 2, sizeof(*notes->line));
	notes->line[notes->n++] = line;
	notes->line[notes->n] = NULL;
}

static void note_runs(const struct compare *c, struct notes *notes)
{
	unsigned int most;
	cleanup_free char *runs = runs_text(c, 0, c->nsections, &most);

	notes_add(notes, str_printf("%s run%s each", runs, most == 1 ? "" : "s"));
}

/* Every run that is in no number. */
static void note_not_ok(const struct compare *c, size_t s, size_t col, struct notes *notes)
{
	const struct compare_cell *cell = &c->section[s].cell[col];
	cleanup_free char *label = compare_cell_label(c, s, col);
	struct strbuf sb = STRBUF_INIT;
	size_t left = 0;

	for (int v = 0; v < VERDICT_COUNT; v++)
		left += v == VERDICT_OK ? 0 : cell->verdict[v];
	if (!left)
		return;
	strbuf_addf(&sb, "not ok, and in no number: %zu of %zu (%s):", left, left + cell_ok(cell),
		    label);
	for (int v = 0; v < VERDICT_COUNT; v++)
		if (v != VERDICT_OK && cell->verdict[v])
			strbuf_addf(&sb, " %u %s,", cell->verdict[v],
				    verdict_name((enum verdict)v));
	sb.data[sb.len - 1] = '\0';
	notes_add(notes, strbuf_steal(&sb));
}

#define PARTIAL_MAX 5

/* Metrics that not every ok run of a cell has, though some run of it or of another cell does. */
static void note_partial(const struct compare *c, struct notes *notes)
{
	size_t more = 0, told = 0;

	for (size_t i = 0; i < c->nsections * c->nmetrics * c->ncols; i++) {
		size_t s = i / (c->nmetrics * c->ncols), m = i / c->ncols % c->nmetrics, k = i % c->ncols, all = 0;
		const struct compare_cell *cell = &c->section[s].cell[k];
		size_t n = compare_value(c, s, m, k)->n;
		cleanup_free char *label = NULL;

		for (size_t other = 0; other < c->ncols; other++)
			all += compare_value(c, s, m, other)->n;
		if (c->metric[m].quiet || !all || n == cell_ok(cell))
			continue;
		if (told++ >= PARTIAL_MAX) {
			more++;
			continue;
		}
		label = compare_cell_label(c, s, k);
		notes_add(notes, str_printf("%s: %zu of %u runs have it (%s)", c->metric[m].name, n,
					    cell_ok(cell), label));
	}
	if (more)
		notes_add(notes, str_printf("and %zu more that not every run has", more));
}

static void note_grouped(const struct compare *c, struct notes *notes)
{
	for (size_t s = 0; s < c->nsections; s++)
		for (size_t i = 0; i < c->ncols; i++)
			if (c->section[s].cell[i].grouped) {
				notes_add(notes, xstrdup("runs of one layout, or of one seed of"
							 " deterministic runs, are one sample of"
							 " the tests"));
				return;
			}
}

char **compare_notes(const struct compare *c)
{
	struct notes notes = { 0 };

	if (c->nsections && c->ncols)
		note_runs(c, &notes);
	for (size_t s = 0; s < c->nsections; s++)
		for (size_t i = 0; i < c->ncols; i++)
			note_not_ok(c, s, i, &notes);
	note_partial(c, &notes);
	note_grouped(c, &notes);
	for (size_t i = 0; c->origin && c->origin[i]; i++)
		notes_add(&notes, run_text_printable(c->origin[i]));
	for (size_t i = 0; c->warning && c->warning[i]; i++)
		notes_add(&notes, str_printf("warning: %s", c->warning[i]));
	return notes.line ? notes.line : xcalloc(1, sizeof(*notes.line));
}

void compare_notes_free(char **notes)
{
	for (size_t i = 0; notes && notes[i]; i++)
		free(notes[i]);
	free(notes);
}

void compare_put_notes(const struct compare *c, size_t indent, struct strbuf *sb)
{
	char **notes = compare_notes(c);

	if (notes[0])
		strbuf_adds(sb, "\n");
	for (size_t i = 0; notes[i]; i++)
		grid_put_wrapped(sb, indent, notes[i]);
	compare_notes_free(notes);
}
