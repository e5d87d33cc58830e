// SPDX-License-Identifier: GPL-2.0-only
#include "results/compare_pairs.h"

#include <string.h>

#include "results/run_text.h"
#include "results/util/cleanup.h"

/* " (" and ")" */
#define BRACKETS 3

void pairs_init(struct pairs *p, const struct compare *c, const struct pairs_style *style)
{
	*p = (struct pairs){ .style = *style, .c = c };
}

size_t pairs_add(struct pairs *p, const char *label)
{
	struct pairs_row *row;

	p->row = xreallocarray(p->row, p->nrows + 1, sizeof(*p->row));
	row = &p->row[p->nrows];
	row->label = label ? run_text_printable(label) : NULL;
	row->cell = xcalloc(p->c->ncols ? p->c->ncols : 1, sizeof(*row->cell));
	return p->nrows++;
}

void pairs_set(struct pairs *p, size_t row, size_t col, char *value, char *share, bool star)
{
	struct pairs_cell *cell = &p->row[row].cell[col];

	free(cell->value);
	free(cell->share);
	*cell = (struct pairs_cell){ value, share, star };
}

void pairs_free(struct pairs *p)
{
	for (size_t i = 0; i < p->nrows; i++) {
		for (size_t j = 0; j < p->c->ncols; j++) {
			free(p->row[i].cell[j].value);
			free(p->row[i].cell[j].share);
		}
		free(p->row[i].label);
		free(p->row[i].cell);
	}
	free(p->row);
	*p = (struct pairs){ .c = p->c };
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static const char *or_dash(const char *text)
{
	return text ? text : "-";
}

struct widths {
	size_t label, value, share;
	size_t cell; /* all of a column */
};

static struct widths measure(const struct pairs *p)
{
	struct widths w = { p->style.label, p->style.value, p->style.share, 0 };

	for (size_t i = 0; i < p->nrows; i++) {
		if (!p->row[i].label)
			continue;
		w.label = larger(w.label, run_text_columns(p->row[i].label));
		for (size_t j = 0; j < p->c->ncols; j++) {
			const struct pairs_cell *cell = &p->row[i].cell[j];

			w.value = larger(w.value, 1 + strlen(or_dash(cell->value)));
			if (w.share)
				w.share = larger(w.share, strlen(or_dash(cell->share)));
		}
	}
	w.cell = w.value + (w.share ? w.share + BRACKETS : 0);
	return w;
}

static void end_line(struct strbuf *sb)
{
	while (sb->len && sb->data[sb->len - 1] == ' ')
		sb->len--;
	strbuf_adds(sb, "\n");
}

/* The lines of text, wrapped, behind those that are there already. */
static void add_lines(char ***lines, size_t *n, const char *text, size_t width)
{
	size_t more;
	char **add = run_text_wrap(text, width, &more);

	*lines = xreallocarray(*lines, *n + more + 1, sizeof(**lines));
	memcpy(*lines + *n, add, (more + 1) * sizeof(**lines));
	*n += more;
	free(add);
}

static char **heading_lines(const struct pairs *p, size_t col, const struct widths *w, size_t *n)
{
	cleanup_free char *label = run_text_printable(p->c->col[col]);
	size_t own = w->cell - 1 - p->style.inset, room = own + (col == 0 ? w->label : 0);
	char *hyphen = strchr(label, '-'), **lines = NULL;

	*n = 0;
	if (p->style.at_hyphen && hyphen && hyphen != label && hyphen[1] &&
	    run_text_columns(label) > own) {
		*hyphen = '\0';
		add_lines(&lines, n, label, room);
		add_lines(&lines, n, hyphen + 1, room);
	} else {
		add_lines(&lines, n, label, room);
	}
	return lines;
}

/* Pads up to where the text has to begin so that it ends at column `end` of the line. */
static void put_right(struct strbuf *sb, size_t line, const char *text, size_t end)
{
	size_t have = run_text_columns(sb->data ? sb->data + line : "");
	size_t columns = run_text_columns(text);

	if (have + columns < end)
		strbuf_addf(sb, "%*s", (int)(end - have - columns), "");
	strbuf_adds(sb, text);
}

static void put_headings(const struct pairs *p, const struct widths *w, struct strbuf *sb)
{
	char ***lines = xcalloc(p->c->ncols + 1, sizeof(*lines));
	size_t *n = xcalloc(p->c->ncols + 1, sizeof(*n)), most = 0;

	for (size_t col = 0; col < p->c->ncols; col++) {
		lines[col] = heading_lines(p, col, w, &n[col]);
		most = larger(most, n[col]);
	}
	for (size_t i = 0; i < most; i++) {
		size_t start = sb->len;

		for (size_t col = 0; col < p->c->ncols; col++) {
			size_t skip = most - n[col], end = w->label + (col + 1) * w->cell;

			put_right(sb, start, i < skip ? "" : lines[col][i - skip],
				  end - p->style.inset);
		}
		end_line(sb);
	}
	for (size_t col = 0; col < p->c->ncols; col++)
		run_text_lines_free(lines[col]);
	free(lines);
	free(n);
}

static void put_row(const struct pairs *p, const struct pairs_row *row, const struct widths *w,
		    struct strbuf *sb)
{
	size_t columns = row->label ? run_text_columns(row->label) : 0;

	if (!row->label) {
		strbuf_adds(sb, "\n");
		return;
	}
	strbuf_addf(sb, "%s%*s", row->label, (int)(w->label - columns), "");
	for (size_t i = 0; i < p->c->ncols; i++) {
		const struct pairs_cell *cell = &row->cell[i];

		strbuf_addf(sb, "%*s", (int)w->value, or_dash(cell->value));
		if (w->share)
			strbuf_addf(sb, " %c%*s%c", cell->star ? '*' : '(', (int)w->share,
				    or_dash(cell->share), cell->star ? '*' : ')');
	}
	end_line(sb);
}

void pairs_render(const struct pairs *p, struct strbuf *sb)
{
	struct widths w = measure(p);

	put_headings(p, &w, sb);
	for (size_t i = 0; i < p->nrows; i++)
		put_row(p, &p->row[i], &w, sb);
}
