// SPDX-License-Identifier: GPL-2.0-only
/* A predicate held against the guest: what no page can meet would be found out after minutes. */
#include <string.h>

#include "guest/expr_truth.h"
#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"

static int refuse_never(const struct env *env, const struct node *step, const struct node *n,
			const struct expr_finding *f, struct error *err)
{
	bool of_memory = f->uses & 1u << EXPR_PFN;
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
	bool constant;

	if (!x)
		return 0; /* params.c has told it */
	step_domain(c, &d);
	truth = expr_truth(x, n->text, &d, &f);
	constant = !expr_uses(x);
	expr_free(x);
	if (truth == EXPR_NEVER)
		return refuse_never(env, step, n, &f, err);
	return truth == EXPR_ALWAYS && constant ? refuse_all(env, step, name, n, err) : 0;
}
