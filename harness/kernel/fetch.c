// SPDX-License-Identifier: GPL-2.0-only
/* debian:VERSION -> a kernel in the cache. */
#include <string.h>

#include "harness/kernel/apt.h"
#include "harness/kernel/cache.h"
#include "harness/kernel/debversion.h"
#include "harness/kernel/tree.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define NEAREST_SHOWN 8

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
	const char *text = o->spec, *slash;

	*w = (struct wanted){ .name = o->name };
	if (!str_starts(text, "debian:"))
		return error_set(err, EXIT_USAGE,
				 "%s: not a kernel that can be fetched; write debian:VERSION,"
				 " as in debian:7.3",
				 text);
	text += strlen("debian:");
	slash = strchr(text, '/');
	w->version = xstrndup(text, slash ? (size_t)(slash - text) : strlen(text));
	w->flavour = xstrdup(o->flavour ? o->flavour : slash ? slash + 1 : "cloud");
	if (w->version[0] < '0' || w->version[0] > '9' ||
	    w->version[strspn(w->version,
			      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			      ".+~:-")])
		return error_set(err, EXIT_USAGE,
				 "%s: no version of a Debian kernel; write debian:7.3, or a "
				 "whole one as in debian:7.3.4-1~bpo13+1",
				 o->spec);
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

/* Newest match, the first of its suites; NULL when there is none. packages are sorted. */
static const struct apt_package *newest_match(const struct apt_packages *p, const char *version)
{
	const struct apt_package *best = NULL;

	for (size_t i = 0; i < p->n; i++)
		if (debversion_matches(p->item[i].version, version) &&
		    (!best || debversion_compare(p->item[i].version, best->version) > 0))
			best = &p->item[i];
	return best;
}

static void add_version(struct strbuf *sb, const struct apt_packages *p, size_t i)
{
	if (i && !strcmp(p->item[i].version, p->item[i - 1].version))
		return;
	strbuf_addf(sb, "%s%s", sb->len ? ", " : "", p->item[i].version);
}

/* The versions of the archive around the one that it lacks. */
static int no_match(const struct apt_packages *p, const struct wanted *w, struct error *err)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	size_t at = 0, from, to;

	if (!p->n)
		return error_set(err, EXIT_NO_VERDICT,
				 "debian:%s: the archive's index has no %s kernels", w->version,
				 w->flavour);
	while (at < p->n && debversion_compare(p->item[at].version, w->version) < 0)
		at++;
	from = at > NEAREST_SHOWN / 2 ? at - NEAREST_SHOWN / 2 : 0;
	to = from + NEAREST_SHOWN < p->n ? from + NEAREST_SHOWN : p->n;
	from = to > NEAREST_SHOWN ? to - NEAREST_SHOWN : 0;
	for (size_t i = from; i < to; i++)
		add_version(&sb, p, i);
	return error_set(err, EXIT_USAGE,
			 "debian:%s: the Debian archive has no such %s kernel; the nearest "
			 "are %s",
			 w->version, w->flavour, sb.data);
}

/* Refreshes the index when it is old or was asked to, and once more when nothing matches. */
static int choose(struct apt *a, const struct wanted *w, bool refresh, struct apt_package *image,
		  struct error *err)
{
	struct apt_packages p = { 0 };
	const struct apt_package *best;
	bool updated = false;

	for (;;) {
		if (a->stale || refresh) {
			if (apt_update(a, err) < 0)
				return -1;
			updated = true;
		}
		if (apt_images(a, w->flavour, &p, err) < 0)
			return -1;
		best = newest_match(&p, w->version);
		if (best || updated)
			break;
		apt_packages_free(&p);
		refresh = true;
	}
	if (best)
		*image = (struct apt_package){ xstrdup(best->name), xstrdup(best->version),
					       xstrdup(best->suite) };
	else
		no_match(&p, w, err);
	apt_packages_free(&p);
	return best ? 0 : -1;
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
	    choose(&a, w, o->refresh, &image, err) == 0) {
		exact.version = image.version;
		ret = find_cached(&exact, k, err);
		if (ret == 0)
			ret = get(&a, root, o, w, &image, k, err);
	}
	free(image.name);
	free(image.version);
	free(image.suite);
	apt_close(&a);
	return ret < 0 ? -1 : 0;
}

int kernel_fetch(const struct kernel_fetch_options *o, struct kernel *k, struct error *err)
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
