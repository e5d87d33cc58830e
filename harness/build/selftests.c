// SPDX-License-Identifier: GPL-2.0-only
#include "harness/build/selftests.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "harness/build/build_impl.h"
#include "harness/build/source_impl.h"
#include "harness/build/toolchain.h"
#include "harness/kernel/cache.h"
#include "harness/kernel/child.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/util/hash.h"
#include "results/verdict.h"
#include "workloads/kselftest-mm/selftests.h"

/* Part of the key: raise it when the same tests come to be built otherwise. */
#define FORMAT 2
#define TREE "tools/testing/selftests/"

struct selftests {
	const struct selftests_request *r;
	struct source source;
	struct toolchain tools;
	const char *folder;  /* "mm"; "vm" until 6.2 */
	char **known;	     /* every test of the tree */
	struct words wanted; /* sorted, each once */
	char *top;	     /* of the exported tree */
	struct strbuf not_built;
	struct strbuf first, last; /* of what make says: the first error, the last line */
};

static void selftests_free(struct selftests *s)
{
	source_close(&s->source);
	toolchain_free(&s->tools);
	selftests_names_free(s->known);
	words_free(&s->wanted);
	free(s->top);
	strbuf_free(&s->not_built);
	strbuf_free(&s->first);
	strbuf_free(&s->last);
}

/* ---- which ---- */

static int open_source(struct selftests *s, struct error *err)
{
	const char *spec = s->r->source;
	cleanup_free char *tree = NULL;
	struct source_request r = { .progress = s->r->progress, .progress_arg = s->r->progress_arg };
	char *at;

	if (!str_starts(spec, "tree:")) {
		r.debian = spec;
		return source_open(&r, &s->source, err);
	}
	tree = xstrdup(spec + strlen("tree:"));
	at = strrchr(tree, '@');
	/* A folder may have such a name, too. */
	if (at && !file_exists(tree)) {
		*at = '\0';
		r.rev = at + 1;
	}
	r.tree = tree;
	return source_open(&r, &s->source, err);
}

static int find_known(struct selftests *s, struct error *err)
{
	static const char *const folders[] = { "mm", "vm" };
	const struct git g = source_reading(&s->source);

	for (size_t i = 0; i < ARRAY_SIZE(folders) && !s->known; i++) {
		cleanup_free char *name =
			str_printf("%s:" TREE "%s/Makefile", s->source.object, folders[i]);
		cleanup_free char *text = NULL;

		text = git_output(&g, GIT_WORDS("cat-file", "blob", name), NULL, NULL);
		s->folder = folders[i];
		s->known = text ? selftests_of_makefile(text) : NULL;
	}
	if (!s->known || !*s->known)
		return error_set(err, EXIT_USAGE, "%s: has no selftests of mm: no " TREE "mm/Makefile",
				 s->source.what);
	return 0;
}

static bool has(char *const *list, const char *name)
{
	for (; list && *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

static int unknown(const struct selftests *s, const char *name, struct error *err)
{
	cleanup_strbuf struct strbuf all = STRBUF_INIT;
	const char *near;
	size_t n = 0;

	while (s->known[n])
		n++;
	near = str_nearest(name, (const char *const *)s->known, n);
	if (near)
		return error_set(err, EXIT_USAGE, "tests: %s has no test %s; did you mean %s?", s->source.what,
				 name, near);
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&all, " %s", s->known[i]);
	return error_set(err, EXIT_USAGE, "tests: %s has no test %s; it has%s", s->source.what, name,
			 all.data);
}

static void want(struct selftests *s, const char *name)
{
	if (!s->wanted.n || !has(s->wanted.item, name))
		words_add(&s->wanted, "%s", name);
}

static int want_listed(struct selftests *s, const char *list, struct error *err)
{
	cleanup_free char *copy = xstrdup(list);
	char *save = NULL;

	for (char *name = strtok_r(copy, " ,", &save); name; name = strtok_r(NULL, " ,", &save)) {
		if (strcmp(name, SELFTESTS_ALL) == 0) {
			for (size_t i = 0; s->known[i]; i++)
				want(s, s->known[i]);
		} else if (has(s->known, name)) {
			want(s, name);
		} else {
			return unknown(s, name, err);
		}
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *make_key(const struct selftests *s)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "selftests %d %s %s:", FORMAT, s->source.object, s->tools.cc_line);
	for (size_t i = 0; i < s->wanted.n; i++)
		strbuf_addf(&sb, " %s", s->wanted.item[i]);
	return strbuf_steal(&sb);
}

/* ---- building ---- */

static void hear(void *arg, const char *line)
{
	struct selftests *s = arg;

	if (!s->first.len && (strstr(line, "error: ") || strstr(line, "cannot find ")))
		strbuf_adds(&s->first, line);
	if (*line && !str_starts(line, "make")) {
		s->last.len = 0;
		strbuf_adds(&s->last, line);
	}
}

/* What the last make complained of; valid until the next. */
static const char *complaint(const struct selftests *s)
{
	const char *text = s->first.len ? s->first.data : s->last.len ? s->last.data : "make gave no reason";
	const char *in = strstr(text, s->top);

	return in ? in + strlen(s->top) + 1 : text;
}

/* 0, the status of make, or -1. */
static int make(struct selftests *s, const struct words *args, struct error *err)
{
	cleanup_words struct words env = { 0 };
	const char *path = getenv("PATH");
	bool clean;

	s->first.len = s->last.len = 0;
	words_add(&env, "PATH=%s", path && *path ? path : "/usr/local/bin:/usr/bin:/bin");
	words_add(&env, "HOME=%s", s->top);
	words_add(&env, "LC_ALL=C");
	return child_run_group((const char *const *)args->item, (const char *const *)env.item, hear, s,
			       &clean, err);
}

/* Only what the tests and their headers are made of: a hundredth of a second a MiB. */
static int export_tree(struct selftests *s, const char *scratch, struct error *err)
{
	cleanup_free char *index = path_join(scratch, "index");
	struct git g = source_reading(&s->source);

	s->top = path_join(scratch, "tree");
	if (strpbrk(s->top, " \t:$#"))
		return error_set(err, EXIT_NO_VERDICT,
				 "%s: make cannot build below a folder of such a name; set XDG_CACHE_HOME to another",
				 s->top);
	if (dir_make(s->top, 0755, err) < 0)
		return -1;
	g.work = s->top;
	g.index = index;
	return git_do(&g,
		      GIT_WORDS("checkout", "-q", s->source.object, "--", "Makefile", "Kbuild", "Kconfig",
				"scripts", "arch/x86", "include", "lib", "mm", "tools"),
		      err);
}

static int make_headers(struct selftests *s, struct error *err)
{
	cleanup_words struct words args = { 0 };
	int status;

	words_add(&args, "make");
	words_add(&args, "-s");
	words_add(&args, "-C");
	words_add(&args, "%s", s->top);
	words_add(&args, "ARCH=x86");
	words_add(&args, "HOSTCC=%s", s->tools.cc);
	words_add(&args, "headers");
	status = make(s, &args, err);
	if (status > 0)
		return error_set(err, EXIT_NO_VERDICT, "%s: its headers cannot be made: %s", s->source.what,
				 complaint(s));
	return status;
}

/* Has it no interpreter, that is, does it need no library of the guest's? */
static bool is_static(const char *path)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool yes = false;
	GElf_Phdr p;
	size_t n;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	if (elf && elf_getphdrnum(elf, &n) == 0) {
		yes = n > 0;
		for (size_t i = 0; i < n; i++)
			if (!gelf_getphdr(elf, (int)i, &p) || p.p_type == PT_INTERP)
				yes = false;
	}
	elf_end(elf);
	return yes;
}

static void note_not_built(struct selftests *s, const char *name, const char *why)
{
	strbuf_addf(&s->not_built, "%s %s\n", name, why);
	source_warn(&s->source, "%s cannot be built: %s", name, why);
}

static int build_test(struct selftests *s, const char *name, const char *dir, struct error *err)
{
	cleanup_words struct words args = { 0 };
	cleanup_free char *path = path_join(dir, name);
	int status;

	words_add(&args, "make");
	words_add(&args, "-s");
	words_add(&args, "-C");
	words_add(&args, "%s/" TREE "%s", s->top, s->folder);
	words_add(&args, "CC=%s", s->tools.cc);
	words_add(&args, "OUTPUT=%s", dir);
	words_add(&args, "KHDR_INCLUDES=-isystem %s/usr/include", s->top);
	words_add(&args, "LDFLAGS=-static"); /* of the general rule; those for 64 bits have only the other */
	words_add(&args, "EXTRA_CFLAGS=-static");
	words_add(&args, "%s", path);
	status = make(s, &args, err);
	if (status < 0)
		return -1;
	if (status > 0)
		note_not_built(s, name, complaint(s));
	else if (!is_static(path))
		note_not_built(s, name, "it comes out dynamically linked");
	if (status == 0 && is_static(path))
		return 0;
	unlink(path);
	return 0;
}

static int put_lists(const struct selftests *s, const char *dir, struct error *err)
{
	cleanup_free char *not_built = path_join(dir, strrchr(SELFTESTS_NOT_BUILT, '/') + 1);
	cleanup_free char *list = path_join(dir, strrchr(SELFTESTS_LIST, '/') + 1);
	cleanup_strbuf struct strbuf names = STRBUF_INIT;

	for (size_t i = 0; s->known[i]; i++)
		strbuf_addf(&names, "%s\n", s->known[i]);
	if (file_write_atomic(list, names.data, names.len, 0644, err) < 0)
		return -1;
	return file_write_atomic(not_built, s->not_built.len ? s->not_built.data : "", s->not_built.len,
				 0644, err);
}

static int build_all(struct selftests *s, const char *dir, struct error *err)
{
	for (size_t i = 0; i < s->wanted.n; i++) {
		cleanup_free char *text = str_printf("building selftest %s", s->wanted.item[i]);

		source_tell(&s->source, text, 100.0 * (double)i / (double)s->wanted.n);
		if (build_test(s, s->wanted.item[i], dir, err) < 0)
			return -1;
	}
	return put_lists(s, dir, err);
}

static int fill(void *arg, const char *tree, struct error *err)
{
	struct selftests *s = arg;
	cleanup_free char *dir = path_join(tree, &SELFTESTS_DIR[1]);
	char *scratch = cache_begin(s->source.dir, err);
	int ret = -1;

	if (scratch && dir_make(dir, 0755, err) == 0 && export_tree(s, scratch, err) == 0 &&
	    make_headers(s, err) == 0)
		ret = build_all(s, dir, err);
	cache_end(scratch);
	return ret;
}

int selftests_get(const struct selftests_request *r, struct toolbox *t, struct error *err)
{
	__attribute__((cleanup(selftests_free))) struct selftests s = { .r = r, .source.lock = -1 };
	cleanup_free char *key = NULL, *what = NULL;
	struct toolbox_made made = { .fill = fill, .arg = &s };

	*t = (struct toolbox){ 0 };
	if (toolchain_find(NULL, &s.tools, err) < 0 || open_source(&s, err) < 0 || find_known(&s, err) < 0)
		return -1;
	for (char *const *l = r->list; *l; l++)
		if (want_listed(&s, *l, err) < 0)
			return -1;
	qsort(s.wanted.item, s.wanted.n, sizeof(*s.wanted.item), by_name);
	made.key = key = make_key(&s);
	made.what = what = str_printf("the mm selftests of %s", s.source.what);
	return toolbox_get(r->spec, &made, r->progress, r->progress_arg, t, err);
}
