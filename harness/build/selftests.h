/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_BUILD_SELFTESTS_H
#define MMRIG_BUILD_SELFTESTS_H
/*
 * The mm selftests of a kernel tree as static programs on a toolbox disk
 * (workloads/kselftest-mm/selftests.h). The host's gcc builds them against the tree's own headers, one
 * by one: those that cannot be built so are named on the disk with the reason, and stop no other.
 *
 * The image is cached by the tree's content, the compiler and the tests (harness/image/toolbox.h). What
 * is built from lies in the cache of sources, exported to a folder that goes afterwards.
 */
#include "harness/image/toolbox.h"

struct selftests_request {
	const char *source; /* "debian:7.3", "tree:DIR", "tree:DIR@REV" */
	char *const *list;  /* names by blanks and commas, or "all", one string a variant; NULL-terminated */
	const struct toolbox_spec *spec;
	/* As in kernel_fetch_options; a "warning: ..." too. May be NULL. */
	void (*progress)(void *arg, const char *text, double percent);
	void *progress_arg;
};

/*
 * EXIT_USAGE: no such source, no kernel tree, one without mm selftests, a test that it does not have
 * (with the nearest, or all). EXIT_NO_VERDICT: headers that cannot be made, a full disk.
 */
int selftests_get(const struct selftests_request *r, struct toolbox *t, struct error *err);

/*
 * What a Makefile of mm selftests can build on x86-64: of its TEST_GEN_FILES and TEST_GEN_PROGS, and NAME_64
 * of its VMTARGETS in place of NAME. Heap, NULL-terminated, sorted, each once.
 */
char **selftests_of_makefile(const char *text);
void selftests_names_free(char **names);

#endif
