// SPDX-License-Identifier: GPL-2.0-only
/* What makes two builds the same, and what they are called. */
#include <string.h>

#include "harness/build/build_impl.h"
#include "harness/build/kconfig.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/util/hash.h"
#include "results/verdict.h"

/* To be raised when build_run.c makes another image of the same input. */
#define RECIPE 1

#define HASH_HEAD_CHARS 7 /* "sha256:" */
#define SHORT_HASH_CHARS 8
#define NAME_CHARS 100

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_shipped(const char *fragment)
{
	char **names = kconfig_names();
	bool found = false;

	for (char **n = names; n && *n; n++) {
		found |= strcmp(*n, fragment) == 0;
		free(*n);
	}
	free(names);
	return found;
}

/* "NAME sha256:..." */
static int add_file(struct words *w, const char *path, struct error *err)
{
	cleanup_free char *hash = hash_file(path, err);

	if (!hash)
		return -1;
	words_add(w, "%s %s", base_name(path), hash);
	return 0;
}

static int list_patches(const struct build *b, struct words *w, struct error *err)
{
	for (char *const *p = b->r->patch; p && *p; p++)
		if (add_file(w, *p, err) < 0)
			return -1;
	return 0;
}

static int list_config(const struct build *b, struct words *w, struct error *err)
{
	if (!b->r->base)
		words_add(w, "base");
	else if (add_file(w, b->r->base, err) < 0)
		return -1;
	for (size_t i = 0; i < b->fragment.n; i++) {
		if (is_shipped(b->r->config[i]))
			words_add(w, "%s", b->r->config[i]);
		else if (add_file(w, b->fragment.item[i], err) < 0)
			return -1;
	}
	return 0;
}

static char *short_hash(const char *hash)
{
	return xstrndup(hash + HASH_HEAD_CHARS, SHORT_HASH_CHARS);
}

/* The config stands last, so that no line of it can pass for another part. */
static char *tools_text(const struct build *b)
{
	return str_printf("recipe %d\ncc %s\nld %s\noptions %s\nconfig\n%s", RECIPE,
			  b->tools.cc_line, b->tools.ld_line ? b->tools.ld_line : "",
			  b->record.options, b->config_text);
}

static void set_key(struct build *b)
{
	cleanup_free char *tools = tools_text(b), *hash = hash_bytes(tools, strlen(tools));
	cleanup_free char *folder = short_hash(hash);
	cleanup_free char *all = str_printf("object %s\n%s", b->source.object, tools);

	b->record.key = hash_bytes(all, strlen(all));
	b->record.obj = str_printf("obj-%s", folder);
	b->obj = path_join(b->source.dir, b->record.obj);
}

int build_describe(struct build *b, struct error *err)
{
	struct build_record *record = &b->record;
	struct words patch = { 0 }, config = { 0 };
	int ret = list_patches(b, &patch, err) < 0 ? -1 : list_config(b, &config, err);

	if (ret < 0) {
		words_free(&patch);
		words_free(&config);
		return -1;
	}
	record->patch = patch.item ? patch.item : xcalloc(1, sizeof(char *));
	record->config = config.item;
	record->source_id = xstrdup(b->source.id);
	record->object = xstrdup(b->source.object);
	record->base = xstrdup(b->source.base);
	record->commit = b->source.commit ? xstrdup(b->source.commit) : NULL;
	record->what = xstrdup(b->source.what);
	record->cc = xstrdup(b->tools.cc_line);
	record->options = xstrdup(b->r->align ? "align" : "");
	set_key(b);
	return 0;
}

/* ---- names ---- */

/* Without the folder and the ending; what a name cannot hold is left out. */
static void add_stem(struct strbuf *sb, const char *path)
{
	const char *name = base_name(path), *dot = strrchr(name, '.');
	size_t len = dot && dot != name ? (size_t)(dot - name) : strlen(name);

	strbuf_adds(sb, "-");
	for (; len; len--, name++)
		if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+~-",
			   *name))
			strbuf_add(sb, name, 1);
}

char *build_default_name(const struct build *b)
{
	const struct build_request *r = b->r;
	struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, b->source.version);
	if (b->source.commit)
		strbuf_addf(&sb, "-g%.12s%s", b->source.commit, b->source.dirty ? "-dirty" : "");
	if (r->base)
		add_stem(&sb, r->base);
	else
		strbuf_adds(&sb, "-mmrig");
	for (char *const *p = r->patch; p && *p; p++)
		add_stem(&sb, *p);
	for (char *const *c = r->config; c && *c; c++)
		add_stem(&sb, *c);
	if (r->align)
		strbuf_adds(&sb, "-align");
	if (r->cc)
		add_stem(&sb, r->cc);
	if (sb.len > NAME_CHARS)
		sb.data[NAME_CHARS] = '\0';
	return strbuf_steal(&sb);
}

/* Words of a list without their hashes. */
static void add_list(struct strbuf *sb, const char *head, const char *between, char *const *list)
{
	for (char *const *p = list; *p; p++) {
		const char *hash = strstr(*p, " sha256:");

		strbuf_addf(sb, "%s%.*s", p == list ? head : between,
			    hash ? (int)(hash - *p) : (int)strlen(*p), *p);
	}
}

char *build_provenance(const struct build *b)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "built of %s", b->source.what);
	if (b->source.dirty)
		strbuf_adds(&sb, " with its local changes");
	add_list(&sb, ", patch ", " + ", b->record.patch);
	add_list(&sb, ", config ", "+", b->record.config);
	if (b->r->align)
		strbuf_adds(&sb, ", functions aligned to 64 bytes");
	if (b->r->cc)
		strbuf_addf(&sb, ", cc %s", b->r->cc);
	return strbuf_steal(&sb);
}
