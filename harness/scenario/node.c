// SPDX-License-Identifier: GPL-2.0-only
#include "harness/scenario/node.h"

#include <stdarg.h>
#include <string.h>

#include "results/util/cleanup.h"
#include "results/verdict.h"

#define SHOWN_MAX 60 /* bytes of a word of the user's in a message */

struct node *node_new(enum node_kind kind, const char *label, int line, int column)
{
	struct node *n = xcalloc(1, sizeof(*n));

	n->kind = kind;
	n->label = xstrdup(label);
	n->line = line;
	n->column = column;
	return n;
}

struct node *node_scalar(const char *label, int column, const char *text, size_t len)
{
	struct node *n = node_new(NODE_SCALAR, label, 1, column);

	n->text = xstrndup(text, len);
	n->text_column = column;
	return n;
}

void node_free(struct node *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->n; i++) {
		node_free(n->key ? n->key[i] : NULL);
		node_free(n->value[i]);
	}
	free(n->key);
	free(n->value);
	free(n->text);
	free(n->label);
	free(n);
}

struct node *node_copy(const struct node *n)
{
	struct node *c = node_new(n->kind, n->label, n->line, n->column);

	c->quoted = n->quoted;
	c->is_default = n->is_default;
	c->text_column = n->text_column;
	c->text = n->text ? xstrdup(n->text) : NULL;
	for (size_t i = 0; i < n->n; i++)
		node_add(c, n->key ? node_copy(n->key[i]) : NULL, node_copy(n->value[i]));
	return c;
}

void node_add(struct node *n, struct node *key, struct node *value)
{
	n->value = xreallocarray(n->value, n->n + 1, sizeof(*n->value));
	n->value[n->n] = value;
	if (n->kind == NODE_MAP) {
		n->key = xreallocarray(n->key, n->n + 1, sizeof(*n->key));
		n->key[n->n] = key;
	}
	n->n++;
}

void node_replace(struct node *map, struct node *key, struct node *value)
{
	long i = node_index(map, key->text);

	if (i < 0) {
		node_add(map, key, value);
		return;
	}
	node_free(map->value[i]);
	map->value[i] = value;
	node_free(key);
}

long node_index(const struct node *map, const char *key)
{
	for (size_t i = 0; map && map->kind == NODE_MAP && i < map->n; i++)
		if (strcmp(map->key[i]->text, key) == 0)
			return (long)i;
	return -1;
}

const struct node *node_get(const struct node *map, const char *key)
{
	long i = node_index(map, key);

	return i < 0 ? NULL : map->value[i];
}

void node_remove(struct node *map, size_t i)
{
	node_free(map->key[i]);
	node_free(map->value[i]);
	map->n--;
	memmove(map->key + i, map->key + i + 1, (map->n - i) * sizeof(*map->key));
	memmove(map->value + i, map->value + i + 1, (map->n - i) * sizeof(*map->value));
}

char *node_place(const struct node *n, int column)
{
	if (!n->line)
		return xstrdup(n->label);
	return str_printf("%s:%d:%d", n->label, n->line,
			  column > 0 && n->text_column ? n->text_column + column - 1 : n->column);
}

int node_error(struct error *err, const struct node *n, const char *fmt, ...)
{
	cleanup_free char *text = NULL, *place = node_place(n, 0);
	va_list ap;

	va_start(ap, fmt);
	text = str_vprintf(fmt, ap);
	va_end(ap);
	return error_set(err, EXIT_USAGE, "%s: %s", place, text);
}

int node_error_at(struct error *err, const struct node *n, int column, const char *fmt, ...)
{
	cleanup_free char *text = NULL, *place = node_place(n, column);
	va_list ap;

	va_start(ap, fmt);
	text = str_vprintf(fmt, ap);
	va_end(ap);
	if (column <= 0)
		return node_error(err, n, "%s", text);
	if (!n->text_column) /* folded over lines, or with escapes */
		return node_error(err, n, "character %d of the text: %s", column, text);
	return error_set(err, EXIT_USAGE, "%s: %s", place, text);
}

int node_unknown(struct error *err, const struct node *n, const char *what,
		 const char *const *known, size_t nknown)
{
	const char *nearest = str_nearest(n->text, known, nknown);
	cleanup_strbuf struct strbuf list = STRBUF_INIT;

	if (nearest)
		return node_error(err, n, "unknown %s \"%.*s\"; did you mean %s?", what, SHOWN_MAX,
				  n->text, nearest);
	for (size_t i = 0; i < nknown; i++)
		strbuf_addf(&list, "%s%s", i ? ", " : "", known[i]);
	return node_error(err, n, "unknown %s \"%.*s\"; known are: %s", what, SHOWN_MAX, n->text,
			  nknown ? list.data : "none");
}

const char *node_kind_name(const struct node *n)
{
	static const char *const names[] = { "text", "a list", "a map" };

	if (n->kind == NODE_SCALAR && !*n->text && !n->quoted)
		return "nothing";
	return names[n->kind];
}
