/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_IMAGE_TOOLBOX_H
#define MMRIG_IMAGE_TOOLBOX_H
/*
 * The disks of guests that run programs (guest/toolbox.h).
 *
 * The toolbox is an erofs image of Debian packages of stable and what they depend on, as the private apt
 * of the kernels finds them: the host's own packages play no part, so the same program runs whatever the
 * host is. It is not compressed: a page that is read costs no CPU. No root is needed.
 *
 *	CACHE/toolbox/SPEC.list		what was asked, and each package with version and SHA-256
 *	CACHE/toolbox/CONTENT.erofs	CONTENT: the hash of such a list
 *
 * Both are renamed into place when whole. What is there is used without a look at the archive, so that
 * programs do not change between two run sets; who wants newer ones removes the folder. What was not
 * used for 90 days goes when the next is made.
 */
#include <stdint.h>

#include "guest/toolbox.h"
#include "results/util/error.h"

struct toolbox {
	char *image;
	char *what; /* its first package: "fio 3.39-1" */
};

/* Programs that are made here and are no packages. */
struct toolbox_made {
	const char *key;  /* one line: all that the files come of; those of one key are the same */
	const char *what; /* for struct toolbox */
	/* Puts them into the tree, whose folders stand already. */
	int (*fill)(void *arg, const char *tree, struct error *err);
	void *arg;
};

/*
 * Finds it or makes it. made: files of the host's own, may be NULL. progress as that of kernel_fetch(); may be NULL. EXIT_NO_VERDICT: no network, a
 * package that stable lacks, a full disk, no mkfs.erofs; nothing half made is left.
 */
int toolbox_get(const struct toolbox_spec *spec, const struct toolbox_made *made,
		void (*progress)(void *arg, const char *text, double percent), void *arg,
		struct toolbox *t, struct error *err);
void toolbox_free(struct toolbox *t);

/*
 * A sparse file of so many bytes with an empty ext4 filesystem, the same bits each time. EXIT_NO_VERDICT.
 */
int scratch_make(const char *path, uint64_t bytes, struct error *err);
/* The least that ext4 with a journal makes sense on. */
#define SCRATCH_BYTES_MIN (32ULL << 20)

#endif
