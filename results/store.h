/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_STORE_H
#define MMRIG_STORE_H
/*
 * Where results live: $MMRIG_RESULTS or ./mmrig-results.
 *
 *	ROOT/mmrig.db			SQLite (WAL): an index that can be rebuilt from what follows
 *	ROOT/RUNSET/runset.json		what was asked: scenario, kernels, variants
 *	ROOT/RUNSET/kernels/NAME/	of a kernel that mmrig built: patches, local changes, config
 *	ROOT/RUNSET/checksums		of runset.json and these, for sha256sum -c
 *	ROOT/RUNSET/owner		who writes it; gone when that is done
 *	ROOT/RUNSET/RUN/run.json	verdict, identity, phases, metrics, reproduce line
 *	ROOT/RUNSET/RUN/console.log
 *	ROOT/RUNSET/RUN/samples.zst	the SAMPLE payloads, framed by u32 length, one zstd stream
 *	ROOT/RUNSET/RUN/checksums	of these three, for sha256sum -c
 *	ROOT/RUNSET/.RUN.tmp/		a run in the making; swept by the next start when its owner is gone
 *
 * A run appears by one rename after everything in it was fsynced, then in one SQLite transaction;
 * a run that is on disk and not in the index (killed in between) is taken in at the next open.
 * Its run.json says "guest-lost" from before the boot until the end. Errors: EXIT_NO_VERDICT,
 * but EXIT_USAGE where the folder cannot be written at the start.
 */
#include "results/run.h"
#include "results/util/error.h"

struct store;
struct store_run; /* a run in the making */

/*
 * root NULL: the default. create: make it where it is missing (else EXIT_USAGE), and insist that it
 * can be written; without it a read-only folder is fine, and is indexed in memory.
 */
int store_open(const char *root, bool create, struct store **s, struct error *err);
void store_close(struct store *s);
const char *store_root(const struct store *s);
/*
 * Would a file of this name stand within a folder of the default root, where run sets are, or be its
 * index? No store need be there.
 */
bool store_owns(const char *path);

/*
 * Gives set->id a unique value and writes runset.json, and the files that its kernels keep, whose names
 * and folders are made such as can be stored.
 */
int store_begin_set(struct store *s, struct runset *set, struct error *err);

/* `initial` has identity and seed filled; its verdict is written as guest-lost. */
int store_begin_run(struct store *s, const struct runset *set, const struct run *initial,
		    struct store_run **sr, struct error *err);
/* The folder in the making, for the engine's scratch files (removed at the end: names in "scratch/"). */
const char *store_run_dir(const struct store_run *sr);
int store_console(struct store_run *sr, const void *data, size_t len, struct error *err);
/* One SAMPLE payload. */
int store_sample(struct store_run *sr, const void *payload, uint32_t len, struct error *err);
/* Renames into place and indexes; sr is gone afterwards, also on error. */
int store_finish_run(struct store_run *sr, const struct runset *set, const struct run *r,
		     struct error *err);
/* Nothing of it is kept. */
void store_abandon_run(struct store_run *sr);

/* By id, a unique prefix or suffix of it, a path, or "last". */
int store_load_set(struct store *s, const char *which, struct runset *set, struct error *err);
/* Newest first: ids; caller frees each and the array. */
int store_list_sets(struct store *s, char ***ids, size_t *n, struct error *err);
struct store_entry {
	char *id, *scenario, *title;
	double created; /* seconds since the epoch */
	unsigned int count[VERDICT_COUNT];
};
/* Newest first, from the index alone. */
int store_list(struct store *s, struct store_entry **entries, size_t *n, struct error *err);
/* Folders of run sets beyond the `readable` ones of the lists: damaged, or of a newer mmrig. */
size_t store_unreadable(struct store *s, size_t readable);
void store_entries_free(struct store_entry *entries, size_t n);
/* Calls back for every sample of a stored run, in order; what fn returns but 0 ends it. */
int store_each_sample(struct store *s, const char *set_id, const char *run_id,
		      int (*fn)(void *arg, const struct wire_sample *sample), void *arg,
		      struct error *err);
/* Drops the index and makes it again from the folders. *runs: how many. */
int store_rebuild(struct store *s, size_t *runs, struct error *err);
/*
 * Makes the metrics of every stored run again from its samples, with the parsers of this mmrig, and
 * the index with them; what no sample holds (the workload's own) stays. A run whose files are damaged
 * is left as it is, and report() called with the fault.
 */
struct store_rederived {
	void (*report)(void *arg, const char *fault);
	void *arg;
	size_t runs, changed, failed; /* filled in; failed counts faults */
	size_t without; /* of the runs: left alone, since their samples were removed on purpose */
};
int store_rederive(struct store *s, struct store_rederived *count, struct error *err);
/*
 * Reads everything that is stored, holds it against its checksums, and compares the index with it.
 * One call of report() a fault, with the path. What is there and has no business there is no fault.
 */
struct store_verified {
	size_t runs;	 /* looked at */
	size_t unsummed; /* of them: an older mmrig recorded them, without checksums */
	size_t without;	 /* of them: their samples were removed on purpose */
};
int store_verify(struct store *s, void (*report)(void *arg, const char *fault), void *arg,
		 struct store_verified *count, struct error *err);
/*
 * Removes the run sets that meet all of `which`, `keep` and `before`, or only their samples; never
 * one that a living mmrig writes. report() is called for each set, in between. A set that is named
 * and cannot be removed is an error before anything is (EXIT_USAGE).
 */
struct store_gone {
	const char *id;
	size_t runs; /* of the set; of which there were samples */
	uint64_t bytes;
	const char *kept; /* why it was not removed, or not all of it; else NULL */
};
struct store_gc {
	char *const *which; /* as in store_load_set(); any when nwhich is 0 */
	size_t nwhich;
	size_t keep;   /* the newest ones stay */
	double before; /* made until then, seconds since the epoch; INFINITY: any time */
	bool samples;  /* only those: the numbers stay */
	bool dry_run;
	void (*report)(void *arg, const struct store_gone *gone);
	void *arg;
	size_t sets, failed; /* filled in: removed, or would be; could not be */
	uint64_t bytes;
};
int store_gc(struct store *s, struct store_gc *gc, struct error *err);
/* Bytes free on the store's file system. */
int store_free_bytes(const struct store *s, uint64_t *bytes, struct error *err);

#endif
