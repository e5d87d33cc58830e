/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_TOOLCHAIN_H
#define MMRIG_TOOLCHAIN_H
/* The compiler and the other programs that a kernel is built with. */
#include <stdbool.h>

#include "results/util/error.h"

struct toolchain {
	char *cc;	  /* as asked for: "gcc", "clang-16" */
	char *cc_line;	  /* first line of its --version */
	char *cc_version; /* "12.2.0" */
	char *ld_line, *ld_version;
	bool clang;
	bool ccache;	 /* is there */
	bool prefix_map; /* knows -ffile-prefix-map (gcc 8) */
};

/* cc NULL: gcc. Exit status 2 with all that is missing, and the packages. */
int toolchain_find(const char *cc, struct toolchain *t, struct error *err);
void toolchain_free(struct toolchain *t);
/* Exit status 2 when the tree's scripts/min-tool-version.sh asks for more; trees before 5.12 have none. */
int toolchain_check_source(const struct toolchain *t, const char *src, struct error *err);
/* The same when a program is missing that this .config needs: one for compression is needed last. */
int toolchain_check_config(const char *config, struct error *err);
/*
 * Why a build of kernel `version` may have failed with a compiler that is newer than it; heap, NULL
 * where it is not.
 */
char *toolchain_too_new(const struct toolchain *t, const char *version);
/* Of a line of a build's log: "zstd is missing: apt-get install zstd"; heap, or NULL. */
char *toolchain_missing(const char *line);

/* "12.2.0", "2.40", "5.10.0-rc3": less than 0, 0, more, by their first three numbers. */
int toolchain_compare(const char *a, const char *b);

#endif
