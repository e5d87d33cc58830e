// SPDX-License-Identifier: GPL-2.0-only
#include "harness/engine/console.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "results/util/cleanup.h"

/* ---- keeping ---- */

struct kept {
	struct strbuf sb;
};

static void keep(void *arg, const void *data, size_t len)
{
	struct kept *k = arg;

	strbuf_add(&k->sb, data, len);
}

static uint8_t pattern(uint64_t i)
{
	return i % 64 == 63 ? '\n' : (uint8_t)('a' + (i * 2654435761u >> 7) % 26);
}

/* Feeds `total` bytes in pieces, and compares with what is to be kept of them. */
static void check_keep(size_t total, size_t piece)
{
	const size_t head = CONSOLE_HEAD_BYTES, tail = CONSOLE_TAIL_BYTES;
	struct kept k = { STRBUF_INIT };
	struct console *c = console_new(keep, &k);
	uint8_t *data = xmalloc(total + 1);
	size_t dropped = total > head + tail ? total - head - tail : 0, n;
	cleanup_free char *mark = dropped ? str_printf("\n[mmrig: %zu bytes dropped here]\n", dropped) :
					    xstrdup("");

	for (size_t i = 0; i < total; i++)
		data[i] = pattern(i);
	for (size_t at = 0; at < total; at += n) {
		n = piece < total - at ? piece : total - at;
		console_feed(c, data + at, n);
	}
	assert_int_equal(console_bytes(c), total);
	assert_int_equal(k.sb.len, total < head ? total : head); /* the head is there at once */
	console_end(c);
	assert_int_equal(k.sb.len, total - dropped + strlen(mark));
	n = total < head ? total : head;
	assert_memory_equal(k.sb.data ? k.sb.data : "", data, n);
	if (total > head) {
		assert_memory_equal(k.sb.data + head, mark, strlen(mark));
		n = total - head - dropped;
		assert_memory_equal(k.sb.data + head + strlen(mark), data + total - n, n);
	}
	console_end(c); /* the tail comes once */
	assert_int_equal(k.sb.len, total - dropped + strlen(mark));
	console_free(c);
	strbuf_free(&k.sb);
	free(data);
}

static void test_head_and_tail(void **state)
{
	const size_t head = CONSOLE_HEAD_BYTES, all = head + CONSOLE_TAIL_BYTES;

	check_keep(0, 1000);
	check_keep(1, 1);
	check_keep(head - 1, 65536);
	check_keep(head, 65536);
	check_keep(head, head);
	check_keep(head + 1, 65536);
	check_keep(head + 1, head + 1);
	check_keep(all - 1, 65536);
	check_keep(all, 99991);
	check_keep(all, all);
	check_keep(all + 1, 99991);
	check_keep(all + 1, all + 1);
	check_keep(all + CONSOLE_TAIL_BYTES, 99991);
	check_keep(all + CONSOLE_TAIL_BYTES + 12345, 1 << 22);
}

/* ---- lines ---- */

/* The report that decides; NULL: none. */
static const struct splat_report *worst(const struct console *c)
{
	return splat_log_worst(console_splats(c));
}

static void feed(struct console *c, const char *text)
{
	console_feed(c, (const uint8_t *)text, strlen(text));
}

static void test_lines(void **state)
{
	struct kept k = { STRBUF_INIT };
	struct console *c = console_new(keep, &k);
	char *last;

	last = console_last_lines(c, 5);
	assert_string_equal(last, "");
	free(last);
	feed(c, "one\r\ntwo\n\nfo");
	feed(c, "ur\nopen");
	last = console_last_lines(c, 3);
	assert_string_equal(last, "two\n\nfour\n");
	free(last);
	console_end(c); /* the line without an end is one too */
	last = console_last_lines(c, 1000);
	assert_string_equal(last, "one\ntwo\n\nfour\nopen\n");
	free(last);
	last = console_last_lines(c, 0);
	assert_string_equal(last, "");
	free(last);
	console_free(c);
	strbuf_free(&k.sb);

	k.sb = (struct strbuf)STRBUF_INIT;
	c = console_new(keep, &k);
	for (int i = 0; i < 1000; i++) {
		char line[32];

		snprintf(line, sizeof(line), "line %d\n", i);
		feed(c, line);
	}
	last = console_last_lines(c, 2);
	assert_string_equal(last, "line 998\nline 999\n");
	free(last);
	last = console_last_lines(c, 100000); /* as many as there are: forty */
	assert_memory_equal(last, "line 960\n", 9);
	free(last);
	console_free(c);
	strbuf_free(&k.sb);
	console_free(NULL);
}

/* Fed byte by byte or in one piece, with a splat at the very end and no newline. */
static void test_unfinished_splat(void **state)
{
	static const char text[] = "[    1.0] fine\n[    2.5][    T1] WARNING: mm/page_alloc.c:5131 at "
				   "get_page_from_freelist+0x12b/0xf00, CPU#1: init/1";

	for (int single = 0; single < 2; single++) {
		struct kept k = { STRBUF_INIT };
		struct console *c = console_new(keep, &k);

		for (size_t i = 0; single && i < strlen(text); i++)
			console_feed(c, (const uint8_t *)text + i, 1);
		if (!single)
			feed(c, text);
		assert_null(worst(c));
		console_end(c);
		assert_non_null(worst(c));
		assert_int_equal(worst(c)->class, SPLAT_WARNING);
		assert_string_equal(worst(c)->title, strstr(text, "WARNING"));
		assert_true(worst(c)->corrupted);
		assert_false(console_panicked(c));
		console_free(c);
		strbuf_free(&k.sb);
	}
}

static void test_nul_bytes(void **state)
{
	static const char text[] = "a\0b\n\0\0\n\0BUG: Bad page state in process x  pfn:1\0\n";
	struct kept k = { STRBUF_INIT };
	struct console *c = console_new(keep, &k);
	char *last;

	console_feed(c, (const uint8_t *)text, sizeof(text) - 1);
	last = console_last_lines(c, 3);
	assert_string_equal(last, "a b\n\n BUG: Bad page state in process x  pfn:1\n");
	free(last);
	assert_int_equal(worst(c)->class, SPLAT_BAD_PAGE); /* not hidden by the NUL before it */
	console_end(c);
	assert_int_equal(k.sb.len, sizeof(text) - 1);
	assert_memory_equal(k.sb.data, text, sizeof(text) - 1); /* kept as it came */
	console_free(c);
	strbuf_free(&k.sb);
}

/* 10 MiB without a newline: bounded, kept as head and tail, and the next line is a line again. */
static void test_endless_line(void **state)
{
	const size_t total = 10 << 20;
	struct kept k = { STRBUF_INIT };
	struct console *c = console_new(keep, &k);
	uint8_t *data = xmalloc(total);
	char *last;

	memset(data, 'x', total);
	console_feed(c, data, total);
	feed(c, "\nKernel panic - not syncing: test\n");
	assert_true(console_panicked(c));
	assert_int_equal(worst(c)->class, SPLAT_PANIC);
	last = console_last_lines(c, 2);
	assert_true(strlen(last) < 2048);
	assert_non_null(strstr(last, "xxxx\nKernel panic"));
	free(last);
	console_end(c);
	assert_true(k.sb.len < CONSOLE_HEAD_BYTES + CONSOLE_TAIL_BYTES + 100);
	console_free(c);
	strbuf_free(&k.sb);
	free(data);
}

static void test_splats(void **state)
{
	struct kept k = { STRBUF_INIT };
	struct console *c = console_new(keep, &k);

	feed(c, "[ 1.0] before\n"
		"[ 2.0] WARNING: CPU: 0 PID: 1 at mm/vmscan.c:1 f+0x1/0x2\n"
		"[ 2.0] Modules linked in:\n"
		"[ 2.0] ---[ end trace 0000000000000000 ]---\n"
		"[ 2.1] between\n");
	assert_string_equal(worst(c)->title, "WARNING: CPU: 0 PID: 1 at mm/vmscan.c:1 f+0x1/0x2");
	assert_string_equal(worst(c)->lines, "[ 2.0] WARNING: CPU: 0 PID: 1 at mm/vmscan.c:1 f+0x1/0x2\n"
					     "[ 2.0] Modules linked in:\n"
					     "[ 2.0] ---[ end trace 0000000000000000 ]---\n");
	assert_int_equal(worst(c)->context, 0);
	assert_false(console_panicked(c));
	console_phase(c, 3);
	feed(c, "[ 3.0] Kernel panic - not syncing: out\n");
	assert_int_equal(splat_log_count(console_splats(c)), 2); /* each is kept, the worse decides */
	assert_int_equal(worst(c)->class, SPLAT_PANIC);
	assert_int_equal(worst(c)->context, 3);
	assert_true(console_panicked(c));
	console_free(c);
	strbuf_free(&k.sb);
}

/* What a guest answers to a SysRq of ours is kept, and is no splat. */
static void test_quietly(void **state)
{
	static const char text[] = "[ 1.0] BUG: Bad rss-counter state mm:1\n";
	struct kept k = { STRBUF_INIT };
	struct console *c = console_new(keep, &k);

	console_feed_quietly(c, (const uint8_t *)text, strlen(text));
	console_end(c);
	assert_int_equal(splat_log_count(console_splats(c)), 0);
	assert_string_equal(k.sb.data, text);
	console_free(c);
	strbuf_free(&k.sb);
}

static void test_splats_are_bounded(void **state)
{
	struct kept k = { STRBUF_INIT };
	struct console *c = console_new(keep, &k);

	for (int i = 0; i < 100000; i++)
		feed(c, "BUG: Bad page state in process x  pfn:1\n");
	console_end(c);
	assert_int_equal(splat_log_count(console_splats(c)), SPLAT_REPORTS_MAX);
	assert_int_equal(splat_log_dropped(console_splats(c)), 100000 - SPLAT_REPORTS_MAX);
	console_free(c);
	strbuf_free(&k.sb);
}

static void test_banners(void **state)
{
	struct kept k = { STRBUF_INIT };
	struct console *c = console_new(keep, &k);

	feed(c, "SeaBIOS\nBooting Linux version 1\n[    0.0] Command line: Linux version x\n");
	assert_false(console_booted(c));
	feed(c, "[    0.000000] Linux version 7.3.4+deb13-cloud-amd64 (x) #1 SMP\n");
	assert_true(console_booted(c));
	assert_false(console_rebooted(c));
	feed(c, "[    1.000000] something about Linux version 7\n[    1.0] Linux versions differ\n");
	assert_false(console_rebooted(c));
	feed(c, "<5>[    0.000000][    T0] Linux version 7.3.4+deb13-cloud-amd64 (x) #1 SMP\n");
	assert_true(console_rebooted(c));
	console_free(c);
	strbuf_free(&k.sb);
}

/* Pieces of real lines in any order and cut: nothing breaks, and the sum of bytes stays right. */
static void test_fuzz(void **state)
{
	static const char *const texts[] = {
		"[    2.5][    T1] WARNING: mm/page_alloc.c:5131 at get_page+0x12b/0xf00, CPU#1: init/1",
		"<4>Kernel panic - not syncing: Fatal exception", "[    0.0] Linux version 7.3.4", "", "\r",
		"Nov 30 17:12:32 host kernel:  vm_x+0x1/0x2", "BUG: Bad page state in process x  pfn:1",
	};
	clock_t start = clock();
	uint64_t r = 4711;

	for (int round = 0; round < 2000 && clock() - start < 2 * CLOCKS_PER_SEC; round++) {
		struct kept k = { STRBUF_INIT };
		struct console *c = console_new(keep, &k);
		uint64_t bytes = 0;

		for (int i = 0; i < 200; i++) {
			cleanup_free char *text = NULL;
			size_t len, cut;

			r = r * 6364136223846793005u + 1442695040888963407u;
			text = str_printf("%s\n", texts[(r >> 40) % ARRAY_SIZE(texts)]);
			len = strlen(text);
			cut = (r >> 20) % (len + 1);
			if (r >> 63)
				text[(r >> 50) % len] = (char)(r >> 10);
			console_feed(c, (uint8_t *)text + (len - cut), cut);
			bytes += cut;
		}
		console_end(c);
		assert_int_equal(k.sb.len, bytes);
		assert_int_equal(console_bytes(c), bytes);
		free(console_last_lines(c, 40));
		console_free(c);
		strbuf_free(&k.sb);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_head_and_tail),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_unfinished_splat),
		cmocka_unit_test(test_nul_bytes),
		cmocka_unit_test(test_endless_line),
		cmocka_unit_test(test_splats),
		cmocka_unit_test(test_quietly),
		cmocka_unit_test(test_splats_are_bounded),
		cmocka_unit_test(test_banners),
		cmocka_unit_test(test_fuzz),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
