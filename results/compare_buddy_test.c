// SPDX-License-Identifier: GPL-2.0-only
/* The post on merging pages early, from stored samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "results/compare_fixture.h"
#include "results/compare_text.h"
#include "results/frame.h"
#include "results/store_fixture.h"

#define BUDDY                                                                                         \
	"Node 0, zone      DMA      3      0      2      1      3      2      2      1      0      1" \
	"      3\n"                                                                                   \
	"Node 0, zone    DMA32      4      4      1      5      2      4      2      2      3      1" \
	"    447\n"                                                                                   \
	"Node 0, zone   Normal   2389    418    668    707    738    451    246     93     42     21" \
	"  15147\n"                                                                                   \
	"Node 1, zone   Normal   1137    386    583    631    878    311     80     12      2      8" \
	"  15640\n"
#define BUDDY_PATCHED                                                                                 \
	"Node 0, zone      DMA      1      1      2      1      3      2      2      1      0      1" \
	"      3\n"                                                                                   \
	"Node 0, zone   Normal   1293   1097    159    564    620    392    242     89     49     21" \
	"  15154\n"
#define UNUSABLE                                                                                    \
	"Node 0, zone      DMA 0.000 0.000 0.000 0.002 0.004 0.016 0.032 0.065 0.097 0.097 0.226\n" \
	"Node 5, zone   Normal 0.000 0.000 0.001 0.003 0.004 0.005 0.007 0.008 0.009 0.009 0.009\n"

/* The rows with one word in place of every number. */
static char *all_numbers(const char *rows, const char *word)
{
	struct strbuf sb = STRBUF_INIT;

	while (*rows) {
		size_t len = strcspn(rows, "\n"), at = 21;

		strbuf_add(&sb, rows, at);
		while (at < len) {
			at += strspn(rows + at, " ");
			at += strcspn(rows + at, " \n");
			strbuf_addf(&sb, " %s", word);
		}
		strbuf_adds(&sb, " \n");
		rows += len + 1;
	}
	return strbuf_steal(&sb);
}

static void add_sample(struct store_run *sr, enum wire_edge edge, const char *name,
		       const char *text)
{
	cleanup_free uint8_t *payload = xmalloc(100 + strlen(text));
	uint32_t len = sample_make(payload, 7, name, text, (uint32_t)strlen(text));

	payload[8] = (uint8_t)edge;
	assert_int_equal(store_sample(sr, payload, len, NULL), 0);
}

/* A stored run; a NULL text: no such sample. */
static void store_files(struct store *s, const struct runset *set, const char *id,
			const char *begin, const char *end, const char *unusable)
{
	struct run r = { .id = xstrdup(id), .seed = 1, .verdict = VERDICT_OK };
	struct store_run *sr;

	assert_int_equal(store_begin_run(s, set, &r, &sr, NULL), 0);
	add_sample(sr, EDGE_BEGIN, "vmstat", "a 1\n");
	if (begin)
		add_sample(sr, EDGE_BEGIN, "buddyinfo", begin);
	if (end)
		add_sample(sr, EDGE_END, "buddyinfo", end);
	if (unusable)
		add_sample(sr, EDGE_END, "extfrag/unusable_index", unusable);
	assert_int_equal(store_finish_run(sr, set, &r, NULL), 0);
	run_free(&r);
}

static void add_runs(struct compare *c, size_t col, const struct frame *frame, size_t from,
		     size_t to)
{
	struct compare_cell *cell = &c->section[0].cell[col];

	cell->run = xcalloc(to - from, sizeof(*cell->run));
	for (size_t i = from; i < to; i++) {
		cell->run[cell->nruns++] = (struct compare_run){ frame, i };
		cell->verdict[frame->set.run[i].verdict]++;
	}
}

/* Of x, nothing and very much, the median is x; a failed run is not looked at. */
static void test_post(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct frame frame = { .set = begin_set(s) };
	struct compare c =
		compare_fixture("kernel", LIST("nopatch", "patched"), LIST("time"), LIST(""));
	cleanup_free char *none = all_numbers(BUDDY, "0"), *much = all_numbers(BUDDY, "999999");
	cleanup_free char *low = all_numbers(UNUSABLE, "0.000"), *text = NULL;
	cleanup_free char *high = all_numbers(UNUSABLE, "1.000");
	cleanup_error struct error err = ERROR_INIT;

	store_files(s, &frame.set, "0001", much, BUDDY, low);
	store_files(s, &frame.set, "0002", none, none, UNUSABLE);
	store_files(s, &frame.set, "0003", BUDDY, much, high);
	store_files(s, &frame.set, "0004", NULL, BUDDY_PATCHED, NULL);
	store_files(s, &frame.set, "0005", NULL, NULL, NULL);
	store_files(s, &frame.set, "0006", NULL, much, NULL);
	for (int i = 0; i < 6; i++)
		fixture_run(&frame.set, 0, 0, i == 5 ? VERDICT_SPLAT : VERDICT_OK);
	add_runs(&c, 0, &frame, 0, 3);
	add_runs(&c, 1, &frame, 3, 6);
	fixture_test(&c);
	if (compare_buddy(&c, s, &text, &err) < 0)
		fail_msg("%s", err.text);
	expect_text(text, "a-title\n"
			  "kernel 7.3.4; 8G, 2 CPUs, tcg\n"
			  "\n"
			  "nopatch, at the begin of the workload, median of 3 runs:\n"
			  "# cat /proc/buddyinfo\n" BUDDY
			  "# cat /sys/kernel/debug/extfrag/unusable_index\n"
			  "-\n"
			  "\n"
			  "nopatch, at the end of the workload, median of 3 runs:\n"
			  "# cat /proc/buddyinfo\n" BUDDY
			  "# cat /sys/kernel/debug/extfrag/unusable_index\n" UNUSABLE "\n"
			  "patched, at the begin of the workload, median of 1 run:\n"
			  "# cat /proc/buddyinfo\n"
			  "-\n"
			  "# cat /sys/kernel/debug/extfrag/unusable_index\n"
			  "-\n"
			  "\n"
			  "patched, at the end of the workload, median of 1 run:\n"
			  "# cat /proc/buddyinfo\n" BUDDY_PATCHED
			  "# cat /sys/kernel/debug/extfrag/unusable_index\n"
			  "-\n"
			  "1 of 2 runs without samples of these files\n"
			  "\n"
			  "2 to 3 runs each\n"
			  "not ok, and in no number: 1 of 3 (patched): 1 splat\n");
	fixture_free(&c);
	runset_free(&frame.set);
	store_close(s);
}

/* One run: what the kernel printed, but for the blank at the ends of lines. */
static void test_real(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct frame frame = { .set = begin_set(s) };
	struct compare c = compare_fixture("kernel", LIST("7.3"), LIST("time"), LIST(""));
	cleanup_free char *begin = fixture_read("buddyinfo-7.3-begin.txt", NULL);
	cleanup_free char *end = fixture_read("buddyinfo-7.3-end.txt", NULL);
	cleanup_free char *unusable = fixture_read("unusable-index-7.3.txt", NULL), *text = NULL;
	const char *file[] = { begin, end, unusable };

	store_files(s, &frame.set, "0001", begin, end, unusable);
	fixture_run(&frame.set, 0, 0, VERDICT_OK);
	add_runs(&c, 0, &frame, 0, 1);
	fixture_test(&c);
	assert_int_equal(compare_buddy(&c, s, &text, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(file); i++) {
		for (const char *line = file[i]; *line; line += strcspn(line, "\n") + 1) {
			cleanup_free char *copy = xstrndup(line, strcspn(line, "\n") - 1);

			expect_line(text, copy);
		}
	}
	fixture_free(&c);
	runset_free(&frame.set);
	store_close(s);
}

static void expect_error(const struct compare *c, struct store *s, int status, const char *what)
{
	cleanup_error struct error err = ERROR_INIT;
	char *text;

	assert_int_equal(compare_buddy(c, s, &text, &err), -1);
	assert_null(text);
	assert_int_equal(err.status, status);
	if (!strstr(err.text, what))
		fail_msg("%s", err.text);
}

/* A set of another place, one that would lead out of the store, and a run whose samples are gone. */
static void test_errors(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct frame frame = { .set = begin_set(s) };
	struct compare c = compare_fixture("kernel", LIST("a"), LIST("time"), LIST(""));
	cleanup_free char *samples = in_set(p, &frame.set, "0001/samples.zst");
	char *id = frame.set.id;

	store_files(s, &frame.set, "0001", BUDDY, BUDDY, NULL);
	fixture_run(&frame.set, 0, 0, VERDICT_OK);
	add_runs(&c, 0, &frame, 0, 1);
	fixture_test(&c);
	assert_int_equal(unlink(samples), 0);
	expect_error(&c, s, EXIT_NO_VERDICT, "samples.zst: cannot open");
	frame.set.id = xstrdup("20200101-000000-elsewhere-0000");
	expect_error(&c, s, EXIT_USAGE,
		     "run set 20200101-000000-elsewhere-0000 is not in the store");
	strcpy(frame.set.id, "..");
	expect_error(&c, s, EXIT_USAGE, "..");
	*frame.set.id = '\0';
	expect_error(&c, s, EXIT_USAGE, "run set (no id) is not in the store");
	free(frame.set.id);
	frame.set.id = id;
	fixture_free(&c);
	runset_free(&frame.set);
	store_close(s);
}

/* No ok run, no run, no cell: still a text, and no store is asked. */
static void test_empty(void **state)
{
	struct compare c = compare_fixture("kernel", LIST("a", "b"), LIST("time"), LIST("x"));
	cleanup_free char *text = NULL;

	fixture_test(&c);
	assert_int_equal(compare_buddy(&c, NULL, &text, NULL), 0);
	expect_line(text, "x, b, at the end of the workload, median of 0 runs:");
	expect_line(text, "-");
	fixture_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_post),
		STORE_TEST(test_real),
		STORE_TEST(test_errors),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
