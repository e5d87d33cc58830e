// SPDX-License-Identifier: GPL-2.0-only
/* linux-source-X.Y: a .deb whose data.tar holds usr/src/linux-source-X.Y.tar.xz, read in one go. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/build/source_impl.h"
#include "harness/kernel/member.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define UNPACKED_MAX (16ULL << 30)

struct unpacking {
	struct archive *deb, *disk;
	char *dir; /* real path, since no link is followed below the root */
	uint64_t bytes, done;
	void (*progress)(void *arg, double percent);
	void *arg;
};

static void unpacking_free(struct unpacking *u)
{
	if (u->deb)
		archive_read_free(u->deb);
	if (u->disk)
		archive_write_free(u->disk);
	free(u->dir);
}

static int cannot_write(const struct unpacking *u, const char *path, struct error *err)
{
	errno = archive_errno(u->disk);
	error_errno(err, EXIT_NO_VERDICT, "%s: cannot write", path);
	if (archive_errno(u->disk) == ENOSPC)
		error_hint(err,
			   "the unpacked sources take 1.8 GB; set XDG_CACHE_HOME to a folder with "
			   "several GB free");
	return -1;
}

static int copy_data(struct unpacking *u, struct archive *tar, const char *path, struct error *err)
{
	const void *block;
	int64_t offset;
	size_t len;
	int ret;

	while ((ret = archive_read_data_block(tar, &block, &len, &offset)) == ARCHIVE_OK) {
		u->done += len;
		if (u->done > UNPACKED_MAX)
			return error_set(err, EXIT_USAGE, "more than %llu bytes when unpacked",
					 UNPACKED_MAX);
		if (archive_write_data_block(u->disk, block, len, offset) < ARCHIVE_OK)
			return cannot_write(u, path, err);
	}
	return ret == ARCHIVE_EOF ? 0 : member_damaged(tar, err);
}

/* "linux-source-7.3/mm/page_alloc.c" goes to DIR/mm/page_alloc.c. Times are those of now. */
static int take_entry(struct unpacking *u, struct archive *tar, struct archive_entry *e,
		      struct error *err)
{
	const char *raw = archive_entry_pathname(e), *name = raw ? member_name(raw) : NULL;
	mode_t type = archive_entry_filetype(e);
	cleanup_free char *path = NULL;

	if (!name || archive_entry_hardlink(e))
		return error_set(err, EXIT_USAGE, "refused: member \"%s\" leads out of the package",
				 raw ? raw : "?");
	name = strchr(name, '/');
	if (!name || !name[1] || (type != AE_IFREG && type != AE_IFDIR && type != AE_IFLNK))
		return 0;
	path = path_join(u->dir, name + 1);
	archive_entry_set_pathname(e, path);
	if (archive_write_header(u->disk, e) < ARCHIVE_OK)
		return cannot_write(u, path, err);
	if (type == AE_IFREG && copy_data(u, tar, path, err) < 0)
		return -1;
	return archive_write_finish_entry(u->disk) < ARCHIVE_OK ? cannot_write(u, path, err) : 0;
}

static int take_entries(struct unpacking *u, struct archive *data, struct error *err)
{
	cleanup_member_tar struct member_tar tar = { 0 };
	struct archive_entry *e;
	int ret;

	if (member_tar_open(&tar, data, err) < 0)
		return -1;
	while ((ret = archive_read_next_header(tar.archive, &e)) == ARCHIVE_OK) {
		if (take_entry(u, tar.archive, e, err) < 0)
			return -1;
		u->progress(u->arg,
			    100.0 * (double)archive_filter_bytes(u->deb, -1) / (double)u->bytes);
	}
	return ret == ARCHIVE_EOF ? 0 : member_damaged(tar.archive, err);
}

static int find_tar(struct unpacking *u, const char *name, struct error *err)
{
	cleanup_free char *prefix = str_printf("usr/src/%s.tar", name);
	cleanup_member_tar struct member_tar data = { 0 };
	struct archive_entry *e;
	int ret;

	if (member_tar_open(&data, u->deb, err) < 0)
		return -1;
	while ((ret = archive_read_next_header(data.archive, &e)) == ARCHIVE_OK) {
		const char *raw = archive_entry_pathname(e), *at = raw ? member_name(raw) : NULL;

		if (at && str_starts(at, prefix))
			return take_entries(u, data.archive, err);
	}
	if (ret != ARCHIVE_EOF)
		return member_damaged(data.archive, err);
	return error_set(err, EXIT_USAGE, "no %s.* in this package", prefix);
}

int source_unpack(const char *deb, const char *name, const char *dir,
		  void (*progress)(void *arg, double percent), void *arg, struct error *err)
{
	__attribute__((cleanup(unpacking_free))) struct unpacking u = {
		.deb = archive_read_new(),
		.disk = archive_write_disk_new(),
		.dir = realpath(dir, NULL),
		.progress = progress,
		.arg = arg,
	};
	struct stat st;

	if (!u.dir || stat(deb, &st) < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s", u.dir ? deb : dir);
	u.bytes = st.st_size ? (uint64_t)st.st_size : 1;
	archive_write_disk_set_options(u.disk, ARCHIVE_EXTRACT_SECURE_SYMLINKS |
						       ARCHIVE_EXTRACT_SECURE_NODOTDOT);
	if (member_find_data(u.deb, deb, err) < 0)
		return -1;
	return find_tar(&u, name, err) < 0 ? error_wrap(err, "%s", name) : 0;
}
