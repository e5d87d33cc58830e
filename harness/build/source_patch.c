// SPDX-License-Identifier: GPL-2.0-only
/*
 * A patch is applied to an index, so that it makes an object whatever src/ holds. The files that it is
 * for are put into our own object folder first: only that is seen when the result is written
 * (source_impl.h says why).
 */
#include <string.h>

#include "harness/build/patch_impl.h"
#include "harness/kernel/cache.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define PATCH_LIMIT (256UL << 20)

static void job_close(struct patch_job *job)
{
	free(job->file);
	free(job->index);
	free(job->pre);
	patch_text_free(&job->text);
	cache_end(job->scratch);
}

static int job_open(struct patch_job *job, const struct source *s, const char *path,
		    struct error *err)
{
	cleanup_free char *text = NULL;
	size_t len;

	*job = (struct patch_job){ .source = s, .path = path };
	text = file_read(path, PATCH_LIMIT, &len, err);
	if (!text)
		return -1;
	patch_text_parse(text, &job->text);
	job->scratch = cache_begin(s->dir, err);
	if (!job->scratch)
		return -1;
	job->file = path_join(job->scratch, "patch");
	job->index = path_join(job->scratch, "index");
	job->pre = path_join(job->scratch, "pre");
	if (dir_make(job->pre, 0755, err) < 0)
		return -1;
	return file_write_atomic(job->file, text, len, 0644, err);
}

/* ---- the files as they are before ---- */

/* "1\t2\tNAME" and a NUL, of each file. */
static void add_numstat(struct strbuf *names, const char *list, size_t len)
{
	for (const char *p = list; p < list + len; p += strlen(p) + 1) {
		const char *tab = strchr(p, '\t'), *name = tab ? strchr(tab + 1, '\t') : NULL;

		if (name)
			strbuf_add(names, name + 1, strlen(name + 1) + 1);
	}
}

int patch_preimages(const struct patch_job *job, struct error *err)
{
	cleanup_free char *path = path_join(job->scratch, "names"), *list = NULL;
	cleanup_strbuf struct strbuf names = STRBUF_INIT;
	struct git g = source_reading(job->source);
	size_t len;

	list = git_output(&g, GIT_WORDS("apply", "--numstat", "-z", job->file), &len, err);
	if (!list)
		return -1;
	add_numstat(&names, list, len);
	strbuf_add(&names, job->text.sources.data, job->text.sources.len);
	if (file_write_atomic(path, names.data, names.len, 0644, err) < 0)
		return -1;
	g.work = job->pre;
	g.index = job->index;
	g.input = path;
	/* It complains of files that the patch will make. Links are written as files that hold their target. */
	return git_run(&g,
		       GIT_WORDS("-c", "core.symlinks=false", "checkout-index", "-q", "-f", "-z",
				 "--stdin"),
		       NULL, NULL, err) < 0 ?
		       -1 :
		       0;
}

static int store_preimages(const struct patch_job *job, struct error *err)
{
	cleanup_free char *path = path_join(job->scratch, "paths"), *list = NULL;
	cleanup_free char *none = path_join(job->scratch, "none");
	cleanup_strbuf struct strbuf lines = STRBUF_INIT;
	struct git g = source_writing(job->source);
	size_t len;

	g.work = job->pre;
	g.index = none;
	list = git_output(&g, GIT_WORDS("ls-files", "-o", "-z"), &len, err);
	if (!list)
		return -1;
	for (const char *p = list; p < list + len; p += strlen(p) + 1)
		strbuf_addf(&lines, "%s\n", p);
	if (!lines.len)
		return 0;
	if (file_write_atomic(path, lines.data, lines.len, 0644, err) < 0)
		return -1;
	g.input = path;
	return git_do(&g, GIT_WORDS("hash-object", "-w", "--no-filters", "--stdin-paths"), err);
}

/* ---- applying ---- */

struct offsets {
	char *file; /* of the first hunk that is off */
	unsigned long hunk;
	long lines;
	size_t more;
};

/* "Checking patch mm/x.c..." and "Hunk #2 succeeded at 105 (offset -5 lines)." */
static void find_offsets(const char *text, struct offsets *o)
{
	cleanup_free char *file = xstrdup("");

	for (const char *p = text; *p;) {
		size_t n = strcspn(p, "\n");
		cleanup_free char *line = xstrndup(p, n);
		unsigned long hunk;
		long lines;

		p += n + (p[n] == '\n');
		if (str_starts(line, "Checking patch ") && str_ends(line, "...")) {
			free(file);
			file = xstrndup(line + 15, strlen(line) - 18);
		} else if (sscanf(line, "Hunk #%lu succeeded at %*u (offset %ld", &hunk, &lines) ==
			   2) {
			if (o->file) {
				o->more++;
				continue;
			}
			o->file = xstrdup(file);
			o->hunk = hunk;
			o->lines = lines;
		}
	}
}

static void warn_of_offsets(const struct patch_job *job, const struct strbuf *text)
{
	cleanup_free char *more = NULL;
	struct offsets o = { 0 };

	find_offsets(text->len ? text->data : "", &o);
	if (o.file) {
		more = o.more ? str_printf("; %zu more hunk%s off too", o.more,
					   o.more == 1 ? " is" : "s are") :
				xstrdup("");
		source_warn(job->source, "%s: %s: hunk %lu applies %ld line%s further %s%s",
			    job->path, o.file, o.hunk, labs(o.lines), labs(o.lines) == 1 ? "" : "s",
			    o.lines < 0 ? "up" : "down", more);
	}
	free(o.file);
}

static int check(const struct patch_job *job, struct error *err)
{
	cleanup_strbuf struct strbuf errors = STRBUF_INIT;
	struct git g = source_reading(job->source);
	int status;

	g.index = job->index;
	if (git_do(&g, GIT_WORDS("read-tree", job->source->object), err) < 0)
		return -1;
	status =
		git_run(&g,
			GIT_WORDS("apply", "--check", "--cached", "--whitespace=nowarn", job->file),
			NULL, &errors, err);
	return status > 0 ? patch_why(job, &errors, err) : status;
}

static char *apply(const struct patch_job *job, struct error *err)
{
	cleanup_strbuf struct strbuf errors = STRBUF_INIT;
	struct git g = source_writing(job->source);
	int status;

	if (patch_preimages(job, err) < 0 || store_preimages(job, err) < 0)
		return NULL;
	g.index = job->index;
	status = git_run(&g, GIT_WORDS("apply", "--cached", "-v", "--whitespace=nowarn", job->file),
			 NULL, &errors, err);
	if (status) {
		if (status > 0)
			git_failed(&g, "apply", status, &errors, err);
		return NULL;
	}
	warn_of_offsets(job, &errors);
	return source_write_tree(job->source, job->index, err);
}

int source_patch(struct source *s, const char *patch, struct error *err)
{
	__attribute__((cleanup(job_close))) struct patch_job job = { 0 };
	char *object;

	if (job_open(&job, s, patch, err) < 0)
		return -1; /* it names the file */
	if (check(&job, err) < 0)
		return error_wrap(err, "%s", patch);
	object = apply(&job, err);
	if (!object)
		return error_wrap(err, "%s", patch);
	free(s->object);
	s->object = object;
	return 0;
}
