// SPDX-License-Identifier: GPL-2.0-only
/* A .deb is an ar archive that holds a tar archive, data.tar.*, which is read through it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/kernel/member.h"
#include "harness/kernel/tree.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define UNPACKED_MAX (8ULL << 30)

/* Where a member goes below the folder, or NULL when it is not wanted. Heap. */
static char *member_target(const char *name)
{
	static const char *const top[] = { "vmlinuz", "config", "System.map" };
	const char *file;

	if (str_starts(name, "boot/")) {
		for (size_t i = 0; i < ARRAY_SIZE(top); i++) {
			size_t n = strlen(top[i]);

			if (!strncmp(name + 5, top[i], n) && name[5 + n] == '-')
				return xstrdup(top[i]);
		}
		return NULL;
	}
	if (str_starts(name, "usr/"))
		name += 4;
	if (!str_starts(name, "lib/modules/"))
		return NULL;
	file = strchr(name + 12, '/');
	if (!file || !file[1])
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(top); i++)
		if (!strcmp(file + 1, top[i]))
			return xstrdup(top[i]);
	return xstrdup(name);
}

static int write_member(struct archive *a, const char *path, uint64_t *total, struct error *err)
{
	cleanup_close int fd =
		open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	const void *block;
	size_t len;
	int64_t offset;
	int ret;

	if (fd < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot create", path);
	while ((ret = archive_read_data_block(a, &block, &len, &offset)) == ARCHIVE_OK) {
		const char *p = block;

		*total += len;
		if (*total > UNPACKED_MAX)
			return error_set(err, EXIT_USAGE, "more than %llu bytes when unpacked",
					 UNPACKED_MAX);
		while (len) {
			ssize_t n = pwrite(fd, p, len, offset);

			if (n < 0 && errno == EINTR)
				continue;
			if (n < 0)
				return error_errno(err, EXIT_NO_VERDICT, "%s: cannot write", path);
			p += n;
			offset += n;
			len -= (size_t)n;
		}
	}
	if (ret != ARCHIVE_EOF)
		return member_damaged(a, err);
	return 0;
}

static int take_member(struct archive *a, struct archive_entry *e, const char *dir, uint64_t *total,
		       struct error *err)
{
	const char *raw = archive_entry_pathname(e), *name = raw ? member_name(raw) : NULL;
	cleanup_free char *target = NULL, *path = NULL, *parent = NULL;

	if (!name)
		return error_set(err, EXIT_USAGE, "refused: member \"%s\" leads out of the package",
				 raw ? raw : "?");
	/* The links of a package (build, source) lead out of the folder, and nothing needs them. */
	target = member_target(name);
	if (!target || archive_entry_filetype(e) != AE_IFREG || archive_entry_hardlink(e))
		return 0;
	path = path_join(dir, target);
	parent = xstrndup(path, (size_t)(strrchr(path, '/') - path));
	if (dir_make(parent, 0755, err) < 0)
		return -1;
	return write_member(a, path, total, err);
}

static int take_members(struct archive *deb, const char *dir, struct error *err)
{
	cleanup_member_tar struct member_tar tar = { 0 };
	struct archive_entry *e;
	uint64_t total = 0;
	int ret;

	if (member_tar_open(&tar, deb, err) < 0)
		return -1;
	while ((ret = archive_read_next_header(tar.archive, &e)) == ARCHIVE_OK)
		if (take_member(tar.archive, e, dir, &total, err) < 0)
			return -1;
	return ret == ARCHIVE_EOF ? 0 : member_damaged(tar.archive, err);
}

int tree_unpack(const char *deb, const char *dir, struct error *err)
{
	cleanup_archive struct archive *ar = archive_read_new();

	if (member_find_data(ar, deb, err) < 0)
		return -1;
	return take_members(ar, dir, err) < 0 ? error_wrap(err, "%s", deb) : 0;
}
