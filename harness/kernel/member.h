/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_MEMBER_H
#define MMRIG_MEMBER_H
/* Archives in archives, as a .deb is one: read through, nothing put on disk between. */
#include <archive.h>
#include <archive_entry.h>

#include "results/util/error.h"

/* Without "./" and "/" in front; NULL where a component is "..". */
const char *member_name(const char *name);

/* The tar archive (of any compression) that is the member at which `outer` stands. */
struct member_tar {
	struct archive *archive, *outer;
	char *block;
};
/* Exit status 2 for a damaged one. The caller closes it, also after an error. */
int member_tar_open(struct member_tar *t, struct archive *outer, struct error *err);
void member_tar_close(struct member_tar *t);
#define cleanup_member_tar __attribute__((cleanup(member_tar_close)))

/* The data.tar of a .deb: `deb` is left standing at it. Exit status 2 for what is no .deb. */
int member_find_data(struct archive *deb, const char *path, struct error *err);
/* "damaged or truncated package", and why. Returns -1. */
int member_damaged(struct archive *a, struct error *err);

static inline void archive_free_p(struct archive **a)
{
	if (*a)
		archive_read_free(*a);
}
#define cleanup_archive __attribute__((cleanup(archive_free_p)))

#endif
