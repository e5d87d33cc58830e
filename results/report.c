// SPDX-License-Identifier: GPL-2.0-only
#include "results/report.h"

#include <stdlib.h>
#include <string.h>

#include "results/report_internal.h"
#include "results/util/cleanup.h"

static const struct {
	const char *id, *name;
} contents[] = {
	{ "verdict", "Verdict" },	    { "tables", "Tables" },
	{ "values", "Distributions" },	    { "time", "Over time" },
	{ "buddyinfo", "Free memory by order" }, { "pageblocks", "Pageblocks" },
	{ "latency", "Latency" },	    { "faults", "Faults" },
	{ "origin", "Where the numbers come from" },
};

/* "alias-tmpfs: what it is", of every scenario once. */
static char *title_of(const struct report_input *in)
{
	struct strbuf sb = STRBUF_INIT;

	if (in->title)
		return xstrdup(in->title);
	strbuf_adds(&sb, "");
	for (size_t i = 0; i < in->nsets; i++) {
		const struct runset *set = &in->set[i];
		bool seen = false;

		for (size_t k = 0; k < i && !seen; k++)
			seen = strcmp(in->set[k].scenario, set->scenario) == 0;
		if (seen)
			continue;
		strbuf_addf(&sb, "%s%s", sb.len ? "; " : "", set->scenario);
		if (set->title && *set->title)
			strbuf_addf(&sb, ": %s", set->title);
	}
	return strbuf_steal(&sb);
}

static void put_head(struct report *r)
{
	struct strbuf *sb = &r->html;
	cleanup_free char *title = title_of(r->in);

	strbuf_adds(sb, "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
			"<meta charset=\"utf-8\"/>\n<meta http-equiv=\"Content-Security-Policy\""
			" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
			"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
			"<meta name=\"color-scheme\" content=\"light dark\"/>\n"
			"<meta name=\"generator\" content=\"mmrig " MMRIG_VERSION "\"/>\n<title>");
	html_text(sb, title);
	strbuf_addf(sb, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<header>\n", report_style);
	html_element(sb, "h1", title);
	strbuf_adds(sb, "\n<nav aria-label=\"Contents\">\n<ul>\n");
	for (size_t i = 0; i < ARRAY_SIZE(contents); i++)
		strbuf_addf(sb, "<li><a href=\"#%s\">%s</a></li>\n", contents[i].id, contents[i].name);
	strbuf_adds(sb, "</ul>\n</nav>\n</header>\n<main>\n");
}

static void put_all(struct report *r)
{
	size_t ntracked;
	cleanup_free struct report_tracked *tracked = report_tracked(r, &ntracked);

	report_shown_read(r, tracked, ntracked);
	put_head(r);
	report_put_verdict(r);
	report_put_tables(r);
	report_put_values(r);
	report_put_time(r, tracked, ntracked);
	report_put_seconds(r);
	report_put_heat(r);
	report_put_map(r);
	report_put_latency(r);
	report_put_runs(r);
	report_put_origin(r);
	strbuf_adds(&r->html, "</main>\n</body>\n</html>\n");
}

int report_write(const struct report_input *in, struct strbuf *html, struct error *err)
{
	struct report r = { .in = in };
	int ret;

	report_cells_make(&r);
	put_all(&r);
	ret = plots_draw(&r.plots, in->gnuplot, &r.html, html, err);
	for (size_t i = 0; i < r.nshown; i++)
		report_series_free(r.shown[i].series);
	free(r.shown);
	plots_free(&r.plots);
	report_cells_free(&r);
	strbuf_free(&r.faults);
	strbuf_free(&r.html);
	return ret;
}
