// SPDX-License-Identifier: GPL-2.0-only
#include "harness/build/git.h"

#include <signal.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "harness/kernel/child.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

#define FULL_BYTES (4UL << 20)

/* What a configuration, ours or that of the tree, must not decide. */
static const char *const settings[] = {
	"safe.directory=*",
	"core.hooksPath=/dev/null",
	"core.autocrlf=false",
	"core.fileMode=true",
	"core.attributesFile=/dev/null",
	"core.fsmonitor=false",
	"core.untrackedCache=false",
	"core.splitIndex=false",
	"core.logAllRefUpdates=false",
	"core.quotePath=false",
	"index.sparse=false",
	"gc.auto=0",
	"maintenance.auto=false",
};

static const char *const sparse_settings[] = { "core.sparseCheckout=true" };
/* Every file counts as big, and big ones are streamed into one pack instead of a file each. */
static const char *const bulk_settings[] = { "core.bigFileThreshold=1", "core.compression=1" };

static const char *const fixed_env[] = {
	"LC_ALL=C",
	"GIT_TERMINAL_PROMPT=0",
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_NO_LAZY_FETCH=1",
	"GIT_ALLOW_PROTOCOL=none",
	"GIT_LITERAL_PATHSPECS=1",
	"GIT_DEFAULT_REF_FORMAT=files",
	"GIT_ATTR_NOSYSTEM=1",
};
static const char *const no_user_config[] = { "GIT_CONFIG_NOSYSTEM=1",
					      "GIT_CONFIG_GLOBAL=/dev/null" };

/* The first `shared` strings belong to others. */
struct environment {
	char **item;
	size_t n, shared;
};

static void environment_free(struct environment *e)
{
	for (size_t i = e->shared; i < e->n; i++)
		free(e->item[i]);
	free(e->item);
}

static void environment_set(struct environment *e, const char *name, const char *value)
{
	if (value)
		e->item[e->n++] = str_printf("%s=%s", name, value);
}

static void environment_share(struct environment *e, const char *const *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		e->item[e->n++] = (char *)text[i];
	e->shared = e->n;
}

static bool is_ours(const char *text)
{
	return str_starts(text, "GIT_") || str_starts(text, "LC_ALL=") ||
	       str_starts(text, "LANGUAGE=");
}

static void environment_make(struct environment *e, const struct git *g)
{
	size_t n = 0;

	while (environ && environ[n])
		n++;
	*e = (struct environment){ .item = xcalloc(n + 32, sizeof(*e->item)) };
	for (size_t i = 0; i < n; i++)
		if (!is_ours(environ[i]))
			e->item[e->n++] = environ[i];
	environment_share(e, fixed_env, ARRAY_SIZE(fixed_env));
	if (!g->user_config)
		environment_share(e, no_user_config, ARRAY_SIZE(no_user_config));
	environment_set(e, "GIT_DIR", g->dir);
	environment_set(e, "GIT_WORK_TREE", g->work);
	environment_set(e, "GIT_INDEX_FILE", g->index);
	environment_set(e, "GIT_OBJECT_DIRECTORY", g->objects);
}

static size_t add_settings(const char **argv, size_t n, const char *const *text, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		argv[n++] = "-c";
		argv[n++] = text[i];
	}
	return n;
}

/* The array is the caller's, the words are not. */
static const char **make_argv(const struct git *g, const char *const *words)
{
	const char **argv;
	size_t n = 0, nwords = 0;

	while (words[nwords])
		nwords++;
	argv = xcalloc(nwords + 2 * ARRAY_SIZE(settings) + 16, sizeof(*argv));
	argv[n++] = "git";
	if (!g->user_config)
		n = add_settings(argv, n, settings, ARRAY_SIZE(settings));
	if (g->sparse)
		n = add_settings(argv, n, sparse_settings, ARRAY_SIZE(sparse_settings));
	if (g->bulk)
		n = add_settings(argv, n, bulk_settings, ARRAY_SIZE(bulk_settings));
	memcpy(argv + n, words, nwords * sizeof(*argv));
	return argv;
}

int git_run(const struct git *g, const char *const *words, struct strbuf *output,
	    struct strbuf *errors, struct error *err)
{
	__attribute__((cleanup(environment_free))) struct environment env = { 0 };
	cleanup_free const char **argv = make_argv(g, words);
	int status;

	environment_make(&env, g);
	const struct child_setup setup = {
		.dir = g->work,
		.env = (const char *const *)env.item,
		.input = g->input,
		.output = output,
	};
	status = child_run_with(&setup, argv, NULL, NULL, errors, err);
	return status < 0 ? error_hint(err, "kernels from source need the package git") : status;
}

char *git_reason(const struct strbuf *errors)
{
	static const char *const marks[] = { "fatal: ", "error: " };
	const char *text = errors->len ? errors->data : "";

	for (const char *p = text; *p;) {
		size_t n = strcspn(p, "\n");

		for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
			if (str_starts(p, marks[i]))
				return xstrndup(p + strlen(marks[i]), n - strlen(marks[i]));
		p += n + (p[n] == '\n');
	}
	return *text ? xstrndup(text, strcspn(text, "\n")) : xstrdup("it gave no reason");
}

/* Not all of git's messages say so. Only commands that write have an index or an object folder. */
static bool is_full(const struct git *g, const struct strbuf *errors)
{
	struct statvfs fs;

	if (errors->len && strstr(errors->data, "No space left on device"))
		return true;
	return (g->index || g->objects) && g->dir && statvfs(g->dir, &fs) == 0 &&
	       (uint64_t)fs.f_bavail * fs.f_frsize < FULL_BYTES;
}

int git_failed(const struct git *g, const char *command, int status, const struct strbuf *errors,
	       struct error *err)
{
	cleanup_free char *reason = git_reason(errors);

	if (status == 128 + SIGINT || status == 128 + SIGTERM)
		return error_set(err, EXIT_INTERRUPTED, "interrupted");
	if (status > 128 && !errors->len)
		return error_set(err, EXIT_NO_VERDICT, "git %s: killed by signal %d", command,
				 status - 128);
	error_set(err, EXIT_NO_VERDICT, "git %s: %s", command, reason);
	if (!is_full(g, errors))
		return -1;
	return error_hint(
		err,
		"the disk of %s is full: a source takes about 2.5 GB there; set XDG_CACHE_HOME to a "
		"folder that has them",
		g->dir);
}

int git_do(const struct git *g, const char *const *words, struct error *err)
{
	cleanup_strbuf struct strbuf errors = STRBUF_INIT;
	int status = git_run(g, words, NULL, &errors, err);

	return status > 0 ? git_failed(g, words[0], status, &errors, err) : status;
}

char *git_output(const struct git *g, const char *const *words, size_t *len, struct error *err)
{
	cleanup_strbuf struct strbuf output = STRBUF_INIT, errors = STRBUF_INIT;
	int status = git_run(g, words, &output, &errors, err);

	if (status) {
		if (status > 0)
			git_failed(g, words[0], status, &errors, err);
		return NULL;
	}
	if (len)
		*len = output.len;
	return strbuf_steal(&output);
}

char *git_line(const struct git *g, const char *const *words, struct error *err)
{
	char *text = git_output(g, words, NULL, err);
	size_t n = text ? strlen(text) : 0;

	if (n && text[n - 1] == '\n')
		text[n - 1] = '\0';
	return text;
}
