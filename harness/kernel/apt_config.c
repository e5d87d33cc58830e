// SPDX-License-Identifier: GPL-2.0-only
/* The private configuration of apt, and the mirror. */
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "harness/kernel/apt.h"
#include "harness/kernel/child.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define KEYRING "/usr/share/keyrings/debian-archive-keyring.gpg"
#define INDEX_SECONDS (24 * 3600)

/*
 * Suites are named by code name: mirrors that cache by path were seen with a month-old
 * stable-backports beside a fresh trixie-backports. The code names come from the smallest suite of
 * each release. The order is that of preference where two suites have the same version.
 */
static const struct {
	const char *alias;
	const char *suffix[4];
} releases[] = {
	{ "stable", { "", "-updates", "-backports" } },
	{ "testing", { "" } },
	{ "oldstable", { "", "-updates", "-backports" } },
};
static const char *const fixed_suites[] = { "sid", "experimental" };
#define SMALL_SUITE "-updates"

static void collect_line(void *arg, const char *text)
{
	strbuf_addf(arg, "%s\n", text);
}

static bool ends_as_archive(const char *uri, const char *label)
{
	return str_ends(uri, strcmp(label, "Debian") == 0 ? "/debian/" : "/debian-security/");
}

char *apt_pick_mirror(const char *lines, const char *label)
{
	cleanup_free char *guess = NULL;

	while (lines && *lines) {
		size_t n = strcspn(lines, "\n");
		cleanup_free char *line = xstrndup(lines, n);
		char *first = strchr(line, '|'), *second = first ? strchr(first + 1, '|') : NULL;

		lines += n + (lines[n] == '\n');
		if (!second)
			continue;
		*first = *second = '\0';
		if (!strcmp(line, "Debian") && !strcmp(first + 1, label))
			return xstrdup(second + 1);
		if (!guess && !*line && ends_as_archive(second + 1, label))
			guess = xstrdup(second + 1);
	}
	return STEAL(guess);
}

/* A value that apt lacks is printed as the placeholder itself. */
static void drop_placeholders(char *text)
{
	char *p;

	while ((p = strstr(text, "$("))) {
		size_t n = strcspn(p, ")\n");

		n += p[n] == ')';
		memmove(p, p + n, strlen(p + n) + 1);
	}
}

char *apt_targets(const char *const *options, const char *format, struct error *err)
{
	const char *argv[16] = { "apt-get" };
	cleanup_strbuf struct strbuf out = STRBUF_INIT, errors = STRBUF_INIT;
	size_t n = 1;

	while (options && *options && n < ARRAY_SIZE(argv) - 5)
		argv[n++] = *options++;
	argv[n++] = "indextargets";
	argv[n++] = "--format";
	argv[n++] = format;
	argv[n++] = "Created-By: Packages";
	if (child_run(argv, NULL, collect_line, &out, &errors, err) < 0) {
		error_hint(
			err,
			"Debian's kernels are fetched with apt; give the path of an image instead");
		return NULL;
	}
	strbuf_add(&out, "", 0);
	if (out.data)
		drop_placeholders(out.data);
	return xstrdup(out.data ? out.data : "");
}

static int check_word(const char *what, const char *text, const char *bad, struct error *err)
{
	if (*text && !strpbrk(text, bad))
		return 0;
	return error_set(err, EXIT_USAGE, "%s \"%s\": cannot be given to apt", what, text);
}

static int find_mirrors(struct apt *a, const char *mirror, struct error *err)
{
	static const char bad[] = " \t\n[]#\"";
	cleanup_free char *lines = NULL;

	if (mirror) {
		a->archive = xstrdup(mirror);
		return check_word("mirror", mirror, bad, err);
	}
	lines = apt_targets(NULL, "$(ORIGIN)|$(LABEL)|$(REPO_URI)", err);
	if (!lines)
		return -1;
	a->archive = apt_pick_mirror(lines, "Debian");
	a->security = apt_pick_mirror(lines, "Debian-Security");
	if (!a->archive)
		return error_set(err, EXIT_NO_VERDICT,
				 "apt: this host has no Debian archive among its "
				 "sources; name one with --mirror URI");
	if (a->security && check_word("mirror", a->security, bad, err) < 0)
		return -1;
	return check_word("mirror", a->archive, bad, err);
}

static void add_suite(struct strbuf *sb, const char *uri, const char *release, const char *suffix)
{
	strbuf_addf(sb, "deb [signed-by=" KEYRING " arch=amd64 target=Packages] %s %s%s main\n",
		    uri, release, suffix);
}

/* ---- code names ---- */

char *apt_codename(const char *lines)
{
	for (const char *p = lines; p && *p;) {
		cleanup_free char *line = xstrndup(p, strcspn(p, "\n"));

		if (str_ends(line, SMALL_SUITE) && strlen(line) > strlen(SMALL_SUITE))
			return xstrndup(line, strlen(line) - strlen(SMALL_SUITE));
		p += strlen(line);
		p += *p == '\n';
	}
	return NULL;
}

/* The code name of "stable" by the Release file of stable-updates, or the alias itself. Heap. */
static char *find_codename(const struct apt *a, const char *alias, struct error *err)
{
	cleanup_free char *dir = str_printf("%s/names/%s", a->dir, alias),
			  *list = path_join(dir, "list");
	cleanup_free char *lists = path_join(dir, "lists"), *partial = path_join(lists, "partial");
	cleanup_free char *set_list = str_printf("Dir::Etc::sourcelist=%s", list);
	cleanup_free char *set_lists = str_printf("Dir::State::lists=%s", lists);
	/*
	 * A Release file past its date (seen on mirrors that cache by path) is still signed, and still
	 * tells the name. Packages are only taken from files that apt accepts as fresh.
	 */
	const char *const argv[] = { "apt-get", "--config-file", a->config, "-o", set_list, "-o", set_lists,
				     "-o", "Acquire::Check-Valid-Until=false", "-qq", "update", NULL };
	const char *const options[] = { "--config-file", a->config, "-o", set_list, "-o",
					set_lists,	 NULL };
	cleanup_strbuf struct strbuf text = STRBUF_INIT, errors = STRBUF_INIT;
	cleanup_free char *lines = NULL;
	char *name;

	add_suite(&text, a->archive, alias, SMALL_SUITE);
	if (dir_make(partial, 0755, err) < 0 ||
	    file_write_atomic(list, text.data, text.len, 0644, err) < 0 ||
	    child_run(argv, NULL, NULL, NULL, &errors, err) < 0)
		return NULL;
	lines = apt_targets(options, "$(CODENAME)", err);
	if (!lines)
		return NULL;
	name = apt_codename(lines);
	return name ? name : xstrdup(alias);
}

int apt_write_sources(struct apt *a, struct error *err)
{
	cleanup_free char *path = path_join(a->dir, "sources.list");
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(releases); i++) {
		cleanup_free char *name = find_codename(a, releases[i].alias, err);

		if (!name)
			return -1;
		for (const char *const *s = releases[i].suffix; *s; s++)
			add_suite(&sb, a->archive, name, *s);
		if (a->security && strcmp(releases[i].alias, "testing") != 0)
			add_suite(&sb, a->security, name, "-security");
	}
	for (size_t i = 0; i < ARRAY_SIZE(fixed_suites); i++)
		add_suite(&sb, a->archive, fixed_suites[i], "");
	return file_write_atomic(path, sb.data, sb.len, 0644, err);
}

/* ---- configuration ---- */

/*
 * Read after the host's files (--config-file, not APT_CONFIG, which comes before them): its hooks
 * would clean the host's archives after our update.
 */
static void make_config(const char *dir, struct strbuf *sb)
{
	static const char *const cleared[] = { "APT::Update",	     "DPkg",
					       "APT::Architectures", "Acquire::Languages",
					       "Dir::State",	     "Dir::Cache" };
	static const char *const empty[] = { "sourceparts", "preferences", "preferencesparts" };

	for (size_t i = 0; i < ARRAY_SIZE(cleared); i++)
		strbuf_addf(sb, "#clear %s;\n", cleared[i]);
	strbuf_addf(sb, "Dir::State \"%s/state\";\nDir::State::lists \"%s/state/lists\";\n", dir,
		    dir);
	strbuf_addf(sb, "Dir::State::status \"%s/status\";\n", dir);
	strbuf_addf(sb, "Dir::Cache \"%s/cache\";\nDir::Cache::archives \"%s/cache/archives\";\n",
		    dir, dir);
	strbuf_addf(sb, "Dir::Cache::pkgcache \"%s/cache/pkgcache.bin\";\n", dir);
	strbuf_addf(sb, "Dir::Cache::srcpkgcache \"\";\n");
	strbuf_addf(sb, "Dir::Etc::sourcelist \"%s/sources.list\";\n", dir);
	for (size_t i = 0; i < ARRAY_SIZE(empty); i++)
		strbuf_addf(sb, "Dir::Etc::%s \"/dev/null\";\n", empty[i]);
	strbuf_adds(sb, "APT::Architecture \"amd64\";\nAPT::Architectures { \"amd64\"; };\n"
			"APT::Default-Release \"\";\n"
			"Acquire::Languages \"none\";\nAcquire::PDiffs \"false\";\n"
			"Acquire::Retries \"2\";\nAcquire::http::Timeout \"30\";\n"
			/* "stable" changes its code name every other year. */
			"Acquire::AllowReleaseInfoChange \"true\";\n"
			"APT::Get::Assume-Yes \"true\";\n");
	/* As root, apt fetches as _apt, who cannot write to a folder in root's cache. */
	if (geteuid() == 0)
		strbuf_adds(sb, "APT::Sandbox::User \"root\";\n");
}

static int make_folders(const char *dir, struct error *err)
{
	static const char *const names[] = { "state/lists/partial", "cache/archives/partial" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_free char *path = path_join(dir, names[i]);

		if (dir_make(path, 0755, err) < 0)
			return -1;
	}
	return 0;
}

static bool is_same(const char *path, const char *text)
{
	cleanup_free char *old = file_read(path, 0, NULL, NULL);

	return old && !strcmp(old, text);
}

/* The index of another mirror is worth nothing. */
static int note_mirror(const struct apt *a, const char *stamp, struct error *err)
{
	cleanup_free char *path = path_join(a->dir, "mirror");
	cleanup_free char *text =
		str_printf("%s\n%s\n", a->archive, a->security ? a->security : "");

	if (is_same(path, text))
		return 0;
	unlink(stamp);
	return file_write_atomic(path, text, strlen(text), 0644, err);
}

static int write_files(struct apt *a, struct error *err)
{
	cleanup_strbuf struct strbuf config = STRBUF_INIT;
	cleanup_free char *status = path_join(a->dir, "status");
	cleanup_free char *stamp = path_join(a->dir, "fetched");
	struct stat st;

	make_config(a->dir, &config);
	if (note_mirror(a, stamp, err) < 0)
		return -1;
	a->stale = stat(stamp, &st) < 0 || st.st_mtime + INDEX_SECONDS < time(NULL) ||
		   st.st_mtime > time(NULL) + INDEX_SECONDS;
	if (file_write_atomic(status, "", 0, 0644, err) < 0)
		return -1;
	return file_write_atomic(a->config, config.data, config.len, 0644, err);
}

int apt_open(struct apt *a, const char *mirror, apt_progress *progress, void *arg,
	     struct error *err)
{
	*a = (struct apt){ .progress = progress, .progress_arg = arg };
	if (!file_exists(KEYRING))
		return error_set(err, EXIT_NO_VERDICT,
				 KEYRING ": not there, so nothing can be verified; "
					 "install the package debian-archive-keyring");
	a->dir = cache_dir("apt", err);
	if (!a->dir)
		return -1;
	a->config = path_join(a->dir, "apt.conf");
	if (check_word("cache folder", a->dir, "\"\n\\", err) < 0 ||
	    find_mirrors(a, mirror, err) < 0 || make_folders(a->dir, err) < 0)
		return -1;
	return write_files(a, err);
}

void apt_close(struct apt *a)
{
	free(a->dir);
	free(a->config);
	free(a->archive);
	free(a->security);
	*a = (struct apt){ 0 };
}
