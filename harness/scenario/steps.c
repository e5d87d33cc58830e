// SPDX-License-Identifier: GPL-2.0-only
/* The steps of a layout, with `repeat` unrolled, to lines of the job. */
#include <inttypes.h>
#include <string.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"

#define STEPS_MAX 250 /* of a layout, unrolled; the record of a run keeps 256 reports of steps */

const struct layout_step *steps_find(const struct scenario *s, const char *name)
{
	size_t i = 0;

	while (strcmp(s->tables.step[i]->name, name) != 0) /* check.c has seen that it exists */
		i++;
	return s->tables.step[i];
}

static bool list_uses(const struct scenario *s, const struct node *list, const struct layout_step *step)
{
	for (size_t i = 0; list && i < list->n; i++) {
		const char *name = list->value[i]->key[0]->text;

		if (strcmp(name, STEP_REPEAT) == 0 ?
			    list_uses(s, node_get(list->value[i]->value[0], "steps"), step) :
			    steps_find(s, name) == step)
			return true;
	}
	return false;
}

bool steps_use(const struct scenario *s, const struct layout_step *step)
{
	return list_uses(s, node_get(s->root, "layout"), step);
}

struct walk {
	const struct scenario *s;
	struct env *env;
	struct job *job;
	struct step_context *context;
	size_t nsteps;
	int64_t round; /* -1: not within repeat */
};

/* Where a parameter is written: within `leave: {blocks: X}` it is X. */
static const struct node *param_place(const struct node *params, const char *name)
{
	const struct node *n = name ? node_get(params, name) : NULL;

	return n && n->kind == NODE_MAP ? n->value[0] : n;
}

int steps_fault(const struct env *env, const struct node *step, const struct step_fault *f,
		struct error *err)
{
	const struct node *name = step->key[0], *params = step->value[0];
	const struct node *written = param_place(params, f->param);
	const struct node *value = written ? env_text(env, written) : NULL;
	const struct blame b = { .at = value ? value : name,
				 .made_of = f->of_others ? params :
					    value	 ? value :
					    f->param	 ? NULL :
							   params,
				 .also = f->of_memory ? "memory" : NULL };

	if (f->of_literal && written && env_names(env, written->text))
		return 0;

	return env_blame(env, &b, err, "%s: %s", name->text, f->why);
}

/* What a page must be to be selected: is there one? */
static int check_predicates(struct walk *w, const struct layout_step *step, const struct node *n,
			    struct error *err)
{
	for (size_t i = 0; i < step->nparams; i++) {
		const struct node *where = node_get(n->value[0], step->params[i].name);

		if (step->params[i].kind == PARAM_PREDICATE && where &&
		    where_check(w->env, n->key[0], step->params[i].name, where, w->context, err) < 0)
			return -1;
	}
	return 0;
}

static int add_step(struct walk *w, const struct node *n, struct error *err)
{
	const struct node *name = n->key[0];
	const struct layout_step *step = steps_find(w->s, name->text);
	struct step_fault fault;
	struct job_line *line;

	if (w->nsteps++ == STEPS_MAX)
		return node_error(err, name, "the layout has more than %d steps", STEPS_MAX);
	line = job_add(w->job, "step", "do", name->text, NULL);
	if (w->round >= 0) {
		cleanup_free char *round = str_printf("%" PRId64, w->round);

		job_line_set(line, "round", round);
	}
	if (params_to_job(w->env, step->params, step->nparams, name, n->value[0], line, err) < 0)
		return -1;
	if (step->check && step->check(line, w->context, &fault) < 0 &&
	    steps_fault(w->env, n, &fault, err) < 0)
		return -1;
	if (check_predicates(w, step, n, err) < 0)
		return -1;
	if (step->after)
		step->after(line, w->context);
	return 0;
}

static int add_repeat(struct walk *w, const struct node *params, struct error *err)
{
	const struct node *steps = node_get(params, "steps");
	int64_t times;

	if (env_number(w->env, node_get(params, "times"), "times", "rounds", 1, STEPS_MAX, &times,
		       err) < 0)
		return -1;
	for (w->round = 0; w->round < times; w->round++) {
		env_set_round(w->env, w->round);
		for (size_t i = 0; i < steps->n; i++)
			if (add_step(w, steps->value[i], err) < 0)
				return -1;
	}
	env_set_round(w->env, -1);
	w->round = -1;
	return 0;
}

static void describe_guest(const struct scenario *s, const struct variant *v, struct steps_guest *g)
{
	for (size_t i = 0; i < v->nnodes; i++)
		g->node_bytes[i] = v->node[i].memory_bytes;
	g->context = (struct step_context){
		.memory_bytes = v->memory_bytes,
		.node_bytes = g->node_bytes,
		.nnodes = v->nnodes,
		.movable = node_get(node_get(s->root, "vm"), "movablecore"),
		.cma = node_get(node_get(s->root, "vm"), "cma"),
		.swap = node_get(node_get(s->root, "vm"), "swap"),
	};
}

int steps_to_job(const struct scenario *s, struct env *env, struct variant *v, struct steps_guest *g,
		 struct error *err)
{
	const struct node *layout = node_get(s->root, "layout");
	struct walk w = { .s = s, .env = env, .job = &v->job, .round = -1, .context = &g->context };

	describe_guest(s, v, g);
	for (size_t i = 0; layout && i < layout->n; i++) {
		const struct node *n = layout->value[i];
		int ret = strcmp(n->key[0]->text, STEP_REPEAT) == 0 ? add_repeat(&w, n->value[0], err) :
								      add_step(&w, n, err);

		if (ret < 0)
			return -1;
	}
	return 0;
}
