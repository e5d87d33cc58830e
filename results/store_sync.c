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
	if (index_exec(y->s, "BEGIN IMMEDIATE", err) < 0)
		return -1;
	y->writing = true;
	return 0;
}

/* Ids of one column, NULL-terminated; NULL on error. */
static char **index_names(struct store *s, const char *sql, const char *param, struct error *err)
{
	sqlite3_stmt *st = index_query(s, err, sql, param, NULL);
	char **names = xcalloc(1, sizeof(*names));
	size_t n = 0;
	int step;

	if (!st) {
		free(names);
		return NULL;
	}
	while ((step = sqlite3_step(st)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(st, 0);

		names = xreallocarray(names, n + 2, sizeof(*names));
		names[n++] = xstrdup(name ? name : "");
		names[n] = NULL;
	}
	sqlite3_finalize(st);
	if (step == SQLITE_DONE)
		return names;
	index_error(s, err);
	run_text_lines_free(names);
	return NULL;
}

static bool contains(char *const *names, const char *name)
{
	for (; *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

/* Removes from the index what belongs to a set, or to one run of it (run_id not NULL). */
static int forget(struct sync *y, const char *set_id, const char *run_id, struct error *err)
{
	static const char *const sql[][2] = {
		{ "DELETE FROM metrics WHERE runset = ?", " AND run = ?" },
		{ "DELETE FROM phases WHERE runset = ?", " AND run = ?" },
		{ "DELETE FROM runs WHERE runset = ?", " AND id = ?" },
		{ "DELETE FROM runsets WHERE id = ?", NULL },
	};

	if (begin(y, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(sql); i++) {
		cleanup_free char *text = NULL;
		sqlite3_stmt *st;
		int step;

		if (run_id && !sql[i][1])
			continue;
		text = str_printf("%s%s", sql[i][0], run_id ? sql[i][1] : "");
		st = index_query(y->s, err, text, set_id, run_id, NULL);
		if (!st)
			return -1;
		step = sqlite3_step(st);
		if (step != SQLITE_DONE)
			index_error(y->s, err);
		sqlite3_finalize(st);
		if (step != SQLITE_DONE)
			return -1;
	}
	return 0;
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

static int sync_runs(struct sync *y, const char *set_dir, const struct runset *set,
		     char *const *disk, struct error *err)
{
	char **known = index_names(y->s, "SELECT id FROM runs WHERE runset = ?", set->id, err);
	int ret = known ? 0 : -1;

	for (size_t i = 0; ret == 0 && disk[i]; i++)
		if (!contains(known, disk[i]))
			ret = take_in(y, set_dir, set, disk[i], err);
	for (size_t i = 0; ret == 0 && known[i]; i++)
		if (!contains(disk, known[i]))
			ret = forget(y, set->id, known[i], err);
	run_text_lines_free(known);
	return ret;
}

static int sync_set(struct sync *y, const char *id, bool known, struct error *err)
{
	cleanup_free char *set_dir = path_join(y->s->root, id);
	struct runset set;
	double created;
	char **disk;
	size_t n;
	int ret = 0;

	if (store_load_head(set_dir, &set, &created, NULL) < 0)
		return 0;
	/* A copy of a set's folder under another name is no set of its own. */
	disk = strcmp(set.id, id) == 0 ? store_dir_runs(set_dir, &n, NULL) : NULL;
	if (disk && !known) {
		ret = begin(y, err);
		if (ret == 0)
			ret = index_put_set(y->s, &set, created, err);
	}
	if (disk && ret == 0)
		ret = sync_runs(y, set_dir, &set, disk, err);
	run_text_lines_free(disk);
	runset_free(&set);
	return ret;
}

static int sync_all(struct sync *y, char *const *disk, char *const *known, struct error *err)
{
	for (size_t i = 0; disk[i]; i++)
		if (sync_set(y, disk[i], contains(known, disk[i]), err) < 0)
			return -1;
	for (size_t i = 0; known[i]; i++)
		if (!contains(disk, known[i]) && forget(y, known[i], NULL, err) < 0)
			return -1;
	return y->writing ? index_exec(y->s, "COMMIT", err) : 0;
}

static int sync_once(struct store *s, bool afresh, struct error *err)
{
	static const char empty_sql[] = "DELETE FROM metrics; DELETE FROM phases; DELETE FROM runs;"
					" DELETE FROM runsets";
	struct sync y = { s, false };
	size_t n;
	char **disk = store_dir_sets(s, &n, err), **known = NULL;
	int ret = disk ? 0 : -1;

	if (ret == 0 && afresh && (begin(&y, err) < 0 || index_exec(s, empty_sql, err) < 0))
		ret = -1;
	if (ret == 0)
		known = index_names(s, "SELECT id FROM runsets", NULL, err);
	ret = known ? sync_all(&y, disk, known, err) : -1;
	if (ret < 0 && y.writing)
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
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
