// SPDX-License-Identifier: GPL-2.0-only
/* The form of a layout, and of the parameters of its steps. */
#include <ctype.h>
#include <string.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"

/* The kind of a value only; what it comes to is seen when it is expanded. */
static int check_param(const struct param_spec *p, const struct node *key, const struct node *n,
		       struct error *err)
{
	if (p->kind == PARAM_AMOUNT && n->kind == NODE_MAP)
		return 0;
	return check_text(NULL, key, n, err);
}

/* How many characters of a name stand before the number that it ends with; 0: it ends with none. */
static size_t stem_length(const char *name)
{
	size_t len = strlen(name), stem = len;

	while (stem && isdigit((unsigned char)name[stem - 1]))
		stem--;
	return stem < len ? stem : 0;
}

/* Of names that are numbered (order0 ... order10) the first and the last say more than the nearest. */
static int unknown_param(const struct node *key, const char *what, const char *const *names, size_t n,
			 struct error *err)
{
	size_t stem = stem_length(key->text), first = n, last = n;

	for (size_t i = 0; stem && i < n; i++) {
		if (stem_length(names[i]) != stem || memcmp(names[i], key->text, stem) != 0)
			continue;
		first = first == n ? i : first;
		last = i;
	}
	if (first == last)
		return node_unknown(err, key, what, names, n);
	return node_error(err, key, "unknown %s \"%.60s\"; there are %s to %s", what, key->text, names[first],
			  names[last]);
}

int check_params(const struct param_spec *spec, size_t nspec, const struct node *name,
			const struct node *n, struct error *err)
{
	cleanup_free char *what = str_printf("parameter of %s", name->text);
	cleanup_free const char **names = xcalloc(nspec, sizeof(*names));

	if (n->kind == NODE_SCALAR && !*n->text && !n->quoted)
		return 0;
	if (check_kind(name, n, NODE_MAP, "a map of parameters", err) < 0)
		return -1;
	for (size_t i = 0; i < nspec; i++)
		names[i] = spec[i].name;
	for (size_t i = 0; i < n->n; i++) {
		size_t p = 0;

		while (p < nspec && strcmp(spec[p].name, n->key[i]->text) != 0)
			p++;
		if (p == nspec)
			return unknown_param(n->key[i], what, names, nspec, err);
		if (check_param(&spec[p], n->key[i], n->value[i], err) < 0)
			return -1;
	}
	return 0;
}

static int check_step(const struct scenario *s, const struct node *n, bool repeated, struct error *err);

/* One level only: what a second `round` would be is nobody's guess. */
static int check_repeat(const struct scenario *s, const struct node *key, const struct node *n,
			struct error *err)
{
	static const char *const known[] = { "times", "steps" };
	const struct node *steps = node_get(n, "steps"), *times = node_get(n, "times");

	if (check_kind(key, n, NODE_MAP, "a map such as {times: 3, steps: [...]}", err) < 0)
		return -1;
	for (size_t i = 0; i < n->n; i++)
		if (n->value[i] != steps && n->value[i] != times)
			return node_unknown(err, n->key[i], "key of repeat", known, ARRAY_SIZE(known));
	if (!times || !steps)
		return node_error(err, key, "repeat needs %s", times ? "steps: a list" : "times: how often");
	if (check_text(s, n->key[node_index(n, "times")], times, err) < 0)
		return -1;
	if (steps->kind != NODE_LIST || !steps->n)
		return node_error(err, steps, "steps must be a list of steps, one at least");
	for (size_t i = 0; i < steps->n; i++)
		if (check_step(s, steps->value[i], true, err) < 0)
			return -1;
	return 0;
}

static bool is_step(const struct scenario *s, const char *name)
{
	for (size_t i = 0; i < s->tables.nsteps; i++)
		if (strcmp(s->tables.step[i]->name, name) == 0)
			return true;
	return false;
}

static int check_step(const struct scenario *s, const struct node *n, bool repeated, struct error *err)
{
	cleanup_free const char **names = xcalloc(s->tables.nsteps + 1, sizeof(*names));

	if (n->kind == NODE_MAP && (node_get(n, "use") || node_get(n, "with")))
		return node_error(err, n, "a layout that has a name cannot use another one");
	if (n->kind == NODE_SCALAR && is_step(s, n->text))
		return node_error(err, n, "a step of the layout has parameters, or none: write \"%s: {}\"",
				  n->text);
	if (n->kind != NODE_MAP || n->n != 1)
		return node_error(err, n,
				  "a step of the layout is one word with parameters, as in "
				  "free: {where: \"...\"}; here is %s",
				  n->kind == NODE_MAP ? "not one word" : node_kind_name(n));
	if (strcmp(n->key[0]->text, STEP_REPEAT) == 0)
		return repeated ? node_error(err, n->key[0], "repeat cannot stand within repeat") :
				  check_repeat(s, n->key[0], n->value[0], err);
	for (size_t i = 0; i < s->tables.nsteps; i++) {
		names[i] = s->tables.step[i]->name;
		if (strcmp(names[i], n->key[0]->text) == 0)
			return check_params(s->tables.step[i]->params, s->tables.step[i]->nparams,
					    n->key[0], n->value[0], err);
	}
	names[s->tables.nsteps] = STEP_REPEAT;
	return node_unknown(err, n->key[0], "step of a layout", names, s->tables.nsteps + 1);
}

int check_layout(const struct scenario *s, const struct node *key, const struct node *n,
			struct error *err)
{
	if (check_kind(key, n, NODE_LIST, "a list of steps, or the name of a layout", err) < 0)
		return -1;
	if (!n->n)
		return node_error(err, n,
				  "layout has no steps; list one, as in [fill: {leave: 100M}], or leave layout out");
	for (size_t i = 0; i < n->n; i++)
		if (check_step(s, n->value[i], false, err) < 0)
			return -1;
	return 0;
}
