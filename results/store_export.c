// SPDX-License-Identifier: GPL-2.0-only
#include "results/store_archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "results/run_text.h"
#include "results/store_internal.h"
#include "results/store_kernels.h"
#include "results/store_sums.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

struct packing {
	struct archive *a;
	const char *label; /* of the archive, for messages */
	const char *root;
	time_t time;
};

static int archive_failed(struct packing *p, struct error *err)
{
	int number = archive_errno(p->a);
	const char *text = archive_error_string(p->a);

	error_set(err, EXIT_NO_VERDICT, "%s: cannot write: %s", p->label,
		  text ? text : "libarchive does not say why");
	return number == ENOSPC || number == EDQUOT || number == EFBIG ?
		       error_hint(err, "free some space, or choose another place") :
		       -1;
}

static int put_header(struct packing *p, const char *name, mode_t type, int64_t size,
		      struct error *err)
{
	struct archive_entry *e = archive_entry_new();
	int ret;

	archive_entry_set_pathname(e, name);
	archive_entry_set_filetype(e, type);
	archive_entry_set_perm(e, type == AE_IFDIR ? 0755 : 0644);
	archive_entry_set_size(e, size);
	archive_entry_set_mtime(e, p->time, 0);
	ret = archive_write_header(p->a, e);
	archive_entry_free(e);
	return ret == ARCHIVE_OK ? 0 : archive_failed(p, err);
}

static int put_data(struct packing *p, int fd, const char *path, int64_t size, struct error *err)
{
	cleanup_free char *chunk = xmalloc(1 << 16);
	int64_t done = 0;
	ssize_t n;

	while ((n = read(fd, chunk, 1 << 16)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(err, EXIT_NO_VERDICT, "%s: cannot read", path);
		done += n;
		if (done > size)
			break;
		if (archive_write_data(p->a, chunk, (size_t)n) != n)
			return archive_failed(p, err);
	}
	return done == size ?
		       0 :
		       error_set(err, EXIT_NO_VERDICT, "%s: changed while it was read", path);
}

/* A file below the store's root; one that is not there is left out. */
static int put_file(struct packing *p, const char *name, struct error *err)
{
	cleanup_free char *path = path_join(p->root, name);
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot open", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, EXIT_NO_VERDICT, "%s: not a regular file", path);
	if (put_header(p, name, AE_IFREG, st.st_size, err) < 0)
		return -1;
	return put_data(p, fd, path, st.st_size, err);
}

static int put_run(struct packing *p, const char *id, const char *run, struct error *err)
{
	static const char *const names[] = { "checksums", "console.log", "run.json",
					     "samples.zst" };
	cleanup_free char *folder = str_printf("%s/%s/", id, run);

	if (put_header(p, folder, AE_IFDIR, 0, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_free char *name = str_printf("%s%s", folder, names[i]);

		if (put_file(p, name, err) < 0)
			return -1;
	}
	return 0;
}

/* Sorted paths, so that those of a folder stand together. */
static int put_kernels(struct packing *p, const char *id, char *const *files, struct error *err)
{
	cleanup_free char *top = str_printf("%s/" STORE_KERNELS "/", id);
	size_t before = 0;

	if (*files && put_header(p, top, AE_IFDIR, 0, err) < 0)
		return -1;
	for (size_t i = 0; files[i]; i++) {
		size_t len = (size_t)(strrchr(files[i], '/') - files[i]) + 1;
		cleanup_free char *name = str_printf("%s/%s", id, files[i]);
		cleanup_free char *folder = str_printf("%s/%.*s", id, (int)len, files[i]);

		if ((len != before || strncmp(files[i], files[i - 1], len) != 0) &&
		    put_header(p, folder, AE_IFDIR, 0, err) < 0)
			return -1;
		before = len;
		if (put_file(p, name, err) < 0)
			return -1;
	}
	return 0;
}

static int put_set(struct packing *p, const char *id, char *const *runs, char *const *files,
		   struct error *err)
{
	cleanup_free char *folder = str_printf("%s/", id);
	cleanup_free char *sums = str_printf("%s/checksums", id);
	cleanup_free char *head = str_printf("%s/runset.json", id);

	if (put_header(p, folder, AE_IFDIR, 0, err) < 0)
		return -1;
	/* Names of runs are digits, and so come before these. */
	for (; *runs; runs++)
		if (put_run(p, id, *runs, err) < 0)
			return -1;
	if (put_file(p, sums, err) < 0 || put_kernels(p, id, files, err) < 0)
		return -1;
	return put_file(p, head, err);
}

static int pack(struct store *s, const char *id, time_t time, char *const *runs, char *const *files,
		int fd, const char *label, struct error *err)
{
	struct packing p = { archive_write_new(), label, s->root, time };
	int ret;

	if (archive_write_add_filter_zstd(p.a) != ARCHIVE_OK ||
	    archive_write_set_format_pax_restricted(p.a) != ARCHIVE_OK ||
	    archive_write_set_bytes_in_last_block(p.a, 1) !=
		    ARCHIVE_OK || /* no padding for pipes */
	    archive_write_open_fd(p.a, fd) != ARCHIVE_OK)
		ret = archive_failed(&p, err);
	else
		ret = put_set(&p, id, runs, files, err);
	if (ret == 0 && archive_write_close(p.a) != ARCHIVE_OK)
		ret = archive_failed(&p, err);
	archive_write_free(p.a);
	return ret;
}

/* What is damaged here would be refused there. */
static int check_files(const char *dir, const char *const *names, struct error *err)
{
	struct sums sums;
	int ret = sums_load(dir, &sums, err);

	if (ret <= 0)
		return ret;
	ret = 0;
	for (; ret == 0 && *names; names++)
		ret = sums_check(dir, &sums, *names, err);
	sums_free(&sums);
	return ret;
}

static int check_set(const char *dir, char *const *runs, char *const *files, struct error *err)
{
	static const char *const head[] = { "runset.json", NULL };
	int ret = check_files(dir, head, err);

	if (ret == 0)
		ret = check_files(dir, (const char *const *)files, err);
	for (; ret == 0 && *runs; runs++) {
		cleanup_free char *run_dir = path_join(dir, *runs);

		ret = check_files(run_dir, store_run_files, err);
	}
	return ret < 0 ? error_hint(err, "mmrig results verify names all that is damaged") : 0;
}

/*
 * The runs of a set that is whole and that nobody is writing, and the files of its kernels; NULL on
 * error.
 */
static char **ready_runs(struct store *s, const char *id, double *created, size_t *n, char ***files,
			 struct error *err)
{
	cleanup_free char *dir = path_join(s->root, id);
	struct runset set;
	char **runs;

	if (store_refuse_written(dir, err) < 0 || store_load_head(dir, &set, created, err) < 0)
		return NULL;
	*files = store_kernel_files(&set);
	runset_free(&set);
	runs = store_dir_runs(dir, n, err);
	if (!runs)
		return NULL;
	qsort(runs, *n, sizeof(*runs), store_by_name);
	if (check_set(dir, runs, *files, err) == 0)
		return runs;
	run_text_lines_free(runs);
	return NULL;
}

int store_export_fd(struct store *s, const char *which, int fd, const char *label,
		    struct store_moved *moved, struct error *err)
{
	double created;
	char **runs, **files = NULL;
	cleanup_free char *dir = NULL;
	struct stat before, after;
	int ret;

	memset(moved, 0, sizeof(*moved));
	moved->id = store_choose_id(s, which, err);
	dir = path_join(s->root, moved->id ? moved->id : "");
	if (stat(dir, &before) < 0)
		before.st_ino = 0;
	runs = moved->id ? ready_runs(s, moved->id, &created, &moved->runs, &files, err) : NULL;
	ret = runs ? pack(s, moved->id, (time_t)created, runs, files, fd, label, err) : -1;
	/* One who removes the set renames it before any of its files goes. */
	if (ret == 0 && (stat(dir, &after) < 0 || after.st_ino != before.st_ino))
		ret = error_set(err, EXIT_NO_VERDICT, "%s: was removed meanwhile; nothing was exported", dir);
	run_text_lines_free(runs);
	run_text_lines_free(files);
	if (ret < 0) {
		free(moved->id);
		moved->id = NULL;
	}
	return ret;
}

int store_export(struct store *s, const char *which, const char *path, struct store_moved *moved,
		 struct error *err)
{
	cleanup_free char *tmp = file_temporary(path);
	cleanup_close int fd = -1;
	struct stat st;

	memset(moved, 0, sizeof(*moved));
	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return error_set(err, EXIT_USAGE,
				 "%s: is no regular file; give the name of one that is to be made",
				 path);
	unlink(tmp);
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return error_errno(err, EXIT_USAGE, "%s: cannot create", path);
	if (store_export_fd(s, which, fd, path, moved, err) == 0) {
		if (fsync(fd) == 0 && rename(tmp, path) == 0)
			return 0;
		error_errno(err, EXIT_NO_VERDICT, "%s: cannot write", path);
		free(moved->id);
		moved->id = NULL;
	}
	unlink(tmp);
	return -1;
}
