// SPDX-License-Identifier: GPL-2.0-only
/* An axis that changes nothing makes cells that are the same, and a table that compares nothing. */
#include <ctype.h>
#include <string.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"

static bool text_names(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = text; (p = strstr(p, name)); p++) {
		bool begins = p == text || (!isalnum((unsigned char)p[-1]) && p[-1] != '_');

		if (begins && !isalnum((unsigned char)p[len]) && p[len] != '_')
			return true;
	}
	return false;
}

static bool tree_names(const struct node *n, const char *name)
{
	if (!n)
		return false;
	if (n->kind == NODE_SCALAR)
		return text_names(n->text, name);
	for (size_t i = 0; i < n->n; i++)
		if (tree_names(n->value[i], name))
			return true;
	return false;
}

/* By itself, or through names made of it. `seen` are bits of the constants, and of the axes above. */
static bool is_used(const struct node *root, const char *name, bool *seen)
{
	static const char *const places[] = { "vm", "sysctl", "layout", "workload", "background" };
	static const char *const made[] = { "constants", "vary" };
	size_t k = 0;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (tree_names(node_get(root, places[i]), name))
			return true;
	for (size_t m = 0; m < ARRAY_SIZE(made); m++) {
		const struct node *map = node_get(root, made[m]);

		for (size_t i = 0; map && i < map->n; i++, k++) {
			if (seen[k] || !tree_names(map->value[i], name))
				continue;
			seen[k] = true;
			if (is_used(root, map->key[i]->text, seen))
				return true;
		}
	}
	return false;
}

int axes_check(const struct scenario *s, struct error *err)
{
	const struct node *vary = node_get(s->root, "vary"), *constants = node_get(s->root, "constants");
	size_t names = (vary ? vary->n : 0) + (constants ? constants->n : 0);

	for (size_t i = 0; vary && i < vary->n; i++) {
		cleanup_free bool *seen = xcalloc(names, sizeof(*seen));

		if (!is_used(s->root, vary->key[i]->text, seen))
			return node_error(err, vary->key[i],
					  "\"%s\" is varied, and nothing uses it: name it in vm, layout, sysctl or "
					  "workload, or remove it here",
					  vary->key[i]->text);
	}
	return 0;
}
