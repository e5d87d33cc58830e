/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_CHILD_H
#define MMRIG_CHILD_H
/* A helper program (apt, depmod), run to its end with LC_ALL=C and no stdin; it dies with us. */
#include <stdbool.h>

#include "results/util/error.h"
#include "results/util/str.h"

/*
 * argv is NULL-terminated; argv[0] is looked for in PATH and in the sbin folders, which users'
 * PATHs lack on Debian. dir: working folder, or NULL. line gets every line of stdout without its
 * newline; may be NULL. errors (may be NULL) gets stderr, at most its first 64 KiB. Returns the
 * exit status (128 + signal when it was killed), or -1 when it could not be run.
 */
int child_run(const char *const *argv, const char *dir, void (*line)(void *arg, const char *text),
	      void *arg, struct strbuf *errors, struct error *err);
/*
 * The same for a program that starts many others, such as make: line gets every line of stdout and of
 * stderr; env (NULL-terminated, "NAME=VALUE") is the whole environment. All of them are one process
 * group, which is killed when we die, and ends on SIGINT, SIGTERM and SIGHUP to us: then -1 with
 * EXIT_INTERRUPTED. *clean: the program ended by itself, and so had time to put its files in order.
 */
int child_run_group(const char *const *argv, const char *const *env,
		    void (*line)(void *arg, const char *text), void *arg, bool *clean,
		    struct error *err);

/* What a child may get beside its arguments; all NULL: as child_run() has it. */
struct child_setup {
	const char *dir;	/* working folder */
	const char *const *env; /* the whole environment, NULL-terminated */
	const char *input;	/* path of a file for its stdin */
	struct strbuf *output;	/* all of its stdout, byte for byte; no lines are told then */
};
int child_run_with(const struct child_setup *setup, const char *const *argv,
		   void (*line)(void *arg, const char *text), void *arg, struct strbuf *errors,
		   struct error *err);

/* The program that a name stands for: in PATH and the sbin folders; heap. */
char *child_find_program(const char *name, struct error *err);

#endif
