/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_STORE_INTERNAL_H
#define MMRIG_STORE_INTERNAL_H
/* Between the files of the store; nobody else includes this. */
#include <sqlite3.h>

#include "results/frame.h"
#include "results/store.h"

#define STORE_SAMPLE_MAX (64U << 20)
/* Compressed, of one run: ten minutes at ten a second are some 10 MiB. A guest may not fill the disk. */
#define STORE_SAMPLES_MAX (64U << 20)

/* Names of metrics and their ids in the index, sorted by name; a cache. */
struct index_names {
	struct index_name {
		char *name;
		uint32_t id;
	} * item;
	size_t n;
};

struct store {
	char *root; /* absolute */
	sqlite3 *db;
	bool read_only; /* the index is in memory */
	int db_code;	/* SQLite's primary code of the last index_error() */
	struct index_names names;
};

/*
 * store_dir.c: the folders. An exclusive lock over everything that makes or sweeps folders, held
 * until the descriptor is closed; -1 on error.
 */
int store_lock(const struct store *s, struct error *err);
/* Names of the sets (of the runs of a set) on disk, sorted; run_text_lines_free() frees. */
char **store_dir_sets(const struct store *s, size_t *n, struct error *err);
char **store_dir_runs(const char *set_dir, size_t *n, struct error *err);
/* The same without a look into the folders, sorted as bytes; a folder there may be none of a run. */
char **store_dir_names(const char *set_dir, size_t *n, struct error *err);
bool store_is_run(const char *set_dir, const char *name);
/* For qsort(), of char *: as bytes; of run ids, "9999" before "10000". */
int store_by_name(const void *a, const void *b);
int store_by_run_id(const void *a, const void *b);
/* A name that may become a folder: letters, digits, "._-", no dot in front, at most 128 bytes. */
bool store_name_ok(const char *name);
/* Appends "free some space" where errno says that the disk is full. Returns -1. */
int store_hint_space(struct error *err, int error_number);
/* The set without its runs, and one run of it. */
int store_load_head(const char *set_dir, struct runset *set, double *created, struct error *err);
int store_load_run(const char *set_dir, const char *run_id, const struct runset *set, struct run *r,
		   struct error *err);
/* store.c: a set with its runs from its folder. */
int store_load_dir(const char *set_dir, struct runset *set, struct error *err);
/* The id that `which` chooses, or a path of a set's folder. Heap; NULL on error. */
char *store_choose(struct store *s, const char *which, bool *is_path, struct error *err);

/* store_owner.c: who makes a .tmp folder. Both under the lock. */
int store_owner_write(const char *dir, struct error *err);
bool store_owner_alive(const char *dir);
/* Removes the unfinished of owners that are gone. Needs the lock. */
void store_sweep(const struct store *s);
/* The one folder; false when its owner lives. */
bool store_sweep_one(const char *dir);

/* store_index.c: the database. Writing happens between index_begin() and index_commit(). */
int index_open(struct store *s, struct error *err);
void index_close(struct store *s);
int index_begin(struct store *s, struct error *err);
int index_commit(struct store *s, struct error *err);
void index_rollback(struct store *s);
int index_exec(struct store *s, const char *sql, struct error *err);
int index_error(struct store *s, struct error *err);
/* An empty index instead of a damaged one. */
int index_replace(struct store *s, struct error *err);
bool index_damaged(const struct store *s);
/* A statement with text parameters; NULL ends them. NULL on error. */
sqlite3_stmt *index_query(struct store *s, struct error *err, const char *sql, ...)
	__attribute__((sentinel));
/* Runs a statement that gives no rows, and ends it; st may be NULL after an error. */
int index_step(struct store *s, sqlite3_stmt *st, struct error *err);

/* store_index_put.c */
#define INDEX_METRIC_BYTES 12
int index_put_set(struct store *s, const struct runset *set, double created, struct error *err);
int index_put_run(struct store *s, const struct runset *set, const struct run *r,
		  struct error *err);
void index_names_free(struct index_names *names);

/* store_index_list.c */
int index_list(struct store *s, struct store_entry **entries, size_t *n, struct error *err);
/* Ids of one column, NULL-terminated; run_text_lines_free() frees. NULL on error. */
char **index_ids(struct store *s, const char *sql, const char *param, struct error *err);
/* Verdict of a run in the index: 1 and *verdict (VERDICT_COUNT: unknown), 0 when absent, -1. */
int index_verdict(struct store *s, const char *set_id, const char *run_id, enum verdict *verdict,
		  struct error *err);
int index_check(struct store *s, void (*report)(void *arg, const char *fault), void *arg,
		struct error *err);

/*
 * store_frame.c: the runs that the index has of a set. Takes *set, of which the index has no part;
 * it is empty afterwards, also on error.
 */
int index_load_frame(struct store *s, struct runset *set, struct frame *f, struct error *err);

/*
 * store_sync.c: the index follows the folders; afresh: it is emptied first, in the same
 * transaction. A damaged index is replaced. Needs the lock, except for a read-only store.
 */
int store_sync(struct store *s, bool afresh, struct error *err);

/* store_sample.c: one zstd stream of u32 length (little-endian) and payload. */
struct sample_writer;
struct sample_writer *sample_writer_open(const char *path, struct error *err);
int sample_writer_add(struct sample_writer *w, const void *payload, uint32_t len,
		      struct error *err);
/* Ends the stream and fsyncs; the writer is gone afterwards. */
int sample_writer_finish(struct sample_writer *w, struct error *err);
void sample_writer_drop(struct sample_writer *w);
int sample_each(const char *path, int (*fn)(void *arg, const struct wire_sample *sample), void *arg,
		struct error *err);

#endif
