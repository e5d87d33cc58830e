// SPDX-License-Identifier: GPL-2.0-only
/* What is asked of a user's tree. Its repository is told with --git-dir, never looked for: a folder
 * below some other repository is no git tree, and a tree of another owner is one.
 */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/build/source_impl.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define ID_CHARS 12

/* ---- where it is ---- */

static bool has(const char *dir, const char *name)
{
	cleanup_free char *path = path_join(dir, name);

	return file_exists(path);
}

static char *ask_path(const struct user_tree *u, const char *name, struct error *err)
{
	const struct git g = { .dir = u->git };

	return git_line(&g, GIT_WORDS("rev-parse", "--path-format=absolute", "--git-path", name),
			err);
}

/* The ignore file of the user's own, where configured or where git looks for it by itself. Heap. */
static char *find_more_exclude(const struct user_tree *u)
{
	const struct git g = { .dir = u->git, .user_config = true };
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char *path = git_line(&g, GIT_WORDS("config", "--type=path", "--get", "core.excludesFile"),
			      NULL);

	if (!path && xdg && *xdg)
		path = path_join(xdg, "git/ignore");
	else if (!path && home)
		path = path_join(home, ".config/git/ignore");
	if (path && *path != '/') {
		char *relative = path;

		path = path_join(u->path, relative);
		free(relative);
	}
	if (!path || access(path, R_OK) == 0)
		return path;
	free(path);
	return NULL;
}

static int check_format(const struct user_tree *u, struct error *err)
{
	const struct git g = { .dir = u->git };
	cleanup_free char *format =
		git_line(&g, GIT_WORDS("rev-parse", "--show-object-format"), err);

	if (!format) {
		if (err)
			err->status = EXIT_USAGE;
		return error_wrap(err, "%s: git cannot read this tree", u->path);
	}
	if (strcmp(format, "sha1") != 0)
		return error_set(
			err, EXIT_USAGE,
			"%s: a repository of %s objects; only those of sha1 can be built from; "
			"make a clone of another format, or give the files without .git",
			u->path, format);
	return 0;
}

static int find_parts(struct user_tree *u, struct error *err)
{
	if (check_format(u, err) < 0)
		return -1;
	u->objects = ask_path(u, "objects", err);
	u->index = u->objects ? ask_path(u, "index", err) : NULL;
	u->exclude = u->index ? ask_path(u, "info/exclude", err) : NULL;
	u->shallow = u->exclude ? ask_path(u, "shallow", err) : NULL;
	if (!u->shallow)
		return error_wrap(err, "%s", u->path);
	u->more_exclude = find_more_exclude(u);
	return 0;
}

int user_tree_open(struct user_tree *u, const char *path, struct error *err)
{
	struct stat st;

	*u = (struct user_tree){ .path = realpath(path, NULL) };
	if (!u->path || stat(u->path, &st) < 0)
		return error_errno(err, EXIT_USAGE, "%s: cannot open", path);
	if (!S_ISDIR(st.st_mode))
		return error_set(err, EXIT_USAGE, "%s: not a folder, so no tree to build from",
				 path);
	if (has(u->path, ".git")) {
		u->git = path_join(u->path, ".git");
	} else if (has(u->path, "HEAD") && has(u->path, "objects") && has(u->path, "refs")) {
		u->git = xstrdup(u->path);
		u->bare = true;
	}
	return u->git ? find_parts(u, err) : 0;
}

void user_tree_close(struct user_tree *u)
{
	free(u->path);
	free(u->git);
	free(u->objects);
	free(u->index);
	free(u->exclude);
	free(u->shallow);
	free(u->more_exclude);
	*u = (struct user_tree){ 0 };
}

/* ---- commits ---- */

static int no_revision(const struct user_tree *u, const char *rev, const struct strbuf *errors,
		       struct error *err)
{
	cleanup_strbuf struct strbuf quoted = STRBUF_INIT;

	if (errors->len && strstr(errors->data, "is ambiguous"))
		return error_set(err, EXIT_USAGE,
				 "%s: not the only such object in %s; give more digits", rev,
				 u->path);
	error_set(err, EXIT_USAGE, "%s: no such revision in %s", rev, u->path);
	if (!file_exists(u->shallow))
		return -1;
	strbuf_add_quoted(&quoted, u->path);
	return error_hint(err,
			  "this clone is shallow: git -C %s fetch --unshallow --tags gets the rest "
			  "of its history",
			  quoted.data);
}

static int no_commit(const struct user_tree *u, const char *rev, const char *object,
		     struct error *err)
{
	const struct git g = { .dir = u->git };
	cleanup_free char *type = git_line(&g, GIT_WORDS("cat-file", "-t", object), NULL);
	const struct strbuf none = STRBUF_INIT;

	if (!type)
		return no_revision(u, rev, &none, err);
	return error_set(err, EXIT_USAGE, "%s: a %s in %s, no commit", rev, type, u->path);
}

char *user_tree_commit(const struct user_tree *u, const char *rev, struct error *err)
{
	const struct git g = { .dir = u->git };
	cleanup_strbuf struct strbuf output = STRBUF_INIT, errors = STRBUF_INIT;
	cleanup_free char *peeled = NULL;
	char *commit;
	int status = git_run(&g, GIT_WORDS("rev-parse", "--verify", "--end-of-options", rev),
			     &output, &errors, err);

	if (status < 0)
		return NULL;
	if (status > 0 || !output.len) {
		no_revision(u, rev, &errors, err);
		return NULL;
	}
	/* Apart, since a suffix would be a part of the text in ":/text". */
	output.data[strcspn(output.data, "\n")] = '\0';
	peeled = str_printf("%s^{commit}", output.data);
	commit = git_line(&g, GIT_WORDS("rev-parse", "--verify", "-q", "--end-of-options", peeled),
			  NULL);
	if (!commit)
		no_commit(u, rev, output.data, err);
	return commit;
}

char *user_tree_head(const struct user_tree *u)
{
	const struct git g = { .dir = u->git };

	return git_line(&g, GIT_WORDS("rev-parse", "--verify", "-q", "HEAD^{commit}"), NULL);
}

char *user_tree_describe(const struct user_tree *u, const char *commit)
{
	const struct git g = { .dir = u->git };
	char *text = git_line(&g,
			      GIT_WORDS("describe", "--tags", "--always", "--abbrev=12", commit),
			      NULL);

	return text && *text ? text : xstrndup(commit, ID_CHARS);
}

/* ---- partial clones ---- */

static bool is_partial(const struct user_tree *u)
{
	const struct git g = { .dir = u->git };

	return git_run(&g,
		       GIT_WORDS("config", "--get-regexp",
				 "^(extensions[.]partialclone|remote[.].*[.]promisor)$"),
		       NULL, NULL, NULL) == 0;
}

int user_tree_check_whole(const struct user_tree *u, const struct source *s, const char *object,
			  struct error *err)
{
	struct git g = source_reading(s);
	cleanup_free char *list = NULL;
	size_t missing = 0;

	if (!is_partial(u))
		return 0;
	list = git_output(&g,
			  GIT_WORDS("rev-list", "--objects", "--missing=print", "--no-object-names",
				    object),
			  NULL, err);
	if (!list)
		return error_wrap(err, "%s", u->path);
	for (const char *p = list; *p; p += strcspn(p, "\n"), p += *p == '\n')
		missing += *p == '?';
	if (!missing)
		return 0;
	return error_set(
		err, EXIT_USAGE,
		"%s: a partial clone that lacks %zu of the files of this revision, and nothing is "
		"fetched behind your back; git checkout of the revision gets them",
		u->path, missing);
}
