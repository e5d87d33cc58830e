// SPDX-License-Identifier: GPL-2.0-only
#include "harness/build/build.h"

#include <stdarg.h>
#include <string.h>

#include "harness/build/build_impl.h"
#include "harness/build/kconfig.h"
#include "harness/engine/progress.h"
#include "harness/kernel/cache.h"
#include "harness/kernel/interrupt.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

void build_tell(const struct build *b, double percent, const char *fmt, ...)
{
	cleanup_free char *text = NULL;
	va_list ap;

	if (!b->r->progress)
		return;
	va_start(ap, fmt);
	text = str_vprintf(fmt, ap);
	va_end(ap);
	b->r->progress(b->r->progress_arg, text, percent);
}

static void build_free(struct build *b)
{
	toolchain_free(&b->tools);
	words_free(&b->fragment);
	build_record_free(&b->record);
	free(b->config_text);
	free(b->name);
	free(b->obj);
	free(b->log);
}

/* ---- what can be said before anything is read of the source ---- */

/* Kbuild refuses blanks and colons itself; the rest would not pass make and its shells unharmed. */
static int check_cache_path(struct error *err)
{
	cleanup_free char *dir = cache_dir("sources", err);

	if (!dir)
		return -1;
	if (!dir[strspn(dir, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+@-")])
		return 0;
	error_set(err, EXIT_USAGE,
		  "%s: no kernel can be built below a folder with blanks or other such characters in "
		  "its name",
		  dir);
	return error_hint(err, "set XDG_CACHE_HOME to another");
}

static int check_request(const struct build_request *r, struct error *err)
{
	if (!r->tree == !r->source)
		return error_set(err, EXIT_USAGE,
				 r->tree ? "both a tree and a source are given; it takes one" :
					   "of what? give --tree DIR, or --source debian:7.3");
	if (r->rev && !r->tree)
		return error_set(err, EXIT_USAGE, "--rev %s: is a revision of a --tree, and none is given",
				 r->rev);
	if (r->name && cache_check_name(r->name, err) < 0)
		return -1;
	return check_cache_path(err);
}

static void tell_config(void *b, const char *text)
{
	cleanup_strbuf struct strbuf line = STRBUF_INIT;

	progress_printable(&line, text); /* it names files */
	build_tell(b, -1, "warning: %s", line.data);
}

static int find_config(struct build *b, struct error *err)
{
	for (char *const *c = b->r->config; c && *c; c++) {
		cleanup_free char *path = kconfig_find(*c, err);

		if (!path)
			return -1;
		words_add(&b->fragment, "%s", path);
	}
	if (!b->fragment.item)
		b->fragment.item = xcalloc(1, sizeof(char *));
	b->config_text = kconfig_text(b->r->base, (const char *const *)b->fragment.item,
				      &(struct kconfig_tell){ tell_config, b }, err);
	return b->config_text ? 0 : -1;
}

/* ---- the source ---- */

static unsigned int count_files(const char *patch)
{
	unsigned int n = str_starts(patch, "diff --git ");

	for (const char *p = patch; (p = strstr(p, "\ndiff --git ")); p++)
		n++;
	return n;
}

static void tell_changes(const struct build *b)
{
	unsigned int n = b->source.changes ? count_files(b->source.changes) : 0;

	if (b->source.dirty)
		build_tell(b, -1,
			   "warning: built as it stands: %u file%s from the commit; the kernel keeps "
			   "them as changes.patch",
			   n, n == 1 ? " differs" : "s differ");
}

static int apply_patches(struct build *b, struct error *err)
{
	for (char *const *p = b->r->patch; p && *p; p++)
		if (source_patch(&b->source, *p, err) < 0)
			return -1;
	return 0;
}

/* ---- what is there already ---- */

static bool has_key(const struct kernel *k, const char *key)
{
	struct build_record record;
	bool same = build_record_load(k, &record, NULL) > 0 && strcmp(record.key, key) == 0;

	build_record_free(&record);
	return same;
}

/* The one with our name goes before others of the same key: 1 and *k, 0, -1. */
static int find_same(const struct build *b, struct kernel *k, struct error *err)
{
	struct kernel *list, *found = NULL;
	size_t n;

	if (kernel_list(&list, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		bool named = b->r->name && strcmp(list[i].name, b->r->name) == 0;

		if ((!found || named) && has_key(&list[i], b->record.key))
			found = &list[i];
	}
	if (found) {
		*k = *found;
		*found = (struct kernel){ 0 };
	}
	kernel_list_free(list, n);
	return found ? 1 : 0;
}

static bool is_taken(const char *root, const char *name)
{
	cleanup_free char *path = path_join(root, name);

	return file_exists(path);
}

static int choose_name(struct build *b, struct error *err)
{
	cleanup_free char *root = cache_dir("kernels", err);
	char *longer;

	if (!root)
		return -1;
	b->name = b->r->name ? xstrdup(b->r->name) : build_default_name(b);
	if (!is_taken(root, b->name))
		return 0;
	if (b->r->name) {
		error_set(err, EXIT_USAGE, "%s: this name is taken in the cache by another kernel",
			  b->name);
		return error_hint(err, "choose another, or remove it (mmrig kernel rm %s)", b->name);
	}
	longer = str_printf("%s-%.8s", b->name, b->record.key + strlen("sha256:"));
	free(b->name);
	b->name = longer;
	return 0;
}

/* ---- building ---- */

static int configure(struct build *b, struct error *err)
{
	cleanup_free char *config = path_join(b->obj, ".config");
	struct words args = { 0 };
	int ret;

	build_config_args(b, &args);
	build_tell(b, -1, "configuring");
	const struct kconfig_request request = {
		.src = b->source.src,
		.obj = b->obj,
		.make_arg = (const char *const *)args.item,
		.base = b->r->base,
		.fragment = (const char *const *)b->fragment.item,
		.list = b->log,
		.tell = { tell_config, b },
	};

	ret = kconfig_make(&request, err);
	words_free(&args);
	return ret < 0 ? -1 : toolchain_check_config(config, err);
}

static int make(struct build *b, struct kernel *k, struct error *err)
{
	bool there;

	b->log = str_printf("%s/log-%s.txt", b->source.dir, b->name);
	if (!b->tools.ccache)
		build_tell(b, -1,
			   "warning: ccache is missing; the next build from nothing will take as long "
			   "as this one (apt-get install ccache)");
	if (source_checkout(&b->source, err) < 0 ||
	    toolchain_check_source(&b->tools, b->source.src, err) < 0)
		return -1;
	there = file_exists(b->obj);
	if (build_obj_begin(b->obj, err) < 0)
		return -1;
	if (configure(b, err) < 0) {
		if (there)
			build_obj_end(b->obj, NULL);
		else
			dir_remove(b->obj, NULL); /* nothing is built in it yet */
		return -1;
	}
	if (build_make(b, err) < 0)
		return -1;
	return build_install(b, k, err);
}

static int find_or_make(struct build *b, struct kernel *k, struct error *err)
{
	struct kernel same = { 0 };
	int ret = find_same(b, &same, err);

	if (ret < 0)
		return -1;
	if (ret && (!b->r->name || strcmp(same.name, b->r->name) == 0)) {
		build_tell(b, -1, "built before, as %s", same.name);
		*k = same;
		return 0;
	}
	if (choose_name(b, err) < 0)
		ret = -1;
	else
		ret = ret ? build_copy(b, &same, k, err) : make(b, k, err);
	kernel_free(&same);
	return ret;
}

static int build_opened(struct build *b, struct kernel *k, struct error *err)
{
	tell_changes(b);
	if (apply_patches(b, err) < 0 || build_describe(b, err) < 0)
		return -1;
	return find_or_make(b, k, err);
}

static int build_run(struct build *b, struct kernel *k, struct error *err)
{
	const struct source_request source = { .tree = b->r->tree,
					       .rev = b->r->rev,
					       .debian = b->r->source,
					       .mirror = b->r->mirror,
					       .progress = b->r->progress,
					       .progress_arg = b->r->progress_arg };
	int ret;

	if (check_request(b->r, err) < 0 || toolchain_find(b->r->cc, &b->tools, err) < 0 ||
	    find_config(b, err) < 0 || source_open(&source, &b->source, err) < 0)
		return -1;
	interrupt_next(BUILD_GOES_ON);
	ret = build_opened(b, k, err);
	source_close(&b->source);
	return ret;
}

int build_kernel(const struct build_request *r, struct kernel *k, struct error *err)
{
	struct build b = { .r = r };
	struct interrupt watch;
	int ret;

	*k = (struct kernel){ 0 };
	interrupt_begin(&watch, "the same command begins anew");
	ret = build_run(&b, k, err);
	interrupt_end(&watch);
	build_free(&b);
	if (ret < 0)
		kernel_free(k);
	return ret;
}
