/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_PICK_H
#define MMRIG_PICK_H
/* Which package of the archive "debian:VERSION" means. */
#include "harness/kernel/apt.h"

/*
 * "debian:7.3", "debian:7.3.4-1~bpo13+1", "debian:7.3/generic": the version, and the flavour or NULL;
 * heap. Exit status 2 for anything else.
 */
int pick_parse(const char *spec, char **version, char **flavour, struct error *err);
/*
 * The newest image of that flavour that matches, or with flavour NULL the newest linux-source; the first
 * of its suites. The index is fetched when it is old, when `refresh`, and when nothing matches. Exit
 * status 2 with the nearest versions when there is none. pick_free().
 */
int pick_package(struct apt *a, const char *version, const char *flavour, bool refresh,
		 struct apt_package *package, struct error *err);
void pick_free(struct apt_package *package);

#endif
