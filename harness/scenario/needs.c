// SPDX-License-Identifier: GPL-2.0-only
/* What the steps and the workload of a scenario need of the kernel, and what they must move. */
#include <stdlib.h>
#include <string.h>

#include "harness/scenario/scenario_impl.h"
#include "harness/scenario/texts.h"
#include "results/util/cleanup.h"

/* ---- what a step or workload brings ---- */

static const struct workload *named_by(const struct scenario *s, const struct node *n)
{
	size_t i = 0;

	if (!n || s->layout_only)
		return NULL;
	while (strcmp(s->tables.workload[i]->name, n->key[0]->text) != 0)
		i++;
	return s->tables.workload[i];
}

const struct workload *workload_of(const struct scenario *s)
{
	return named_by(s, node_get(s->root, "workload"));
}

const struct workload *background_of(const struct scenario *s)
{
	return named_by(s, node_get(node_get(s->root, "background"), "workload"));
}

static void add_sysctl_needs(struct scenario_plan *plan, const struct node *sysctls)
{
	for (size_t i = 0; sysctls && i < sysctls->n; i++) {
		cleanup_free char *need = str_printf("sysctl:%s", sysctls->key[i]->text);

		texts_add(&plan->needs, need);
	}
}

/* A file system that is needed may be a module of its own name; these never are. */
static void add_modules(struct scenario_plan *plan)
{
	static const char *const always_built_in[] = { "tmpfs",	  "ramfs",    "proc",
						       "sysfs",	  "devtmpfs", "debugfs",
						       "tracefs", "cgroup2",  "hugetlbfs" };

	texts_add(&plan->modules, "virtio_pci");
	texts_add(&plan->modules, "virtio_console");
	for (char **need = plan->needs; *need; need++) {
		size_t i = 0;

		if (!str_starts(*need, "fs:"))
			continue;
		while (i < ARRAY_SIZE(always_built_in) &&
		       strcmp(*need + 3, always_built_in[i]) != 0)
			i++;
		if (i == ARRAY_SIZE(always_built_in))
			texts_add(&plan->modules, *need + 3);
	}
}

void toolbox_own_free(struct toolbox_spec *t)
{
	if (!t)
		return;
	texts_free((char **)t->packages);
	texts_free((char **)t->links);
	texts_free((char **)t->unpack);
	free(t);
}

/* One image for both: what one has already does not come twice. */
static struct toolbox_spec *toolbox_of_both(const struct toolbox_spec *a, const struct toolbox_spec *b)
{
	char **packages = NULL, **links = NULL, **unpack = NULL;
	struct toolbox_spec *both = xcalloc(1, sizeof(*both));

	texts_add_all(&packages, a->packages);
	texts_add_all(&packages, b->packages);
	texts_add_all(&links, a->links);
	texts_add_all(&links, b->links);
	texts_add_all(&unpack, a->unpack);
	texts_add_all(&unpack, b->unpack);
	texts_finish(&packages);
	texts_finish(&links);
	texts_finish(&unpack);
	*both = (struct toolbox_spec){ (const char *const *)packages, (const char *const *)links,
				       (const char *const *)unpack, a->selftests || b->selftests };
	return both;
}

static void collect_toolbox(const struct toolbox_spec *toolbox, struct scenario_plan *plan)
{
	if (plan->toolbox && plan->toolbox != toolbox)
		plan->toolbox = plan->toolbox_own = toolbox_of_both(plan->toolbox, toolbox);
	else
		plan->toolbox = toolbox;
	texts_add(&plan->modules, "virtio_blk");
	texts_add(&plan->needs, "fs:erofs");
	texts_add(&plan->needs, "fs:cgroup2");
}

void needs_collect(const struct scenario *s, struct scenario_plan *plan)
{
	const struct node *sysctl = node_get(s->root, "sysctl");
	const struct workload *w = workload_of(s), *beside = background_of(s);

	texts_add_list(&plan->needs, node_get(s->root, "needs"));
	add_sysctl_needs(plan, node_get(sysctl, "boot"));
	add_sysctl_needs(plan, node_get(sysctl, "workload"));
	for (size_t i = 0; i < s->tables.nsteps; i++)
		if (steps_use(s, s->tables.step[i]))
			texts_add_all(&plan->needs, s->tables.step[i]->needs);
	if (w) {
		texts_add_all(&plan->needs, w->needs);
		texts_add_all(&plan->moves, w->moves);
		if (w->toolbox)
			collect_toolbox(w->toolbox, plan);
	}
	if (beside) {
		texts_add_all(&plan->needs, beside->needs);
		if (beside->toolbox)
			collect_toolbox(beside->toolbox, plan);
	}
	texts_finish(&plan->needs);
	texts_finish(&plan->moves);
	texts_add_list(&plan->modules, node_get(s->root, "modules"));
	texts_add_all(&plan->modules, w ? w->modules : NULL);
	texts_add_all(&plan->modules, beside ? beside->modules : NULL);
	add_modules(plan);
}

/* Modules that depend on what the steps are given, which only the variant's job tells. */
void needs_of_steps(const struct scenario *s, const struct job *job, struct scenario_plan *plan)
{
	const struct job_line *line = NULL;

	while ((line = job_next(job, line, "step"))) {
		const struct layout_step *step = steps_find(s, job_get(line, "do"));
		const char *module = step->module ? step->module(line) : NULL;

		if (module)
			texts_add(&plan->modules, module);
	}
}
