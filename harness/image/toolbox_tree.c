// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packages unpacked into one tree, as dpkg would without running their scripts. Owners are not kept:
 * in the image all is root's.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/image/toolbox_impl.h"
#include "harness/kernel/member.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define UNPACKED_MAX (16ULL << 30)
#define DISK_FLAGS                                                                    \
	(ARCHIVE_EXTRACT_PERM | ARCHIVE_EXTRACT_SECURE_SYMLINKS |                     \
	 ARCHIVE_EXTRACT_SECURE_NODOTDOT | ARCHIVE_EXTRACT_UNLINK)

struct unpacking {
	struct archive *disk;
	char *dir; /* real path, since no link is followed below it */
	char *(*place)(const char *member);
	uint64_t bytes;
};

/* ---- where things go ---- */

static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return !strncmp(path, folder, n) && (!path[n] || path[n] == '/');
}

char *toolbox_place(const char *member)
{
	static const char *const moved[] = { "bin", "sbin", "lib", "lib64" };
	static const char *const dropped[] = {
		"usr/share/doc",      "usr/share/man",	"usr/share/locale", "usr/share/info",
		"usr/share/lintian",  "usr/share/bug",	"usr/share/doc-base", "proc", "sys",
		"dev",		      "run",		"tmp",		    "work", "var/tmp",
	};

	if (!*member)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(dropped); i++)
		if (is_below(member, dropped[i]))
			return NULL;
	/* Themselves they are there already, and base-files has them as links. */
	for (size_t i = 0; i < ARRAY_SIZE(moved); i++)
		if (is_below(member, moved[i]))
			return member[strlen(moved[i])] ? str_printf("usr/%s", member) : NULL;
	return xstrdup(member);
}

/* ---- members ---- */

static int cannot_write(const struct unpacking *u, const char *path, struct error *err)
{
	errno = archive_errno(u->disk);
	error_errno(err, EXIT_NO_VERDICT, "%s: cannot write", path);
	if (errno == ENOSPC)
		error_hint(err, "make room, or set XDG_CACHE_HOME to a folder on another disk");
	return -1;
}

static int copy_data(struct unpacking *u, struct archive *tar, const char *path, struct error *err)
{
	const void *block;
	int64_t offset;
	size_t len;
	int ret;

	while ((ret = archive_read_data_block(tar, &block, &len, &offset)) == ARCHIVE_OK) {
		u->bytes += len;
		if (u->bytes > UNPACKED_MAX)
			return error_set(err, EXIT_NO_VERDICT, "more than %llu bytes when unpacked",
					 UNPACKED_MAX);
		if (archive_write_data_block(u->disk, block, len, offset) < ARCHIVE_OK)
			return cannot_write(u, path, err);
	}
	return ret == ARCHIVE_EOF ? 0 : member_damaged(tar, err);
}

static char *place_of(const struct unpacking *u, const char *raw, struct error *err)
{
	const char *name = raw ? member_name(raw) : NULL;
	cleanup_free char *place = NULL;

	if (!name) {
		error_set(err, EXIT_NO_VERDICT, "refused: member \"%s\" leads out of the package",
			  raw ? raw : "?");
		return NULL;
	}
	place = u->place(name);
	return place ? path_join(u->dir, place) : xstrdup("");
}

/* What the owner may not read, mkfs.erofs of an ordinary user could not either. */
static void set_mode(struct archive_entry *e)
{
	mode_t mode = archive_entry_perm(e) & 0777;

	archive_entry_set_perm(e, mode | (archive_entry_filetype(e) == AE_IFDIR ? 0700 : 0400));
}

static int take_member(struct unpacking *u, struct archive *tar, struct archive_entry *e,
		       struct error *err)
{
	cleanup_free char *path = place_of(u, archive_entry_pathname(e), err), *other = NULL;
	const char *hardlink = archive_entry_hardlink(e);
	mode_t type = archive_entry_filetype(e);

	if (!path)
		return -1;
	if (!*path || (!hardlink && type != AE_IFREG && type != AE_IFDIR && type != AE_IFLNK))
		return 0;
	if (hardlink) {
		other = place_of(u, hardlink, err);
		if (!other)
			return -1;
		archive_entry_set_hardlink(e, other);
	}
	archive_entry_set_pathname(e, path);
	set_mode(e);
	if (archive_write_header(u->disk, e) < ARCHIVE_OK)
		return cannot_write(u, path, err);
	if (type == AE_IFREG && copy_data(u, tar, path, err) < 0)
		return -1;
	return archive_write_finish_entry(u->disk) < ARCHIVE_OK ? cannot_write(u, path, err) : 0;
}

static int take_members(struct unpacking *u, struct archive *tar, struct error *err)
{
	struct archive_entry *e;
	int ret;

	while ((ret = archive_read_next_header(tar, &e)) == ARCHIVE_OK)
		if (take_member(u, tar, e, err) < 0)
			return -1;
	return ret == ARCHIVE_EOF ? 0 : member_damaged(tar, err);
}

static int unpacking_begin(struct unpacking *u, const char *dir, char *(*place)(const char *),
			   struct error *err)
{
	*u = (struct unpacking){ archive_write_disk_new(), realpath(dir, NULL), place, 0 };
	archive_write_disk_set_options(u->disk, DISK_FLAGS);
	return u->dir ? 0 : error_errno(err, EXIT_NO_VERDICT, "%s", dir);
}

/* Modes of folders are set at the end. */
static int unpacking_end(struct unpacking *u, int ret, struct error *err)
{
	if (archive_write_close(u->disk) < ARCHIVE_OK && ret == 0)
		ret = cannot_write(u, u->dir ? u->dir : "", err);
	archive_write_free(u->disk);
	free(u->dir);
	return ret;
}

int toolbox_tree_add(const char *dir, const char *deb, struct error *err)
{
	cleanup_archive struct archive *ar = archive_read_new();
	cleanup_member_tar struct member_tar tar = { 0 };
	struct unpacking u;
	int ret = unpacking_begin(&u, dir, toolbox_place, err);

	if (ret == 0)
		ret = member_find_data(ar, deb, err);
	if (ret == 0)
		ret = member_tar_open(&tar, ar, err);
	if (ret == 0)
		ret = take_members(&u, tar.archive, err);
	return unpacking_end(&u, ret, err);
}

/* ---- what a root has of itself ---- */

static int make_link(const char *dir, const char *name, const char *target, struct error *err)
{
	cleanup_free char *path = path_join(dir, name), *parent = xstrdup(path);

	*strrchr(parent, '/') = '\0';
	if (dir_make(parent, 0755, err) < 0)
		return -1;
	if (symlink(target, path) < 0 && errno != EEXIST)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot create", path);
	return 0;
}

static int put_text(const char *dir, const char *name, const char *text, struct error *err)
{
	cleanup_free char *path = path_join(dir, name);

	return file_write_atomic(path, text, strlen(text), 0644, err);
}

int toolbox_tree_begin(const char *dir, struct error *err)
{
	static const char *const folders[] = { "usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "etc",
					       "proc",	  "sys",      "dev",	 "tmp",	      "work" };
	static const char *const links[][2] = {
		{ "bin", "usr/bin" },	{ "sbin", "usr/sbin" }, { "lib", "usr/lib" },
		{ "lib64", "usr/lib64" }, { "run", "tmp" },	{ "var/tmp", "../tmp" },
		{ "var/run", "../tmp" }, { "etc/mtab", "../proc/self/mounts" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		cleanup_free char *path = path_join(dir, folders[i]);

		if (dir_make(path, 0755, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		if (make_link(dir, links[i][0], links[i][1], err) < 0)
			return -1;
	if (put_text(dir, "etc/passwd", "root:x:0:0:root:/tmp:/bin/sh\n", err) < 0)
		return -1;
	return put_text(dir, "etc/group", "root:x:0:\n", err);
}

/* ---- what the spec adds ---- */

static char *place_as_is(const char *member)
{
	return *member ? xstrdup(member) : NULL;
}

static int unpack_in_place(const char *dir, const char *name, struct error *err)
{
	cleanup_free char *path = path_join(dir, name), *parent = xstrdup(path);
	cleanup_archive struct archive *tar = archive_read_new();
	struct unpacking u;
	int ret;

	*strrchr(parent, '/') = '\0';
	archive_read_support_format_tar(tar);
	archive_read_support_filter_all(tar);
	ret = unpacking_begin(&u, parent, place_as_is, err);
	if (ret == 0 && archive_read_open_filename(tar, path, 1 << 16) != ARCHIVE_OK)
		ret = error_set(err, EXIT_NO_VERDICT, "%s: %s", name, archive_error_string(tar));
	if (ret == 0)
		ret = take_members(&u, tar, err);
	ret = unpacking_end(&u, ret, err);
	unlink(path);
	return ret;
}

int toolbox_tree_finish(const char *dir, const struct toolbox_spec *spec, struct error *err)
{
	for (const char *const *u = spec->unpack; u && *u; u++)
		if (unpack_in_place(dir, *u, err) < 0)
			return -1;
	for (const char *const *l = spec->links; l && *l; l++) {
		cleanup_free char *name = xstrndup(*l, strcspn(*l, " "));

		if (make_link(dir, name, *l + strlen(name) + 1, err) < 0)
			return -1;
	}
	return 0;
}
