/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_SOURCE_IMPL_H
#define MMRIG_SOURCE_IMPL_H
/*
 * What the parts of source.c share.
 *
 * Objects are seen in two ways. Reading, through ID/git/objects, which holds nothing itself and has
 * ID/git/own and the user's object folder as alternates. Writing, through ID/git/own alone: git that
 * finds an object in an alternate touches the time of that file, and it would be the user's.
 */
#include "harness/build/git.h"
#include "harness/build/source.h"

/* Larger files that git does not know are no sources: images, cores, archives. */
#define SOURCE_FILE_MAX (64UL << 20)

/* ---- the repository: source_repo.c ---- */

/* In reading and in writing view; strings belong to s. */
struct git source_reading(const struct source *s);
struct git source_writing(const struct source *s);
void source_tell(const struct source *s, const char *text, double percent);
/* "warning: " and the text. */
void source_warn(const struct source *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Takes the lock of CACHE/sources/ID, sets the paths of s, and makes the repository where there is
 * none; alternate: the user's object folder, or NULL.
 */
int source_prepare(struct source *s, const char *id, const char *alternate, struct error *err);
/* Removes CACHE/sources/ID, with the lock held; what cannot be removed stays. */
void source_discard(const struct source *s);
/* Takes back what source_prepare() did: the lock and the paths. */
void source_release(struct source *s);
/* The tree object of an index; heap. */
char *source_write_tree(const struct source *s, const char *index, struct error *err);
/* A ref of ours below refs/mmrig; NULL object: removes it. name may be any that a kernel can have. */
int source_set_ref(const char *git, const char *kind, const char *name, const char *object,
		   struct error *err);
/* Heap, NULL where there is none. */
char *source_get_ref(const char *git, const char *kind, const char *name);
/* Writes and reads ID/origin: a line each; heap. */
int source_set_origin(const struct source *s, const char *first, const char *second,
		      struct error *err);
bool source_get_origin(const char *dir, char **first, char **second);
/* Forgets src/ and its index. */
int source_drop_files(const struct source *s, struct error *err);

/* ---- a user's tree: source_user.c ---- */

struct user_tree {
	char *path; /* real path */
	char *git;  /* its git folder, or the file that names it; NULL: no git tree */
	bool bare;
	char *objects, *index, *exclude, *shallow; /* NULL without git */
	char *more_exclude;			   /* core.excludesFile, or NULL */
};
int user_tree_open(struct user_tree *u, const char *path, struct error *err);
void user_tree_close(struct user_tree *u);
/* The commit that rev names; heap. */
char *user_tree_commit(const struct user_tree *u, const char *rev, struct error *err);
/* That of HEAD; NULL without an error where there is none yet. */
char *user_tree_head(const struct user_tree *u);
/* "v7.3-3-g1a2b3c"; heap. */
char *user_tree_describe(const struct user_tree *u, const char *commit);
/* Exit status 2 when the object of a partial clone is not all there. */
int user_tree_check_whole(const struct user_tree *u, const struct source *s, const char *object,
			  struct error *err);

/* ---- files that become an object: source_take.c ---- */

/* The tree object of the files as they stand; heap. scratch: an empty folder. */
char *source_take(const struct source *s, const struct user_tree *u, const char *scratch,
		  struct error *err);
/* Of all files in src/, whose index is made on the way; heap. */
char *source_take_src(const struct source *s, const char *scratch, struct error *err);

/* ---- Debian: source_debian.c ---- */

/* s with lock, id, dir and base. */
int source_open_debian(const struct source_request *r, struct source *s, struct error *err);
/* usr/src/NAME.tar.* in a .deb, without its first folder, into an empty folder. */
int source_unpack(const char *deb, const char *name, const char *dir,
		  void (*progress)(void *arg, double percent), void *arg, struct error *err);

#endif
