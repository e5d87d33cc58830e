// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "results/store_internal.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

#define INDEX_VERSION 2
#define BUSY_MS 60000
#define TEXT_OF(number) #number
#define AS_TEXT(number) TEXT_OF(number)

/*
 * A run's metrics are one blob (store_index_put.c): as rows of a table, ten thousand runs are three
 * million of them, and reading a set takes seconds. runs_verdict answers `results list` without
 * touching the blobs.
 */
static const char schema_sql[] =
	"CREATE TABLE runsets(id TEXT PRIMARY KEY, scenario TEXT, title TEXT, command TEXT,"
	" created REAL);"
	"CREATE TABLE runs(runset TEXT, id TEXT, cell INTEGER, kernel TEXT, release TEXT,"
	" build_id TEXT, variant TEXT, kernel_index INTEGER, variant_index INTEGER, seed INTEGER,"
	" verdict TEXT, why TEXT, accel TEXT, qemu_version TEXT, host TEXT, forked_from TEXT,"
	" started REAL, ended REAL, boot REAL, layout REAL, settle REAL, workload REAL,"
	" collect REAL, metrics BLOB, PRIMARY KEY(runset, id));"
	"CREATE INDEX runs_verdict ON runs(runset, verdict);"
	"CREATE TABLE metric_names(id INTEGER PRIMARY KEY, name TEXT UNIQUE);";

/* What any older version made: it is only an index, and is made again from the folders. */
static const char drop_sql[] = "DROP TABLE IF EXISTS runsets; DROP TABLE IF EXISTS runs;"
			       "DROP TABLE IF EXISTS phases; DROP TABLE IF EXISTS metrics;"
			       "DROP TABLE IF EXISTS metric_names;";

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

int index_begin(struct store *s, struct error *err)
{
	return index_exec(s, "BEGIN IMMEDIATE", err);
}

int index_commit(struct store *s, struct error *err)
{
	return index_exec(s, "COMMIT", err);
}

void index_rollback(struct store *s)
{
	sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	index_names_free(&s->names); /* ids that were given meanwhile are void */
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

int index_step(struct store *s, sqlite3_stmt *st, struct error *err)
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

static const char version_sql[] = "PRAGMA user_version = " AS_TEXT(INDEX_VERSION);

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
	if (index_begin(s, err) < 0)
		return -1;
	/* Another mmrig may have made it while we waited. */
	if (index_version(s, &version, err) == 0 &&
	    (version >= INDEX_VERSION ||
	     (index_exec(s, drop_sql, err) == 0 && index_exec(s, schema_sql, err) == 0 &&
	      index_exec(s, version_sql, err) == 0)) &&
	    index_commit(s, err) == 0)
		return 0;
	index_rollback(s);
	return -1;
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
	index_names_free(&s->names);
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
