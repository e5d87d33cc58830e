// SPDX-License-Identifier: GPL-2.0-only
#include "results/metrics.h"

#include <string.h>

#include <jansson.h>

#include "results/proc.h"
#include "results/util/cleanup.h"

#define FILES_MAX 256
#define BYTES_MAX (16U << 20)

void samples_free(struct samples *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->file[i].data);
	free(s->file);
	memset(s, 0, sizeof(*s));
}

void edges_free(struct edges *e)
{
	samples_free(&e->begin);
	samples_free(&e->end);
	samples_free(&e->rest);
}

static struct sample_file *find(const struct samples *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->file[i].name, name) == 0)
			return &s->file[i];
	return NULL;
}

const struct sample_file *samples_find(const struct samples *s, const char *name)
{
	return find(s, name);
}

static void samples_take(struct samples *s, const struct wire_sample *sample)
{
	struct sample_file *f = find(s, sample->name);
	size_t bytes = sample->len;

	for (size_t i = 0; i < s->n; i++)
		bytes += &s->file[i] == f ? 0 : s->file[i].len;
	if (bytes > BYTES_MAX || (!f && s->n == FILES_MAX))
		return;
	if (!f) {
		s->file = xreallocarray(s->file, s->n + 1, sizeof(*s->file));
		f = &s->file[s->n++];
		snprintf(f->name, sizeof(f->name), "%s", sample->name);
	} else {
		free(f->data);
	}
	f->data = xmalloc((size_t)sample->len + 1);
	memcpy(f->data, sample->data, sample->len);
	f->data[sample->len] = '\0';
	f->len = sample->len;
	f->mono_ns = sample->mono_ns;
}

void edges_take(struct edges *e, const struct wire_sample *sample)
{
	if (sample->phase == PHASE_WORKLOAD && sample->edge == EDGE_BEGIN)
		samples_take(&e->begin, sample);
	else if (sample->phase == PHASE_WORKLOAD && sample->edge == EDGE_END)
		samples_take(&e->end, sample);
	else if (sample->phase == PHASE_COLLECT && sample->edge == EDGE_END &&
		 strcmp(sample->name, "vmstat") == 0)
		samples_take(&e->rest, sample);
}

void metrics_complete_daemon(const struct vmstat *rest, struct vmstat *end)
{
	for (size_t i = 0; i < end->n; i++) {
		const uint64_t *v;

		if (!str_starts(end->row[i].key, "compact_daemon_"))
			continue;
		v = vmstat_get(rest, end->row[i].key);
		if (v)
			end->row[i].value = *v;
	}
}

/*
 * Only kcompactd's own counts are of the later snapshot. Direct compaction is what the kernel
 * counts for all less what it counts for kcompactd, both of one snapshot: hence two passes.
 */
static void take_daemon_metrics(const struct vmstat *begin, const struct vmstat *completed,
				struct run *r)
{
	struct run later = { 0 };

	counter_deltas(begin, completed, &later);
	for (size_t i = 0; i < later.nmetrics; i++)
		if (str_starts(later.metric[i].name, "compact_daemon_"))
			run_set_metric(r, later.metric[i].name, later.metric[i].value);
	run_free(&later);
}

static void from_vmstat(const struct edges *e, struct run *r)
{
	const struct sample_file *begin = find(&e->begin, "vmstat"), *end = find(&e->end, "vmstat"),
				 *rest = find(&e->rest, "vmstat");
	struct vmstat b = { 0 }, f = { 0 }, z = { 0 };

	if (!begin || !end || vmstat_parse(begin->data, begin->len, &b) < 0)
		return;
	if (vmstat_parse(end->data, end->len, &f) == 0) {
		counter_deltas(&b, &f, r);
		if (rest && vmstat_parse(rest->data, rest->len, &z) == 0) {
			metrics_complete_daemon(&z, &f);
			take_daemon_metrics(&b, &f, r);
		}
	}
	vmstat_free(&b);
	vmstat_free(&f);
	vmstat_free(&z);
}

static void psi_metric(const char *what, const char *kind, bool known, uint64_t begin, uint64_t end,
		       struct strbuf *backwards, struct run *r)
{
	cleanup_free char *name = str_printf("psi_%s_%s", what, kind);

	if (known && end >= begin)
		run_set_metric(r, name, (double)(end - begin));
	else if (known)
		strbuf_addf(backwards, "%s%s", backwards->len ? ", " : "", name);
}

static void from_pressure(const struct edges *e, struct run *r)
{
	static const char *const what[] = { "memory", "io", "cpu", "irq" };
	cleanup_strbuf struct strbuf backwards = STRBUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(what); i++) {
		cleanup_free char *file = str_printf("pressure/%s", what[i]);
		const struct sample_file *begin = find(&e->begin, file), *end = find(&e->end, file);
		struct psi b, f;

		if (!begin || !end || psi_parse(begin->data, begin->len, &b) < 0 ||
		    psi_parse(end->data, end->len, &f) < 0)
			continue;
		psi_metric(what[i], "some", b.some_known && f.some_known, b.some_us, f.some_us,
			   &backwards, r);
		psi_metric(what[i], "full", b.full_known && f.full_known, b.full_us, f.full_us,
			   &backwards, r);
	}
	counter_note(r, COUNTER_BACKWARDS, &backwards);
}

static void from_meminfo(const struct edges *e, struct run *r)
{
	const struct sample_file *end = find(&e->end, "meminfo");
	struct vmstat v;

	if (!end || meminfo_parse(end->data, end->len, &v) < 0)
		return;
	counter_meminfo(&v, r);
	vmstat_free(&v);
}

static void from_slabinfo(const struct edges *e, struct run *r)
{
	const struct sample_file *end = find(&e->end, "slabinfo");
	struct slab_totals t;

	if (!end || slabinfo_parse(end->data, end->len, &t) < 0)
		return;
	run_set_metric(r, "slab_pages", t.pages);
	run_set_metric(r, "slab_objects", t.objects);
	run_set_metric(r, "slab_used", t.used_bytes);
	run_set_metric(r, "slab_size", t.size_bytes);
}

/* The window that the counters span; 0: not known. */
static double window(const struct edges *e)
{
	const struct sample_file *begin = find(&e->begin, "vmstat"), *end = find(&e->end, "vmstat");

	if (!begin || !end || end->mono_ns <= begin->mono_ns)
		return 0;
	return (double)(end->mono_ns - begin->mono_ns) / 1e9;
}

void metrics_from_edges(const struct edges *e, struct run *r)
{
	from_vmstat(e, r);
	metrics_buddyinfo(find(&e->begin, "buddyinfo"), find(&e->end, "buddyinfo"), r);
	metrics_pagetypeinfo(find(&e->begin, "pagetypeinfo"), find(&e->end, "pagetypeinfo"), r);
	metrics_extfrag("unusable_index", find(&e->end, "extfrag/unusable_index"), r);
	metrics_extfrag("extfrag_index", find(&e->end, "extfrag/extfrag_index"), r);
	metrics_zoneinfo(find(&e->end, "zoneinfo"), r);
	from_pressure(e, r);
	metrics_mthp(&e->begin, &e->end, r);
	from_meminfo(e, r);
	from_slabinfo(e, r);
	counter_formulas(window(e), r);
}

void metrics_from_workload(const char *workload_json, struct run *r)
{
	json_t *o = workload_json ? json_loads(workload_json, 0, NULL) : NULL, *value;
	const char *key;

	json_object_foreach(json_object_get(o, "metrics"), key, value) if (json_is_number(value))
		run_set_metric(r, key, json_number_value(value));
	json_decref(o);
}
