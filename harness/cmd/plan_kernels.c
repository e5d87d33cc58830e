// SPDX-License-Identifier: GPL-2.0-only
#include "harness/cmd/plan_kernels.h"

#include <string.h>

#include "harness/build/build.h"
#include "harness/build/kconfig.h"
#include "harness/build/source.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/util/hash.h"
#include "results/verdict.h"

#define DEFAULT_KERNEL "debian:7.3"
#define KEPT_MAX (64UL << 20) /* bytes of a file that a run set keeps */

/* What is asked for: one of the plan's, or a text as --kernel takes it. */
struct wanted {
	const struct scenario_kernel *entry;
	const char *spec;
	bool given; /* on the command line */
};

/* ---- which ---- */

static const struct scenario_kernel *find_entry(const struct scenario_plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->nkernels; i++)
		if (strcmp(plan->kernel[i].name, name) == 0)
			return &plan->kernel[i];
	return NULL;
}

static struct wanted given_on_line(const struct scenario_plan *plan, const char *text)
{
	const struct scenario_kernel *entry = find_entry(plan, text);

	return (struct wanted){ entry, entry ? entry->spec : text, true };
}

static int choose(const struct opt_list *given, const struct scenario_plan *plan,
		  struct wanted *want, size_t *n, struct error *err)
{
	*n = given->n ? given->n : plan->nkernels ? plan->nkernels : 1;
	if (*n > PLAN_KERNELS_MAX)
		return error_set(err, EXIT_USAGE, "%zu kernels; at most %d in one run set", *n,
				 PLAN_KERNELS_MAX);
	for (size_t i = 0; i < *n; i++) {
		if (!given->n && !plan->nkernels)
			want[i] = (struct wanted){ NULL, DEFAULT_KERNEL, false };
		else if (!given->n)
			want[i] = (struct wanted){ &plan->kernel[i], plan->kernel[i].spec, false };
		else
			want[i] = given_on_line(plan, given->item[i]);
	}
	return 0;
}

/* A kernel that has no cell is not worth its building. */
static int choose_cells(const struct scenario_plan *plan, struct wanted *want, size_t *n,
			bool **left_out, struct error *err)
{
	size_t kept = 0;

	*left_out = xcalloc(*n * plan->nvariants, sizeof(**left_out));
	for (size_t k = 0; k < *n; k++) {
		const char *name = want[k].entry ? want[k].entry->name : NULL;
		bool *row = *left_out + kept * plan->nvariants;
		size_t out = 0;

		for (size_t v = 0; v < plan->nvariants; v++)
			out += row[v] = scenario_leaves_out(plan, name, v);
		if (out < plan->nvariants)
			want[kept++] = want[k];
	}
	*n = kept;
	if (kept)
		return 0;
	error_set(err, EXIT_USAGE, "%s: its leave_out leaves no cell to run", plan->name);
	return error_hint(err, "choose other kernels or values");
}

/* ---- each of them ---- */

struct telling {
	struct progress *progress;
	const char *name;
};

static void tell(void *arg, const char *text, double percent)
{
	const struct telling *t = arg;
	cleanup_free char *named =
		text && !str_starts(text, "warning: ") ? str_printf("%s: %s", t->name, text) : NULL;

	progress_task(t->progress, named ? named : text, percent);
}

/* What a fragment is called is judged before the first kernel is built. */
static int check_fragments(const struct wanted *want, size_t n, struct error *err)
{
	for (size_t i = 0; i < n; i++)
		for (char **c = want[i].spec ? NULL : want[i].entry->config; c && *c; c++) {
			cleanup_free char *path = kconfig_find(*c, err);

			if (!path)
				return error_wrap(err, "%s", want[i].entry->place);
		}
	return 0;
}

static int build(const struct scenario_kernel *e, struct progress *progress, struct kernel *k,
		 struct error *err)
{
	struct telling t = { progress, e->name };
	const struct build_request r = {
		.tree = e->tree,
		.rev = e->rev,
		.source = e->source,
		.patch = e->patch,
		.config = e->config,
		.base = e->base,
		.cc = e->cc,
		.align = e->align,
		.progress = tell,
		.progress_arg = &t,
	};

	/* In the cache under a name made of its content: the scenario's may mean another patch tomorrow. */
	if (build_kernel(&r, k, err) < 0)
		return error_wrap(err, "%s: kernel %s", e->place, e->name);
	return 0;
}

/* A word that is not found may be a misspelt name of the scenario's. */
static void hint_names(const struct scenario_plan *plan, const char *spec, struct error *err)
{
	cleanup_strbuf struct strbuf names = STRBUF_INIT;

	if (!plan->nkernels || strchr(spec, '/') || str_starts(spec, "debian:"))
		return;
	for (size_t i = 0; i < plan->nkernels; i++)
		strbuf_addf(&names, "%s%s", i ? ", " : "", plan->kernel[i].name);
	error_hint(err, "scenario %s has %s", plan->name, names.data);
}

static int get(const struct scenario_plan *plan, const struct wanted *w, struct progress *progress,
	       struct kernel *k, struct error *err)
{
	const struct kernel_fetch_options fetch = { .progress = progress_task,
						    .progress_arg = progress };

	if (!w->spec)
		return build(w->entry, progress, k, err);
	if (kernel_resolve_with(w->spec, &fetch, k, err) == 0)
		return 0;
	if (w->given && !w->entry)
		hint_names(plan, w->spec, err);
	return -1;
}

/* The last against those before it. */
static int check_others(const struct plan_kernels *pk, const struct wanted *w,
			struct progress *progress, struct error *err)
{
	const struct kernel *k = &pk->kernel[pk->n - 1];

	for (size_t i = 0; i + 1 < pk->n; i++) {
		const struct kernel *other = &pk->kernel[i];
		cleanup_free char *note = NULL;

		if (strcmp(other->name, k->name) == 0)
			return error_set(err, EXIT_USAGE,
					 "%s%s: the same kernel twice; leave one out",
					 w->given ? "--kernel " : "",
					 !w->given && w->entry ? w->entry->place :
					 w->spec	       ? w->spec :
								 w->entry->name);
		if (!other->image_hash || !k->image_hash ||
		    strcmp(other->image_hash, k->image_hash) != 0)
			continue;
		note = str_printf("%s and %s are the same image: compare takes them for one kernel",
				  other->name, k->name);
		progress_note(progress, note);
	}
	return 0;
}

/* ---- what a run set keeps of it ---- */

static int keep_file(struct run_kernel *kept, const char *name, const char *path, const char *hash,
		     struct error *err)
{
	size_t len;
	cleanup_free char *text = file_read(path, KEPT_MAX, &len, err);
	cleanup_free char *now = text ? hash_bytes(text, len) : NULL;

	if (!text)
		return error_wrap(err, "what a kernel was built of is kept with its runs");
	if (hash && strcmp(hash, now) != 0)
		return error_set(err, EXIT_USAGE,
				 "%s: changed while a kernel was built of it; start again", path);
	run_kernel_keep(kept, name, text, len);
	return 0;
}

static int keep_patches(struct run_kernel *kept, const struct scenario_kernel *e,
			const struct build_record *b, struct error *err)
{
	for (size_t i = 0; e->patch[i]; i++) {
		const char *slash = strrchr(e->patch[i], '/');
		const char *hash = b->patch && b->patch[i] ? strstr(b->patch[i], "sha256:") : NULL;

		if (keep_file(kept, slash ? slash + 1 : e->patch[i], e->patch[i], hash, err) < 0)
			return -1;
	}
	return 0;
}

/* Of a kernel built earlier: the patch files may be gone, what they came to is in the source's objects. */
static void keep_difference(struct run_kernel *kept, const struct build_record *b,
			    struct progress *progress)
{
	cleanup_error struct error e = ERROR_INIT;
	cleanup_free char *text = NULL, *note = NULL;

	if (!b->patch || !b->patch[0])
		return;
	text = b->source_id && b->base && b->object ?
		       source_diff(b->source_id, b->base, b->object, false, &e) :
		       NULL;
	if (text) {
		run_kernel_keep(kept, "patches.diff", text, strlen(text));
		return;
	}
	note = str_printf("the patches that a kernel was built with are not kept with the runs: %s",
			  e.text ? e.text : "its record does not say where they are");
	progress_note(progress, note);
}

static int keep(const struct wanted *w, const struct kernel *k, struct run_kernel *kept,
		struct progress *progress, struct error *err)
{
	struct build_record b = { 0 };
	int built = build_record_load(k, &b, err), ret = 0;

	if (built <= 0)
		return built;
	if (w->spec)
		keep_difference(kept, &b, progress);
	else
		ret = keep_patches(kept, w->entry, &b, err);
	if (ret == 0 && b.changes)
		ret = keep_file(kept, "changes.patch", b.changes, NULL, err);
	if (ret == 0 && k->config)
		ret = keep_file(kept, "config", k->config, NULL, err);
	build_record_free(&b);
	return ret;
}

/* ---- all together ---- */

int plan_kernels_get(const struct opt_list *given, const struct scenario_plan *plan,
		     struct progress *progress, struct plan_kernels *pk, struct error *err)
{
	struct wanted want[PLAN_KERNELS_MAX];
	size_t n;

	*pk = (struct plan_kernels){ 0 };
	if (choose(given, plan, want, &n, err) < 0 ||
	    choose_cells(plan, want, &n, &pk->left_out, err) < 0 ||
	    check_fragments(want, n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct kernel *k = &pk->kernel[i];

		if (get(plan, &want[i], progress, k, err) < 0)
			return -1;
		pk->n++;
		if (keep(&want[i], k, &pk->kept[i], progress, err) < 0)
			return -1;
		if (!want[i].spec) {
			free(k->name);
			k->name = xstrdup(want[i].entry->name);
		}
		if (check_others(pk, &want[i], progress, err) < 0)
			return -1;
	}
	progress_task(progress, NULL, -1);
	return 0;
}

void plan_kernels_free(struct plan_kernels *pk)
{
	for (size_t i = 0; i < pk->n; i++) {
		kernel_free(&pk->kernel[i]);
		run_kernel_free(&pk->kept[i]);
	}
	free(pk->left_out);
	*pk = (struct plan_kernels){ 0 };
}
