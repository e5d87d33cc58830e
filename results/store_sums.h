/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_STORE_SUMS_H
#define MMRIG_STORE_SUMS_H
/*
 * The file `checksums` of a folder: SHA-256 of its files as sha256sum(1) writes and checks them. A
 * file that was removed on purpose keeps its line behind "# removed: ", which sha256sum passes over.
 * Part of the store; nobody else includes this. Errors: EXIT_NO_VERDICT.
 */
#include <stdbool.h>
#include <stddef.h>

#include "results/util/error.h"

/* What a run's folder has, NULL-terminated. */
extern const char *const store_run_files[];

struct sums {
	struct sum {
		char *name, *hash; /* bare hex */
		bool removed;
	} * item;
	size_t n;
};

/* 1; 0 where there is none, as an older mmrig left it; -1 where it is damaged. */
int sums_load(const char *dir, struct sums *sums, struct error *err);
void sums_free(struct sums *sums);
/* The file is there and is what its line says, or was removed on purpose. */
int sums_check(const char *dir, const struct sums *sums, const char *name, struct error *err);
bool sums_removed(const struct sums *sums, const char *name);

/* Makes the file, synced: of the files as they are, or of such as are to have these texts. */
int sums_make(const char *dir, const char *const *names, struct error *err);
struct sums_text {
	const char *name, *text;
	size_t len;
};
int sums_make_texts(const char *dir, const struct sums_text *text, size_t n, struct error *err);
/*
 * Gives one file a new text, and the checksums with it where there are any. Killed in between,
 * checksums.next holds what sums_load() needs.
 */
int sums_rewrite(const char *dir, const char *name, const char *text, size_t len,
		 struct error *err);
/* Notes that the file is gone on purpose; checksums are made first where there are none. */
int sums_mark_removed(const char *dir, const char *name, struct error *err);

#endif
