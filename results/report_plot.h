/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_REPORT_PLOT_H
#define MMRIG_REPORT_PLOT_H
/*
 * Figures of a page, drawn by gnuplot in one go and put inline. Into the script go numbers alone:
 * text travels beside it and is set in, escaped, for a number that stands in its place. Of what
 * gnuplot draws only paths, dots and text are taken over, with classes instead of colours: the
 * page's style sheet has them (report_style.c), so that light, dark and paper each get their own.
 * Nothing in a figure has an id.
 *
 *	i = plot_begin(&p, &shape); plot_axes(); plot_line()...; plot_end();
 *	plots_put(&html, i);			where it shall stand, any number of times
 *	plots_draw(&p, NULL, &html, &page, err);
 */
#include "results/util/str.h"

#define PLOT_COLOURS 8

struct plot_shape {
	unsigned int width, height, left; /* units of the viewBox; left: margin for the tick labels */
	const char *name, *desc;	  /* what it is called where it cannot be seen; copied */
};

enum plot_ticks {
	TICKS_NONE,
	TICKS_NUMBER, /* 0, 250k, 1.5M */
	TICKS_TIME,   /* of ns: 10 µs, 1 ms */
};
struct plot_axis {
	double lo, hi; /* made wider where they are equal */
	bool log;
	enum plot_ticks ticks;
};

/* Zero-initialise; plots_free(). */
struct plots {
	struct strbuf script, clauses;
	struct plot {
		unsigned int width, height;
		char *name, *desc;
		char **label;
		size_t nlabels;
	} *plot;
	size_t n, blocks;
};

size_t plot_begin(struct plots *p, const struct plot_shape *shape);
void plot_axes(struct plots *p, const struct plot_axis *x, const struct plot_axis *y);
/* A y that is not finite makes a gap. colour: taken modulo PLOT_COLOURS. */
void plot_line(struct plots *p, size_t colour, const double *x, const double *y, size_t n);
void plot_steps(struct plots *p, size_t colour, const double *x, const double *y, size_t n);
void plot_dots(struct plots *p, size_t colour, const double *x, const double *y, size_t n);
/* A thick bar, upright: a median. */
void plot_bar(struct plots *p, size_t colour, double x, double y0, double y1);
/* A thin line over the whole height: the edge of a phase. */
void plot_edge(struct plots *p, double x);
/* Text that begins at the figure's left end, at the height y. Any text; copied. */
void plot_text(struct plots *p, double y, const char *text);
void plot_end(struct plots *p);

/* Marks the place of a figure in html. */
void plots_put(struct strbuf *html, size_t plot);
/*
 * Draws them all, and appends html to page with the figures in their places. html must be made by
 * report_html.h, which lets no control character through: those are the marks.
 */
int plots_draw(const struct plots *p, const char *gnuplot, const struct strbuf *html,
	       struct strbuf *page, struct error *err);
void plots_free(struct plots *p);

/* "0", "250k", "1.5M": three digits at most that count, heap. */
char *plot_number(double v);

#endif
