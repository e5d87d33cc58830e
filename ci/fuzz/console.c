// SPDX-License-Identifier: GPL-2.0-only
/* The console, and the reports in it. */
#include <string.h>

#include "ci/fuzz/fuzz.h"
#include "harness/engine/console.h"
#include "results/util/cleanup.h"

static void keep(void *arg, const void *data, size_t len)
{
	strbuf_add(arg, data, len);
}

static struct console *read_console(const uint8_t *data, size_t len, size_t step,
				    struct strbuf *kept)
{
	struct console *c = console_new(keep, kept);

	for (size_t at = 0; at < len; at += step)
		console_feed(c, data + at, step < len - at ? step : len - at);
	console_end(c);
	return c;
}

static void check_report(const struct splat_report *r)
{
	FUZZ_CHECK(r->class > SPLAT_NONE && r->class < SPLAT_CLASSES);
	FUZZ_CHECK(r->severity >= splat_class_severity(r->class) && r->severity <= SPLAT_FATAL);
	FUZZ_CHECK(splat_class_name(r->class) && splat_severity_name(r->severity));
	FUZZ_CHECK(strlen(r->title) <= SPLAT_TITLE_MAX && strlen(r->lines) <= SPLAT_BYTES_MAX);
	FUZZ_CHECK(fuzz_lines((const uint8_t *)r->lines, strlen(r->lines)) <= SPLAT_LINES_MAX);
	FUZZ_CHECK(r->fingerprint && !strchr(r->fingerprint, '\n'));
	FUZZ_CHECK(!strchr(r->title, '\n'));
}

static void check_log(const struct splat_log *log)
{
	const struct splat_report *worst = splat_log_worst(log);

	FUZZ_CHECK(!splat_log_open(log) && splat_log_count(log) <= SPLAT_REPORTS_MAX);
	for (size_t i = 0; i < splat_log_count(log); i++) {
		const struct splat_report *r = splat_log_get(log, i);

		check_report(r);
		FUZZ_CHECK(r->severity == SPLAT_NOTE || (worst && worst->severity >= r->severity));
	}
}

static void check_same(const struct splat_log *a, const struct splat_log *b)
{
	FUZZ_CHECK(splat_log_count(a) == splat_log_count(b));
	FUZZ_CHECK(splat_log_dropped(a) == splat_log_dropped(b));
	for (size_t i = 0; i < splat_log_count(a); i++) {
		const struct splat_report *x = splat_log_get(a, i), *y = splat_log_get(b, i);

		FUZZ_CHECK(x->class == y->class && x->corrupted == y->corrupted);
		FUZZ_CHECK(strcmp(x->title, y->title) == 0 && strcmp(x->lines, y->lines) == 0);
		FUZZ_CHECK(strcmp(x->fingerprint, y->fingerprint) == 0);
	}
}

static void check_line(const uint8_t *data, size_t len)
{
	cleanup_free char *line = fuzz_text(data, len);
	const char *title;

	splat_classify(line, &title);
	FUZZ_CHECK(title >= line && title <= line + strlen(line));
	splat_ignored(line);
}

/* How the bytes arrive must not matter. */
static void run_console(const uint8_t *data, size_t len)
{
	cleanup_strbuf struct strbuf whole_kept = STRBUF_INIT, pieces_kept = STRBUF_INIT;
	struct console *whole = read_console(data, len, len + 1, &whole_kept);
	struct console *pieces = read_console(data, len, 1 + len % 13, &pieces_kept);
	cleanup_free char *last = console_last_lines(whole, 1000);

	check_log(console_splats(whole));
	check_same(console_splats(whole), console_splats(pieces));
	FUZZ_CHECK(console_panicked(whole) == console_panicked(pieces));
	FUZZ_CHECK(console_rebooted(whole) == console_rebooted(pieces));
	FUZZ_CHECK(console_bytes(whole) == len);
	FUZZ_CHECK(whole_kept.len == len && pieces_kept.len == len);
	FUZZ_CHECK(!len || (memcmp(whole_kept.data, data, len) == 0 &&
			    memcmp(pieces_kept.data, data, len) == 0));
	FUZZ_CHECK(strlen(last) <= len + 40);
	check_line(data, len);
	console_free(whole);
	console_free(pieces);
}

const struct fuzz_target fuzz_console = { "console", run_console };
