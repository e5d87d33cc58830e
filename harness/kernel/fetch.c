// SPDX-License-Identifier: GPL-2.0-only
/* debian:VERSION -> a kernel in the cache. */
#include <string.h>

#include "harness/kernel/apt.h"
#include "harness/kernel/cache.h"
#include "harness/kernel/debversion.h"
#include "harness/kernel/interrupt.h"
#include "harness/kernel/pick.h"
#include "harness/kernel/tree.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

struct wanted {
	char *version, *flavour;
	const char *name; /* or NULL */
};

static void wanted_free(struct wanted *w)
{
	free(w->version);
	free(w->flavour);
}

static int parse_spec(const struct kernel_fetch_options *o, struct wanted *w, struct error *err)
{
	cleanup_free char *flavour = NULL;

	*w = (struct wanted){ .name = o->name };
	if (pick_parse(o->spec, &w->version, &flavour, err) < 0)
		return -1;
	w->flavour = xstrdup(o->flavour ? o->flavour : flavour ? flavour : "cloud");
	if (strcmp(w->flavour, "cloud") != 0 && strcmp(w->flavour, "generic") != 0)
		return error_set(err, EXIT_USAGE,
				 "%s: no flavour of Debian's kernels here: cloud or generic",
				 w->flavour);
	return w->name ? cache_check_name(w->name, err) : 0;
}

static void tell(const struct kernel_fetch_options *o, const char *text)
{
	if (o->progress)
		o->progress(o->progress_arg, text, -1);
}

static void tell_waiting(void *arg)
{
	tell(arg, "waiting for another fetch");
}

static bool is_wanted(const struct kernel *k, const struct wanted *w)
{
	return k->package_version && k->flavour && !strcmp(k->flavour, w->flavour) &&
	       (!w->name || !strcmp(k->name, w->name)) &&
	       debversion_matches(k->package_version, w->version);
}

/* The newest cached kernel that fits: 1 and *k, or 0. */
static int find_cached(const struct wanted *w, struct kernel *k, struct error *err)
{
	struct kernel *list, *best = NULL;
	size_t n;

	if (kernel_list(&list, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (is_wanted(&list[i], w) &&
		    (!best ||
		     debversion_compare(list[i].package_version, best->package_version) > 0))
			best = &list[i];
	if (best) {
		*k = *best;
		*best = (struct kernel){ 0 };
	}
	kernel_list_free(list, n);
	return best ? 1 : 0;
}

static bool is_taken(const char *root, const char *name)
{
	cleanup_free char *path = path_join(root, name);

	return file_exists(path);
}

static int name_taken(const char *name, struct error *err)
{
	return error_set(err, EXIT_USAGE,
			 "%s: this name is taken in the cache; choose another, or remove "
			 "it (mmrig kernel rm %s)",
			 name, name);
}

/* The name given; or the release, with the package's version where another package has it. */
static int choose_name(const char *root, const struct wanted *w, const char *release,
		       const struct apt_package *image, char **name, struct error *err)
{
	const char *wish = w->name ? w->name : release;

	if (!is_taken(root, wish)) {
		*name = xstrdup(wish);
		return 0;
	}
	if (w->name)
		return name_taken(w->name, err);
	*name = str_printf("%s_%s", release, image->version);
	for (char *p = *name; *p; p++)
		if (*p == ':')
			*p = '_';
	return 0;
}

static int unpack_all(const struct apt_debs *debs, const char *tree, struct error *err)
{
	if (dir_make(tree, 0755, err) < 0)
		return -1;
	for (size_t i = 0; i < debs->n; i++)
		if (tree_unpack(debs->item[i].path, tree, err) < 0)
			return -1;
	return 0;
}

static int install(const char *root, const char *tree, const struct wanted *w,
		   const struct apt_package *image, struct kernel *k, struct error *err)
{
	struct kernel made = { 0 };
	cleanup_free char *name = NULL;
	int ret = -1;

	/* The release is the package's name behind "linux-image-"; the image is held to it. */
	if (choose_name(root, w, image->name + strlen("linux-image-"), image, &name, err) < 0)
		return -1;
	made.name = xstrdup(name);
	made.flavour = xstrdup(w->flavour);
	made.package_version = xstrdup(image->version);
	made.provenance = str_printf("debian %s (%s)", image->version, image->suite);
	if (tree_finish(tree, &made, err) < 0)
		error_wrap(err, "%s", image->name);
	else
		ret = cache_commit(root, tree, name, k, err);
	kernel_free(&made);
	return ret;
}

static int get(struct apt *a, const char *root, const struct kernel_fetch_options *o,
	       const struct wanted *w, const struct apt_package *image, struct kernel *k,
	       struct error *err)
{
	char *scratch = cache_begin(root, err);
	cleanup_free char *folder = scratch ? path_join(scratch, "debs") : NULL;
	cleanup_free char *tree = scratch ? path_join(scratch, "tree") : NULL;
	struct apt_debs debs = { 0 };
	int ret = -1;

	if (scratch && dir_make(folder, 0755, err) == 0 && apt_split(a, image, &debs, err) == 0 &&
	    apt_download(a, &debs, folder, err) == 0) {
		tell(o, "unpacking");
		if (unpack_all(&debs, tree, err) == 0)
			ret = install(root, tree, w, image, k, err);
	}
	apt_debs_free(&debs);
	cache_end(scratch);
	return ret;
}

/* With the lock held. */
static int fetch_locked(const char *root, const struct kernel_fetch_options *o,
			const struct wanted *w, struct kernel *k, struct error *err)
{
	struct apt_package image = { 0 };
	struct wanted exact = *w;
	struct apt a = { 0 };
	int ret = o->refresh ? 0 : find_cached(w, k, err);

	if (ret)
		return ret < 0 ? -1 : 0;
	if (w->name && is_taken(root, w->name))
		return name_taken(w->name, err);
	ret = -1;
	if (apt_open(&a, o->mirror, o->progress, o->progress_arg, err) == 0 &&
	    pick_package(&a, w->version, w->flavour, o->refresh, &image, err) == 0) {
		exact.version = image.version;
		ret = find_cached(&exact, k, err);
		if (ret == 0)
			ret = get(&a, root, o, w, &image, k, err);
	}
	pick_free(&image);
	apt_close(&a);
	return ret < 0 ? -1 : 0;
}

static int fetch(const struct kernel_fetch_options *o, struct kernel *k, struct error *err)
{
	__attribute__((cleanup(wanted_free))) struct wanted w = { 0 };
	cleanup_free char *root = NULL;
	cleanup_close int lock = -1;
	int ret;

	*k = (struct kernel){ 0 };
	if (parse_spec(o, &w, err) < 0)
		return -1;
	root = cache_dir("kernels", err);
	if (!root)
		return -1;
	ret = o->refresh ? 0 : find_cached(&w, k, err);
	if (ret)
		return ret < 0 ? -1 : 0;
	lock = cache_lock(root, tell_waiting, (void *)o, err);
	if (lock < 0)
		return -1;
	if (fetch_locked(root, o, &w, k, err) < 0) {
		kernel_free(k);
		return -1;
	}
	return 0;
}

int kernel_fetch(const struct kernel_fetch_options *o, struct kernel *k, struct error *err)
{
	struct interrupt watch;
	int ret;

	interrupt_begin(&watch, "the same command begins anew");
	ret = fetch(o, k, err);
	interrupt_end(&watch);
	return ret;
}
