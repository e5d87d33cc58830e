// SPDX-License-Identifier: GPL-2.0-only
#include "harness/kernel/debfile.h"

#include <string.h>

#include "harness/kernel/cache.h"
#include "harness/kernel/tree.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/util/hash.h"
#include "results/verdict.h"

static const char *const parts[] = { "linux-image-", "linux-base-", "linux-binary-",
				     "linux-modules-" };

struct debs {
	char *path[ARRAY_SIZE(parts)];
	size_t n;
};

static void debs_free(struct debs *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->path[i]);
}

/* linux-binary-REL_VERSION_amd64.deb -> "REL_VERSION_amd64.deb", or NULL. */
static const char *common_part(const char *file)
{
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (str_starts(file, parts[i]))
			return file + strlen(parts[i]);
	return NULL;
}

static void find_debs(const char *path, struct debs *d)
{
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
	const char *common = common_part(file);

	/* In the order of parts[] whichever is named, so that they share one place in the cache. */
	for (size_t i = 0; common && i < ARRAY_SIZE(parts); i++) {
		char *one = str_printf("%.*s%s%s", (int)(file - path), path, parts[i], common);

		if (file_exists(one))
			d->path[d->n++] = one;
		else
			free(one);
	}
	if (!d->n)
		d->path[d->n++] = xstrdup(path);
}

/* The hash of all of them, order included: the key in the cache. */
static char *debs_key(const struct debs *d, struct error *err)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	cleanup_free char *hash = NULL;

	for (size_t i = 0; i < d->n; i++) {
		cleanup_free char *one = hash_file(d->path[i], err);

		if (!one)
			return NULL;
		strbuf_adds(&sb, one);
	}
	hash = hash_bytes(sb.data, sb.len);
	return xstrdup(strchr(hash, ':') + 1);
}

static int unpack(const char *root, const char *key, const char *path, const struct debs *d,
		  struct kernel *k, struct error *err)
{
	char *scratch = cache_begin(root, err);
	cleanup_free char *tree = scratch ? path_join(scratch, "tree") : NULL;
	int ret = scratch ? dir_make(tree, 0755, err) : -1;

	for (size_t i = 0; ret == 0 && i < d->n; i++)
		ret = tree_unpack(d->path[i], tree, err);
	if (ret == 0) {
		struct kernel made = { 0 };

		made.name = xstrdup(key);
		ret = tree_finish(tree, &made, err);
		if (ret < 0)
			error_wrap(err, "%s", path);
		else
			ret = cache_commit(root, tree, key, k, err);
		kernel_free(&made);
	}
	cache_end(scratch);
	return ret;
}

static int find_or_unpack(const char *root, const char *key, const char *path, const struct debs *d,
			  struct kernel *k, struct error *err)
{
	cleanup_close int lock = cache_lock(root, NULL, NULL, err);
	int found;

	if (lock < 0)
		return -1;
	found = cache_find(root, key, k, err);
	return found ? (found < 0 ? -1 : 0) : unpack(root, key, path, d, k, err);
}

int debfile_identify(const char *path, struct kernel *k, struct error *err)
{
	__attribute__((cleanup(debs_free))) struct debs d = { { NULL }, 0 };
	cleanup_free char *root = cache_dir("unpacked", err), *key = NULL;
	const char *slash = strrchr(path, '/');

	if (!root)
		return -1;
	find_debs(path, &d);
	key = debs_key(&d, err);
	if (!key)
		return -1;
	if (find_or_unpack(root, key, path, &d, k, err) < 0) {
		if (str_starts(slash ? slash + 1 : path, parts[0]) && d.n == 1)
			error_hint(
				err,
				"if it is split into linux-binary-, linux-base- and linux-modules- "
				"packages, put those beside it");
		return -1;
	}
	free(k->provenance);
	k->provenance = str_printf("package %s", slash ? slash + 1 : path);
	k->disk_bytes = 0;
	return 0;
}
