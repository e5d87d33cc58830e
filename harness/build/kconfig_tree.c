// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/build/kconfig_impl.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define SRCARCH "x86"
#define DEPTH_MAX 32 /* the kernel has 6 */

struct reader {
	const char *src;
	struct kconfig_tree *tree;
	unsigned int choice; /* the one that is open, or 0 */
	unsigned int depth;
};

static void add_symbol(struct reader *r, const char *name, size_t len)
{
	struct kconfig_tree *t = r->tree;

	t->symbol = xreallocarray(t->symbol, t->n + 1, sizeof(*t->symbol));
	t->symbol[t->n++] = (struct kconfig_symbol){ xstrndup(name, len), r->choice };
}

/* What stands behind `word` and blanks, or NULL when the line does not begin with it. */
static const char *after(const char *line, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(line, word, len) != 0 || (line[len] && !isspace((unsigned char)line[len])))
		return NULL;
	return line + len + strspn(line + len, " \t");
}

/* `"arch/$(SRCARCH)/Kconfig"` as a path; NULL for one that hangs on another variable. */
static char *source_path(const char *quoted)
{
	static const char *const arch[] = { "$(SRCARCH)", "$SRCARCH", "$(HEADER_ARCH)" };
	struct strbuf sb = STRBUF_INIT;
	const char *p = quoted + (*quoted == '"');
	size_t end = strcspn(p, "\"\n");

	while (end) {
		size_t len = 0;

		for (size_t i = 0; i < ARRAY_SIZE(arch) && !len; i++)
			len = str_starts(p, arch[i]) ? strlen(arch[i]) : 0;
		if (*p == '$' && !len) {
			strbuf_free(&sb);
			return NULL;
		}
		strbuf_add(&sb, len ? SRCARCH : p, len ? strlen(SRCARCH) : 1);
		p += len ? len : 1;
		end -= len ? len : 1;
	}
	return strbuf_steal(&sb);
}

static void read_kconfig(struct reader *r, const char *name);

static void read_line(struct reader *r, const char *line)
{
	const char *p = line + strspn(line, " \t"), *rest;

	if ((rest = after(p, "config")) || (rest = after(p, "menuconfig"))) {
		size_t len = 0;
		char next;

		while (isalnum((unsigned char)rest[len]) || rest[len] == '_')
			len++;
		next = rest[len + strspn(rest + len, " \t\r\n")];
		/* A sentence of a help text goes on after its second word. */
		if (len && (!next || next == '#'))
			add_symbol(r, rest, len);
	} else if (after(p, "choice")) {
		r->choice = ++r->tree->choices;
	} else if (after(p, "endchoice")) {
		r->choice = 0;
	} else if ((rest = after(p, "source")) && *rest == '"') {
		cleanup_free char *name = source_path(rest);

		if (name)
			read_kconfig(r, name);
	}
}

/* A file that is not there is passed over: older trees name some under conditions. */
static void read_kconfig(struct reader *r, const char *name)
{
	cleanup_free char *path = path_join(r->src, name), *line = NULL;
	cleanup_file FILE *f = r->depth < DEPTH_MAX ? fopen(path, "re") : NULL;
	size_t room = 0;

	r->depth++;
	while (f && getline(&line, &room, f) >= 0)
		read_line(r, line);
	r->depth--;
}

static int by_name(const void *x, const void *y)
{
	const struct kconfig_symbol *a = x, *b = y;

	return strcmp(a->name, b->name);
}

int kconfig_tree_read(const char *src, struct kconfig_tree *t, struct error *err)
{
	struct reader r = { .src = src, .tree = t };

	read_kconfig(&r, "Kconfig");
	if (!t->n)
		return error_set(err, EXIT_USAGE, "%s/Kconfig: defines no symbol", src);
	qsort(t->symbol, t->n, sizeof(*t->symbol), by_name);
	return 0;
}

static const struct kconfig_symbol *first_of(const struct kconfig_tree *t, const char *name)
{
	const struct kconfig_symbol key = { .name = (char *)name };
	const struct kconfig_symbol *found =
		t->n ? bsearch(&key, t->symbol, t->n, sizeof(key), by_name) : NULL;

	while (found && found > t->symbol && !strcmp(found[-1].name, name))
		found--;
	return found;
}

bool kconfig_tree_has(const struct kconfig_tree *t, const char *symbol)
{
	return first_of(t, symbol);
}

static bool is_in_choice(const struct kconfig_tree *t, const char *name, unsigned int choice)
{
	const struct kconfig_symbol *s = first_of(t, name), *end = t->symbol + t->n;

	for (; s && s < end && !strcmp(s->name, name); s++)
		if (s->choice == choice)
			return true;
	return false;
}

bool kconfig_tree_same_choice(const struct kconfig_tree *t, const char *a, const char *b)
{
	const struct kconfig_symbol *s = first_of(t, a), *end = t->symbol + t->n;

	for (; s && s < end && !strcmp(s->name, a); s++)
		if (s->choice && is_in_choice(t, b, s->choice))
			return true;
	return false;
}

const char *kconfig_tree_nearest(const struct kconfig_tree *t, const char *symbol)
{
	cleanup_free const char **names = xcalloc(t->n + 1, sizeof(*names));

	for (size_t i = 0; i < t->n; i++)
		names[i] = t->symbol[i].name;
	return str_nearest(symbol, names, t->n);
}

void kconfig_tree_free(struct kconfig_tree *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->symbol[i].name);
	free(t->symbol);
	*t = (struct kconfig_tree){ 0 };
}

/* "VERSION = 7" gives "7"; heap, empty when the Makefile does not say. */
static char *makefile_value(const char *text, const char *name)
{
	for (const char *p = text; p; p = strchr(p, '\n')) {
		const char *rest;

		p += *p == '\n';
		if (!str_starts(p, name))
			continue;
		rest = p + strlen(name);
		rest += strspn(rest, " \t");
		if (*rest++ != '=')
			continue;
		rest += strspn(rest, " \t");
		return xstrndup(rest, strcspn(rest, " \t\r\n"));
	}
	return xstrdup("");
}

char *kconfig_tree_version(const char *src)
{
	cleanup_free char *path = path_join(src, "Makefile"),
			  *text = file_read(path, 0, NULL, NULL);
	cleanup_free char *major = makefile_value(text, "VERSION");
	cleanup_free char *minor = makefile_value(text, "PATCHLEVEL");
	cleanup_free char *sub = makefile_value(text, "SUBLEVEL");
	cleanup_free char *extra = makefile_value(text, "EXTRAVERSION");

	if (!*major || !*minor)
		return xstrdup("?");
	return str_printf("%s.%s%s%s%s", major, minor, *sub ? "." : "", sub, extra);
}
