// SPDX-License-Identifier: GPL-2.0-only
#include "results/run.h"

#include <math.h>
#include <string.h>

#include "results/util/cleanup.h"

static void free_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

void run_free(struct run *r)
{
	free(r->id);
	free(r->why);
	free(r->detail);
	free(r->accel);
	free(r->qemu_version);
	free(r->qemu_command);
	free(r->host);
	free(r->reproduce);
	free(r->forked_from);
	for (size_t i = 0; i < r->nmetrics; i++)
		free(r->metric[i].name);
	free(r->metric);
	free(r->layout_json);
	free(r->workload_json);
	free(r->profile_json);
	free(r->splats_json);
	free_list(r->no_effect);
	memset(r, 0, sizeof(*r));
}

char *run_taint_letters(uint64_t taint)
{
	/* Bit 0 first: proprietary module, forced module ..., as in the kernel's kernel/panic.c. */
	static const char letter[] = "PFSRMBUDAWCIOELKXTNJ";
	char text[65];
	size_t n = 0;

	for (unsigned int bit = 0; bit < 64; bit++)
		if (taint >> bit & 1)
			text[n++] = bit < sizeof(letter) - 1 ? letter[bit] : '?';
	text[n] = '\0';
	return xstrdup(text);
}

void run_kernel_keep(struct run_kernel *k, const char *name, const char *text, size_t len)
{
	struct run_kept *kept;

	k->kept = xreallocarray(k->kept, k->nkept + 1, sizeof(*k->kept));
	kept = &k->kept[k->nkept++];
	*kept = (struct run_kept){ .name = xstrdup(name), .len = len };
	if (text) {
		kept->text = xmalloc(len + 1);
		memcpy(kept->text, text, len);
		kept->text[len] = '\0';
	}
}

void run_kernel_free(struct run_kernel *k)
{
	for (size_t i = 0; i < k->nkept; i++) {
		free(k->kept[i].name);
		free(k->kept[i].text);
	}
	free(k->kept);
	free(k->folder);
	free(k->name);
	free(k->release);
	free(k->build_id);
	free(k->image);
	free(k->image_hash);
	free(k->config_hash);
	free(k->provenance);
	*k = (struct run_kernel){ 0 };
}

static void variant_members_free(struct run_variant *v)
{
	for (size_t i = 0; i < v->nvalues; i++) {
		free(v->value[i].name);
		free(v->value[i].text);
	}
	free(v->value);
	free(v->label);
}

void runset_free(struct runset *s)
{
	free(s->id);
	free(s->scenario);
	free(s->title);
	free(s->scenario_text);
	free(s->command);
	free(s->table_style);
	free(s->row_title);
	free_list(s->metric);
	for (size_t i = 0; i < s->nkernels; i++)
		run_kernel_free(&s->kernel[i]);
	free(s->kernel);
	for (size_t i = 0; i < s->nvariants; i++)
		variant_members_free(&s->variant[i]);
	free(s->variant);
	free(s->left_out);
	for (size_t i = 0; i < s->nruns; i++)
		run_free(&s->run[i]);
	free(s->run);
	memset(s, 0, sizeof(*s));
}

bool runset_has_cell(const struct runset *set, size_t kernel, size_t variant)
{
	return !set->left_out || !set->left_out[kernel * set->nvariants + variant];
}

size_t runset_cells(const struct runset *set)
{
	size_t n = 0;

	for (size_t k = 0; k < set->nkernels; k++)
		for (size_t v = 0; v < set->nvariants; v++)
			n += runset_has_cell(set, k, v);
	return n;
}

const double *run_metric(const struct run *r, const char *name)
{
	for (size_t i = 0; i < r->nmetrics; i++)
		if (strcmp(r->metric[i].name, name) == 0)
			return &r->metric[i].value;
	return NULL;
}

void run_set_metric(struct run *r, const char *name, double value)
{
	if (!isfinite(value))
		return;
	for (size_t i = 0; i < r->nmetrics; i++) {
		if (strcmp(r->metric[i].name, name) == 0) {
			r->metric[i].value = value;
			return;
		}
	}
	r->metric = xreallocarray(r->metric, r->nmetrics + 1, sizeof(*r->metric));
	r->metric[r->nmetrics].name = xstrdup(name);
	r->metric[r->nmetrics].value = value;
	r->nmetrics++;
}

static unsigned long try_of(const char *id, unsigned long *slot)
{
	char *end;

	*slot = strtoul(id, &end, 10);
	return *end == '.' ? strtoul(end + 1, NULL, 10) : 1;
}

bool runset_superseded(const struct runset *set, size_t i)
{
	unsigned long slot, other, mine = try_of(set->run[i].id, &slot);

	for (size_t k = 0; k < set->nruns; k++)
		if (k != i && try_of(set->run[k].id, &other) > mine && other == slot)
			return true;
	return false;
}
