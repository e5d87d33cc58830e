/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_STORE_KERNELS_H
#define MMRIG_STORE_KERNELS_H
/*
 * RUNSET/kernels/NAME/: what a kernel of the set was built of (patches, local changes, config), as
 * struct run_kernel lists it. Part of the store; nobody else includes this.
 */
#include "results/run.h"
#include "results/util/error.h"

#define STORE_KERNELS "kernels"	   /* in a set's folder; no run has that name */
#define STORE_KEPT_MAX (64U << 20) /* bytes of one file */
#define STORE_KEPT_NAME_MAX 100

/* Gives folders and files names that can be stored, each of its own. */
void store_name_kernels(struct runset *set);
/* Are the names of a loaded set such? EXIT_NO_VERDICT. */
int store_check_kernels(const char *label, const struct runset *set, struct error *err);
/* Their paths below the set's folder, sorted, NULL-terminated heap array of heap strings. */
char **store_kernel_files(const struct runset *set);
/* Writes them, synced, into the folder of a set. */
int store_write_kernels(const char *dir, const struct runset *set, struct error *err);
/* There is nothing below kernels/ but these. EXIT_NO_VERDICT. */
int store_only_listed(const char *set_dir, char *const *files, struct error *err);

#endif
