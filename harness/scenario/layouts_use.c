// SPDX-License-Identifier: GPL-2.0-only
/* Named layouts in the place of their names: as the whole layout, or among its steps. */
#include <string.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"

#define USES_MAX 250 /* there are no more steps */

struct uses {
	struct node *root;
	const struct scenario_tables *tables;
	struct layout_entry *list; /* once it was needed */
	size_t nlist;
	struct node *vm;     /* what the layouts need of the guest, likewise */
	struct node *merged; /* constants of the layouts; the document gets them in the end */
	size_t n;
};

static int load_named(struct uses *u, const struct node *name, struct node **file, struct error *err)
{
	cleanup_free const char **names = NULL;
	size_t i = 0;

	if (u->n++ == USES_MAX)
		return node_error(err, name, "more than %d layouts are used", USES_MAX);
	if (!u->list && layout_list(&u->list, &u->nlist, err) < 0)
		return -1;
	names = xcalloc(u->nlist, sizeof(*names));
	for (size_t k = 0; k < u->nlist; k++)
		names[k] = u->list[k].name;
	while (i < u->nlist && strcmp(names[i], name->text) != 0)
		i++;
	return i < u->nlist ? layout_load(u->list[i].path, file, err) :
			      node_unknown(err, name, "layout", names, u->nlist);
}

/* A name that the document gives a value itself. */
static bool is_own(const struct uses *u, const char *name)
{
	return node_get(node_get(u->root, "constants"), name) || node_get(node_get(u->root, "vary"), name);
}

/* `with`: constants of the layout only, which the document has not. */
static int check_with(const struct uses *u, const struct node *with, const struct node *constants,
		      struct error *err)
{
	cleanup_free const char **names = xcalloc(constants ? constants->n : 0, sizeof(*names));

	for (size_t i = 0; constants && i < constants->n; i++)
		names[i] = constants->key[i]->text;
	if (with->kind != NODE_MAP)
		return node_error(err, with, "with must be a map of constants, not %s",
				  node_kind_name(with));
	for (size_t i = 0; i < with->n; i++) {
		const struct node *key = with->key[i];

		if (!node_get(constants, key->text))
			return node_unknown(err, key, "constant of the layout", names,
					    constants ? constants->n : 0);
		if (is_own(u, key->text))
			return node_error(err, key,
					  "\"%s\" is a name of the scenario already, which the layout "
					  "takes; remove it here",
					  key->text);
	}
	return 0;
}

/* Another layout has the name: with the same value it is one constant. */
static int check_same(const struct node *old, const struct node *value, const struct node *at,
		      const char *name, struct error *err)
{
	cleanup_free char *place = node_place(old, 0);

	if (old->kind != NODE_SCALAR || value->kind != NODE_SCALAR || strcmp(old->text, value->text) == 0)
		return 0;
	return node_error(err, at,
			  "\"%s\" is %.60s by %s, and would be %.60s here; a name has one value in a scenario: "
			  "set it in constants",
			  name, old->text, place, value->text);
}

static int merge_constants(struct uses *u, const struct node *name, const struct node *constants,
			   const struct node *with, struct error *err)
{
	for (size_t i = 0; constants && i < constants->n; i++) {
		const char *word = constants->key[i]->text;
		const struct node *given = node_get(with, word), *old = node_get(u->merged, word);
		const struct node *value = given ? given : constants->value[i];

		if (is_own(u, word))
			continue;
		if (!old)
			node_add(u->merged, node_copy(constants->key[i]), node_copy(value));
		else if (check_same(old, value, given ? given : name, word, err) < 0)
			return -1;
	}
	return 0;
}

/* The scenario's own word comes first, also over what two layouts say. */
static int merge_vm(struct uses *u, const struct node *name, const struct node *vm, struct error *err)
{
	for (size_t i = 0; vm && i < vm->n; i++) {
		const struct node *old = node_get(u->vm, vm->key[i]->text);

		if (node_get(node_get(u->root, "vm"), vm->key[i]->text))
			continue;
		if (!old)
			node_add(u->vm, node_copy(vm->key[i]), node_copy(vm->value[i]));
		else if (strcmp(old->text, vm->value[i]->text) != 0)
			return node_error(err, name, "another layout here needs vm: {%s: %.60s}, and this one %.60s; "
					  "say in the scenario which",
					  vm->key[i]->text, old->text, vm->value[i]->text);
	}
	return 0;
}

static int find_use(const struct node *layout, const struct node **name, const struct node **with,
		    struct error *err)
{
	static const char *const keys[] = { "use", "with" };

	*with = NULL;
	*name = layout;
	if (layout->kind == NODE_SCALAR)
		return 0;
	for (size_t i = 0; i < layout->n; i++)
		if (strcmp(layout->key[i]->text, "use") != 0 && strcmp(layout->key[i]->text, "with") != 0)
			return node_unknown(err, layout->key[i], "key of layout", keys, ARRAY_SIZE(keys));
	*name = node_get(layout, "use");
	*with = node_get(layout, "with");
	if (!*name || (*name)->kind != NODE_SCALAR)
		return node_error(err, layout, "layout needs use: the name of a layout");
	return 0;
}

/* The list of steps that `written` names, to be freed. */
static int use(struct uses *u, const struct node *written, struct node **steps, struct error *err)
{
	cleanup_node struct node *file = NULL;
	const struct node *name, *with, *constants;

	if (find_use(written, &name, &with, err) < 0 || load_named(u, name, &file, err) < 0)
		return -1;
	constants = node_get(file, "constants");
	if (with && check_with(u, with, constants, err) < 0)
		return -1;
	if (merge_constants(u, name, constants, with, err) < 0 ||
	    merge_vm(u, name, node_get(file, "vm"), err) < 0)
		return -1;
	*steps = node_copy(node_get(file, "layout"));
	return 0;
}

/* What is neither a step nor a name is for check_layout.c to judge. */
static bool is_use(const struct uses *u, const struct node *n)
{
	if (n->kind == NODE_MAP)
		return node_get(n, "use") || node_get(n, "with");
	if (n->kind != NODE_SCALAR || !*n->text || strcmp(n->text, STEP_REPEAT) == 0)
		return false;
	for (size_t i = 0; i < u->tables->nsteps; i++)
		if (strcmp(u->tables->step[i]->name, n->text) == 0)
			return false;
	return true;
}

static int use_in_list(struct uses *u, struct node *list, struct error *err);

static int use_in_repeat(struct uses *u, const struct node *step, struct error *err)
{
	const struct node *repeat = node_get(step, STEP_REPEAT);
	long at = node_index(repeat, "steps");

	if (at < 0 || repeat->value[at]->kind != NODE_LIST)
		return 0;
	return use_in_list(u, repeat->value[at], err);
}

/* Puts the steps of the layout in the place of item i; how many they are. */
static size_t splice(struct node *list, size_t i, struct node *steps)
{
	size_t n = steps->n;

	node_free(list->value[i]);
	list->value = xreallocarray(list->value, list->n + n, sizeof(*list->value));
	memmove(list->value + i + n, list->value + i + 1, (list->n - i - 1) * sizeof(*list->value));
	memcpy(list->value + i, steps->value, n * sizeof(*list->value));
	list->n += n - 1;
	steps->n = 0; /* handed over */
	return n;
}

static int use_in_list(struct uses *u, struct node *list, struct error *err)
{
	for (size_t i = 0; i < list->n;) {
		cleanup_node struct node *steps = NULL;

		if (is_use(u, list->value[i])) {
			if (use(u, list->value[i], &steps, err) < 0)
				return -1;
			i += splice(list, i, steps);
			continue;
		}
		if (use_in_repeat(u, list->value[i], err) < 0)
			return -1;
		i++;
	}
	return 0;
}

/* What the layouts bring into the map of the document, behind its own. */
static void add_merged(struct uses *u, const char *name, const struct node *merged)
{
	long at = node_index(u->root, name);
	struct node *own;

	if (!merged->n || (at >= 0 && u->root->value[at]->kind != NODE_MAP))
		return;
	if (at < 0) {
		own = node_new(NODE_MAP, u->root->label, u->root->line, u->root->column);
		node_add(u->root, node_scalar(u->root->label, 1, name, strlen(name)), own);
	} else {
		own = u->root->value[at];
	}
	for (size_t i = 0; i < merged->n; i++)
		node_add(own, node_copy(merged->key[i]), node_copy(merged->value[i]));
}

static int resolve(struct uses *u, size_t at, struct error *err)
{
	struct node *layout = u->root->value[at], *steps;

	if (layout->kind == NODE_LIST)
		return use_in_list(u, layout, err);
	if (layout->kind == NODE_SCALAR ? !*layout->text :
					  !node_get(layout, "use") && !node_get(layout, "with"))
		return 0; /* check.c judges it */
	if (use(u, layout, &steps, err) < 0)
		return -1;
	node_free(layout);
	u->root->value[at] = steps;
	return 0;
}

int layouts_resolve(struct node *root, const struct scenario_tables *tables, struct error *err)
{
	long at = node_index(root, "layout");
	struct uses u = { .root = root, .tables = tables };
	int ret;

	if (at < 0)
		return 0;
	u.merged = node_new(NODE_MAP, root->label, root->line, root->column);
	u.vm = node_new(NODE_MAP, root->label, root->line, root->column);
	ret = resolve(&u, (size_t)at, err);
	if (ret == 0) {
		add_merged(&u, "constants", u.merged);
		add_merged(&u, "vm", u.vm);
	}
	node_free(u.merged);
	node_free(u.vm);
	layout_list_free(u.list, u.nlist);
	return ret;
}

/* What a named layout has brought, unless --set has changed it meanwhile. */
static void drop_merged(struct node *root, const char *name)
{
	long at = node_index(root, name);
	struct node *map = at < 0 ? NULL : root->value[at];

	for (size_t i = map ? map->n : 0; i-- > 0;)
		if (strcmp(map->key[i]->label, root->label) != 0 &&
		    !str_starts(map->key[i]->label, "--set ") && !str_starts(map->value[i]->label, "--set "))
			node_remove(map, i);
}

int layouts_replace(struct node *root, const struct scenario_tables *tables, struct node *name,
		    struct error *err)
{
	drop_merged(root, "constants");
	drop_merged(root, "vm");
	node_replace(root, node_scalar(name->label, 1, "layout", strlen("layout")), name);
	return layouts_resolve(root, tables, err);
}
