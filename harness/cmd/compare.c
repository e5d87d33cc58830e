// SPDX-License-Identifier: GPL-2.0-only
/* mmrig compare: run sets laid against each other, as a table. */
#include <stdio.h>
#include <string.h>

#include "harness/cmd/opt.h"
#include "results/compare_parts.h"
#include "results/compare_text.h"
#include "results/run_text.h"
#include "results/util/cleanup.h"

struct compare_args {
	const char *format, *by, *baseline;
	struct opt_list metrics;
	uint64_t margin;
	bool all, force, json, exit_code;
};

static const struct opt compare_opts[] = {
	OPT_STRING("format", struct compare_args, format, "FORM",
		   "the table's form: lkml (default), mmtests, markdown, csv, json, stalls, highalloc, defrag, "
		   "thpscale, kselftest, buddy"),
	OPT_STRING("by", struct compare_args, by, "AXIS",
		   "what the columns are: kernel, runset, variant, cell (kernel and variant), a vary axis, or a key of the scenario"),
	OPT_STRING("baseline", struct compare_args, baseline, "COLUMN",
		   "the column that the others are compared with, or a part of its name (default: the first)"),
	OPT_LIST("metric", struct compare_args, metrics, "NAME",
		 "a metric to show (repeatable; default: those of the scenario)"),
	OPT_FLAG("all", struct compare_args, all, "every metric that was recorded"),
	OPT_U64("margin", struct compare_args, margin, "PERCENT", 0, 100,
		"differences within this share of the baseline count as the same (default: 5)"),
	OPT_FLAG("force", struct compare_args, force,
		 "compare even runs that differ in more than the columns; the table says in what"),
	OPT_FLAG("exit-code", struct compare_args, exit_code,
		 "exit status 1 when a metric is worse or a run of a column other than the baseline splat,"
		 " stalled or failed; else 3 when some are inconclusive"),
	OPT_FLAG("json", struct compare_args, json, "the same as --format json"),
	OPT_END,
};

static int find_format(const struct compare_args *a, const struct compare_format **format,
		       struct error *err)
{
	const char *names[32], *wanted = a->json ? "json" : a->format ? a->format : "lkml", *near;
	cleanup_strbuf struct strbuf all = STRBUF_INIT;
	size_t n = 0;

	if (a->json && a->format && strcmp(a->format, "json") != 0)
		return error_set(err, EXIT_USAGE, "--json and --format %s: use one of them", a->format);
	for (size_t i = 0; i < compare_format_count && n < ARRAY_SIZE(names); i++) {
		*format = &compare_formats[i];
		if (strcmp((*format)->name, wanted) == 0)
			return 0;
		names[n++] = (*format)->name;
		strbuf_addf(&all, "%s%s", i ? ", " : "", (*format)->name);
	}
	error_set(err, EXIT_USAGE, "--format %s: no such form", wanted);
	near = str_nearest(wanted, names, n);
	return near ? error_hint(err, "did you mean %s?", near) : error_hint(err, "there are %s", all.data);
}

static int load_frames(struct store *s, char *const *which, size_t n, struct frame *frame, size_t *loaded,
		       struct error *err)
{
	for (size_t i = 0; i < n; i++) {
		if (store_load_frame(s, which[i], &frame[i], err) < 0)
			return -1;
		++*loaded;
		for (size_t k = 0; k < i; k++)
			if (strcmp(frame[k].set.id, frame[i].set.id) == 0)
				return error_set(err, EXIT_USAGE, "%s and %s are one run set: %s", which[k],
						 which[i], frame[i].set.id);
	}
	return 0;
}

/* A run of a column other than the baseline ended with a verdict against the kernel. */
static bool any_against(const struct compare *c)
{
	for (size_t s = 0; s < c->nsections; s++)
		for (size_t k = 0; k < c->ncols; k++)
			for (int v = 0; v < VERDICT_COUNT; v++)
				if (k != c->baseline && c->section[s].cell[k].verdict[v] &&
				    verdict_exit((enum verdict)v) == EXIT_AGAINST)
					return true;
	return false;
}

/* What no run has says nothing either way. */
static int status_of(const struct compare *c)
{
	bool unknown = false;

	if (any_against(c))
		return EXIT_AGAINST;
	for (size_t s = 0; s < c->nsections; s++)
		for (size_t i = 0; i < c->nmetrics * c->ncols; i++) {
			const struct stats_result *r = compare_test(c, s, i / c->ncols, i % c->ncols);

			if (!r || compare_absent(r))
				continue;
			if (r->outcome == STATS_WORSE)
				return EXIT_AGAINST;
			unknown |= r->outcome == STATS_INCONCLUSIVE;
		}
	return unknown ? EXIT_INCONCLUSIVE : EXIT_GOOD;
}

static int print_table(const struct compare_format *format, const struct compare *c, struct store *s,
		       struct error *err)
{
	cleanup_free char *text = NULL;

	if (compare_text(format, c, s, &text, err) < 0)
		return -1;
	fputs(text, stdout);
	return 0;
}

static int compare_sets(const struct compare_args *a, const struct compare_format *format, struct store *s,
			char *const *which, size_t n, struct error *err)
{
	struct compare_options opt = {
		.by = a->by, .baseline = a->baseline, .all_metrics = a->all, .force = a->force,
		.alone = format->alone && !a->exit_code,
		.metric = a->metrics.n ? a->metrics.item : NULL,
		.quiet = format->metrics ? format->metrics() : NULL,
		.tested = format->tested ? format->tested() : NULL,
		.stats = STATS_OPTIONS_DEFAULT,
	};
	struct frame *frame = xcalloc(n, sizeof(*frame));
	struct compare c;
	size_t loaded = 0;
	int ret = load_frames(s, which, n, frame, &loaded, err);

	opt.stats.margin_relative = (double)a->margin / 100;
	if (ret == 0)
		ret = compare_make(frame, n, &opt, &c, err);
	if (ret == 0) {
		ret = print_table(format, &c, s, err);
		if (ret == 0 && a->exit_code)
			ret = status_of(&c);
		compare_free(&c);
	}
	for (size_t i = 0; i < loaded; i++)
		frame_free(&frame[i]);
	free(frame);
	return ret;
}

static int compare_run(const struct command *self, int argc, char **argv, struct error *err)
{
	struct compare_args args = { .margin = 5 };
	const struct compare_format *format = NULL;
	struct store *store;
	int npos, ret = opt_parse(self, argc, argv, &args, &npos, 1, -1, err);

	if (ret == 0)
		ret = find_format(&args, &format, err);
	if (ret == 0)
		ret = store_open(NULL, false, &store, err);
	if (ret == 0) {
		ret = compare_sets(&args, format, store, argv, (size_t)npos, err);
		store_close(store);
	}
	opt_list_free(&args.metrics);
	return ret;
}

const struct command command_compare = {
	.name = "compare",
	.args = "RUNSET...",
	.summary = "compare kernels, variants or run sets, with statistics",
	.text = "RUNSET is an id, the beginning or end of one, a path to its folder (with a slash in it), or"
		" \"last\". One axis makes the columns: the kernels where there are several, else the run"
		" sets, else the variants; every other point where the runs differ gets a table of its own. With"
		" --by cell every variant of every kernel is a column of one table. What kernels were built of,"
		" patches and all, is said below. Of one column there are values, in the forms that show them: all but lkml and"
		" markdown.\n\n"
		"A change is the Hodges-Lehmann shift with its confidence interval; p is an exact Mann-Whitney"
		" test, corrected (Holm) for all tests of the table. \"better\" and \"worse\" need the corrected"
		" test, \"same\" an interval within the margin; all else is \"inconclusive\", and the number of"
		" runs that would decide it is printed. Forks of one layout, and repetitions of one seed of"
		" deterministic runs, count as one sample.\n\n"
		"Runs that differ in memory, CPUs, accelerator, QEMU or scenario are refused: make the difference"
		" the columns (--by), or use --force.",
	.opts = compare_opts,
	.run = compare_run,
};
