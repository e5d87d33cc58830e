// SPDX-License-Identifier: GPL-2.0-only
/* What stands beside an image: as unpacked from a .deb, as installed in /boot, in a build tree. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/kernel/identify.h"
#include "harness/kernel/tree.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/util/hash.h"
#include "results/verdict.h"

#define SYSTEM_MAP_MIN_BYTES 1024
#define CONFIG_HEAD_BYTES 1024

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
}

/* A stray .config of another version must not be taken for this kernel's. */
static bool is_config_of(const char *path, const char *release)
{
	static const char mark[] = "# Linux/x86 ";
	cleanup_file FILE *f = fopen(path, "re");
	char head[CONFIG_HEAD_BYTES + 1];
	size_t n = f ? fread(head, 1, CONFIG_HEAD_BYTES, f) : 0, len;
	const char *p;

	head[n] = '\0';
	p = strstr(head, mark);
	if (!p)
		return false;
	p += sizeof(mark) - 1;
	len = strcspn(p, " \n");
	return len && !strncmp(p, release, len) &&
	       (!release[len] || !strchr("0123456789.", release[len]));
}

static bool is_system_map(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= SYSTEM_MAP_MIN_BYTES;
}

static char *find_modules(const char *dir, const char *release)
{
	char *candidates[] = {
		str_ends(dir, release) && strstr(dir, "/lib/modules/") ? xstrdup(dir) : NULL,
		str_printf("%s/lib/modules/%s", dir, release),
		str_ends(dir, "/boot") ? str_printf("%s/../lib/modules/%s", dir, release) : NULL,
		str_ends(dir, "/boot") ? str_printf("%s/../usr/lib/modules/%s", dir, release) :
					 NULL,
	};
	char *found = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(candidates); i++) {
		cleanup_free char *path = candidates[i];
		cleanup_free char *order = path ? path_join(path, "modules.order") : NULL;
		cleanup_free char *tree = path ? path_join(path, "kernel") : NULL;

		/* A package of the image alone leaves a folder that holds no modules. */
		if (!found && path && (file_exists(order) || file_exists(tree)))
			found = realpath(path, NULL);
	}
	return found;
}

static char *find_beside(const struct kernel *k, const char *dir, const char *name,
			 const char *in_tree,
			 bool (*fits)(const char *path, const struct kernel *k))
{
	bool in_boot = str_ends(dir, "/arch/x86/boot");
	char *candidates[] = {
		str_printf("%s/%s-%s", dir, name, k->release),
		str_printf("%s/%s", dir, name),
		k->modules ? str_printf("%s/%s", k->modules, name) : NULL,
		in_boot ? str_printf("%s/../../../%s", dir, in_tree) : NULL,
		str_printf("%s/%s", dir, in_tree),
	};
	char *found = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(candidates); i++) {
		if (!found && candidates[i] && fits(candidates[i], k))
			found = realpath(candidates[i], NULL);
		free(candidates[i]);
	}
	return found;
}

static bool config_fits(const char *path, const struct kernel *k)
{
	return is_config_of(path, k->release);
}

static bool map_fits(const char *path, const struct kernel *k)
{
	return is_system_map(path);
}

/* Whether libkmod can use them as they are. */
static bool modules_ready(const char *modules)
{
	cleanup_free char *dep = path_join(modules, "modules.dep.bin");

	return file_exists(dep);
}

static int link_into(const char *from, const char *to, const char *name, struct error *err)
{
	cleanup_free char *target = path_join(from, name), *link = path_join(to, name);

	if (!file_exists(target) || symlink(target, link) == 0 || errno == EEXIST)
		return 0;
	return error_errno(err, EXIT_NO_VERDICT, "%s: cannot create", link);
}

/*
 * Modules without modules.dep (packages run depmod when they are installed, not before): a folder
 * in the cache that links to them and has one. They are not ours to write to.
 */
static int make_overlay(struct kernel *k, struct error *err)
{
	static const char *const names[] = { "kernel",		"updates",
					     "extra",		"modules.order",
					     "modules.builtin", "modules.builtin.modinfo" };
	cleanup_free char *cache = cache_dir("modules", err);
	cleanup_free char *key = NULL, *hash = NULL, *base = NULL, *dir = NULL;
	struct stat st;

	if (!cache)
		return -1;
	if (stat(k->modules, &st) < 0)
		return error_errno(err, EXIT_USAGE, "%s", k->modules);
	key = str_printf("%s %s %lld %llu", k->modules, k->image_hash, (long long)st.st_mtim.tv_sec,
			 (unsigned long long)st.st_ino);
	hash = hash_bytes(key, strlen(key));
	base = str_printf("%s/%.32s", cache, strchr(hash, ':') + 1);
	dir = str_printf("%s/lib/modules/%s", base, k->release);
	if (!modules_ready(dir)) {
		if (dir_make(dir, 0755, err) < 0)
			return -1;
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (link_into(k->modules, dir, names[i], err) < 0)
				return -1;
		if (tree_depmod(base, k->release, err) < 0)
			return -1;
	}
	free(k->modules);
	k->modules = STEAL(dir);
	return 0;
}

int identify_around(struct kernel *k, struct error *err)
{
	cleanup_free char *dir = folder_of(k->image), *config = NULL;

	k->modules = find_modules(dir, k->release);
	config = find_beside(k, dir, "config", ".config", config_fits);
	if (!k->config && config) {
		k->config = STEAL(config);
		k->config_hash = hash_file(k->config, err);
		if (!k->config_hash)
			return -1;
	}
	k->system_map = find_beside(k, dir, "System.map", "System.map", map_fits);
	if (k->modules && !modules_ready(k->modules))
		return make_overlay(k, err);
	return 0;
}
