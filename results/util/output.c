// SPDX-License-Identifier: GPL-2.0-only
#include "results/util/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

static bool same_file(const struct stat *st, const char *path)
{
	struct stat other;

	return stat(path, &other) == 0 && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

/* What has the name already. */
static int check_existing(const char *path, const char *const *input, struct error *err)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return 0; /* the folder is looked at next */
	if (S_ISDIR(st.st_mode))
		return error_set(err, EXIT_USAGE, "%s: is a folder; give the name of a file", path);
	for (; input && *input; input++) {
		struct stat target;

		if (stat(path, &target) == 0 && same_file(&target, *input))
			return error_set(err, EXIT_USAGE,
					 "%s: is read by this command, and would be lost; give another name",
					 path);
	}
	if (!S_ISREG(st.st_mode))
		return error_set(err, EXIT_USAGE,
				 "%s: is no regular file; give the name of one that is to be made", path);
	if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0)
		return error_errno(err, EXIT_USAGE, "%s: cannot be written", path);
	return 0;
}

static int check_folder(const char *path, const char *folder, struct error *err)
{
	struct stat st;

	if (stat(folder, &st) < 0 && errno == ENOENT)
		return error_set(err, EXIT_USAGE, "%s: there is no folder %s", path, folder);
	if (stat(folder, &st) < 0)
		return error_errno(err, EXIT_USAGE, "%s: cannot be made", path);
	if (!S_ISDIR(st.st_mode))
		return error_set(err, EXIT_USAGE, "%s: %s is no folder", path, folder);
	return 0;
}

/* The only test that tells of rights, read-only file systems and names that are too long. */
static int try_to_make(const char *path, struct error *err)
{
	cleanup_free char *tmp = file_temporary(path);
	cleanup_close int fd = -1;

	unlink(tmp);
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_errno(err, EXIT_USAGE, "%s: cannot be made", path);
	unlink(tmp);
	return 0;
}

int output_check(const char *path, const char *const *input, struct error *err)
{
	cleanup_free char *folder = file_parent(path);

	if (!*path)
		return error_set(err, EXIT_USAGE, "the name of the file is empty");
	if (check_existing(path, input, err) < 0 || check_folder(path, folder, err) < 0)
		return -1;
	if (str_ends(path, "/"))
		return error_set(err, EXIT_USAGE, "%s: is the name of a folder; give that of a file", path);
	return try_to_make(path, err);
}
