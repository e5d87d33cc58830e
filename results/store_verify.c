// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/run_text.h"
#include "results/store_internal.h"
#include "results/store_kernels.h"
#include "results/store_sums.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

struct verify {
	struct store *s;
	void (*report)(void *arg, const char *fault);
	void *arg;
	struct store_verified *count;
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

/* By its checksum; says nothing when what is in it was found damaged already. */
static void verify_sum(struct verify *v, const char *dir, const struct sums *sums,
		       const char *name, bool known)
{
	cleanup_error struct error e = ERROR_INIT;

	if (!known && sums_check(dir, sums, name, &e) < 0)
		fault(v, &e);
}

/* Of a run that an older mmrig recorded. */
static void verify_unsummed(struct verify *v, const char *run_dir, bool samples_known)
{
	v->count->unsummed++;
	for (const char *const *name = store_run_files; *name; name++) {
		cleanup_free char *path = path_join(run_dir, *name);
		cleanup_error struct error e = ERROR_INIT;

		if (file_exists(path) || (samples_known && str_starts(*name, "samples")))
			continue;
		error_set(&e, 0, "%s: is missing", path);
		fault(v, &e);
	}
}

static bool samples_are_readable(struct verify *v, const char *run_dir)
{
	cleanup_free char *path = path_join(run_dir, "samples.zst");
	cleanup_error struct error e = ERROR_INIT;

	if (!file_exists(path) || sample_each(path, ignore_sample, NULL, &e) == 0)
		return true;
	fault(v, &e);
	return false;
}

/* *loaded: run.json could be read, into *r. set NULL: it could not, and neither can its runs. */
static void verify_files(struct verify *v, const char *set_dir, const struct runset *set,
			 const char *id, struct run *r, bool *loaded)
{
	cleanup_free char *run_dir = path_join(set_dir, id);
	cleanup_error struct error e = ERROR_INIT;
	struct sums sums;
	int there = sums_load(run_dir, &sums, &e);
	bool readable = true, missing = !store_is_run(set_dir, id);

	*loaded = set && !missing && store_load_run(set_dir, id, set, r, there < 0 ? NULL : &e) == 0;
	if (e.text)
		fault(v, &e);
	if (there > 0 && sums_removed(&sums, "samples.zst"))
		v->count->without++;
	else
		readable = samples_are_readable(v, run_dir);
	if (there == 0)
		verify_unsummed(v, run_dir, !readable);
	if (there <= 0)
		return;
	verify_sum(v, run_dir, &sums, "run.json", set && !missing && !*loaded);
	verify_sum(v, run_dir, &sums, "console.log", false);
	verify_sum(v, run_dir, &sums, "samples.zst", !readable);
	sums_free(&sums);
}

static int verify_run(struct verify *v, const char *set_dir, const struct runset *set,
		      const char *id, struct error *err)
{
	struct run r;
	bool loaded;
	int ret;

	v->count->runs++;
	verify_files(v, set_dir, set, id, &r, &loaded);
	if (!loaded)
		return 0;
	ret = verify_index(v, set, &r, err);
	run_free(&r);
	return ret;
}

/* A folder that has something of a run (of a set) in it, even when its run.json is gone. */
static bool is_marked(const char *dir, const char *name)
{
	cleanup_free char *path = str_printf("%s/%s/checksums", dir, name);

	return file_exists(path);
}

static void load_indexed(struct verify *v, const char *set_dir)
{
	cleanup_error struct error e = ERROR_INIT;
	struct runset set;

	if (store_load_head(set_dir, &set, NULL, NULL) == 0 &&
	    index_load_frame(v->s, &set, &v->indexed, &e) < 0)
		fault(v, &e);
}

static void verify_head_sums(struct verify *v, const char *set_dir, const struct runset *set,
			     const struct sums *sums)
{
	char **files = store_kernel_files(set);

	verify_sum(v, set_dir, sums, "runset.json", false);
	for (char **file = files; *file; file++)
		verify_sum(v, set_dir, sums, *file, false);
	run_text_lines_free(files);
}

/* 1: a set, 0: cannot be read, which has been said. */
static bool verify_head(struct verify *v, const char *id, struct runset *set)
{
	cleanup_free char *set_dir = path_join(v->s->root, id);
	cleanup_error struct error e = ERROR_INIT;
	struct sums sums = { 0 };
	bool readable = store_load_head(set_dir, set, NULL, &e) == 0;

	if (!readable) {
		fault(v, &e);
		return false;
	}
	if (sums_load(set_dir, &sums, &e) < 0)
		fault(v, &e);
	else if (sums.n)
		verify_head_sums(v, set_dir, set, &sums);
	sums_free(&sums);
	if (strcmp(set->id, id) != 0) {
		error_set(&e, 0,
			  "%s: says that it is run set %s, so it is in no list; give it that name",
			  set_dir, set->id);
		fault(v, &e);
	}
	return true;
}

static int verify_set(struct verify *v, const char *id, struct error *err)
{
	cleanup_free char *set_dir = path_join(v->s->root, id);
	struct runset set = { 0 };
	bool readable = verify_head(v, id, &set);
	size_t n;
	char **runs = store_dir_names(set_dir, &n, err);
	int ret = runs ? 0 : -1;

	if (readable)
		load_indexed(v, set_dir);
	for (size_t i = 0; ret == 0 && i < n; i++)
		if (store_is_run(set_dir, runs[i]) || is_marked(set_dir, runs[i]))
			ret = verify_run(v, set_dir, readable ? &set : NULL, runs[i], err);
	frame_free(&v->indexed);
	run_text_lines_free(runs);
	runset_free(&set);
	return ret;
}

static int verify_all(struct store *s, bool late, void (*report)(void *arg, const char *fault),
		      void *arg, struct store_verified *count, struct error *err)
{
	struct verify v = { .s = s, .report = report, .arg = arg, .count = count, .late = late };
	size_t n;
	char **names = store_dir_names(s->root, &n, err);
	int ret = names ? index_check(s, report, arg, err) : -1;

	memset(count, 0, sizeof(*count));
	for (size_t i = 0; ret == 0 && i < n; i++)
		if (store_is_set(s->root, names[i]) || is_marked(s->root, names[i]))
			ret = verify_set(&v, names[i], err);
	run_text_lines_free(names);
	return ret;
}

int store_verify(struct store *s, void (*report)(void *arg, const char *fault), void *arg,
		 struct store_verified *count, struct error *err)
{
	return verify_all(s, false, report, arg, count, err);
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
	struct store_verified looked_at;

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
