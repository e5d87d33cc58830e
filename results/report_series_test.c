// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "results/report_fixture.h"

static struct report_tracked tracked[3];

static struct report_reader reader_new(void)
{
	/* allocstall is the sum of a counter a zone; nr_free_pages is a level. */
	tracked[0] = (struct report_tracked){ "allocstall", counter_find("allocstall"), false };
	tracked[1] = (struct report_tracked){ "nr_free_pages", counter_find("nr_free_pages"), true };
	tracked[2] = (struct report_tracked){ "pgscan_direct", counter_find("pgscan_direct"), false };
	return (struct report_reader){ xcalloc(1, sizeof(struct report_series)), tracked, 3 };
}

static void feed(struct report_reader *r, double seconds, enum wire_phase phase, enum wire_edge edge,
		 const char *name, const char *text)
{
	struct wire_sample s = { .mono_ns = (uint64_t)(seconds * 1e9), .edge = edge, .phase = phase,
				 .data = (const uint8_t *)text, .len = (uint32_t)strlen(text) };

	snprintf(s.name, sizeof(s.name), "%s", name);
	assert_int_equal(report_series_take(r, &s), 0);
}

static void test_counters_over_time(void **state)
{
	struct report_reader r = reader_new();
	struct report_series *s = r.series;

	/* Before the layout's end nothing is drawn. */
	feed(&r, 1, PHASE_LAYOUT, EDGE_BEGIN, "vmstat", "allocstall_normal 1\n");
	feed(&r, 10, PHASE_LAYOUT, EDGE_END, "vmstat",
	     "nr_free_pages 500\nallocstall_dma 1\nallocstall_normal 2\n");
	feed(&r, 11, PHASE_WORKLOAD, EDGE_BEGIN, "vmstat",
	     "nr_free_pages 400\nallocstall_dma 1\nallocstall_normal 5\n");
	feed(&r, 12, PHASE_WORKLOAD, EDGE_NONE, "vmstat", "allocstall_dma 3\nallocstall_normal 5\n");
	feed(&r, 12, PHASE_WORKLOAD, EDGE_NONE, "vmstat", "allocstall_normal 9\n"); /* no time passed */
	feed(&r, 11, PHASE_WORKLOAD, EDGE_NONE, "vmstat", "allocstall_normal 9\n"); /* nor back */
	feed(&r, 13, PHASE_WORKLOAD, EDGE_NONE, "vmstat", "no number\n");
	feed(&r, 14, PHASE_WORKLOAD, EDGE_END, "vmstat", "nr_free_pages 300\nallocstall_normal 9\n");
	feed(&r, 15, PHASE_COLLECT, EDGE_END, "pressure/io", "some total=1\n");
	report_series_end(s);
	assert_int_equal(s->vmstat.n, 4);
	assert_true(s->begun && s->ended);
	assert_true(fabs(s->vmstat.t[0] + 1) < 1e-6 && fabs(s->vmstat.t[3] - 3) < 1e-6);
	assert_true(fabs(s->end_s - 3) < 1e-6 && fabs(s->last_s - 4) < 1e-6);
	assert_true(s->vmstat.line[0].v[0] == 3 && s->vmstat.line[0].v[1] == 6);
	assert_true(s->vmstat.line[0].v[2] == 8 && s->vmstat.line[0].v[3] == 9);
	assert_true(s->vmstat.line[1].level && s->vmstat.line[1].v[1] == 400);
	assert_true(isnan(s->vmstat.line[1].v[2]));
	assert_true(s->vmstat.line[0].any && !s->vmstat.line[2].any);
	report_series_free(s);
}

static void test_pressure_and_buddyinfo(void **state)
{
	struct report_reader r = reader_new();
	struct report_series *s = r.series;

	feed(&r, 5, PHASE_WORKLOAD, EDGE_BEGIN, "pressure/memory",
	     "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=10\n");
	feed(&r, 6, PHASE_WORKLOAD, EDGE_NONE, "pressure/memory",
	     "some avg10=0.00 avg60=0.00 avg300=0.00 total=501000\n");
	feed(&r, 5, PHASE_WORKLOAD, EDGE_BEGIN, "buddyinfo",
	     "Node 0, zone      DMA      1      0      2 \nNode 0, zone   Normal      5      3      0 \n");
	feed(&r, 6, PHASE_WORKLOAD, EDGE_NONE, "buddyinfo", "\x1b[2J\n");
	report_series_end(s);
	assert_int_equal(s->psi[0].n, 2);
	assert_int_equal(s->psi[1].n, 0);
	assert_true(s->psi[0].line[0].v[1] == 501000 && s->psi[0].line[1].v[0] == 10);
	assert_true(isnan(s->psi[0].line[1].v[1]));
	/* Pages, not blocks, of both zones: 1 + 5, 2 * 3, 4 * 2. */
	assert_int_equal(s->buddy.n, 1);
	assert_int_equal(s->buddy.orders, 3);
	assert_true(s->buddy.pages[0][0] == 6 && s->buddy.pages[0][1] == 6 && s->buddy.pages[0][2] == 8);
	report_series_free(s);
}

static void test_maps_before_and_after(void **state)
{
	struct report_reader r = reader_new();
	struct report_series *s = r.series;

	feed(&r, 1, PHASE_LAYOUT, EDGE_END, "pageblocks", "pageblocks 1 order 3 first 0 blocks 1\n0 8 0 0 0 0\n");
	feed(&r, 1, PHASE_LAYOUT, EDGE_END, "pageblocks", "pageblocks 1 order 3 first 1 blocks 1\n1 8 0 0 0 0\n");
	feed(&r, 2, PHASE_WORKLOAD, EDGE_END, "vmstat", "nr_free_pages 1\n");
	feed(&r, 3, PHASE_COLLECT, EDGE_END, "pageblocks", "pageblocks 1 order 3 first 0 blocks 2\n1 0 0 0 8 0\n");
	feed(&r, 3, PHASE_COLLECT, EDGE_END, "pageblocks", "garbage\n");
	assert_int_equal(s->before.n, 2);
	assert_int_equal(s->after.n, 1);
	assert_int_equal(s->after.block[0].pages[PAGES_UNMOVABLE], 8);
	report_series_free(s);
}

/* A day at 100 ms: what is kept is bounded, the ends and the order stay. */
static void test_very_long_run(void **state)
{
	struct report_reader r = reader_new();
	struct report_series *s = r.series;

	for (int i = 0; i < 40000; i++) {
		char text[64];

		snprintf(text, sizeof(text), "allocstall_normal %d\n", i);
		feed(&r, 1 + i * 0.1, PHASE_WORKLOAD, i ? EDGE_NONE : EDGE_BEGIN, "vmstat", text);
		feed(&r, 1 + i * 0.1, PHASE_WORKLOAD, EDGE_NONE, "buddyinfo", "Node 0, zone DMA 1 2 \n");
	}
	report_series_end(s);
	assert_in_range(s->vmstat.n, 8192, 16384);
	assert_in_range(s->buddy.n, 8192, 16384);
	assert_true(s->vmstat.t[0] == 0 && s->vmstat.line[0].v[0] == 0);
	assert_true(s->vmstat.line[0].v[s->vmstat.n - 1] > 39990);
	for (size_t i = 1; i < s->vmstat.n; i++)
		assert_true(s->vmstat.t[i] > s->vmstat.t[i - 1] &&
			    s->vmstat.line[0].v[i] > s->vmstat.line[0].v[i - 1]);
	report_series_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters_over_time),
		cmocka_unit_test(test_pressure_and_buddyinfo),
		cmocka_unit_test(test_maps_before_and_after),
		cmocka_unit_test(test_very_long_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
