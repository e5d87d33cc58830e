// SPDX-License-Identifier: GPL-2.0-only
/* Runs that did not end ok, and reports of the kernel: what was said, and the console around it. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "results/report_internal.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

#define SHOWN_MAX 40	/* runs; the others are in the table of all runs */
#define SPLATS_MAX 4	/* excerpts a run */
#define CONSOLE_MAX (16U << 20)
#define EXCERPT_MAX 6144
#define LINES_BEFORE 4
#define LINES_AFTER 40
#define LINES_END 25

/* Heap, NUL-terminated; NULL where it cannot be read. */
static char *console_read(const struct report *r, const struct report_run *run, struct error *err)
{
	cleanup_free char *path = NULL;
	char *text;
	size_t len;

	/* Ids come out of files. */
	if (strchr(run->set->id, '/') || strchr(run->run->id, '/') || *run->run->id == '.' ||
	    *run->set->id == '.') {
		error_set(err, EXIT_NO_VERDICT, "no console");
		return NULL;
	}
	path = str_printf("%s/%s/%s/console.log", store_root(r->in->store), run->set->id, run->run->id);
	text = file_read(path, CONSOLE_MAX, &len, err);
	/* A byte 0 of a guest would hide the rest. */
	for (size_t i = 0; text && i < len; i++)
		if (!text[i])
			text[i] = '?';
	return text;
}

/* `lines` lines up from `at`, which is the start of a line. */
static const char *lines_up(const char *text, const char *at, size_t lines)
{
	for (; lines && at > text; lines--) {
		const char *newline = at - 1 > text ? memrchr(text, '\n', (size_t)(at - 1 - text)) : NULL;

		at = newline ? newline + 1 : text;
	}
	return at;
}

static void put_excerpt(struct strbuf *sb, const char *from, size_t lines)
{
	const char *end = from;
	cleanup_free char *piece = NULL;

	for (; lines && *end; lines--) {
		end += strcspn(end, "\n");
		end += *end == '\n';
	}
	piece = xstrndup(from, (size_t)(end - from));
	strbuf_adds(sb, "<pre tabindex=\"0\">");
	html_lines(sb, piece, EXCERPT_MAX);
	strbuf_adds(sb, "</pre>\n");
}

static void put_around(struct strbuf *sb, const char *console, const char *title)
{
	const char *at = title && *title ? strstr(console, title) : NULL, *start;

	if (!at) {
		strbuf_adds(sb, "<p>The console does not have it any more.</p>\n");
		return;
	}
	start = memrchr(console, '\n', (size_t)(at - console));
	start = start ? start + 1 : console;
	put_excerpt(sb, lines_up(console, start, LINES_BEFORE), LINES_BEFORE + 1 + LINES_AFTER);
}

static void put_splat(struct strbuf *sb, const json_t *splat, const char *console)
{
	const char *title = json_string_value(json_object_get(splat, "title"));

	strbuf_adds(sb, "<p>");
	html_element(sb, "strong", title);
	strbuf_adds(sb, " (");
	html_text(sb, json_string_value(json_object_get(splat, "class")));
	strbuf_adds(sb, ", ");
	html_text(sb, json_string_value(json_object_get(splat, "severity")));
	strbuf_adds(sb, ", in ");
	html_text(sb, json_string_value(json_object_get(splat, "phase")));
	strbuf_adds(sb, ")</p>\n");
	if (console)
		put_around(sb, console, title);
}

/* How many there were. */
static size_t put_splats(struct strbuf *sb, const struct run *run, const char *console)
{
	json_t *list = run->splats_json ? json_loads(run->splats_json, 0, NULL) : NULL;
	size_t n = json_array_size(list);

	for (size_t i = 0; i < n && i < SPLATS_MAX; i++)
		put_splat(sb, json_array_get(list, i), console);
	if (n > SPLATS_MAX)
		strbuf_addf(sb, "<p>And %zu more.</p>\n", n - SPLATS_MAX);
	json_decref(list);
	return n;
}

static void put_end(struct strbuf *sb, const char *console)
{
	size_t len = strlen(console);

	while (len && console[len - 1] == '\n')
		len--;
	strbuf_adds(sb, "<p>The end of the console:</p>\n");
	put_excerpt(sb, lines_up(console, console + len, LINES_END), LINES_END);
}

static void put_run(struct report *r, const struct report_cell *cell, const struct report_run *run)
{
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *console = console_read(r, run, &err);
	struct strbuf *sb = &r->html;
	size_t splats;

	strbuf_adds(sb, "<h3>Run ");
	report_run_name(r, run, sb);
	strbuf_addf(sb, ": %s</h3>\n<p>", verdict_name(run->run->verdict));
	html_text(sb, cell->label);
	if (run->run->why) {
		strbuf_adds(sb, ": ");
		html_text(sb, run->run->why);
	}
	strbuf_adds(sb, "</p>\n");
	splats = put_splats(sb, run->run, console);
	if (!console) {
		strbuf_adds(sb, "<p>");
		html_text(sb, err.text);
		strbuf_adds(sb, "</p>\n");
	} else if (!splats && *console) {
		put_end(sb, console);
	}
	if (run->run->detail) {
		strbuf_adds(sb, "<details><summary>What was recorded</summary>\n<pre tabindex=\"0\">");
		html_lines(sb, run->run->detail, EXCERPT_MAX);
		strbuf_adds(sb, "</pre></details>\n");
	}
}

void report_put_runs(struct report *r)
{
	size_t n = 0;

	strbuf_adds(&r->html, "<section id=\"faults\">\n<h2>Faults and reports of the kernel</h2>\n");
	for (size_t i = 0; i < r->ncells; i++) {
		for (size_t k = 0; k < r->cell[i].nruns; k++) {
			const struct run *run = r->cell[i].run[k].run;

			if (run->verdict == VERDICT_OK && !run->splats_json)
				continue;
			if (n++ < SHOWN_MAX)
				put_run(r, &r->cell[i], &r->cell[i].run[k]);
		}
	}
	if (!n)
		strbuf_adds(&r->html, "<p>Every run ended ok, and no kernel reported anything.</p>\n");
	if (n > SHOWN_MAX)
		strbuf_addf(&r->html, "<p>And %zu runs more.</p>\n", n - SHOWN_MAX);
	strbuf_adds(&r->html, "</section>\n");
}
