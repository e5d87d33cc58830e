// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/build/build_impl.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define MARK ".mmrig-unfinished"

static char *boot_id(void)
{
	char *text = file_read("/proc/sys/kernel/random/boot_id", 4096, NULL, NULL);

	return text ? text : xstrdup("unknown\n");
}

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec >= b->tv_nsec;
}

static int remove_newer(const char *dir, const struct timespec *since, struct error *err)
{
	cleanup_dir DIR *d = opendir(dir);
	struct dirent *e;

	if (!d)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot read", dir);
	while ((e = readdir(d))) {
		cleanup_free char *path = path_join(dir, e->d_name);
		struct stat st;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || lstat(path, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && remove_newer(path, since, err) < 0)
			return -1;
		if (!S_ISREG(st.st_mode) || strcmp(e->d_name, MARK) == 0 ||
		    !is_newer(&st.st_mtim, since))
			continue;
		if (unlink(path) < 0)
			return error_errno(err, EXIT_NO_VERDICT, "%s: cannot remove", path);
	}
	return 0;
}

/* Kconfig writes these together; with one of the two make would not have it write the other. */
static void remove_half_pair(const char *obj)
{
	cleanup_free char *conf = path_join(obj, "include/config/auto.conf");
	cleanup_free char *header = path_join(obj, "include/generated/autoconf.h");

	if (file_exists(conf) == file_exists(header))
		return;
	unlink(conf);
	unlink(header);
}

static int recover(const char *obj, const char *mark, const struct stat *st, struct error *err)
{
	cleanup_free char *text = file_read(mark, 4096, NULL, NULL), *now = boot_id();

	if (!text || strcmp(text, now) != 0)
		return dir_remove(obj, err);
	if (remove_newer(obj, &st->st_mtim, err) < 0)
		return -1;
	remove_half_pair(obj);
	return 0;
}

int build_obj_begin(const char *obj, struct error *err)
{
	cleanup_free char *mark = path_join(obj, MARK), *text = boot_id();
	struct stat st;

	if (lstat(mark, &st) == 0 && recover(obj, mark, &st, err) < 0)
		return -1;
	if (dir_make(obj, 0755, err) < 0)
		return -1;
	return file_write_atomic(mark, text, strlen(text), 0644, err);
}

int build_obj_end(const char *obj, struct error *err)
{
	cleanup_free char *mark = path_join(obj, MARK);
	cleanup_close int fd = open(obj, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || syncfs(fd) < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot sync", obj);
	if (unlink(mark) < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot remove", mark);
	return 0;
}
