// SPDX-License-Identifier: GPL-2.0-only
#include "harness/kernel/member.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "results/util/str.h"
#include "results/verdict.h"

#define BLOCK_BYTES (1UL << 16)

const char *member_name(const char *name)
{
	while (str_starts(name, "./") || *name == '/')
		name += *name == '/' ? 1 : 2;
	for (const char *p = name; *p;) {
		size_t n = strcspn(p, "/");

		if (n == 2 && !strncmp(p, "..", 2))
			return NULL;
		p += n;
		p += *p == '/';
	}
	return name;
}

int member_damaged(struct archive *a, struct error *err)
{
	return error_set(err, EXIT_USAGE, "damaged or truncated package: %s",
			 archive_error_string(a));
}

static ssize_t read_block(struct archive *a, void *data, const void **block)
{
	struct member_tar *t = data;
	ssize_t n = archive_read_data(t->outer, t->block, BLOCK_BYTES);

	if (n < 0)
		archive_set_error(a, EIO, "%s", archive_error_string(t->outer));
	*block = t->block;
	return n;
}

int member_tar_open(struct member_tar *t, struct archive *outer, struct error *err)
{
	*t = (struct member_tar){ archive_read_new(), outer, xmalloc(BLOCK_BYTES) };
	archive_read_support_format_tar(t->archive);
	archive_read_support_filter_all(t->archive);
	if (archive_read_open(t->archive, t, NULL, read_block, NULL) != ARCHIVE_OK)
		return member_damaged(t->archive, err);
	return 0;
}

void member_tar_close(struct member_tar *t)
{
	if (t->archive)
		archive_read_free(t->archive);
	free(t->block);
	*t = (struct member_tar){ 0 };
}

int member_find_data(struct archive *deb, const char *path, struct error *err)
{
	struct archive_entry *e;
	int ret;

	archive_read_support_format_ar(deb);
	if (archive_read_open_filename(deb, path, BLOCK_BYTES) != ARCHIVE_OK)
		return error_set(err, EXIT_USAGE, "%s: %s", path, archive_error_string(deb));
	while ((ret = archive_read_next_header(deb, &e)) == ARCHIVE_OK)
		if (str_starts(archive_entry_pathname(e), "data.tar"))
			return 0;
	if (ret != ARCHIVE_EOF) {
		member_damaged(deb, err);
		return error_wrap(err, "%s", path);
	}
	return error_set(err, EXIT_USAGE, "%s: truncated package: it has no data.tar", path);
}
