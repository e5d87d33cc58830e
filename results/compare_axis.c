// SPDX-License-Identifier: GPL-2.0-only
/* Where each run stands: its kernel, its variant, and what else runs may differ in. */
#include <string.h>

#include "results/compare_internal.h"
#include "results/util/cleanup.h"

const struct run *points_run(const struct points *p, size_t i)
{
	return &p->run[i].frame->set.run[p->run[i].index];
}

static const struct runset *set_of(const struct compare_run *run)
{
	return &run->frame->set;
}

static const struct run *run_of(const struct compare_run *run)
{
	return &run->frame->set.run[run->index];
}

static const struct run_variant *variant_of(const struct compare_run *run)
{
	const struct run *r = run_of(run);

	return r->variant < set_of(run)->nvariants ? &set_of(run)->variant[r->variant] : NULL;
}

static const struct run_kernel *kernel_of(const struct compare_run *run)
{
	const struct run *r = run_of(run);

	return r->kernel < set_of(run)->nkernels ? &set_of(run)->kernel[r->kernel] : NULL;
}

/* Runs stand together by set and cell, so the value searched for is most often the last one. */
static uint32_t axis_value(struct axis *a, const char *text, size_t last)
{
	if (last < a->n && strcmp(a->value[last], text) == 0)
		return (uint32_t)last;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->value[i], text) == 0)
			return (uint32_t)i;
	a->value = xreallocarray(a->value, a->n + 1, sizeof(*a->value));
	a->value[a->n] = xstrdup(text);
	return (uint32_t)a->n++;
}

struct axis *points_add(struct points *p, const char *name, enum axis_kind kind,
			const char *(*value)(const void *arg, const struct compare_run *run),
			const void *arg)
{
	struct axis *a;

	p->axis = xreallocarray(p->axis, p->naxes + 1, sizeof(*p->axis));
	a = &p->axis[p->naxes++];
	*a = (struct axis){ .name = xstrdup(name), .kind = kind };
	a->at = xcalloc(p->nruns ? p->nruns : 1, sizeof(*a->at));
	for (size_t i = 0; i < p->nruns; i++) {
		const char *text = value(arg, &p->run[i]);

		a->at[i] = axis_value(a, text && *text ? text : "-", i ? a->at[i - 1] : 0);
	}
	return a;
}

static const char *runset_value(const void *arg, const struct compare_run *run)
{
	return set_of(run)->id;
}

static const char *accel_value(const void *arg, const struct compare_run *run)
{
	return run_of(run)->accel;
}

static const char *qemu_value(const void *arg, const struct compare_run *run)
{
	return run_of(run)->qemu_version;
}

static const char *host_value(const void *arg, const struct compare_run *run)
{
	return run_of(run)->host;
}

static const char *scenario_value(const void *arg, const struct compare_run *run)
{
	return set_of(run)->scenario;
}

static const char *forked_value(const void *arg, const struct compare_run *run)
{
	return run_of(run)->forked_from ? "forked" : "booted";
}

/* The text lives until the next call: points_add() copies it. */
static const char *memory_value(const void *arg, const struct compare_run *run)
{
	static __thread char text[32];
	const struct run_variant *v = variant_of(run);
	cleanup_free char *bytes = v ? str_format_bytes(v->memory_bytes) : NULL;

	snprintf(text, sizeof(text), "%s", bytes ? bytes : "");
	return text;
}

static const char *cpus_value(const void *arg, const struct compare_run *run)
{
	static __thread char text[32];
	const struct run_variant *v = variant_of(run);

	snprintf(text, sizeof(text), "%u", v ? v->cpus : 0);
	return v ? text : NULL;
}

static const char *vary_value(const void *name, const struct compare_run *run)
{
	const struct run_variant *v = variant_of(run);

	for (size_t i = 0; v && i < v->nvalues; i++)
		if (strcmp(v->value[i].name, name) == 0)
			return v->value[i].text;
	return NULL;
}

/* Its values and not its label, which a scenario may have changed, or may give to two of them. */
static const char *variant_value(const void *text, const struct compare_run *run)
{
	const struct run_variant *v = variant_of(run);
	struct strbuf *sb = (struct strbuf *)text;

	sb->len = 0;
	for (size_t i = 0; v && i < v->nvalues; i++)
		strbuf_addf(sb, "%s%s=%s", i ? ", " : "", v->value[i].name, v->value[i].text);
	return sb->len ? sb->data : v ? v->label : NULL;
}

/* What makes a kernel the same one: its image; of a run set without hashes, its name. */
static const char *kernel_identity(const struct run_kernel *k)
{
	return k->image_hash && *k->image_hash ? k->image_hash : k->name;
}

struct kernels {
	const struct run_kernel **kernel; /* one of each identity */
	char **label;
	size_t n;
};

static size_t kernels_find(const struct kernels *ks, const struct run_kernel *k)
{
	for (size_t i = 0; i < ks->n; i++)
		if (strcmp(kernel_identity(ks->kernel[i]), kernel_identity(k)) == 0)
			return i;
	return ks->n;
}

/* "7.3.4", or "7.3.4 (1fe9968467)" where another kernel has the same name. */
static void kernels_label(struct kernels *ks)
{
	ks->label = xcalloc(ks->n ? ks->n : 1, sizeof(*ks->label));
	for (size_t i = 0; i < ks->n; i++) {
		const struct run_kernel *k = ks->kernel[i];
		const char *more = k->build_id && *k->build_id ? k->build_id : kernel_identity(k);
		bool alone = true;

		for (size_t j = 0; j < ks->n; j++)
			alone &= j == i || strcmp(ks->kernel[j]->name, k->name) != 0;
		if (str_starts(more, "sha256:"))
			more += strlen("sha256:");
		ks->label[i] = alone ? xstrdup(k->name) : str_printf("%s (%.10s)", k->name, more);
	}
}

static void kernels_make(const struct frame *frame, size_t nframes, struct kernels *ks)
{
	*ks = (struct kernels){ 0 };
	for (size_t f = 0; f < nframes; f++) {
		for (size_t i = 0; i < frame[f].set.nkernels; i++) {
			const struct run_kernel *k = &frame[f].set.kernel[i];

			if (!k->name || kernels_find(ks, k) < ks->n)
				continue;
			ks->kernel = xreallocarray(ks->kernel, ks->n + 1, sizeof(*ks->kernel));
			ks->kernel[ks->n++] = k;
		}
	}
	kernels_label(ks);
}

static void kernels_free(struct kernels *ks)
{
	for (size_t i = 0; i < ks->n; i++)
		free(ks->label[i]);
	free(ks->label);
	free(ks->kernel);
}

static const char *kernel_value(const void *arg, const struct compare_run *run)
{
	const struct kernels *ks = arg;
	const struct run_kernel *k = kernel_of(run);
	size_t i = k && k->name ? kernels_find(ks, k) : ks->n;

	return i < ks->n ? ks->label[i] : NULL;
}

/* Every point of all that tells places apart. */
struct cells {
	const struct kernels *kernels;
	struct strbuf text;
};

static const char *cell_value(const void *arg, const struct compare_run *run)
{
	struct cells *c = (struct cells *)arg;
	const char *kernel = kernel_value(c->kernels, run);
	cleanup_strbuf struct strbuf variant = STRBUF_INIT;
	const char *text = variant_value(&variant, run);

	c->text.len = 0;
	strbuf_addf(&c->text, "%s%s%s", text ? text : "", text && *text && kernel ? ", " : "",
		    kernel ? kernel : "");
	return c->text.data;
}

char **points_origin(const struct frame *frame, size_t nframes)
{
	char **lines = xcalloc(1, sizeof(*lines));
	struct kernels ks;
	size_t n = 0;

	kernels_make(frame, nframes, &ks);
	for (size_t i = 0; i < ks.n; i++) {
		const struct run_kernel *k = ks.kernel[i];
		struct strbuf sb = STRBUF_INIT;

		if (!k->folder)
			continue;
		strbuf_addf(&sb, "%s: %s; kernels/%s:", ks.label[i],
			    k->provenance ? k->provenance : "built by mmrig", k->folder);
		for (size_t f = 0; f < k->nkept; f++)
			strbuf_addf(&sb, "%s %s", f ? "," : "", k->kept[f].name);
		lines = xreallocarray(lines, n + 2, sizeof(*lines));
		lines[n++] = strbuf_steal(&sb);
		lines[n] = NULL;
	}
	kernels_free(&ks);
	return lines;
}

const struct axis *points_find(const struct points *p, const char *name)
{
	for (size_t i = 0; i < p->naxes; i++)
		if (strcmp(p->axis[i].name, name) == 0)
			return &p->axis[i];
	return NULL;
}

static void add_vary(struct points *p, const struct frame *frame, size_t nframes)
{
	for (size_t f = 0; f < nframes; f++) {
		const struct runset *set = &frame[f].set;

		for (size_t v = 0; v < set->nvariants; v++)
			for (size_t i = 0; i < set->variant[v].nvalues; i++) {
				const char *name = set->variant[v].value[i].name;

				if (name && !points_find(p, name))
					points_add(p, name, AXIS_PLACE, vary_value, name)->of_variant = true;
			}
	}
}

/* What is under way, or was superseded by a later try, is still a run that was made: it is counted. */
static void take_runs(const struct frame *frame, size_t nframes, struct points *p)
{
	for (size_t f = 0; f < nframes; f++)
		p->nruns += frame[f].set.nruns;
	p->run = xcalloc(p->nruns ? p->nruns : 1, sizeof(*p->run));
	p->nruns = 0;
	for (size_t f = 0; f < nframes; f++)
		for (size_t i = 0; i < frame[f].set.nruns; i++)
			p->run[p->nruns++] = (struct compare_run){ &frame[f], i };
}

void points_make(const struct frame *frame, size_t nframes, struct points *p)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct kernels ks;
	struct cells cells = { &ks, STRBUF_INIT };

	*p = (struct points){ 0 };
	take_runs(frame, nframes, p);
	kernels_make(frame, nframes, &ks);
	points_add(p, AXIS_KERNEL, AXIS_PLACE, kernel_value, &ks);
	add_vary(p, frame, nframes);
	points_add(p, AXIS_RUNSET, AXIS_LABEL, runset_value, NULL);
	points_add(p, AXIS_VARIANT, AXIS_LABEL, variant_value, &text);
	if (!points_find(p, AXIS_CELL))
		points_add(p, AXIS_CELL, AXIS_LABEL, cell_value, &cells);
	strbuf_free(&cells.text);
	kernels_free(&ks);
	/* A vary axis may have one of these names: it says the same. */
	if (!points_find(p, "memory"))
		points_add(p, "memory", AXIS_SHARED, memory_value, NULL);
	if (!points_find(p, "cpus"))
		points_add(p, "cpus", AXIS_SHARED, cpus_value, NULL);
	points_add(p, "accel", AXIS_SHARED, accel_value, NULL);
	points_add(p, "qemu", AXIS_SHARED, qemu_value, NULL);
	points_add(p, "scenario", AXIS_SHARED, scenario_value, NULL);
	points_add(p, "host", AXIS_LABEL, host_value, NULL);
	points_add(p, "forked", AXIS_LABEL, forked_value, NULL);
	points_add_scenario(p, frame, nframes);
}

void points_free(struct points *p)
{
	for (size_t i = 0; i < p->naxes; i++) {
		for (size_t k = 0; k < p->axis[i].n; k++)
			free(p->axis[i].value[k]);
		free(p->axis[i].value);
		free(p->axis[i].name);
		free(p->axis[i].at);
	}
	free(p->axis);
	free(p->run);
	*p = (struct points){ 0 };
}

/* "vm.defrag_mode" ends "sysctl.workload.vm.defrag_mode" at a dot. */
static bool path_ends(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return m && n > m && path[n - m - 1] == '.' && strcmp(path + n - m, end) == 0;
}

const struct axis *points_axis(const struct points *p, const char *name)
{
	const struct axis *found = points_find(p, name);

	if (found)
		return found;
	for (size_t i = 0; i < p->naxes; i++) {
		if (!path_ends(p->axis[i].name, name))
			continue;
		if (found)
			return NULL;
		found = &p->axis[i];
	}
	return found;
}
