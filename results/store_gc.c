// SPDX-License-Identifier: GPL-2.0-only
/*
 * Removing. A set first gets the name ".ID.gone.tmp", by which it is no set any more, then leaves
 * the disk, then the index. Its owner is the remover: killed in between, the next start sweeps the
 * rest (store_owner.c).
 */
#include <string.h>
#include <sys/stat.h>

#include "results/run_text.h"
#include "results/store_internal.h"
#include "results/store_sums.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

/* Of all files below; what vanishes meanwhile counts nothing. */
static uint64_t bytes_below(const char *path)
{
	cleanup_dir DIR *d = NULL;
	uint64_t bytes = 0;
	struct dirent *e;
	struct stat st;

	if (lstat(path, &st) < 0)
		return 0;
	if (!S_ISDIR(st.st_mode))
		return (uint64_t)st.st_size;
	d = opendir(path);
	while (d && (e = readdir(d))) {
		cleanup_free char *inside = path_join(path, e->d_name);

		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			bytes += bytes_below(inside);
	}
	return bytes;
}

/* From now on it is no set any more. Needs the lock; *gone is what is left to be removed. */
static int retire_set(struct store *s, const char *id, char **gone, struct error *err)
{
	cleanup_free char *dir = path_join(s->root, id), *owner = path_join(dir, "owner");

	if (store_refuse_written(dir, err) < 0)
		return -1;
	*gone = str_printf("%s/.%s.gone.tmp", s->root, id);
	if (dir_remove(*gone, err) < 0)
		return -1;
	/* On a full disk there is no room for it, and room is what is wanted: two may sweep at once. */
	store_owner_write(dir, NULL);
	if (rename(dir, *gone) < 0) {
		error_errno(err, EXIT_NO_VERDICT, "%s: cannot remove", dir);
		unlink(owner);
		return -1;
	}
	return dir_fsync(s->root, err);
}

/* The many files go without the lock, so that nobody waits for them. */
static int remove_set(struct store *s, const char *id, struct error *err)
{
	cleanup_close int lock = store_lock(s, err);
	cleanup_free char *gone = NULL;

	if (lock < 0 || retire_set(s, id, &gone, err) < 0)
		return -1;
	close(STEAL_FD(lock));
	if (dir_remove(gone, err) < 0)
		return -1;
	/* Last, since it takes space; who opens the store before finds out by himself. */
	lock = store_lock(s, err);
	return lock < 0 ? -1 : index_forget_set(s, id, err);
}

/* The samples of one run: noted first, since a file that is missing without a note is a fault. */
static int drop_samples(struct store *s, const char *run_dir, const char *path, struct error *err)
{
	cleanup_close int lock = store_lock(s, err);

	if (lock < 0 || sums_mark_removed(run_dir, "samples.zst", err) < 0)
		return -1;
	if (unlink(path) < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot remove", path);
	return 0;
}

static int remove_samples(struct store *s, const char *run_dir, bool dry_run,
			  struct store_gone *gone, struct error *err)
{
	cleanup_free char *path = path_join(run_dir, "samples.zst");
	struct stat st;

	if (lstat(path, &st) < 0)
		return 0;
	if (!dry_run && drop_samples(s, run_dir, path, err) < 0)
		return -1;
	gone->bytes += (uint64_t)st.st_size;
	gone->runs++;
	return 0;
}

static int remove_set_samples(struct store *s, const char *dir, bool dry_run,
			      struct store_gone *gone, struct error *err)
{
	size_t n;
	char **runs = store_dir_runs(dir, &n, err);
	int ret = runs ? 0 : -1;

	for (size_t i = 0; ret == 0 && i < n; i++) {
		cleanup_free char *run_dir = path_join(dir, runs[i]);

		ret = remove_samples(s, run_dir, dry_run, gone, err);
	}
	run_text_lines_free(runs);
	return ret;
}

static void remove_one(struct store *s, struct store_gc *gc, const struct store_entry *e)
{
	cleanup_free char *dir = path_join(s->root, e->id);
	cleanup_error struct error err = ERROR_INIT;
	struct store_gone gone = { .id = e->id };
	int ret = 0;

	if (store_set_is_written(dir)) {
		gone.kept = "another mmrig is writing it";
		gc->report(gc->arg, &gone);
		return;
	}
	if (gc->samples) {
		ret = remove_set_samples(s, dir, gc->dry_run, &gone, &err);
	} else {
		uint64_t bytes = bytes_below(dir);

		for (int v = 0; v < VERDICT_COUNT; v++)
			gone.runs += e->count[v];
		if (!gc->dry_run)
			ret = remove_set(s, e->id, &err);
		gone.bytes = ret < 0 ? 0 : bytes;
	}
	if (ret < 0) {
		gone.kept = err.text ? err.text : "damaged";
		gc->failed++;
	} else {
		gc->sets++;
	}
	gc->bytes += gone.bytes;
	gc->report(gc->arg, &gone);
}

/* Ids of the sets that were named; NULL on error, of which nothing was removed yet. */
static char **resolve(struct store *s, const struct store_gc *gc, struct error *err)
{
	char **ids = xcalloc(gc->nwhich + 1, sizeof(*ids));

	for (size_t i = 0; i < gc->nwhich; i++) {
		cleanup_free char *dir = NULL;

		ids[i] = store_choose_id(s, gc->which[i], err);
		dir = ids[i] ? path_join(s->root, ids[i]) : NULL;
		if (dir && store_refuse_written(dir, err) == 0)
			continue;
		run_text_lines_free(ids);
		return NULL;
	}
	return ids;
}

static bool is_named(char *const *ids, const char *id)
{
	for (; *ids; ids++)
		if (strcmp(*ids, id) == 0)
			return true;
	return false;
}

/* What there is to choose from: all entries, and the ids that were named. */
static int look(struct store *s, const struct store_gc *gc, struct store_entry **entries, size_t *n,
		char ***ids, struct error *err)
{
	cleanup_close int lock = store_lock(s, err);

	if (lock < 0)
		return -1;
	*ids = resolve(s, gc, err);
	if (!*ids)
		return -1;
	store_sweep(s);
	if (index_list(s, entries, n, err) == 0)
		return 0;
	run_text_lines_free(*ids);
	return -1;
}

int store_gc(struct store *s, struct store_gc *gc, struct error *err)
{
	struct store_entry *entries;
	char **ids;
	size_t n;

	gc->sets = gc->failed = 0;
	gc->bytes = 0;
	if (s->read_only) {
		error_set(err, EXIT_USAGE, "%s: cannot write there", s->root);
		return error_hint(err, "remove as a user who can");
	}
	if (look(s, gc, &entries, &n, &ids, err) < 0)
		return -1;
	/* Newest first. */
	for (size_t i = 0; i < n; i++)
		if (i >= gc->keep && entries[i].created <= gc->before &&
		    (!gc->nwhich || is_named(ids, entries[i].id)))
			remove_one(s, gc, &entries[i]);
	store_entries_free(entries, n);
	run_text_lines_free(ids);
	return 0;
}
