// SPDX-License-Identifier: GPL-2.0-only
/* Named layouts: workloads/layouts/NAME.yaml, or NAME.yaml in a folder of $MMRIG_LAYOUTS. */
#include <string.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

/* ---- the files ---- */

/* Of the guest a layout says no more than what it cannot stand without. */
static int check_layout_vm(const struct node *vm, struct error *err)
{
	static const char *const keys[] = { "cma" };

	if (vm->kind != NODE_MAP)
		return node_error(err, vm, "vm must be a map such as {cma: 64M}, not %s", node_kind_name(vm));
	for (size_t i = 0; i < vm->n; i++) {
		if (strcmp(vm->key[i]->text, "cma") != 0)
			return node_unknown(err, vm->key[i], "key of a layout's vm", keys, ARRAY_SIZE(keys));
		if (vm->value[i]->kind != NODE_SCALAR || !*vm->value[i]->text)
			return node_error(err, vm->value[i], "cma must be text, not %s",
					  node_kind_name(vm->value[i]));
	}
	return 0;
}

static int check_file(const struct node *root, struct error *err)
{
	static const char *const keys[] = { "name", "title", "vm", "constants", "layout" };
	const struct node *name = node_get(root, "name"), *layout = node_get(root, "layout");
	const struct node *constants = node_get(root, "constants"), *title = node_get(root, "title");
	const struct node *vm = node_get(root, "vm");

	for (size_t i = 0; i < root->n; i++) {
		size_t k = 0;

		while (k < ARRAY_SIZE(keys) && strcmp(keys[k], root->key[i]->text) != 0)
			k++;
		if (k == ARRAY_SIZE(keys))
			return node_unknown(err, root->key[i], "key of a layout", keys, ARRAY_SIZE(keys));
	}
	if (!name || name->kind != NODE_SCALAR || !*name->text)
		return node_error(err, name ? name : root, "name: must be text");
	if (vm && check_layout_vm(vm, err) < 0)
		return -1;
	if (title && title->kind != NODE_SCALAR)
		return node_error(err, title, "title must be text, not %s", node_kind_name(title));
	if (!layout || layout->kind != NODE_LIST)
		return node_error(err, layout ? layout : root, "layout: must be a list of steps");
	if (constants && constants->kind != NODE_MAP)
		return node_error(err, constants, "constants must be a map of names to numbers, not %s",
				  node_kind_name(constants));
	return 0;
}

int layout_load(const char *path, struct node **root, struct error *err)
{
	size_t len = 0;
	cleanup_free char *text = file_read(path, NODE_BYTES_MAX + 1, &len, err);
	cleanup_node struct node *made = NULL;

	if (!text || node_parse(path, text, len, &made, err) < 0 || check_file(made, err) < 0)
		return -1;
	*root = STEAL(made);
	return 0;
}

/* ---- the list ---- */

struct found {
	struct layout_entry *entry;
	size_t n;
};

static void entry_free(struct layout_entry *e)
{
	free(e->name);
	free(e->title);
	free(e->constants);
	free(e->path);
}

static char *constants_text(const struct node *constants)
{
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; constants && i < constants->n; i++)
		strbuf_addf(&sb, "%s%s=%s", i ? ", " : "", constants->key[i]->text,
			    constants->value[i]->kind == NODE_SCALAR ? constants->value[i]->text : "?");
	return strbuf_steal(&sb);
}

/* A broken file is listed by its file's name, with its error. */
static void add_file(struct found *f, char *path)
{
	cleanup_error struct error err = ERROR_INIT;
	cleanup_node struct node *root = NULL;
	struct layout_entry e = { .path = path };
	const char *base = strrchr(path, '/') + 1;

	if (layout_load(path, &root, &err) == 0) {
		const struct node *title = node_get(root, "title");

		e.name = xstrdup(node_get(root, "name")->text);
		e.title = xstrdup(title ? title->text : "");
		e.constants = constants_text(node_get(root, "constants"));
	} else {
		e.name = xstrndup(base, strcspn(base, "."));
		e.title = str_printf("broken: %s", err.text);
		e.constants = xstrdup("");
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

static int scan(struct found *f, const char *dir, struct error *err)
{
	char **path;
	size_t n;

	if (folder_list(dir, &path, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (str_ends(path[i], ".yaml") || str_ends(path[i], ".yml"))
			add_file(f, xstrdup(path[i]));
		free(path[i]);
	}
	free(path);
	return 0;
}

static int scan_all(struct found *f, struct error *err)
{
	const char *env = getenv("MMRIG_LAYOUTS");
	cleanup_free char *shipped = NULL;

	while (env && *env) {
		size_t len = strcspn(env, ":");
		cleanup_free char *dir = xstrndup(env, len);

		if (len && scan(f, dir, err) < 0)
			return error_hint(err, "see $MMRIG_LAYOUTS");
		env += len + (env[len] == ':');
	}
	shipped = data_path("workloads/" LAYOUTS_FOLDER, err);
	return shipped ? scan(f, shipped, err) : -1;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct layout_entry *)a)->name, ((const struct layout_entry *)b)->name);
}

int layout_list(struct layout_entry **list, size_t *n, struct error *err)
{
	struct found f = { 0 };

	if (scan_all(&f, err) < 0) {
		layout_list_free(f.entry, f.n);
		return -1;
	}
	if (f.n)
		qsort(f.entry, f.n, sizeof(*f.entry), by_name);
	*list = f.entry;
	*n = f.n;
	return 0;
}

void layout_list_free(struct layout_entry *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		entry_free(&list[i]);
	free(list);
}
