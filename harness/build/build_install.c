// SPDX-License-Identifier: GPL-2.0-only
/* From the obj folder, or from another name, to a kernel of the cache. */
#include <string.h>

#include "harness/build/build_impl.h"
#include "harness/kernel/cache.h"
#include "harness/kernel/child.h"
#include "harness/kernel/record.h"
#include "harness/kernel/tree.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

static void tell_waiting(void *b)
{
	build_tell(b, -1, "waiting for a fetch");
}

static int copy_file(const char *from_dir, const char *from, const char *to_dir, const char *to,
		     struct error *err)
{
	cleanup_free char *source = path_join(from_dir, from), *target = path_join(to_dir, to);
	size_t len = 0;
	cleanup_free char *data = file_read(source, 0, &len, err);

	return data ? file_write_atomic(target, data, len, 0644, err) : -1;
}

/* They lead to src/ and obj/, which may be gone or hold something else by the time they are followed. */
static int remove_links(const char *tree, struct error *err)
{
	cleanup_free char *modules = path_join(tree, "lib/modules");
	cleanup_dir DIR *d = opendir(modules);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		cleanup_free char *build = str_printf("%s/%s/build", modules, e->d_name);
		cleanup_free char *source = str_printf("%s/%s/source", modules, e->d_name);

		if (e->d_name[0] != '.' &&
		    (dir_remove(build, err) < 0 || dir_remove(source, err) < 0))
			return -1;
	}
	return 0;
}

static int fill_tree(const struct build *b, const char *tree, struct error *err)
{
	cleanup_free char *config = path_join(b->obj, ".config"), *text = NULL;
	cleanup_free char *changes = path_join(tree, "changes.patch");

	text = file_read(config, 0, NULL, err);
	if (!text || dir_make(tree, 0755, err) < 0 ||
	    copy_file(b->obj, "arch/x86/boot/bzImage", tree, "vmlinuz", err) < 0 ||
	    copy_file(b->obj, ".config", tree, "config", err) < 0 ||
	    copy_file(b->obj, "System.map", tree, "System.map", err) < 0)
		return -1;
	if (b->source.changes && file_write_atomic(changes, b->source.changes,
						   strlen(b->source.changes), 0644, err) < 0)
		return -1;
	if (!build_has_modules(text))
		return 0;
	return build_install_modules(b, tree, err) < 0 ? -1 : remove_links(tree, err);
}

/* The objects are kept first: a kernel whose source was swept could not be compared. */
static int commit(struct build *b, const char *root, const char *tree, struct kernel *k,
		  struct error *err)
{
	if (source_keep(b->source.id, b->name, b->source.object, err) < 0)
		return -1;
	return cache_commit(root, tree, b->name, k, err);
}

static int install(struct build *b, const char *root, const char *tree, struct kernel *k,
		   struct error *err)
{
	struct kernel made = { .name = xstrdup(b->name), .provenance = build_provenance(b) };
	int ret = -1;

	if (fill_tree(b, tree, err) == 0 && tree_finish(tree, &made, err) == 0 &&
	    build_record_save(tree, &b->record, err) == 0)
		ret = commit(b, root, tree, k, err);
	kernel_free(&made);
	return ret;
}

static int rename_record(const char *tree, const char *name, struct error *err)
{
	cleanup_free char *path = path_join(tree, "kernel.json");
	json_t *record = record_read(path, err);
	int ret;

	if (!record)
		return -1;
	json_object_set_new(record, "name", json_string(name));
	ret = record_write(path, record, err);
	json_decref(record);
	return ret;
}

static int copy(struct build *b, const struct kernel *from, const char *root, const char *tree,
		struct kernel *k, struct error *err)
{
	cleanup_free char *folder = path_join(root, from->name);
	const char *const argv[] = { "cp", "-a", "--reflink=auto", folder, tree, NULL };
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	int status = child_run(argv, NULL, NULL, NULL, &text, err);

	if (status < 0)
		return -1;
	if (status > 0)
		return error_set(err, EXIT_NO_VERDICT, "%s: cannot copy: %.*s", folder,
				 text.len ? (int)strcspn(text.data, "\n") : 0,
				 text.len ? text.data : "");
	return rename_record(tree, b->name, err) < 0 ? -1 : commit(b, root, tree, k, err);
}

static int into_cache(struct build *b, const struct kernel *from, struct kernel *k,
		      struct error *err)
{
	cleanup_free char *root = cache_dir("kernels", err), *tree = NULL;
	cleanup_close int lock = root ? cache_lock(root, tell_waiting, b, err) : -1;
	char *scratch = lock < 0 ? NULL : cache_begin(root, err);
	int ret;

	if (!scratch)
		return -1;
	tree = path_join(scratch, "tree");
	ret = from ? copy(b, from, root, tree, k, err) : install(b, root, tree, k, err);
	cache_end(scratch);
	return ret;
}

int build_install(struct build *b, struct kernel *k, struct error *err)
{
	build_tell(b, -1, "putting %s into the cache", b->name);
	return into_cache(b, NULL, k, err);
}

int build_copy(struct build *b, const struct kernel *from, struct kernel *k, struct error *err)
{
	return into_cache(b, from, k, err);
}
