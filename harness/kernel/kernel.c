// SPDX-License-Identifier: GPL-2.0-only
#include "harness/kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/kernel/cache.h"
#include "harness/kernel/content.h"
#include "harness/kernel/debfile.h"
#include "harness/kernel/identify.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

void kernel_free(struct kernel *k)
{
	char *const strings[] = { k->name,	     k->image,	    k->release,	   k->version,
				  k->build_id,	     k->image_hash, k->config,	   k->config_hash,
				  k->modules,	     k->system_map, k->provenance, k->flavour,
				  k->package_version };

	for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
		free(strings[i]);
	*k = (struct kernel){ 0 };
}

/* "y", 17, "text" without its quotes. */
static char *config_text(const char *p)
{
	size_t n = strcspn(p, "\n");

	if (n >= 2 && p[0] == '"' && p[n - 1] == '"')
		return xstrndup(p + 1, n - 2);
	return xstrndup(p, n);
}

char *kernel_config_value(const struct kernel *k, const char *symbol)
{
	cleanup_free char *text = k->config ? file_read(k->config, 0, NULL, NULL) : NULL;
	cleanup_free char *head =
		str_printf("%s%s=", str_starts(symbol, "CONFIG_") ? "" : "CONFIG_", symbol);

	for (const char *p = text; p && *p;) {
		const char *nl = strchr(p, '\n');

		if (str_starts(p, head))
			return config_text(p + strlen(head));
		p = nl ? nl + 1 : NULL;
	}
	return NULL;
}

/* ---- folders ---- */

/* Patterns below a folder, by kind; the first kind that matches counts. */
static const char *const folder_patterns[] = {
	"arch/x86/boot/bzImage",
	"boot/vmlinuz-*",
	"usr/lib/modules/*/vmlinuz",
	"lib/modules/*/vmlinuz",
	"vmlinuz",
	"bzImage",
	"vmlinuz-*",
	"vmlinux",
};

/* The folder's own name may hold a bracket. */
static char *escape_glob(const char *dir, const char *pattern)
{
	struct strbuf sb = STRBUF_INIT;

	for (const char *p = dir; *p; p++)
		strbuf_addf(&sb, "%s%c", strchr("*?[\\", *p) ? "\\" : "", *p);
	strbuf_addf(&sb, "/%s", pattern);
	return strbuf_steal(&sb);
}

static int too_many(const char *dir, const glob_t *g, struct error *err)
{
	error_set(err, EXIT_USAGE, "%s: holds %zu kernels, %s and %s among them", dir, g->gl_pathc,
		  g->gl_pathv[0], g->gl_pathv[1]);
	return error_hint(err, "name the one that you mean");
}

static int no_image(const char *dir, struct error *err)
{
	cleanup_free char *kbuild = path_join(dir, "Kbuild"), *deb = escape_glob(dir, "*.deb");
	glob_t g;
	bool has_deb = glob(deb, 0, NULL, &g) == 0;

	if (has_deb)
		globfree(&g);
	error_set(err, EXIT_USAGE, "%s: a folder without a kernel", dir);
	if (file_exists(kbuild))
		return error_hint(err, "a kernel tree that is not built yet: make bzImage");
	if (has_deb)
		return error_hint(err, "name the .deb inside that you mean");
	return error_hint(
		err, "looked for arch/x86/boot/bzImage, boot/vmlinuz-*, lib/modules/*/vmlinuz, "
		     "vmlinuz and vmlinux");
}

static int find_in_folder(const char *dir, char **image, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(folder_patterns); i++) {
		cleanup_free char *pattern = escape_glob(dir, folder_patterns[i]);
		size_t n = 0;
		glob_t g;

		if (glob(pattern, 0, NULL, &g) == 0) {
			n = g.gl_pathc;
			if (n == 1)
				*image = xstrdup(g.gl_pathv[0]);
			else
				too_many(dir, &g, err);
			globfree(&g);
		}
		if (n)
			return n == 1 ? 0 : -1;
	}
	return no_image(dir, err);
}

/* ---- one path ---- */

static bool is_deb_file(const char *path)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t head[64];
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));

	return n > 0 && content_is_deb(head, (size_t)n);
}

static int identify_file(const char *path, const char *provenance, struct kernel *k,
			 struct error *err)
{
	if (identify_image(path, k, err) < 0 || identify_around(k, err) < 0)
		return -1;
	k->provenance = str_printf("%s %s",
				   strstr(k->image, "/arch/x86/boot/") ? "build" : provenance,
				   k->image);
	return 0;
}

/* vmlinuz of a finished kernel in the cache: what is recorded there. 1, 0 when it is none. */
static int identify_cached(const char *path, struct kernel *k)
{
	cleanup_free char *cache = cache_dir("kernels", NULL), *real = realpath(path, NULL);
	cleanup_free char *root = cache ? realpath(cache, NULL) : NULL;
	char *name, *end;

	if (!real || !root || !str_starts(real, root) || real[strlen(root)] != '/')
		return 0;
	name = real + strlen(root) + 1;
	end = strchr(name, '/');
	if (end && strcmp(end, "/vmlinuz") != 0)
		return 0;
	if (end)
		*end = '\0';
	return cache_find(root, name, k, NULL) > 0;
}

static int identify_path(const char *path, struct kernel *k, struct error *err)
{
	cleanup_free char *image = NULL;
	struct stat st;

	if (stat(path, &st) < 0)
		return error_errno(err, EXIT_USAGE, "%s: no kernel there", path);
	if (identify_cached(path, k))
		return 0;
	kernel_free(k);
	if (S_ISDIR(st.st_mode)) {
		if (find_in_folder(path, &image, err) < 0)
			return -1;
		return identify_file(image, "folder", k, err);
	}
	return is_deb_file(path) ? debfile_identify(path, k, err) :
				   identify_file(path, "file", k, err);
}

int kernel_identify(const char *path, struct kernel *k, struct error *err)
{
	*k = (struct kernel){ 0 };
	if (identify_path(path, k, err) < 0) {
		kernel_free(k);
		return -1;
	}
	free(k->name);
	k->name = xstrdup(path);
	return 0;
}

/* ---- what --kernel names ---- */

static int unknown_kernel(const char *spec, struct error *err)
{
	struct kernel *list = NULL;
	size_t n = 0;
	const char **names;
	const char *nearest;

	kernel_list(&list, &n, NULL);
	names = xcalloc(n + 1, sizeof(*names));
	for (size_t i = 0; i < n; i++)
		names[i] = list[i].name;
	nearest = str_nearest(spec, names, n);
	error_set(err, EXIT_USAGE, "%s: neither a file nor a kernel of the cache", spec);
	if (nearest)
		error_hint(err, "did you mean %s?", nearest);
	else
		error_hint(err, "mmrig kernel list shows the cached ones; debian:7.3 fetches one");
	free(names);
	kernel_list_free(list, n);
	return -1;
}

/* A word without a slash is a name of the cache first: a file in the way must not change a run. */
int kernel_resolve_with(const char *spec, const struct kernel_fetch_options *o, struct kernel *k,
			struct error *err)
{
	cleanup_free char *root = NULL;
	int found = 0;

	*k = (struct kernel){ 0 };
	if (str_starts(spec, "debian:")) {
		struct kernel_fetch_options fetch = o ? *o : (struct kernel_fetch_options){ 0 };

		fetch.spec = spec;
		fetch.name = NULL;
		return kernel_fetch(&fetch, k, err);
	}
	if (!strchr(spec, '/')) {
		root = cache_dir("kernels", err);
		found = root ? cache_find(root, spec, k, err) : -1;
	}
	if (found > 0)
		return 0;
	kernel_free(k);
	if (found < 0)
		return -1;
	if (!strchr(spec, '/') && !file_exists(spec))
		return unknown_kernel(spec, err);
	return kernel_identify(spec, k, err);
}

int kernel_resolve(const char *spec, struct kernel *k, struct error *err)
{
	return kernel_resolve_with(spec, NULL, k, err);
}
