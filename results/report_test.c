// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "results/report_fixture.h"

#define EVIL "</td><script>alert('x')</script>\x1b[31m `touch pwned` \"a, b\" &amp; \xff\nline"

/* The page of one set of the store; compared where that can be. */
static char *page_of(struct store *s, const char *id, const char *title)
{
	const struct compare_options opt = { .stats = STATS_OPTIONS_DEFAULT };
	cleanup_error struct error err = ERROR_INIT, why = ERROR_INIT;
	struct strbuf page = STRBUF_INIT;
	struct runset set;
	struct frame frame;
	struct compare compare;
	bool compared;

	assert_int_equal(store_load_set(s, id, &set, &err), 0);
	assert_int_equal(store_load_frame(s, id, &frame, &err), 0);
	compared = compare_make(&frame, 1, &opt, &compare, &why) == 0;
	if (report_write(&(struct report_input){ .store = s,
						 .set = &set,
						 .nsets = 1,
						 .compare = compared ? &compare : NULL,
						 .not_compared = why.text,
						 .title = title,
						 .command = "mmrig report " EVIL },
			 &page, &err) < 0)
		fail_msg("%s", err.text);
	if (compared)
		compare_free(&compare);
	frame_free(&frame);
	runset_free(&set);
	expect_well_formed(page.data);
	expect_lacks(page.data, "nan");
	return strbuf_steal(&page);
}

#define REAL_SET "20261130-182005-alias-tmpfs-f40c"

static void test_real_runs(void **state)
{
	struct place *p = *state;
	cleanup_free char *dir = path_join(p->root, REAL_SET), *page = NULL, *again = NULL;
	struct store *s;
	const char *at;

	need_gnuplot();
	fixture_copy("results/testdata/runset-7.3", dir);
	s = open_store(p->root);
	page = page_of(s, REAL_SET, NULL);
	again = page_of(s, REAL_SET, NULL);
	assert_string_equal(page, again);
	expect_has(page, "default-src 'none'; style-src 'unsafe-inline'");
	expect_has(page, "<p>3 runs: 3 ok.</p>");
	/* One run of the one, 1933 and 2918 of the other: the median, and the shift of the medians. */
	at = expect_behind(page, "<th scope=\"row\">Allocation stalls <small>events</small></th>");
	at = expect_behind(at, "<td>49</td><td>2425.5 <small>(1933 – 2918)</small></td>");
	expect_has(at, "<td>+2376.5</td>");
	expect_has(page, "pfn % 8 == 4: median 2425.5 of 2</text>");
	/* All three runs are drawn: three lines in each figure, two cells. */
	expect_has(page, "All runs that ended ok are drawn, a line each: 0001, 0004, 0008.");
	expect_has(page, "aria-label=\"Allocation stalls over time, events/s\"");
	expect_has(page, "aria-label=\"Free pages by order over time, pfn % 8 == 0\"");
	expect_has(page, "has a sample of its pageblocks");
	expect_has(page, "1fe9968467f2755292a45806719b9bba136b0cc8");
	expect_has(page, "leave_blocks 96");
	expect_has(page, "Every run ended ok, and no kernel reported anything.");
	store_close(s);
}

/* A run with a map, a series and a histogram, all small enough to be drawn by hand. */
static void put_sample(struct store_run *sr, double seconds, enum wire_phase phase, enum wire_edge edge,
		       const char *name, const char *text)
{
	uint8_t buf[512];
	uint32_t len = sample_make(buf, (uint64_t)(seconds * 1e9), name, text, (uint32_t)strlen(text));

	buf[8] = (uint8_t)edge;
	buf[9] = (uint8_t)phase;
	assert_int_equal(store_sample(sr, buf, len, NULL), 0);
}

static void put_samples(struct store_run *sr)
{
	put_sample(sr, 9, PHASE_LAYOUT, EDGE_END, "pageblocks",
		   "pageblocks 1 order 3 first 0 blocks 3\n0 8 0 0 0 0\n1 1 1 6 0 0\n2 0 0 0 8 0\n");
	put_sample(sr, 10, PHASE_WORKLOAD, EDGE_BEGIN, "vmstat", "allocstall_normal 0\nnr_free_pages 9\n");
	put_sample(sr, 10, PHASE_WORKLOAD, EDGE_BEGIN, "buddyinfo", "Node 0, zone DMA 1 0 1 \n");
	put_sample(sr, 12, PHASE_WORKLOAD, EDGE_NONE, "vmstat", "allocstall_normal 8\nnr_free_pages 9\n");
	put_sample(sr, 12, PHASE_WORKLOAD, EDGE_NONE, "buddyinfo", "Node 0, zone DMA 1 0 0 \n");
	put_sample(sr, 14, PHASE_WORKLOAD, EDGE_END, "vmstat", "allocstall_normal 8\nnr_free_pages 9\n");
	put_sample(sr, 15, PHASE_COLLECT, EDGE_END, "pageblocks",
		   "pageblocks 1 order 3 first 0 blocks 3\n0 0 0 8 0 0\n1 0 1 7 0 0\n2 0 0 0 8 0\nbad\n");
}

static void put_run(struct store *s, struct runset *set, struct run *r, bool samples,
		    const char *console)
{
	struct store_run *sr;

	assert_int_equal(store_begin_run(s, set, r, &sr, NULL), 0);
	if (samples)
		put_samples(sr);
	assert_int_equal(store_console(sr, console, strlen(console), NULL), 0);
	assert_int_equal(store_finish_run(sr, set, r, NULL), 0);
}

static void test_one_cell_with_a_map(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = begin_set(s);
	struct run *r = fixture_run(&set, 0, 0, VERDICT_OK);
	cleanup_free char *page = NULL;
	const char *at;

	need_gnuplot();
	set.metric = xcalloc(2, sizeof(*set.metric));
	set.metric[0] = xstrdup("allocstall");
	run_set_metric(r, "allocstall", 8);
	r->workload_json = xstrdup("{\"histogram\": [[1000, 1100, 30], [2000, 2100, 10], [1, 2], \"x\", [5, 6, -1]],"
				   " \"background\": {\"workload\": \"a<b\", \"stopped\": true}}");
	put_run(s, &set, r, true, "");
	page = page_of(s, set.id, "one cell");
	expect_has(page, "<h1>one cell</h1>");
	expect_has(page, "Nothing is compared: nothing to compare");
	expect_has(page, "Beside the workload</th><td>a&lt;b, at work to the end in 1 of 1 run</td>");
	/* Before: one block free, one pinned with a free page, one unmovable. After: none is free. */
	at = expect_behind(page, "before the workload <small>");
	expect_behind(at, "3 pageblocks: 1 wholly free; 1 unmovable; 1 pinned, partly free. Pages:"
			  " 9 free, 1 pinned, 6 movable, 8 unmovable, 0 hole.</p>");
	at = expect_behind(page, "after the workload <small>");
	expect_behind(at, "3 pageblocks: 1 movable; 1 unmovable; 1 pinned. Pages: 0 free, 1 pinned, 15"
			  " movable, 8 unmovable, 0 hole. 1 line of the sample could not be read.</p>");
	/* 16 squares a row of 512, so 32 units each: the first is free, then not. */
	expect_has(page, "<path d=\"M0,0h32v32h-32z\" class=\"k0\"/>");
	expect_has(page, "<path d=\"M0,0h32v32h-32z\" class=\"k2\"/>");
	/* 8 stalls in the first two seconds are 4 a second. */
	expect_has(page, "<desc>A line a run, a colour a cell; the highest point is 4.</desc>");
	/* Two columns of time; order 2 is on top, 4 pages in its first half. */
	expect_has(page, "<path d=\"M24.0,30h496.0v12h-496.0zM24.0,4h248.0v12h-248.0z\" class=\"h1\"/>");
	expect_has(page, "40 operations in 1 runs");
	store_close(s);
	runset_free(&set);
}

static void set_text(char **at, const char *text)
{
	free(*at);
	*at = xstrdup(text);
}

/* A patched kernel: where it comes from, and what the set has of it. */
static void test_built_kernel(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = fixture_set();
	struct run *r;
	cleanup_free char *page = NULL;
	const char *at;

	need_gnuplot();
	set.kernel[0].provenance = xstrdup("built of linux-source-7.3, patch resample.patch");
	run_kernel_keep(&set.kernel[0], "resample.patch", "diff\n", 5);
	run_kernel_keep(&set.kernel[0], "config", "CONFIG_X=y\n", 11);
	assert_int_equal(store_begin_set(s, &set, NULL), 0);
	r = fixture_run(&set, 0, 0, VERDICT_OK);
	run_set_metric(r, "allocstall", 8);
	put_run(s, &set, r, true, "");
	page = page_of(s, set.id, "built");
	at = expect_behind(page, "<th scope=\"row\">Comes from</th><td>built of linux-source-7.3, patch resample.patch</td>");
	expect_behind(at, "<th scope=\"row\">Built of</th><td>resample.patch, config (in kernels/debian_7.3 of the run"
			  " set)</td>");
	expect_well_formed(page);
	runset_free(&set);
	store_close(s);
}

static void make_evil(struct runset *set)
{
	set_text(&set->scenario, "evil");
	set_text(&set->title, EVIL);
	set_text(&set->scenario_text, EVIL);
	set_text(&set->command, EVIL);
	set_text(&set->row_title, EVIL);
	set_text(&set->kernel[0].name, EVIL);
	set_text(&set->kernel[0].release, EVIL);
	set_text(&set->kernel[0].provenance, EVIL);
	set_text(&set->variant[0].label, EVIL "0");
	set_text(&set->variant[1].label, EVIL "4");
	set->metric = xcalloc(3, sizeof(*set->metric));
	set->metric[0] = xstrdup(EVIL);
	set->metric[1] = xstrdup("allocstall");
}

static void make_evil_run(struct run *r, double value)
{
	r->why = xstrdup(EVIL);
	r->detail = xstrdup(EVIL);
	r->host = xstrdup(EVIL);
	r->qemu_version = xstrdup(EVIL);
	r->qemu_command = xstrdup(EVIL);
	r->reproduce = xstrdup(EVIL);
	r->layout_json = xstrdup("[{\"step\":\"</td><b>\",\"asked\":{\"<i>\":\"<u>\",\"n\":1},\"got\":[1],"
				 "\"ok\":false,\"why\":\"<em>\",\"how\":7},3,null]");
	r->splats_json = xstrdup("[{\"class\":\"<x>\",\"title\":\"BUG: <evil>\",\"severity\":1},4]");
	r->workload_json = xstrdup("{\"histogram\":[[1e400,1,1]]");
	run_set_metric(r, EVIL, value);
	run_set_metric(r, "allocstall", value);
}

static void test_hostile_text(void **state)
{
	static const char console[] = "one\ntwo\n[1.0] BUG: <evil> here\x1b[2J\nCall Trace:\n</pre><script>\n";
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = fixture_set();
	cleanup_free char *page = NULL;

	need_gnuplot();
	make_evil(&set);
	assert_int_equal(store_begin_set(s, &set, NULL), 0);
	for (size_t i = 0; i < 6; i++) {
		struct run *r = fixture_run(&set, i % 2, 0, i == 5 ? VERDICT_SPLAT : VERDICT_OK);

		make_evil_run(r, (double)i * 1e9);
		put_run(s, &set, r, i == 0, console);
	}
	page = page_of(s, set.id, EVIL);
	expect_lacks(page, "<script");
	expect_lacks(page, "<evil>");
	expect_lacks(page, "\x1b");
	expect_has(page, "<h3>Run 0006: splat</h3>");
	expect_has(page, "<p>6 runs: 5 ok, 1 splat.</p>");
	/* The console around it, with what came before and behind. */
	expect_has(page, "<pre tabindex=\"0\">one\ntwo\n[1.0] BUG: &lt;evil&gt; here\\x1b[2J\nCall Trace:\n"
			 "&lt;/pre&gt;&lt;script&gt;\n</pre>");
	expect_has(page, "&lt;i&gt; &lt;u&gt;, n 1</td>");
	store_close(s);
	runset_free(&set);
}

/* No run at all, none ok, samples that are damaged: a page all the same, which says so. */
static void test_little_to_show(void **state)
{
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = begin_set(s);
	cleanup_free char *none = NULL, *lost = NULL, *damaged = NULL, *path = NULL;
	struct run *r;

	need_gnuplot();
	none = page_of(s, set.id, NULL);
	expect_has(none, "<p>0 runs.</p>");
	expect_has(none, "No run ended ok.");
	r = fixture_run(&set, 0, 0, VERDICT_GUEST_LOST);
	r->why = xstrdup("QEMU ended by signal 9");
	put_run(s, &set, r, false, "last words\n");
	lost = page_of(s, set.id, NULL);
	expect_has(lost, "<p>1 run: 1 guest-lost.</p>");
	expect_has(lost, "QEMU ended by signal 9");
	expect_has(lost, "<pre tabindex=\"0\">last words\n</pre>");
	put_run(s, &set, fixture_run(&set, 0, 0, VERDICT_OK), true, "");
	path = str_printf("%s/%s/0002/samples.zst", p->root, set.id);
	assert_int_equal(truncate(path, 40), 0);
	damaged = page_of(s, set.id, NULL);
	expect_has(damaged, "<li>0002: ");
	expect_has(damaged, "damaged: cut off</li>");
	store_close(s);
	runset_free(&set);
}

static void expect_typical(const double *v, size_t n, size_t want)
{
	struct runset set = fixture_set();
	struct report r = { .in = &(struct report_input){
				    .set = &set, .nsets = 1,
				    .metric = (const char *const[]){ "allocstall", NULL } } };

	for (size_t i = 0; i < n; i++) {
		struct run *run = fixture_run(&set, 0, 0, v[i] < 0 ? VERDICT_STALL : VERDICT_OK);

		run_set_metric(run, "allocstall", v[i]);
	}
	report_cells_make(&r);
	assert_int_equal(r.ncells, 1);
	assert_int_equal(r.cell[0].typical, want);
	report_cells_free(&r);
	runset_free(&set);
}

static void test_typical_run(void **state)
{
	expect_typical((const double[]){ 5 }, 1, 0);
	expect_typical((const double[]){ 9, 1, 5 }, 3, 2);
	expect_typical((const double[]){ 9, 1, 5, 7 }, 4, 2);   /* the lower of the middle two */
	expect_typical((const double[]){ 3, 3, 3 }, 3, 1);
	expect_typical((const double[]){ -1, -1, 4, 8, 6 }, 5, 4); /* what is not ok does not count */
	expect_typical((const double[]){ -1 }, 1, SIZE_MAX);
}

static void test_gnuplot_missing(void **state)
{
	cleanup_strbuf struct strbuf page = STRBUF_INIT;
	cleanup_error struct error err = ERROR_INIT;
	struct place *p = *state;
	struct store *s = open_store(p->root);
	struct runset set = begin_set(s);
	struct run *r = fixture_run(&set, 0, 0, VERDICT_OK);

	set.metric = xcalloc(2, sizeof(*set.metric));
	set.metric[0] = xstrdup("allocstall");
	run_set_metric(r, "allocstall", 8);
	assert_int_equal(report_write(&(struct report_input){ .store = s, .set = &set, .nsets = 1,
							      .gnuplot = "/nonexistent/gnuplot" },
				      &page, &err), -1);
	assert_int_equal(err.status, EXIT_NO_VERDICT);
	expect_has(err.text, "install gnuplot-nox");
	assert_int_equal(page.len, 0);
	store_close(s);
	runset_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_real_runs),
		STORE_TEST(test_one_cell_with_a_map), STORE_TEST(test_built_kernel),
		STORE_TEST(test_hostile_text),
		STORE_TEST(test_little_to_show),
		cmocka_unit_test(test_typical_run),
		STORE_TEST(test_gnuplot_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
