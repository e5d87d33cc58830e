// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "harness/build/kconfig_impl.h"
#include "harness/kernel/child.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define WORK_FOLDER "mmrig-config"
#define SPACE_MIN_BYTES (1 << 20)
#define SAID_LINES 4

/* ---- the folder ---- */

int kconfig_work_make(const struct kconfig_request *r, struct kconfig_work *w, struct error *err)
{
	w->src = realpath(r->src, NULL);
	if (!w->src)
		return error_errno(err, EXIT_USAGE, "%s", r->src);
	w->obj = realpath(r->obj, NULL);
	if (!w->obj)
		return error_errno(err, EXIT_NO_VERDICT, "%s", r->obj);
	w->dir = path_join(w->obj, WORK_FOLDER);
	w->asks = path_join(w->dir, "asks.config");
	w->result = path_join(w->dir, "result.config");
	return dir_remove(w->dir, err) < 0 ? -1 : dir_make(w->dir, 0755, err);
}

void kconfig_work_free(struct kconfig_work *w)
{
	free(w->dir);
	free(w->src);
	free(w->obj);
	free(w->asks);
	free(w->result);
	*w = (struct kconfig_work){ 0 };
}

/* ---- make ---- */

struct argv {
	char **item; /* NULL-terminated */
	size_t n;
};

static void argv_add(struct argv *a, char *item)
{
	a->item = xreallocarray(a->item, a->n + 2, sizeof(*a->item));
	a->item[a->n++] = item;
	a->item[a->n] = NULL;
}

static void argv_free(struct argv *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->item[i]);
	free(a->item);
}

/* What the caller's shell may hold for other builds, and make or the kernel's Makefile would heed. */
static bool is_of_other_builds(const char *variable)
{
	static const char *const prefix[] = { "MAKE",
					      "MFLAGS=",
					      "GNUMAKEFLAGS=",
					      "KBUILD_",
					      "KCONFIG_",
					      "CONFIG_",
					      "LLVM",
					      "ARCH=",
					      "SUBARCH=",
					      "SRCARCH=",
					      "CROSS_COMPILE",
					      "LOCALVERSION=",
					      "CC=",
					      "LD=",
					      "HOST",
					      "KCFLAGS=",
					      "KCPPFLAGS=",
					      "KAFLAGS=",
					      "O=",
					      "V=",
					      "W=",
					      "M=",
					      "C=",
					      "srctree=" };

	for (size_t i = 0; i < ARRAY_SIZE(prefix); i++)
		if (str_starts(variable, prefix[i]))
			return !str_starts(variable, "HOSTNAME=");
	return false;
}

static void argv_start(struct argv *a, const struct kconfig_request *r,
		       const struct kconfig_work *w)
{
	argv_add(a, xstrdup("env"));
	for (size_t i = 0; environ && environ[i]; i++)
		if (is_of_other_builds(environ[i])) {
			argv_add(a, xstrdup("-u"));
			argv_add(a, xstrndup(environ[i], strcspn(environ[i], "=")));
		}
	argv_add(a, xstrdup("make"));
	argv_add(a, xstrdup("-s"));
	argv_add(a, xstrdup("-C"));
	argv_add(a, xstrdup(w->src));
	argv_add(a, str_printf("O=%s", w->obj));
	for (size_t i = 0; r->make_arg && r->make_arg[i]; i++)
		argv_add(a, xstrdup(r->make_arg[i]));
}

/* The first lines that make said which are not mere warnings: what went wrong stands before "***". */
static char *first_said(const char *errors)
{
	struct strbuf sb = STRBUF_INIT;
	unsigned int lines = 0;

	for (const char *p = errors; p && *p && lines < SAID_LINES; p += *p == '\n') {
		size_t len = strcspn(p, "\n");
		cleanup_free char *line = xstrndup(p, len);

		p += len;
		if (*line && !strstr(line, "warning:"))
			strbuf_addf(&sb, "%s%s", lines++ ? "\n  " : "", line);
	}
	return strbuf_steal(&sb);
}

static int run_make(const struct argv *a, const char *target, struct error *err)
{
	cleanup_strbuf struct strbuf errors = STRBUF_INIT;
	cleanup_free char *said = NULL;
	int status = child_run((const char *const *)a->item, NULL, NULL, NULL, &errors, err);

	if (status <= 0)
		return status;
	if (status > 128)
		return error_set(err, EXIT_NO_VERDICT, "make %s: killed by signal %d", target,
				 status - 128);
	said = first_said(errors.data);
	return error_set(err, EXIT_NO_VERDICT, "make %s failed: %s", target,
			 *said ? said : "without a word");
}

/* The kernel's conf does not look whether its file could be written. */
static int check_space(const struct kconfig_work *w, struct error *err)
{
	struct statvfs st;

	if (statvfs(w->dir, &st) < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s", w->dir);
	if ((unsigned long long)st.f_bavail * st.f_frsize < SPACE_MIN_BYTES)
		return error_set(err, EXIT_NO_VERDICT, "%s: the disk is full", w->dir);
	return 0;
}

static int copy_asks(const struct kconfig_work *w, struct error *err)
{
	size_t len = 0;
	cleanup_free char *text = file_read(w->asks, 0, &len, err);

	return text ? file_write_atomic(w->result, text, len, 0644, err) : -1;
}

int kconfig_run(const struct kconfig_request *r, const struct kconfig_work *w, struct error *err)
{
	const char *target = r->base ? "olddefconfig" : "allnoconfig";
	__attribute__((cleanup(argv_free))) struct argv a = { 0 };

	if (r->base && copy_asks(w, err) < 0)
		return -1;
	argv_start(&a, r, w);
	argv_add(&a, str_printf("KCONFIG_CONFIG=%s", w->result));
	if (!r->base)
		argv_add(&a, str_printf("KCONFIG_ALLCONFIG=%s", w->asks));
	argv_add(&a, xstrdup(target));
	if (run_make(&a, target, err) < 0)
		return -1;
	return check_space(w, err);
}

/* ---- why ---- */

/*
 * A Kconfig file in place of the kernel's, whose reading starts the explainer in the environment in
 * which the kernel's would be read. Debian's kconfiglib belongs to /usr/bin/python3, which may not be
 * the first in PATH. The paths stand in variables, since commas and brackets mean something here.
 */
static const char why_kconfig[] =
	"mainmenu \"why\"\n"
	"why := $(shell,/usr/bin/python3 \"$MMRIG_WHY\" 2>\"$MMRIG_ERRORS\" || "
	"python3 \"$MMRIG_WHY\" 2>\"$MMRIG_ERRORS\")\n"
	"config MMRIG_WHY\n"
	"\tbool\n";

static char *variable_file(struct argv *a, const struct kconfig_work *w, const char *variable,
			   const char *name)
{
	char *path = path_join(w->dir, name);

	argv_add(a, str_printf("%s=%s", variable, path));
	return path;
}

static int ask_why(const struct kconfig_request *r, const struct kconfig_work *w,
		   const struct strbuf *asks, char **answer, char **errors, struct error *err)
{
	__attribute__((cleanup(argv_free))) struct argv a = { 0 };
	cleanup_free char *script = data_path("harness/build/kconfig-why.py", err);
	cleanup_free char *kconfig = NULL, *ask_path = NULL, *answer_path = NULL,
			  *error_path = NULL;
	cleanup_free char *unused = NULL;

	if (!script)
		return -1;
	argv_start(&a, r, w);
	kconfig = variable_file(&a, w, "KBUILD_KCONFIG", "why.Kconfig");
	ask_path = variable_file(&a, w, "MMRIG_ASKS", "why.asks");
	answer_path = variable_file(&a, w, "MMRIG_ANSWER", "why.answer");
	error_path = variable_file(&a, w, "MMRIG_ERRORS", "why.errors");
	unused = variable_file(&a, w, "KCONFIG_CONFIG", "why.config");
	argv_add(&a, str_printf("MMRIG_RESULT=%s", w->result));
	argv_add(&a, str_printf("MMRIG_WHY=%s", script));
	argv_add(&a, xstrdup("allnoconfig"));
	if (file_write_atomic(kconfig, why_kconfig, strlen(why_kconfig), 0644, err) < 0 ||
	    file_write_atomic(ask_path, asks->data, asks->len, 0644, err) < 0 ||
	    run_make(&a, "allnoconfig", err) < 0)
		return -1;
	*answer = file_read(answer_path, 0, NULL, NULL);
	*errors = file_read(error_path, 0, NULL, NULL);
	return 0;
}

/* "SYMBOL<tab>TEXT" lines; symbols are settled, and so stand once. */
static char *answer_of(const char *answer, const char *symbol)
{
	cleanup_free char *start = str_printf("%s\t", symbol);

	for (const char *p = answer; p && *p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (str_starts(p, start))
			return xstrndup(p + strlen(start), strcspn(p + strlen(start), "\n"));
	}
	return NULL;
}

void kconfig_explain(const struct kconfig_request *r, const struct kconfig_work *w,
		     const struct kconfig_ask *const *asks, size_t n, char **text, char **hint)
{
	cleanup_strbuf struct strbuf lines = STRBUF_INIT;
	cleanup_free char *answer = NULL, *errors = NULL;

	*hint = NULL;
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&lines, "%s=%s\n", asks[i]->symbol, asks[i]->value);
	if (!n || ask_why(r, w, &lines, &answer, &errors, NULL) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		text[i] = answer_of(answer, asks[i]->symbol);
	if (!answer && errors && (strstr(errors, "kconfiglib'") || strstr(errors, "not found")))
		*hint = xstrdup("to be told why, install python3-kconfiglib");
}
