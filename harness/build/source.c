// SPDX-License-Identifier: GPL-2.0-only
#include "harness/build/source.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "harness/build/source_impl.h"
#include "harness/kernel/cache.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/util/hash.h"
#include "results/verdict.h"

#define ID_DIGITS 16
#define OBJECT_DIGITS 40
#define MAKEFILE_LIMIT (16UL << 20)

/* What every kernel tree has; also the older ones. */
static const char *const parts[] = { "Makefile", "Kbuild", "Kconfig", "arch/x86", "scripts" };

static int no_kernel(const char *where, const char *part, struct error *err)
{
	return error_set(err, EXIT_USAGE, "%s: no kernel tree: it has no %s", where, part);
}

/* Before all its files are read: it may be a home folder. */
static int check_folder(const char *dir, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		cleanup_free char *path = path_join(dir, parts[i]);

		if (!file_exists(path))
			return no_kernel(dir, parts[i], err);
	}
	return 0;
}

static int check_object(const struct source *s, struct error *err)
{
	const struct git g = source_reading(s);

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		cleanup_free char *name = str_printf("%s:%s", s->object, parts[i]);

		if (git_run(&g, GIT_WORDS("cat-file", "-e", name), NULL, NULL, NULL) != 0)
			return no_kernel(s->what, parts[i], err);
	}
	return 0;
}

/* ---- the version ---- */

/* The value of "NAME = value"; heap, empty when it is not set. */
static char *make_variable(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		const char *q = p + len;

		if (strncmp(p, name, len) != 0)
			continue;
		q += strspn(q, " \t");
		if (*q != '=')
			continue;
		q++;
		q += strspn(q, " \t");
		return xstrndup(q, strcspn(q, " \t\n#"));
	}
	return xstrdup("");
}

static char *makefile_version(const char *text)
{
	cleanup_free char *version = make_variable(text, "VERSION");
	cleanup_free char *level = make_variable(text, "PATCHLEVEL");
	cleanup_free char *sub = make_variable(text, "SUBLEVEL");
	cleanup_free char *extra = make_variable(text, "EXTRAVERSION");

	if (!isdigit((unsigned char)*version) || !isdigit((unsigned char)*level))
		return NULL;
	return str_printf("%s.%s%s%s%s", version, level, *sub ? "." : "", sub, extra);
}

static int read_version(struct source *s, struct error *err)
{
	const struct git g = source_reading(s);
	cleanup_free char *name = str_printf("%s:Makefile", s->object);
	cleanup_free char *text = git_output(&g, GIT_WORDS("cat-file", "blob", name), NULL, err);

	if (!text)
		return error_wrap(err, "%s", s->what);
	s->version = makefile_version(text);
	if (!s->version)
		return error_set(err, EXIT_USAGE,
				 "%s: no kernel tree: its Makefile sets no VERSION and PATCHLEVEL",
				 s->what);
	return 0;
}

/* ---- a user's tree ---- */

static int check_request(const struct source_request *r, const struct user_tree *u,
			 struct error *err)
{
	if (r->rev && !u->git)
		return error_set(
			err, EXIT_USAGE,
			"%s: not the top of a git tree, so it has no revision %s; without one it is "
			"built as it stands",
			u->path, r->rev);
	if (r->rev)
		return 0;
	if (u->bare)
		return error_set(
			err, EXIT_USAGE,
			"%s: a bare repository, which has no files: say which revision is meant",
			u->path);
	return check_folder(u->path, err);
}

static char *tree_id(const struct user_tree *u)
{
	cleanup_free char *hash = hash_bytes(u->path, strlen(u->path));

	return str_printf("tree-%.*s", ID_DIGITS, strchr(hash, ':') + 1);
}

static int take_revision(struct source *s, const struct user_tree *u, struct error *err)
{
	const struct git g = { .dir = u->git };
	cleanup_free char *tree = str_printf("%s^{tree}", s->commit), *text = NULL;

	s->object = git_line(&g, GIT_WORDS("rev-parse", "--verify", "-q", tree), err);
	if (!s->object || user_tree_check_whole(u, s, s->object, err) < 0)
		return -1;
	text = user_tree_describe(u, s->commit);
	s->what = str_printf("%s of %s", text, u->path);
	return 0;
}

static int find_changes(struct source *s, const struct user_tree *u, struct error *err)
{
	const struct git g = source_reading(s);
	cleanup_free char *tree = str_printf("%s^{tree}", s->commit);
	cleanup_free char *was = git_line(&g, GIT_WORDS("rev-parse", "--verify", "-q", tree), err);
	cleanup_free char *text = NULL;

	if (!was)
		return error_wrap(err, "%s", u->path);
	s->dirty = strcmp(was, s->object) != 0;
	text = user_tree_describe(u, s->commit);
	s->what = str_printf("%s%s of %s", text, s->dirty ? "-dirty" : "", u->path);
	if (!s->dirty)
		return 0;
	s->changes = git_output(&g,
				GIT_WORDS("diff-tree", "-p", "--binary", "--full-index",
					  "--no-color", was, s->object),
				NULL, err);
	return s->changes ? 0 : error_wrap(err, "%s", u->path);
}

static int take_files(struct source *s, const struct user_tree *u, struct error *err)
{
	char *scratch = cache_begin(s->dir, err);

	source_tell(s, "looking at the tree's files", -1);
	if (scratch)
		s->object = source_take(s, u, scratch, err);
	cache_end(scratch);
	if (!s->object)
		return -1;
	s->commit = u->git ? user_tree_head(u) : NULL;
	if (s->commit)
		return user_tree_check_whole(u, s, s->object, err) < 0 ? -1 :
									 find_changes(s, u, err);
	s->what = xstrdup(u->path);
	return 0;
}

static int open_tree(const struct source_request *r, struct source *s, struct user_tree *u,
		     struct error *err)
{
	cleanup_free char *id = NULL;

	if (user_tree_open(u, r->tree, err) < 0 || check_request(r, u, err) < 0)
		return -1;
	if (r->rev) {
		s->commit = user_tree_commit(u, r->rev, err);
		if (!s->commit)
			return -1;
	}
	id = tree_id(u);
	if (source_prepare(s, id, u->objects, err) < 0 ||
	    source_set_origin(s, u->path, "", err) < 0)
		return -1;
	return r->rev ? take_revision(s, u, err) : take_files(s, u, err);
}

static int open_any(const struct source_request *r, struct source *s, struct error *err)
{
	__attribute__((cleanup(user_tree_close))) struct user_tree u = { 0 };

	if (!r->tree == !r->debian)
		return error_set(err, EXIT_USAGE, "name a tree or a Debian version, one of them");
	if (r->debian && r->rev)
		return error_set(err, EXIT_USAGE,
				 "%s: has no revision %s: that goes with a git tree", r->debian,
				 r->rev);
	if (r->tree ? open_tree(r, s, &u, err) < 0 : source_open_debian(r, s, err) < 0)
		return -1;
	s->base = xstrdup(s->object);
	return check_object(s, err) < 0 ? -1 : read_version(s, err);
}

int source_open(const struct source_request *r, struct source *s, struct error *err)
{
	*s = (struct source){ .lock = -1,
			      .progress = r->progress,
			      .progress_arg = r->progress_arg };
	if (open_any(r, s, err) < 0) {
		if (s->made)
			source_discard(s);
		source_close(s);
		return -1;
	}
	return 0;
}

void source_close(struct source *s)
{
	char *const text[] = { s->object, s->base, s->commit, s->what, s->version, s->changes };

	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		free(text[i]);
	source_release(s);
	*s = (struct source){ .lock = -1 };
}

/* ---- src/ ---- */

static bool is_at(const struct git *g, const char *object)
{
	return git_run(g, GIT_WORDS("diff-index", "--quiet", "--cached", object), NULL, NULL,
		       NULL) == 0;
}

/*
 * The marker says that src/ may hold files of an object that was never finished: git takes back those
 * that it knows, and the others are removed.
 */
int source_checkout(struct source *s, struct error *err)
{
	cleanup_free char *index = path_join(s->dir, "index"),
			  *marker = path_join(s->dir, "checkout");
	struct git g = source_reading(s);
	bool unfinished = file_exists(marker);

	if (dir_make(s->src, 0755, err) < 0)
		return -1;
	g.work = s->src;
	g.index = index;
	if (!is_at(&g, s->object))
		source_tell(s, "putting the sources in place", -1);
	if (file_write_atomic(marker, "", 0, 0644, err) < 0 ||
	    git_do(&g, GIT_WORDS("read-tree", "--reset", "-u", s->object), err) < 0)
		return error_wrap(err, "%s", s->what);
	if (unfinished && git_do(&g, GIT_WORDS("clean", "-ffdxq"), err) < 0)
		return error_wrap(err, "%s", s->what);
	if (unlink(marker) < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot remove", marker);
	return 0;
}

/* ---- by id, without the lock ---- */

static bool is_object(const char *text)
{
	return strlen(text) == OBJECT_DIGITS && text[strspn(text, "0123456789abcdef")] == '\0';
}

/* The repository of a source; heap. */
static char *find_git(const char *id, struct error *err)
{
	cleanup_free char *root = cache_dir("sources", err), *git = NULL;

	if (!root)
		return NULL;
	git = str_printf("%s/%s/git", root, id);
	if (*id != '.' && !strchr(id, '/') && file_exists(git))
		return STEAL(git);
	error_set(err, EXIT_USAGE, "%s: no such source in the cache", id);
	return NULL;
}

static int check_there(const struct git *g, const char *object, struct error *err)
{
	cleanup_free char *name = str_printf("%s^{tree}", object);

	if (!is_object(object))
		return error_set(err, EXIT_USAGE, "\"%s\": no object of a source", object);
	if (git_run(g, GIT_WORDS("cat-file", "-e", name), NULL, NULL, NULL) == 0)
		return 0;
	return error_set(
		err, EXIT_NO_VERDICT,
		"the sources %.12s are not there any more: the git tree that they came from was "
		"moved, or git gc removed them",
		object);
}

int source_keep(const char *id, const char *kernel, const char *object, struct error *err)
{
	cleanup_free char *git = find_git(id, object ? err : NULL);
	const struct git g = { .dir = git };

	if (!git)
		return object ? -1 : 0;
	if (object && check_there(&g, object, err) < 0)
		return error_wrap(err, "%s", id);
	return source_set_ref(git, "kernels", kernel, object, err);
}

char *source_diff(const char *id, const char *from, const char *to, bool stat, struct error *err)
{
	cleanup_free char *git = find_git(id, err);
	const struct git g = { .dir = git };
	char *text;

	if (!git)
		return NULL;
	if (check_there(&g, from, err) < 0 || check_there(&g, to, err) < 0) {
		error_wrap(err, "%s", id);
		return NULL;
	}
	text = git_output(&g,
			  GIT_WORDS("diff-tree", "-M", "--no-color", "--no-ext-diff",
				    stat ? "--stat=78" : "-p", from, to),
			  NULL, err);
	if (!text)
		error_wrap(err, "%s", id);
	return text;
}
