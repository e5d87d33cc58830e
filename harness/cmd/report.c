// SPDX-License-Identifier: GPL-2.0-only
/* mmrig report: stored runs as one page of HTML. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cmd/opt.h"
#include "harness/cmd/output.h"
#include "results/report.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

struct report_args {
	const char *output, *by, *baseline, *title;
	struct opt_list metric;
	bool force;
};

static const struct opt report_opts[] = {
	OPT_STRING_LETTER('o', "output", struct report_args, output, "FILE", "where the page goes; - is the standard output"),
	OPT_STRING("by", struct report_args, by, "AXIS",
		   "what the columns are: kernel, variant, runset, an axis, or a key of the scenario"),
	OPT_STRING("baseline", struct report_args, baseline, "K", "the column that the others are compared with"),
	OPT_LIST("metric", struct report_args, metric, "NAME", "show this metric instead of the scenario's"),
	OPT_STRING("title", struct report_args, title, "TEXT", "heading of the page"),
	OPT_FLAG("force", struct report_args, force, "compare although what should be equal is not"),
	OPT_END,
};

/* The sets twice: whole, and as the columns that comparisons are made of. */
struct loaded {
	struct store *store;
	struct runset *set;
	struct frame *frame;
	size_t n;
	struct compare compare;
	bool compared;
};

static void loaded_free(struct loaded *l)
{
	if (l->compared)
		compare_free(&l->compare);
	for (size_t i = 0; i < l->n; i++) {
		frame_free(&l->frame[i]);
		runset_free(&l->set[i]);
	}
	free(l->frame);
	free(l->set);
	store_close(l->store);
}

static int load(struct loaded *l, char *const *name, size_t n, struct error *err)
{
	if (store_open(NULL, false, &l->store, err) < 0)
		return -1;
	l->set = xcalloc(n, sizeof(*l->set));
	l->frame = xcalloc(n, sizeof(*l->frame));
	for (size_t i = 0; i < n; i++) {
		if (store_load_set(l->store, name[i], &l->set[i], err) < 0)
			return -1;
		if (store_load_frame(l->store, name[i], &l->frame[i], err) < 0) {
			runset_free(&l->set[i]);
			return -1;
		}
		l->n++;
		for (size_t k = 0; k < i; k++)
			if (strcmp(l->set[k].id, l->set[i].id) == 0)
				return error_set(err, EXIT_USAGE, "%s and %s are one run set: %s", name[k],
						 name[i], l->set[i].id);
	}
	return 0;
}

/* Several sets, or one whose runs are not all of one kernel and variant. */
static bool has_cells(const struct loaded *l)
{
	const struct runset *set = &l->set[0];

	for (size_t i = 1; l->n == 1 && i < set->nruns; i++)
		if (set->run[i].kernel != set->run[0].kernel || set->run[i].variant != set->run[0].variant)
			return true;
	return l->n > 1;
}

/* why: set where the page is made without a comparison. */
static int compare(struct loaded *l, const struct report_args *a, struct error *why, struct error *err)
{
	const struct compare_options opt = {
		.by = a->by,
		.baseline = a->baseline,
		.metric = a->metric.n ? a->metric.item : NULL,
		.force = a->force,
		.stats = STATS_OPTIONS_DEFAULT,
	};

	if (!has_cells(l) && !a->by && !a->baseline)
		return 0;
	l->compared = compare_make(l->frame, l->n, &opt, &l->compare, why) == 0;
	/* Where no run is ok the page has the more to say, and of a single set it still has a lot. */
	if (l->compared || why->status == EXIT_NO_VERDICT ||
	    (l->n == 1 && !a->by && !a->baseline && !a->metric.n))
		return 0;
	error_move(err, why);
	return -1;
}

static int put_page(const char *path, const struct strbuf *page, struct error *err)
{
	if (strcmp(path, "-") == 0) {
		fwrite(page->data, 1, page->len, stdout);
		return 0;
	}
	return file_write_atomic(path, page->data, page->len, 0644, err);
}

static int make_page(const struct report_args *a, char *const *name, size_t n, const char *command,
		     struct error *err)
{
	cleanup_strbuf struct strbuf page = STRBUF_INIT;
	cleanup_error struct error why = ERROR_INIT;
	struct loaded l = { 0 };
	int ret = load(&l, name, n, err);

	if (ret == 0)
		ret = compare(&l, a, &why, err);
	if (ret == 0) {
		const struct report_input in = {
			.store = l.store,
			.set = l.set,
			.nsets = l.n,
			.compare = l.compared ? &l.compare : NULL,
			.not_compared = why.text,
			.metric = a->metric.n ? a->metric.item : NULL,
			.title = a->title,
			.command = command,
		};

		ret = report_write(&in, &page, err);
	}
	if (ret == 0)
		ret = put_page(a->output, &page, err);
	loaded_free(&l);
	return ret;
}

/* Before parsing, which moves arguments about. */
static char *command_line(int argc, char *const *argv)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, "mmrig report");
	for (int i = 0; i < argc; i++) {
		strbuf_adds(&sb, " ");
		strbuf_add_quoted(&sb, argv[i]);
	}
	return strbuf_steal(&sb);
}

static int report_run(const struct command *self, int argc, char **argv, struct error *err)
{
	cleanup_free char *command = command_line(argc, argv);
	struct report_args args = { 0 };
	int npos, ret = opt_parse(self, argc, argv, &args, &npos, 1, -1, err);

	if (ret == 0 && (!args.output || !*args.output))
		ret = error_set(err, EXIT_USAGE, "mmrig report: where to? give -o FILE.html, or -o -");
	if (ret == 0 && strcmp(args.output, "-") != 0)
		ret = command_check_output(args.output, NULL, err);
	if (ret == 0)
		ret = command_check_form(args.output, ".html", "the page is HTML", err);
	if (ret == 0)
		ret = make_page(&args, argv, (size_t)npos, command, err);
	opt_list_free(&args.metric);
	return ret < 0 ? -1 : EXIT_GOOD;
}

const struct command command_report = {
	.name = "report",
	.args = "RUNSET...",
	.summary = "write run sets as one page of HTML, with figures",
	.text = "The page is complete in itself: no script, no network, no file beside it. Verdict, tables,"
		" distributions, counters over time, free memory by order, the map of pageblocks, latencies,"
		" the console around splats, and where it all comes from. A set of one kernel and one variant"
		" is summed up; anything else is compared. Needs gnuplot.",
	.opts = report_opts,
	.run = report_run,
};
