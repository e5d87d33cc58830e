// SPDX-License-Identifier: GPL-2.0-only
/* A checked document to its variants. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "harness/scenario/scenario_impl.h"
#include "harness/scenario/texts.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

#define VARIANTS_MAX 1000
#define RUNS_DEFAULT 5
#define SAMPLE_MS_DEFAULT 100

/* Unscaled, for KVM; silence stands above the guest's own hung-task watchdog of 120 s. */
static const struct scenario_limits limits_default = {
	.boot = 60, .layout = 600, .settle = 60, .workload = 600, .collect = 60, .silence = 180
};

/* ---- the job of one variant ---- */

static void add_numbered(struct job *job, const char *word, const char *name, int64_t value)
{
	cleanup_free char *text = str_printf("%" PRId64, value);

	job_add(job, word, "name", name, "value", text, NULL);
}

static void add_const(struct job *job, const struct expr_const *c)
{
	if (c->decimal)
		job_add(job, "const", "name", c->name, "decimal", c->decimal, NULL);
	else
		add_numbered(job, "const", c->name, c->value);
}

/* Words, numbers and lists of them are the kernel's to judge; what looks like a formula is ours. */
static bool is_verbatim(const char *text)
{
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr(" \t_.,:/-[]@", *text))
			return false;
	return true;
}

static int add_sysctl(const struct env *env, struct job *job, const char *at, const char *name,
		      const struct node *written, struct error *err)
{
	const struct node *n = env_text(env, written);
	cleanup_error struct error local = ERROR_INIT;
	cleanup_free char *text = NULL;
	int64_t value;

	if (env_number(env, n, name, NULL, INT64_MIN, INT64_MAX, &value, &local) == 0) {
		text = str_printf("%" PRId64, value);
	} else if (is_verbatim(n->text)) {
		text = xstrdup(n->text);
	} else {
		error_move(err, &local);
		return -1;
	}
	job_add(job, "sysctl", "at", at, "key", name, "value", text, NULL);
	return 0;
}

static int add_sysctls(const struct scenario *s, const struct env *env, struct job *job,
		       struct error *err)
{
	static const char *const places[] = { "boot", "workload" };

	for (size_t p = 0; p < ARRAY_SIZE(places); p++) {
		const struct node *map = node_get(node_get(s->root, "sysctl"), places[p]);

		for (size_t i = 0; map && i < map->n; i++)
			if (add_sysctl(env, job, places[p], map->key[i]->text, map->value[i], err) <
			    0)
				return -1;
	}
	return 0;
}

/* One disk for both, with the room that each asks for. */
static void add_toolbox(struct variant *v)
{
	cleanup_free char *bytes = str_printf("%" PRIu64, v->scratch_bytes);

	job_add(&v->job, "toolbox", v->scratch_bytes ? "scratch" : NULL, bytes, NULL);
	if (v->scratch_bytes)
		job_add(&v->job, "need", "what", "fs:ext4", NULL);
}

/* n: its name with parameters. */
static int add_one(const struct env *env, const struct step_context *guest, const struct node *n,
		   const struct workload *w, struct job_line *line, struct variant *v, struct error *err)
{
	struct step_fault fault = { 0 };

	if (params_to_job(env, w->params, w->nparams, n->key[0], n->value[0], line, err) < 0)
		return -1;
	if (w->check && w->check(line, guest, &fault) < 0 && steps_fault(env, n, &fault, err) < 0)
		return -1;
	v->scratch_bytes += w->scratch_bytes ? w->scratch_bytes(line) : 0;
	return 0;
}

static int add_background(const struct scenario *s, const struct env *env, const struct step_context *guest,
			  const struct workload *beside, struct variant *v, struct error *err)
{
	const struct node *group = node_get(s->root, "background"), *n = node_get(group, "workload");
	const struct node *warm_up = node_get(group, "warm_up");
	cleanup_free char *ms = NULL;
	double seconds = 0;

	/* Each has files of its own in the guest, whose names both would take. */
	if (beside == workload_of(s))
		return node_error(err, n->key[0], "background is %s, as the workload is; choose another one",
				  beside->name);
	if (warm_up && read_seconds(warm_up, &seconds, err) < 0)
		return -1;
	ms = str_printf("%.0f", 1000 * seconds);
	return add_one(env, guest, n, beside,
		       job_add(&v->job, "background", "do", beside->name, "warm_up_ms", ms, NULL), v, err);
}

static int add_workload(const struct scenario *s, const struct env *env,
			const struct step_context *guest, struct variant *v, struct error *err)
{
	const struct workload *w = workload_of(s), *beside = background_of(s);

	if (!w)
		return 0;
	if (add_one(env, guest, node_get(s->root, "workload"), w, job_add(&v->job, "workload", "do", w->name, NULL),
		    v, err) < 0)
		return -1;
	if (beside && add_background(s, env, guest, beside, v, err) < 0)
		return -1;
	if (w->toolbox || (beside && beside->toolbox))
		add_toolbox(v);
	return 0;
}

static bool is_profiled(const struct scenario *s)
{
	const struct node *n = node_get(s->root, "profile");

	return n && !s->layout_only && strcmp(n->text, "true") == 0;
}

static int add_options(const struct scenario *s, struct job *job, struct error *err)
{
	const struct node *sample = node_get(s->root, "sample_ms"),
			  *tol = node_get(s->root, "tolerance");
	int64_t sample_ms = SAMPLE_MS_DEFAULT, ppm;

	if (sample && read_integer(sample, "sample_ms", 0, INT64_MAX, &sample_ms, err) < 0)
		return -1;
	if (tol && read_ppm(tol, &ppm, err) < 0)
		return -1;
	add_numbered(job, "option", "sample_ms", sample_ms);
	if (tol) /* without it each step has its own default */
		add_numbered(job, "option", "tolerance_ppm", ppm);
	if (is_profiled(s))
		add_numbered(job, "option", "profile", 1);
	return 0;
}

static int make_job(const struct scenario *s, struct env *env, const struct scenario_plan *plan,
		    struct variant *v, struct error *err)
{
	struct job *job = &v->job;
	struct steps_guest guest;

	for (size_t i = 0; i < env->nconsts; i++)
		add_const(job, &env->consts[i]);
	for (char **need = plan->needs; *need; need++)
		job_add(job, "need", "what", *need, NULL);
	if (add_sysctls(s, env, job, err) < 0 || steps_to_job(s, env, v, &guest, err) < 0)
		return -1;
	for (char **counter = plan->moves; *counter; counter++)
		job_add(job, "moves", "counter", *counter, NULL);
	if (add_workload(s, env, &guest.context, v, err) < 0)
		return -1;
	return add_options(s, job, err);
}

/* ---- variants ---- */

static char *plain_label(const struct variant *v)
{
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < v->nvalues; i++)
		strbuf_addf(&sb, "%s%s=%s", i ? ", " : "", v->value[i].name, v->value[i].text);
	return strbuf_steal(&sb);
}

static void fill_values(const struct scenario *s, const struct env *env,
			const struct node *const *picks, struct variant *v)
{
	const struct node *vary = node_get(s->root, "vary");

	v->nvalues = vary ? vary->n : 0;
	v->value = xcalloc(v->nvalues, sizeof(*v->value));
	for (size_t i = 0; i < v->nvalues; i++) {
		const struct env_var *var = env_find(env, vary->key[i]->text);

		v->value[i].name = xstrdup(var->name);
		v->value[i].text = xstrdup(picks[i]->text);
		v->value[i].is_number = var->state == ENV_NUMBER;
		v->value[i].number = var->number;
	}
}

/* By --memory, or by --set while the nodes are the file's. */
static bool is_resized(const struct scenario *s, uint64_t memory_override)
{
	const struct node *vm = node_get(s->root, "vm");
	const struct node *memory = node_get(vm, "memory"), *numa = node_get(vm, "numa");

	return memory_override || (memory && numa && str_starts(memory->label, "--set ") &&
				   !str_starts(numa->label, "--set "));
}

/* `vm: {least: 2G}`: below it the scenario shows nothing, or runs out of memory. */
static int check_least(const struct scenario *s, const struct env *env, const struct variant *v,
		       struct error *err)
{
	const struct node *least = node_get(node_get(s->root, "vm"), "least");
	int64_t bytes;

	if (!least)
		return 0;
	if (env_number(env, least, "least", "bytes", 0, 0, &bytes, err) < 0)
		return -1;
	if (v->memory_bytes >= (uint64_t)bytes)
		return 0;
	env_blame(env, &(struct blame){ .at = least, .made_of = least, .also = "memory" }, err,
		  "a guest of at least %" PRId64 " MiB is needed, and %" PRIu64 " MiB are given",
		  bytes >> 20, v->memory_bytes >> 20);
	return error_hint(err, "give --memory %" PRId64 "M or more", bytes >> 20);
}

static int fill_variant(const struct scenario *s, struct env *env,
			const struct node *const *picks, bool resized, struct scenario_plan *plan,
			struct variant *v, struct error *err)
{
	const struct node *label = node_get(node_get(s->root, "table"), "label");
	const char *module;

	v->memory_bytes = (uint64_t)env_find(env, "memory")->number;
	v->cpus = (unsigned int)env_find(env, "cpus")->number;
	if (check_least(s, env, v, err) < 0)
		return -1;
	fill_values(s, env, picks, v);
	if (!label)
		v->label = plain_label(v);
	else if (env_template(env, label, &v->label, err) < 0)
		return -1;
	if (shape_variant(s, env, resized, v, &module, err) < 0 ||
	    make_job(s, env, plan, v, err) < 0)
		return -1;
	if (module)
		texts_add(&plan->modules, module);
	if (v->scratch_bytes)
		texts_add(&plan->modules, "ext4");
	needs_of_steps(s, &v->job, plan);
	return 0;
}

static void variant_free(struct variant *v)
{
	for (size_t i = 0; i < v->nvalues; i++) {
		free(v->value[i].name);
		free(v->value[i].text);
	}
	free(v->value);
	free(v->label);
	free(v->node);
	free(v->distance);
	free(v->cmdline);
	job_free(&v->job);
}

static int count_variants(const struct node *vary, size_t *n, struct error *err)
{
	*n = 1;
	for (size_t i = 0; vary && i < vary->n; i++) {
		*n *= vary->value[i]->n;
		if (*n > VARIANTS_MAX)
			return node_error(err, vary->key[i], "vary gives more than %d variants",
					  VARIANTS_MAX);
	}
	return 0;
}

/* Which value each axis has in variant `index`: the last axis moves fastest. */
static void pick_values(const struct node *vary, size_t index, const struct node **picks)
{
	for (size_t i = vary ? vary->n : 0; i-- > 0;) {
		picks[i] = vary->value[i]->value[index % vary->value[i]->n];
		index /= vary->value[i]->n;
	}
}

static int expand_variant(const struct scenario *s, size_t index, uint64_t memory_override,
			  struct scenario_plan *plan, struct error *err)
{
	const struct node *vary = node_get(s->root, "vary");
	cleanup_free const struct node **picks = xcalloc(vary ? vary->n : 0, sizeof(*picks));
	struct env env;
	int ret;

	pick_values(vary, index, picks);
	ret = env_init(&env, s, picks, memory_override, err);
	if (ret == 0)
		ret = fill_variant(s, &env, picks, is_resized(s, memory_override), plan,
				   &plan->variant[index], err);
	env_free(&env);
	return ret;
}

/* ---- the rest of the plan ---- */

static int read_limits(const struct scenario *s, struct scenario_limits *l, struct error *err)
{
	const struct node *map = node_get(s->root, "limits");
	const struct {
		const char *name;
		double *seconds;
	} t[] = { { "boot", &l->boot },	      { "layout", &l->layout },
		  { "settle", &l->settle },   { "workload", &l->workload },
		  { "collect", &l->collect }, { "silence", &l->silence } };

	*l = limits_default;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		const struct node *n = node_get(map, t[i].name);

		if (n && read_seconds(n, t[i].seconds, err) < 0)
			return -1;
	}
	return 0;
}

static char *text_or_null(const struct node *map, const char *key)
{
	const struct node *n = node_get(map, key);

	return n ? xstrdup(n->text) : NULL;
}

/* What is not of a file is of an option. */
static void collect_files(const struct node *n, char ***files)
{
	if (!str_starts(n->label, "--"))
		texts_add(files, n->label);
	for (size_t i = 0; i < n->n; i++)
		collect_files(n->value[i], files);
}

static int fill_plan(const struct scenario *s, struct scenario_plan *plan, struct error *err)
{
	const struct node *table = node_get(s->root, "table"), *runs = node_get(s->root, "runs");
	const struct node *style = node_get(table, "style");
	int64_t nruns = RUNS_DEFAULT;

	plan->name = text_or_null(s->root, "name");
	plan->title = text_or_null(s->root, "title");
	plan->title = plan->title ? plan->title : xstrdup("");
	plan->file = xstrdup(s->root->label);
	collect_files(s->root, &plan->read);
	texts_finish(&plan->read);
	plan->table_style = xstrdup(style ? style->text : "plain");
	plan->table_form = text_or_null(table, "form");
	plan->row_title = text_or_null(table, "rows");
	plan->profile = is_profiled(s);
	texts_add_list(&plan->metric, node_get(table, "columns"));
	texts_add_list(&plan->metric, node_get(s->root, "metrics"));
	texts_finish(&plan->metric);
	needs_collect(s, plan);
	if (runs && read_integer(runs, "runs", 1, UINT32_MAX, &nruns, err) < 0)
		return -1;
	plan->runs = (unsigned int)nruns;
	if (read_limits(s, &plan->limits, err) < 0 || kernels_expand(s, plan, err) < 0)
		return -1;
	leave_out_expand(s, plan);
	return node_format(s->root, &plan->text, err);
}

int scenario_expand(const struct scenario *s, uint64_t memory_override, struct scenario_plan *plan,
		    struct error *err)
{
	int ret;

	*plan = (struct scenario_plan){ 0 };
	ret = fill_plan(s, plan, err);
	if (ret == 0)
		ret = count_variants(node_get(s->root, "vary"), &plan->nvariants, err);
	if (ret < 0)
		plan->nvariants = 0;
	plan->variant = xcalloc(plan->nvariants, sizeof(*plan->variant));
	for (size_t i = 0; ret == 0 && i < plan->nvariants; i++)
		ret = expand_variant(s, i, memory_override, plan, err);
	if (ret == 0)
		ret = axes_check(s, err);
	if (ret < 0)
		scenario_plan_free(plan);
	return ret;
}

void scenario_plan_free(struct scenario_plan *plan)
{
	for (size_t i = 0; i < plan->nvariants; i++)
		variant_free(&plan->variant[i]);
	free(plan->variant);
	free(plan->name);
	free(plan->title);
	kernels_free(plan);
	leave_out_free(plan);
	free(plan->file);
	texts_free(plan->read);
	free(plan->text);
	free(plan->table_style);
	free(plan->table_form);
	free(plan->row_title);
	texts_free(plan->modules);
	texts_free(plan->metric);
	texts_free(plan->needs);
	texts_free(plan->moves);
	toolbox_own_free(plan->toolbox_own);
	*plan = (struct scenario_plan){ 0 };
}
