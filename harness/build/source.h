/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_SOURCE_H
#define MMRIG_SOURCE_H
/*
 * Kernel sources as git tree objects. Whatever a source is (a git tree at a revision, a folder as it
 * stands, Debian's linux-source package), it becomes one object in a repository of ours, so that its
 * identity is its content, a patch is another object, and going from one to the other touches only the
 * files that differ, which is what makes the next build incremental.
 *
 *	CACHE/sources/ID/git/	bare repository of ours; a user's git tree is its alternate
 *	CACHE/sources/ID/src/	the files that are built from, at one object at a time
 *	CACHE/sources/ID/index	of src/
 *	CACHE/sources/ID/origin	what it is of: the path of a tree, or Debian's package and version
 *	CACHE/sources/ID/.lock	held from source_open() to source_close()
 *
 * ID: "debian-7.3.4-1~bpo13+1", or "tree-" and a hash of the folder's real path. Nothing is ever
 * written into a user's tree, its index and its object folder included.
 */
#include <stdbool.h>
#include <stddef.h>

#include "results/util/error.h"

struct source_request {
	const char *tree;   /* a folder; or NULL */
	const char *rev;    /* a revision of it; NULL: the files as they stand, changes included */
	const char *debian; /* "debian:7.3", when tree is NULL: linux-source of that version */
	const char *mirror; /* as in kernel_fetch_options; NULL: the host's */
	/* As in kernel_fetch_options; also told while the lock is waited for. May be NULL. */
	void (*progress)(void *arg, const char *text, double percent);
	void *progress_arg;
};

struct source {
	char *id, *dir; /* dir: CACHE/sources/ID */
	char *src;	/* dir/src */
	char *git;	/* dir/git */
	char *own;	/* the object folder in it that new objects go to */
	char *object;	/* hex of the git tree that is meant now */
	char *base;	/* of the one before any patch */
	char *commit;	/* hex of the user's commit; NULL where there is none */
	char *what; /* one line: "linux-source-7.3 7.3.4-1~bpo13+1", "v7.3-3-g1a2b3c of /home/me/linux" */
	char *version; /* as its Makefile says: "7.3.4", "7.3.0-rc2" */
	bool dirty;    /* the files differ from the commit */
	char *changes; /* text of that difference as a git patch; NULL when clean */
	int lock;
	bool made; /* the folder, by this opening: one that fails leaves nothing */
	void (*progress)(void *arg, const char *text, double percent); /* the request's */
	void *progress_arg;
};

/*
 * Exit status 2: no kernel tree (what it lacks), no such revision (a shallow clone says so, and how to
 * deepen it), rev with a tree that is not git, a version that the archive lacks. Waits for another
 * build of the same source. On success the caller closes it; src/ is not checked out yet.
 */
int source_open(const struct source_request *r, struct source *s, struct error *err);
/*
 * s->object becomes that with the patch (unified diff, -p1, or an mbox from git format-patch) on it.
 * Exit status 2 for one that does not apply just as it is, with file and hunk; one that would apply
 * with fuzz says how much. Offsets are no error, and told as a warning.
 */
int source_patch(struct source *s, const char *patch, struct error *err);
/* src/ holds s->object. Files that do not change keep their times. */
int source_checkout(struct source *s, struct error *err);
/*
 * Names an object after a kernel, so that git itself never throws it away; NULL object: lets go of it.
 * Needs no lock.
 */
int source_keep(const char *id, const char *kernel, const char *object, struct error *err);
/* git diff --stat of two objects, or the diff itself; heap. Both must be in the source. */
char *source_diff(const char *id, const char *from, const char *to, bool stat, struct error *err);
void source_close(struct source *s);

#endif
