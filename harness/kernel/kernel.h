/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_KERNEL_H
#define MMRIG_KERNEL_H
/*
 * Kernels: what an image is, where it came from, how to get one from Debian.
 * All strings belong to the struct; kernel_free().
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/util/error.h"

enum kernel_format { KERNEL_BZIMAGE, KERNEL_VMLINUX };

struct kernel {
	char *name;  /* as the user named it, or as listed; unique in the cache */
	char *image; /* absolute path that QEMU is given */
	enum kernel_format format;
	char *release;	   /* "7.3.4+deb13-cloud-amd64", from the image's own header */
	char *version;	   /* the whole banner after the release, may be NULL */
	char *build_id;	   /* hex; NULL where the image shows none */
	char *image_hash;  /* "sha256:..." of the image file */
	char *config;	   /* path of the config (cached copy when from IKCONFIG), or NULL */
	char *config_hash; /* "sha256:...", or NULL */
	char *modules;	   /* folder lib/modules/RELEASE, or NULL: everything built in */
	char *system_map;  /* or NULL */
	char *provenance;  /* one line: "debian 7.3.4-1~bpo13+1 (trixie-backports)", "file" ... */
	char *flavour;	   /* "cloud", "generic"; NULL unless from Debian */
	char *package_version; /* "7.3.4-1~bpo13+1"; NULL unless from Debian */
	uint64_t disk_bytes;   /* what it takes in the cache; 0 outside the cache */
};

/*
 * What K of --kernel names: a path (bzImage, vmlinux ELF, .deb, folder of an unpacked deb, build
 * tree with arch/x86/boot/bzImage), "debian:VERSION" (fetched when not in the cache), or the name
 * of a cached kernel. EXIT_USAGE with what it is instead when it is no kernel.
 */
int kernel_resolve(const char *spec, struct kernel *k, struct error *err);
/* Identifies a path only; never fetches. */
int kernel_identify(const char *path, struct kernel *k, struct error *err);
/* "y", "m", a number or string value; NULL when not set or no config is known. Caller frees. */
char *kernel_config_value(const struct kernel *k, const char *symbol);
void kernel_free(struct kernel *k);

struct kernel_fetch_options {
	const char *spec;    /* "debian:7.3", "debian:7.3.4-1~bpo13+1", "debian:7.3/generic" */
	const char *flavour; /* "cloud" (default) or "generic" */
	const char *name;    /* name in the cache; NULL: release */
	const char *mirror;  /* URI of a Debian archive; NULL: the one that the host's apt uses */
	bool refresh;	     /* ask the archive even when the cache has a match */
	/*
	 * What is being done, for a live line; percent < 0: unknown; may be NULL. A text is told
	 * once or with growing percents; "warning: ..." is one that should stay to be read.
	 */
	void (*progress)(void *arg, const char *text, double percent);
	void *progress_arg;
};
/* kernel_resolve(), telling how a fetch gets on; o may be NULL, its spec and name are unused. */
int kernel_resolve_with(const char *spec, const struct kernel_fetch_options *o, struct kernel *k,
			struct error *err);
/* Gets it into the cache, or finds it there. */
int kernel_fetch(const struct kernel_fetch_options *o, struct kernel *k, struct error *err);

/*
 * All kernels of the cache, sorted by name. Caller frees with kernel_list_free(). A damaged entry
 * is left out; kernel_list_problems() names those, one line each, NULL-terminated heap array.
 */
int kernel_list(struct kernel **kernels, size_t *n, struct error *err);
void kernel_list_free(struct kernel *kernels, size_t n);
char **kernel_list_problems(void);
/* EXIT_USAGE with the nearest when the cache has no such entry (it may be a damaged one). */
int kernel_check_cached(const char *name, struct error *err);
int kernel_remove(const char *name, struct error *err);

#endif
