// SPDX-License-Identifier: GPL-2.0-only
#include "results/report_plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/gnuplot.h"
#include "results/report_html.h"
#include "results/report_svg.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

#define TICKS_MAX 24
#define VALUE_MAX 1e100 /* far inside of what gnuplot can scale */
#define MARGIN_TOP 8
#define MARGIN_RIGHT 20
#define MARGIN_BOTTOM 24

static double bounded(double v)
{
	return fmax(-VALUE_MAX, fmin(VALUE_MAX, v));
}

char *plot_number(double v)
{
	static const char *const unit[] = { "", "k", "M", "G", "T", "P", "E" };
	double size = fabs(v);
	size_t u = 0;

	if (size < 10000 || size >= 1e21)
		return str_printf("%.4g", v);
	for (; size >= 1000 && u + 1 < ARRAY_SIZE(unit); u++) {
		size /= 1000;
		v /= 1000;
	}
	return str_printf("%.3g%s", v, unit[u]);
}

static char *tick_time(double ns)
{
	static const char *const unit[] = { "ns", "\302\265s", "ms", "s" };
	size_t u = 0;

	for (; ns >= 1000 && u + 1 < ARRAY_SIZE(unit); u++)
		ns /= 1000;
	return str_printf("%g %s", ns, unit[u]);
}

size_t plot_begin(struct plots *p, const struct plot_shape *shape)
{
	const double w = shape->width, h = shape->height;

	p->plot = xreallocarray(p->plot, p->n + 1, sizeof(*p->plot));
	p->plot[p->n] = (struct plot){ .width = shape->width,
				       .height = shape->height,
				       .name = xstrdup(shape->name),
				       .desc = xstrdup(shape->desc) };
	strbuf_addf(&p->script,
		    "reset\nset terminal svg size %u,%u noenhanced font \"sans-serif,12\"\n"
		    "unset key\nset border 3 lc rgb \"#020000\"\n"
		    "set tics out nomirror scale 0.5 textcolor rgb \"#020000\"\n"
		    "set xtics offset 0,0.5\nset ytics offset 0.5,0\n"
		    "set grid lt 1 lc rgb \"#020001\"\n"
		    "set lmargin at screen %.6f\nset rmargin at screen %.6f\n"
		    "set tmargin at screen %.6f\nset bmargin at screen %.6f\n",
		    shape->width, shape->height, shape->left / w, 1 - MARGIN_RIGHT / w,
		    1 - MARGIN_TOP / h, MARGIN_BOTTOM / h);
	return p->n++;
}

/* Text for gnuplot's script is replaced by the number of a label. */
static size_t label_add(struct plots *p, const char *text)
{
	struct plot *plot = &p->plot[p->n - 1];

	plot->label = xreallocarray(plot->label, plot->nlabels + 1, sizeof(*plot->label));
	plot->label[plot->nlabels] = xstrdup(text);
	return plot->nlabels++;
}

static void put_tick(struct plots *p, const char *between, double at, enum plot_ticks ticks)
{
	cleanup_free char *text = ticks == TICKS_TIME ? tick_time(at) : plot_number(at);

	strbuf_addf(&p->script, "%s\"@%zu@\" %.9g", between, label_add(p, text), at);
}

/* 1, 2 or 5 times a power of ten: about `n` steps in the range. */
static double nice_step(double range, double n)
{
	double raw = range / n, power = pow(10, floor(log10(raw))), r = raw / power;

	return power * (r <= 1 ? 1 : r <= 2 ? 2 : r <= 5 ? 5 : 10);
}

static void put_linear_ticks(struct plots *p, const struct plot_axis *a, double n)
{
	double step = nice_step(a->hi - a->lo, n), first = ceil(a->lo / step - 1e-9);

	for (int i = 0; i < TICKS_MAX; i++) {
		double at = (first + i) * step;

		if (!(at <= a->hi + step * 1e-9))
			break;
		put_tick(p, i ? ", " : "", at == 0 ? 0 : at, a->ticks);
	}
}

static void put_log_ticks(struct plots *p, const struct plot_axis *a)
{
	double lo = ceil(log10(a->lo) - 1e-9), hi = floor(log10(a->hi) + 1e-9);
	double by = fmax(1, ceil((hi - lo) / 9));

	for (int i = 0; i < TICKS_MAX && lo + i * by <= hi; i++)
		put_tick(p, i ? ", " : "", pow(10, lo + i * by), a->ticks);
}

static struct plot_axis axis_sound(const struct plot_axis *given)
{
	struct plot_axis a = *given;

	a.lo = isfinite(a.lo) ? bounded(a.lo) : 0;
	a.hi = isfinite(a.hi) ? bounded(a.hi) : a.lo;
	a.log = a.log && a.lo > 0;
	if (a.hi - a.lo > fmax(fabs(a.lo), fabs(a.hi)) * 1e-9)
		return a;
	if (a.log) {
		a.lo /= 2;
		a.hi = a.lo * 4;
	} else {
		double by = fmax(fabs(a.lo) * 0.1, 1);

		a.hi = a.lo + by;
		a.lo = a.lo == 0 ? 0 : a.lo - by;
	}
	return a;
}

static void put_axis(struct plots *p, char name, const struct plot_axis *given, double nticks)
{
	struct plot_axis a = axis_sound(given);

	strbuf_addf(&p->script, "set %crange [%.9g:%.9g]\n", name, a.lo, a.hi);
	if (a.log)
		strbuf_addf(&p->script, "set logscale %c 10\n", name);
	if (a.ticks == TICKS_NONE) {
		strbuf_addf(&p->script, "unset %ctics\n", name);
		return;
	}
	strbuf_addf(&p->script, "set %ctics (", name);
	if (a.log)
		put_log_ticks(p, &a);
	else
		put_linear_ticks(p, &a, nticks);
	strbuf_adds(&p->script, ")\n");
}

void plot_axes(struct plots *p, const struct plot_axis *x, const struct plot_axis *y)
{
	const struct plot *plot = &p->plot[p->n - 1];

	put_axis(p, 'x', x, plot->width / 100.0);
	put_axis(p, 'y', y, plot->height / 45.0);
	if (y->ticks == TICKS_NONE)
		strbuf_adds(&p->script, "set border 1\n");
}

/* A block of data, and what to do with it in the plot command. */
static void put_data(struct plots *p, const double *x, const double *y, size_t n, const char *how,
		     const char *colour)
{
	strbuf_addf(&p->script, "$d%zu << EOD\n", p->blocks);
	for (size_t i = 0; i < n; i++) {
		if (isfinite(x[i]) && isfinite(y[i]))
			strbuf_addf(&p->script, "%.9g %.9g\n", bounded(x[i]), bounded(y[i]));
		else
			strbuf_adds(&p->script, "\n");
	}
	strbuf_addf(&p->script, "EOD\n");
	strbuf_addf(&p->clauses, "%s$d%zu using 1:2 with %s lc rgb \"%s\"",
		    p->clauses.len ? ", " : "plot ", p->blocks++, how, colour);
}

static void put_coloured(struct plots *p, const double *x, const double *y, size_t n,
			 const char *how, int role, size_t colour)
{
	char rgb[16];

	snprintf(rgb, sizeof(rgb), "#%02x00%02zx", (unsigned int)role & 0xff, colour % PLOT_COLOURS);
	put_data(p, x, y, n, how, rgb);
}

void plot_line(struct plots *p, size_t colour, const double *x, const double *y, size_t n)
{
	put_coloured(p, x, y, n, "lines", SVG_LINE, colour);
}

void plot_steps(struct plots *p, size_t colour, const double *x, const double *y, size_t n)
{
	put_coloured(p, x, y, n, "steps", SVG_LINE, colour);
}

void plot_dots(struct plots *p, size_t colour, const double *x, const double *y, size_t n)
{
	put_coloured(p, x, y, n, "points pt 7 ps 0.8", SVG_DOT, colour);
}

void plot_bar(struct plots *p, size_t colour, double x, double y0, double y1)
{
	const double xs[] = { x, x }, ys[] = { y0, y1 };

	put_coloured(p, xs, ys, 2, "lines", SVG_BAR, colour);
}

void plot_edge(struct plots *p, double x)
{
	strbuf_addf(&p->script,
		    "set arrow from first %.9g, graph 0 to first %.9g, graph 1 nohead lc rgb \"#020002\"\n",
		    bounded(x), bounded(x));
}

void plot_text(struct plots *p, double y, const char *text)
{
	strbuf_addf(&p->script, "set label \"@%zu@\" at graph 0, first %.9g left\n",
		    label_add(p, text), bounded(y));
}

void plot_end(struct plots *p)
{
	strbuf_addf(&p->script, "%s\n", p->clauses.len ? p->clauses.data : "plot NaN notitle");
	strbuf_free(&p->clauses);
}

#define MARK '\x01'

void plots_put(struct strbuf *html, size_t plot)
{
	strbuf_addf(html, "%c%zu%c", MARK, plot, MARK);
}

static void put_figure(const struct plot *plot, const char *shapes, struct strbuf *page)
{
	strbuf_addf(page,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 %u %u\""
		    " role=\"img\" aria-label=\"",
		    plot->width, plot->height);
	html_text(page, plot->name);
	strbuf_adds(page, "\"><desc>");
	html_text(page, plot->desc);
	strbuf_addf(page, "</desc>\n%s</svg>", shapes);
}

static void fill_in(const struct plots *p, char *const *shapes, const char *html,
		    struct strbuf *page)
{
	const char *mark;

	for (; (mark = strchr(html, MARK)); html = mark + 1) {
		size_t i = strtoul(mark + 1, NULL, 10);

		strbuf_add(page, html, (size_t)(mark - html));
		if (i < p->n)
			put_figure(&p->plot[i], shapes[i], page);
		mark = strchr(mark + 1, MARK);
		if (!mark)
			return;
	}
	strbuf_adds(page, html);
}

int plots_draw(const struct plots *p, const char *gnuplot, const struct strbuf *html,
	       struct strbuf *page, struct error *err)
{
	cleanup_strbuf struct strbuf drawn = STRBUF_INIT;
	char **shapes = xcalloc(p->n + 1, sizeof(*shapes));
	const char *at;
	int ret = 0;

	if (p->n)
		ret = gnuplot_run(gnuplot, p->script.data, p->script.len, GNUPLOT_DEADLINE_S, &drawn, err);
	at = drawn.data ? drawn.data : "";
	for (size_t i = 0; ret == 0 && i < p->n; i++) {
		shapes[i] = svg_shapes(&at, p->plot[i].label, p->plot[i].nlabels);
		if (!shapes[i])
			ret = error_set(err, EXIT_NO_VERDICT, "gnuplot: drew %zu of %zu figures", i, p->n);
	}
	if (ret == 0 && html->len)
		fill_in(p, shapes, html->data, page);
	for (size_t i = 0; i < p->n; i++)
		free(shapes[i]);
	free(shapes);
	return ret;
}

void plots_free(struct plots *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->plot[i].name);
		free(p->plot[i].desc);
		for (size_t k = 0; k < p->plot[i].nlabels; k++)
			free(p->plot[i].label[k]);
		free(p->plot[i].label);
	}
	free(p->plot);
	strbuf_free(&p->script);
	strbuf_free(&p->clauses);
	memset(p, 0, sizeof(*p));
}
