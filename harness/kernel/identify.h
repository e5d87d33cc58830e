/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_IDENTIFY_H
#define MMRIG_IDENTIFY_H
#include "harness/kernel/kernel.h"

/*
 * Format, release, version, build id, hash, and the config that the image carries, of one file;
 * image gets the absolute path. A small cache keyed by path and stamp makes it fast the next time.
 */
int identify_image(const char *path, struct kernel *k, struct error *err);
/* Config, System.map and modules that stand beside k->image; what is not there stays NULL. */
int identify_around(struct kernel *k, struct error *err);

#endif
