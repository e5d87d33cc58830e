/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_KCONFIG_H
#define MMRIG_KCONFIG_H
/*
 * The config of a build: fragments laid over allnoconfig, or over a whole config of the user's, and
 * what became of each symbol that was asked for.
 */
#include <stddef.h>

#include "results/util/error.h"

/* Where the shipped fragments stand; in an installed mmrig below its data folder. */
#define KCONFIG_FOLDER "harness/build/config"

/* Gets a line for each ask that gives way to one of a later file; line may be NULL. */
struct kconfig_tell {
	void (*line)(void *arg, const char *text);
	void *arg;
};

struct kconfig_request {
	const char *src, *obj;	     /* kernel tree, and the O= folder, which exists */
	const char *const *make_arg; /* for every make: CC=..., ARCH=x86, ...; NULL-terminated */
	const char *base; /* a whole config that takes the place of base.config; or NULL */
	const char *const *fragment; /* in order, later ones win; NULL-terminated */
	const char *list;	     /* file for the symbols that are more than a message holds */
	struct kconfig_tell tell;    /* of members of a choice; of the rest kconfig_text() tells */
};

/*
 * A fragment by name ("kasan", of those shipped) or path. Heap path; exit status 2 with the names that
 * there are.
 */
char *kconfig_find(const char *name, struct error *err);
/* Names of the shipped fragments, sorted, NULL-terminated heap array; "base" is not among them. */
char **kconfig_names(void);
/*
 * What is asked for, as a part of what names a build: "allnoconfig" or, with a base, "olddefconfig",
 * then the base (NULL: base.config) and the fragments together, a line each, in order; comments and
 * blanks are gone, and so is what a later file takes back. Heap. Exit status 2 for a line that is none
 * ("FILE:LINE: ..."), and for two that contradict each other in one file. Told is an ask that takes the
 * place of another fragment's, and in a whole config of the user's of an earlier line, where the kernel's
 * tools let the last one count. That a fragment changes the base is what it is for.
 */
char *kconfig_text(const char *base, const char *const *fragment, const struct kconfig_tell *tell,
		   struct error *err);
/*
 * Makes obj/.config. Written only when it changes, so that nothing is built anew. Exit status 2 when a
 * symbol that a fragment asks for did not come out as asked: the symbol, the value that it has, and
 * the dependency that is not met, or that this kernel does not know it (an unknown symbol of
 * a shipped config is no error: older kernels lack some; those of a user's fragment must be known). What a
 * whole config of the user's asks for is not checked. A member of a choice gives way to another that
 * a later file asks for. Of more than three symbols all are in r->list.
 */
int kconfig_make(const struct kconfig_request *r, struct error *err);
/*
 * What differs between two configs: lines "SYMBOL: y -> n", "SYMBOL: - -> m", by symbol, "-" where it is
 * absent; absent and not set are the same. Heap, empty when nothing differs.
 */
char *kconfig_diff(const char *text_a, const char *text_b);

#endif
