// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unpacking. Whatever an archive says is taken for hostile: only files and folders with the names
 * that a run set has, each once, each within its bounds, all below one folder of ours.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "results/store_import.h"
#include "results/store_internal.h"
#include "results/store_kernels.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

#define RUNS_MAX 1000000
#define DEPTH_MAX 4
#define KERNEL_ENTRIES_MAX 4096 /* folders and files of kernels */

static const struct known_file {
	const char *name;
	uint64_t max;
	bool of_set, of_run;
} known_files[] = {
	{ "runset.json", 64U << 20, true, false },
	{ "checksums", 1U << 20, true, true },
	{ "run.json", 64U << 20, false, true },
	{ "console.log", 64U << 20, false, true },
	/* The bound is looked at before each sample, so the last one may pass it. */
	{ "samples.zst", STORE_SAMPLES_MAX + STORE_SAMPLE_MAX, false, true },
};

struct unpacking {
	struct archive *a;
	const char *label;
	const char *dir; /* the folder of ours */
	struct unpacked *out;
	size_t kernel_entries;
};

static void archive_free_p(struct archive **a)
{
	archive_read_free(*a);
}
#define cleanup_archive __attribute__((cleanup(archive_free_p)))

/* The name is the archive's own; main makes it printable. */
static int refuse(const struct unpacking *u, const char *name, const char *why, struct error *err)
{
	return error_set(err, EXIT_USAGE,
			 "%s: refused: \"%s\" %s; nothing was imported, and only mmrig results "
			 "export makes what can be",
			 u->label, name, why);
}

static int unreadable(const struct unpacking *u, struct error *err)
{
	const char *text = archive_error_string(u->a);

	return error_set(err, EXIT_USAGE, "%s: damaged, or no archive of mmrig results export: %s",
			 u->label, text ? text : "it cannot be read");
}

/* Splits at the slashes; a folder's name may end with one. 0: more than DEPTH_MAX, or an empty one. */
static size_t split(char *path, char **part)
{
	size_t n = 0, len = strlen(path);

	if (len && path[len - 1] == '/')
		path[len - 1] = '\0';
	for (char *next; path; path = next) {
		next = strchr(path, '/');
		if (next)
			*next++ = '\0';
		if (n == DEPTH_MAX || !*path)
			return 0;
		part[n++] = path;
	}
	return n;
}

static const struct known_file *find_file(const char *name, bool of_run)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_files); i++)
		if (strcmp(known_files[i].name, name) == 0 &&
		    (of_run ? known_files[i].of_run : known_files[i].of_set))
			return &known_files[i];
	return NULL;
}

static int make_folder(struct unpacking *u, const char *name, const char *path, bool of_run,
		       struct error *err)
{
	if (of_run && u->out->runs == RUNS_MAX)
		return refuse(u, name, "is one run too many", err);
	if (mkdir(path, 0755) < 0) {
		if (errno == EEXIST)
			return refuse(u, name, "stands in it twice", err);
		if (errno == ENOENT || errno == ENOTDIR)
			return refuse(u, name, "comes before its folder", err);
		error_errno(err, EXIT_NO_VERDICT, "%s: cannot create folder", path);
		return store_hint_space(err, errno);
	}
	u->out->runs += of_run;
	return 0;
}

static int write_block(int fd, const char *data, size_t len)
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

static int unpack_data(struct unpacking *u, int fd, const char *name, uint64_t max,
		       struct error *err)
{
	cleanup_free char *chunk = xmalloc(1 << 16);
	uint64_t done = 0;
	la_ssize_t n;

	while ((n = archive_read_data(u->a, chunk, 1 << 16)) > 0) {
		done += (uint64_t)n;
		if (done > max) /* whatever its header said */
			return refuse(u, name, "is larger than such a file can be", err);
		if (write_block(fd, chunk, (size_t)n) < 0) {
			error_errno(err, EXIT_NO_VERDICT, "%s: cannot unpack %s", u->label, name);
			return store_hint_space(err, errno);
		}
	}
	return n < 0 ? unreadable(u, err) : 0;
}

static int unpack_file(struct unpacking *u, struct archive_entry *e, const char *name,
		       const char *path, const struct known_file *known, struct error *err)
{
	cleanup_close int fd = -1;

	if (archive_entry_size(e) < 0 || (uint64_t)archive_entry_size(e) > known->max)
		return refuse(u, name, "is larger than such a file can be", err);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0 && errno == EEXIST)
		return refuse(u, name, "stands in it twice", err);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return refuse(u, name, "comes before its folder", err);
	if (fd < 0) {
		error_errno(err, EXIT_NO_VERDICT, "%s: cannot create", path);
		return store_hint_space(err, errno);
	}
	return unpack_data(u, fd, name, known->max, err);
}

static char *join_parts(const char *dir, char *const *part, size_t n)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, dir);
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&sb, "/%s", part[i]);
	return strbuf_steal(&sb);
}

/* What may stand below kernels/: folders, and in these files of any name; runset.json lists them. */
static const struct known_file *find_kept(struct unpacking *u, char *const *part, size_t n, bool folder)
{
	static const struct known_file kept = { "", STORE_KEPT_MAX, false, false };
	bool good = (folder ? n <= 3 : n == 4) && ++u->kernel_entries <= KERNEL_ENTRIES_MAX;

	for (size_t i = 2; i < n; i++)
		good &= store_name_ok(part[i]);
	return good ? &kept : NULL;
}

/* part: set, run, file; or set, file; or set, kernels, kernel, file. */
static int take_parts(struct unpacking *u, struct archive_entry *e, const char *name,
		      char *const *part, size_t n, struct error *err)
{
	bool folder = archive_entry_filetype(e) == AE_IFDIR, of_run = n == 3;
	bool of_kernel = n > 1 && strcmp(part[1], STORE_KERNELS) == 0 && (folder || n > 2);
	cleanup_free char *path = join_parts(u->dir, part, n);
	const struct known_file *known = of_kernel ? find_kept(u, part, n, folder) :
					 folder || n > 3 ? NULL : find_file(part[n - 1], of_run);

	if (!store_looks_like_set(part[0]))
		return refuse(u, name, "is in no folder of a run set", err);
	if (!u->out->id)
		u->out->id = xstrdup(part[0]);
	else if (strcmp(u->out->id, part[0]) != 0)
		return refuse(u, name, "is of a second run set", err);
	if (n > 1 && (folder || of_run) && !store_name_ok(part[1]))
		return refuse(u, name, "has a name that no run can have", err);
	if (of_kernel ? !known : folder ? n > 2 : !known || n == 1)
		return refuse(u, name, "has a name that a run set does not have", err);
	if (folder)
		return make_folder(u, name, path, n == 2 && !of_kernel, err);
	return unpack_file(u, e, name, path, known, err);
}

static int take_entry(struct unpacking *u, struct archive_entry *e, struct error *err)
{
	const char *name = archive_entry_pathname(e);
	cleanup_free char *copy = NULL;
	char *part[DEPTH_MAX];
	size_t n;

	if (!name)
		return refuse(u, "?", "has a name that no run set has", err);
	/* Hard links have the type of a file, or none. */
	if (archive_entry_hardlink(e) || archive_entry_symlink(e) ||
	    (archive_entry_filetype(e) != AE_IFREG && archive_entry_filetype(e) != AE_IFDIR))
		return refuse(u, name, "is neither a file nor a folder", err);
	copy = xstrdup(name);
	n = split(copy, part);
	if (!n)
		return refuse(u, name, "is no path that a run set has", err);
	return take_parts(u, e, name, part, n, err);
}

static bool is_zstd_tar(struct archive *a)
{
	return archive_filter_code(a, 0) == ARCHIVE_FILTER_ZSTD && archive_filter_count(a) == 2 &&
	       (archive_format(a) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_TAR;
}

int import_unpack(int fd, const char *label, const char *dir, struct unpacked *out,
		  struct error *err)
{
	cleanup_archive struct archive *a = archive_read_new();
	struct unpacking u = { a, label, dir, out };
	struct archive_entry *e;
	int ret;

	memset(out, 0, sizeof(*out));
	archive_read_support_filter_zstd(a);
	archive_read_support_format_tar(a);
	if (archive_read_open_fd(a, fd, 1 << 16) != ARCHIVE_OK)
		return unreadable(&u, err);
	while ((ret = archive_read_next_header(a, &e)) == ARCHIVE_OK || ret == ARCHIVE_WARN) {
		/* Without zstd's frame, a tar that was cut off between two files would look whole. */
		if (!is_zstd_tar(a))
			return error_set(err, EXIT_USAGE,
					 "%s: is no tar in one layer of zstd, as mmrig results "
					 "export makes it",
					 label);
		if (take_entry(&u, e, err) < 0)
			return -1;
	}
	if (ret != ARCHIVE_EOF)
		return unreadable(&u, err);
	if (!out->id)
		return error_set(err, EXIT_USAGE, "%s: there is no run set in it", label);
	return 0;
}
