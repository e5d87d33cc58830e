// SPDX-License-Identifier: GPL-2.0-only
#include "harness/kernel/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/kernel/child.h"
#include "harness/kernel/identify.h"
#include "harness/kernel/record.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/util/hash.h"
#include "results/verdict.h"

/* Debian's System.map is one line that says where the real one is. */
#define SYSTEM_MAP_MIN_BYTES 1024

/* kmod may be built for /lib/modules or /usr/lib/modules below its base: the link serves both. */
static int link_usr_lib(const char *base, struct error *err)
{
	cleanup_free char *usr = path_join(base, "usr"), *lib = path_join(usr, "lib");

	if (dir_make(usr, 0755, err) < 0)
		return -1;
	if (symlink("../lib", lib) < 0 && errno != EEXIST)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot create", lib);
	return 0;
}

int tree_depmod(const char *base, const char *release, struct error *err)
{
	const char *const argv[] = { "depmod", "-b", base, release, NULL };
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	int status;

	if (link_usr_lib(base, err) < 0)
		return -1;
	status = child_run(argv, NULL, NULL, NULL, &text, err);
	if (status < 0)
		return error_hint(err, "the Debian package is kmod");
	if (status > 0)
		return error_set(err, EXIT_NO_VERDICT, "depmod failed for %s: %.*s", release,
				 text.len ? (int)strcspn(text.data, "\n") : 0,
				 text.len ? text.data : "");
	return 0;
}

/* The one folder in DIR/lib/modules, NULL where there is none. */
static int find_release(const char *dir, char **release, struct error *err)
{
	cleanup_free char *path = path_join(dir, "lib/modules");
	cleanup_dir DIR *d = opendir(path);
	struct dirent *e;

	*release = NULL;
	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		if (*release)
			return error_set(err, EXIT_USAGE, "modules of two kernels, %s and %s",
					 *release, e->d_name);
		*release = xstrdup(e->d_name);
	}
	return 0;
}

uint64_t tree_disk_usage(const char *dir)
{
	cleanup_dir DIR *d = opendir(dir);
	uint64_t total = 0;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		struct stat st;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		total += (uint64_t)st.st_blocks * 512;
		if (S_ISDIR(st.st_mode)) {
			cleanup_free char *sub = path_join(dir, e->d_name);

			total += tree_disk_usage(sub);
		}
	}
	return total;
}

static void set_paths(const char *dir, struct kernel *k)
{
	cleanup_free char *modules = str_printf("%s/lib/modules/%s", dir, k->release);
	cleanup_free char *config = path_join(dir, "config"), *map = path_join(dir, "System.map");
	struct stat st;

	free(k->image);
	free(k->modules);
	free(k->config);
	free(k->system_map);
	k->image = path_join(dir, "vmlinuz");
	k->modules = file_exists(modules) ? STEAL(modules) : NULL;
	k->config = file_exists(config) ? STEAL(config) : NULL;
	k->system_map = stat(map, &st) == 0 && st.st_size >= SYSTEM_MAP_MIN_BYTES ? STEAL(map) :
										    NULL;
}

/* What others have put into the record stays there. */
static int write_record(const char *dir, const struct kernel *k, struct error *err)
{
	cleanup_free char *path = path_join(dir, "kernel.json");
	json_t *record, *old;
	struct stat st;
	int ret;

	if (stat(k->image, &st) < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s", k->image);
	record = record_pack(k, &st);
	old = record_read(path, NULL);
	if (old)
		json_object_update_missing(record, old);
	json_decref(old);
	ret = record_write(path, record, err);
	json_decref(record);
	return ret;
}

static int sync_all(const char *dir, struct error *err)
{
	cleanup_close int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || syncfs(fd) < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot sync", dir);
	return 0;
}

/* A package without a config file, whose image carries it (IKCONFIG). */
static int keep_embedded_config(const char *dir, const struct kernel *k, struct error *err)
{
	cleanup_free char *path = path_join(dir, "config"), *text = NULL;
	size_t len = 0;

	if (!k->config || file_exists(path))
		return 0;
	text = file_read(k->config, 0, &len, err);
	return text ? file_write_atomic(path, text, len, 0644, err) : -1;
}

int tree_finish(const char *dir, struct kernel *k, struct error *err)
{
	cleanup_free char *image = path_join(dir, "vmlinuz"), *release = NULL;

	if (!file_exists(image))
		return error_set(err, EXIT_USAGE, "holds no kernel image");
	if (identify_image(image, k, err) < 0 || find_release(dir, &release, err) < 0)
		return -1;
	if (release && strcmp(release, k->release))
		return error_set(err, EXIT_USAGE, "the image is %s, but the modules are for %s",
				 k->release, release);
	if (release && tree_depmod(dir, release, err) < 0)
		return -1;
	if (keep_embedded_config(dir, k, err) < 0)
		return -1;
	set_paths(dir, k);
	if (k->config) {
		free(k->config_hash);
		k->config_hash = hash_file(k->config, err);
		if (!k->config_hash)
			return -1;
	}
	k->disk_bytes = tree_disk_usage(dir);
	/* kernel.json must not be on disk before what it vouches for. */
	if (sync_all(dir, err) < 0)
		return -1;
	return write_record(dir, k, err);
}

/* Copied caches have other inodes and times: the hash decides then, and the new stamp is kept. */
static int check_hash(const char *dir, const struct kernel *k, struct error *err)
{
	cleanup_free char *hash = hash_file(k->image, err);

	if (!hash)
		return -1;
	if (strcmp(hash, k->image_hash) != 0)
		return error_set(err, EXIT_USAGE,
				 "%s: changed since it was put into the cache; remove "
				 "it (mmrig kernel rm) and fetch it again",
				 k->image);
	write_record(dir, k, NULL);
	return 0;
}

int tree_load(const char *dir, struct kernel *k, struct error *err)
{
	cleanup_free char *path = path_join(dir, "kernel.json");
	json_t *record = record_read(path, err);
	struct stat st;
	bool fresh;

	if (!record)
		return -1;
	if (!record_unpack(record, k)) {
		json_decref(record);
		return error_set(err, EXIT_USAGE,
				 "%s: not a record of a kernel; remove it (mmrig kernel "
				 "rm) and fetch it again",
				 path);
	}
	set_paths(dir, k);
	if (stat(k->image, &st) < 0) {
		json_decref(record);
		return error_errno(err, EXIT_USAGE, "%s", k->image);
	}
	fresh = record_is_of(record, &st);
	json_decref(record);
	return fresh ? 0 : check_hash(dir, k, err);
}
