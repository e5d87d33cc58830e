// SPDX-License-Identifier: GPL-2.0-only
#include "results/store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "results/run_text.h"
#include "results/store_internal.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

#define SET_FREE_HINT "set MMRIG_RESULTS to a folder that can be written"

static const char *default_root(void)
{
	const char *env = getenv("MMRIG_RESULTS");

	return env && *env ? env : "mmrig-results";
}

/* Every failure before anything was started is one of usage. */
static int as_usage(struct error *err)
{
	if (err && err->text)
		err->status = EXIT_USAGE;
	return -1;
}

static int find_root(const char *root, bool create, struct store *s, struct error *err)
{
	struct stat st;

	if (stat(root, &st) < 0) {
		if (errno != ENOENT)
			return error_errno(err, EXIT_USAGE, "%s: cannot open", root);
		if (!create)
			return error_set(
				err, EXIT_USAGE,
				"%s: no such folder, so there are no results; "
				"start with mmrig run, or set MMRIG_RESULTS to where they are",
				root);
		if (dir_make(root, 0755, err) < 0) {
			error_hint(err, SET_FREE_HINT);
			return as_usage(err);
		}
	} else if (!S_ISDIR(st.st_mode)) {
		return error_set(err, EXIT_USAGE, "%s: is no folder; " SET_FREE_HINT, root);
	}
	s->root = realpath(root, NULL);
	if (!s->root)
		return error_errno(err, EXIT_USAGE, "%s: cannot open", root);
	s->read_only = faccessat(AT_FDCWD, s->root, R_OK | W_OK | X_OK, AT_EACCESS) < 0;
	if (s->read_only && create) {
		error_errno(err, EXIT_USAGE, "%s: cannot write there", s->root);
		return error_hint(err, SET_FREE_HINT);
	}
	return 0;
}

static int open_locked(struct store *s, struct error *err)
{
	cleanup_close int lock = s->read_only ? -1 : store_lock(s, err);

	if (lock < 0 && !s->read_only)
		return -1;
	if (!s->read_only)
		store_sweep(s);
	if (index_open(s, err) < 0)
		return -1;
	return store_sync(s, false, err);
}

int store_open(const char *root, bool create, struct store **store, struct error *err)
{
	struct store *s = xcalloc(1, sizeof(*s));
	int ret = find_root(root ? root : default_root(), create, s, err);

	if (ret == 0) {
		ret = open_locked(s, err);
		if (ret < 0 && create)
			as_usage(err);
	}
	if (ret < 0 && s->root && !create && !s->read_only) {
		/* A full disk must not hide what is on it: reading needs no index on disk. */
		index_close(s);
		s->read_only = true;
		ret = open_locked(s, err);
		if (ret == 0 && err)
			error_clear(err);
	}
	if (ret < 0) {
		store_close(s);
		return -1;
	}
	*store = s;
	return 0;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	store_release(s);
	index_close(s);
	free(s->root);
	free(s);
}

bool store_owns(const char *path)
{
	cleanup_free char *folder = file_parent(path), *root = realpath(default_root(), NULL);
	cleanup_free char *real = realpath(folder, NULL);
	const char *name = strrchr(path, '/');
	size_t len = root ? strlen(root) : 0;

	if (!len || !real || strncmp(real, root, len) != 0)
		return false;
	return real[len] == '/' || (!real[len] && str_starts(name ? name + 1 : path, "mmrig.db"));
}

const char *store_root(const struct store *s)
{
	return s->root;
}

int store_list(struct store *s, struct store_entry **entries, size_t *n, struct error *err)
{
	return index_list(s, entries, n, err);
}

void store_entries_free(struct store_entry *entries, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(entries[i].id);
		free(entries[i].scenario);
		free(entries[i].title);
	}
	free(entries);
}

int store_list_sets(struct store *s, char ***ids, size_t *n, struct error *err)
{
	struct store_entry *entries;

	if (index_list(s, &entries, n, err) < 0)
		return -1;
	*ids = xcalloc(*n + 1, sizeof(**ids));
	for (size_t i = 0; i < *n; i++)
		(*ids)[i] = STEAL(entries[i].id);
	store_entries_free(entries, *n);
	return 0;
}

static int load_runs(const char *set_dir, struct runset *set, struct error *err)
{
	size_t n;
	char **ids = store_dir_runs(set_dir, &n, err);
	int ret = 0;

	if (!ids)
		return -1;
	set->run = xcalloc(n, sizeof(*set->run));
	for (size_t i = 0; ret == 0 && i < n; i++) {
		ret = store_load_run(set_dir, ids[i], set, &set->run[i], err);
		if (ret == 0)
			set->nruns++;
		else
			error_hint(err, "move the folder of run %s away to read the others",
				   ids[i]);
	}
	run_text_lines_free(ids);
	return ret;
}

int store_load_dir(const char *set_dir, struct runset *set, struct error *err)
{
	if (store_load_head(set_dir, set, NULL, err) < 0)
		return -1;
	if (load_runs(set_dir, set, err) == 0)
		return 0;
	runset_free(set);
	return -1;
}

/* The one id that `which` is, begins or ends; NULL with the error. */
static const char *choose(char *const *ids, size_t n, const char *which, struct error *err)
{
	const char *found = NULL, *nearest;

	if (n == 0) {
		error_set(err, EXIT_USAGE, "%s: the store has no run set yet; start with mmrig run",
			  which);
		return NULL;
	}
	if (strcmp(which, "last") == 0)
		return ids[0];
	for (size_t i = 0; i < n; i++)
		if (strcmp(ids[i], which) == 0)
			return ids[i];
	for (size_t i = 0; *which && i < n; i++) {
		if (!str_starts(ids[i], which) && !str_ends(ids[i], which))
			continue;
		if (found) {
			error_set(err, EXIT_USAGE,
				  "%s: is more than one run set: %s, %s; give more of it", which,
				  found, ids[i]);
			return NULL;
		}
		found = ids[i];
	}
	if (found)
		return found;
	nearest = str_nearest(which, (const char *const *)ids, n);
	error_set(err, EXIT_USAGE, "%s: no such run set; %s%s%smmrig results list shows them",
		  which, nearest ? "did you mean " : "", nearest ? nearest : "",
		  nearest ? "? " : "");
	return NULL;
}

size_t store_unreadable(struct store *s, size_t readable)
{
	size_t n = 0;

	run_text_lines_free(store_dir_sets(s, &n, NULL));
	return n > readable ? n - readable : 0;
}

/* The set that is asked for may be there, and damaged: then that is the error. */
static void name_unreadable(struct store *s, size_t readable, const char *which, struct error *err)
{
	cleanup_free char *dir = path_join(s->root, which);
	cleanup_error struct error e = ERROR_INIT;
	size_t n = store_unreadable(s, readable);
	struct runset set;

	if (!n)
		return;
	if (store_name_ok(which) && file_exists(dir)) {
		if (store_load_head(dir, &set, NULL, &e) == 0)
			runset_free(&set);
		else
			error_move(err, &e);
	} else if (!readable) {
		error_set(err, EXIT_NO_VERDICT, "%s: no run set can be read, and %zu cannot; mmrig results verify names them",
			  which, n);
	} else {
		error_hint(err, "%zu more cannot be read, mmrig results verify names them", n);
	}
}

char *store_choose(struct store *s, const char *which, bool *is_path, struct error *err)
{
	cleanup_free char *mark = path_join(which, "runset.json");
	const char *id;
	char **ids, *chosen;
	size_t n;

	*is_path = *which && strchr(which, '/') && file_exists(mark);
	if (*is_path)
		return xstrdup(which);
	if (store_list_sets(s, &ids, &n, err) < 0)
		return NULL;
	id = choose(ids, n, which, err);
	if (!id)
		name_unreadable(s, n, which, err);
	chosen = id ? xstrdup(id) : NULL;
	run_text_lines_free(ids);
	return chosen;
}

char *store_id_of_path(const struct store *s, const char *path)
{
	char *real = realpath(path, NULL), *slash = real ? strrchr(real, '/') : NULL, *id = NULL;

	if (slash && strncmp(real, s->root, (size_t)(slash - real)) == 0 &&
	    s->root[slash - real] == '\0' && store_name_ok(slash + 1))
		id = xstrdup(slash + 1);
	free(real);
	return id;
}

char *store_choose_id(struct store *s, const char *which, struct error *err)
{
	bool is_path;
	char *chosen = store_choose(s, which, &is_path, err), *id;

	if (!chosen || !is_path)
		return chosen;
	id = store_id_of_path(s, chosen);
	if (!id)
		error_set(err, EXIT_USAGE,
			  "%s: is no run set of %s; set MMRIG_RESULTS to the folder it is in", chosen,
			  s->root);
	free(chosen);
	return id;
}

int store_load_set(struct store *s, const char *which, struct runset *set, struct error *err)
{
	bool is_path;
	cleanup_free char *id = store_choose(s, which, &is_path, err), *dir = NULL;

	memset(set, 0, sizeof(*set));
	if (!id)
		return -1;
	dir = is_path ? xstrdup(id) : path_join(s->root, id);
	return store_load_dir(dir, set, err);
}

int store_each_sample(struct store *s, const char *set_id, const char *run_id,
		      int (*fn)(void *arg, const struct wire_sample *sample), void *arg,
		      struct error *err)
{
	cleanup_free char *path = NULL;

	if (!store_name_ok(set_id) || !store_name_ok(run_id))
		return error_set(err, EXIT_USAGE, "%s/%s: no such run", set_id, run_id);
	path = str_printf("%s/%s/%s/samples.zst", s->root, set_id, run_id);
	return sample_each(path, fn, arg, err);
}

int store_free_bytes(const struct store *s, uint64_t *bytes, struct error *err)
{
	struct statvfs vfs;

	if (statvfs(s->root, &vfs) < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot tell its free space", s->root);
	*bytes = (uint64_t)vfs.f_bavail * vfs.f_frsize;
	return 0;
}
