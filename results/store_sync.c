// SPDX-License-Identifier: GPL-2.0-only
/*
 * The index follows the folders: what a killed mmrig left out is taken in, what was deleted by hand
 * goes. A run or set that cannot be read is left out of the index; reading it gives the error.
 */
#include <string.h>

#include "results/run_text.h"
#include "results/store_internal.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

struct sync {
	struct store *s;
	bool writing; /* a transaction is open */
};

static int begin(struct sync *y, struct error *err)
{
	if (y->writing)
		return 0;
	if (index_begin(y->s, err) < 0)
		return -1;
	y->writing = true;
	return 0;
}

/* Removes from the index what belongs to a set, or to one run of it (run_id not NULL). */
static int forget(struct sync *y, const char *set_id, const char *run_id, struct error *err)
{
	static const char runs_sql[] = "DELETE FROM runs WHERE runset = ?",
			  one_sql[] = "DELETE FROM runs WHERE runset = ? AND id = ?",
			  set_sql[] = "DELETE FROM runsets WHERE id = ?";
	sqlite3_stmt *st;

	if (begin(y, err) < 0)
		return -1;
	st = index_query(y->s, err, run_id ? one_sql : runs_sql, set_id, run_id, NULL);
	if (index_step(y->s, st, err) < 0)
		return -1;
	if (run_id)
		return 0;
	st = index_query(y->s, err, set_sql, set_id, NULL);
	return index_step(y->s, st, err);
}

static int take_in(struct sync *y, const char *set_dir, const struct runset *set,
		   const char *run_id, struct error *err)
{
	struct run r;
	int ret;

	if (store_load_run(set_dir, run_id, set, &r, NULL) < 0)
		return 0;
	ret = begin(y, err);
	if (ret == 0)
		ret = index_put_run(y->s, set, &r, err);
	run_free(&r);
	return ret;
}

/*
 * Walks two sorted lists, either of which may be NULL at its end. > 0: the name is of `disk` only,
 * < 0: of the index only, 0: of both.
 */
static int side(const char *disk, const char *known)
{
	if (!disk || !known)
		return disk ? 1 : -1;
	return -strcmp(disk, known);
}

/* The set's head is read only when there is a run to take in. */
static int sync_runs(struct sync *y, const char *id, const char *set_dir, struct runset *set,
		     char *const *disk, struct error *err)
{
	char **ids = index_ids(y->s, "SELECT id FROM runs WHERE runset = ? ORDER BY id", id, err);
	char *const *known = ids;
	int ret = ids ? 0 : -1;

	while (ret == 0 && (*disk || *known)) {
		int where = side(*disk, *known);

		if (where > 0 && !set->id && store_load_head(set_dir, set, NULL, NULL) < 0)
			break;
		if (where > 0)
			ret = take_in(y, set_dir, set, *disk, err);
		else if (where < 0)
			ret = forget(y, id, *known, err);
		disk += where >= 0;
		known += where <= 0;
	}
	run_text_lines_free(ids);
	return ret;
}

static int sync_set(struct sync *y, const char *id, bool known, struct error *err)
{
	cleanup_free char *set_dir = path_join(y->s->root, id);
	struct runset set = { 0 };
	double created;
	char **disk;
	size_t n;
	int ret = 0;

	if (!known && store_load_head(set_dir, &set, &created, NULL) < 0)
		return 0;
	/* A copy of a set's folder under another name is no set of its own. */
	disk = known || strcmp(set.id, id) == 0 ? store_dir_names(set_dir, &n, NULL) : NULL;
	if (disk && !known) {
		ret = begin(y, err);
		if (ret == 0)
			ret = index_put_set(y->s, &set, created, err);
	}
	if (disk && ret == 0)
		ret = sync_runs(y, id, set_dir, &set, disk, err);
	run_text_lines_free(disk);
	runset_free(&set);
	return ret;
}

static int sync_all(struct sync *y, char *const *disk, char *const *known, struct error *err)
{
	while (*disk || *known) {
		int where = side(*disk, *known);

		if (where >= 0 && sync_set(y, *disk, where == 0, err) < 0)
			return -1;
		if (where < 0 && forget(y, *known, NULL, err) < 0)
			return -1;
		disk += where >= 0;
		known += where <= 0;
	}
	return y->writing ? index_commit(y->s, err) : 0;
}

static int sync_once(struct store *s, bool afresh, struct error *err)
{
	static const char empty_sql[] = "DELETE FROM runs; DELETE FROM runsets";
	struct sync y = { s, false };
	size_t n;
	char **disk = store_dir_sets(s, &n, err), **known = NULL;
	int ret = disk ? 0 : -1;

	if (ret == 0 && afresh && (begin(&y, err) < 0 || index_exec(s, empty_sql, err) < 0))
		ret = -1;
	if (ret == 0)
		known = index_ids(s, "SELECT id FROM runsets ORDER BY id", NULL, err);
	ret = known ? sync_all(&y, disk, known, err) : -1;
	if (ret < 0 && y.writing)
		index_rollback(s);
	run_text_lines_free(disk);
	run_text_lines_free(known);
	return ret;
}

int store_sync(struct store *s, bool afresh, struct error *err)
{
	if (sync_once(s, afresh, err) == 0)
		return 0;
	if (!index_damaged(s) || index_replace(s, err) < 0)
		return -1;
	return sync_once(s, false, err);
}
