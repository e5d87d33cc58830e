// SPDX-License-Identifier: GPL-2.0-only
#include "results/util/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "results/util/cleanup.h"
#include "results/verdict.h"

#define FILE_LIMIT_DEFAULT (256UL << 20)

char *path_join(const char *dir, const char *name)
{
	return str_printf("%s%s%s", dir, !*dir || str_ends(dir, "/") ? "" : "/", name);
}

bool file_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

char *file_read(const char *path, size_t limit, size_t *len, struct error *err)
{
	cleanup_close int fd =
		open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not hold us */
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	struct stat st;
	char chunk[65536];
	ssize_t n;

	if (!limit)
		limit = FILE_LIMIT_DEFAULT;
	if (fd < 0) {
		error_errno(err, EXIT_USAGE, "%s: cannot open", path);
		return NULL;
	}
	if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		error_set(err, EXIT_USAGE, "%s: not a regular file", path);
		return NULL;
	}
	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			error_errno(err, EXIT_USAGE, "%s: cannot read", path);
			return NULL;
		}
		if (sb.len + (size_t)n > limit) {
			error_set(err, EXIT_USAGE, "%s: larger than %zu bytes", path, limit);
			return NULL;
		}
		strbuf_add(&sb, chunk, (size_t)n);
	}
	if (len)
		*len = sb.len;
	return strbuf_steal(&sb);
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

char *file_parent(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
}

char *file_temporary(const char *path)
{
	return str_printf("%s.%d.tmp", path, (int)getpid());
}

int dir_fsync(const char *path, struct error *err)
{
	cleanup_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* EINVAL: a file system without fsync for folders, such as some network ones. */
	if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot sync", path);
	return 0;
}

int file_write_atomic(const char *path, const void *data, size_t len, mode_t mode,
		      struct error *err)
{
	cleanup_free char *tmp = file_temporary(path);
	cleanup_free char *parent = file_parent(path);
	cleanup_close int fd = -1;
	struct stat st;

	/* The rename would put a file where a device or a link was: as root, in place of /dev/full. */
	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return error_set(err, EXIT_USAGE,
				 "%s: is no regular file; give the name of one that is to be made",
				 path);
	unlink(tmp);
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot create", path);
	if (write_all(fd, data, len) < 0 || fsync(fd) < 0 || rename(tmp, path) < 0) {
		error_errno(err, EXIT_NO_VERDICT, "%s: cannot write", path);
		unlink(tmp);
		return -1;
	}
	return dir_fsync(parent, err);
}

int dir_make(const char *path, mode_t mode, struct error *err)
{
	cleanup_free char *copy = xstrdup(path);
	struct stat st;

	if (!*path)
		return error_set(err, EXIT_NO_VERDICT, "cannot create a folder without a name");
	for (char *p = copy + 1;; p++) {
		char saved = *p;

		if (saved && saved != '/')
			continue;
		*p = '\0';
		if (mkdir(copy, mode) < 0 && errno != EEXIST)
			return error_errno(err, EXIT_NO_VERDICT, "%s: cannot create folder", copy);
		*p = saved;
		if (!saved)
			break;
	}
	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return error_set(err, EXIT_NO_VERDICT, "%s: is in the way: not a folder", path);
	return 0;
}

static int remove_below(int parent, const char *name)
{
	cleanup_dir DIR *d = NULL;
	struct dirent *e;
	int fd, saved;

	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
		return 0;
	saved = errno;
	if (errno != EISDIR && errno != EPERM)
		return -1;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) /* another removes the same */
		return 0;
	if (fd < 0) {
		if (errno == ENOTDIR) /* a file that may not be removed: say that */
			errno = saved;
		return -1;
	}
	d = fdopendir(fd);
	if (!d) {
		close(fd);
		return -1;
	}
	while ((e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (remove_below(dirfd(d), e->d_name) < 0)
			return -1;
	}
	return unlinkat(parent, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -1 : 0;
}

int dir_remove(const char *path, struct error *err)
{
	if (remove_below(AT_FDCWD, path) < 0 && errno != ENOENT)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot remove", path);
	return 0;
}

char *cache_dir(const char *name, struct error *err)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *path;

	if (xdg && *xdg == '/')
		path = str_printf("%s/mmrig/%s", xdg, name);
	else if (home && *home == '/')
		path = str_printf("%s/.cache/mmrig/%s", home, name);
	else { /* a folder of /tmp could be another user's, and kernels would come from there */
		error_set(
			err, EXIT_USAGE,
			"no cache folder: HOME is not set; set HOME or XDG_CACHE_HOME to an absolute path");
		return NULL;
	}
	if (dir_make(path, 0755, err) < 0) {
		error_hint(err, "set XDG_CACHE_HOME to a folder that can be written");
		free(path);
		return NULL;
	}
	return path;
}

/* The folder that the running program stands in. */
static char *program_dir(struct error *err)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n < 0) {
		error_errno(err, EXIT_NO_VERDICT, "/proc/self/exe");
		return NULL;
	}
	exe[n] = '\0';
	return file_parent(exe);
}

static char *first_existing(char *a, char *b, const char *name, struct error *err)
{
	if (file_exists(a)) {
		free(b);
		return a;
	}
	if (!file_exists(b)) {
		error_set(err, EXIT_NO_VERDICT,
			  "%s: not found at %s nor %s; run make, or make install", name, a, b);
		free(b);
		b = NULL;
	}
	free(a);
	return b;
}

/*
 * Tests stand deeper (build/tests/harness/x), hence the walk up to the folder named build; a folder of
 * sources may be named so too, and then stands below build/tests.
 */
static char *build_dir(const char *program)
{
	const char *p = NULL;
	bool tests = false;

	for (const char *q = strstr(program, "/build"); q; q = strstr(q + 1, "/build")) {
		const char *end = q + 1 + strcspn(q + 1, "/");
		bool above_tests = str_starts(end, "/tests/");

		if ((q[6] && q[6] != '/' && q[6] != '-') || (tests && !above_tests))
			continue;
		p = q;
		tests = above_tests;
	}
	if (!p)
		return xstrdup("/nonexistent");
	return xstrndup(program, (size_t)(p - program) + strcspn(p + 1, "/") + 1);
}

char *data_path(const char *name, struct error *err)
{
	cleanup_free char *program = program_dir(err), *build = NULL;

	if (!program)
		return NULL;
	build = build_dir(program);
	return first_existing(str_printf("%s/../%s", build, name),
			      str_printf("%s/../share/mmrig/%s", program, name), name, err);
}

char *libexec_path(const char *name, struct error *err)
{
	cleanup_free char *program = program_dir(err), *build = NULL;

	if (!program)
		return NULL;
	build = build_dir(program);
	return first_existing(path_join(build, name),
			      str_printf("%s/../libexec/mmrig/%s", program, name), name, err);
}
