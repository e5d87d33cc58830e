// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "harness/engine/engine.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

/* A run's samples, one after the other: name, phase, edge, guest time, bytes. */
struct tape {
	struct strbuf bytes;
	size_t *start; /* of each sample */
	size_t n;
};

static int put_on_tape(void *arg, const struct wire_sample *s)
{
	struct tape *t = arg;

	t->start = xreallocarray(t->start, t->n + 1, sizeof(*t->start));
	t->start[t->n++] = t->bytes.len;
	strbuf_addf(&t->bytes, "%s in %s, edge %d, at %llu ns\n", s->name, wire_phase_names[s->phase],
		    (int)s->edge, (unsigned long long)s->mono_ns);
	strbuf_add(&t->bytes, s->data, s->len);
	return 0;
}

static void tape_free(struct tape *t)
{
	strbuf_free(&t->bytes);
	free(t->start);
}

/* The first line of the sample in which the tapes, which are not the same, part; heap. */
static char *first_difference(const struct tape *a, const struct tape *b)
{
	size_t at = 0, most = a->bytes.len < b->bytes.len ? a->bytes.len : b->bytes.len, i = 0;
	const struct tape *t;
	const char *head;

	while (at < most && a->bytes.data[at] == b->bytes.data[at])
		at++;
	t = at < a->bytes.len ? a : b; /* where one ends, the other's next sample */
	while (i + 1 < t->n && t->start[i + 1] <= at)
		i++;
	head = t->bytes.data + t->start[i];
	return str_printf("sample %zu of %zu and %zu: %.*s", i + 1, a->n, b->n,
			  (int)strcspn(head, "\n"), head);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static char *console_of(struct engine *e, const struct run *r)
{
	cleanup_free char *path = str_printf("%s/%s/%s/console.log", store_root(e->store), e->set->id, r->id);

	return file_read(path, 0, NULL, NULL);
}

/* NULL: the same; else what differs first, heap. */
static char *compare(struct engine *e, const struct run *a, const struct run *b, size_t *samples)
{
	cleanup_error struct error err = ERROR_INIT;
	struct tape ta = { .bytes = STRBUF_INIT }, tb = { .bytes = STRBUF_INIT };
	cleanup_free char *ca = console_of(e, a), *cb = console_of(e, b);
	char *why = NULL;

	if (store_each_sample(e->store, e->set->id, a->id, put_on_tape, &ta, &err) < 0 ||
	    store_each_sample(e->store, e->set->id, b->id, put_on_tape, &tb, &err) < 0)
		why = xstrdup(err.text);
	else if (!ta.n && !tb.n)
		why = xstrdup("neither has samples");
	else if (ta.bytes.len != tb.bytes.len ||
		 memcmp(ta.bytes.data, tb.bytes.data, ta.bytes.len) != 0)
		why = first_difference(&ta, &tb);
	else if (!same_text(a->workload_json, b->workload_json))
		why = xstrdup("the workload's result");
	else if (!same_text(a->layout_json, b->layout_json))
		why = xstrdup("the layout's report");
	else if (!same_text(ca, cb))
		why = xstrdup("the console");
	*samples = ta.n;
	tape_free(&ta);
	tape_free(&tb);
	return why;
}

static bool report(struct engine *e, const struct run *a, const struct run *b)
{
	const char *label = e->set->variant[a->variant].label;
	unsigned long long seed = a->seed;
	cleanup_free char *why = NULL, *text = NULL;
	size_t samples = 0;

	if (a->verdict != VERDICT_OK || b->verdict != VERDICT_OK)
		why = str_printf("verdicts %s and %s", verdict_name(a->verdict), verdict_name(b->verdict));
	else
		why = compare(e, a, b, &samples);
	if (why)
		text = str_printf("runs %s and %s (%s, seed %llu) differ: %s", a->id, b->id, label, seed, why);
	else
		text = str_printf("runs %s and %s (%s, seed %llu) are the same: %zu snapshots and samples, "
				  "results and console", a->id, b->id, label, seed, samples);
	progress_note(e->progress, text);
	return why != NULL;
}

int engine_verify(struct engine *e, size_t *differing, struct error *err)
{
	struct runset *set = e->set;

	*differing = 0;
	for (size_t i = 0; i < set->nruns; i++) {
		if (runset_superseded(set, i)) /* its repeat is one of the pair */
			continue;
		for (size_t k = i + 1; k < set->nruns; k++) {
			if (set->run[k].cell != set->run[i].cell || set->run[k].seed != set->run[i].seed ||
			    runset_superseded(set, k))
				continue;
			*differing += report(e, &set->run[i], &set->run[k]);
			break;
		}
	}
	return 0;
}
