/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_DEBVERSION_H
#define MMRIG_DEBVERSION_H
/* Version numbers of Debian packages, ordered as deb-version(7) says. */
#include <stdbool.h>

/* < 0, 0, > 0 as a is older than, the same as, newer than b. */
int debversion_compare(const char *a, const char *b);
/*
 * Whether `version` is what the user means by `wanted`: exactly it; or, where wanted has no
 * Debian revision, an upstream version that continues it at a point ("7.3": 7.3-1, 7.3.4-1,
 * 7.3~rc7-1; neither 7.30-1 nor 7.2-1).
 */
bool debversion_matches(const char *version, const char *wanted);

#endif
