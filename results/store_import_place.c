// SPDX-License-Identifier: GPL-2.0-only
/*
 * The way of an imported set: unpacked into ".import-PID.tmp", which has an owner and is swept when
 * that is gone; read and held against its checksums there; put into its place by one rename.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "results/run_text.h"
#include "results/store_archive.h"
#include "results/store_import.h"
#include "results/store_internal.h"
#include "results/store_kernels.h"
#include "results/store_sums.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/util/hash.h"

static int ignore_sample(void *arg, const struct wire_sample *sample)
{
	return 0;
}

/* The files of an older mmrig, which left no checksums, must at least be there. */
static int check_sums(const char *dir, const char *const *names, struct error *err)
{
	struct sums sums;
	int there = sums_load(dir, &sums, err), ret = there < 0 ? -1 : 0;

	for (; ret == 0 && *names; names++) {
		cleanup_free char *path = path_join(dir, *names);

		if (there)
			ret = sums_check(dir, &sums, *names, err);
		else if (!file_exists(path))
			ret = error_set(err, EXIT_NO_VERDICT, "%s: is missing", path);
	}
	if (there > 0)
		sums_free(&sums);
	return ret;
}

static int check_run(const char *set_dir, const struct runset *set, const char *id,
		     struct error *err)
{
	cleanup_free char *dir = path_join(set_dir, id);
	cleanup_free char *samples = path_join(dir, "samples.zst");
	struct run r;

	if (store_load_run(set_dir, id, set, &r, err) < 0)
		return -1;
	run_free(&r);
	if (check_sums(dir, store_run_files, err) < 0)
		return -1;
	return file_exists(samples) ? sample_each(samples, ignore_sample, NULL, err) : 0;
}

/* Every folder must be that of a run, so that nothing unread gets into the store. */
static int check_set(const char *set_dir, const char *id, struct error *err)
{
	static const char *const head[] = { "runset.json", NULL };
	struct runset set;
	char **runs, **files;
	size_t n;
	int ret;

	if (store_load_head(set_dir, &set, NULL, err) < 0)
		return -1;
	files = store_kernel_files(&set);
	ret = check_sums(set_dir, head, err);
	if (ret == 0)
		ret = check_sums(set_dir, (const char *const *)files, err);
	if (ret == 0)
		ret = store_only_listed(set_dir, files, err);
	run_text_lines_free(files);
	if (ret == 0 && strcmp(set.id, id) != 0)
		ret = error_set(err, EXIT_NO_VERDICT, "%s: damaged: it says that it is run set %s",
				set_dir, set.id);
	runs = ret == 0 ? store_dir_names(set_dir, &n, err) : NULL;
	for (size_t i = 0; runs && ret == 0 && i < n; i++)
		ret = check_run(set_dir, &set, runs[i], err);
	if (!runs)
		ret = -1;
	run_text_lines_free(runs);
	runset_free(&set);
	return ret;
}

/* Messages name the archive, and the path in it: the folder is gone when they are read. */
static int name_archive(struct error *err, const char *label, const char *dir)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	size_t len = strlen(dir);

	if (!err || !err->text)
		return -1;
	for (const char *p = err->text; *p;) {
		size_t skip = strncmp(p, dir, len) == 0 && p[len] == '/' ? len + 1 : 0;

		if (skip)
			p += skip;
		else
			strbuf_add(&sb, p++, 1);
	}
	error_set(err, err->status, "%s: %s", label, sb.len ? sb.data : "");
	return error_hint(err, "nothing was imported");
}

static int same_file(const char *a, const char *b)
{
	cleanup_free char *x = file_exists(a) ? hash_file(a, NULL) : NULL;
	cleanup_free char *y = file_exists(b) ? hash_file(b, NULL) : NULL;

	return file_exists(a) == file_exists(b) && (!x || !y ? !x && !y : strcmp(x, y) == 0);
}

static bool same_files(const char *a, const char *b, const char *const *names)
{
	for (; *names; names++) {
		cleanup_free char *x = path_join(a, *names), *y = path_join(b, *names);

		if (!same_file(x, y))
			return false;
	}
	return true;
}

/* Of sets whose runset.json is the same. */
static bool same_kernels(const char *a, const char *b)
{
	struct runset set;
	char **files;
	bool same;

	if (store_load_head(a, &set, NULL, NULL) < 0)
		return false;
	files = store_kernel_files(&set);
	same = same_files(a, b, (const char *const *)files);
	run_text_lines_free(files);
	runset_free(&set);
	return same;
}

/* The runs of both, and what a set has of files; what else may lie in the folder does not count. */
static bool same_set(const char *a, const char *b)
{
	static const char *const head[] = { "runset.json", NULL };
	size_t n = 0, m = 0;
	char **x = store_dir_runs(a, &n, NULL), **y = store_dir_runs(b, &m, NULL);
	bool same = x && y && n == m && same_files(a, b, head) && same_kernels(a, b);

	for (size_t i = 0; same && i < n; i++) {
		cleanup_free char *run_a = path_join(a, x[i]), *run_b = path_join(b, y[i]);

		same = strcmp(x[i], y[i]) == 0 && same_files(run_a, run_b, store_run_files);
	}
	run_text_lines_free(x);
	run_text_lines_free(y);
	return same;
}

/* Without the lock, since it reads everything twice. */
static int compare(const char *label, const char *from, const char *to, struct store_moved *moved,
		   struct error *err)
{
	moved->already = same_set(from, to);
	if (moved->already)
		return 0;
	return error_set(err, EXIT_USAGE,
			 "%s: %s is there already, and differs; import it with MMRIG_RESULTS set to "
			 "another folder, or remove the one that is there by mmrig results gc %s",
			 label, to, moved->id);
}

static int place(struct store *s, const char *label, const char *from, const char *to,
		 struct store_moved *moved, struct error *err)
{
	cleanup_close int root = open(s->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), lock = -1;

	/* One call instead of an fsync for each of tens of thousands of files. */
	if (root < 0 || syncfs(root) < 0) {
		error_errno(err, EXIT_NO_VERDICT, "%s: cannot sync", s->root);
		return store_hint_space(err, errno);
	}
	lock = store_lock(s, err);
	if (lock < 0)
		return -1;
	if (file_exists(to))
		return error_set(err, EXIT_NO_VERDICT,
				 "%s: %s came into being meanwhile; import again to compare them",
				 label, to);
	if (rename(from, to) < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot rename to %s", from, to);
	if (dir_fsync(s->root, err) < 0)
		return -1;
	if (store_sync(s, false, err) < 0) {
		error_wrap(err, "%s is stored, but not in the index", moved->id);
		return error_hint(err, "the next mmrig takes it in");
	}
	return 0;
}

static int import_into(struct store *s, int fd, const char *label, const char *dir,
		       struct store_moved *moved, struct error *err)
{
	cleanup_free char *set_dir = NULL, *to = NULL;
	struct unpacked got;
	int ret = import_unpack(fd, label, dir, &got, err);

	moved->id = got.id;
	moved->runs = got.runs;
	if (ret < 0)
		return -1;
	set_dir = path_join(dir, got.id);
	if (check_set(set_dir, got.id, err) < 0)
		return name_archive(err, label, dir);
	to = path_join(s->root, got.id);
	return file_exists(to) ? compare(label, set_dir, to, moved, err) :
				 place(s, label, set_dir, to, moved, err);
}

static int make_staging(struct store *s, const char *dir, struct error *err)
{
	cleanup_close int lock = store_lock(s, err);

	if (lock < 0 || dir_remove(dir, err) < 0)
		return -1;
	if (mkdir(dir, 0755) < 0) {
		error_errno(err, EXIT_NO_VERDICT, "%s: cannot create folder", dir);
		return store_hint_space(err, errno);
	}
	if (store_owner_write(dir, err) == 0)
		return 0;
	store_hint_space(err, errno);
	dir_remove(dir, NULL);
	return -1;
}

int store_import_fd(struct store *s, int fd, const char *label, struct store_moved *moved,
		    struct error *err)
{
	cleanup_free char *dir = str_printf("%s/.import-%d.tmp", s->root, (int)getpid());
	int ret;

	memset(moved, 0, sizeof(*moved));
	if (s->read_only)
		return error_set(err, EXIT_USAGE, "%s: cannot write there", s->root);
	if (make_staging(s, dir, err) < 0)
		return -1;
	ret = import_into(s, fd, label, dir, moved, err);
	dir_remove(dir, NULL);
	if (ret < 0) {
		free(moved->id);
		moved->id = NULL;
	}
	return ret;
}
