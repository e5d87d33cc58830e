// SPDX-License-Identifier: GPL-2.0-only
/* --set KEY=VALUE: edits the tree, which is then checked as if the file had said so. */
#include <string.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

struct assignment {
	char *label; /* "--set KEY=VALUE": the "file" of its errors; columns count from KEY */
	const char *key, *value;
	size_t key_len;
	int value_column;
};

static struct node *child(const struct node *map, const char *key)
{
	long i = node_index(map, key);

	return i < 0 ? NULL : map->value[i];
}

/* Commas outside brackets part the values: "min(1,2),4" is two. Length of the first. */
static size_t value_length(const char *text)
{
	int depth = 0;
	size_t n = 0;

	for (; text[n] && (text[n] != ',' || depth > 0); n++)
		depth += text[n] == '(' ? 1 : text[n] == ')' ? -1 : 0;
	return n;
}

static bool is_list(const struct assignment *a)
{
	return a->value[value_length(a->value)] == ',';
}

static struct node *value_scalar(const struct assignment *a)
{
	return node_scalar(a->label, a->value_column, a->value, strlen(a->value));
}

static struct node *value_list(const struct assignment *a)
{
	struct node *list = node_new(NODE_LIST, a->label, 1, a->value_column);
	const char *p = a->value;

	for (;;) {
		size_t len = value_length(p);

		node_add(list, NULL,
			 node_scalar(a->label, a->value_column + (int)(p - a->value), p, len));
		if (!p[len])
			return list;
		p += len + 1;
	}
}

/* ---- constants and axes ---- */

static struct node *top_map(struct scenario *s, const struct assignment *a, const char *name)
{
	struct node *map = child(s->root, name);

	if (!map) {
		map = node_new(NODE_MAP, a->label, 1, 1);
		node_add(s->root, node_scalar(a->label, 1, name, strlen(name)), map);
	}
	return map;
}

/* A list makes an axis of a constant; one value for an axis leaves an axis of one. */
static bool set_variable(struct scenario *s, const struct assignment *a, const char *name)
{
	struct node *constants = child(s->root, "constants"), *vary = child(s->root, "vary");
	long constant = node_index(constants, name);

	if (node_index(vary, name) < 0 && constant < 0)
		return false;
	if (constant >= 0 && !is_list(a)) {
		node_replace(constants, node_scalar(a->label, 1, name, strlen(name)),
			     value_scalar(a));
		return true;
	}
	if (constant >= 0)
		node_remove(constants, (size_t)constant);
	node_replace(top_map(s, a, "vary"), node_scalar(a->label, 1, name, strlen(name)),
		     value_list(a));
	return true;
}

/* ---- paths ---- */

struct path {
	const char *rest; /* not yet walked */
	struct node *at;
};

/* The first part of the path; `rest` moves behind its dot. */
static char *next_part(struct path *p)
{
	size_t len = strcspn(p->rest, ".");
	char *part = xstrndup(p->rest, len);

	p->rest += len + (p->rest[len] == '.');
	return part;
}

static int path_error(const struct assignment *a, const struct path *p, struct error *err,
		      const char *text)
{
	return error_set(err, EXIT_USAGE, "%s:1:%d: %s", a->label, (int)(p->rest - a->key) + 1,
			 text);
}

/* "workload: {tmpfs-files: {...}}" and a step of the layout: the name between may be left out. */
static void skip_name(struct path *p)
{
	struct node *map = p->at;
	size_t len;

	if (map->kind != NODE_MAP || map->n != 1)
		return;
	len = strlen(map->key[0]->text);
	if (strncmp(p->rest, map->key[0]->text, len) == 0 && p->rest[len] == '.')
		p->rest += len + 1;
	if (map->value[0]->kind != NODE_MAP) {
		struct node *empty = node_new(NODE_MAP, map->label, map->line, map->column);

		node_free(map->value[0]);
		map->value[0] = empty;
	}
	p->at = map->value[0];
}

static int walk_layout(const struct assignment *a, struct path *p, struct error *err)
{
	const char *start = p->rest;
	cleanup_free char *part = next_part(p);
	uint64_t i;

	if (!p->at->n || str_parse_u64(part, 0, p->at->n - 1, &i, NULL) < 0) {
		p->rest = start;
		return path_error(a, p, err,
				  "which step of the layout? Count from 0, as in layout.0.leave");
	}
	p->at = p->at->value[i];
	skip_name(p);
	return 0;
}

/* One amount has one unit: another one takes the place of what was written. */
static bool is_amount_unit(const char *word)
{
	static const char *const units[] = AMOUNT_UNITS;

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strcmp(word, units[i]) == 0)
			return true;
	return false;
}

static void set_amount(const struct assignment *a, struct path *p)
{
	int column = (int)(p->rest - a->key) + 1;
	cleanup_free char *name = next_part(p);
	struct node *amount = node_new(NODE_MAP, a->label, 1, column);

	node_add(amount,
		 node_scalar(a->label, (int)(p->rest - a->key) + 1, p->rest, strlen(p->rest)),
		 value_scalar(a));
	node_replace(p->at, node_scalar(a->label, column, name, strlen(name)), amount);
}

static void set_leaf(const struct assignment *a, struct path *p)
{
	int column = (int)(p->rest - a->key) + 1;
	const struct node *old = child(p->at, p->rest);
	bool list = (old && old->kind == NODE_LIST) || is_list(a);

	node_replace(p->at, node_scalar(a->label, column, p->rest, strlen(p->rest)),
		     list ? value_list(a) : value_scalar(a));
}

static const struct {
	const char *key;
	int depth; /* maps between the key and what can be set; 0: the value itself */
} settable[] = { { "vm", 1 },	     { "constants", 1 }, { "vary", 1 },	   { "table", 1 },
		 { "limits", 1 },    { "sysctl", 2 },	 { "layout", 1 },  { "workload", 1 },
		 { "name", 0 },	     { "title", 0 },	 { "kernel", 0 },  { "tolerance", 0 },
		 { "sample_ms", 0 }, { "runs", 0 },	 { "metrics", 0 }, { "needs", 0 },
		 { "modules", 0 },   { "profile", 0 },	 { "background", 1 } };

/* Into the map named by the first part, which is made where the file has none. */
static int walk_map(const struct assignment *a, struct path *p, enum node_kind kind,
		    struct error *err)
{
	const char *start = p->rest;
	cleanup_free char *part = next_part(p);
	struct node *next = child(p->at, part);

	if (!*p->rest) {
		p->rest = start;
		return path_error(a, p, err,
				  "names a whole group; set one of its members, as in vm.cpus");
	}
	if (!next) {
		next = node_new(kind, a->label, 1, 1);
		node_add(p->at,
			 node_scalar(a->label, (int)(start - a->key) + 1, part, strlen(part)),
			 next);
	}
	p->at = next;
	return 0;
}

static int set_path(struct scenario *s, const struct assignment *a, const char *key, size_t which,
		    struct error *err)
{
	struct path p = { .rest = key, .at = s->root };
	bool layout = strcmp(settable[which].key, "layout") == 0;
	const char *dot;

	for (int i = 0; i < settable[which].depth; i++)
		if (walk_map(a, &p, layout ? NODE_LIST : NODE_MAP, err) < 0)
			return -1;
	if (layout && walk_layout(a, &p, err) < 0)
		return -1;
	if (strcmp(settable[which].key, "vm") == 0 && str_starts(p.rest, "swap.") &&
	    walk_map(a, &p, NODE_MAP, err) < 0)
		return -1;
	if (strcmp(settable[which].key, "background") == 0 && str_starts(p.rest, "workload.") &&
	    walk_map(a, &p, NODE_MAP, err) < 0)
		return -1;
	if (strcmp(settable[which].key, "workload") == 0 || p.at == node_get(node_get(s->root, "background"), "workload"))
		skip_name(&p);
	if (!*p.rest || p.at->kind != NODE_MAP)
		return path_error(a, &p, err,
				  "names nothing that can be set; add a parameter, as in "
				  "layout.0.leave");
	dot = strchr(p.rest, '.');
	if (dot && is_amount_unit(dot + 1))
		set_amount(a, &p);
	else
		set_leaf(a, &p);
	return 0;
}

static int unknown_key(const struct scenario *s, const struct assignment *a, const char *key,
		       struct error *err)
{
	const struct node *maps[] = { node_get(s->root, "constants"), node_get(s->root, "vary") };
	cleanup_free char *first = xstrndup(key, strcspn(key, "."));
	cleanup_node struct node *place = node_scalar(a->label, 1, first, strlen(first));
	cleanup_free const char **names = NULL;
	size_t n = 0;

	names = xcalloc(scenario_key_count + 2 + (maps[0] ? maps[0]->n : 0) +
				(maps[1] ? maps[1]->n : 0),
			sizeof(*names));
	for (size_t m = 0; m < ARRAY_SIZE(maps); m++)
		for (size_t i = 0; maps[m] && i < maps[m]->n; i++)
			names[n++] = maps[m]->key[i]->text;
	names[n++] = "memory";
	names[n++] = "cpus";
	for (size_t i = 0; i < scenario_key_count; i++)
		names[n++] = scenario_keys[i];
	return node_unknown(err, place, "key", names, n);
}

/* What is a list of maps is written in a file. */
static int refuse_list(const struct assignment *a, const char *key, struct error *err)
{
	static const struct {
		const char *key, *hint;
	} lists[] = { { "kernels", "choose with --kernel, which also takes a name of the scenario's list" },
		      { "leave_out", "copy the scenario and change it there" } };
	size_t len = strcspn(key, ".");

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		if (strlen(lists[i].key) != len || memcmp(lists[i].key, key, len) != 0)
			continue;
		error_set(err, EXIT_USAGE, "%s:1:1: %s cannot be set", a->label, lists[i].key);
		return error_hint(err, "%s", lists[i].hint);
	}
	return 0;
}

static int apply(struct scenario *s, const struct assignment *a, const char *key, struct error *err)
{
	size_t len = strcspn(key, ".");

	if (!key[len] && set_variable(s, a, key))
		return 0;
	if (strcmp(key, "layout") == 0)
		return layouts_replace(s->root, &s->tables, value_scalar(a), err);
	if (refuse_list(a, key, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(settable); i++)
		if (strlen(settable[i].key) == len && memcmp(settable[i].key, key, len) == 0)
			return set_path(s, a, key, i, err);
	return unknown_key(s, a, key, err);
}

int scenario_set(struct scenario *s, const char *assignment, struct error *err)
{
	const char *equals = strchr(assignment, '=');
	cleanup_free char *key = NULL, *label = str_printf("--set %s", assignment);
	cleanup_node struct node *before = NULL;
	struct assignment a = { .label = label };

	if (!equals || equals == assignment || !equals[1])
		return error_set(err, EXIT_USAGE, "--set %s: write it as KEY=VALUE", assignment);
	key = xstrndup(assignment, (size_t)(equals - assignment));
	if (strcmp(key, "memory") == 0 || strcmp(key, "cpus") == 0) {
		char *longer = str_printf("vm.%s", key);

		free(key);
		key = longer;
	}
	a.key = key;
	a.value = equals + 1;
	a.value_column = (int)(equals - assignment) + 2;
	before = node_copy(s->root);
	if (apply(s, &a, key, err) == 0) {
		leave_out_prune(s);
		if (scenario_check(s, err) == 0)
			return 0;
	}
	node_free(s->root); /* as it was: half an assignment is none */
	s->root = STEAL(before);
	return -1;
}
