/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_DEBFILE_H
#define MMRIG_DEBFILE_H
#include "harness/kernel/kernel.h"

/*
 * The kernel in a .deb that the user has, unpacked into the cache under its hash. Where the
 * packages that an image is split into (linux-base-, -binary-, -modules-) lie beside it in the
 * same version, they are taken along.
 */
int debfile_identify(const char *path, struct kernel *k, struct error *err);

#endif
