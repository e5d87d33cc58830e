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

struct kconfig_request {
	const char *src, *obj;	     /* kernel tree, and the O= folder, which exists */
	const char *const *make_arg; /* for every make: CC=..., ARCH=x86, ...; NULL-terminated */
	const char *base;	     /* a whole config that takes the place of base.config; or NULL */
	const char *const *fragment; /* in order, later ones win; NULL-terminated */
};

/*
 * A fragment by name ("kasan", of those shipped) or path. Heap path; exit status 2 with the names that
 * there are.
 */
char *kconfig_find(const char *name, struct error *err);
/* Names of the shipped fragments, sorted, NULL-terminated heap array; "base" is not among them. */
char **kconfig_names(void);
/*
 * The text of all fragments together, a line each, in order, comments and blanks gone: a part of what
 * names a build. Heap. Exit status 2 for a line that is none ("FILE:LINE: ...").
 */
char *kconfig_text(const char *base, const char *const *fragment, struct error *err);
/*
 * Makes obj/.config. Written only when it changes, so that nothing is built anew. Exit status 2 when a
 * symbol that a fragment asks for did not come out as asked: the symbol, the value that it has, and
 * the dependency that is not met, or that this kernel does not know it (an unknown symbol of
 * base.config is no error: older kernels lack some; a fragment of the user's must be known).
 */
int kconfig_make(const struct kconfig_request *r, struct error *err);

#endif
