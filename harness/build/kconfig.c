// SPDX-License-Identifier: GPL-2.0-only
#include "harness/build/kconfig.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/build/kconfig_impl.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define SUFFIX ".config"
#define BASE "base"

/* ---- fragments ---- */

static char *shipped_path(const char *name, struct error *err)
{
	cleanup_free char *folder = data_path(KCONFIG_FOLDER, err);

	return folder ? str_printf("%s/%s" SUFFIX, folder, name) : NULL;
}

char *kconfig_base_path(struct error *err)
{
	return shipped_path(BASE, err);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **kconfig_names(void)
{
	cleanup_free char *folder = data_path(KCONFIG_FOLDER, NULL);
	cleanup_dir DIR *d = folder ? opendir(folder) : NULL;
	char **names = xcalloc(1, sizeof(*names));
	struct dirent *e;
	size_t n = 0;

	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.' || !str_ends(e->d_name, SUFFIX) ||
		    !strcmp(e->d_name, BASE SUFFIX))
			continue;
		names = xreallocarray(names, n + 2, sizeof(*names));
		names[n++] = xstrndup(e->d_name, strlen(e->d_name) - strlen(SUFFIX));
		names[n] = NULL;
	}
	qsort(names, n, sizeof(*names), by_text);
	return names;
}

static void free_names(char ***names)
{
	for (size_t i = 0; *names && (*names)[i]; i++)
		free((*names)[i]);
	free(*names);
}

static void name_is_unknown(const char *name, char *const *names, struct error *err)
{
	cleanup_strbuf struct strbuf all = STRBUF_INIT;
	const char *nearest;
	size_t n = 0;

	for (; names[n]; n++)
		strbuf_addf(&all, "%s%s", n ? ", " : "", names[n]);
	nearest = str_nearest(name, (const char *const *)names, n);
	error_set(err, EXIT_USAGE, "no config fragment is named \"%s\"", name);
	if (nearest)
		error_hint(err, "did you mean %s?", nearest);
	else
		error_hint(err, "there are %s; a file is given with its folder, as ./my.config",
			   n ? all.data : "none");
}

char *kconfig_find(const char *name, struct error *err)
{
	__attribute__((cleanup(free_names))) char **names = NULL;
	struct stat st;

	if (strchr(name, '/') || str_ends(name, SUFFIX)) {
		if (stat(name, &st) < 0)
			return error_errno(err, EXIT_USAGE, "%s", name), NULL;
		if (!S_ISREG(st.st_mode))
			return error_set(err, EXIT_USAGE, "%s: not a regular file", name), NULL;
		return xstrdup(name);
	}
	names = kconfig_names();
	for (size_t i = 0; names[i]; i++)
		if (!strcmp(names[i], name))
			return shipped_path(name, err);
	name_is_unknown(name, names, err);
	return NULL;
}

/* ---- the config ---- */

/* A .config that is only touched would have everything built anew. */
static int install(const struct kconfig_work *w, struct error *err)
{
	size_t len = 0, old_len = 0;
	cleanup_free char *path = path_join(w->obj, ".config");
	cleanup_free char *text = file_read(w->result, 0, &len, err);
	cleanup_free char *old = file_read(path, 0, &old_len, NULL);

	if (!text)
		return -1;
	if (old && old_len == len && !memcmp(old, text, len))
		return 0;
	return file_write_atomic(path, text, len, 0644, err);
}

int kconfig_make(const struct kconfig_request *r, struct error *err)
{
	cleanup_asks struct kconfig_asks asks = { 0 };
	cleanup_work struct kconfig_work work = { 0 };
	cleanup_free char *text = NULL;

	if (kconfig_asks_read(&asks, r->base, r->fragment, NULL, err) < 0 ||
	    kconfig_work_make(r, &work, err) < 0)
		return -1;
	text = kconfig_asks_text(&asks);
	if (file_write_atomic(work.asks, text, strlen(text), 0644, err) < 0 ||
	    kconfig_run(r, &work, err) < 0 || kconfig_check(r, &work, &asks, err) < 0 ||
	    install(&work, err) < 0)
		return -1;
	return dir_remove(work.dir, err);
}
