// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "results/compare_cells.h"
#include "results/compare_parts.h"
#include "results/compare_text.h"
#include "results/run_fixture.h"
#include "results/util/cleanup.h"

#define SETS 3

struct box {
	struct runset set[SETS];
	struct frame frame[SETS];
	size_t n;
	struct compare_options opt;
	struct compare c;
	struct error err;
};

static const struct compare_options defaults = { .stats = STATS_OPTIONS_DEFAULT };

static void metrics_of(struct runset *s, const char *a, const char *b)
{
	s->metric = xcalloc(3, sizeof(*s->metric));
	s->metric[0] = xstrdup(a);
	s->metric[1] = b ? xstrdup(b) : NULL;
}

static struct box box_make(size_t n)
{
	struct box b = { .n = n, .opt = defaults };

	for (size_t i = 0; i < n; i++) {
		b.set[i] = fixture_set();
		b.set[i].id = str_printf("set%zu", i);
		b.set[i].runs = 0; /* none was asked for, so that none is missing */
		metrics_of(&b.set[i], "allocstall", "time");
		b.set[i].scenario_text = xstrdup("name: alias-tmpfs\nvm: {memory: 8G}\n");
	}
	return b;
}

/* n ok runs, allocstall = from, from + step ...; time the same in tenths. */
static void add_runs(struct runset *s, size_t variant, size_t kernel, size_t n, double from, double step)
{
	for (size_t i = 0; i < n; i++) {
		struct run *r = fixture_run(s, variant, kernel, VERDICT_OK);

		run_set_metric(r, "allocstall", from + step * (double)i);
		run_set_metric(r, "time", 5 + (double)i / 10);
	}
}

static int box_compare(struct box *b)
{
	for (size_t i = 0; i < b->n; i++)
		frame_from_set(&b->set[i], &b->frame[i]);
	return compare_make(b->frame, b->n, &b->opt, &b->c, &b->err);
}

static void box_free(struct box *b)
{
	compare_free(&b->c);
	for (size_t i = 0; i < b->n; i++)
		frame_free(&b->frame[i]);
	error_clear(&b->err);
}

static void assert_has(const char *text, const char *part)
{
	if (!text || !strstr(text, part))
		fail_msg("\"%s\" is not in: %s", part, text ? text : "(nothing)");
}

static void one_set_of_two_variants(void **state)
{
	struct box b = box_make(1);
	const struct stats_result *r;

	add_runs(&b.set[0], 0, 0, 5, 0, 1);
	add_runs(&b.set[0], 1, 0, 5, 100, 10);
	assert_int_equal(box_compare(&b), 0);
	assert_string_equal(b.c.by, "variant");
	assert_int_equal(b.c.ncols, 2);
	assert_string_equal(b.c.col[0], "pfn % 8 == 0");
	assert_string_equal(b.c.col[1], "pfn % 8 == 4");
	assert_int_equal(b.c.nsections, 1);
	assert_string_equal(b.c.section[0].label, "");
	assert_string_equal(b.c.context, "kernel debian:7.3; 8G, 2 CPUs, tcg");
	assert_int_equal(b.c.tests, 2);
	r = compare_result(&b.c, 0, 0, 1);
	/* 120 - 2; 2 / C(10, 5) = 0.0079, doubled by Holm: time is alike in both. */
	assert_true(r->shift.estimate == 118);
	assert_true(fabs(r->rank.p - 2.0 / 252) < 1e-12);
	assert_true(fabs(r->p_adjusted - 4.0 / 252) < 1e-12);
	assert_int_equal(r->outcome, STATS_WORSE);
	assert_null(b.c.warning[0]);
	box_free(&b);
}

static void kernels_go_before_variants(void **state)
{
	struct box b = box_make(1);

	fixture_kernel(&b.set[0], "debian:6.12", "6.12");
	for (size_t k = 0; k < 2; k++)
		for (size_t v = 0; v < 2; v++)
			add_runs(&b.set[0], v, k, 4, 10 * (double)(v + 1), 1);
	b.opt.baseline = "6.12";
	assert_int_equal(box_compare(&b), 0);
	assert_string_equal(b.c.by, "kernel");
	assert_int_equal(b.c.baseline, 1);
	assert_int_equal(b.c.nsections, 2);
	assert_string_equal(b.c.section[0].label, "pfn % 8 == 0");
	assert_string_equal(b.c.section[1].label, "pfn % 8 == 4");
	assert_true(compare_value(&b.c, 1, 0, 0)->summary.min == 20);
	assert_int_equal(b.c.tests, 4);
	assert_string_equal(b.c.context, "8G, 2 CPUs, tcg");
	box_free(&b);
}

/* The post's third row: the patched kernel on one layout only, and built of what the set keeps. */
static struct box box_of_a_patch(void)
{
	struct box b = box_make(1);
	struct runset *s = &b.set[0];

	fixture_kernel(s, "7.3-resample", "7.3.4");
	s->runs = 5;
	s->left_out = xcalloc(4, sizeof(*s->left_out));
	s->left_out[2] = true;
	s->kernel[1].folder = xstrdup("7.3-resample");
	s->kernel[1].provenance = xstrdup("built of linux-source-7.3 7.3.4-1, patch resample.patch");
	run_kernel_keep(&s->kernel[1], "resample.patch", NULL, 0);
	run_kernel_keep(&s->kernel[1], "config", NULL, 0);
	add_runs(s, 0, 0, 5, 0, 1);
	add_runs(s, 1, 0, 5, 100, 10);
	add_runs(s, 1, 1, 5, 0, 1);
	return b;
}

static void rows_of_the_post(void **state)
{
	struct box b = box_of_a_patch();
	cleanup_free char *text = NULL;

	assert_int_equal(box_compare(&b), 0);
	assert_string_equal(b.c.by, "kernel");
	assert_null(b.c.warning[0]); /* what is left out is not unfinished */
	text = compare_stalls(&b.c);
	assert_string_equal(text,
			    "    alias-tmpfs\n"
			    "    8G, 2 CPUs, tcg\n"
			    "\n"
			    "                                allocstall\n"
			    "    free pages at               median    max      time, s\n"
			    "    pfn % 8 == 0                     2      4      5.0-5.4\n"
			    "    pfn % 8 == 4                   120    140      5.0-5.4\n"
			    "    pfn % 8 == 4, 7.3-resample       2      4      5.0-5.4\n"
			    "\n"
			    "    rows without a kernel: debian:7.3\n"
			    "\n"
			    "    5 runs each\n"
			    "    7.3-resample: built of linux-source-7.3 7.3.4-1, patch resample.patch;\n"
			    "      kernels/7.3-resample: resample.patch, config\n");
	box_free(&b);
}

/* Kernel and variant together are the columns: the patched one against the layout that never stalled. */
static void cells_can_be_the_columns(void **state)
{
	struct box b = box_of_a_patch();
	const struct stats_result *r;

	b.opt.by = "cell";
	assert_int_equal(box_compare(&b), 0);
	assert_int_equal(b.c.nsections, 1);
	assert_int_equal(b.c.ncols, 3);
	assert_string_equal(b.c.col[0], "pfn % 8 == 0, debian:7.3");
	assert_string_equal(b.c.col[1], "pfn % 8 == 4, debian:7.3");
	assert_string_equal(b.c.col[2], "pfn % 8 == 4, 7.3-resample");
	r = compare_result(&b.c, 0, 0, 1);
	assert_true(r->shift.estimate == 118);
	assert_int_equal(r->outcome, STATS_WORSE);
	r = compare_result(&b.c, 0, 0, 2);
	assert_true(r->shift.estimate == 0);
	box_free(&b);
}

static void an_axis_of_the_scenario_can_be_the_columns(void **state)
{
	struct box b = box_make(1);

	fixture_kernel(&b.set[0], "debian:6.12", "6.12");
	for (size_t k = 0; k < 2; k++)
		for (size_t v = 0; v < 2; v++)
			add_runs(&b.set[0], v, k, 3, 1, 1);
	b.opt.by = "residue";
	assert_int_equal(box_compare(&b), 0);
	assert_string_equal(b.c.col[1], "pfn % 8 == 4");
	assert_int_equal(b.c.nsections, 2);
	assert_string_equal(b.c.section[1].label, "debian:6.12");
	box_free(&b);
}

static void two_sets_of_one_kernel(void **state)
{
	struct box b = box_make(2);

	for (size_t i = 0; i < 2; i++)
		for (size_t v = 0; v < 2; v++)
			add_runs(&b.set[i], v, 0, 3, 1 + (double)i, 1);
	assert_int_equal(box_compare(&b), 0);
	assert_string_equal(b.c.by, "runset");
	assert_string_equal(b.c.col[0], "set0");
	assert_int_equal(b.c.nsections, 2);
	box_free(&b);
}

static void runs_of_two_sets_can_stand_together(void **state)
{
	struct box b = box_make(2);

	for (size_t i = 0; i < 2; i++)
		for (size_t v = 0; v < 2; v++)
			add_runs(&b.set[i], v, 0, 3, 1 + (double)i, 1);
	b.opt.by = "variant";
	assert_int_equal(box_compare(&b), 0);
	assert_int_equal(b.c.section[0].cell[0].nruns, 6);
	assert_has(b.c.warning[0], "runs of 2 run sets stand together");
	box_free(&b);
}

/* One name, two images: not one kernel. */
static void kernels_are_told_apart_by_their_image(void **state)
{
	struct box b = box_make(2);

	for (size_t i = 0; i < 2; i++) {
		b.set[i].kernel[0].image_hash = xstrdup(i ? "sha256:bb" : "sha256:aa");
		b.set[i].kernel[0].build_id = xstrdup(i ? "0123456789abcdef" : "fedcba9876543210");
		add_runs(&b.set[i], 0, 0, 3, 1, 1);
	}
	assert_int_equal(box_compare(&b), 0);
	assert_string_equal(b.c.by, "kernel");
	assert_string_equal(b.c.col[0], "debian:7.3 (fedcba9876)");
	assert_string_equal(b.c.col[1], "debian:7.3 (0123456789)");
	box_free(&b);
}

static void mismatch_is_refused_unless_forced(void **state)
{
	for (int forced = 0; forced < 2; forced++) {
		struct box b = box_make(2);

		b.set[1].variant[0].memory_bytes = 4294967296;
		for (size_t i = 0; i < 2; i++)
			add_runs(&b.set[i], 0, 0, 3, 1, 1);
		free(b.set[1].run[0].accel);
		b.set[1].run[0].accel = xstrdup("kvm");
		b.opt.force = forced;
		if (forced) {
			assert_int_equal(box_compare(&b), 0);
			assert_has(b.c.warning[0], "forced, the runs differ in memory: 8G (set0), 4G (set1)");
			assert_has(b.c.warning[1], "accel: tcg (set0), kvm (set1)");
		} else {
			assert_int_equal(box_compare(&b), -1);
			assert_int_equal(b.err.status, EXIT_USAGE);
			assert_has(b.err.text, "memory: 8G (set0), 4G (set1); accel: tcg (set0), kvm (set1)");
			assert_has(b.err.text, "--force");
		}
		box_free(&b);
	}
}

static void a_difference_of_the_scenarios_can_be_the_columns(void **state)
{
	for (int by = 0; by < 2; by++) {
		struct box b = box_make(2);

		for (size_t i = 0; i < 2; i++) {
			free(b.set[i].scenario_text);
			b.set[i].scenario_text = str_printf(
				"name: alias-tmpfs\ntitle: %zu\nruns: %zu\nsysctl: {workload: {vm.defrag_mode: %zu}}\n",
				i, i, i);
			add_runs(&b.set[i], 0, 0, 3, 1, 1);
		}
		b.opt.by = by ? "defrag_mode" : NULL;
		if (by) {
			assert_int_equal(box_compare(&b), 0);
			assert_string_equal(b.c.by, "sysctl.workload.vm.defrag_mode");
			assert_string_equal(b.c.col[1], "defrag_mode=1");
			assert_null(b.c.warning[0]);
		} else {
			assert_int_equal(box_compare(&b), -1);
			assert_has(b.err.text, "sysctl.workload.vm.defrag_mode: 0 (set0), 1 (set1)");
			assert_has(b.err.text, "--by sysctl.workload.vm.defrag_mode");
		}
		box_free(&b);
	}
}

static void what_cannot_be_compared_is_said(void **state)
{
	struct {
		const char *by, *baseline, *says;
	} bad[] = {
		{ "residu", NULL, "did you mean residue?" },
		{ "zzzzzzzz", NULL, "they have kernel, residue" },
		{ "kernel", NULL, "the same kernel (debian:7.3)" },
		{ NULL, "nothing", "--baseline nothing: no such column" },
		{ NULL, "pfn", "both pfn % 8 == 0 and pfn % 8 == 4" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct box b = box_make(1);

		add_runs(&b.set[0], 0, 0, 3, 1, 1);
		add_runs(&b.set[0], 1, 0, 3, 1, 1);
		b.opt.by = bad[i].by;
		b.opt.baseline = bad[i].baseline;
		assert_int_equal(box_compare(&b), -1);
		assert_int_equal(b.err.status, EXIT_USAGE);
		assert_has(b.err.text, bad[i].says);
		box_free(&b);
	}
}

static void one_cell_is_nothing_to_compare(void **state)
{
	struct box b = box_make(1);

	add_runs(&b.set[0], 0, 0, 3, 1, 1);
	assert_int_equal(box_compare(&b), -1);
	assert_int_equal(b.err.status, EXIT_USAGE);
	assert_has(b.err.text, "nothing to compare");
	box_free(&b);
}

/* A table of values has something to say of it all the same. */
static void one_cell_alone(void **state)
{
	static const char *const by[] = { NULL, "kernel", "variant" };

	for (size_t i = 0; i < ARRAY_SIZE(by); i++) {
		struct box b = box_make(1);

		add_runs(&b.set[0], 0, 0, 3, 1, 1);
		b.opt.alone = true;
		b.opt.by = by[i];
		assert_int_equal(box_compare(&b), 0);
		assert_int_equal(b.c.ncols, 1);
		assert_int_equal(b.c.nsections, 1);
		assert_int_equal(b.c.tests, 0);
		assert_string_equal(b.c.by, by[i] ? by[i] : "kernel");
		box_free(&b);
	}
}

static void no_ok_run_is_no_verdict(void **state)
{
	struct box b = box_make(1);

	fixture_run(&b.set[0], 0, 0, VERDICT_SPLAT);
	fixture_run(&b.set[0], 1, 0, VERDICT_INFRA);
	assert_int_equal(box_compare(&b), -1);
	assert_int_equal(b.err.status, EXIT_NO_VERDICT);
	assert_has(b.err.text, "none of 2 runs is ok");
	box_free(&b);
}

static void without_runs_too(void **state)
{
	struct box b = box_make(1);

	assert_int_equal(box_compare(&b), -1);
	assert_int_equal(b.err.status, EXIT_NO_VERDICT);
	box_free(&b);
}

/* Those that are not ok are counted, and in no number. */
static void verdicts_are_counted(void **state)
{
	struct box b = box_make(1);
	char **notes;

	add_runs(&b.set[0], 0, 0, 3, 1, 1);
	add_runs(&b.set[0], 1, 0, 3, 1, 1);
	run_set_metric(fixture_run(&b.set[0], 1, 0, VERDICT_SPLAT), "allocstall", 1e6);
	assert_int_equal(box_compare(&b), 0);
	assert_int_equal(b.c.section[0].cell[1].nruns, 4);
	assert_int_equal(b.c.section[0].cell[1].verdict[VERDICT_SPLAT], 1);
	assert_true(compare_value(&b.c, 0, 0, 1)->summary.max == 3);
	notes = compare_notes(&b.c);
	assert_string_equal(notes[0], "3 runs each");
	assert_string_equal(notes[1], "not ok, and in no number: 1 of 4 (pfn % 8 == 4): 1 splat");
	assert_null(notes[2]);
	compare_notes_free(notes);
	box_free(&b);
}

/* Absent in a run is not 0 in it. */
static void absent_metrics(void **state)
{
	static const char *const asked[] = { "allocstall", "pgscan_direct", NULL };
	static const char *const wrong[] = { "allocstal", NULL };
	struct box b = box_make(1);
	cleanup_free char *text = NULL;
	char **notes;

	add_runs(&b.set[0], 0, 0, 3, 1, 1);
	add_runs(&b.set[0], 1, 0, 3, 1, 1);
	fixture_run(&b.set[0], 1, 0, VERDICT_OK);
	b.opt.metric = asked;
	assert_int_equal(box_compare(&b), 0);
	assert_int_equal(compare_value(&b.c, 0, 0, 1)->n, 3);
	assert_int_equal(compare_value(&b.c, 0, 1, 0)->n, 0);
	assert_true(isnan(compare_value(&b.c, 0, 1, 0)->summary.median));
	assert_string_equal(b.c.warning[0], "no run has the metric pgscan_direct");
	notes = compare_notes(&b.c);
	assert_string_equal(notes[0], "3 to 4 runs each");
	assert_string_equal(notes[1], "allocstall: 3 of 4 runs have it (pfn % 8 == 4)");
	assert_string_equal(notes[2], "warning: no run has the metric pgscan_direct");
	assert_null(notes[3]);
	compare_notes_free(notes);
	text = compare_lkml(&b.c);
	assert_has(text, "\npgscan_direct                     -          -      -             -\n");
	box_free(&b);

	b = box_make(1);
	add_runs(&b.set[0], 0, 0, 3, 1, 1);
	b.opt.metric = wrong;
	add_runs(&b.set[0], 1, 0, 3, 1, 1);
	assert_int_equal(box_compare(&b), -1);
	assert_has(b.err.text, "no such metric: allocstal; did you mean allocstall?");
	box_free(&b);
}

static void an_unfinished_set_is_said_to_be(void **state)
{
	struct box b = box_make(1);

	add_runs(&b.set[0], 0, 0, 3, 1, 1);
	add_runs(&b.set[0], 1, 0, 2, 1, 1);
	b.set[0].runs = 3;
	assert_int_equal(box_compare(&b), 0);
	assert_string_equal(b.c.warning[0], "unfinished: 5 of the 6 runs of set0 were made");
	box_free(&b);
}

/* Mine and a colleague's, of the same two kernels: the sets are the columns. */
static void sets_of_the_same_kernels_are_not_pooled(void **state)
{
	struct box b = box_make(2);

	for (size_t i = 0; i < 2; i++) {
		fixture_kernel(&b.set[i], "debian:6.12", "6.12");
		for (size_t k = 0; k < 2; k++)
			add_runs(&b.set[i], 0, k, 3, 1, 1);
	}
	assert_int_equal(box_compare(&b), 0);
	assert_string_equal(b.c.by, "runset");
	assert_int_equal(b.c.nsections, 2);
	assert_string_equal(b.c.section[0].label, "debian:7.3");
	box_free(&b);
}

static void quiet_metrics_cost_nothing(void **state)
{
	static const char *const quiet[] = { "time", "boot", NULL }, *const shown[] = { "allocstall", NULL };
	struct box b = box_make(1);

	add_runs(&b.set[0], 0, 0, 3, 1, 1);
	add_runs(&b.set[0], 1, 0, 3, 1, 1);
	b.opt.metric = shown;
	b.opt.quiet = quiet;
	assert_int_equal(box_compare(&b), 0);
	assert_int_equal(b.c.nmetrics, 2);
	assert_true(b.c.metric[1].quiet);
	assert_int_equal(b.c.tests, 1);
	assert_true(compare_value(&b.c, 0, 1, 1)->summary.median == 5.1);
	box_free(&b);
}

/* Forks: five runs of one layout are one layout. */
static void forks_are_grouped(void **state)
{
	struct box b = box_make(1);
	char **remarks;

	add_runs(&b.set[0], 0, 0, 5, 0, 1);
	add_runs(&b.set[0], 1, 0, 5, 100, 1);
	for (size_t i = 0; i < b.set[0].nruns; i++)
		b.set[0].run[i].forked_from = xstrdup(i < 5 ? "L1" : "L2");
	assert_int_equal(box_compare(&b), 0);
	assert_true(b.c.section[0].cell[0].grouped);
	assert_true(compare_result(&b.c, 0, 0, 1)->grouped);
	assert_false(compare_result(&b.c, 0, 0, 1)->beyond);
	assert_int_equal(compare_result(&b.c, 0, 0, 1)->outcome, STATS_INCONCLUSIVE);
	/* 2 / C(2n, n) of two metrics: 0.057 with four layouts a side, 0.016 with five: four more. */
	assert_int_equal(compare_result(&b.c, 0, 0, 1)->more, 4);
	assert_int_equal(b.c.tests, 0);
	remarks = compare_remarks(&b.c);
	assert_has(remarks[1], "one layout or seed on a side");
	assert_has(remarks[2], "allocstall +4 layouts");
	compare_remarks_free(remarks);
	box_free(&b);
}

/* Two deterministic runs of one seed are the same run twice. */
static void deterministic_twins_are_one_sample(void **state)
{
	struct box b = box_make(1);

	add_runs(&b.set[0], 0, 0, 6, 0, 1);
	add_runs(&b.set[0], 1, 0, 6, 0, 1);
	for (size_t i = 0; i < b.set[0].nruns; i++) {
		free(b.set[0].run[i].accel);
		b.set[0].run[i].accel = xstrdup("tcg-icount");
		b.set[0].run[i].seed = i / 2;
	}
	assert_int_equal(box_compare(&b), 0);
	assert_int_equal(compare_result(&b.c, 0, 0, 1)->base_units, 3);
	assert_true(compare_result(&b.c, 0, 0, 1)->beyond);
	box_free(&b);
}

static void lkml_fits_and_says_all(void **state)
{
	struct box b = box_make(1);
	cleanup_free char *text = NULL;

	add_runs(&b.set[0], 0, 0, 5, 0, 1);
	add_runs(&b.set[0], 1, 0, 5, 100, 10);
	assert_int_equal(box_compare(&b), 0);
	text = compare_lkml(&b.c);
	assert_string_equal(
		text,
		"alias-tmpfs: kernel debian:7.3; 8G, 2 CPUs, tcg\n"
		"\n"
		"median (min..max)            pfn % 8 == 0    pfn % 8 == 4\n"
		"allocstall                       2 (0..4)  120 (100..140)\n"
		"time, s                      5.2 (5..5.4)    5.2 (5..5.4)\n"
		"\n"
		"against pfn % 8 == 0         change        95 % CI      p\n"
		"allocstall                     +118    +98 .. +138  0.016  worse\n"
		"time                           0.0%  -5.8 .. +5.8%  1.000   same\n"
		"\n"
		"change: Hodges-Lehmann, with 95 % confidence; p: Mann-Whitney (exact), Holm\n"
		"  over 2 tests; same: the 90 % interval is within 5 %\n"
		"\n"
		"5 runs each\n");
	box_free(&b);
}

static void hostile_labels_stay_on_their_line(void **state)
{
	struct box b = box_make(1);
	cleanup_free char *text = NULL;

	free(b.set[0].variant[1].label);
	b.set[0].variant[1].label = xstrdup("\x1b[31mred\n<script>,\"x\"");
	add_runs(&b.set[0], 0, 0, 3, 0, 1);
	add_runs(&b.set[0], 1, 0, 3, 0, 1);
	assert_int_equal(box_compare(&b), 0);
	text = compare_lkml(&b.c);
	assert_null(strchr(text, '\x1b'));
	assert_has(text, "\\x1b[31mred\\x0a");
	for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1)
		assert_true(end - line <= 78);
	box_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_set_of_two_variants),
		cmocka_unit_test(kernels_go_before_variants),
		cmocka_unit_test(rows_of_the_post),
		cmocka_unit_test(cells_can_be_the_columns),
		cmocka_unit_test(an_axis_of_the_scenario_can_be_the_columns),
		cmocka_unit_test(two_sets_of_one_kernel),
		cmocka_unit_test(runs_of_two_sets_can_stand_together),
		cmocka_unit_test(kernels_are_told_apart_by_their_image),
		cmocka_unit_test(mismatch_is_refused_unless_forced),
		cmocka_unit_test(a_difference_of_the_scenarios_can_be_the_columns),
		cmocka_unit_test(what_cannot_be_compared_is_said),
		cmocka_unit_test(one_cell_is_nothing_to_compare),
		cmocka_unit_test(one_cell_alone),
		cmocka_unit_test(no_ok_run_is_no_verdict),
		cmocka_unit_test(without_runs_too),
		cmocka_unit_test(verdicts_are_counted),
		cmocka_unit_test(absent_metrics),
		cmocka_unit_test(an_unfinished_set_is_said_to_be),
		cmocka_unit_test(sets_of_the_same_kernels_are_not_pooled),
		cmocka_unit_test(quiet_metrics_cost_nothing),
		cmocka_unit_test(forks_are_grouped),
		cmocka_unit_test(deterministic_twins_are_one_sample),
		cmocka_unit_test(lkml_fits_and_says_all),
		cmocka_unit_test(hostile_labels_stay_on_their_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
