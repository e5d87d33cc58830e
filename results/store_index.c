// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "results/store_internal.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

#define INDEX_VERSION 1
#define BUSY_MS 60000

static const char schema_sql[] =
	"CREATE TABLE IF NOT EXISTS runsets(id TEXT PRIMARY KEY, scenario TEXT, title TEXT,"
	" command TEXT, created REAL);"
	"CREATE TABLE IF NOT EXISTS runs(runset TEXT, id TEXT, cell INTEGER, kernel TEXT,"
	" release TEXT, build_id TEXT, variant TEXT, seed INTEGER, verdict TEXT, why TEXT,"
	" accel TEXT, started REAL, ended REAL, PRIMARY KEY(runset, id)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS phases(runset TEXT, run TEXT, phase TEXT, seconds REAL,"
	" PRIMARY KEY(runset, run, phase)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS metrics(runset TEXT, run TEXT, name TEXT, value REAL,"
	" PRIMARY KEY(runset, run, name)) WITHOUT ROWID;";

int index_error(struct store *s, struct error *err)
{
	int code = sqlite3_errcode(s->db) & 0xff;

	s->db_code = code;
	error_set(err, EXIT_NO_VERDICT, "%s/mmrig.db: %s", s->root, sqlite3_errmsg(s->db));
	if (code == SQLITE_FULL || code == SQLITE_IOERR)
		error_hint(err, "free some space, or set MMRIG_RESULTS to a folder that has more");
	else if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
		error_hint(err, "run mmrig results rebuild");
	else if (code == SQLITE_BUSY)
		error_hint(err, "another mmrig has held it for %d s", BUSY_MS / 1000);
	return -1;
}

int index_exec(struct store *s, const char *sql, struct error *err)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : index_error(s, err);
}

sqlite3_stmt *index_query(struct store *s, struct error *err, const char *sql, ...)
{
	sqlite3_stmt *st = NULL;
	const char *text;
	int column = 1;
	va_list ap;

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) != SQLITE_OK) {
		index_error(s, err);
		return NULL;
	}
	va_start(ap, sql);
	while ((text = va_arg(ap, const char *)))
		sqlite3_bind_text(st, column++, text, -1, SQLITE_TRANSIENT);
	va_end(ap);
	return st;
}

/* Runs a statement that gives no rows. */
static int step_once(struct store *s, sqlite3_stmt *st, struct error *err)
{
	int ret = st && sqlite3_step(st) == SQLITE_DONE ? 0 : -1;

	if (ret < 0 && st)
		index_error(s, err);
	sqlite3_finalize(st);
	return ret;
}

static int index_version(struct store *s, int *version, struct error *err)
{
	sqlite3_stmt *st = index_query(s, err, "PRAGMA user_version", NULL);

	if (!st)
		return -1;
	if (sqlite3_step(st) != SQLITE_ROW) {
		index_error(s, err);
		sqlite3_finalize(st);
		return -1;
	}
	*version = sqlite3_column_int(st, 0);
	sqlite3_finalize(st);
	return 0;
}

static int make_schema(struct store *s, struct error *err)
{
	int version;

	if (index_version(s, &version, err) < 0)
		return -1;
	if (version == INDEX_VERSION)
		return 0;
	if (version > INDEX_VERSION)
		return error_set(
			err, EXIT_NO_VERDICT,
			"%s/mmrig.db: made by a newer mmrig (version %d, this one knows %d); use "
			"that one, or delete mmrig.db and run mmrig results rebuild",
			s->root, version, INDEX_VERSION);
	if (index_exec(s, "BEGIN IMMEDIATE", err) < 0)
		return -1;
	if (index_exec(s, schema_sql, err) < 0 ||
	    index_exec(s, "PRAGMA user_version = 1", err) < 0 || index_exec(s, "COMMIT", err) < 0) {
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
		return -1;
	}
	return 0;
}

static int open_file(struct store *s, const char *path, struct error *err)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;

	if (sqlite3_open_v2(path, &s->db, flags, NULL) != SQLITE_OK) {
		index_error(s, err);
		return -1;
	}
	sqlite3_busy_timeout(s->db, BUSY_MS);
	/* The index can be made again, so it need not survive a power cut: no fsync a run. */
	if (index_exec(s, s->read_only ? "PRAGMA journal_mode = MEMORY" :
		       "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", err) < 0)
		return -1;
	return make_schema(s, err);
}

void index_close(struct store *s)
{
	sqlite3_close(s->db);
	s->db = NULL;
}

bool index_damaged(const struct store *s)
{
	return !s->read_only && (s->db_code == SQLITE_CORRUPT || s->db_code == SQLITE_NOTADB);
}

int index_replace(struct store *s, struct error *err)
{
	static const char *const suffix[] = { "", "-wal", "-shm" };
	cleanup_free char *path = path_join(s->root, "mmrig.db");

	index_close(s);
	for (size_t i = 0; i < ARRAY_SIZE(suffix); i++) {
		cleanup_free char *file = str_printf("%s%s", path, suffix[i]);

		unlink(file);
	}
	s->db_code = SQLITE_OK;
	if (open_file(s, path, err) < 0)
		return -1;
	if (err)
		error_clear(err);
	return 0;
}

/*
 * What cannot be read as a database is replaced by an empty one: the index has nothing of its own,
 * and the sync that follows takes everything in again.
 */
int index_open(struct store *s, struct error *err)
{
	cleanup_free char *path = path_join(s->root, "mmrig.db");

	s->db_code = SQLITE_OK;
	if (open_file(s, s->read_only ? ":memory:" : path, err) == 0)
		return 0;
	return index_damaged(s) ? index_replace(s, err) : -1;
}

int index_put_set(struct store *s, const struct runset *set, double created, struct error *err)
{
	sqlite3_stmt *st = index_query(s, err,
				       "INSERT OR REPLACE INTO runsets"
				       "(id, scenario, title, command, created) VALUES(?,?,?,?,?)",
				       NULL);

	if (!st)
		return -1;
	sqlite3_bind_text(st, 1, set->id, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 2, set->scenario, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 3, set->title, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 4, set->command, -1, SQLITE_STATIC);
	sqlite3_bind_double(st, 5, created);
	return step_once(s, st, err);
}

static int put_row(struct store *s, const struct runset *set, const struct run *r,
		   struct error *err)
{
	const struct run_kernel *k = r->kernel < set->nkernels ? &set->kernel[r->kernel] : NULL;
	const struct run_variant *v = r->variant < set->nvariants ? &set->variant[r->variant] :
								    NULL;
	sqlite3_stmt *st =
		index_query(s, err,
			    "INSERT OR REPLACE INTO runs(runset, id, cell, kernel,"
			    " release, build_id, variant, seed, verdict, why, accel, started,"
			    " ended) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
			    NULL);

	if (!st)
		return -1;
	sqlite3_bind_text(st, 1, set->id, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 2, r->id, -1, SQLITE_STATIC);
	sqlite3_bind_int64(st, 3, (sqlite3_int64)r->cell);
	sqlite3_bind_text(st, 4, k ? k->name : NULL, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 5, k ? k->release : NULL, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 6, k ? k->build_id : NULL, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 7, v ? v->label : NULL, -1, SQLITE_STATIC);
	sqlite3_bind_int64(st, 8, (sqlite3_int64)r->seed);
	sqlite3_bind_text(st, 9, verdict_name(r->verdict), -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 10, r->why, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 11, r->accel, -1, SQLITE_STATIC);
	sqlite3_bind_double(st, 12, r->started);
	sqlite3_bind_double(st, 13, r->ended);
	return step_once(s, st, err);
}

static int put_value(struct store *s, const char *sql, const char *set_id, const char *run_id,
		     const char *name, double value, struct error *err)
{
	sqlite3_stmt *st = index_query(s, err, sql, set_id, run_id, name, NULL);

	if (!st)
		return -1;
	sqlite3_bind_double(st, 4, value);
	return step_once(s, st, err);
}

int index_put_run(struct store *s, const struct runset *set, const struct run *r, struct error *err)
{
	static const char phase_sql[] = "INSERT OR REPLACE INTO phases VALUES(?,?,?,?)";
	static const char metric_sql[] = "INSERT OR REPLACE INTO metrics VALUES(?,?,?,?)";

	if (put_row(s, set, r, err) < 0)
		return -1;
	for (int i = 0; i < PHASE_COUNT; i++)
		if (r->phase[i] >= 0 && put_value(s, phase_sql, set->id, r->id, wire_phase_names[i],
						  r->phase[i], err) < 0)
			return -1;
	for (size_t i = 0; i < r->nmetrics; i++)
		if (put_value(s, metric_sql, set->id, r->id, r->metric[i].name, r->metric[i].value,
			      err) < 0)
			return -1;
	return 0;
}

int index_verdict(struct store *s, const char *set_id, const char *run_id, enum verdict *verdict,
		  struct error *err)
{
	sqlite3_stmt *st = index_query(s, err,
				       "SELECT verdict FROM runs WHERE runset = ? AND id = ?",
				       set_id, run_id, NULL);
	int ret, step;

	if (!st)
		return -1;
	step = sqlite3_step(st);
	if (step == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(st, 0);

		if (!name || !verdict_parse(name, verdict))
			*verdict = VERDICT_COUNT;
		ret = 1;
	} else {
		ret = step == SQLITE_DONE ? 0 : index_error(s, err);
	}
	sqlite3_finalize(st);
	return ret;
}

static char *column(sqlite3_stmt *st, int i)
{
	const char *s = (const char *)sqlite3_column_text(st, i);

	return s ? xstrdup(s) : NULL;
}

static int count_verdicts(struct store *s, struct store_entry *e, struct error *err)
{
	sqlite3_stmt *st = index_query(s, err, "SELECT verdict, count(*) FROM runs WHERE runset = ?"
				       " GROUP BY verdict", e->id, NULL);
	int step;

	if (!st)
		return -1;
	while ((step = sqlite3_step(st)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(st, 0);
		enum verdict v;

		if (name && verdict_parse(name, &v))
			e->count[v] = (unsigned int)sqlite3_column_int(st, 1);
	}
	if (step != SQLITE_DONE)
		index_error(s, err);
	sqlite3_finalize(st);
	return step == SQLITE_DONE ? 0 : -1;
}

int index_list(struct store *s, struct store_entry **entries, size_t *n, struct error *err)
{
	sqlite3_stmt *st = index_query(s, err, "SELECT id, scenario, title, created FROM runsets"
				       " ORDER BY created DESC, id DESC", NULL);
	int step, ret = 0;

	*entries = NULL;
	*n = 0;
	if (!st)
		return -1;
	while (ret == 0 && (step = sqlite3_step(st)) != SQLITE_DONE) {
		struct store_entry *e;

		if (step != SQLITE_ROW) {
			ret = index_error(s, err);
			break;
		}
		*entries = xreallocarray(*entries, *n + 1, sizeof(**entries));
		e = &(*entries)[(*n)++];
		*e = (struct store_entry){ .id = column(st, 0), .scenario = column(st, 1),
					   .title = column(st, 2),
					   .created = sqlite3_column_double(st, 3) };
		ret = count_verdicts(s, e, err);
	}
	sqlite3_finalize(st);
	if (ret < 0) {
		store_entries_free(*entries, *n);
		*entries = NULL;
		*n = 0;
	}
	return ret;
}

int index_check(struct store *s, void (*report)(void *arg, const char *fault), void *arg,
		struct error *err)
{
	sqlite3_stmt *st = index_query(s, err, "PRAGMA quick_check(10)", NULL);

	if (!st)
		return -1;
	while (sqlite3_step(st) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(st, 0);
		cleanup_free char *fault = str_printf("%s/mmrig.db: %s; run mmrig results rebuild",
						      s->root, text ? text : "damaged");

		if (!text || strcmp(text, "ok") != 0)
			report(arg, fault);
	}
	sqlite3_finalize(st);
	return 0;
}
