/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_STORE_ARCHIVE_H
#define MMRIG_STORE_ARCHIVE_H
/*
 * A run set as one file, to be moved to another store: a tar (pax) compressed by zstd, with the
 * folder RUNSET/ in it as store.h describes it. The same set gives the same bytes: names are sorted,
 * owners 0, times those of the set.
 */
#include "results/store.h"

struct store_moved {
	char *id; /* the caller frees */
	size_t runs;
	bool already; /* import: the same set is there already; nothing was done */
};

/*
 * Errors: EXIT_USAGE for a set that is none, or is being written; EXIT_NO_VERDICT where it is damaged,
 * or nothing can be written. On error the target is as it was; what went to a descriptor is not.
 */
int store_export(struct store *s, const char *which, const char *path, struct store_moved *moved,
		 struct error *err);
int store_export_fd(struct store *s, const char *which, int fd, const char *label,
		    struct store_moved *moved, struct error *err);

/*
 * Reads an archive as hostile. Whole or not at all: it is unpacked beside, checked, and renamed.
 * `label` stands for it in messages. Errors: EXIT_USAGE for what is no such archive, or a set that
 * is there already and differs; EXIT_NO_VERDICT for what is damaged, or made by a newer mmrig.
 */
int store_import_fd(struct store *s, int fd, const char *label, struct store_moved *moved,
		    struct error *err);

#endif
