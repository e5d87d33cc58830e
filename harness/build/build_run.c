// SPDX-License-Identifier: GPL-2.0-only
/* make: its arguments, its environment, how far it is, and why it failed. */
#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/statvfs.h>

#include "harness/build/build_impl.h"
#include "harness/kernel/child.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

/* Any time will do; uname -v shows it. */
#define TIMESTAMP "Thu Jan  1 00:00:00 UTC 1970"
#define STEPS_PER_TELL 100
#define STEPS "steps" /* beside obj-*: of the last build from nothing; in obj: so far */
#define CCACHE_ROOM "5G"

void words_add(struct words *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	w->item = xreallocarray(w->item, w->n + 2, sizeof(*w->item));
	w->item[w->n++] = str_vprintf(fmt, ap);
	w->item[w->n] = NULL;
	va_end(ap);
}

void words_free(struct words *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->item[i]);
	free(w->item);
	*w = (struct words){ NULL, 0 };
}


/* ---- the command ---- */

static unsigned int jobs(const struct build *b)
{
	cpu_set_t set;

	if (b->r->jobs)
		return b->r->jobs;
	/* EINVAL where the host has more CPUs than the set holds. */
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	return (unsigned int)CPU_COUNT(&set);
}

static void add_common(struct words *w)
{
	words_add(w, "ARCH=x86");
	words_add(w, "LOCALVERSION="); /* set, though empty: no "+" for a tree that is no release */
}

void build_config_args(const struct build *b, struct words *w)
{
	add_common(w);
	words_add(w, "CC=%s", b->tools.cc);
}

/*
 * ccache makes paths below its base relative to obj, so that a source is known by two names. All
 * three are mapped to what the kernel itself calls its files.
 */
static void add_prefix_maps(const struct build *b, struct words *w)
{
	if (b->tools.prefix_map)
		words_add(w,
			  "KCPPFLAGS=-ffile-prefix-map=%s/= -ffile-prefix-map=../src/= "
			  "-ffile-prefix-map=%s=.",
			  b->source.src, b->obj);
	else
		words_add(w, "KCPPFLAGS=");
}

static void add_make(const struct build *b, struct words *w)
{
	words_add(w, "make");
	words_add(w, "--no-print-directory");
	words_add(w, "-C");
	words_add(w, "%s", b->source.src);
	words_add(w, "O=%s", b->obj);
	words_add(w, "-j%u", jobs(b));
	add_common(w);
	words_add(w, "CC=%s%s", b->tools.ccache ? "ccache " : "", b->tools.cc);
	words_add(w, "KBUILD_BUILD_TIMESTAMP=" TIMESTAMP);
	words_add(w, "KBUILD_BUILD_USER=mmrig");
	words_add(w, "KBUILD_BUILD_HOST=mmrig");
	words_add(w, "KBUILD_BUILD_VERSION=1");
	words_add(w, "KCFLAGS=%s", b->r->align ? "-falign-functions=64" : "");
	words_add(w, "KAFLAGS=");
	add_prefix_maps(b, w);
}

static void add_inherited(struct words *w, const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	if (!value || !*value)
		value = otherwise;
	if (value)
		words_add(w, "%s=%s", name, value);
}

/*
 * Nothing of the user's but what programs are found by: MAKEFLAGS, KBUILD_*, CC, O and their kin would
 * change what is built. Generated headers are newer than the compiler's start, which ccache
 * distrusts unless told. make's own lists of headers (CCACHE_DEPEND) save it a run of the preprocessor a
 * file: without, a build from nothing took a third more CPU than one without ccache.
 */
static int add_environment(const struct build *b, struct words *w, struct error *err)
{
	cleanup_free char *ccache = cache_dir("ccache", err);

	if (!ccache)
		return -1;
	add_inherited(w, "PATH", "/usr/local/bin:/usr/bin:/bin");
	add_inherited(w, "HOME", b->source.dir);
	add_inherited(w, "TMPDIR", NULL);
	add_inherited(w, "LD_LIBRARY_PATH", NULL);
	words_add(w, "LC_ALL=C");
	words_add(w, "TZ=UTC");
	words_add(w, "GIT_CEILING_DIRECTORIES=%s", b->source.dir);
	words_add(w, "CCACHE_DIR=%s", ccache);
	words_add(w, "CCACHE_TEMPDIR=%s/tmp", ccache); /* else in the user's run-time folder */
	words_add(w, "CCACHE_BASEDIR=%s", b->source.dir);
	words_add(w, "CCACHE_COMPILERCHECK=content");
	words_add(w, "CCACHE_DEPEND=1");
	words_add(w, "CCACHE_SLOPPINESS=include_file_mtime,include_file_ctime,time_macros");
	words_add(w, "CCACHE_MAXSIZE=" CCACHE_ROOM);
	return 0;
}

/* ---- progress ---- */

struct watch {
	const struct build *b;
	FILE *log;
	bool silent;
	bool from_nothing;	    /* else how little is to be built anew cannot be told */
	unsigned long steps, total; /* total 0: not known */
};

static unsigned long read_steps(const char *path)
{
	cleanup_free char *text = file_read(path, 64, NULL, NULL);

	return text ? strtoul(text, NULL, 10) : 0;
}

static void write_steps(const char *path, unsigned long steps)
{
	cleanup_free char *text = str_printf("%lu\n", steps);

	file_write_atomic(path, text, strlen(text), 0644, NULL);
}

/* "  CC      mm/compaction.o" */
static bool is_step(const char *line)
{
	return line[0] == ' ' && line[1] == ' ' && isupper((unsigned char)line[2]);
}

static void tell_step(struct watch *w)
{
	if (w->total) {
		double percent = 100.0 * (double)w->steps / (double)w->total;

		build_tell(w->b, percent < 99 ? percent : 99, "building %s", w->b->name);
	} else if (w->steps % STEPS_PER_TELL == 0) {
		build_tell(w->b, -1, "building %s: %lu steps done", w->b->name, w->steps);
	}
}

static void take_line(void *arg, const char *line)
{
	struct watch *w = arg;

	fprintf(w->log, "%s\n", line);
	if (w->silent || !is_step(line))
		return;
	w->steps++;
	tell_step(w);
}

/* ---- failure ---- */

static int disk_full(const struct build *b, struct error *err)
{
	struct statvfs fs;
	double mib = 0;

	if (statvfs(b->source.dir, &fs) == 0)
		mib = (double)fs.f_bavail * (double)fs.f_frsize / (1 << 20);
	error_set(err, EXIT_NO_VERDICT, "%s: the disk is full: %.0f MiB are free at %s", b->name, mib,
		  b->source.dir);
	return error_hint(err, "make room, and the same command goes on where it stopped; the log is %s",
			  b->log);
}

/* Files of the source are known by their names in it, not by where we keep it. */
static void strip(char *text, const char *prefix)
{
	size_t len = strlen(prefix);
	char *to = text;

	for (const char *from = text; *from;) {
		if (strncmp(from, prefix, len) == 0)
			from += len;
		else
			*to++ = *from++;
	}
	*to = '\0';
}

/* Heap, or NULL. */
static char *read_log(const struct build *b)
{
	cleanup_free char *src = str_printf("%s/", b->source.src);
	char *log = file_read(b->log, 0, NULL, NULL);

	if (log) {
		strip(log, src);
		strip(log, "../src/");
	}
	return log;
}

static int build_failed(const struct build *b, int status, struct error *err)
{
	cleanup_free char *log = read_log(b), *line = NULL, *lines = NULL;
	cleanup_free char *missing = NULL, *newer = toolchain_too_new(&b->tools, b->source.version);

	if (log && build_is_disk_full(log))
		return disk_full(b, err);
	lines = log ? build_first_error(log, &line) : NULL;
	if (lines)
		error_set(err, EXIT_NO_VERDICT, "%s: the build failed:\n%s\nthe whole log is %s", b->name,
			  lines, b->log);
	else if (status > 128)
		error_set(err, EXIT_NO_VERDICT, "%s: make was killed by signal %d; its log is %s",
			  b->name, status - 128, b->log);
	else
		error_set(err, EXIT_NO_VERDICT, "%s: make failed with status %d; its log is %s", b->name,
			  status, b->log);
	missing = line ? toolchain_missing(line) : NULL;
	if (missing)
		error_hint(err, "%s", missing);
	if (line && strstr(line, "Killed signal"))
		error_hint(err, "the host ran out of memory: -j 1 takes less");
	if (newer)
		error_hint(err, "%s", newer);
	return -1;
}

/* ---- running it ---- */

/* -1 and an error, or make's exit status. */
static int run(struct watch *w, const struct words *argv, bool *clean, struct error *err)
{
	cleanup_words struct words env = { 0 };
	int status;

	if (add_environment(w->b, &env, err) < 0)
		return -1;
	status = child_run_group((const char *const *)argv->item, (const char *const *)env.item,
				 take_line, w, clean, err);
	if (status < 0 && err && err->status == EXIT_INTERRUPTED)
		return error_hint(err, "%s", BUILD_GOES_ON);
	return status;
}

static int open_log(struct watch *w, const char *mode, struct error *err)
{
	w->log = fopen(w->b->log, mode);
	if (!w->log)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot create", w->b->log);
	return 0;
}

/* make's status, or what else went wrong. */
static int finish(struct watch *w, int status, struct error *err)
{
	bool full = ferror(w->log) != 0;

	full |= fclose(w->log) != 0;
	if (status < 0)
		return -1;
	if (status > 0)
		return full ? disk_full(w->b, err) : build_failed(w->b, status, err);
	return 0;
}

/* Of a build from nothing, which may have been begun by an earlier one. */
static void steps_begin(struct watch *w)
{
	cleanup_free char *image = path_join(w->b->obj, "arch/x86/boot/bzImage");
	cleanup_free char *so_far = path_join(w->b->obj, "." STEPS);
	cleanup_free char *all = path_join(w->b->source.dir, STEPS);

	w->from_nothing = !file_exists(image);
	if (!w->from_nothing)
		return;
	w->steps = read_steps(so_far);
	w->total = read_steps(all);
}

static void steps_end(const struct watch *w, bool whole)
{
	cleanup_free char *so_far = path_join(w->b->obj, "." STEPS);
	cleanup_free char *all = path_join(w->b->source.dir, STEPS);

	if (!w->from_nothing)
		return;
	write_steps(whole ? all : so_far, w->steps);
	if (whole)
		unlink(so_far);
}

bool build_has_modules(const char *text)
{
	for (const char *p = text; (p = strstr(p, "=m\n")); p++) {
		const char *start = p;

		while (start > text && start[-1] != '\n')
			start--;
		if (str_starts(start, "CONFIG_"))
			return true;
	}
	return false;
}

static int add_targets(const struct build *b, struct words *w, struct error *err)
{
	cleanup_free char *config = path_join(b->obj, ".config"), *text = NULL;

	text = file_read(config, 0, NULL, err);
	if (!text)
		return -1;
	words_add(w, "bzImage");
	if (build_has_modules(text))
		words_add(w, "modules");
	return 0;
}

int build_make(const struct build *b, struct error *err)
{
	cleanup_words struct words argv = { 0 };
	struct watch w = { .b = b };
	bool clean = true;
	int ret;

	add_make(b, &argv);
	if (add_targets(b, &argv, err) < 0 || open_log(&w, "we", err) < 0)
		return -1;
	steps_begin(&w);
	build_tell(b, w.total ? 0 : -1, "building %s", b->name);
	ret = finish(&w, run(&w, &argv, &clean, err), err);
	steps_end(&w, ret == 0);
	if (clean && build_obj_end(b->obj, ret < 0 ? NULL : err) < 0)
		return -1;
	return ret;
}

int build_install_modules(const struct build *b, const char *dir, struct error *err)
{
	cleanup_words struct words argv = { 0 };
	struct watch w = { .b = b, .silent = true };
	bool clean;

	add_make(b, &argv);
	words_add(&argv, "INSTALL_MOD_PATH=%s", dir);
	words_add(&argv, "INSTALL_MOD_STRIP=1");
	words_add(&argv, "DEPMOD=/bin/true"); /* tree_finish() does it */
	words_add(&argv, "modules_install");
	if (open_log(&w, "ae", err) < 0)
		return -1;
	build_tell(b, -1, "installing the modules of %s", b->name);
	return finish(&w, run(&w, &argv, &clean, err), err);
}
