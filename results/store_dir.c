// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "results/run_json.h"
#include "results/run_text.h"
#include "results/store_internal.h"
#include "results/store_kernels.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

int store_hint_space(struct error *err, int error_number)
{
	if (error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG)
		error_hint(err, "free some space, or set MMRIG_RESULTS to a folder that has more");
	return -1;
}

int store_lock(const struct store *s, struct error *err)
{
	cleanup_free char *path = path_join(s->root, ".lock");
	cleanup_close int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (fd < 0) {
		error_errno(err, EXIT_NO_VERDICT, "%s: cannot create", path);
		return store_hint_space(err, errno);
	}
	while (flock(fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return error_errno(err, EXIT_NO_VERDICT, "%s: cannot lock", path);
	return STEAL_FD(fd);
}

bool store_name_ok(const char *name)
{
	size_t n =
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

	return n > 0 && n <= 128 && name[n] == '\0' && name[0] != '.';
}

/* Shorter first: "9999" comes before "10000". */
int store_by_run_id(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	size_t n = strlen(x), m = strlen(y);

	return n != m ? (n > m) - (n < m) : strcmp(x, y);
}

int store_by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool has_file(int fd, const char *name, const char *mark)
{
	cleanup_free char *inside = str_printf("%s/%s", name, mark);

	return faccessat(fd, inside, F_OK, 0) == 0;
}

/* Folders in `dir` that have a file `mark`; NULL: all that may be one. */
static char **folders_with(const char *dir, const char *mark, size_t *n, struct error *err)
{
	cleanup_dir DIR *d = opendir(dir);
	size_t room = 16;
	struct dirent *e;
	char **names;

	*n = 0;
	if (!d) {
		error_errno(err, EXIT_NO_VERDICT, "%s: cannot read folder", dir);
		return NULL;
	}
	names = xcalloc(room, sizeof(*names));
	while ((e = readdir(d))) {
		/* A file system that gives no types says DT_UNKNOWN, and a link may be a folder. */
		if (!store_name_ok(e->d_name) || e->d_type == DT_REG ||
		    (!mark && strcmp(e->d_name, STORE_KERNELS) == 0) ||
		    (mark && !has_file(dirfd(d), e->d_name, mark)))
			continue;
		if (*n + 1 == room)
			names = xreallocarray(names, room *= 2, sizeof(*names));
		names[(*n)++] = xstrdup(e->d_name);
		names[*n] = NULL;
	}
	return names;
}

char **store_dir_sets(const struct store *s, size_t *n, struct error *err)
{
	char **names = folders_with(s->root, "runset.json", n, err);

	if (names)
		qsort(names, *n, sizeof(*names), store_by_name);
	return names;
}

char **store_dir_runs(const char *set_dir, size_t *n, struct error *err)
{
	char **names = folders_with(set_dir, "run.json", n, err);

	if (names)
		qsort(names, *n, sizeof(*names), store_by_run_id);
	return names;
}

char **store_dir_names(const char *set_dir, size_t *n, struct error *err)
{
	char **names = folders_with(set_dir, NULL, n, err);

	if (names)
		qsort(names, *n, sizeof(*names), store_by_name);
	return names;
}

static bool has_inside(const char *dir, const char *name, const char *mark)
{
	cleanup_free char *path = str_printf("%s/%s/%s", dir, name, mark);

	return file_exists(path);
}

bool store_is_run(const char *set_dir, const char *name)
{
	return has_inside(set_dir, name, "run.json");
}

bool store_is_set(const char *root, const char *name)
{
	return has_inside(root, name, "runset.json");
}

int store_load_head(const char *set_dir, struct runset *set, double *created, struct error *err)
{
	cleanup_free char *path = path_join(set_dir, "runset.json");
	json_t *o = run_json_load(path, err);
	int ret;

	if (!o)
		return -1;
	ret = runset_from_json(path, o, set, created, err);
	json_decref(o);
	if (ret == 0 && store_check_kernels(path, set, err) < 0) {
		runset_free(set);
		ret = -1;
	}
	return ret;
}

int store_load_run(const char *set_dir, const char *run_id, const struct runset *set, struct run *r,
		   struct error *err)
{
	cleanup_free char *path = str_printf("%s/%s/run.json", set_dir, run_id);
	json_t *o = run_json_load(path, err);
	int ret;

	if (!o)
		return -1;
	ret = run_from_json(path, o, set, r, err);
	json_decref(o);
	if (ret < 0) {
		run_free(r);
		return -1;
	}
	if (strcmp(r->id, run_id) != 0) {
		ret = error_set(err, EXIT_NO_VERDICT, "%s: damaged: it says that it is run \"%s\"",
				path, r->id);
		run_free(r);
	}
	return ret;
}
