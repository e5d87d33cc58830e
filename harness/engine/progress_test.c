// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/engine/progress.h"

#define MS 1000000ULL
#define S (1000 * MS)
#define CLEAR "\r\033[K"

struct screen {
	FILE *f;
	char *text;
	size_t len, seen;
	uint64_t now_ns;
	struct progress *p;
};

static uint64_t screen_clock(void *arg)
{
	return ((struct screen *)arg)->now_ns;
}

static void screen_open(struct screen *s, bool is_tty, unsigned int columns)
{
	*s = (struct screen){ .now_ns = 1000 * S };
	s->f = open_memstream(&s->text, &s->len);
	s->p = progress_new(&(struct progress_config){ .out = s->f,
						       .is_tty = is_tty,
						       .columns = columns,
						       .now_ns = screen_clock,
						       .clock_arg = s });
}

static void screen_close(struct screen *s)
{
	progress_finish(s->p);
	fclose(s->f);
	free(s->text);
}

/* What was written since the last look. */
static const char *news(struct screen *s)
{
	const char *text;

	fflush(s->f);
	text = s->text + s->seen;
	s->seen = s->len;
	return text;
}

static void test_quiet_lines(void **state)
{
	struct screen s;

	screen_open(&s, false, 0);
	progress_start(s.p, "alias-tmpfs", 2);
	assert_string_equal(news(&s), "mmrig: alias-tmpfs: 2 runs\n");
	progress_run_begin(s.p, 1, "pfn % 8 == 4", 7);
	s.now_ns += 5 * S;
	progress_phase(s.p, 1, PHASE_LAYOUT, 1, 2);
	progress_tick(s.p);
	assert_string_equal(news(&s), "");
	s.now_ns += 36250 * MS;
	progress_run_end(s.p, 1, VERDICT_OK, NULL, "allocstall 86, time 12.6 s");
	assert_string_equal(news(&s), "mmrig: run 1/2 pfn % 8 == 4 seed 7: ok, 41.2 s;"
				      " allocstall 86, time 12.6 s\n");
	progress_run_begin(s.p, 2, NULL, 8);
	s.now_ns += 2 * S;
	progress_run_end(s.p, 2, VERDICT_SPLAT, "BUG: \033[2J soft\nlockup", NULL);
	assert_string_equal(news(&s),
			    "mmrig: run 2/2 seed 8: splat, 2.0 s; BUG: \\x1b[2J soft\\x0alockup\n");
	progress_note(s.p, "2 runs kept");
	assert_string_equal(news(&s), "mmrig: 2 runs kept\n");
	screen_close(&s);
}

static void test_live_line(void **state)
{
	struct screen s;

	screen_open(&s, true, 80);
	progress_start(s.p, "alias-tmpfs", 3);
	assert_string_equal(news(&s), "mmrig: alias-tmpfs: 3 runs\n\ralias-tmpfs 0/3  0:00\033[K");
	s.now_ns += 200 * MS;
	progress_run_begin(s.p, 1, "residue=4", 1);
	assert_string_equal(news(&s), "\ralias-tmpfs 1/3  residue=4  boot  0:00\033[K");
	s.now_ns += 10 * S;
	progress_phase(s.p, 1, PHASE_LAYOUT, 1, 3);
	assert_string_equal(news(&s), "\ralias-tmpfs 1/3  residue=4  layout 33%  0:10\033[K");
	s.now_ns += 30 * S;
	progress_run_end(s.p, 1, VERDICT_OK, NULL, NULL);
	/* Boot 10 s and layout 30 s were learned; two runs of 40.0 s are left. */
	assert_string_equal(news(&s), CLEAR "mmrig: run 1/3 residue=4 seed 1: ok, 40.0 s\n"
					    "\ralias-tmpfs 1/3  0:40  left 1:20\033[K");
	progress_clear(s.p);
	assert_string_equal(news(&s), CLEAR);
	progress_clear(s.p);
	assert_string_equal(news(&s), "");
	screen_close(&s);
}

static void test_ten_times_a_second(void **state)
{
	struct screen s;
	int drawn = 0;

	screen_open(&s, true, 80);
	progress_start(s.p, "x", 1);
	progress_run_begin(s.p, 1, "", 1);
	news(&s);
	for (int i = 0; i < 2000; i++) {
		s.now_ns += MS;
		progress_phase(s.p, 1, PHASE_WORKLOAD, (uint64_t)i, 2000);
		drawn += *news(&s) != '\0';
	}
	assert_int_equal(drawn, 20);
	screen_close(&s);
}

static void test_time_left(void **state)
{
	struct screen s;

	screen_open(&s, true, 80);
	progress_start(s.p, "x", 4);
	assert_true(progress_seconds_left(s.p) < 0);
	progress_run_begin(s.p, 1, "", 1);
	s.now_ns += 4 * S;
	progress_phase(s.p, 1, PHASE_LAYOUT, 0, 0);
	s.now_ns += 20 * S;
	progress_phase(s.p, 1, PHASE_WORKLOAD, 0, 0);
	assert_true(progress_seconds_left(s.p) < 0);
	s.now_ns += 10 * S;
	progress_run_end(s.p, 1, VERDICT_OK, NULL, NULL);
	assert_float_equal(progress_seconds_left(s.p), 3 * 34, 1e-6);
	progress_run_begin(s.p, 2, "", 2);
	s.now_ns += 3 * S; /* 1 of boot, 20 of layout, 10 of workload, and two runs of 34 */
	assert_float_equal(progress_seconds_left(s.p), 1 + 20 + 10 + 68, 1e-6);
	progress_phase(s.p, 2, PHASE_LAYOUT, 1, 4);
	assert_float_equal(progress_seconds_left(s.p), 15 + 10 + 68, 1e-6);
	s.now_ns += 60 * S; /* slower than ever: the share done counts, not the clock */
	assert_float_equal(progress_seconds_left(s.p), 15 + 10 + 68, 1e-6);
	progress_phase(s.p, 2, PHASE_WORKLOAD, 0, 0);
	s.now_ns += 25 * S; /* overdue with no share known: nothing, not less than nothing */
	assert_float_equal(progress_seconds_left(s.p), 68, 1e-6);
	screen_close(&s);
}

static void test_several_at_once(void **state)
{
	struct screen s;

	screen_open(&s, true, 80);
	progress_start(s.p, "x", 5);
	progress_run_begin(s.p, 1, "", 1);
	s.now_ns += 30 * S;
	progress_run_end(s.p, 1, VERDICT_OK, NULL, NULL);
	progress_run_begin(s.p, 2, "a", 2);
	progress_run_begin(s.p, 3, "b", 3);
	news(&s);
	s.now_ns += 10 * S; /* 20 + 20 in the air and two of 30 waiting, two at a time: 50 */
	progress_tick(s.p);
	assert_string_equal(news(&s), "\rx 2/5 (+1)  a  boot  0:40  left 0:50\033[K");
	progress_run_end(s.p, 2, VERDICT_STALL, NULL, NULL);
	news(&s);
	s.now_ns += S; /* the mean is 20 now: 9 and two of 20 */
	progress_tick(s.p);
	assert_string_equal(news(&s), "\rx 3/5  b  boot  0:41  left 0:49\033[K");
	progress_phase(s.p, 2, PHASE_WORKLOAD, 1, 2); /* a late word of a run that is over */
	progress_run_end(s.p, 2, VERDICT_OK, NULL, NULL);
	s.now_ns += S;
	progress_tick(s.p);
	assert_string_equal(news(&s), "\rx 3/5  b  boot  0:42  left 0:48\033[K");
	screen_close(&s);
}

static void test_kept_runs_are_not_waited_for(void **state)
{
	struct screen s;

	screen_open(&s, false, 0);
	progress_start(s.p, "x", 10);
	news(&s);
	progress_kept(s.p, 0);
	progress_kept(s.p, 7);
	assert_string_equal(news(&s), "mmrig: 7 of 10 are kept from before\n");
	progress_run_begin(s.p, 8, "", 8);
	s.now_ns += 5 * S;
	progress_run_end(s.p, 8, VERDICT_OK, NULL, NULL);
	assert_string_equal(news(&s), "mmrig: run 8/10 seed 8: ok, 5.0 s\n");
	assert_float_equal(progress_seconds_left(s.p), 10, 1e-6);
	screen_close(&s);
}

static const char *line_at(struct screen *s, unsigned int columns, const char *label)
{
	screen_open(s, true, columns);
	progress_start(s->p, "alias-tmpfs", 20);
	progress_run_begin(s->p, 3, label, 1);
	s->now_ns += 3725 * S;
	news(s);
	progress_phase(s->p, 3, PHASE_WORKLOAD, 48, 100);
	return news(s);
}

static void test_width(void **state)
{
	struct screen s;

	assert_string_equal(
		line_at(&s, 80, "pfn % 8 == 4 of everything"),
		"\ralias-tmpfs 3/20  pfn % 8 == 4 of everything  workload 48%  1:02:05\033[K");
	screen_close(&s);
	/* 16 + 2 + label + 2 + 12 + 2 + 7: in 58 columns, one kept free, 16 are the label's. */
	assert_string_equal(line_at(&s, 58, "pfn % 8 == 4 of everything"),
			    "\ralias-tmpfs 3/20  pfn % 8 == 4 o..  workload 48%  1:02:05\033[K");
	screen_close(&s);
	assert_string_equal(line_at(&s, 58, "\xc3\xa4\xc3\xb6\xc3\xbc 45678901234567"),
			    "\ralias-tmpfs 3/20  \xc3\xa4\xc3\xb6\xc3\xbc 4567890123..  workload 48%"
			    "  1:02:05\033[K");
	screen_close(&s);
	assert_string_equal(line_at(&s, 45, "pfn % 8 == 4"),
			    "\ralias-tmpfs 3/20  workload 48%  1:02:05\033[K");
	screen_close(&s);
	assert_string_equal(line_at(&s, 20, "pfn % 8 == 4"), "\ralias-tmpfs 3/20 ..\033[K");
	screen_close(&s);
	assert_string_equal(line_at(&s, 1, "pfn % 8 == 4"), "\r\033[K");
	screen_close(&s);
}

static void test_notes_clear_the_line(void **state)
{
	struct screen s;

	screen_open(&s, true, 80);
	progress_start(s.p, "x", 1);
	news(&s);
	progress_note(s.p, "tcg: no /dev/kvm");
	assert_string_equal(news(&s), CLEAR "mmrig: tcg: no /dev/kvm\n");
	s.now_ns += 99 * MS;
	progress_tick(s.p);
	assert_string_equal(news(&s), "");
	s.now_ns += MS;
	progress_tick(s.p);
	assert_string_equal(news(&s), "\rx 0/1  0:00\033[K");
	screen_close(&s);
}

static void test_tasks(void **state)
{
	struct screen s;

	screen_open(&s, true, 20);
	progress_task(s.p, "fetching", -1);
	assert_string_equal(news(&s), "\rfetching\033[K");
	s.now_ns += S;
	progress_task(s.p, "fetching a large package", 48.7);
	assert_string_equal(news(&s), "\rfetching a la.. 48%\033[K");
	progress_task(s.p, "warning: old keyring", -1);
	assert_string_equal(news(&s), CLEAR "mmrig: warning: old keyring\n");
	s.now_ns += S;
	progress_tick(s.p);
	news(&s);
	progress_task(s.p, NULL, 0);
	assert_string_equal(news(&s), CLEAR);
	screen_close(&s);

	screen_open(&s, false, 0);
	progress_task(s.p, "fetching", 1);
	progress_task(s.p, "fetching", 2);
	progress_task(s.p, "unpacking", 2);
	assert_string_equal(news(&s), "mmrig: fetching\nmmrig: unpacking\n");
	screen_close(&s);
}

static void expect_printable(const char *raw, const char *shown)
{
	struct strbuf sb = STRBUF_INIT;

	progress_printable(&sb, raw);
	assert_string_equal(sb.data, shown);
	strbuf_free(&sb);
}

static void test_printable(void **state)
{
	expect_printable("a\tb\x7f", "a\\x09b\\x7f");
	expect_printable("\xe2\x82\xac \xf0\x9f\x90\xa7", "\xe2\x82\xac \xf0\x9f\x90\xa7");
	expect_printable("\xc2\x9b"
			 "2J",
			 "\\xc2\\x9b2J");		     /* CSI as a C1 control */
	expect_printable("\xc0\x8a", "\\xc0\\x8a");	     /* overlong newline */
	expect_printable("\xe0\x82\x8a", "\\xe0\\x82\\x8a"); /* the same in three bytes */
	expect_printable("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* a surrogate */
	expect_printable("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
	expect_printable("\xff\xe2\x82", "\\xff\\xe2\\x82"); /* cut off at the end */
}

static void test_null_is_silent(void **state)
{
	progress_start(NULL, "x", 1);
	progress_kept(NULL, 1);
	progress_run_begin(NULL, 1, "", 1);
	progress_phase(NULL, 1, PHASE_BOOT, 0, 0);
	progress_run_end(NULL, 1, VERDICT_OK, NULL, NULL);
	progress_note(NULL, "x");
	progress_task(NULL, "x", 0);
	progress_tick(NULL);
	progress_clear(NULL);
	progress_finish(NULL);
	assert_true(progress_seconds_left(NULL) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quiet_lines),
		cmocka_unit_test(test_live_line),
		cmocka_unit_test(test_ten_times_a_second),
		cmocka_unit_test(test_time_left),
		cmocka_unit_test(test_several_at_once),
		cmocka_unit_test(test_kept_runs_are_not_waited_for),
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_notes_clear_the_line),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_printable),
		cmocka_unit_test(test_null_is_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
