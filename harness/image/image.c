// SPDX-License-Identifier: GPL-2.0-only
#include "harness/image/image.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "harness/image/cpio.h"
#include "harness/image/modules.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/util/hash.h"
#include "results/verdict.h"

/* Part of the cache key: raise it when the archive's layout changes. */
#define IMAGE_FORMAT 1
#define IMAGE_LIMIT_BYTES (1UL << 30)
#define UNUSED_MAX_S (30 * 24 * 3600)

static int add_folders(struct cpio *c, struct error *err)
{
	static const char *const folder[] = { "dev", "proc", "sys", "tmp", "modules" };

	for (size_t i = 0; i < ARRAY_SIZE(folder); i++)
		if (cpio_dir(c, folder[i], 0755, err) < 0)
			return -1;
	return 0;
}

static int add_devices(struct cpio *c, struct error *err)
{
	/* Without /dev/console the kernel starts PID 1 with no file descriptors at all. */
	if (cpio_char_device(c, "dev/console", 0600, 5, 1, err) < 0 ||
	    cpio_char_device(c, "dev/null", 0666, 1, 3, err) < 0 ||
	    cpio_char_device(c, "dev/kmsg", 0600, 1, 11, err) < 0)
		return -1;
	return 0;
}

static int add_modules(struct cpio *c, const struct module_list *list, struct error *err)
{
	int digits = list->n > 100 ? 4 : 2; /* the names must sort in load order */

	for (size_t i = 0; i < list->n; i++) {
		const struct module_file *m = &list->item[i];
		cleanup_free char *name = str_printf("modules/%0*zu-%s.ko", digits, i, m->name);
		cleanup_free char *data = NULL;
		size_t len;

		data = module_read(m->path, &len, err);
		if (!data)
			return error_wrap(err, "module %s", m->name);
		if (cpio_file(c, name, 0400, data, len, err) < 0)
			return -1;
	}
	return 0;
}

static int write_archive(const char *agent, size_t agent_len, const struct module_list *list,
			 const char *path, struct error *err)
{
	cleanup_strbuf struct strbuf out = STRBUF_INIT;
	cleanup_cpio struct cpio *c = cpio_new(&out, err);

	if (!c || cpio_file(c, "init", 0755, agent, agent_len, err) < 0 ||
	    add_folders(c, err) < 0 || add_devices(c, err) < 0 || add_modules(c, list, err) < 0 ||
	    cpio_finish(c, err) < 0)
		return -1;
	return file_write_atomic(path, out.data, out.len, 0600, err);
}

static char *read_agent(const char *agent, size_t *len, struct error *err)
{
	char *data = file_read(agent, IMAGE_LIMIT_BYTES, len, err);

	if (!data) {
		error_wrap(err, "guest agent");
		error_hint(err, "run make, or make install");
	}
	return data;
}

static void give_missing(struct module_list *list, char ***missing)
{
	if (missing)
		*missing = STEAL(list->missing);
}

int image_build(const struct kernel *k, const char *agent, const char *const *modules,
		const char *path, char ***missing, struct error *err)
{
	cleanup_module_list struct module_list list = { 0 };
	cleanup_free char *data = NULL;
	size_t len;

	data = read_agent(agent, &len, err);
	if (!data || module_list_resolve(k->modules, modules, &list, err) < 0 ||
	    write_archive(data, len, &list, path, err) < 0)
		return -1;
	give_missing(&list, missing);
	return 0;
}

/* A module's path, size and time stand for its content, so that a hit reads none of them. */
static char *cache_key(const struct kernel *k, const char *agent, size_t agent_len,
		       const struct module_list *list, struct error *err)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "format %d\nkernel %s\n", IMAGE_FORMAT,
		    k->image_hash ? k->image_hash : "-");
	for (size_t i = 0; i < list->n; i++) {
		const struct module_file *m = &list->item[i];
		struct stat st;

		if (stat(m->path, &st) < 0) {
			error_errno(err, EXIT_USAGE, "%s: cannot read", m->path);
			return NULL;
		}
		strbuf_addf(&sb, "module %s %s %lld %lld.%09ld\n", m->name, m->path,
			    (long long)st.st_size, (long long)st.st_mtim.tv_sec,
			    st.st_mtim.tv_nsec);
	}
	strbuf_addf(&sb, "agent %zu\n", agent_len);
	strbuf_add(&sb, agent, agent_len);
	return hash_bytes(sb.data, sb.len);
}

/* Best effort: what cannot be removed now is tried again at the next miss. */
static void evict_unused(const char *folder)
{
	cleanup_dir DIR *d = opendir(folder);
	time_t now = time(NULL);
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d))) {
		if (!str_ends(e->d_name, ".cpio") && !str_ends(e->d_name, ".tmp"))
			continue;
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && now - st.st_mtime > UNUSED_MAX_S)
			unlinkat(dirfd(d), e->d_name, 0);
	}
}

char *image_cached(const struct kernel *k, const char *agent, const char *const *modules,
		   char ***missing, struct error *err)
{
	cleanup_module_list struct module_list list = { 0 };
	cleanup_free char *data = NULL, *key = NULL, *folder = NULL, *name = NULL, *path = NULL;
	size_t len;

	data = read_agent(agent, &len, err);
	if (!data || module_list_resolve(k->modules, modules, &list, err) < 0)
		return NULL;
	key = cache_key(k, data, len, &list, err);
	folder = key ? cache_dir("images", err) : NULL;
	if (!folder)
		return NULL;
	name = str_printf("%s.cpio", key + strcspn(key, ":") + 1);
	path = path_join(folder, name);
	/* Touching is the hit test too: a file evicted in between fails it and is built again. */
	if (utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW) < 0) {
		evict_unused(folder);
		if (write_archive(data, len, &list, path, err) < 0)
			return NULL;
	}
	give_missing(&list, missing);
	return STEAL(path);
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

static int copy_all(int from, int to)
{
	char chunk[1 << 16];
	ssize_t n;

	while ((n = read(from, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || write_all(to, chunk, (size_t)n) < 0)
			return -1;
	}
	return 0;
}

int image_with_job(const char *base, const char *job_text, const char *path, struct error *err)
{
	cleanup_strbuf struct strbuf out = STRBUF_INIT;
	cleanup_cpio struct cpio *c = cpio_new(&out, err);
	cleanup_close int from = -1, to = -1;

	if (!c || cpio_file(c, "job", 0400, job_text, strlen(job_text), err) < 0 ||
	    cpio_finish(c, err) < 0)
		return -1;
	from = open(base, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot open the base image", base);
	/* A run's own file in its own folder: neither synced nor renamed, it dies with the run. */
	to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot create", path);
	if (copy_all(from, to) < 0 || write_all(to, out.data, out.len) < 0) {
		error_errno(err, EXIT_NO_VERDICT, "%s: cannot write", path);
		unlink(path);
		return -1;
	}
	return 0;
}
