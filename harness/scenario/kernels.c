// SPDX-License-Identifier: GPL-2.0-only
/* `kernel:` and `kernels:`: what a scenario boots. Nothing is fetched or built here. */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define NAME_MAX_CHARS 64

/* ---- texts and lists of texts ---- */

static bool is_text(const struct node *n)
{
	return n->kind == NODE_SCALAR && *n->text;
}

int texts_check(const struct node *key, const struct node *n, struct error *err)
{
	if (is_text(n))
		return 0;
	if (n->kind != NODE_LIST || !n->n)
		return node_error(err, n, "%s must be text or a list of texts, not %s", key->text,
				  n->kind == NODE_LIST ? "an empty list" : node_kind_name(n));
	for (size_t i = 0; i < n->n; i++)
		if (!is_text(n->value[i]))
			return node_error(err, n->value[i],
					  "%s must be a list of texts; here is %s", key->text,
					  node_kind_name(n->value[i]));
	return 0;
}

size_t texts_count(const struct node *n)
{
	return !n ? 0 : n->kind == NODE_LIST ? n->n : 1;
}

const struct node *texts_at(const struct node *n, size_t i)
{
	return n->kind == NODE_LIST ? n->value[i] : n;
}

/* ---- form ---- */

enum value_kind { VALUE_TEXT, VALUE_WORDS, VALUE_FLAG };

static const char *const keys[] = { "source", "tree", "rev",   "patch", "config",
				    "base",   "cc",   "align", "name" };
static const enum value_kind kind_of_key[ARRAY_SIZE(keys)] = {
	VALUE_TEXT, VALUE_TEXT, VALUE_TEXT, VALUE_WORDS, VALUE_WORDS,
	VALUE_TEXT, VALUE_TEXT, VALUE_FLAG, VALUE_TEXT
};

static int check_value(const struct node *key, const struct node *n, enum value_kind kind,
		       struct error *err)
{
	if (kind == VALUE_WORDS)
		return texts_check(key, n, err);
	if (!is_text(n))
		return node_error(err, n, "%s must be text, not %s", key->text,
				  n->kind == NODE_SCALAR ? "empty" : node_kind_name(n));
	if (kind == VALUE_FLAG && strcmp(n->text, "true") != 0 && strcmp(n->text, "false") != 0)
		return node_error(err, n, "%s must be true or false", key->text);
	return 0;
}

/* It becomes a folder of the run set, and stands in commands. */
static bool is_name(const char *text)
{
	for (const char *p = text; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("-_.", *p))
			return false;
	return isalnum((unsigned char)*text) && strlen(text) <= NAME_MAX_CHARS;
}

static int check_source(const struct node *n, struct error *err)
{
	const struct node *source = node_get(n, "source"), *tree = node_get(n, "tree");
	const struct node *rev = node_get(n, "rev"), *name = node_get(n, "name");

	if (!source == !tree)
		return node_error(
			err, n,
			"a kernel to be built has %s; give either source: debian:VERSION or "
			"tree: FOLDER",
			source ? "both source and tree" : "neither source nor tree");
	if (rev && !tree)
		return node_error(err, rev, "rev is a revision of a tree; here is a source");
	if (source && (!str_starts(source->text, "debian:") || !source->text[strlen("debian:")]))
		return node_error(err, source, "source must be debian:VERSION, as in debian:7.3");
	if (name && !is_name(name->text))
		return node_error(
			err, name,
			"a kernel's name is letters, digits, - _ and . (%d at most), beginning "
			"with a letter or digit",
			NAME_MAX_CHARS);
	return 0;
}

static int check_entry(const struct node *n, struct error *err)
{
	if (is_text(n))
		return 0;
	if (n->kind != NODE_MAP)
		return node_error(
			err, n,
			"a kernel is text, as --kernel takes it, or a map such as {source: "
			"debian:7.3, patch: x.patch}, not %s",
			node_kind_name(n));
	for (size_t i = 0; i < n->n; i++) {
		size_t k = 0;

		while (k < ARRAY_SIZE(keys) && strcmp(keys[k], n->key[i]->text) != 0)
			k++;
		if (k == ARRAY_SIZE(keys))
			return node_unknown(err, n->key[i], "key of a kernel", keys,
					    ARRAY_SIZE(keys));
		if (check_value(n->key[i], n->value[i], kind_of_key[k], err) < 0)
			return -1;
	}
	return check_source(n, err);
}

/* ---- names ---- */

/* "resample" of "../patches/resample.patch"; what a name cannot have becomes '-'. */
static void add_stem(struct strbuf *sb, const char *text)
{
	const char *slash = strrchr(text, '/'), *base = slash && slash[1] ? slash + 1 : text, *dot;
	size_t len;

	dot = strrchr(base, '.');
	len = dot && dot != base ? (size_t)(dot - base) : strlen(base);
	if (sb->len)
		strbuf_adds(sb, "-");
	for (size_t i = 0; i < len; i++)
		strbuf_addf(sb, "%c",
			    isalnum((unsigned char)base[i]) || strchr("_.", base[i]) ? base[i] :
										       '-');
}

/* With what stands behind the dot: "gcc-12", "v7.3", "linux" of "~/linux/". */
static void add_whole(struct strbuf *sb, const char *text)
{
	size_t len = strlen(text);
	cleanup_free char *with_end = NULL;

	while (len > 1 && text[len - 1] == '/')
		len--;
	with_end = str_printf("%.*s.", (int)len, text);
	add_stem(sb, with_end);
}

static void add_stems(struct strbuf *sb, const struct node *n)
{
	for (size_t i = 0; i < texts_count(n); i++)
		add_stem(sb, texts_at(n, i)->text);
}

/* "7.3-resample-kasan": of what it is built, which does not change with what a tree holds. */
static char *made_up_name(const struct node *n)
{
	const struct node *source = node_get(n, "source"), *tree = node_get(n, "tree");
	const struct node *rev = node_get(n, "rev"), *base = node_get(n, "base");
	const struct node *cc = node_get(n, "cc"), *align = node_get(n, "align");
	struct strbuf sb = STRBUF_INIT;

	add_whole(&sb, source ? source->text + strlen("debian:") : rev ? rev->text : tree->text);
	add_stems(&sb, node_get(n, "patch"));
	add_stems(&sb, node_get(n, "config"));
	if (base)
		add_stem(&sb, base->text);
	if (cc)
		add_whole(&sb, cc->text);
	if (align && strcmp(align->text, "true") == 0)
		strbuf_adds(&sb, "-align");
	while (sb.len && !isalnum((unsigned char)sb.data[0]))
		memmove(sb.data, sb.data + 1, sb.len--);
	if (sb.len > NAME_MAX_CHARS)
		sb.data[NAME_MAX_CHARS] = '\0';
	return sb.len ? strbuf_steal(&sb) : (strbuf_free(&sb), xstrdup("kernel"));
}

static char *name_of(const struct node *n)
{
	const struct node *name = node_get(n, "name");

	if (n->kind == NODE_SCALAR)
		return xstrdup(n->text);
	return name ? xstrdup(name->text) : made_up_name(n);
}

char **kernels_names(const struct scenario *s, size_t *n)
{
	const struct node *one = node_get(s->root, "kernel"), *list = node_get(s->root, "kernels");
	char **names;

	*n = list ? list->n : one ? 1 : 0;
	names = xcalloc(*n + 1, sizeof(*names));
	for (size_t i = 0; i < *n; i++)
		names[i] = name_of(list ? list->value[i] : one);
	return names;
}

static int check_names(const struct scenario *s, const struct node *list, struct error *err)
{
	size_t n;
	char **names = kernels_names(s, &n);
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < n; i++)
		for (size_t k = 0; ret == 0 && k < i; k++)
			if (strcmp(names[i], names[k]) == 0)
				ret = node_error(
					err, list->value[i],
					"%s is listed twice in kernels; the first is in line %d%s",
					names[i], list->value[k]->line,
					list->value[i]->kind == NODE_MAP ?
						"; give one of them another name:" :
						"");
	texts_free(names);
	return ret;
}

int kernels_check(const struct scenario *s, const struct node *key, const struct node *n,
		  struct error *err)
{
	const struct node *one = node_get(s->root, "kernel");

	if (n->kind != NODE_LIST || !n->n)
		return node_error(
			err, n,
			"kernels must be a list such as [debian:7.3, {source: debian:7.3, patch: "
			"x.patch}], not %s",
			n->kind == NODE_LIST ? "an empty one" : node_kind_name(n));
	if (n->n > SCENARIO_KERNELS_MAX)
		return node_error(err, n->value[SCENARIO_KERNELS_MAX], "more than %d kernels",
				  SCENARIO_KERNELS_MAX);
	if (one && str_starts(one->label, "--set ")) {
		node_error(err, one, "the scenario has a list of kernels");
		return error_hint(err, "choose with --kernel, which also takes a name of the list");
	}
	if (one)
		return node_error(err, key, "kernel and kernels are both given; keep one of them");
	for (size_t i = 0; i < n->n; i++)
		if (check_entry(n->value[i], err) < 0)
			return -1;
	return check_names(s, n, err);
}

/* ---- into the plan ---- */

/* A fragment that is shipped goes by its name alone, unless a file of that name is nearer. */
static char *resolve_config(const struct node *n, struct error *err)
{
	cleanup_free char *path = path_of(n, err);

	if (!path || strchr(n->text, '/') || *n->text == '~' || file_exists(path))
		return path ? path_there(n, "config", S_IFREG, err) : NULL;
	return xstrdup(n->text);
}

static int fill_paths(const struct node *entry, const char *key, char ***to, struct error *err)
{
	const struct node *n = node_get(entry, key);

	*to = xcalloc(texts_count(n) + 1, sizeof(**to));
	for (size_t i = 0; i < texts_count(n); i++) {
		const struct node *word = texts_at(n, i);

		(*to)[i] = strcmp(key, "config") == 0 ? resolve_config(word, err) :
							path_there(word, key, S_IFREG, err);
		if (!(*to)[i])
			return -1;
	}
	return 0;
}

static char *text_of(const struct node *entry, const char *key)
{
	const struct node *n = node_get(entry, key);

	return n ? xstrdup(n->text) : NULL;
}

static int fill_built(const struct node *entry, struct scenario_kernel *k, struct error *err)
{
	const struct node *tree = node_get(entry, "tree"), *base = node_get(entry, "base");
	const struct node *align = node_get(entry, "align");

	k->source = text_of(entry, "source");
	k->rev = text_of(entry, "rev");
	k->cc = text_of(entry, "cc");
	k->align = align && strcmp(align->text, "true") == 0;
	if (tree && !(k->tree = path_there(tree, "tree", S_IFDIR, err)))
		return -1;
	if (base && !(k->base = path_there(base, "base", S_IFREG, err)))
		return -1;
	return fill_paths(entry, "patch", &k->patch, err) < 0 ?
		       -1 :
		       fill_paths(entry, "config", &k->config, err);
}

static int fill_kernel(const struct node *entry, struct scenario_kernel *k, struct error *err)
{
	k->name = name_of(entry);
	k->place = str_printf("%s:%d:%d", entry->label, entry->line, entry->column);
	if (entry->kind == NODE_MAP)
		return fill_built(entry, k, err);
	k->spec = xstrdup(entry->text);
	return 0;
}

int kernels_expand(const struct scenario *s, struct scenario_plan *plan, struct error *err)
{
	const struct node *one = node_get(s->root, "kernel"), *list = node_get(s->root, "kernels");

	plan->nkernels = list ? list->n : one ? 1 : 0;
	plan->kernel = xcalloc(plan->nkernels, sizeof(*plan->kernel));
	for (size_t i = 0; i < plan->nkernels; i++)
		if (fill_kernel(list ? list->value[i] : one, &plan->kernel[i], err) < 0)
			return -1;
	return 0;
}

void kernels_free(struct scenario_plan *plan)
{
	for (size_t i = 0; i < plan->nkernels; i++) {
		struct scenario_kernel *k = &plan->kernel[i];
		char *const texts[] = { k->name, k->spec, k->source, k->tree,
					k->rev,	 k->base, k->cc,     k->place };

		for (size_t t = 0; t < ARRAY_SIZE(texts); t++)
			free(texts[t]);
		texts_free(k->patch);
		texts_free(k->config);
	}
	free(plan->kernel);
}
