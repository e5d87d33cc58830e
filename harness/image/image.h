/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_IMAGE_H
#define MMRIG_IMAGE_H
/*
 * Initramfs images: an uncompressed newc cpio with /init (the agent), the device nodes that it
 * needs before devtmpfs, /modules/NN-name.ko decompressed in load order, and nothing else; the
 * job follows as a second cpio.
 */
#include <stddef.h>

#include "harness/kernel/kernel.h"
#include "results/util/error.h"

/*
 * Writes the base archive for this kernel to `path`. modules: names of the modules wanted
 * ("virtio_console", "virtio_pci", ...), any of which may be built in or lack in this kernel; the
 * dependencies come before them. *missing (may be NULL) gets a NULL-terminated heap array of those
 * that the kernel has neither as a module nor built in (only known where modules.builtin exists).
 */
int image_build(const struct kernel *k, const char *agent, const char *const *modules,
		const char *path, char ***missing, struct error *err);
/* image_build() into the cache, keyed by content (agent, image, modules list); the path, heap. */
char *image_cached(const struct kernel *k, const char *agent, const char *const *modules,
		   char ***missing, struct error *err);
/* base + job archive (file /job, mode 0400) written to `path`. */
int image_with_job(const char *base, const char *job_text, const char *path, struct error *err);

#endif
