/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_STORE_INTERNAL_H
#define MMRIG_STORE_INTERNAL_H
/* Between the files of the store; nobody else includes this. */
#include <sqlite3.h>

#include "results/store.h"

#define STORE_SAMPLE_MAX (64U << 20)
/* Compressed, of one run: ten minutes at ten a second are some 10 MiB. A guest may not fill the disk. */
#define STORE_SAMPLES_MAX (64U << 20)

struct store {
	char *root; /* absolute */
	sqlite3 *db;
	bool read_only; /* the index is in memory */
	int db_code;	/* SQLite's primary code of the last index_error() */
};

/*
 * store_dir.c: the folders. An exclusive lock over everything that makes or sweeps folders, held
 * until the descriptor is closed; -1 on error.
 */
int store_lock(const struct store *s, struct error *err);
/* Names of the sets (of the runs of a set) on disk, sorted; run_text_lines_free() frees. */
char **store_dir_sets(const struct store *s, size_t *n, struct error *err);
char **store_dir_runs(const char *set_dir, size_t *n, struct error *err);
/* A name that may become a folder: letters, digits, "._-", no dot in front, at most 128 bytes. */
bool store_name_ok(const char *name);
/* Appends "free some space" where errno says that the disk is full. Returns -1. */
int store_hint_space(struct error *err, int error_number);
/* The set without its runs, and one run of it. */
int store_load_head(const char *set_dir, struct runset *set, double *created, struct error *err);
int store_load_run(const char *set_dir, const char *run_id, const struct runset *set, struct run *r,
		   struct error *err);

/* store_owner.c: who makes a .tmp folder. Both under the lock. */
int store_owner_write(const char *dir, struct error *err);
bool store_owner_alive(const char *dir);
/* Removes the unfinished of owners that are gone. Needs the lock. */
void store_sweep(const struct store *s);
/* The one folder; false when its owner lives. */
bool store_sweep_one(const char *dir);

/* store_index.c */
int index_open(struct store *s, struct error *err);
void index_close(struct store *s);
int index_put_set(struct store *s, const struct runset *set, double created, struct error *err);
int index_put_run(struct store *s, const struct runset *set, const struct run *r,
		  struct error *err);
int index_list(struct store *s, struct store_entry **entries, size_t *n, struct error *err);
/* Verdict of a run in the index: 1 and *verdict (VERDICT_COUNT: unknown), 0 when absent, -1. */
int index_verdict(struct store *s, const char *set_id, const char *run_id, enum verdict *verdict,
		  struct error *err);
int index_check(struct store *s, void (*report)(void *arg, const char *fault), void *arg,
		struct error *err);
int index_exec(struct store *s, const char *sql, struct error *err);
int index_error(struct store *s, struct error *err);
/* An empty index instead of a damaged one. */
int index_replace(struct store *s, struct error *err);
bool index_damaged(const struct store *s);
/* A statement with text parameters; NULL ends them. NULL on error. */
sqlite3_stmt *index_query(struct store *s, struct error *err, const char *sql, ...)
	__attribute__((sentinel));

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
