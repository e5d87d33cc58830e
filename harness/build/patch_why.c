// SPDX-License-Identifier: GPL-2.0-only
/* Of a patch that git does not take: what is wrong with it, by file and hunk. */
#include <stdio.h>
#include <string.h>

#include "harness/build/patch_impl.h"
#include "harness/kernel/child.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define ABSENT ": does not exist in index"
#define PRESENT ": already exists in index"
#define FAILED "patch failed: "

/* The next line of git's stderr that begins with "error: ", without that; heap, NULL at the end. */
static char *next_error(const char **at)
{
	static const char mark[] = "error: ";

	while (**at) {
		const char *line = *at;
		size_t n = strcspn(line, "\n");

		*at += n + (line[n] == '\n');
		if (str_starts(line, mark))
			return xstrndup(line + strlen(mark), n - strlen(mark));
	}
	return NULL;
}

/* The first error that ends in `end`, without that, and how many more there are; heap or NULL. */
static char *find_ending(const char *errors, const char *end, size_t *more)
{
	char *found = NULL;

	*more = 0;
	for (char *line; (line = next_error(&errors)); free(line)) {
		if (!str_ends(line, end))
			continue;
		if (found)
			++*more;
		else
			found = xstrndup(line, strlen(line) - strlen(end));
	}
	return found;
}

static bool applies(const struct patch_job *job, const char *option)
{
	struct git g = source_reading(job->source);

	g.index = job->index;
	return git_run(&g,
		       GIT_WORDS("apply", "--check", "--cached", "--whitespace=nowarn", option,
				 job->file),
		       NULL, NULL, NULL) == 0;
}

/* ---- no patch ---- */

static int no_patch(const struct patch_job *job, struct error *err)
{
	error_set(err, EXIT_USAGE, "not a patch: there is no unified diff in it");
	if (job->text.encoded)
		error_hint(
			err,
			"it is a mail in base64 or quoted-printable; git mailinfo, or b4 am, gives the "
			"plain one");
	return -1;
}

/* ---- files that are not there ---- */

static bool is_in_tree(const struct patch_job *job, const char *name)
{
	const struct git g = source_reading(job->source);
	cleanup_free char *object = str_printf("%s:%s", job->source->object, name);

	return git_run(&g, GIT_WORDS("cat-file", "-e", object), NULL, NULL, NULL) == 0;
}

/* Its names are those of the tree as they are written. */
static bool is_p0(const struct patch_job *job)
{
	const struct patch_text *t = &job->text;

	for (size_t i = 0; i < t->n; i++)
		if (strchr(t->item[i].old_name, '/') && is_in_tree(job, t->item[i].old_name))
			return true;
	return false;
}

static int wrong_strip(const struct patch_job *job, struct error *err)
{
	if (is_p0(job))
		return error_set(
			err, EXIT_USAGE,
			"its names have no folder in front (%s): made with -p0? Make it with "
			"git diff, or put a/ and b/ before them",
			job->text.item[0].old_name);
	if (applies(job, "-p2"))
		return error_set(
			err, EXIT_USAGE,
			"its names have a folder too many in front (%s): it is one for -p2; make it "
			"from the top of the tree",
			job->text.item[0].old_name);
	return 0;
}

static int absent(const struct patch_job *job, const char *file, size_t more, struct error *err)
{
	if (job->text.n && wrong_strip(job, err) < 0)
		return -1;
	error_set(err, EXIT_USAGE, "%s is not in this tree (%s)", file, job->source->what);
	return more ? error_hint(err, "nor %s %zu more of its files", more == 1 ? "is" : "are",
				 more) :
		      -1;
}

/* ---- hunks ---- */

/* The first of its kind. */
struct trial_hunk {
	char *file; /* NULL: there is none */
	const struct patch_section *section;
	unsigned long hunk, fuzz;
	size_t more;
};

/* What patch(1) makes of it, which knows fuzz. */
struct trial {
	const struct patch_job *job;
	size_t at; /* section after that of the file which is patched now */
	const struct patch_section *section;
	char *file;
	struct trial_hunk failed, fuzzy;
	bool reversed;
};

static void trial_note(const struct trial *t, struct trial_hunk *h, unsigned long hunk,
		       unsigned long fuzz)
{
	if (h->file)
		h->more++;
	else
		*h = (struct trial_hunk){ xstrdup(t->file ? t->file : "?"), t->section, hunk, fuzz,
					  0 };
}

static void trial_file(struct trial *t, const char *name)
{
	const struct patch_text *text = &t->job->text;

	free(t->file);
	t->file = xstrndup(name, strcspn(name, " "));
	t->section = patch_find(text, t->at, t->file);
	if (t->section)
		t->at = (size_t)(t->section - text->item) + 1;
}

static void trial_line(void *arg, const char *line)
{
	struct trial *t = arg;
	unsigned long hunk, fuzz;
	int end = 0;

	if (str_starts(line, "patching file ")) {
		trial_file(t, line + strlen("patching file "));
	} else if (str_starts(line, "Reversed (or previously applied)")) {
		t->reversed = true;
	} else if (sscanf(line, "Hunk #%lu FAILED%n", &hunk, &end) == 1 && end) {
		trial_note(t, &t->failed, hunk, 0);
	} else if (sscanf(line, "Hunk #%lu succeeded at %*u with fuzz %lu", &hunk, &fuzz) == 2) {
		trial_note(t, &t->fuzzy, hunk, fuzz);
	}
}

/* -u: a hostile file could hold a script for ed(1) otherwise. The fuzz is what patch(1) allows itself. */
static void try_patch(struct trial *t)
{
	const char *const argv[] = { "patch",
				     "-p1",
				     "-u",
				     "-f",
				     "-F2",
				     "-g",
				     "0",
				     "-r",
				     "-",
				     "--no-backup-if-mismatch",
				     "--quoting-style=literal",
				     "-i",
				     t->job->file,
				     NULL };

	if (patch_preimages(t->job, NULL) == 0)
		child_run(argv, t->job->pre, trial_line, t, NULL, NULL);
}

static const char *hunk_header(const struct patch_section *s, unsigned long hunk)
{
	return s && hunk && hunk <= s->n ? s->hunk[hunk - 1].header : "@@";
}

static int say_failed(const struct trial *t, struct error *err)
{
	error_set(err, EXIT_USAGE, "%s: hunk %lu (%s) does not apply", t->failed.file,
		  t->failed.hunk, hunk_header(t->failed.section, t->failed.hunk));
	if (t->failed.more)
		error_hint(err, "nor %s %zu more", t->failed.more == 1 ? "does" : "do",
			   t->failed.more);
	if (t->reversed)
		error_hint(err, "a part of the patch seems to be in this tree already");
	return -1;
}

static int say_fuzzy(const struct trial *t, struct error *err)
{
	error_set(err, EXIT_USAGE, "%s: hunk %lu (%s) applies only with fuzz %lu", t->fuzzy.file,
		  t->fuzzy.hunk, hunk_header(t->fuzzy.section, t->fuzzy.hunk), t->fuzzy.fuzz);
	if (t->fuzzy.more)
		error_hint(err, "so %s %zu more", t->fuzzy.more == 1 ? "does" : "do",
			   t->fuzzy.more);
	return error_hint(err, "it was made for another version: make it anew for this one");
}

/* By "mm/x.c:100" of git: the first hunk that it could not place. */
static int say_as_git(const struct patch_job *job, const char *place, struct error *err)
{
	const char *colon = strrchr(place, ':');
	cleanup_free char *file = xstrndup(place, colon ? (size_t)(colon - place) : strlen(place));
	unsigned long line = colon ? strtoul(colon + 1, NULL, 10) : 0;
	const struct patch_section *s = patch_find(&job->text, 0, file);

	for (size_t i = 0; s && i < s->n; i++)
		if (s->hunk[i].line == line)
			return error_set(err, EXIT_USAGE, "%s: hunk %zu (%s) does not apply", file,
					 i + 1, s->hunk[i].header);
	return error_set(err, EXIT_USAGE, "%s: does not apply at line %lu", file, line);
}

static int hunk_failed(const struct patch_job *job, const char *place, struct error *err)
{
	bool blanks = applies(job, "--ignore-space-change");
	struct trial t = { .job = job };

	try_patch(&t);
	if (t.failed.file)
		say_failed(&t, err);
	else if (t.fuzzy.file && !blanks)
		say_fuzzy(&t, err);
	else
		say_as_git(job, place, err);
	if (blanks)
		error_hint(err, "only blanks differ: tabs or line ends were changed on the way, as by a "
				"mailer");
	free(t.file);
	free(t.failed.file);
	free(t.fuzzy.file);
	return -1;
}

static int why(const struct patch_job *job, const struct strbuf *errors, struct error *err)
{
	const char *text = errors->len ? errors->data : "", *at = text;
	cleanup_free char *missing = NULL, *there = NULL, *reason = git_reason(errors);
	size_t more;

	if (strstr(text, "No valid patches in input") || strstr(text, "unrecognized input"))
		return no_patch(job, err);
	if (applies(job, "-R"))
		return error_set(err, EXIT_USAGE,
				 "is applied already: this tree (%s) has its changes",
				 job->source->what);
	missing = find_ending(text, ABSENT, &more);
	if (missing)
		return absent(job, missing, more, err);
	for (char *line; (line = next_error(&at)); free(line)) {
		if (str_starts(line, FAILED)) {
			hunk_failed(job, line + strlen(FAILED), err);
			free(line);
			return -1;
		}
	}
	there = find_ending(text, PRESENT, &more);
	if (there)
		return error_set(err, EXIT_USAGE, "it makes %s, which is in this tree already",
				 there);
	if (job->text.n && wrong_strip(job, err) < 0)
		return -1;
	return error_set(err, EXIT_USAGE, "damaged patch: %s", reason);
}

/* ---- line ends ---- */

static char *without_cr(const char *text, size_t len, size_t *new_len)
{
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < len; i++)
		if (text[i] != '\r' || i + 1 == len || text[i + 1] != '\n')
			strbuf_add(&sb, text + i, 1);
	*new_len = sb.len;
	return strbuf_steal(&sb);
}

/* All its hunks fail for that; what else is wrong can be seen when it is out of the way. */
static int crlf_why(const struct patch_job *job, struct error *err)
{
	cleanup_strbuf struct strbuf errors = STRBUF_INIT;
	cleanup_free char *path = path_join(job->scratch, "patch-lf"), *text = NULL, *lf = NULL;
	struct git g = source_reading(job->source);
	struct patch_job plain = *job;
	size_t len;
	int status;

	text = file_read(job->file, 0, &len, err);
	lf = text ? without_cr(text, len, &len) : NULL;
	if (!lf || file_write_atomic(path, lf, len, 0644, err) < 0)
		return -1;
	plain.file = path;
	plain.text.crlf = false;
	g.index = job->index;
	status = git_run(&g, GIT_WORDS("apply", "--check", "--cached", "--whitespace=nowarn", path),
			 NULL, &errors, err);
	if (status < 0)
		return -1;
	if (status > 0) {
		why(&plain, &errors, err);
		return error_hint(err, "besides, the lines of the patch end in CR LF");
	}
	error_set(err, EXIT_USAGE, "its lines end in CR LF, those of the tree in LF");
	return error_hint(err, "without the CRs it applies: sed -i 's/\\r$//' takes them out");
}

int patch_why(const struct patch_job *job, const struct strbuf *errors, struct error *err)
{
	return job->text.crlf ? crlf_why(job, err) : why(job, errors, err);
}
