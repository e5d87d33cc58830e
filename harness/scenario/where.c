// SPDX-License-Identifier: GPL-2.0-only
/* A predicate held against the guest: what no page can meet would be found out after minutes. */
#include <string.h>

#include "guest/expr_truth.h"
#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"

/* Is the part to blame another one, or none, in the largest guest that there can be? */
static bool is_of_memory(const struct expr *x, const char *text, const struct step_context *c,
			 const struct expr_finding *f)
{
	struct step_context largest = *c;
	struct expr_finding then;
	struct expr_domain d;

	largest.memory_bytes = GUEST_MEMORY_MAX;
	step_domain(&largest, &d);
	return expr_truth(x, text, &d, &then) != EXPR_NEVER || then.column != f->column ||
	       then.len != f->len;
}

static int refuse_never(const struct env *env, const struct node *step, const struct node *n,
			const struct expr_finding *f, bool of_memory, struct error *err)
{
	cleanup_free char *part = xstrndup(n->text + f->blame_from, (size_t)f->blame_len);

	return env_blame(env,
			 &(struct blame){ .at = n,
					  .column = f->column,
					  .text = part,
					  .also = of_memory ? "memory" : NULL },
			 err, "%s: %s", step->text, f->text);
}

/* A number for a condition. What is made of names may be so by intent, in one variant of several. */
static int refuse_all(const struct env *env, const struct node *step, const char *name,
		      const struct node *n, struct error *err)
{
	if (env_names(env, n->text))
		return 0;
	return env_blame(env, &(struct blame){ .at = n, .made_of = n }, err,
			 "%s: %s is %.60s, which is so for every page; leave %s out", step->text, name,
			 n->text, name);
}

int where_check(const struct env *env, const struct node *step, const char *name,
		const struct node *written, const struct step_context *c, struct error *err)
{
	const struct node *n = env_text(env, written);
	struct expr_finding f;
	struct expr_domain d;
	struct expr_error e;
	struct expr *x = expr_compile(n->text, PREDICATE_VARS, env->consts, env->nconsts, &e);
	enum expr_truth truth;
	bool constant, of_memory;

	if (!x)
		return 0; /* params.c has told it */
	step_domain(c, &d);
	truth = expr_truth(x, n->text, &d, &f);
	constant = !expr_uses(x);
	of_memory = truth == EXPR_NEVER && is_of_memory(x, n->text, c, &f);
	expr_free(x);
	if (truth == EXPR_NEVER)
		return refuse_never(env, step, n, &f, of_memory, err);
	return truth == EXPR_ALWAYS && constant ? refuse_all(env, step, name, n, err) : 0;
}
