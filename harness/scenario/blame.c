// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where an error in a value is told. A value shows to be bad where it is used, but what is to be
 * changed may stand elsewhere: in the `with` of a named layout, in --set, in --memory.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"

/* The later it is written, the higher: defaults, a named layout, the scenario, the command line. */
enum rank { RANK_DEFAULT, RANK_LAYOUT, RANK_SCENARIO, RANK_OPTION };

struct search {
	const struct env *env;
	bool *seen;		   /* by variable */
	const struct node *node;   /* the best so far */
	const struct env_var *var; /* whose value it is, or NULL */
	enum rank rank;		   /* what is not above it is no better */
	struct strbuf axes;	   /* "step is 0": those that were met, and round */
};

static enum rank rank_of(const struct env *env, const struct node *n)
{
	if (strcmp(n->label, env->root->label) == 0)
		return RANK_SCENARIO;
	if (str_starts(n->label, "--set ") || strcmp(n->label, MEMORY_OPTION) == 0)
		return RANK_OPTION;
	return n->is_default ? RANK_DEFAULT : RANK_LAYOUT;
}

static void consider(struct search *s, const struct node *n, const struct env_var *var)
{
	if (rank_of(s->env, n) <= s->rank)
		return;
	s->rank = rank_of(s->env, n);
	s->node = n;
	s->var = var;
}

static void search_text(struct search *s, const char *text);

static void meet_axis(struct search *s, const struct env_var *v)
{
	const struct node *axis = node_get(node_get(s->env->root, "vary"), v->name);
	bool round = strcmp(v->name, STEP_ROUND) == 0;

	if (!round && (!axis || axis->n < 2))
		return;
	strbuf_addf(&s->axes, "%s%s is ", s->axes.len ? ", " : "", v->name);
	if (round)
		strbuf_addf(&s->axes, "%" PRId64, v->number);
	else
		strbuf_addf(&s->axes, "%.60s", v->node->text);
}

static void search_var(struct search *s, const struct env_var *v)
{
	size_t i = (size_t)(v - s->env->var);

	if (s->seen[i])
		return;
	s->seen[i] = true;
	consider(s, v->node, v);
	meet_axis(s, v);
	if (v->state != ENV_TEXT)
		search_text(s, v->node->text);
}

/* The next name in an expression, heap; NULL: no more. */
static char *next_name(const char **text)
{
	while (**text) {
		const char *start = *text;
		size_t len = 0;

		while (isalnum((unsigned char)start[len]) || start[len] == '_')
			len++;
		*text += len ? len : 1;
		if (len && !isdigit((unsigned char)*start))
			return xstrndup(start, len);
	}
	return NULL;
}

/* Every name in an expression, and those that they are made of. */
static void search_text(struct search *s, const char *text)
{
	char *name;

	while ((name = next_name(&text))) {
		const struct env_var *v = env_find(s->env, name);

		if (v)
			search_var(s, v);
		free(name);
	}
}

bool env_names(const struct env *env, const char *text)
{
	bool found = false;
	char *name;

	while (!found && (name = next_name(&text))) {
		found = env_find(env, name);
		free(name);
	}
	return found;
}

static void search_node(struct search *s, const struct node *n)
{
	consider(s, n, NULL);
	if (n->kind == NODE_SCALAR)
		search_text(s, n->text);
	for (size_t i = 0; i < n->n; i++)
		search_node(s, n->value[i]);
}

/* "step is 0: ", unless the text begins so by itself. */
static char *prefix_of(const struct search *s, const char *text)
{
	const struct env_var *v = s->var;
	cleanup_free char *is = v ? str_printf("%s is ", v->name) : NULL;

	if (!v || v->state != ENV_NUMBER || str_starts(text, is))
		return xstrdup("");
	if (strcmp(v->name, "memory") == 0) {
		cleanup_free char *size = str_format_bytes((uint64_t)v->number);

		return str_printf("%s%s: ", is, size);
	}
	return str_printf("%s%" PRId64 ": ", is, v->number);
}

static int tell(const struct search *s, const struct blame *b, const char *text, struct error *err)
{
	cleanup_free char *prefix = prefix_of(s, text), *place = node_place(b->at, b->column);

	if (s->node)
		return node_error(err, s->node, "%s%s (in %s)", prefix, text, place);
	if (s->axes.len)
		return node_error_at(err, b->at, b->column, "%s (where %s)", text, s->axes.data);
	return node_error_at(err, b->at, b->column, "%s", text);
}

int env_blame(const struct env *env, const struct blame *b, struct error *err, const char *fmt, ...)
{
	const struct env_var *also = b->also ? env_find(env, b->also) : NULL;
	struct search s = { .env = env, .rank = rank_of(env, b->at), .axes = STRBUF_INIT };
	cleanup_free bool *seen = xcalloc(env->n, sizeof(*seen));
	cleanup_free char *text = NULL;
	va_list ap;
	int ret;

	s.seen = seen;
	va_start(ap, fmt);
	text = str_vprintf(fmt, ap);
	va_end(ap);
	if (b->made_of)
		search_node(&s, b->made_of);
	if (b->text)
		search_text(&s, b->text);
	if (also)
		search_var(&s, also);
	ret = tell(&s, b, text, err);
	strbuf_free(&s.axes);
	return ret;
}
