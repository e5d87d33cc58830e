// SPDX-License-Identifier: GPL-2.0-only
/* Scenarios by name: where they are looked for, and the list of all. */
#include <string.h>

#include "harness/scenario/scenario_impl.h"
#include "results/counter.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

static bool metric_known(const char *name)
{
	return counter_find(name) != NULL;
}

struct scenario_tables scenario_tables_real(void)
{
	return (struct scenario_tables){ layout_steps,	 layout_step_count, workload_table,
					 workload_count, metric_known,	    counter_nearest };
}

bool scenario_is_path(const char *name)
{
	return str_ends(name, ".yaml") || str_ends(name, ".yml");
}

int scenario_load_path(const char *path, bool layout_only, struct scenario **s, struct error *err)
{
	size_t len = 0;
	cleanup_free char *text = file_read(path, NODE_BYTES_MAX + 1, &len, err);

	if (!text)
		return -1;
	return layout_only ? scenario_parse_layout(path, text, len, s, err) :
			     scenario_parse(path, text, len, s, err);
}

/* ---- the list ---- */

struct found {
	struct scenario_entry *entry;
	size_t n;
};

static void entry_free(struct scenario_entry *e)
{
	free(e->name);
	free(e->title);
	free(e->path);
	texts_free(e->kernel);
}

/* name: is the key that people use; a broken file is listed by its file's name, with its error. */
static void add_file(struct found *f, char *path)
{
	cleanup_error struct error err = ERROR_INIT;
	struct scenario *s = NULL;
	struct scenario_entry e = { .path = path };
	size_t nkernels;

	if (scenario_load_path(path, false, &s, &err) == 0) {
		const struct node *title = node_get(s->root, "title");

		e.name = xstrdup(node_get(s->root, "name")->text);
		e.title = xstrdup(title ? title->text : "");
		e.kernel = kernels_names(s, &nkernels);
		scenario_free(s);
	} else {
		const char *base = strrchr(path, '/');

		base = base ? base + 1 : path;
		e.name = xstrndup(base, strcspn(base, "."));
		e.title = str_printf("broken: %s", err.text);
	}
	for (size_t i = 0; i < f->n; i++) {
		if (strcmp(f->entry[i].name, e.name) == 0) { /* the earlier folder wins */
			entry_free(&e);
			return;
		}
	}
	f->entry = xreallocarray(f->entry, f->n + 1, sizeof(*f->entry));
	f->entry[f->n++] = e;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted, so that the order of the file system never shows. */
int folder_list(const char *dir, char ***path, size_t *n, struct error *err)
{
	cleanup_dir DIR *d = opendir(dir);
	const struct dirent *e;

	*path = NULL;
	*n = 0;
	if (!d)
		return error_errno(err, EXIT_USAGE, "%s: cannot be listed", dir);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		*path = xreallocarray(*path, *n + 1, sizeof(**path));
		(*path)[(*n)++] = path_join(dir, e->d_name);
	}
	if (*n)
		qsort(*path, *n, sizeof(**path), by_text);
	return 0;
}

static int scan(struct found *f, const char *dir, struct error *err)
{
	char **path;
	size_t n;

	if (folder_list(dir, &path, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (scenario_is_path(path[i]))
			add_file(f, xstrdup(path[i]));
		free(path[i]);
	}
	free(path);
	return 0;
}

/* What the folders of a folder hold; files between them are no scenarios. */
static int scan_shipped(struct found *f, const char *dir, struct error *err)
{
	char **path;
	size_t n;

	if (folder_list(dir, &path, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (!str_ends(path[i], "/" LAYOUTS_FOLDER))
			scan(f, path[i], NULL);
		free(path[i]);
	}
	free(path);
	return 0;
}

static int scan_own(struct found *f, struct error *err)
{
	const char *env = getenv("MMRIG_SCENARIOS");

	while (env && *env) {
		size_t len = strcspn(env, ":");
		cleanup_free char *dir = xstrndup(env, len);

		if (len && scan(f, dir, err) < 0)
			return error_hint(err, "see $MMRIG_SCENARIOS");
		env += len + (env[len] == ':');
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct scenario_entry *)a)->name,
		      ((const struct scenario_entry *)b)->name);
}

int scenario_list(struct scenario_entry **list, size_t *n, struct error *err)
{
	struct found f = { 0 };
	cleanup_free char *shipped = NULL;

	if (scan_own(&f, err) == 0)
		shipped = data_path("workloads", err);
	if (!shipped || scan_shipped(&f, shipped, err) < 0) {
		scenario_list_free(f.entry, f.n);
		return -1;
	}
	if (f.n)
		qsort(f.entry, f.n, sizeof(*f.entry), by_name);
	*list = f.entry;
	*n = f.n;
	return 0;
}

void scenario_list_free(struct scenario_entry *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		entry_free(&list[i]);
	free(list);
}

/* ---- one ---- */

static bool is_layout(const char *name)
{
	struct layout_entry *list;
	size_t n, i = 0;

	if (layout_list(&list, &n, NULL) < 0)
		return false;
	while (i < n && strcmp(list[i].name, name) != 0)
		i++;
	layout_list_free(list, n);
	return i < n;
}

static int unknown(const char *name, const struct scenario_entry *list, size_t n, struct error *err)
{
	cleanup_free const char **names = xcalloc(n, sizeof(*names));
	const char *nearest;

	if (is_layout(name)) {
		error_set(err, EXIT_USAGE, "\"%s\" is a layout and no scenario", name);
		return error_hint(err, "mmrig layout check %s builds it, and a scenario has it by layout: %s (or "
				       "--set layout=%s)", name, name, name);
	}
	for (size_t i = 0; i < n; i++)
		names[i] = list[i].name;
	nearest = str_nearest(name, names, n);
	if (nearest)
		return error_set(err, EXIT_USAGE, "unknown scenario \"%s\"; did you mean %s?", name,
				 nearest);
	return error_set(err, EXIT_USAGE,
			 "unknown scenario \"%s\"; `mmrig list scenarios` lists them, and a "
			 "path ends in .yaml",
			 name);
}

int scenario_load(const char *name_or_path, struct scenario **s, struct error *err)
{
	struct scenario_entry *list = NULL;
	size_t n = 0, i = 0;
	int ret;

	if (scenario_is_path(name_or_path))
		return scenario_load_path(name_or_path, false, s, err);
	if (scenario_list(&list, &n, err) < 0)
		return -1;
	while (i < n && strcmp(list[i].name, name_or_path) != 0)
		i++;
	ret = i < n ? scenario_load_path(list[i].path, false, s, err) : unknown(name_or_path, list, n, err);
	scenario_list_free(list, n);
	return ret;
}
