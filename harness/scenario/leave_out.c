// SPDX-License-Identifier: GPL-2.0-only
/* `leave_out:`: cells of the matrix that are not run. */
#include <string.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"

#define KERNEL_KEY "kernel"

struct scenario_rule {
	struct scenario_condition {
		char *key;   /* "kernel", or an axis */
		char **text; /* any of these; NULL-terminated */
	} * condition;	     /* all of them */
	size_t n;
};

/* ---- form ---- */

int leave_out_check(const struct scenario *s, const struct node *key, const struct node *n,
		    struct error *err)
{
	static const char form[] = "a list such as [{kernel: patched, residue: 0}]";

	if (n->kind != NODE_LIST)
		return node_error(err, n, "leave_out must be %s, not %s", form, node_kind_name(n));
	for (size_t i = 0; i < n->n; i++) {
		const struct node *rule = n->value[i];

		if (rule->kind != NODE_MAP || !rule->n)
			return node_error(err, rule, "leave_out must be %s; here is %s", form,
					  rule->kind == NODE_MAP ? "an empty map" :
								   node_kind_name(rule));
		for (size_t k = 0; k < rule->n; k++)
			if (texts_check(rule->key[k], rule->value[k], err) < 0)
				return -1;
	}
	return 0;
}

/* What the axis of a condition has: NULL for a key that is none. The heap array only is the caller's. */
static const char **values_of(const struct scenario *s, const char *key, size_t *n)
{
	const struct node *axis = node_get(node_get(s->root, "vary"), key);
	const char **known;

	*n = 0;
	if (!axis)
		return NULL;
	known = xcalloc(axis->n, sizeof(*known));
	for (; *n < axis->n; (*n)++)
		known[*n] = axis->value[*n]->text;
	return known;
}

static bool is_known(const char *text, const char *const *known, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(known[i], text) == 0)
			return true;
	return false;
}

/* The first text that is none of these; NULL: there is none. */
static const struct node *first_other(const struct node *texts, const char *const *known, size_t n)
{
	for (size_t i = 0; i < texts_count(texts); i++)
		if (!is_known(texts_at(texts, i)->text, known, n))
			return texts_at(texts, i);
	return NULL;
}

/* The nearest is no guess where values are numbers. */
static int check_axis_values(const char *const *known, size_t n, const char *name,
			     const struct node *texts, struct error *err)
{
	const struct node *other = first_other(texts, known, n);
	cleanup_strbuf struct strbuf all = STRBUF_INIT;

	if (!other)
		return 0;
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&all, "%s%s", i ? ", " : "", known[i]);
	return node_error(err, other, "%s has no value %.60s; it has %s", name, other->text,
			  all.data);
}

static int check_kernel_names(const struct scenario *s, const struct node *texts, struct error *err)
{
	size_t n;
	char **names = kernels_names(s, &n);
	const char *const *known = (const char *const *)names;
	const struct node *other = first_other(texts, known, n);
	int ret = other ? node_unknown(err, other, "kernel", known, n) : 0;

	texts_free(names);
	return ret;
}

static int unknown_key(const struct node *key, const struct node *vary, struct error *err)
{
	cleanup_free const char **known = xcalloc((vary ? vary->n : 0) + 1, sizeof(*known));
	size_t n = 0;

	known[n++] = KERNEL_KEY;
	for (size_t i = 0; vary && i < vary->n; i++)
		known[n++] = vary->key[i]->text;
	return node_unknown(err, key, "axis in leave_out", known, n);
}

static int check_condition(const struct scenario *s, const struct node *key,
			   const struct node *texts, struct error *err)
{
	size_t n;
	cleanup_free const char **known = values_of(s, key->text, &n);

	if (known)
		return check_axis_values(known, n, key->text, texts, err);
	return strcmp(key->text, KERNEL_KEY) == 0 ?
		       check_kernel_names(s, texts, err) :
		       unknown_key(key, node_get(s->root, "vary"), err);
}

int leave_out_check_names(const struct scenario *s, struct error *err)
{
	const struct node *list = node_get(s->root, "leave_out");

	for (size_t i = 0; list && i < list->n; i++)
		for (size_t k = 0; k < list->value[i]->n; k++)
			if (check_condition(s, list->value[i]->key[k], list->value[i]->value[k],
					    err) < 0)
				return -1;
	return 0;
}

/* ---- --set ---- */

static void list_remove(struct node *list, size_t i)
{
	node_free(list->value[i]);
	list->n--;
	memmove(list->value + i, list->value + i + 1, (list->n - i) * sizeof(*list->value));
}

/* Without the values that are gone; false: none is left. */
static bool prune_texts(struct node *texts, const char *const *known, size_t n)
{
	if (texts->kind != NODE_LIST)
		return is_known(texts->text, known, n);
	for (size_t i = texts->n; i-- > 0;)
		if (!is_known(texts->value[i]->text, known, n))
			list_remove(texts, i);
	return texts->n > 0;
}

/* False: it holds for no cell any more. */
static bool prune_rule(const struct scenario *s, struct node *rule)
{
	for (size_t k = 0; k < rule->n; k++) {
		bool kernel = strcmp(rule->key[k]->text, KERNEL_KEY) == 0, holds;
		size_t n;
		cleanup_free const char **known = values_of(s, rule->key[k]->text, &n);
		char **names = !known && kernel ? kernels_names(s, &n) : NULL;

		holds = prune_texts(rule->value[k], names ? (const char *const *)names : known, n);
		texts_free(names);
		if (!holds)
			return false;
	}
	return true;
}

void leave_out_prune(struct scenario *s)
{
	long at = node_index(s->root, "leave_out");
	struct node *list = at < 0 ? NULL : s->root->value[at];

	for (size_t i = list ? list->n : 0; i-- > 0;)
		if (!prune_rule(s, list->value[i]))
			list_remove(list, i);
}

/* ---- the plan ---- */

static void fill_rule(const struct node *map, struct scenario_rule *rule)
{
	rule->n = map->n;
	rule->condition = xcalloc(map->n, sizeof(*rule->condition));
	for (size_t i = 0; i < map->n; i++) {
		struct scenario_condition *c = &rule->condition[i];

		c->key = xstrdup(map->key[i]->text);
		c->text = xcalloc(texts_count(map->value[i]) + 1, sizeof(*c->text));
		for (size_t k = 0; k < texts_count(map->value[i]); k++)
			c->text[k] = xstrdup(texts_at(map->value[i], k)->text);
	}
}

void leave_out_expand(const struct scenario *s, struct scenario_plan *plan)
{
	const struct node *list = node_get(s->root, "leave_out");

	plan->nrules = list ? list->n : 0;
	plan->rule = xcalloc(plan->nrules, sizeof(*plan->rule));
	for (size_t i = 0; i < plan->nrules; i++)
		fill_rule(list->value[i], &plan->rule[i]);
}

void leave_out_free(struct scenario_plan *plan)
{
	for (size_t i = 0; i < plan->nrules; i++) {
		for (size_t k = 0; k < plan->rule[i].n; k++) {
			free(plan->rule[i].condition[k].key);
			texts_free(plan->rule[i].condition[k].text);
		}
		free(plan->rule[i].condition);
	}
	free(plan->rule);
}

static const char *value_at(const struct variant *v, const char *axis)
{
	for (size_t i = 0; i < v->nvalues; i++)
		if (strcmp(v->value[i].name, axis) == 0)
			return v->value[i].text;
	return NULL;
}

static bool condition_holds(const struct scenario_condition *c, const char *kernel,
			    const struct variant *v)
{
	const char *value = value_at(v, c->key);

	if (!value && strcmp(c->key, KERNEL_KEY) == 0)
		value = kernel;
	for (char **text = c->text; value && *text; text++)
		if (strcmp(*text, value) == 0)
			return true;
	return false;
}

bool scenario_leaves_out(const struct scenario_plan *plan, const char *kernel, size_t variant)
{
	for (size_t i = 0; i < plan->nrules; i++) {
		const struct scenario_rule *rule = &plan->rule[i];
		size_t k = 0;

		while (k < rule->n &&
		       condition_holds(&rule->condition[k], kernel, &plan->variant[variant]))
			k++;
		if (k == rule->n)
			return true;
	}
	return false;
}
