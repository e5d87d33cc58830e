// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

static void add_var(struct env *env, const char *name, const struct node *node, bool may_be_text)
{
	env->var = xreallocarray(env->var, env->n + 1, sizeof(*env->var));
	env->var[env->n++] =
		(struct env_var){ .name = name, .node = node, .may_be_text = may_be_text };
}

static void set_number(struct env *env, struct env_var *v, int64_t number)
{
	v->state = ENV_NUMBER;
	v->number = number;
	env->consts = xreallocarray(env->consts, env->nconsts + 1, sizeof(*env->consts));
	env->consts[env->nconsts++] = (struct expr_const){ v->name, number, NULL };
}

/* A share is no number: it may stand for a share, an amount, or beside rand. */
static void set_share(struct env *env, struct env_var *v)
{
	v->state = ENV_TEXT;
	env->consts = xreallocarray(env->consts, env->nconsts + 1, sizeof(*env->consts));
	env->consts[env->nconsts++] = (struct expr_const){ v->name, 0, v->node->text };
}

static struct node round_node = { .kind = NODE_SCALAR,
				  .is_default = true,
				  .text = (char[]){ "0" },
				  .label = (char[]){ "repeat" },
				  .line = 1,
				  .column = 1 };

void env_set_round(struct env *env, int64_t round)
{
	struct env_var *last = env->n ? &env->var[env->n - 1] : NULL;

	if (last && last->node == &round_node) {
		env->n--;
		env->nconsts--;
	}
	if (round < 0)
		return;
	add_var(env, STEP_ROUND, &round_node, false);
	set_number(env, &env->var[env->n - 1], round);
}

const struct env_var *env_find(const struct env *env, const char *name)
{
	for (size_t i = 0; i < env->n; i++)
		if (strcmp(env->var[i].name, name) == 0)
			return &env->var[i];
	return NULL;
}

/* The variable whose name stands at the place of an error about an unknown name, or NULL. */
static const struct env_var *named_at(const struct env *env, const char *text,
				      const struct expr_error *e)
{
	const char *word;
	size_t len = 0;

	if (!str_starts(e->text, "unknown name") || e->column < 1)
		return NULL;
	word = text + e->column - 1;
	while (isalnum((unsigned char)word[len]) || word[len] == '_')
		len++;
	for (size_t i = 0; i < env->n; i++)
		if (strlen(env->var[i].name) == len && memcmp(env->var[i].name, word, len) == 0)
			return &env->var[i];
	return NULL;
}

/* The divisor, whose first word is at the column: a name, a number, or what stands in brackets. */
static char *divisor(const char *text, int column)
{
	const char *p = text;
	size_t len = 0;
	int depth = 0;

	while (*p && column-- > 1)
		p++;
	while (p > text && p[-1] == '(')
		p--;
	do {
		depth += p[len] == '(' ? 1 : p[len] == ')' ? -1 : 0;
		len += p[len] != '\0';
	} while (p[len] && (depth > 0 || isalnum((unsigned char)p[len]) || strchr("_(", p[len])));
	return xstrndup(p, len);
}

static int report_division(const struct env *env, const struct node *n, const struct expr_error *e,
			   struct error *err)
{
	cleanup_free char *text = e->column > 0 ? divisor(n->text, e->column) : xstrdup(n->text);

	return env_blame(env, &(struct blame){ .at = n, .column = e->column, .text = text }, err,
			 "%s", e->text);
}

/*
 * The error again, with the names that have no value yet among the candidates for "did you mean".
 * They stand in with 1, which can at most hide the error: then the first one is told.
 */
static int report(const struct env *env, const struct node *n, unsigned int allowed,
		  const struct expr_error *first, struct error *err)
{
	cleanup_free struct expr_const *all = xcalloc(env->n, sizeof(*all));
	const struct env_var *v = named_at(env, n->text, first);
	struct expr_error again;
	struct expr *e;

	if (v && v->state == ENV_TEXT)
		return env_blame(
			env, &(struct blame){ .at = n, .column = first->column, .also = v->name },
			err, "%s is not a number here but the text \"%.60s\"", v->name,
			v->node->text);
	if (str_ends(first->text, "by zero"))
		return report_division(env, n, first, err);
	for (size_t i = 0; i < env->n; i++)
		all[i] = (struct expr_const){ env->var[i].name, 1, NULL };
	e = expr_compile(n->text, allowed, all, env->n, &again);
	expr_free(e);
	if (e || again.column != first->column)
		again = *first;
	return node_error_at(err, n, again.column, "%s", again.text);
}

/* 0, or -1 with *e; a division by zero has column 0. */
static int evaluate(const struct env *env, const char *text, int64_t *value, struct expr_error *e)
{
	static const int64_t none[EXPR_VAR_COUNT];
	struct expr *x = expr_compile(text, 0, env->consts, env->nconsts, e);
	enum expr_status status;

	if (!x)
		return -1;
	status = expr_eval(x, none, value);
	expr_free(x);
	if (status == EXPR_OK)
		return 0;
	*e = (struct expr_error){ 0, "division by zero" };
	return -1;
}

enum resolution { RESOLVED, WAITING, FAILED };

static enum resolution resolve(struct env *env, struct env_var *v, struct error *err)
{
	const struct env_var *needed;
	struct expr_error e;
	int64_t value;

	if (evaluate(env, v->node->text, &value, &e) == 0) {
		set_number(env, v, value);
		return RESOLVED;
	}
	needed = named_at(env, v->node->text, &e);
	if (needed && needed->state == ENV_WAITS)
		return WAITING;
	if (expr_is_decimal(v->node->text)) {
		set_share(env, v);
		return RESOLVED;
	}
	if (v->may_be_text) {
		v->state = ENV_TEXT;
		return RESOLVED;
	}
	report(env, v->node, 0, &e, err);
	return FAILED;
}

/* Every variable left waits for another one of them: follow the chain until it bites its tail. */
static int report_cycle(const struct env *env, struct error *err)
{
	cleanup_strbuf struct strbuf chain = STRBUF_INIT;
	const struct env_var *v = env->var;
	struct expr_error e;
	int64_t value;

	while (v->state != ENV_WAITS)
		v++;
	/* As many steps as there are variables lead into the circle from wherever it began. */
	for (size_t i = 0; i < env->n; i++) {
		evaluate(env, v->node->text, &value, &e);
		v = named_at(env, v->node->text, &e);
	}
	for (const struct env_var *w = v;;) {
		strbuf_addf(&chain, "%s -> ", w->name);
		evaluate(env, w->node->text, &value, &e);
		w = named_at(env, w->node->text, &e);
		if (w == v)
			break;
	}
	return node_error(err, v->node, "%s is made of itself: %s%s", v->name, chain.data, v->name);
}

static int resolve_all(struct env *env, struct error *err)
{
	size_t left = env->n, before;

	do {
		before = left;
		left = 0;
		for (size_t i = 0; i < env->n; i++) {
			if (env->var[i].state == ENV_WAITS) {
				enum resolution r = resolve(env, &env->var[i], err);

				if (r == FAILED)
					return -1;
				left += r == WAITING;
			}
		}
	} while (left && left < before);
	return left ? report_cycle(env, err) : 0;
}

static int check_memory(const struct env *env, struct error *err)
{
	const struct env_var *m = env_find(env, "memory");
	cleanup_free char *why = m->number < 0 ? NULL : guest_memory_why((uint64_t)m->number);

	if (m->number < 0) {
		cleanup_free char *shown = env_shown(m->node, "bytes", m->number);

		why = str_printf("memory is %s; it " GUEST_MEMORY_MUST, shown);
	}
	if (!why)
		return 0;
	return env_blame(env, &(struct blame){ .at = m->node, .made_of = m->node }, err, "%s", why);
}

static int check_cpus(const struct env *env, struct error *err)
{
	const struct env_var *c = env_find(env, "cpus");

	if (c->number >= 1 && c->number <= 255)
		return 0;
	return env_blame(env, &(struct blame){ .at = c->node, .made_of = c->node }, err,
			 "cpus is %" PRId64 "; it must be 1 to 255", c->number);
}

char *guest_memory_why(uint64_t bytes)
{
	cleanup_free char *size = str_format_bytes(bytes);

	if (bytes >= GUEST_MEMORY_MIN && bytes <= GUEST_MEMORY_MAX && bytes % (2 << 20) == 0)
		return NULL;
	return str_printf("memory is %s; it " GUEST_MEMORY_MUST, size);
}

/* Not const only because the tree's texts are the heap's; nothing writes to them. */
static struct node memory_default = { .kind = NODE_SCALAR,
				      .is_default = true,
				      .text = (char[]){ MEMORY_DEFAULT },
				      .label = (char[]){ "default" },
				      .line = 1,
				      .column = 1 };
static struct node cpus_default = { .kind = NODE_SCALAR,
				    .is_default = true,
				    .text = (char[]){ CPUS_DEFAULT },
				    .label = (char[]){ "default" },
				    .line = 1,
				    .column = 1 };

static struct node *option_node(uint64_t bytes)
{
	cleanup_free char *text = str_printf("%" PRIu64, bytes);
	struct node *n = node_scalar(MEMORY_OPTION, 0, text, strlen(text));

	n->line = 0;
	return n;
}

int env_init(struct env *env, const struct scenario *s, const struct node *const *picks,
	     uint64_t memory_override, struct error *err)
{
	const struct node *constants = node_get(s->root, "constants"),
			  *vary = node_get(s->root, "vary");
	const struct node *vm = node_get(s->root, "vm");
	const struct node *memory = node_get(vm, "memory"), *cpus = node_get(vm, "cpus");

	memory = memory ? memory : &memory_default;
	cpus = cpus ? cpus : &cpus_default;
	*env = (struct env){ .root = s->root };
	if (memory_override > INT64_MAX) {
		cleanup_free char *why = guest_memory_why(memory_override);

		return error_set(err, EXIT_USAGE, MEMORY_OPTION ": %s", why);
	}
	if (memory_override)
		memory = env->memory_option = option_node(memory_override);
	add_var(env, "memory", memory, false);
	add_var(env, "cpus", cpus, false);
	for (size_t i = 0; constants && i < constants->n; i++)
		add_var(env, constants->key[i]->text, constants->value[i], false);
	for (size_t i = 0; vary && i < vary->n; i++)
		add_var(env, vary->key[i]->text, picks[i], true);
	if (resolve_all(env, err) < 0 || check_memory(env, err) < 0)
		return -1;
	return check_cpus(env, err);
}

void env_free(struct env *env)
{
	free(env->var);
	free(env->consts);
	node_free(env->memory_option);
	*env = (struct env){ 0 };
}

const struct node *env_text(const struct env *env, const struct node *n)
{
	const struct env_var *v = n->kind == NODE_SCALAR ? env_find(env, n->text) : NULL;

	return v && v->state == ENV_TEXT ? v->node : n;
}

static bool is_bytes(const char *unit)
{
	return unit && strcmp(unit, "bytes") == 0;
}

static char *sized(const char *unit, int64_t value)
{
	uint64_t n = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	cleanup_free char *size = is_bytes(unit) ? str_format_bytes(n) : str_printf("%" PRIu64, n);

	return str_printf("%s%s", value < 0 ? "-" : "", size);
}

char *env_shown(const struct node *n, const char *unit, int64_t value)
{
	const char *p = n->text + (*n->text == '-');
	size_t digits = strspn(p, "0123456789");

	/* As typed, where it is one number. */
	if (digits && (!p[digits] || (strchr("KMGT", p[digits]) && !p[digits + 1])))
		return xstrdup(n->text);
	return sized(unit, value);
}

/* "-5M; allowed are 4K to 1G", "-1; allowed are 0 blocks and more" */
static int report_range(const struct env *env, const struct node *n, const char *what, const char *unit,
			int64_t min, int64_t max, int64_t value, struct error *err)
{
	cleanup_free char *shown = env_shown(n, unit, value), *least = sized(unit, min),
			  *most = sized(unit, max);
	const char *number = max ? most : least;
	/* A size such as 1G says by itself what it is. */
	bool plain = unit && isdigit((unsigned char)number[strlen(number) - 1]);

	return env_blame(env, &(struct blame){ .at = n, .made_of = n }, err,
			 "%s is %s; allowed are %s%s%s%s%s%s", what, shown, least, max ? " to " : "",
			 max ? most : "", plain ? " " : "", plain ? unit : "", max ? "" : " and more");
}

int env_number(const struct env *env, const struct node *n, const char *what, const char *unit,
	       int64_t min, int64_t max, int64_t *value, struct error *err)
{
	struct expr_error e;

	if (evaluate(env, n->text, value, &e) < 0)
		return report(env, n, 0, &e, err);
	if (*value >= min && (!max || *value <= max))
		return 0;
	return report_range(env, n, what, unit, min, max, *value, err);
}

int env_predicate(const struct env *env, const struct node *n, struct error *err)
{
	struct expr_error e;
	struct expr *x = expr_compile(n->text, PREDICATE_VARS, env->consts, env->nconsts, &e);

	if (!x)
		return report(env, n, PREDICATE_VARS, &e, err);
	expr_free(x);
	return 0;
}

/* 1-based, in characters; text is UTF-8. */
static int column_of(const char *text, const char *at)
{
	int column = 1;

	for (; text < at; text++)
		column += ((unsigned char)*text & 0xc0) != 0x80;
	return column;
}

static int template_name(const struct env *env, const struct node *n, const char *name, size_t len,
			 struct strbuf *sb, struct error *err)
{
	cleanup_free char *word = xstrndup(name, len);
	cleanup_free const char **names = xcalloc(env->n, sizeof(*names));
	const struct env_var *v = env_find(env, word);
	const char *nearest;

	if (v && v->state == ENV_TEXT) {
		strbuf_adds(sb, v->node->text);
		return 0;
	}
	if (v) {
		strbuf_addf(sb, "%" PRId64, v->number);
		return 0;
	}
	for (size_t i = 0; i < env->n; i++)
		names[i] = env->var[i].name;
	nearest = str_nearest(word, names, env->n);
	return node_error_at(err, n, column_of(n->text, name), "unknown name \"%.60s\"; %s%s%s",
			     word, nearest ? "did you mean " : "it is no constant and not varied",
			     nearest ? nearest : "", nearest ? "?" : "");
}

int env_template(const struct env *env, const struct node *n, char **text, struct error *err)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	const char *p = n->text;

	while (*p) {
		size_t plain = strcspn(p, "{"), len;

		strbuf_add(&sb, p, plain);
		p += plain;
		if (!*p)
			break;
		len = strcspn(p + 1, "}");
		if (!p[1 + len])
			return node_error_at(err, n, column_of(n->text, p), "\"{\" without \"}\"");
		if (template_name(env, n, p + 1, len, &sb, err) < 0)
			return -1;
		p += len + 2;
	}
	*text = strbuf_steal(&sb);
	return 0;
}
