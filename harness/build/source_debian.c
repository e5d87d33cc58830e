// SPDX-License-Identifier: GPL-2.0-only
/*
 * debian:VERSION -> CACHE/sources/debian-VERSION. The ref refs/mmrig/base/whole is set when all is in
 * the repository; a folder without it is started anew.
 *
 * apt's state is guarded by the lock of the kernels' folder, which a build takes while it holds that of
 * its source. So the two are always taken in that order, or one at a time.
 */
#include <dirent.h>
#include <string.h>

#include "harness/build/source_impl.h"
#include "harness/kernel/cache.h"
#include "harness/kernel/debversion.h"
#include "harness/kernel/pick.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define ID_PREFIX "debian-"
#define KIND "base"
#define WHOLE "whole"

static int parse_spec(const char *spec, char **version, struct error *err)
{
	cleanup_free char *flavour = NULL;

	if (pick_parse(spec, version, &flavour, err) < 0)
		return -1;
	if (flavour)
		return error_set(
			err, EXIT_USAGE,
			"%s: sources have no flavour; write debian:%s, and choose by config", spec,
			*version);
	return 0;
}

static char *debian_id(const char *version)
{
	char *id = str_printf(ID_PREFIX "%s", version);

	for (char *p = id; *p; p++)
		if (*p == ':')
			*p = '_';
	return id;
}

/* ---- what is there ---- */

static bool is_whole(const char *dir)
{
	cleanup_free char *git = path_join(dir, "git"), *object = source_get_ref(git, KIND, WHOLE);

	return object != NULL;
}

/* The version of a source in the cache, if it is a whole one and matches; heap or NULL. */
static char *matching_version(const char *dir, const char *wanted)
{
	cleanup_free char *package = NULL, *version = NULL;

	if (!is_whole(dir) || !source_get_origin(dir, &package, &version) ||
	    !debversion_matches(version, wanted))
		return NULL;
	return STEAL(version);
}

/* The newest of the cache that matches, as with kernels; heap, NULL when there is none. */
static char *find_cached(const char *wanted)
{
	cleanup_free char *root = cache_dir("sources", NULL);
	cleanup_dir DIR *d = root ? opendir(root) : NULL;
	char *best = NULL;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		cleanup_free char *dir = path_join(root, e->d_name);
		char *version = str_starts(e->d_name, ID_PREFIX) ? matching_version(dir, wanted) :
								   NULL;

		if (version && (!best || debversion_compare(version, best) > 0)) {
			free(best);
			best = version;
		} else {
			free(version);
		}
	}
	return best;
}

/* ---- getting it ---- */

static void tell_waiting(void *arg)
{
	source_tell(arg, "waiting for another fetch", -1);
}

static int lock_apt(struct source *s, struct error *err)
{
	cleanup_free char *root = cache_dir("kernels", err);

	return root ? cache_lock(root, tell_waiting, s, err) : -1;
}

static int choose(struct source *s, const char *mirror, const char *wanted,
		  struct apt_package *package, struct error *err)
{
	cleanup_close int lock = lock_apt(s, err);
	struct apt a = { 0 };
	int ret = -1;

	if (lock >= 0 && apt_open(&a, mirror, s->progress, s->progress_arg, err) == 0)
		ret = pick_package(&a, wanted, NULL, false, package, err);
	apt_close(&a);
	return ret;
}

static int download(struct source *s, const char *mirror, const struct apt_package *package,
		    const char *dir, struct apt_debs *debs, struct error *err)
{
	cleanup_close int lock = lock_apt(s, err);
	struct apt a = { 0 };
	int ret = -1;

	if (lock >= 0 && apt_open(&a, mirror, s->progress, s->progress_arg, err) == 0 &&
	    apt_split(&a, package, debs, err) == 0)
		ret = apt_download(&a, debs, dir, err);
	apt_close(&a);
	return ret;
}

static void tell_unpacking(void *arg, double percent)
{
	source_tell(arg, "unpacking", percent < 100 ? percent : 100);
}

/* From the .deb to the ref that says that it is whole. */
static int import(struct source *s, const struct apt_package *package, const char *deb,
		  const char *scratch, struct error *err)
{
	cleanup_free char *object = NULL;

	if (source_drop_files(s, err) < 0 || dir_make(s->src, 0755, err) < 0)
		return -1;
	source_tell(s, "unpacking", -1);
	if (source_unpack(deb, package->name, s->src, tell_unpacking, s, err) < 0)
		return -1;
	object = source_take_src(s, scratch, err);
	if (!object || source_set_origin(s, package->name, package->version, err) < 0)
		return -1;
	return source_set_ref(s->git, KIND, WHOLE, object, err);
}

static int get(struct source *s, const char *mirror, const struct apt_package *package,
	       struct error *err)
{
	char *scratch = cache_begin(s->dir, err);
	struct apt_debs debs = { 0 };
	int ret = -1;

	if (scratch && download(s, mirror, package, scratch, &debs, err) == 0)
		ret = import(s, package, debs.item[0].path, scratch, err);
	if (ret < 0)
		source_drop_files(s, NULL); /* the disk may be full of them */
	apt_debs_free(&debs);
	cache_end(scratch);
	return ret;
}

static int get_version(struct source *s, const char *mirror, const char *wanted, struct error *err)
{
	cleanup_free char *id = NULL;
	struct apt_package package = { 0 };
	int ret = choose(s, mirror, wanted, &package, err);

	if (ret == 0) {
		id = debian_id(package.version);
		ret = source_prepare(s, id, NULL, err);
	}
	if (ret == 0 && !is_whole(s->dir))
		ret = get(s, mirror, &package, err);
	pick_free(&package);
	return ret;
}

static int read_cached(struct source *s, struct error *err)
{
	cleanup_free char *package = NULL, *version = NULL;

	s->object = source_get_ref(s->git, KIND, WHOLE);
	if (!s->object || !source_get_origin(s->dir, &package, &version))
		return error_set(err, EXIT_NO_VERDICT, "%s: damaged; remove this folder", s->dir);
	s->what = str_printf("%s %s", package, version);
	return 0;
}

int source_open_debian(const struct source_request *r, struct source *s, struct error *err)
{
	cleanup_free char *wanted = NULL, *version = NULL, *id = NULL;

	if (parse_spec(r->debian, &wanted, err) < 0)
		return -1;
	version = find_cached(wanted);
	if (version) {
		id = debian_id(version);
		if (source_prepare(s, id, NULL, err) < 0)
			return -1;
		/* It may have been removed before we had the lock. */
		if (is_whole(s->dir))
			return read_cached(s, err);
		source_release(s);
	}
	return get_version(s, r->mirror, wanted, err) < 0 ? -1 : read_cached(s, err);
}
