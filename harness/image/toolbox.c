// SPDX-License-Identifier: GPL-2.0-only
#include "harness/image/toolbox.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "harness/image/toolbox_impl.h"
#include "harness/kernel/apt.h"
#include "harness/kernel/cache.h"
#include "harness/kernel/child.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/util/hash.h"
#include "results/verdict.h"

/* Part of every list: raise it when a tree of the same packages comes to look different. */
#define TOOLBOX_FORMAT 1
#define UNUSED_MAX_S (90 * 24 * 3600)
#define LIST_BYTES_MAX (1 << 20)
/* Nothing of an image is left to chance. */
#define FIXED_UUID "6d6d7269-6700-4000-8000-746f6f6c626f"

struct making {
	const struct toolbox_spec *spec;
	const struct toolbox_made *made; /* or NULL */
	void (*progress)(void *arg, const char *text, double percent);
	void *arg;
	char *root, *list; /* CACHE/toolbox, and in it SPEC.list */
};

static void making_free(struct making *m)
{
	free(m->root);
	free(m->list);
}

static void tell(const struct making *m, const char *text)
{
	if (m->progress)
		m->progress(m->arg, text, -1);
}

static void tell_waiting(void *arg)
{
	tell(arg, "waiting for another toolbox");
}

/* ---- names ---- */

static void add_words(struct strbuf *sb, const char *word, const char *const *list)
{
	for (; list && *list; list++)
		strbuf_addf(sb, "%s %s\n", word, *list);
}

/* What is asked for; the list begins with it. */
static void add_spec(struct strbuf *sb, const struct toolbox_spec *spec,
		     const struct toolbox_made *made)
{
	strbuf_addf(sb, "format %d\n", TOOLBOX_FORMAT);
	add_words(sb, "package", spec->packages);
	add_words(sb, "link", spec->links);
	add_words(sb, "unpack", spec->unpack);
	if (made)
		strbuf_addf(sb, "made %s\n", made->key);
}

static char *named_by_hash(const char *root, const void *data, size_t len, const char *suffix)
{
	cleanup_free char *hash = hash_bytes(data, len), *name = NULL;

	name = str_printf("%s%s", hash + strcspn(hash, ":") + 1, suffix);
	return path_join(root, name);
}

/* "deb fio 3.39-1 SHA256" of the first package that was asked for -> "fio 3.39-1"; heap. */
static char *first_package(const char *list, const char *package)
{
	cleanup_free char *begin = str_printf("\ndeb %s ", package);
	const char *p = strstr(list, begin);

	if (!p)
		return xstrdup(package);
	p += strlen("\ndeb ");
	return xstrndup(p, strlen(package) + 1 + strcspn(p + strlen(package) + 1, " \n"));
}

/* 1 and *t when it is there; touched, so that it counts as used. */
static int find(const struct making *m, struct toolbox *t)
{
	size_t len;
	cleanup_free char *list = file_read(m->list, LIST_BYTES_MAX, &len, NULL), *image = NULL;

	if (!list)
		return 0;
	image = named_by_hash(m->root, list, len, ".erofs");
	if (utimensat(AT_FDCWD, image, NULL, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	utimensat(AT_FDCWD, m->list, NULL, AT_SYMLINK_NOFOLLOW);
	t->what = m->made ? xstrdup(m->made->what) : first_package(list, m->spec->packages[0]);
	t->image = STEAL(image);
	return 1;
}

/* ---- the image ---- */

/* The last line of a program's stderr; heap. */
static char *last_line(const struct strbuf *errors)
{
	const char *text = errors->len ? errors->data : "it gave no reason";
	size_t end = strlen(text), start;

	while (end && text[end - 1] == '\n')
		end--;
	for (start = end; start && text[start - 1] != '\n'; start--)
		;
	return xstrndup(text + start, end - start);
}

static int run(const char *const *argv, const char *package, struct error *err)
{
	cleanup_strbuf struct strbuf errors = STRBUF_INIT;
	cleanup_free char *why = NULL;
	int status = child_run(argv, NULL, NULL, NULL, &errors, err);

	if (status < 0)
		return error_hint(err, "it is in Debian's package %s: run make deps", package);
	if (status == 0)
		return 0;
	why = last_line(&errors);
	return error_set(err, EXIT_NO_VERDICT, "%s: %s", argv[0], why);
}

int toolbox_image(const char *tree, const char *path, struct error *err)
{
	const char *const argv[] = { "mkfs.erofs", "-d0",      "--all-root", "-T0", "-U",
				     FIXED_UUID,   path,       tree,	     NULL };

	return run(argv, "erofs-utils", err);
}

/* ---- making it ---- */

static int lock_apt(const struct making *m, struct error *err)
{
	cleanup_free char *root = cache_dir("kernels", err);

	return root ? cache_lock(root, tell_waiting, (void *)m, err) : -1;
}

static bool has_packages(const struct making *m)
{
	return m->spec->packages && *m->spec->packages;
}

static int download(const struct making *m, const char *dir, struct apt_debs *debs,
		    struct error *err)
{
	cleanup_close int lock = has_packages(m) ? lock_apt(m, err) : -1;
	struct apt a = { 0 };
	int ret = -1;

	if (!has_packages(m))
		return 0;
	if (lock >= 0 && dir_make(dir, 0755, err) == 0 &&
	    apt_open(&a, NULL, m->progress, m->arg, err) == 0 &&
	    apt_install_list(&a, m->spec->packages, debs, err) == 0)
		ret = apt_download(&a, debs, dir, err);
	apt_close(&a);
	return ret;
}

static int unpack(const struct making *m, const struct apt_debs *debs, const char *tree,
		  struct error *err)
{
	if (dir_make(tree, 0755, err) < 0 || toolbox_tree_begin(tree, err) < 0)
		return -1;
	for (size_t i = 0; i < debs->n; i++) {
		if (toolbox_tree_add(tree, debs->item[i].path, err) < 0)
			return error_wrap(err, "%s", debs->item[i].name);
		unlink(debs->item[i].path); /* both at once would take half as much again */
	}
	if (m->made && m->made->fill(m->made->arg, tree, err) < 0)
		return -1;
	return toolbox_tree_finish(tree, m->spec, err);
}

static void evict_unused(const char *root)
{
	cleanup_dir DIR *d = opendir(root);
	time_t now = time(NULL);
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d)))
		if ((str_ends(e->d_name, ".erofs") || str_ends(e->d_name, ".list")) &&
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && now - st.st_mtime > UNUSED_MAX_S)
			unlinkat(dirfd(d), e->d_name, 0);
}

/* The image first: a list without one is a miss. */
static int commit(const struct making *m, const char *image, const struct strbuf *list,
		  struct error *err)
{
	cleanup_free char *place = named_by_hash(m->root, list->data, list->len, ".erofs");
	cleanup_close int fd = open(image, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) < 0 || rename(image, place) < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot put in place", place);
	return file_write_atomic(m->list, list->data, list->len, 0644, err);
}

static int make_in(const struct making *m, const char *scratch, struct error *err)
{
	cleanup_free char *folder = path_join(scratch, "debs"), *tree = path_join(scratch, "tree");
	cleanup_free char *image = path_join(scratch, "image");
	cleanup_strbuf struct strbuf list = STRBUF_INIT;
	struct apt_debs debs = { 0 };
	int ret = download(m, folder, &debs, err);

	if (ret == 0) {
		tell(m, "unpacking");
		ret = unpack(m, &debs, tree, err);
	}
	if (ret == 0) {
		tell(m, "making the image");
		ret = toolbox_image(tree, image, err);
	}
	add_spec(&list, m->spec, m->made);
	for (size_t i = 0; i < debs.n; i++)
		strbuf_addf(&list, "deb %s %s %s\n", debs.item[i].name, debs.item[i].version,
			    debs.item[i].sha256);
	if (ret == 0)
		ret = commit(m, image, &list, err);
	apt_debs_free(&debs);
	return ret;
}

static int make(const struct making *m, struct toolbox *t, struct error *err)
{
	cleanup_close int lock = cache_lock(m->root, tell_waiting, (void *)m, err);
	char *scratch;
	int ret;

	if (lock < 0)
		return -1;
	if (find(m, t)) /* somebody else has made it meanwhile */
		return 0;
	evict_unused(m->root);
	scratch = cache_begin(m->root, err);
	ret = scratch ? make_in(m, scratch, err) : -1;
	cache_end(scratch);
	if (ret == 0 && !find(m, t))
		ret = error_set(err, EXIT_NO_VERDICT, "%s: gone as soon as it was made", m->list);
	return ret;
}

int toolbox_get(const struct toolbox_spec *spec, const struct toolbox_made *made,
		void (*progress)(void *arg, const char *text, double percent), void *arg,
		struct toolbox *t, struct error *err)
{
	__attribute__((cleanup(making_free))) struct making m = { spec, made, progress, arg, NULL, NULL };
	cleanup_strbuf struct strbuf asked = STRBUF_INIT;
	int ret = 0;

	*t = (struct toolbox){ 0 };
	add_spec(&asked, spec, made);
	m.root = cache_dir("toolbox", err);
	if (!m.root)
		return -1;
	m.list = named_by_hash(m.root, asked.data, asked.len, ".list");
	if (!find(&m, t))
		ret = make(&m, t, err);
	if (progress)
		progress(arg, NULL, -1);
	return ret < 0 ? error_wrap(err, "toolbox of %s", made ? made->what : spec->packages[0]) : 0;
}

void toolbox_free(struct toolbox *t)
{
	free(t->image);
	free(t->what);
	*t = (struct toolbox){ 0 };
}

/* ---- the scratch disk ---- */

int scratch_make(const char *path, uint64_t bytes, struct error *err)
{
	/*
	 * A new file is all zeros, so the tables of inodes need no zeroing, which the guest would do
	 * while it is measured. Not on the disk itself: no reserve for root, who is alone there.
	 */
	const char *const argv[] = { "mke2fs", "-q", "-F", "-t", "ext4", "-m", "0", "-U", FIXED_UUID, "-E",
				     "assume_storage_prezeroed=1,nodiscard,hash_seed=" FIXED_UUID, path,
				     NULL };
	cleanup_close int fd =
		open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot create", path);
	return run(argv, "e2fsprogs", err);
}
