// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "results/metrics.h"
#include "results/run_json.h"
#include "results/run_text.h"
#include "results/store_internal.h"
#include "results/store_sums.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

static int take(void *arg, const struct wire_sample *sample)
{
	edges_take(arg, sample);
	return 0;
}

/* run.detail without the lines that are the parsers' own, which are made again. */
static char *without_notes(const char *detail)
{
	struct strbuf kept = STRBUF_INIT;

	if (!detail)
		return NULL;
	while (*detail) {
		size_t n = strcspn(detail, "\n");

		n += detail[n] == '\n';
		if (!counter_is_note(detail))
			strbuf_add(&kept, detail, n);
		else if (kept.len && !detail[n])
			kept.data[--kept.len] = '\0'; /* the newline that led to the note */
		detail += n;
	}
	if (kept.len)
		return strbuf_steal(&kept);
	strbuf_free(&kept);
	return NULL;
}

/* `again` gets what the present parsers make of the samples, and what no sample holds. */
static void derive(const struct edges *e, const struct run *stored, struct run *again)
{
	again->detail = without_notes(stored->detail);
	metrics_from_edges(e, again);
	metrics_from_workload(stored->workload_json, again);
	for (size_t i = 0; i < stored->nmetrics; i++) {
		const struct counter *c = counter_find(stored->metric[i].name);

		if (c && c->of_run)
			run_set_metric(again, c->name, stored->metric[i].value);
	}
}

static int rewrite(const char *run_dir, json_t *o, const struct run *again, struct error *err)
{
	char *text;
	int ret;

	json_object_set_new(o, "metrics", run_json_metrics(again));
	if (again->detail)
		json_object_set_new(o, "detail", run_json_text(again->detail));
	else
		json_object_del(o, "detail");
	/* 17 digits bring a double back exactly. */
	text = json_dumps(o, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	if (!text)
		return error_set(err, EXIT_NO_VERDICT, "%s/run.json: cannot be made", run_dir);
	ret = sums_rewrite(run_dir, "run.json", text, strlen(text), err);
	free(text);
	return ret;
}

static bool same(const struct run *stored, const struct run *again)
{
	json_t *a = run_json_metrics(stored), *b = run_json_metrics(again);
	bool yes = json_equal(a, b) && !stored->detail == !again->detail &&
		   (!stored->detail || strcmp(stored->detail, again->detail) == 0);

	json_decref(a);
	json_decref(b);
	return yes;
}

/*
 * Damaged numbers must not get checksums that say they are right. 1: the samples were removed on
 * purpose, 0: whole, -1.
 */
static int check_files(const char *run_dir, struct error *err)
{
	struct sums sums;
	int ret = sums_load(run_dir, &sums, err);

	if (ret <= 0)
		return ret;
	ret = sums_removed(&sums, "samples.zst");
	for (const char *const *name = store_run_files; *name && ret >= 0; name++)
		if (sums_check(run_dir, &sums, *name, err) < 0)
			ret = -1;
	sums_free(&sums);
	return ret;
}

/* The stored JSON is changed in two members and not made afresh: what a newer mmrig has put in stays. */
static int rewrite_changed(const char *run_dir, const struct run *again, struct error *err)
{
	cleanup_free char *path = path_join(run_dir, "run.json");
	json_t *o = run_json_load(path, err);
	int ret = o ? rewrite(run_dir, o, again, err) : -1;

	json_decref(o);
	return ret;
}

/* 1: changed, 0: as it was, -1. */
static int rederive_run(const char *set_dir, const char *id, const struct runset *set,
			struct store_rederived *count, struct error *err)
{
	cleanup_free char *run_dir = path_join(set_dir, id);
	cleanup_free char *samples = path_join(run_dir, "samples.zst");
	struct run stored, again = { 0 };
	struct edges edges = { 0 };
	int ret = check_files(run_dir, err);

	count->without += ret > 0;
	if (ret)
		return ret < 0 ? -1 : 0;
	if (store_load_run(set_dir, id, set, &stored, err) < 0)
		return -1;
	ret = sample_each(samples, take, &edges, err);
	if (ret == 0) {
		derive(&edges, &stored, &again);
		if (!same(&stored, &again))
			ret = rewrite_changed(run_dir, &again, err) < 0 ? -1 : 1;
	}
	edges_free(&edges);
	run_free(&stored);
	run_free(&again);
	return ret;
}

static void fault(struct store_rederived *count, struct error *e)
{
	count->failed++;
	count->report(count->arg, e->text ? e->text : "damaged");
	error_clear(e);
}

static void rederive_set(struct store *s, const char *id, struct store_rederived *count)
{
	cleanup_free char *set_dir = path_join(s->root, id);
	cleanup_error struct error e = ERROR_INIT;
	struct runset set;
	char **runs;
	size_t n;

	if (store_load_head(set_dir, &set, NULL, &e) < 0) {
		fault(count, &e);
		return;
	}
	runs = store_dir_runs(set_dir, &n, &e);
	if (!runs)
		fault(count, &e);
	for (size_t i = 0; runs && i < n; i++) {
		int ret = rederive_run(set_dir, runs[i], &set, count, &e);

		count->runs++;
		count->changed += ret > 0;
		if (ret < 0)
			fault(count, &e);
	}
	run_text_lines_free(runs);
	runset_free(&set);
}

int store_rederive(struct store *s, struct store_rederived *count, struct error *err)
{
	cleanup_close int lock = -1;
	char **sets;
	size_t n;

	count->runs = count->changed = count->failed = count->without = 0;
	if (s->read_only) {
		error_set(err, EXIT_USAGE, "%s: cannot write there", s->root);
		return error_hint(err, "copy the folder, and set MMRIG_RESULTS to the copy");
	}
	lock = store_lock(s, err);
	sets = lock < 0 ? NULL : store_dir_sets(s, &n, err);
	if (!sets)
		return -1;
	for (size_t i = 0; i < n; i++)
		rederive_set(s, sets[i], count);
	run_text_lines_free(sets);
	return store_sync(s, true, err);
}
