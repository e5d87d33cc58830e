// SPDX-License-Identifier: GPL-2.0-only
#include "harness/cmd/opt.h"

#include <string.h>

#include "results/util/cleanup.h"
#include "results/verdict.h"

#define OPT_NAMES_MAX 64

void opt_list_free(struct opt_list *l)
{
	free(l->item);
	*l = (struct opt_list){ NULL, 0 };
}

static void list_append(struct opt_list *l, const char *value)
{
	l->item = xreallocarray(l->item, l->n + 2, sizeof(*l->item));
	l->item[l->n++] = value;
	l->item[l->n] = NULL;
}

static const struct opt *opt_find(const struct opt *opts, const char *name, size_t len)
{
	for (const struct opt *o = opts; o && o->kind != OPT_KIND_END; o++)
		if (strlen(o->name) == len && strncmp(o->name, name, len) == 0)
			return o;
	return NULL;
}

const struct opt *opt_of_letter(const struct opt *opts, const char *word)
{
	if (word[0] != '-' || !word[1] || word[1] == '-')
		return NULL;
	for (const struct opt *o = opts; o && o->kind != OPT_KIND_END; o++)
		if (o->letter == word[1] && (!word[2] || o->kind != OPT_KIND_FLAG))
			return o;
	return NULL;
}

/* A beginning that fits one option only ("det") is nearer than any distance between letters. */
static const char *opt_nearest(const struct opt *opts, const char *word)
{
	const char *names[OPT_NAMES_MAX], *begins = NULL;
	size_t n = 0, fits = 0;

	for (const struct opt *o = opts; o && o->kind != OPT_KIND_END && n < OPT_NAMES_MAX; o++) {
		names[n++] = o->name;
		if (*word && str_starts(o->name, word)) {
			begins = o->name;
			fits++;
		}
	}
	return fits == 1 ? begins : str_nearest(word, names, n);
}

static int unknown_option(const struct command *c, const char *word, struct error *err)
{
	cleanup_free char *name = xstrndup(word, strcspn(word, "="));
	const char *bare = name + strspn(name, "-");
	bool negated = str_starts(bare, "no-");
	const char *near = opt_nearest(c->opts, negated ? bare + 3 : bare);
	const struct opt *o = near ? opt_find(c->opts, near, strlen(near)) : NULL;

	error_set(err, EXIT_USAGE, "%s: unknown option %s", c->name, name);
	if (!o)
		return error_hint(err, "--help lists the options");
	if (negated && o->kind != OPT_KIND_FLAG)
		return error_hint(err, "only flags have a --no-, and --%s takes a value", near);
	return error_hint(err, "did you mean --%s%s?", negated ? "no-" : "", near);
}

static int check_choice(const struct opt *o, const char *value, struct error *err)
{
	cleanup_free char *copy = xstrdup(o->arg);
	const char *words[OPT_NAMES_MAX], *near;
	char *rest = NULL;
	size_t n = 0;

	for (char *w = strtok_r(copy, "|", &rest); w && n < OPT_NAMES_MAX;
	     w = strtok_r(NULL, "|", &rest)) {
		if (strcmp(w, value) == 0)
			return 0;
		words[n++] = w;
	}
	near = str_nearest(value, words, n);
	error_set(err, EXIT_USAGE, "\"%s\" is none of %s", value, o->arg);
	return near ? error_hint(err, "did you mean %s?", near) : -1;
}

static int store_value(const struct opt *o, void *target, const char *value, struct error *err)
{
	void *member = (char *)target + o->offset;

	if (!*value)
		return error_set(err, EXIT_USAGE, "the value is empty; it takes %s", o->arg);
	switch (o->kind) {
	case OPT_KIND_CHOICE:
		if (check_choice(o, value, err) < 0)
			return -1;
		/* fall through */
	case OPT_KIND_STRING:
		*(const char **)member = value;
		return 0;
	case OPT_KIND_LIST:
		list_append(member, value);
		return 0;
	case OPT_KIND_U64:
		return str_parse_u64(value, o->min, o->max ? o->max : UINT64_MAX, member, err);
	case OPT_KIND_BYTES:
		if (str_parse_bytes(value, member, err) < 0)
			return -1;
		return *(uint64_t *)member ? 0 : error_set(err, EXIT_USAGE, "a size of 0 is nothing; leave the option out");
	case OPT_KIND_FLAG:
	case OPT_KIND_END:
		break;
	}
	return error_set(err, EXIT_NO_VERDICT, "an option of kind %d holds no value", o->kind);
}

/*
 * A value that begins with "--" must be written with "=": "--kernel --json" is a forgotten value
 * far more often than a kernel named --json.
 */
static int take_value(const struct command *c, const struct opt *o, int argc, char **argv, int *i,
		      const char **value, struct error *err)
{
	const char *next = *i + 1 < argc ? argv[*i + 1] : NULL;

	if (!next)
		return error_set(err, EXIT_USAGE, "%s: --%s needs a value: --%s %s", c->name,
				 o->name, o->name, o->arg);
	if (str_starts(next, "--"))
		return error_set(
			err, EXIT_USAGE,
			"%s: --%s needs a value, but %s follows; write --%s=%s if that is it",
			c->name, o->name, next, o->name, next);
	(*i)++;
	*value = next;
	return 0;
}

/* The option has been found; `inside`: its value where that stands in the same word. */
static int take_option(const struct command *c, const struct opt *o, const char *inside, int argc,
		       char **argv, int *i, void *target, struct error *err)
{
	const char *value = inside;

	if (!value && take_value(c, o, argc, argv, i, &value, err) < 0)
		return -1;
	if (store_value(o, target, value, err) < 0)
		return error_wrap(err, "%s: --%s", c->name, o->name);
	return 0;
}

static void set_flag(const struct opt *o, void *target, bool value)
{
	*(bool *)((char *)target + o->offset) = value;
}

/* "-o value", "-ovalue" and "-o=value", since "--output=value" is what people know. */
static int parse_letter(const struct command *c, int argc, char **argv, int *i, void *target,
			struct error *err)
{
	const char *word = argv[*i], *inside = NULL;
	const struct opt *o = opt_of_letter(c->opts, word);

	if (!o)
		return unknown_option(c, word, err);
	if (o->kind == OPT_KIND_FLAG) {
		set_flag(o, target, true);
		return 0;
	}
	if (word[2])
		inside = word + 2 + (word[2] == '=');
	return take_option(c, o, inside, argc, argv, i, target, err);
}

/* argv[*i] is an option; *i is left at the last argument used. */
static int parse_one(const struct command *c, int argc, char **argv, int *i, void *target,
		     struct error *err)
{
	const char *word = argv[*i], *name = word + 2, *equals;
	const struct opt *o;
	size_t len;

	if (word[1] != '-')
		return parse_letter(c, argc, argv, i, target, err);
	len = strcspn(name, "=");
	equals = name[len] ? name + len + 1 : NULL;
	o = opt_find(c->opts, name, len);
	if (!o && str_starts(name, "no-")) {
		o = opt_find(c->opts, name + 3, len - 3);
		if (!o || o->kind != OPT_KIND_FLAG)
			return unknown_option(c, word, err);
	}
	if (!o)
		return unknown_option(c, word, err);
	if (o->kind == OPT_KIND_FLAG && equals)
		return error_set(err, EXIT_USAGE,
				 "%s: --%.*s takes no value; write --%s or --no-%s", c->name,
				 (int)len, name, o->name, o->name);
	if (o->kind == OPT_KIND_FLAG) {
		set_flag(o, target, strlen(o->name) == len);
		return 0;
	}
	return take_option(c, o, equals, argc, argv, i, target, err);
}

static int check_count(const struct command *c, char **argv, int n, int min, int max,
		       struct error *err)
{
	const char *args = c->args ? c->args : "", *blank = *args ? " " : "";

	if (n < min)
		return error_set(err, EXIT_USAGE, "%s: an argument is missing; usage: %s%s%s%s",
				 c->name, c->name, blank, args, c->opts ? " [--OPTION]..." : "");
	if (max >= 0 && n > max)
		return error_set(err, EXIT_USAGE,
				 "%s: one argument too many: \"%s\"; usage: %s%s%s%s", c->name,
				 argv[max], c->name, blank, args, c->opts ? " [--OPTION]..." : "");
	return 0;
}

int opt_parse(const struct command *c, int argc, char **argv, void *target, int *npos, int min,
	      int max, struct error *err)
{
	bool ended = false;
	int n = 0;

	for (int i = 0; i < argc; i++) {
		if (!ended && strcmp(argv[i], "--") == 0) {
			ended = true;
		} else if (!ended && argv[i][0] == '-' && argv[i][1]) {
			if (parse_one(c, argc, argv, &i, target, err) < 0)
				return -1;
		} else {
			char *word = argv[i]; /* swapped: every pointer stays in argv */

			argv[i] = argv[n];
			argv[n++] = word;
		}
	}
	if (npos)
		*npos = n;
	return check_count(c, argv, n, min, max, err);
}
