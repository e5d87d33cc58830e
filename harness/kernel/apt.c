// SPDX-License-Identifier: GPL-2.0-only
#include "harness/kernel/apt.h"

#include <ctype.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "harness/kernel/child.h"
#include "harness/kernel/debversion.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/util/hash.h"
#include "results/verdict.h"

#define DEBS_MAX 16
#define NO_SUITE "does not have a Release file"

/* ---- running apt ---- */

struct args {
	const char **item;
	size_t n;
};

static void args_add(struct args *a, const char *text)
{
	a->item = xreallocarray(a->item, a->n + 2, sizeof(*a->item));
	a->item[a->n++] = text;
	a->item[a->n] = NULL;
}

static void args_free(struct args *a)
{
	free(a->item);
}
#define cleanup_args __attribute__((cleanup(args_free)))

static void args_start(struct args *args, const struct apt *a, const char *program)
{
	args_add(args, program);
	args_add(args, "--config-file");
	args_add(args, a->config);
}

static void collect_line(void *arg, const char *text)
{
	strbuf_addf(arg, "%s\n", text);
}

/* Runs a query; its output on the heap, NULL on error. Unknown packages are no error. */
static char *query(const struct apt *a, struct args *args, struct error *err)
{
	cleanup_strbuf struct strbuf out = STRBUF_INIT, errors = STRBUF_INIT;

	if (child_run(args->item, a->dir, collect_line, &out, &errors, err) < 0)
		return NULL;
	return strbuf_steal(&out);
}

struct watcher {
	const struct apt *apt;
	const char *text;
};

/* "dlstatus:1:23.4:Retrieving file 1 of 4", as APT::Status-Fd has it. */
static void watch_line(void *arg, const char *line)
{
	struct watcher *w = arg;
	const char *percent;

	if (!str_starts(line, "dlstatus:") || !w->apt->progress)
		return;
	percent = strchr(line + 9, ':');
	if (percent)
		w->apt->progress(w->apt->progress_arg, w->text, strtod(percent + 1, NULL));
}

static int run_watched(const struct apt *a, struct args *args, const char *dir, const char *text,
		       struct strbuf *errors, struct error *err)
{
	struct watcher w = { a, text };

	if (a->progress)
		a->progress(a->progress_arg, text, -1);
	return child_run(args->item, dir, watch_line, &w, errors, err);
}

/* A missing suite is a reason only where there is no better one. */
static const char *find_complaint(const char *text, bool any)
{
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, "\n");

		if ((str_starts(p, "E: ") || str_starts(p, "W: ")) &&
		    (any || !memmem(p, n, NO_SUITE, strlen(NO_SUITE))))
			return p + 3;
		p += n + (p[n] == '\n');
	}
	return NULL;
}

char *apt_complaint(const struct strbuf *errors)
{
	const char *text = errors->len ? errors->data : "", *p = find_complaint(text, false);

	if (!p)
		p = find_complaint(text, true);
	if (!p)
		p = *text ? text : "apt gave no reason";
	return xstrndup(p, strcspn(p, "\n"));
}

/* ---- the index ---- */

/* Passes apt's warnings on, but for suites that the mirror lacks; true when there were any. */
static bool warn_of_suites(const struct apt *a, const struct strbuf *errors)
{
	const char *p = errors->len ? errors->data : "";
	bool any = false;

	while (*p) {
		size_t n = strcspn(p, "\n");

		if (n > 3 && (str_starts(p, "E: ") || str_starts(p, "W: ")) &&
		    !memmem(p, n, NO_SUITE, strlen(NO_SUITE))) {
			cleanup_free char *text =
				str_printf("warning: apt: %.*s", (int)n - 3, p + 3);

			any = true;
			if (a->progress)
				a->progress(a->progress_arg, text, -1);
		}
		p += n + (p[n] == '\n');
	}
	return any;
}

static bool has_index(const struct apt *a)
{
	cleanup_args struct args args = { 0 };
	cleanup_free char *out = NULL;

	args_start(&args, a, "apt-cache");
	args_add(&args, "pkgnames");
	args_add(&args, "linux-image-");
	out = query(a, &args, NULL);
	return out && *out;
}

int apt_update(struct apt *a, struct error *err)
{
	cleanup_strbuf struct strbuf errors = STRBUF_INIT;
	cleanup_args struct args args = { 0 };
	cleanup_free char *stamp = path_join(a->dir, "fetched");
	int status;

	args_start(&args, a, "apt-get");
	args_add(&args, "-qq");
	args_add(&args, "-o");
	args_add(&args, "APT::Status-Fd=1");
	args_add(&args, "update");
	if (a->progress)
		a->progress(a->progress_arg, "package index", -1);
	if (apt_write_sources(a, err) < 0)
		return -1;
	status = run_watched(a, &args, a->dir, "package index", &errors, err);
	if (status < 0)
		return -1;
	if (!has_index(a)) {
		cleanup_free char *why = apt_complaint(&errors);

		error_set(err, EXIT_NO_VERDICT, "apt: no index of the Debian archive: %s", why);
		return error_hint(err, "look at the network and at apt's proxy settings");
	}
	/* With a network that is down, apt keeps the old index and warns: it stays stale then. */
	if (!warn_of_suites(a, &errors)) {
		if (file_write_atomic(stamp, "", 0, 0644, err) < 0)
			return -1;
		a->stale = false;
	}
	return 0;
}

/* ---- looking for images ---- */

bool apt_is_image(const char *package, const char *flavour)
{
	static const char *const others[] = { "-unsigned", "-dbg", "-rt-" };
	bool cloud = str_ends(package, "-cloud-amd64");

	if (!str_starts(package, "linux-image-") || !isdigit((unsigned char)package[12]) ||
	    !str_ends(package, "-amd64"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strstr(package, others[i]))
			return false;
	return cloud == (strcmp(flavour, "cloud") == 0);
}

bool apt_is_source(const char *package, const char *flavour)
{
	static const char prefix[] = "linux-source-";

	if (!str_starts(package, prefix))
		return false;
	package += strlen(prefix);
	return isdigit((unsigned char)*package) &&
	       package[strspn(package, "0123456789.")] == '\0';
}

/* "stable-backports" -> "trixie-backports", by lines "RELEASE|CODENAME"; heap. */
static char *suite_name(const char *codenames, const char *suite)
{
	size_t len = strlen(suite);

	/* Experimental is called rc-buggy by itself, but by nobody else. */
	if (strcmp(suite, "experimental") == 0)
		return xstrdup(suite);
	for (const char *p = codenames; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
		if (!strncmp(p, suite, len) && p[len] == '|' && p[len + 1] && p[len + 1] != '\n')
			return xstrndup(p + len + 1, strcspn(p + len + 1, "\n"));
	return xstrdup(suite);
}

static char *codename_lines(const struct apt *a, struct error *err)
{
	const char *const options[] = { "--config-file", a->config, NULL };

	return apt_targets(options, "$(RELEASE)|$(CODENAME)", err);
}

/* " name | version | URI suite/main amd64 Packages" of apt-cache madison. */
static void parse_madison(char *line, const char *codenames, struct apt_packages *p)
{
	char *save = NULL, *name = strtok_r(line, " |", &save),
	     *version = strtok_r(NULL, " |", &save);
	char *uri = strtok_r(NULL, " |", &save), *suite = strtok_r(NULL, " |", &save);
	struct apt_package *item;

	if (!uri || !suite)
		return;
	suite[strcspn(suite, "/")] = '\0';
	p->item = xreallocarray(p->item, p->n + 1, sizeof(*p->item));
	item = &p->item[p->n++];
	item->name = xstrdup(name);
	item->version = xstrdup(version);
	item->suite = suite_name(codenames, suite);
}

/* Stable for equal versions: the order of suites decides then. */
static void sort_by_version(struct apt_packages *p)
{
	for (size_t i = 1; i < p->n; i++) {
		struct apt_package item = p->item[i];
		size_t k = i;

		for (; k && debversion_compare(p->item[k - 1].version, item.version) > 0; k--)
			p->item[k] = p->item[k - 1];
		p->item[k] = item;
	}
}

static int ask_madison(const struct apt *a, char *names,
		       bool (*accept)(const char *package, const char *flavour),
		       const char *flavour, struct apt_packages *p, struct error *err)
{
	cleanup_args struct args args = { 0 };
	cleanup_free char *codenames = NULL, *out = NULL;
	char *save = NULL;
	size_t before;

	args_start(&args, a, "apt-cache");
	args_add(&args, "madison");
	before = args.n;
	for (char *n = strtok_r(names, "\n", &save); n; n = strtok_r(NULL, "\n", &save))
		if (accept(n, flavour))
			args_add(&args, n);
	if (args.n == before)
		return 0;
	codenames = codename_lines(a, err);
	out = codenames ? query(a, &args, err) : NULL;
	if (!out)
		return -1;
	for (char *l = strtok_r(out, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		parse_madison(l, codenames, p);
	sort_by_version(p);
	return 0;
}

static int find_packages(const struct apt *a, const char *prefix,
			 bool (*accept)(const char *package, const char *flavour),
			 const char *flavour, struct apt_packages *p, struct error *err)
{
	cleanup_args struct args args = { 0 };
	cleanup_free char *names = NULL;

	*p = (struct apt_packages){ 0 };
	args_start(&args, a, "apt-cache");
	args_add(&args, "pkgnames");
	args_add(&args, prefix);
	names = query(a, &args, err);
	return names ? ask_madison(a, names, accept, flavour, p, err) : -1;
}

int apt_images(struct apt *a, const char *flavour, struct apt_packages *p, struct error *err)
{
	return find_packages(a, "linux-image-", apt_is_image, flavour, p, err);
}

int apt_sources(struct apt *a, struct apt_packages *p, struct error *err)
{
	return find_packages(a, "linux-source-", apt_is_source, NULL, p, err);
}

void apt_packages_free(struct apt_packages *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->item[i].name);
		free(p->item[i].version);
		free(p->item[i].suite);
	}
	free(p->item);
	*p = (struct apt_packages){ 0 };
}

/* ---- what an image is split into ---- */

char **apt_same_version(const char *depends, const char *version)
{
	cleanup_free char *copy = xstrdup(depends), *want = str_printf("(= %s)", version);
	char *save = NULL, **names = xcalloc(1, sizeof(*names));
	size_t n = 0;

	for (char *part = strtok_r(copy, ",", &save); part; part = strtok_r(NULL, ",", &save)) {
		char *bound = strstr(part, want);

		if (!bound || strchr(part, '|'))
			continue;
		part += strspn(part, " \n");
		names = xreallocarray(names, n + 2, sizeof(*names));
		names[n++] = xstrndup(part, strcspn(part, " (:"));
		names[n] = NULL;
	}
	return names;
}

/* A field of the first stanza of a control text; heap, NULL when it has none. */
static char *field(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = text; *p && *p != '\n';) {
		size_t n = strcspn(p, "\n");

		if (!strncmp(p, name, len) && p[len] == ':') {
			p += len + 1;
			p += strspn(p, " ");
			return xstrndup(p, strcspn(p, "\n"));
		}
		p += n + (p[n] == '\n');
	}
	return NULL;
}

static int add_deb(const struct apt *a, const char *name, const char *version,
		   struct apt_debs *debs, struct error *err);

static int add_depends(const struct apt *a, const char *line, const char *version,
		       struct apt_debs *debs, struct error *err)
{
	char **names = line ? apt_same_version(line, version) : NULL;
	int ret = 0;

	for (size_t i = 0; names && names[i]; i++) {
		if (ret == 0)
			ret = add_deb(a, names[i], version, debs, err);
		free(names[i]);
	}
	free(names);
	return ret;
}

static bool has_deb(const struct apt_debs *debs, const char *name)
{
	for (size_t i = 0; i < debs->n; i++)
		if (!strcmp(debs->item[i].name, name))
			return true;
	return false;
}

static int add_deb(const struct apt *a, const char *name, const char *version,
		   struct apt_debs *debs, struct error *err)
{
	cleanup_free char *what = str_printf("%s=%s", name, version);
	cleanup_free char *text = NULL, *sha256 = NULL, *size = NULL, *depends = NULL, *pre = NULL;
	cleanup_free char *arch = NULL;
	cleanup_args struct args args = { 0 };
	struct apt_deb *deb;

	if (has_deb(debs, name))
		return 0;
	if (debs->n == DEBS_MAX)
		return error_set(err, EXIT_NO_VERDICT, "apt: %s: more than %d packages", name,
				 DEBS_MAX);
	args_start(&args, a, "apt-cache");
	args_add(&args, "show");
	args_add(&args, what);
	text = query(a, &args, err);
	if (!text)
		return -1;
	sha256 = field(text, "SHA256");
	size = field(text, "Size");
	arch = field(text, "Architecture");
	if (!sha256 || !size || !arch)
		return error_set(err, EXIT_NO_VERDICT,
				 "apt: the archive's index has no %s: a mirror in "
				 "the middle of an update; try again in a while",
				 what);
	debs->item = xreallocarray(debs->item, debs->n + 1, sizeof(*debs->item));
	deb = &debs->item[debs->n++];
	*deb = (struct apt_deb){ xstrdup(name), xstrdup(version), STEAL(arch), STEAL(sha256),
				 NULL, strtoull(size, NULL, 10) };
	depends = field(text, "Depends");
	pre = field(text, "Pre-Depends");
	if (add_depends(a, depends, version, debs, err) < 0)
		return -1;
	return add_depends(a, pre, version, debs, err);
}

int apt_split(struct apt *a, const struct apt_package *image, struct apt_debs *debs,
	      struct error *err)
{
	*debs = (struct apt_debs){ 0 };
	return add_deb(a, image->name, image->version, debs, err);
}

/* ---- download ---- */

/* apt's name for the file: an epoch's colon is written %3a. */
static char *deb_file(const struct apt_deb *d)
{
	const char *colon = strchr(d->version, ':');

	if (!colon)
		return str_printf("%s_%s_%s.deb", d->name, d->version, d->arch);
	return str_printf("%s_%.*s%%3a%s_%s.deb", d->name, (int)(colon - d->version), d->version,
			  colon + 1, d->arch);
}

static int check_deb(struct apt_deb *d, const char *dir, struct error *err)
{
	cleanup_free char *file = deb_file(d), *path = path_join(dir, file), *hash = NULL;
	struct stat st;

	if (stat(path, &st) < 0)
		return error_errno(err, EXIT_NO_VERDICT, "apt: %s was not downloaded", file);
	hash = hash_file(path, err);
	if (!hash)
		return -1;
	if ((uint64_t)st.st_size != d->bytes || strcmp(hash + strlen("sha256:"), d->sha256) != 0)
		return error_set(err, EXIT_NO_VERDICT,
				 "apt: %s is not what the signed index says; try "
				 "again, or another mirror",
				 file);
	d->path = STEAL(path);
	return 0;
}

/* Apt itself does not say that the disk is full, but what it could not do then. */
static int need_room(const char *dir, uint64_t bytes, struct error *err)
{
	struct statvfs fs;
	uint64_t room;

	if (statvfs(dir, &fs) < 0)
		return 0;
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (room >= bytes)
		return 0;
	error_set(err, EXIT_NO_VERDICT, "%s: %.0f MB to download, and %.0f MB are free there: No space left on device",
		  dir, (double)bytes / 1e6, (double)room / 1e6);
	return error_hint(err, "make room, or set XDG_CACHE_HOME to a folder on another disk");
}

int apt_download(struct apt *a, struct apt_debs *debs, const char *dir, struct error *err)
{
	cleanup_strbuf struct strbuf errors = STRBUF_INIT;
	cleanup_args struct args args = { 0 };
	cleanup_free char *text = NULL, **what = xcalloc(debs->n + 1, sizeof(*what));
	uint64_t bytes = 0;
	int status;

	args_start(&args, a, "apt-get");
	args_add(&args, "-qq");
	args_add(&args, "-o");
	args_add(&args, "APT::Status-Fd=1");
	args_add(&args, "download");
	for (size_t i = 0; i < debs->n; i++) {
		what[i] = str_printf("%s=%s", debs->item[i].name, debs->item[i].version);
		args_add(&args, what[i]);
		bytes += debs->item[i].bytes;
	}
	if (need_room(dir, bytes, err) < 0) {
		for (size_t i = 0; i < debs->n; i++)
			free(what[i]);
		return -1;
	}
	text = str_printf("%s %s, %llu MB", debs->item[0].name, debs->item[0].version,
			  (unsigned long long)(bytes + 500000) / 1000000);
	status = run_watched(a, &args, dir, text, &errors, err);
	for (size_t i = 0; i < debs->n; i++)
		free(what[i]);
	if (status < 0)
		return -1;
	if (status > 0) {
		cleanup_free char *why = apt_complaint(&errors);

		return error_set(err, EXIT_NO_VERDICT, "apt: cannot download: %s", why);
	}
	for (size_t i = 0; i < debs->n; i++)
		if (check_deb(&debs->item[i], dir, err) < 0)
			return -1;
	return 0;
}

void apt_debs_free(struct apt_debs *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->item[i].name);
		free(d->item[i].version);
		free(d->item[i].arch);
		free(d->item[i].sha256);
		free(d->item[i].path);
	}
	free(d->item);
	*d = (struct apt_debs){ 0 };
}
