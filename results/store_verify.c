// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/run_text.h"
#include "results/store_internal.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

struct verify {
	struct store *s;
	void (*report)(void *arg, const char *fault);
	void *arg;
	size_t runs;
	bool late; /* a run that is not in the index is another's, just finished: no fault */
	struct frame indexed; /* what the index has of the set at hand; may be empty */
};

/* Hands the error over as a fault. */
static void fault(struct verify *v, struct error *e)
{
	v->report(v->arg, e->text ? e->text : "damaged");
	error_clear(e);
}

static int ignore_sample(void *arg, const struct wire_sample *sample)
{
	return 0;
}

/* The metrics that the index has of a run are those of its run.json: the first that is not. */
static void compare_metrics(struct verify *v, const struct run *r, size_t at, struct error *e)
{
	const struct frame *f = &v->indexed;
	size_t found = 0, ours = 0;

	for (size_t i = 0; i < f->nmetrics; i++)
		found += !isnan(f->value[i * f->set.nruns + at]);
	for (size_t i = 0; i < r->nmetrics; i++) {
		const double *column = frame_column(f, r->metric[i].name);

		ours += isfinite(r->metric[i].value);
		if (isfinite(r->metric[i].value) &&
		    (!column || column[at] != r->metric[i].value)) {
			error_set(e, 0, "%s/%s/%s: %s of run.json is not that of the index",
				  v->s->root, f->set.id, r->id, r->metric[i].name);
			return;
		}
	}
	if (found != ours)
		error_set(e, 0, "%s/%s/%s: %zu metrics in run.json, %zu in the index", v->s->root,
			  f->set.id, r->id, ours, found);
}

static int verify_index(struct verify *v, const struct runset *set, const struct run *r,
			struct error *err)
{
	cleanup_error struct error e = ERROR_INIT;
	enum verdict indexed;
	int found = index_verdict(v->s, set->id, r->id, &indexed, err);
	const struct run *runs = v->indexed.set.run, *row = NULL;

	if (found < 0)
		return -1;
	if (!found && v->late)
		return 0;
	if (!found)
		error_set(&e, 0, "%s/%s/%s: not in the index", v->s->root, set->id, r->id);
	else if (indexed != r->verdict)
		error_set(&e, 0, "%s/%s/%s: %s in run.json, %s in the index", v->s->root, set->id,
			  r->id, verdict_name(r->verdict),
			  indexed < VERDICT_COUNT ? verdict_name(indexed) : "unknown");
	else if (v->indexed.set.nruns)
		row = bsearch(&r->id, runs, v->indexed.set.nruns, sizeof(*runs), store_by_run_id);
	if (row)
		compare_metrics(v, r, (size_t)(row - runs), &e);
	if (e.text) {
		error_hint(&e, "run mmrig results rebuild");
		fault(v, &e);
	}
	return 0;
}

static int verify_run(struct verify *v, const char *set_dir, const struct runset *set,
		      const char *id, struct error *err)
{
	cleanup_error struct error e = ERROR_INIT;
	cleanup_free char *console = str_printf("%s/%s/console.log", set_dir, id);
	cleanup_free char *samples = str_printf("%s/%s/samples.zst", set_dir, id);
	struct run r;
	int ret;

	v->runs++;
	if (sample_each(samples, ignore_sample, NULL, &e) < 0)
		fault(v, &e);
	if (!file_exists(console)) {
		error_set(&e, 0, "%s: is missing", console);
		fault(v, &e);
	}
	if (store_load_run(set_dir, id, set, &r, &e) < 0) {
		fault(v, &e);
		return 0;
	}
	ret = verify_index(v, set, &r, err);
	run_free(&r);
	return ret;
}

static void load_indexed(struct verify *v, const char *set_dir)
{
	cleanup_error struct error e = ERROR_INIT;
	struct runset set;

	if (store_load_head(set_dir, &set, NULL, NULL) == 0 &&
	    index_load_frame(v->s, &set, &v->indexed, &e) < 0)
		fault(v, &e);
}

static int verify_set(struct verify *v, const char *id, struct error *err)
{
	cleanup_free char *set_dir = path_join(v->s->root, id);
	cleanup_error struct error e = ERROR_INIT;
	struct runset set;
	char **runs;
	size_t n;
	int ret = 0;

	if (store_load_head(set_dir, &set, NULL, &e) < 0) {
		fault(v, &e);
		return 0;
	}
	if (strcmp(set.id, id) != 0) {
		error_set(&e, 0,
			  "%s: says that it is run set %s, so it is in no list; give it that name",
			  set_dir, set.id);
		fault(v, &e);
	}
	runs = store_dir_runs(set_dir, &n, err);
	load_indexed(v, set_dir);
	for (size_t i = 0; ret == 0 && runs && i < n; i++)
		ret = verify_run(v, set_dir, &set, runs[i], err);
	frame_free(&v->indexed);
	run_text_lines_free(runs);
	runset_free(&set);
	return runs ? ret : -1;
}

static int verify_all(struct store *s, bool late, void (*report)(void *arg, const char *fault),
		      void *arg, size_t *runs, struct error *err)
{
	struct verify v = { .s = s, .report = report, .arg = arg, .late = late };
	size_t n;
	char **sets = store_dir_sets(s, &n, err);
	int ret = sets ? index_check(s, report, arg, err) : -1;

	for (size_t i = 0; ret == 0 && i < n; i++)
		ret = verify_set(&v, sets[i], err);
	run_text_lines_free(sets);
	*runs = v.runs;
	return ret;
}

int store_verify(struct store *s, void (*report)(void *arg, const char *fault), void *arg,
		 size_t *runs, struct error *err)
{
	return verify_all(s, false, report, arg, runs, err);
}

/* What the sync could not take in. */
static void count_unreadable(void *arg, const char *text)
{
	struct error *first = arg;

	if (!first->text)
		error_set(first, EXIT_NO_VERDICT, "%s", text);
}

static int count_runs(struct store *s, size_t *runs, struct error *err)
{
	sqlite3_stmt *st = index_query(s, err, "SELECT count(*) FROM runs", NULL);

	if (!st)
		return -1;
	*runs = sqlite3_step(st) == SQLITE_ROW ? (size_t)sqlite3_column_int64(st, 0) : 0;
	sqlite3_finalize(st);
	return 0;
}

int store_rebuild(struct store *s, size_t *runs, struct error *err)
{
	cleanup_error struct error damaged = ERROR_INIT;
	cleanup_close int lock = -1;
	size_t looked_at;

	if (s->read_only)
		return error_set(err, EXIT_USAGE, "%s: cannot write there, so its index stays",
				 s->root);
	lock = store_lock(s, err);
	if (lock < 0)
		return -1;
	if (store_sync(s, true, err) < 0 || count_runs(s, runs, err) < 0)
		return -1;
	/* Another mmrig may finish a run meanwhile; it goes into the index by its own doing. */
	if (verify_all(s, true, count_unreadable, &damaged, &looked_at, err) < 0)
		return -1;
	if (!damaged.text)
		return 0;
	error_move(err, &damaged);
	return error_hint(err, "the index has the other runs (%zu); mmrig results verify names all",
			  *runs);
}
