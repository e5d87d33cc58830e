// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "results/report_fixture.h"
#include "results/report_svg.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

static const struct plot_shape shape = { 400, 200, 50, "a <name> & \"more\"", "what `it` shows" };
static const struct plot_axis unit = { 0, 1, false, TICKS_NUMBER };

static char *draw(const struct plots *p, const char *html)
{
	cleanup_strbuf struct strbuf in = STRBUF_INIT;
	cleanup_error struct error err = ERROR_INIT;
	struct strbuf page = STRBUF_INIT;

	strbuf_adds(&in, html);
	if (plots_draw(p, NULL, &in, &page, &err) < 0)
		fail_msg("%s", err.text);
	return strbuf_steal(&page);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static void expect_in(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("lacks \"%s\": %s", what, text);
}

static void test_figures_stand_where_they_were_put(void **state)
{
	struct plots p = { 0 };
	const double x[] = { 0, 0.5, 1 }, y[] = { 0, 1, 0.5 };
	cleanup_strbuf struct strbuf html = STRBUF_INIT;
	cleanup_free char *page = NULL;
	size_t first, second;

	need_gnuplot();
	first = plot_begin(&p, &shape);
	plot_axes(&p, &unit, &unit);
	plot_line(&p, 2, x, y, 3);
	plot_end(&p);
	second = plot_begin(&p, &shape);
	plot_axes(&p, &unit, &unit);
	plot_dots(&p, 9, x, y, 3);
	plot_bar(&p, 1, 0.5, 0, 1);
	plot_edge(&p, 0.25);
	plot_end(&p);
	strbuf_adds(&html, "<a>");
	plots_put(&html, second);
	strbuf_adds(&html, "</a><b>");
	plots_put(&html, first);
	strbuf_adds(&html, "</b>");
	page = draw(&p, html.data);
	assert_int_equal(count(page, "<svg"), 2);
	assert_int_equal(count(page, "</svg>"), 2);
	/* Colour 9 of 8 is 1; three dots in the figure that was put first. */
	assert_int_equal(count(page, "<circle class=\"d1\""), 3);
	assert_true(strstr(page, "<circle") < strstr(page, "</a>"));
	assert_true(strstr(page, "class=\"l2\"") > strstr(page, "<b>"));
	assert_int_equal(count(page, "class=\"b1\""), 1);
	assert_int_equal(count(page, "class=\"ed\""), 1);
	assert_int_equal(count(page, "aria-label=\"a &lt;name&gt; &amp; &quot;more&quot;\""), 2);
	/* 0 is at the left margin, 1 at the right one, which leaves 20 units: (50 .. 380). */
	expect_in(page, "<circle class=\"d1\" cx=\"50.0\" cy=\"17");
	expect_in(page, "<circle class=\"d1\" cx=\"380.0\"");
	/* Nothing of gnuplot's own looks, nor anything that could be doubled or followed. */
	assert_null(strstr(page, " id="));
	assert_null(strstr(page, "href"));
	assert_null(strstr(page, "white"));
	assert_null(strstr(page, "rgb("));
	assert_null(strstr(page, "\x01"));
	plots_free(&p);
}

/* gnuplot breaks a long path into lines. */
static void test_long_line(void **state)
{
	struct plots p = { 0 };
	double x[500], y[500];
	cleanup_strbuf struct strbuf html = STRBUF_INIT;
	cleanup_free char *page = NULL, *path = NULL;
	const char *at;

	need_gnuplot();
	for (int i = 0; i < 500; i++) {
		x[i] = i / 499.0;
		y[i] = i % 2;
	}
	y[250] = NAN;
	plot_begin(&p, &shape);
	plot_axes(&p, &unit, &unit);
	plot_line(&p, 0, x, y, 500);
	plot_end(&p);
	plots_put(&html, 0);
	page = draw(&p, html.data);
	at = strstr(page, "<path class=\"l0\" d=\"M50,176 ");
	assert_non_null(at);
	path = xstrndup(at, strcspn(at, "/"));
	/* One pair a point, and a gap that begins anew. */
	assert_int_equal(count(path, ","), 499);
	assert_int_equal(count(path, "M"), 2);
	assert_null(strpbrk(path, "\n\tL"));
	plots_free(&p);
}

static void test_text_never_reaches_gnuplot(void **state)
{
	static const char evil[] = "`touch pwned` \" . system('touch pwned') . \"\n</text><script>@0@";
	struct plots p = { 0 };
	const double x[] = { 0 }, y[] = { 0 };
	cleanup_strbuf struct strbuf html = STRBUF_INIT;
	cleanup_free char *page = NULL;

	need_gnuplot();
	plot_begin(&p, &(struct plot_shape){ 400, 200, 0, evil, evil });
	plot_axes(&p, &unit, &(struct plot_axis){ 0, 1, false, TICKS_NONE });
	plot_dots(&p, 0, x, y, 1);
	plot_text(&p, 0.5, evil);
	plot_end(&p);
	assert_null(strstr(p.script.data, "touch"));
	assert_null(strchr(p.script.data, '`'));
	plots_put(&html, 0);
	page = draw(&p, html.data);
	assert_int_equal(count(page, "system(&#39;touch pwned&#39;)"), 3);
	assert_null(strstr(page, "<script"));
	plots_free(&p);
}

static void test_values_that_are_none(void **state)
{
	struct plots p = { 0 };
	const double x[] = { 0, 1, 2, 3, NAN, 1e300 }, y[] = { 1, NAN, INFINITY, -1e300, 1, 1e300 };
	const double no[] = { NAN, NAN };
	cleanup_strbuf struct strbuf html = STRBUF_INIT;
	cleanup_free char *page = NULL;

	need_gnuplot();
	for (int i = 0; i < 4; i++) {
		const struct plot_axis xs[] = { { 0, 3, false, TICKS_NUMBER },
						{ NAN, NAN, false, TICKS_NUMBER },
						{ -1e300, 1e300, false, TICKS_NUMBER },
						{ 0, 1e300, true, TICKS_TIME } };

		plot_begin(&p, &shape);
		plot_axes(&p, &xs[i], &xs[(i + 1) % 4]);
		plot_line(&p, 0, i ? x : no, i ? y : no, i ? 6 : 2);
		plot_end(&p);
		plots_put(&html, (size_t)i);
	}
	/* Nothing at all to draw. */
	plot_begin(&p, &shape);
	plot_axes(&p, &unit, &unit);
	plot_end(&p);
	plots_put(&html, 4);
	page = draw(&p, html.data);
	assert_int_equal(count(page, "<svg"), 5);
	assert_null(strcasestr(page, "nan"));
	assert_null(strcasestr(page, ">inf"));
	plots_free(&p);
}

static void test_ticks(void **state)
{
	struct plots p = { 0 };
	cleanup_strbuf struct strbuf html = STRBUF_INIT;
	cleanup_free char *page = NULL;

	need_gnuplot();
	plot_begin(&p, &shape);
	plot_axes(&p, &(struct plot_axis){ 1e3, 1e9, true, TICKS_TIME },
		  &(struct plot_axis){ 0, 1000000, false, TICKS_NUMBER });
	plot_end(&p);
	plots_put(&html, 0);
	page = draw(&p, html.data);
	expect_in(page, ">1 \302\265s</text>");
	expect_in(page, ">100 ms</text>");
	expect_in(page, ">1 s</text>");
	/* 200 units high: about four steps, 500k each after rounding up to 1, 2 or 5. */
	expect_in(page, ">500k</text>");
	expect_in(page, ">1M</text>");
	plots_free(&p);
}

static void expect_number(double v, const char *want)
{
	cleanup_free char *s = plot_number(v);

	assert_string_equal(s, want);
}

static void test_number(void **state)
{
	expect_number(0, "0");
	expect_number(9999, "9999");
	expect_number(10000, "10k");
	expect_number(-250000, "-250k");
	expect_number(1500000, "1.5M");
	expect_number(0.125, "0.125");
	expect_number(1e30, "1e+30");
}

/* What a broken or other gnuplot could say. */
static void test_shapes_of_bad_svg(void **state)
{
	static const char *const none[] = { "", "no svg", "<svg><path", "<svg><path d='M1,1'/>", "<svg>" };
	static const char odd[] =
		"<svg><script>alert(1)</script><image href='http://x/'/>"
		"<path stroke='rgb(1,0,0)' d='M1,1\" onload=\"x'/><path stroke=rgb(1,0,0) d='M0,0'/>"
		"<path stroke='rgb(1,0,0)' onclick='x()' d='M1.00,2.50 L3.14,4 M5,6 L7,8 '/>"
		"<path stroke='rgb(9,0,0)' d='M0,0'/><text>lost</text>"
		"<g transform='translate(1,2)' text-anchor='x\"'><text>@7@ <b>&amp;</text></g></svg> more";
	const char *at;

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		at = none[i];
		assert_null(svg_shapes(&at, NULL, 0));
	}
	at = odd;
	{
		cleanup_free char *shapes = svg_shapes(&at, NULL, 0);

		assert_string_equal(shapes, "<path class=\"l0\" d=\"M1,2.5 3.1,4 M5,6 7,8\"/>\n"
					    "<text x=\"1.0\" y=\"2.0\">7 </text>\n");
	}
	assert_string_equal(at, " more");
}

static void test_gnuplot_that_draws_less(void **state)
{
	cleanup_strbuf struct strbuf in = STRBUF_INIT, page = STRBUF_INIT;
	cleanup_error struct error err = ERROR_INIT;
	struct plots p = { 0 };

	plot_begin(&p, &shape);
	plot_end(&p);
	plots_put(&in, 0);
	assert_int_equal(plots_draw(&p, "true", &in, &page, &err), -1);
	assert_int_equal(err.status, EXIT_NO_VERDICT);
	assert_string_equal(err.text, "gnuplot: drew 0 of 1 figures");
	assert_int_equal(page.len, 0);
	plots_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figures_stand_where_they_were_put),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_text_never_reaches_gnuplot),
		cmocka_unit_test(test_values_that_are_none),
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_number),
		cmocka_unit_test(test_shapes_of_bad_svg),
		cmocka_unit_test(test_gnuplot_that_draws_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
