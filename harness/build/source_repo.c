// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/build/source_impl.h"
#include "harness/engine/progress.h"
#include "harness/kernel/cache.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

struct git source_reading(const struct source *s)
{
	return (struct git){ .dir = s->git };
}

struct git source_writing(const struct source *s)
{
	return (struct git){ .dir = s->git, .objects = s->own };
}

void source_tell(const struct source *s, const char *text, double percent)
{
	if (s->progress)
		s->progress(s->progress_arg, text, percent);
}

void source_warn(const struct source *s, const char *fmt, ...)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	cleanup_free char *body = NULL;
	va_list ap;

	va_start(ap, fmt);
	body = str_vprintf(fmt, ap);
	va_end(ap);
	strbuf_adds(&text, "warning: ");
	progress_printable(&text, body); /* it names files */
	source_tell(s, text.data, -1);
}

/* ---- the lock ---- */

static void tell_waiting(void *arg)
{
	source_tell(arg, "waiting for another build of the same source", -1);
}

/* The folder may have been removed while the lock was waited for. */
static bool holds(const char *dir, int lock)
{
	cleanup_free char *path = path_join(dir, ".lock");
	struct stat held, there;

	return fstat(lock, &held) == 0 && stat(path, &there) == 0 && held.st_ino == there.st_ino &&
	       held.st_dev == there.st_dev;
}

static int take_lock(struct source *s, struct error *err)
{
	for (;;) {
		if (dir_make(s->dir, 0755, err) < 0)
			return -1;
		s->lock = cache_lock(s->dir, tell_waiting, s, err);
		if (s->lock < 0)
			return -1;
		if (holds(s->dir, s->lock))
			return 0;
		close(STEAL_FD(s->lock));
	}
}

/* ---- the repository ---- */

/* As git reads it in objects/info/alternates: in double quotes any path can be written. */
static void add_quoted(struct strbuf *sb, const char *path)
{
	strbuf_adds(sb, "\"");
	for (const char *p = path; *p; p++) {
		if (*p == '"' || *p == '\\')
			strbuf_addf(sb, "\\%c", *p);
		else if ((unsigned char)*p < 0x20 || (unsigned char)*p >= 0x7f)
			strbuf_addf(sb, "\\%03o", (unsigned char)*p);
		else
			strbuf_add(sb, p, 1);
	}
	strbuf_adds(sb, "\"\n");
}

static int write_alternates(const struct source *s, const char *alternate, struct error *err)
{
	cleanup_free char *info = path_join(s->git, "objects/info"),
			  *path = path_join(info, "alternates"),
			  *old = file_read(path, 0, NULL, NULL);
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, "../own\n");
	if (alternate)
		add_quoted(&sb, alternate);
	if (old && !strcmp(old, sb.data))
		return 0;
	if (dir_make(info, 0755, err) < 0)
		return -1;
	return file_write_atomic(path, sb.data, sb.len, 0644, err);
}

/* Files are their bytes, whatever a tree's .gitattributes would make of them: this file comes before it. */
static int write_attributes(const char *git, struct error *err)
{
	static const char text[] = "* -text -ident -filter -working-tree-encoding\n";
	cleanup_free char *info = path_join(git, "info"), *path = path_join(info, "attributes");

	if (dir_make(info, 0755, err) < 0)
		return -1;
	return file_write_atomic(path, text, strlen(text), 0644, err);
}

static int make_repository(const struct source *s, struct error *err)
{
	char *scratch = cache_begin(s->dir, err);
	cleanup_free char *git = scratch ? path_join(scratch, "git") : NULL;
	cleanup_free char *own = scratch ? path_join(git, "own") : NULL;
	const struct git g = { 0 };
	int ret = -1;

	if (scratch &&
	    git_do(&g,
		   GIT_WORDS("init", "-q", "--bare", "--object-format=sha1", "--template=", git),
		   err) == 0 &&
	    dir_make(own, 0755, err) == 0 && write_attributes(git, err) == 0)
		ret = rename(git, s->git) < 0 ?
			      error_errno(err, EXIT_NO_VERDICT, "%s: cannot put in place", s->git) :
			      0;
	cache_end(scratch);
	return ret;
}

/* Objects that never got their name, locks, files that were to be renamed. */
static bool is_leftover(const char *name)
{
	return str_starts(name, "tmp_") || str_ends(name, ".tmp") ||
	       (str_ends(name, ".lock") && *name != '.');
}

static void sweep_folder(const char *dir)
{
	cleanup_dir DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (is_leftover(e->d_name))
			unlinkat(dirfd(d), e->d_name, 0);
}

/* With the lock held no git of ours is at work, so that these are of killed ones. */
static void sweep(const struct source *s)
{
	cleanup_dir DIR *d = opendir(s->own);
	struct dirent *e;

	sweep_folder(s->dir);
	while (d && (e = readdir(d))) {
		cleanup_free char *sub = path_join(s->own, e->d_name);

		if (*e->d_name != '.')
			sweep_folder(sub);
	}
}

int source_prepare(struct source *s, const char *id, const char *alternate, struct error *err)
{
	cleanup_free char *root = cache_dir("sources", err);

	if (!root)
		return -1;
	s->id = xstrdup(id);
	s->dir = path_join(root, id);
	s->src = path_join(s->dir, "src");
	s->git = path_join(s->dir, "git");
	s->own = path_join(s->git, "own");
	if (take_lock(s, err) < 0)
		return -1;
	s->made = !file_exists(s->git) && !file_exists(s->src);
	if (!file_exists(s->git) && make_repository(s, err) < 0)
		return -1;
	sweep(s);
	return write_alternates(s, alternate, err);
}

/* Renamed first, so that nobody who waits for the lock finds half of it. */
void source_discard(const struct source *s)
{
	cleanup_free char *root = cache_dir("sources", NULL);
	cleanup_free char *doomed = root ? str_printf("%s/.rm-%d", root, (int)getpid()) : NULL;

	if (doomed && dir_remove(doomed, NULL) == 0 && rename(s->dir, doomed) == 0)
		dir_remove(doomed, NULL);
}

void source_release(struct source *s)
{
	char **const path[] = { &s->id, &s->dir, &s->src, &s->git, &s->own };

	for (size_t i = 0; i < ARRAY_SIZE(path); i++)
		free(STEAL(*path[i]));
	if (s->lock >= 0)
		close(STEAL_FD(s->lock));
}

char *source_write_tree(const struct source *s, const char *index, struct error *err)
{
	struct git g = source_writing(s);

	/* Most of its blobs are the user's, which this view does not see. */
	g.index = index;
	return git_line(&g, GIT_WORDS("write-tree", "--missing-ok"), err);
}

/* ---- small files ---- */

/* A kernel's name may hold what a ref may not. */
static char *ref_path(const char *git, const char *kind, const char *name)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "%s/refs/mmrig/%s/", git, kind);
	for (const char *p = name; *p; p++)
		strbuf_addf(&sb, isalnum((unsigned char)*p) || strchr("_+-", *p) ? "%c" : "%%%02X",
			    (unsigned char)*p);
	return strbuf_steal(&sb);
}

int source_set_ref(const char *git, const char *kind, const char *name, const char *object,
		   struct error *err)
{
	cleanup_free char *path = ref_path(git, kind, name), *text = NULL;
	cleanup_free char *parent = str_printf("%s/refs/mmrig/%s", git, kind);

	if (!object) {
		if (unlink(path) < 0 && errno != ENOENT)
			return error_errno(err, EXIT_NO_VERDICT, "%s: cannot remove", path);
		return 0;
	}
	/* Not by update-ref, whose lock would outlive a kill. */
	text = str_printf("%s\n", object);
	if (dir_make(parent, 0755, err) < 0)
		return -1;
	return file_write_atomic(path, text, strlen(text), 0644, err);
}

char *source_get_ref(const char *git, const char *kind, const char *name)
{
	cleanup_free char *path = ref_path(git, kind, name);
	char *text = file_read(path, 256, NULL, NULL);

	if (text)
		text[strcspn(text, "\n")] = '\0';
	return text;
}

int source_set_origin(const struct source *s, const char *first, const char *second,
		      struct error *err)
{
	cleanup_free char *path = path_join(s->dir, "origin"),
			  *text = str_printf("%s\n%s\n", first, second);

	return file_write_atomic(path, text, strlen(text), 0644, err);
}

bool source_get_origin(const char *dir, char **first, char **second)
{
	cleanup_free char *path = path_join(dir, "origin"), *text = file_read(path, 0, NULL, NULL);
	char *nl = text ? strchr(text, '\n') : NULL;

	if (!nl)
		return false;
	*first = xstrndup(text, (size_t)(nl - text));
	*second = xstrndup(nl + 1, strcspn(nl + 1, "\n"));
	return true;
}

int source_drop_files(const struct source *s, struct error *err)
{
	cleanup_free char *index = path_join(s->dir, "index");

	if (unlink(index) < 0 && errno != ENOENT)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot remove", index);
	return dir_remove(s->src, err);
}
