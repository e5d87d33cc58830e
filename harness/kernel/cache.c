// SPDX-License-Identifier: GPL-2.0-only
#include "harness/kernel/cache.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "harness/kernel/tree.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define NAME_MAX_CHARS 128
/* A removal at work elsewhere is left alone; one that was killed is swept after this. */
#define REMOVAL_SECONDS 600

int cache_check_name(const char *name, struct error *err)
{
	size_t len = strlen(name);

	if (!len || len > NAME_MAX_CHARS || !isalnum((unsigned char)*name))
		return error_set(err, EXIT_USAGE,
				 "\"%.140s\": not a name for a kernel; it begins with a "
				 "letter or digit and has at most %d characters",
				 name, NAME_MAX_CHARS);
	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._+~-", *p))
			return error_set(err, EXIT_USAGE,
					 "\"%s\": not a name for a kernel; use letters, "
					 "digits and . _ + ~ -",
					 name);
	return 0;
}

static void sweep(const char *root)
{
	cleanup_dir DIR *d = opendir(root);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		cleanup_free char *path = path_join(root, e->d_name);
		struct stat st;
		bool old = lstat(path, &st) == 0 && st.st_ctime + REMOVAL_SECONDS < time(NULL);

		if (str_starts(e->d_name, ".new-") || (old && str_starts(e->d_name, ".rm-")))
			dir_remove(path, NULL);
	}
}

int cache_lock(const char *root, void (*wait)(void *arg), void *arg, struct error *err)
{
	cleanup_free char *path = path_join(root, ".lock");
	cleanup_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);

	if (fd < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot open", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (wait)
			wait(arg);
		while (flock(fd, LOCK_EX) < 0)
			if (errno != EINTR)
				return error_errno(err, EXIT_NO_VERDICT, "%s: cannot lock", path);
	}
	sweep(root);
	return STEAL_FD(fd);
}

char *cache_begin(const char *root, struct error *err)
{
	char *path = str_printf("%s/.new-%d", root, (int)getpid());

	if (dir_remove(path, err) < 0 || dir_make(path, 0755, err) < 0) {
		free(path);
		return NULL;
	}
	return path;
}

int cache_commit(const char *root, const char *tree, const char *name, struct kernel *k,
		 struct error *err)
{
	cleanup_free char *path = path_join(root, name);

	if (rename(tree, path) < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot put in place", path);
	if (dir_fsync(root, err) < 0)
		return -1;
	return tree_load(path, k, err);
}

void cache_end(char *scratch)
{
	if (scratch)
		dir_remove(scratch, NULL);
	free(scratch);
}

int cache_find(const char *root, const char *name, struct kernel *k, struct error *err)
{
	cleanup_free char *path = path_join(root, name);

	if (cache_check_name(name, NULL) < 0 || !file_exists(path))
		return 0;
	if (tree_load(path, k, err) < 0)
		return error_wrap(err, "kernel %s", name);
	free(k->name); /* the folder's name counts: it may have been renamed or copied */
	k->name = xstrdup(name);
	return 1;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted names of all entries, good or damaged. */
static char **entry_names(const char *root, size_t *n)
{
	cleanup_dir DIR *d = opendir(root);
	char **names = NULL;
	struct dirent *e;

	*n = 0;
	while (d && (e = readdir(d))) {
		if (cache_check_name(e->d_name, NULL) < 0)
			continue;
		names = xreallocarray(names, *n + 1, sizeof(*names));
		names[(*n)++] = xstrdup(e->d_name);
	}
	if (*n)
		qsort(names, *n, sizeof(*names), compare_names);
	return names;
}

static void free_names(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

int kernel_list(struct kernel **kernels, size_t *n, struct error *err)
{
	cleanup_free char *root = cache_dir("kernels", err);
	size_t nnames;
	char **names;

	*kernels = NULL;
	*n = 0;
	if (!root)
		return -1;
	names = entry_names(root, &nnames);
	*kernels = xcalloc(nnames + 1, sizeof(**kernels));
	for (size_t i = 0; i < nnames; i++) {
		struct kernel *k = &(*kernels)[*n];

		if (cache_find(root, names[i], k, NULL) > 0)
			++*n;
		else
			kernel_free(k);
	}
	free_names(names, nnames);
	return 0;
}

char **kernel_list_problems(void)
{
	cleanup_free char *root = cache_dir("kernels", NULL);
	size_t nnames = 0, n = 0;
	char **names = root ? entry_names(root, &nnames) : NULL;
	char **problems = xcalloc(nnames + 1, sizeof(*problems));

	for (size_t i = 0; i < nnames; i++) {
		struct error e = ERROR_INIT;
		struct kernel k = { 0 };

		if (cache_find(root, names[i], &k, &e) < 0)
			problems[n++] = xstrdup(e.text);
		error_clear(&e);
		kernel_free(&k);
	}
	free_names(names, nnames);
	return problems;
}

void kernel_list_free(struct kernel *kernels, size_t n)
{
	for (size_t i = 0; i < n; i++)
		kernel_free(&kernels[i]);
	free(kernels);
}

static int unknown_name(const char *root, const char *name, struct error *err)
{
	size_t n;
	char **names = entry_names(root, &n);
	const char *nearest = str_nearest(name, (const char *const *)names, n);

	error_set(err, EXIT_USAGE, "%s: no kernel of this name in the cache", name);
	if (nearest)
		error_hint(err, "did you mean %s?", nearest);
	else
		error_hint(err, "mmrig kernel list shows those that are");
	free_names(names, n);
	return -1;
}

int kernel_check_cached(const char *name, struct error *err)
{
	cleanup_free char *root = cache_dir("kernels", err);
	cleanup_free char *path = root ? path_join(root, name) : NULL;

	if (!root)
		return -1;
	if (cache_check_name(name, NULL) < 0 || !file_exists(path))
		return unknown_name(root, name, err);
	return 0;
}

int kernel_remove(const char *name, struct error *err)
{
	cleanup_free char *root = cache_dir("kernels", err);
	cleanup_free char *path = root ? path_join(root, name) : NULL;
	cleanup_free char *doomed = root ? str_printf("%s/.rm-%d", root, (int)getpid()) : NULL;

	if (!root || kernel_check_cached(name, err) < 0)
		return -1;
	if (dir_remove(doomed, err) < 0)
		return -1;
	if (rename(path, doomed) < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot remove", path);
	return dir_remove(doomed, err);
}
