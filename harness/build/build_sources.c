// SPDX-License-Identifier: GPL-2.0-only
/* What building leaves behind besides kernels. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "harness/build/build.h"
#include "harness/kernel/tree.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

uint64_t build_sources_bytes(void)
{
	cleanup_free char *sources = cache_dir("sources", NULL), *ccache = cache_dir("ccache", NULL);

	return (sources ? tree_disk_usage(sources) : 0) + (ccache ? tree_disk_usage(ccache) : 0);
}

/* Renamed with the lock held, so that nobody finds half of it. */
static int remove_source(const char *root, const char *id, struct error *err)
{
	cleanup_free char *dir = path_join(root, id), *path = path_join(dir, ".lock");
	cleanup_free char *doomed = str_printf("%s/.rm-%d", root, (int)getpid());
	cleanup_close int lock = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0)
		return error_set(err, EXIT_NO_VERDICT, "%s: a build is at work on it", dir);
	if (dir_remove(doomed, err) < 0)
		return -1;
	if (rename(dir, doomed) < 0 && errno != ENOENT)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot remove", dir);
	return dir_remove(doomed, err);
}

int build_sources_remove(struct error *err)
{
	cleanup_free char *root = cache_dir("sources", err), *ccache = cache_dir("ccache", err);
	cleanup_dir DIR *d = root ? opendir(root) : NULL;
	struct dirent *e;

	if (!root || !ccache)
		return -1;
	if (!d)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot read", root);
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
		    remove_source(root, e->d_name, err) < 0)
			return -1;
	return dir_remove(ccache, err);
}
