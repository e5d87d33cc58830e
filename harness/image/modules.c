// SPDX-License-Identifier: GPL-2.0-only
#include "harness/image/modules.h"

#include <errno.h>
#include <libkmod.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

struct resolver {
	struct kmod_ctx *ctx;
	const char *folder;
	struct module_list *list;
	size_t nmissing;
	char *builtin;	/* text of modules.builtin, or NULL */
	char **visited; /* names seen, so that a cycle ends */
	size_t nvisited;
};

static void add_missing(struct resolver *r, const char *name)
{
	struct module_list *l = r->list;

	l->missing = xreallocarray(l->missing, r->nmissing + 2, sizeof(*l->missing));
	l->missing[r->nmissing++] = xstrdup(name);
	l->missing[r->nmissing] = NULL;
}

static bool visit(struct resolver *r, const char *name)
{
	for (size_t i = 0; i < r->nvisited; i++)
		if (strcmp(r->visited[i], name) == 0)
			return false;
	r->visited = xreallocarray(r->visited, r->nvisited + 1, sizeof(*r->visited));
	r->visited[r->nvisited++] = xstrdup(name);
	return true;
}

static bool same_name(const char *file, size_t len, const char *wanted)
{
	for (size_t i = 0; i < len; i++) {
		char a = file[i] == '-' ? '_' : file[i];
		char b = wanted[i] == '-' ? '_' : wanted[i];

		if (a != b)
			return false;
	}
	return wanted[len] == '\0';
}

/* The text list answers without depmod, which the binary index of libkmod does not. */
static bool is_builtin(const struct resolver *r, const char *wanted)
{
	for (const char *line = r->builtin; line && *line;) {
		size_t len = strcspn(line, "\n");
		const char *base = memrchr(line, '/', len);
		const char *name = base ? base + 1 : line;
		size_t name_len = (size_t)(line + len - name);
		const char *dot = memchr(name, '.', name_len);

		if (same_name(name, dot ? (size_t)(dot - name) : name_len, wanted))
			return true;
		line += len + (line[len] == '\n');
	}
	return false;
}

static int no_index(const struct resolver *r, struct error *err)
{
	const char *slash = strrchr(r->folder, '/');
	const char *end = slash && slash - r->folder >= 12 ? slash - 12 : NULL;

	error_set(err, EXIT_USAGE, "%s: has no modules.dep index", r->folder);
	if (end && strncmp(end, "/lib/modules", 12) == 0)
		return error_hint(err, "run: depmod -b '%.*s' %s",
				  end == r->folder ? 1 : (int)(end - r->folder),
				  end == r->folder ? "/" : r->folder, slash + 1);
	return error_hint(err, "run depmod on the tree above lib/modules");
}

static int add_module(struct resolver *r, struct kmod_module *m, struct error *err);

static int add_all(struct resolver *r, struct kmod_list *list, struct error *err)
{
	struct kmod_list *e;

	kmod_list_foreach(e, list)
	{
		struct kmod_module *m = kmod_module_get_module(e);
		int ret = add_module(r, m, err);

		kmod_module_unref(m);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int add_dependencies(struct resolver *r, struct kmod_module *m, struct error *err)
{
	struct kmod_list *pre = NULL, *post = NULL, *deps = NULL;
	int ret = 0;

	if (kmod_module_get_softdeps(m, &pre, &post) == 0)
		ret = add_all(r, pre, err);
	kmod_module_unref_list(pre);
	kmod_module_unref_list(post);
	if (ret < 0)
		return ret;
	deps = kmod_module_get_dependencies(m);
	ret = add_all(r, deps, err);
	kmod_module_unref_list(deps);
	return ret;
}

static int add_module(struct resolver *r, struct kmod_module *m, struct error *err)
{
	const char *name = kmod_module_get_name(m), *path = kmod_module_get_path(m);
	struct module_list *l = r->list;

	if (!path) /* built in, or a soft dependency that this kernel does not have */
		return 0;
	if (!visit(r, name))
		return 0;
	if (add_dependencies(r, m, err) < 0)
		return -1;
	l->item = xreallocarray(l->item, l->n + 1, sizeof(*l->item));
	l->item[l->n++] = (struct module_file){ xstrdup(name), xstrdup(path) };
	return 0;
}

static int add_wanted(struct resolver *r, const char *wanted, struct error *err)
{
	struct kmod_list *found = NULL;
	int ret;

	if (is_builtin(r, wanted))
		return 0;
	if (!r->ctx)
		return no_index(r, err);
	ret = kmod_module_new_from_lookup(r->ctx, wanted, &found);
	if (ret < 0 && ret != -ENOENT)
		return error_set(err, EXIT_NO_VERDICT, "%s: cannot look up module %s: %s",
				 r->folder, wanted, strerror(-ret));
	if (!found)
		add_missing(r, wanted);
	ret = add_all(r, found, err);
	kmod_module_unref_list(found);
	return ret;
}

static int open_index(struct resolver *r, struct error *err)
{
	cleanup_free char *index = path_join(r->folder, "modules.dep.bin");
	/* An empty list instead of NULL: the host's /etc/modprobe.d (blacklists) must not count. */
	const char *no_config = NULL;
	int ret;

	if (!file_exists(index))
		return 0;
	r->ctx = kmod_new(r->folder, &no_config);
	if (!r->ctx)
		return error_set(err, EXIT_NO_VERDICT, "%s: libkmod cannot use it", r->folder);
	kmod_set_log_priority(r->ctx, 0);
	ret = kmod_load_resources(r->ctx);
	if (ret < 0)
		return error_set(err, EXIT_USAGE,
				 "%s: the index of modules is damaged: %s; run depmod", r->folder,
				 strerror(-ret));
	return 0;
}

static int resolve(struct resolver *r, const char *const *wanted, struct error *err)
{
	cleanup_free char *builtin = path_join(r->folder, "modules.builtin");

	if (file_exists(builtin)) {
		r->builtin = file_read(builtin, 0, NULL, err);
		if (!r->builtin)
			return -1;
	}
	if (open_index(r, err) < 0)
		return -1;
	for (; *wanted; wanted++)
		if (add_wanted(r, *wanted, err) < 0)
			return -1;
	return 0;
}

int module_list_resolve(const char *folder, const char *const *wanted, struct module_list *list,
			struct error *err)
{
	struct resolver r = { .folder = folder, .list = list };
	struct stat st;
	int ret = 0;

	*list = (struct module_list){ .missing = xcalloc(1, sizeof(char *)) };
	if (!folder)
		return 0;
	if (stat(folder, &st) < 0 || !S_ISDIR(st.st_mode))
		ret = error_set(err, EXIT_USAGE, "%s: is no folder of modules", folder);
	else
		ret = resolve(&r, wanted, err);
	if (r.ctx)
		kmod_unref(r.ctx);
	for (size_t i = 0; i < r.nvisited; i++)
		free(r.visited[i]);
	free(r.visited);
	free(r.builtin);
	if (ret < 0)
		module_list_free(list);
	return ret;
}

void module_list_free(struct module_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->item[i].name);
		free(list->item[i].path);
	}
	free(list->item);
	for (char **m = list->missing; m && *m; m++)
		free(*m);
	free(list->missing);
	*list = (struct module_list){ 0 };
}
