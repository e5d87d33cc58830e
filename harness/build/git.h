/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_GIT_H
#define MMRIG_GIT_H
/*
 * The git program, run so that its outcome depends on what it is given alone: no GIT_* of the
 * environment, no configuration of the user or the host, no hooks, no network, no maintenance; trees of
 * other owners are fine.
 */
#include <stdbool.h>
#include <stddef.h>

#include "results/util/error.h"
#include "results/util/str.h"

/* Where a command works; NULL: not said. */
struct git {
	const char *dir;     /* GIT_DIR; may be a file that names it, as in a worktree */
	const char *work;    /* GIT_WORK_TREE, and the working folder */
	const char *index;   /* GIT_INDEX_FILE */
	const char *objects; /* GIT_OBJECT_DIRECTORY */
	const char *input;   /* path of a file for stdin */
	bool user_config;    /* read the user's configuration; for `git config` only */
	bool sparse; /* files that a sparse checkout skips, but that are there, count as they are */
	bool bulk;   /* many new objects: into one pack, written fast */
};

#define GIT_WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* words: command and arguments. Returns the exit status, or -1; errors may be NULL. */
int git_run(const struct git *g, const char *const *words, struct strbuf *output,
	    struct strbuf *errors, struct error *err);
/* Any exit status but 0 is an error, with git's own reason. */
int git_do(const struct git *g, const char *const *words, struct error *err);
/* Likewise; all of stdout, NUL added behind; heap, NULL on error. len may be NULL. */
char *git_output(const struct git *g, const char *const *words, size_t *len, struct error *err);
/* Likewise, of one line, without its newline. */
char *git_line(const struct git *g, const char *const *words, struct error *err);
/* "git COMMAND: REASON" of what it wrote to stderr, and whether the disk is full. Returns -1. */
int git_failed(const struct git *g, const char *command, int status, const struct strbuf *errors,
	       struct error *err);
/* The first "fatal: " or "error: " of git's stderr, without that, and the line's end; heap. */
char *git_reason(const struct strbuf *errors);

#endif
