/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_MODULES_H
#define MMRIG_MODULES_H
/* Which module files a kernel needs loaded, and in what order, for a list of wanted names. */
#include <stddef.h>

#include "results/util/error.h"

struct module_file {
	char *name; /* as the kernel shows it: underscores */
	char *path;
};

struct module_list {
	struct module_file *item; /* in load order: dependencies first, each once */
	size_t n;
	char **missing; /* NULL-terminated: neither a module nor built in */
};

/*
 * folder: lib/modules/RELEASE; NULL: no modules, nothing is known to be missing. wanted: names or
 * aliases, NULL-terminated. The host's own modprobe configuration and loaded modules play no part.
 * EXIT_USAGE when the folder has no dependency index (names the depmod command).
 */
int module_list_resolve(const char *folder, const char *const *wanted, struct module_list *list,
			struct error *err);
void module_list_free(struct module_list *list);
#define cleanup_module_list __attribute__((cleanup(module_list_free)))

/*
 * The module's ELF bytes, decompressed where the file is .xz, .zst or .gz; heap. EXIT_USAGE, with
 * the path, when it is damaged or no ELF file.
 */
char *module_read(const char *path, size_t *len, struct error *err);

#endif
