// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects belong to a config, a compiler and options, and so to any number of kernels; logs to one.
 * Both stand in CACHE/sources/ID, whose lock a build holds.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "harness/build/build.h"
#include "harness/kernel/tree.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define OBJ "obj-"
#define LOG "log-"
#define LOG_END ".txt"

/* ---- who uses what ---- */

struct user {
	char *name, *source_id;
	char *obj;    /* NULL: of an older record */
	char *config; /* path */
};

struct users {
	struct user *item;
	size_t n;
};

static void users_free(struct users *u)
{
	for (size_t i = 0; i < u->n; i++) {
		free(u->item[i].name);
		free(u->item[i].source_id);
		free(u->item[i].obj);
		free(u->item[i].config);
	}
	free(u->item);
}
#define cleanup_users __attribute__((cleanup(users_free)))

static void users_add(struct users *u, struct kernel *k)
{
	struct build_record b;

	if (build_record_load(k, &b, NULL) <= 0)
		return;
	u->item = xreallocarray(u->item, u->n + 1, sizeof(*u->item));
	u->item[u->n++] = (struct user){ STEAL(k->name), STEAL(b.source_id), STEAL(b.obj),
					 STEAL(k->config) };
	build_record_free(&b);
}

/* The kernels of the cache that were built here. */
static int users_read(struct users *u, struct error *err)
{
	struct kernel *list;
	size_t n;

	if (kernel_list(&list, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		users_add(u, &list[i]);
	kernel_list_free(list, n);
	return 0;
}

/* Where a record does not say it, those of the same config may be its objects. */
static bool uses(const struct user *u, const char *id, const char *dir, const char *obj)
{
	cleanup_free char *path = NULL, *theirs = NULL, *ours = NULL;

	if (strcmp(u->source_id, id) != 0)
		return false;
	if (u->obj)
		return strcmp(u->obj, obj) == 0;
	path = str_printf("%s/%s/.config", dir, obj);
	theirs = file_read(path, 0, NULL, NULL);
	ours = u->config ? file_read(u->config, 0, NULL, NULL) : NULL;
	return theirs && ours && strcmp(theirs, ours) == 0;
}

static const char *find_user(const struct users *u, const char *id, const char *dir,
			     const char *obj)
{
	for (size_t i = 0; i < u->n; i++)
		if (uses(&u->item[i], id, dir, obj))
			return u->item[i].name;
	return NULL;
}

/* ---- folders ---- */

/* It comes from a file. */
static bool is_part(const char *name)
{
	return name && *name && *name != '.' && !strchr(name, '/');
}

/* CACHE/sources/ID; heap, NULL when there is none. */
static char *source_dir(const char *id)
{
	cleanup_free char *root = cache_dir("sources", NULL);
	char *dir = root && is_part(id) ? path_join(root, id) : NULL;

	if (dir && file_exists(dir))
		return dir;
	free(dir);
	return NULL;
}

/* Path of a record's objects; heap, NULL when there are none. */
static char *objects_path(const struct build_record *b)
{
	cleanup_free char *dir = source_dir(b->source_id), *path = NULL;

	if (!dir || !is_part(b->obj) || !str_starts(b->obj, OBJ))
		return NULL;
	path = path_join(dir, b->obj);
	return file_exists(path) ? STEAL(path) : NULL;
}

/* The lock that a build holds, or -1. */
static int lock_source(const char *dir, struct error *err)
{
	cleanup_free char *path = path_join(dir, ".lock");
	cleanup_close int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);

	if (lock < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot open", path);
	if (flock(lock, LOCK_EX | LOCK_NB) < 0)
		return error_set(err, EXIT_NO_VERDICT, "%s: a build is at work on it; its objects stay",
				 dir);
	return STEAL_FD(lock);
}

/* Renamed first: half a folder of objects would pass for a whole one. */
static int remove_folder(const char *dir, const char *obj, struct error *err)
{
	cleanup_free char *path = path_join(dir, obj);
	cleanup_free char *doomed = str_printf("%s/.rm-%d", dir, (int)getpid());

	if (dir_remove(doomed, err) < 0)
		return -1;
	if (rename(path, doomed) < 0)
		return errno == ENOENT ? 0 :
					 error_errno(err, EXIT_NO_VERDICT, "%s: cannot remove", path);
	return dir_remove(doomed, err);
}

/* ---- of one kernel ---- */

void build_objects_free(struct build_objects *o)
{
	free(o->user);
	*o = (struct build_objects){ 0 };
}

void build_objects_find(const struct build_record *b, struct build_objects *o)
{
	cleanup_users struct users users = { 0 };
	cleanup_free char *path = objects_path(b), *dir = path ? file_parent(path) : NULL;
	const char *user;

	*o = (struct build_objects){ 0 };
	if (!path || users_read(&users, NULL) < 0)
		return;
	o->bytes = tree_disk_usage(path);
	user = find_user(&users, b->source_id, dir, b->obj);
	o->user = user ? xstrdup(user) : NULL;
}

int build_objects_remove(const struct build_record *b, struct error *err)
{
	cleanup_free char *path = objects_path(b), *dir = path ? file_parent(path) : NULL;
	cleanup_close int lock = -1;

	if (!path)
		return 0;
	lock = lock_source(dir, err);
	return lock < 0 ? -1 : remove_folder(dir, b->obj, err);
}

void build_log_remove(const struct build_record *b, const char *name)
{
	cleanup_free char *dir = source_dir(b->source_id);
	cleanup_free char *path = dir ? str_printf("%s/" LOG "%s" LOG_END, dir, name) : NULL;

	if (path)
		unlink(path);
}

/* ---- of all ---- */

static bool has_kernel(const struct users *u, const char *id, const char *log)
{
	size_t len = strlen(log) - strlen(LOG) - strlen(LOG_END);

	for (size_t i = 0; i < u->n; i++)
		if (strcmp(u->item[i].source_id, id) == 0 && strlen(u->item[i].name) == len &&
		    strncmp(u->item[i].name, log + strlen(LOG), len) == 0)
			return true;
	return false;
}

static bool is_log(const char *name)
{
	return str_starts(name, LOG) && str_ends(name, LOG_END) &&
	       strlen(name) > strlen(LOG) + strlen(LOG_END);
}

static int prune_entry(const struct users *u, const char *id, const char *dir, const char *name,
		       uint64_t *bytes, struct error *err)
{
	cleanup_free char *path = path_join(dir, name);
	bool objects = str_starts(name, OBJ) && !find_user(u, id, dir, name);
	uint64_t size = objects ? tree_disk_usage(path) : 0;

	if (is_log(name) && !has_kernel(u, id, name) && unlink(path) < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot remove", path);
	if (!objects)
		return 0;
	if (remove_folder(dir, name, err) < 0)
		return -1;
	*bytes += size;
	return 0;
}

/* The kernels are read with the lock held: a build that ended meanwhile has put its own there. */
static int prune_source(const char *root, const char *id, uint64_t *bytes, struct error *err)
{
	cleanup_users struct users users = { 0 };
	cleanup_free char *dir = path_join(root, id);
	cleanup_close int lock = lock_source(dir, err);
	cleanup_dir DIR *d = lock < 0 ? NULL : opendir(dir);
	struct dirent *e;

	if (lock < 0 || users_read(&users, err) < 0)
		return -1;
	while (d && (e = readdir(d)))
		if (prune_entry(&users, id, dir, e->d_name, bytes, err) < 0)
			return -1;
	return 0;
}

int build_objects_prune(uint64_t *bytes, struct error *err)
{
	cleanup_free char *root = cache_dir("sources", err);
	cleanup_dir DIR *d = root ? opendir(root) : NULL;
	struct dirent *e;
	int ret = 0;

	*bytes = 0;
	if (!root)
		return -1;
	if (!d)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot read", root);
	while ((e = readdir(d)))
		if (*e->d_name != '.' && prune_source(root, e->d_name, bytes, err) < 0)
			ret = -1;
	return ret;
}
