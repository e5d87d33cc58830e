/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_TREE_H
#define MMRIG_TREE_H
/*
 * A kernel unpacked into a folder of its own:
 *
 *	DIR/vmlinuz DIR/config DIR/System.map DIR/lib/modules/RELEASE/ DIR/kernel.json
 *
 * kernel.json is written last; a folder without it is no kernel.
 */
#include "harness/kernel/kernel.h"

/* Takes the wanted members of a .deb into `dir`; more than one .deb may go to the same folder. */
int tree_unpack(const char *deb, const char *dir, struct error *err);
/*
 * Makes a kernel of what has been unpacked: identifies the image, gives the modules their
 * modules.dep, writes kernel.json, and has it all on disk. k brings name, provenance, flavour and
 * package_version, and gets the rest.
 */
int tree_finish(const char *dir, struct kernel *k, struct error *err);
/* Reads a finished folder. A changed image is an error. */
int tree_load(const char *dir, struct kernel *k, struct error *err);
/* depmod for BASE/lib/modules/RELEASE. */
int tree_depmod(const char *base, const char *release, struct error *err);
/* Bytes on disk below a folder; 0 where there is none. */
uint64_t tree_disk_usage(const char *dir);

#endif
