// SPDX-License-Identifier: GPL-2.0-only
/* mmrig results: what the store holds. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "harness/cmd/opt.h"
#include "harness/cmd/results.h"
#include "results/run_json.h"
#include "results/run_text.h"
#include "results/store.h"
#include "results/table.h"
#include "results/util/cleanup.h"

struct results_args {
	bool json, all;
};

static const struct opt json_opts[] = {
	OPT_FLAG("json", struct results_args, json, "print one JSON document"),
	OPT_END,
};

static const struct opt show_opts[] = {
	OPT_FLAG("all", struct results_args, all, "then every counter that moved, medians of each cell"),
	OPT_FLAG("json", struct results_args, json, "print one JSON document"),
	OPT_END,
};

static void put_printable(struct strbuf *sb, const char *s)
{
	cleanup_free char *clean = run_text_printable(s ? s : "");

	strbuf_adds(sb, clean);
}

/* "5 ok, 1 splat". */
static void put_counts(struct strbuf *sb, const unsigned int *count)
{
	const char *between = "";

	for (int v = 0; v < VERDICT_COUNT; v++) {
		if (!count[v])
			continue;
		strbuf_addf(sb, "%s%u %s", between, count[v], verdict_name((enum verdict)v));
		between = ", ";
	}
	if (!*between)
		strbuf_adds(sb, "no runs");
}

static void list_text(const struct store_entry *e, size_t n, struct strbuf *sb)
{
	for (size_t i = 0; i < n; i++) {
		put_printable(sb, e[i].id);
		strbuf_adds(sb, "  ");
		put_counts(sb, e[i].count);
		if (e[i].title && *e[i].title) {
			strbuf_adds(sb, "  ");
			put_printable(sb, e[i].title);
		}
		strbuf_adds(sb, "\n");
	}
}

static json_t *entry_json(const struct store_entry *e)
{
	json_t *o = json_object(), *verdicts = json_object();

	json_object_set_new(o, "id", run_json_text(e->id));
	json_object_set_new(o, "scenario", run_json_text(e->scenario));
	json_object_set_new(o, "title", run_json_text(e->title));
	json_object_set_new(o, "created", run_json_number(e->created));
	for (int v = 0; v < VERDICT_COUNT; v++)
		if (e->count[v])
			json_object_set_new(verdicts, verdict_name((enum verdict)v),
					    json_integer(e->count[v]));
	json_object_set_new(o, "verdicts", verdicts);
	return o;
}

static void list_json(const struct store_entry *e, size_t n, struct strbuf *sb)
{
	json_t *o = json_object(), *sets = json_array();
	char *text;

	json_object_set_new(o, "schema", json_integer(RUN_SCHEMA));
	for (size_t i = 0; i < n; i++)
		json_array_append_new(sets, entry_json(&e[i]));
	json_object_set_new(o, "runsets", sets);
	text = json_dumps(o, JSON_INDENT(1) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(17));
	strbuf_addf(sb, "%s\n", text ? text : "{}");
	free(text);
	json_decref(o);
}

static int results_list(const struct command *self, int argc, char **argv, struct error *err)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	struct results_args args = { 0 };
	struct store_entry *entries;
	struct store *store;
	size_t n, unreadable;
	int npos, ret;

	if (opt_parse(self, argc, argv, &args, &npos, 0, 0, err) < 0 ||
	    store_open(NULL, false, &store, err) < 0)
		return -1;
	ret = store_list(store, &entries, &n, err);
	unreadable = ret < 0 ? 0 : store_unreadable(store, n);
	store_close(store);
	if (ret < 0)
		return -1;
	if (unreadable)
		fprintf(stderr, "mmrig: %zu run set%s cannot be read; mmrig results verify names %s\n", unreadable,
			unreadable == 1 ? "" : "s", unreadable == 1 ? "it" : "them");
	(args.json ? list_json : list_text)(entries, n, &sb);
	store_entries_free(entries, n);
	fwrite(sb.data, 1, sb.len, stdout);
	return EXIT_GOOD;
}

static void show_text(const struct runset *set, bool all)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	cleanup_free char *table = table_runset(set), *deltas = NULL;

	put_printable(&sb, set->id);
	if (set->title && *set->title) {
		strbuf_adds(&sb, ": ");
		put_printable(&sb, set->title);
	}
	strbuf_addf(&sb, "\n\n%s", table);
	if (set->nruns && all) {
		deltas = table_deltas(set);
		strbuf_addf(&sb, "\n%s", deltas);
	}
	fwrite(sb.data, 1, sb.len, stdout);
}

static int results_show(const struct command *self, int argc, char **argv, struct error *err)
{
	struct results_args args = { 0 };
	struct runset set;
	struct store *store;
	int npos, ret;

	if (opt_parse(self, argc, argv, &args, &npos, 1, 1, err) < 0 ||
	    store_open(NULL, false, &store, err) < 0)
		return -1;
	ret = store_load_set(store, argv[0], &set, err);
	store_close(store);
	if (ret < 0)
		return -1;
	if (args.json) {
		cleanup_free char *json = table_json(&set);

		fputs(json, stdout);
	} else {
		show_text(&set, args.all);
	}
	runset_free(&set);
	return EXIT_GOOD;
}

static int results_rebuild(const struct command *self, int argc, char **argv, struct error *err)
{
	struct results_args args = { 0 };
	struct store *store;
	size_t runs = 0;
	int npos, ret;

	if (opt_parse(self, argc, argv, &args, &npos, 0, 0, err) < 0 ||
	    store_open(NULL, false, &store, err) < 0)
		return -1;
	ret = store_rebuild(store, &runs, err);
	store_close(store);
	if (ret < 0)
		return -1;
	printf("indexed %zu run%s\n", runs, runs == 1 ? "" : "s");
	return EXIT_GOOD;
}

struct faults {
	struct strbuf text;
	size_t n;
};

static void add_fault(void *arg, const char *fault)
{
	struct faults *f = arg;

	put_printable(&f->text, fault);
	strbuf_adds(&f->text, "\n");
	f->n++;
}

static int results_verify(const struct command *self, int argc, char **argv, struct error *err)
{
	struct results_args args = { 0 };
	struct faults f = { STRBUF_INIT, 0 };
	struct store_verified count;
	struct store *store;
	int npos, ret;

	if (opt_parse(self, argc, argv, &args, &npos, 0, 0, err) < 0 ||
	    store_open(NULL, false, &store, err) < 0)
		return -1;
	ret = store_verify(store, add_fault, &f, &count, err);
	store_close(store);
	if (f.text.len)
		fwrite(f.text.data, 1, f.text.len, stdout);
	strbuf_free(&f.text);
	if (ret < 0)
		return -1;
	printf("read %zu run%s: %zu fault%s\n", count.runs, count.runs == 1 ? "" : "s", f.n,
	       f.n == 1 ? "" : "s");
	if (count.unsummed)
		printf("%zu without checksums: an older mmrig recorded them\n", count.unsummed);
	if (count.without)
		printf("%zu without samples: results gc removed them\n", count.without);
	return f.n ? EXIT_NO_VERDICT : EXIT_GOOD;
}

static int results_rederive(const struct command *self, int argc, char **argv, struct error *err)
{
	struct results_args args = { 0 };
	struct faults f = { STRBUF_INIT, 0 };
	struct store_rederived count = { .report = add_fault, .arg = &f };
	struct store *store;
	int npos, ret;

	if (opt_parse(self, argc, argv, &args, &npos, 0, 0, err) < 0 ||
	    store_open(NULL, false, &store, err) < 0)
		return -1;
	ret = store_rederive(store, &count, err);
	store_close(store);
	if (f.text.len)
		fwrite(f.text.data, 1, f.text.len, stdout);
	strbuf_free(&f.text);
	if (ret < 0)
		return -1;
	printf("derived %zu run%s again: %zu changed, %zu fault%s\n", count.runs,
	       count.runs == 1 ? "" : "s", count.changed, count.failed,
	       count.failed == 1 ? "" : "s");
	if (count.without)
		printf("%zu left alone: results gc removed their samples\n", count.without);
	return count.failed ? EXIT_NO_VERDICT : EXIT_GOOD;
}

static const struct command list_command = {
	.name = "list",
	.summary = "list the run sets, newest first",
	.opts = json_opts,
	.run = results_list,
};

static const struct command show_command = {
	.name = "show",
	.args = "RUNSET",
	.summary = "print the table of a run set again",
	.text = "RUNSET is an id, the beginning or end of one, a path to its folder (with a slash"
		" in it), or \"last\".",
	.opts = show_opts,
	.run = results_show,
};

static const struct command rebuild_command = {
	.name = "rebuild",
	.summary = "make the index again from the folders",
	.run = results_rebuild,
};

static const struct command rederive_command = {
	.name = "rederive",
	.summary = "make the metrics of every run again from its samples",
	.text = "For runs that an older mmrig recorded: what this one reads out of the samples"
		" replaces their metrics, and the index is made again. Says how many runs changed."
		" Each fault is one line; the exit status is 4 when there is any.",
	.run = results_rederive,
};

static const struct command verify_command = {
	.name = "verify",
	.summary = "read everything that is stored and name what is damaged",
	.text = "Every file is held against the SHA-256 that its folder's file checksums has of it"
		" (sha256sum -c reads that too), and the index against the files. Each fault is one"
		" line; the exit status is 4 when there is any.",
	.run = results_verify,
};

static const struct command *const results_subs[] = {
	&list_command, &show_command, &rebuild_command, &rederive_command, &verify_command,
	&command_results_gc, &command_results_export, &command_results_import, NULL,
};

const struct command command_results = {
	.name = "results",
	.summary = "look at what was recorded, and keep it in order",
	.text = "Results live in $MMRIG_RESULTS, or in ./mmrig-results where it is not set: a"
		" folder a run set, in it a folder a run. mmrig.db beside them is an index that can be"
		" made again at any time.",
	.sub = results_subs,
};
