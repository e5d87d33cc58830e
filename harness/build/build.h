/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_BUILD_H
#define MMRIG_BUILD_H
/*
 * Kernels from source, cached by content: tree, patches, config, compiler and options make a key; a
 * kernel of that key in the cache is the answer, else it is built in CACHE/sources/ID/obj-KEY, a
 * folder per config and compiler, so that a patched kernel is built from the objects of its base.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/kernel/kernel.h"

struct build_request {
	const char *tree, *rev; /* as in source_request */
	const char *source;	/* "debian:7.3"; just one of tree and source */
	char *const *patch;	/* paths, in order; NULL-terminated or NULL */
	char *const *config;	/* fragments by name or path; NULL-terminated or NULL */
	const char *base;	/* a whole config instead of mmrig's base; or NULL */
	const char *cc;		/* "gcc-11", "clang"; NULL: gcc */
	bool align;		/* -falign-functions=64: a patch moves no other function across a line */
	const char *name;	/* in the cache; NULL: made of version, patches and config */
	const char *mirror;
	unsigned int jobs; /* 0: as many as there are CPUs */
	void (*progress)(void *arg, const char *text, double percent);
	void *progress_arg;
};

/*
 * Finds or builds it. Exit status 2: what source_open(), source_patch() and kconfig_make() refuse, a
 * tool that is missing (with the package), a compiler that is too old for this kernel; 4: the build
 * failed, with the first error's lines and the path of the whole log; disk full; 130: interrupted.
 * What is in the cache under `name` with another key is an error with what to do. Of the same key, the
 * kernel that is there is the answer, whatever its name; a `name` of its own makes a copy.
 */
int build_kernel(const struct build_request *r, struct kernel *k, struct error *err);

/* What is recorded of a built kernel besides its identity, in kernel.json as "build". */
struct build_record {
	char *key, *source_id, *object, *base, *commit, *what; /* commit may be NULL */
	char *cc;	 /* first line of `cc --version` */
	char *options;	 /* "align", "" */
	char *obj;	 /* "obj-70b5d3c4": folder in CACHE/sources/ID; NULL: of older records */
	char **patch;	 /* "NAME sha256:...", NULL-terminated */
	char **config;	 /* "base", "kasan", "my.config sha256:..."; NULL-terminated */
	char *changes;	 /* path of the local changes that were built, or NULL */
};
/* 1, 0 when k was not built here, -1. */
int build_record_load(const struct kernel *k, struct build_record *b, struct error *err);
void build_record_free(struct build_record *b);
json_t *build_record_pack(const struct build_record *b);

/*
 * What differs between two kernels: config symbols ("SYMBOL: y -> n"), sources (stat or whole diff,
 * when both are of one source), compiler, release, packages. Printed to stdout by kernel diff; heap.
 */
char *build_diff(const struct kernel *a, const struct kernel *b, bool whole, struct error *err);
/*
 * The same as an object: "a", "b": names; "same"; "same_image"; "differences": [{"what", "a", "b"}],
 * "config": [{"symbol", "a", "b"}], "source": text; null where it cannot be compared.
 */
json_t *build_diff_json(const struct kernel *a, const struct kernel *b, bool whole,
			struct error *err);

/* Sources, objects and the compiler's cache: what they take, without which kernels still run. */
uint64_t build_sources_bytes(void);
/* Removes them. Exit status 4 when a build is at work on one. */
int build_sources_remove(struct error *err);

/* ---- build_objects.c: objects and logs of single kernels ---- */

struct build_objects {
	char *user;	/* a kernel of the cache that was built from them too; or NULL */
	uint64_t bytes; /* on disk; 0: there are none, or the record does not say which */
};
void build_objects_free(struct build_objects *o);
/* Of a kernel that was in the cache, and is not any more; b: its record. */
void build_objects_find(const struct build_record *b, struct build_objects *o);
/* Removes them. Exit status 4 when a build is at work on their source. */
int build_objects_remove(const struct build_record *b, struct error *err);
/* Removes what a build of that name said. */
void build_log_remove(const struct build_record *b, const char *name);
/*
 * Removes all objects and logs that no kernel of the cache was built from, of failed builds too;
 * *bytes: how much it was. Exit status 4 when a build is at work on one of the sources; the others are
 * done all the same.
 */
int build_objects_prune(uint64_t *bytes, struct error *err);

#endif
