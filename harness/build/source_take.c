// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files as they stand, made into a tree object. The user's index is copied, so that what git knows to
 * be unchanged is not read again; where there is none, we keep an index of our own.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/build/source_impl.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

#define INDEX_LIMIT (1UL << 30)
#define BULK_NAMES 1000
#define PART_NAMES 5000
#define EXCLUDE_RESULTS "/mmrig-results/"

/* ---- lists of names, each with a NUL behind it ---- */

/* The next one, or NULL; start with NULL. */
static const char *name_next(const char *list, size_t len, const char *at)
{
	at = at ? at + strlen(at) + 1 : list;
	return at && at < list + len ? at : NULL;
}

static size_t name_count(const char *list, size_t len)
{
	size_t n = 0;

	for (const char *p = NULL; (p = name_next(list, len, p));)
		n++;
	return n;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Pointers into the list, sorted; heap. */
static const char **sort_names(const char *list, size_t len, size_t *n)
{
	const char **names = xcalloc(name_count(list, len) + 1, sizeof(*names));

	*n = 0;
	for (const char *p = NULL; (p = name_next(list, len, p));)
		names[(*n)++] = p;
	qsort(names, *n, sizeof(*names), compare_names);
	return names;
}

static void add_name(struct strbuf *sb, const char *name)
{
	strbuf_add(sb, name, strlen(name) + 1);
}

/* ---- update-index ---- */

/* update-index on names, by a file in scratch. */
static int update_index(struct git g, const char *const *words, const struct strbuf *names,
			const char *scratch, struct error *err)
{
	cleanup_free char *path = path_join(scratch, "names");

	if (!names->len)
		return 0;
	if (file_write_atomic(path, names->data, names->len, 0644, err) < 0)
		return -1;
	g.input = path;
	return git_do(&g, words, err);
}

/* At most `max` of them from *at on, which moves behind them. */
static void next_names(const struct strbuf *names, size_t *at, size_t max, struct strbuf *part)
{
	size_t start = *at;

	for (size_t n = 0; n < max && *at < names->len; n++)
		*at += strlen(names->data + *at) + 1;
	part->len = 0;
	strbuf_add(part, names->data + start, *at - start);
}

/*
 * The index gets these files as they are in the work tree, and the repository their contents. In parts,
 * for the percents: where git tells by itself how it gets on (--verbose), it ends the pack at each file.
 */
static int take_names(const struct source *s, const char *work, const char *index,
		      const struct strbuf *names, const char *text, const char *scratch,
		      struct error *err)
{
	cleanup_strbuf struct strbuf part = STRBUF_INIT;
	struct git g = source_writing(s);

	g.work = work;
	g.index = index;
	g.bulk = name_count(names->data, names->len) > BULK_NAMES;
	for (size_t at = 0; at < names->len;) {
		source_tell(s, text, 100.0 * (double)at / (double)names->len);
		next_names(names, &at, PART_NAMES, &part);
		if (update_index(g,
				 GIT_WORDS("update-index", "--add", "--remove", "--replace", "-z",
					   "--stdin"),
				 &part, scratch, err) < 0)
			return -1;
	}
	return 0;
}

/* Files that git does not know: what cannot be a source is left out. */
static void add_unknown(const struct source *s, const char *work, const char *list, size_t len,
			struct strbuf *names)
{
	for (const char *p = NULL; (p = name_next(list, len, p));) {
		cleanup_free char *path = path_join(work, p);
		struct stat st;

		if (str_ends(p, "/"))
			source_warn(s, "%s: a git repository of its own, left out of the sources",
				    path);
		else if (lstat(path, &st) == 0 && st.st_size > (off_t)SOURCE_FILE_MAX)
			source_warn(s, "%s: %ld MB, left out of the sources", path,
				    (long)(st.st_size / 1000000));
		else
			add_name(names, p);
	}
}

/* ---- what is ignored ---- */

struct words {
	const char **item;
	size_t n;
};

static void words_add(struct words *w, char *text)
{
	w->item = xreallocarray(w->item, w->n + 2, sizeof(*w->item));
	w->item[w->n++] = text;
	w->item[w->n] = NULL;
}

static void words_free(struct words *w)
{
	for (size_t i = 0; i < w->n; i++)
		free((char *)w->item[i]);
	free(w->item);
}

static void words_exclude(struct words *w, const char *mark, const char *pattern)
{
	words_add(w, xstrdup("-x"));
	words_add(w, str_printf("%s%s", mark, pattern));
}

/* A pattern of the top .gitignore, said for the top folder alone. */
static void exclude_at_top(struct words *w, char *line)
{
	bool not = *line == '!';
	char *pattern = line + not, *slash = strchr(pattern, '/');

	words_exclude(w, not ? (slash && slash[1] ? "!" : "!/") : (slash && slash[1] ? "" : "/"),
		      pattern);
}

/*
 * The .gitignore of Debian's tarballs ends with that of their packaging, which ignores all but
 * debian/. There the top folder is judged by the other lines, from the command line, which comes
 * before the file.
 */
static void exclude_like_debian(struct words *w, const char *work)
{
	cleanup_free char *path = path_join(work, ".gitignore"),
			  *text = file_read(path, 0, NULL, NULL);
	char *save = NULL;

	if (!text || (!str_starts(text, "/*\n") && !strstr(text, "\n/*\n")))
		return;
	words_exclude(w, "", "!/*");
	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		if (*l != '#' && *l != ' ' && strcmp(l, "/*") != 0)
			exclude_at_top(w, l);
}

/* Of all files that are not ignored and not in the index. words_free(). */
static struct words list_words(const char *work)
{
	static const char *const start[] = { "ls-files", "-o", "-z",
					     "--exclude-per-directory=.gitignore" };
	struct words w = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(start); i++)
		words_add(&w, xstrdup(start[i]));
	exclude_like_debian(&w, work);
	words_exclude(&w, "", EXCLUDE_RESULTS);
	return w;
}

/* ---- a git tree ---- */

/*
 * The time of the file counts too: entries that are not older than it are looked at again. false:
 * there is none that can be read.
 */
static bool copy_index(const char *from, const char *to)
{
	cleanup_close int fd = open(from, O_RDONLY | O_CLOEXEC);
	cleanup_free char *self = str_printf("/proc/self/fd/%d", fd), *data = NULL;
	struct timespec times[2];
	struct stat st;
	size_t len;

	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	data = file_read(self, INDEX_LIMIT, &len, NULL);
	if (!data || file_write_atomic(to, data, len, 0644, NULL) < 0)
		return false;
	times[0] = times[1] = st.st_mtim;
	return utimensat(AT_FDCWD, to, times, 0) == 0;
}

/* Files that the user told git to take for unchanged are looked at all the same. */
static int forget_assumptions(struct git g, const char *list, size_t len, const char *scratch,
			      struct error *err)
{
	cleanup_strbuf struct strbuf names = STRBUF_INIT;

	for (const char *p = NULL; (p = name_next(list, len, p));)
		if (*p >= 'a' && *p <= 'z' && p[1] == ' ')
			add_name(&names, p + 2);
	return update_index(g, GIT_WORDS("update-index", "--no-assume-unchanged", "-z", "--stdin"),
			    &names, scratch, err);
}

/* From the user's index, or where that will not do (a split one) from the commit. */
static int seed_index(const struct git *g, const struct user_tree *u, const char *commit,
		      const char *scratch, struct error *err)
{
	cleanup_strbuf struct strbuf list = STRBUF_INIT;
	cleanup_free char *tree = str_printf("%s^{tree}", commit);

	if (copy_index(u->index, g->index) &&
	    git_run(g, GIT_WORDS("ls-files", "-v", "-z"), &list, NULL, NULL) == 0)
		return forget_assumptions(*g, list.data, list.len, scratch, err);
	unlink(g->index);
	return git_do(g, GIT_WORDS("read-tree", tree), err);
}

/* Entries whose contents are what they were get their new times; the rest differs. */
static int refresh_index(const struct git *g, struct error *err)
{
	cleanup_strbuf struct strbuf errors = STRBUF_INIT;
	int status = git_run(g,
			     GIT_WORDS("update-index", "-q", "--unmerged", "--ignore-missing",
				       "--really-refresh", "--force-write-index"),
			     NULL, &errors, err);

	return status >= 128 ? git_failed(g, "update-index", status, &errors, err) :
	       status < 0    ? -1 :
			       0;
}

static char *list_unknown(const struct git *g, const struct user_tree *u, size_t *len,
			  struct error *err)
{
	__attribute__((cleanup(words_free))) struct words w = list_words(u->path);
	const char *const files[] = { u->more_exclude, u->exclude };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (files[i] && access(files[i], R_OK) == 0)
			words_add(&w, str_printf("--exclude-from=%s", files[i]));
	return git_output(g, w.item, len, err);
}

static char *take_git(const struct source *s, const struct user_tree *u, const char *commit,
		      const char *scratch, struct error *err)
{
	cleanup_free char *index = path_join(scratch, "index"), *changed = NULL, *unknown = NULL;
	cleanup_strbuf struct strbuf names = STRBUF_INIT;
	struct git g = source_reading(s);
	size_t nchanged, nunknown;

	g.work = u->path;
	g.index = index;
	g.sparse = true;
	if (seed_index(&g, u, commit, scratch, err) < 0 || refresh_index(&g, err) < 0)
		return NULL;
	changed =
		git_output(&g,
			   GIT_WORDS("diff-files", "-z", "--name-only", "--ignore-submodules=all"),
			   &nchanged, err);
	unknown = changed ? list_unknown(&g, u, &nunknown, err) : NULL;
	if (!unknown)
		return NULL;
	strbuf_add(&names, changed, nchanged);
	add_unknown(s, u->path, unknown, nunknown, &names);
	if (take_names(s, u->path, index, &names, "taking in what differs from the commit", scratch,
		       err) < 0)
		return NULL;
	return source_write_tree(s, index, err);
}

/* ---- a folder ---- */

/* All that is not ignored. An index that does not exist: none of them is known. */
static char *list_folder(struct git g, const char *scratch, size_t *len, struct error *err)
{
	__attribute__((cleanup(words_free))) struct words w = list_words(g.work);
	cleanup_free char *none = path_join(scratch, "none");

	g.index = none;
	return git_output(&g, w.item, len, err);
}

/* What the index has and the folder has not any more. */
static int drop_gone(struct git g, const struct strbuf *names, const char *scratch,
		     struct error *err)
{
	cleanup_strbuf struct strbuf gone = STRBUF_INIT;
	cleanup_free const char **there = NULL;
	cleanup_free char *known = NULL;
	size_t len, n;

	known = git_output(&g, GIT_WORDS("ls-files", "-z"), &len, err);
	if (!known)
		return -1;
	there = sort_names(names->data, names->len, &n);
	for (const char *p = NULL; (p = name_next(known, len, p));)
		if (!bsearch(&p, there, n, sizeof(*there), compare_names))
			add_name(&gone, p);
	return update_index(g, GIT_WORDS("update-index", "--force-remove", "-z", "--stdin"), &gone,
			    scratch, err);
}

static char *take_folder(const struct source *s, const struct user_tree *u, const char *scratch,
			 struct error *err)
{
	cleanup_free char *index = path_join(s->dir, "tree-index"), *list = NULL;
	cleanup_strbuf struct strbuf names = STRBUF_INIT;
	struct git g = source_writing(s);
	size_t len;

	g.work = u->path;
	g.index = index;
	list = list_folder(g, scratch, &len, err);
	if (!list)
		return NULL;
	add_unknown(s, u->path, list, len, &names);
	if (drop_gone(g, &names, scratch, err) < 0 ||
	    take_names(s, u->path, index, &names, "taking in the files", scratch, err) < 0)
		return NULL;
	return source_write_tree(s, index, err);
}

char *source_take(const struct source *s, const struct user_tree *u, const char *scratch,
		  struct error *err)
{
	cleanup_free char *commit = u->git ? user_tree_head(u) : NULL;
	char *object = commit ? take_git(s, u, commit, scratch, err) :
				take_folder(s, u, scratch, err);

	if (!object)
		error_wrap(err, "%s", u->path);
	return object;
}

char *source_take_src(const struct source *s, const char *scratch, struct error *err)
{
	cleanup_free char *index = path_join(s->dir, "index"), *list = NULL;
	cleanup_strbuf struct strbuf names = STRBUF_INIT;
	struct git g = source_writing(s);
	size_t len;

	g.work = s->src;
	g.index = index;
	list = git_output(&g, GIT_WORDS("ls-files", "-o", "-z"), &len, err);
	if (!list)
		return NULL;
	strbuf_add(&names, list, len);
	if (take_names(s, s->src, index, &names, "taking in the files", scratch, err) < 0)
		return NULL;
	return source_write_tree(s, index, err);
}
