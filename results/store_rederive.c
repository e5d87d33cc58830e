// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "results/metrics.h"
#include "results/run_json.h"
#include "results/run_text.h"
#include "results/store_internal.h"
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

static int rewrite(const char *path, json_t *o, const struct run *again, struct error *err)
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
		return error_set(err, EXIT_NO_VERDICT, "%s: cannot be made", path);
	ret = file_write_atomic(path, text, strlen(text), 0644, err);
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
 * The stored JSON is changed in two members and not made afresh: what a newer mmrig has put in
 * stays. 1: changed, 0: as it was, -1.
 */
static int rederive_run(const char *set_dir, const char *id, const struct runset *set,
			struct error *err)
{
	cleanup_free char *path = str_printf("%s/%s/run.json", set_dir, id);
	cleanup_free char *samples = str_printf("%s/%s/samples.zst", set_dir, id);
	struct run stored, again = { 0 };
	struct edges edges = { 0 };
	json_t *o;
	int ret;

	if (store_load_run(set_dir, id, set, &stored, err) < 0)
		return -1;
	ret = sample_each(samples, take, &edges, err);
	if (ret == 0) {
		derive(&edges, &stored, &again);
		if (!same(&stored, &again)) {
			o = run_json_load(path, err);
			ret = o && rewrite(path, o, &again, err) == 0 ? 1 : -1;
			json_decref(o);
		}
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
		int ret = rederive_run(set_dir, runs[i], &set, &e);

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

	count->runs = count->changed = count->failed = 0;
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
