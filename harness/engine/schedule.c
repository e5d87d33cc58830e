// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which run next, and how many at once. Slots are the runs in the order of the plan: repetition by
 * repetition, variants and kernels within one, kernels fastest (A B A B). With --fork the slots of a
 * cell that share a layout form a group: its template is made when the first of them is due, and
 * dropped after the last. A slot that cannot start yet (its template is being made, or memory is
 * short) is passed over for the next; nothing else changes the order.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/engine/attempt.h"
#include "harness/engine/host.h"
#include "results/util/cleanup.h"

#define TICK_MS 100
#define TRIES_MAX 3
#define MIB (1ULL << 20)
/* QEMU's own beside the guest's memory. */
#define QEMU_BYTES (192 * MIB)
/* A fork may dirty so much of its guest's memory, until one has shown how much it is. */
#define DIRTY_GUESS 4

enum slot_state { SLOT_TODO, SLOT_RUNNING, SLOT_DONE };
enum group_state { GROUP_NONE, GROUP_MAKING, GROUP_READY };

struct slot {
	struct engine_cell cell;
	uint64_t seed;
	unsigned int number, tries, lane;
	unsigned int before; /* of these tries, those of the set that is resumed */
	enum slot_state state;
	size_t group;
	uint64_t bytes; /* set aside for it while it runs */
};

struct group {
	enum group_state state;
	struct layout_template *layout;
	unsigned int todo; /* slots not done */
	bool unforked;	   /* its VM cannot be saved: every run boots */
	uint64_t bytes;
};

struct schedule {
	struct engine *e;
	const struct engine_options *o;
	struct slot *slot;
	size_t nslots, running, jobs;
	struct group *group;
	size_t ngroups, layouts_made;
	uint64_t budget, used; /* bytes of host memory */
	bool *lane;	       /* of CPUs: taken */
	int lane_cpus;	       /* host CPUs of a lane; 0: not pinned */
	struct error *failed;
};

/* ---- the plan ---- */

void engine_plan_cells(struct engine *e, const struct engine_options *o)
{
	e->cell = xcalloc(e->nkernels * e->plan->nvariants, sizeof(*e->cell));
	e->ncells = 0;
	for (size_t v = 0; v < e->plan->nvariants; v++)
		for (size_t k = 0; k < e->nkernels; k++)
			if (!o->left_out || !o->left_out[k * e->plan->nvariants + v])
				e->cell[e->ncells++] = (struct engine_cell){ k, v };
}

/* How often a slot was tried before; *done when the last of these tries needs no repeat. */
static unsigned int tries_before(const struct runset *set, unsigned int slot, bool *done)
{
	unsigned int n = 0;

	*done = false;
	for (size_t i = 0; i < set->nruns; i++) {
		if ((unsigned int)strtoul(set->run[i].id, NULL, 10) != slot + 1)
			continue;
		n++;
		*done |= set->run[i].verdict != VERDICT_INTERRUPTED && !runset_superseded(set, i);
	}
	return n;
}

/* A layout's name is good for the whole set: one that goes on counts from the last "L3" in it. */
static size_t layouts_before(const struct runset *set)
{
	size_t most = 0;

	for (size_t i = 0; i < set->nruns; i++) {
		const char *from = set->run[i].forked_from;
		size_t n = from && *from == 'L' ? strtoul(from + 1, NULL, 10) : 0;

		if (n > most)
			most = n;
	}
	return most;
}

static void plan_slots(struct schedule *s)
{
	const struct engine *e = s->e;
	size_t cells = e->ncells;
	unsigned int layouts = s->o->layouts ? s->o->layouts : 1, kept = 0;

	if (layouts > s->o->runs)
		layouts = s->o->runs;
	s->layouts_made = layouts_before(e->set);
	s->nslots = s->o->runs * cells;
	s->slot = xcalloc(s->nslots, sizeof(*s->slot));
	s->ngroups = layouts * cells;
	s->group = xcalloc(s->ngroups, sizeof(*s->group));
	for (size_t i = 0; i < s->nslots; i++) {
		struct slot *slot = &s->slot[i];
		size_t rep = i / cells, c = i % cells;
		bool done;

		slot->number = (unsigned int)i;
		slot->cell = e->cell[c];
		/* With verify a repetition is a pair of the same seed. */
		slot->seed = s->o->seed + (s->o->verify ? rep / 2 : rep);
		slot->group = c * layouts + rep * layouts / s->o->runs;
		slot->tries = slot->before = tries_before(e->set, slot->number, &done);
		slot->state = done ? SLOT_DONE : SLOT_TODO;
		s->group[slot->group].todo += !done;
		kept += done;
	}
	progress_start(e->progress, e->plan->name, (unsigned int)s->nslots);
	progress_kept(e->progress, kept);
}

static void plan_lanes(struct schedule *s)
{
	unsigned int widest = 1;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (size_t i = 0; i < s->e->ncells; i++) {
		unsigned int wide = s->e->plan->variant[s->e->cell[i].variant].cpus;

		widest = wide > widest ? wide : widest;
	}
	s->jobs = s->o->jobs ? s->o->jobs : cpus > (long)widest ? (size_t)cpus / widest : 1;
	if (s->jobs > s->nslots)
		s->jobs = s->nslots;
	/* Timed runs get CPUs of their own; with more jobs than fit, as was asked, they share. */
	if (s->jobs > 1 && (size_t)cpus >= s->jobs * widest)
		s->lane_cpus = (int)widest;
	s->lane = xcalloc(s->jobs, sizeof(*s->lane));
}

/* ---- memory ---- */

static uint64_t guest_bytes(const struct schedule *s, const struct slot *slot)
{
	return s->e->plan->variant[slot->cell.variant].memory_bytes;
}

static uint64_t fork_bytes(const struct schedule *s, const struct slot *slot)
{
	const struct layout_template *t = s->group[slot->group].layout;
	uint64_t dirty = t && t->dirty_bytes ? t->dirty_bytes + t->dirty_bytes / 4 :
					       guest_bytes(s, slot) / DIRTY_GUESS;

	return dirty + QEMU_BYTES;
}

/*
 * With nothing in the air and no template kept a VM may always start: it was checked before the first
 * one. A fork may with nothing in the air: only its group's end gives the template's memory back, and
 * a set that waits for it would end with runs left out.
 */
static bool fits(const struct schedule *s, uint64_t bytes, enum attempt_kind kind)
{
	return s->used + bytes <= s->budget || (s->running == 0 && (s->used == 0 || kind == ATTEMPT_FORK));
}

/* ---- starting ---- */

static void on_done(void *arg, const struct attempt_spec *spec, struct run *run,
		    enum attempt_again again, struct error *failed);

static void take_room(struct schedule *s, struct slot *slot, uint64_t bytes)
{
	s->lane[slot->lane] = true;
	slot->state = SLOT_RUNNING;
	slot->bytes = bytes;
	s->used += bytes;
	s->running++;
}

static void give_room(struct schedule *s, struct slot *slot)
{
	s->lane[slot->lane] = false;
	s->used -= slot->bytes;
	s->running--;
}

static int start(struct schedule *s, struct slot *slot, enum attempt_kind kind, uint64_t bytes)
{
	struct engine *e = s->e;
	const char *label = e->set->variant[slot->cell.variant].label;
	cleanup_free char *shown = e->nkernels > 1 ?
		str_printf("%s  %s", e->kernel[slot->cell.kernel].kernel.name, label) : xstrdup(label);
	struct attempt_spec spec = {
		.kind = kind,
		.k = slot->number + 1,
		.cell = slot->cell,
		.layout = kind == ATTEMPT_WHOLE ? NULL : s->group[slot->group].layout,
		.run = engine_new_run(e, s->o, slot->number, slot->tries, &slot->cell, slot->seed),
	};

	for (slot->lane = 0; slot->lane < s->jobs && s->lane[slot->lane];)
		slot->lane++;
	spec.cpu_first = (int)slot->lane * s->lane_cpus;
	spec.cpu_count = s->lane_cpus;
	take_room(s, slot, bytes);
	progress_run_begin(e->progress, spec.k, shown, slot->seed);
	if (attempt_start(e, &spec, on_done, s, s->failed) == 0)
		return 0;
	give_room(s, slot); /* on_done() is not called */
	return -1;
}

static int start_template(struct schedule *s, struct slot *slot)
{
	struct group *g = &s->group[slot->group];
	char id[24];

	snprintf(id, sizeof(id), "L%zu", s->layouts_made + 1);
	g->layout = layout_template_new(id, &s->e->plan->variant[slot->cell.variant], s->failed);
	if (!g->layout)
		return -1;
	s->layouts_made++;
	g->state = GROUP_MAKING;
	return start(s, slot, ATTEMPT_TEMPLATE, guest_bytes(s, slot) + QEMU_BYTES);
}

/* Starts what can be started; 1: something was. */
static int start_one(struct schedule *s)
{
	for (size_t i = 0; i < s->nslots; i++) {
		struct slot *slot = &s->slot[i];
		struct group *g = &s->group[slot->group];
		uint64_t whole = guest_bytes(s, slot) + QEMU_BYTES;

		if (slot->state != SLOT_TODO)
			continue;
		if ((!s->o->fork || g->unforked) && fits(s, whole, ATTEMPT_WHOLE))
			return start(s, slot, ATTEMPT_WHOLE, whole) < 0 ? -1 : 1;
		if (!s->o->fork || g->unforked || g->state == GROUP_MAKING)
			continue;
		if (g->state == GROUP_READY && fits(s, fork_bytes(s, slot), ATTEMPT_FORK))
			return start(s, slot, ATTEMPT_FORK, fork_bytes(s, slot)) < 0 ? -1 : 1;
		if (g->state == GROUP_NONE && fits(s, whole, ATTEMPT_TEMPLATE))
			return start_template(s, slot) < 0 ? -1 : 1;
	}
	return 0;
}

static int pump(struct schedule *s)
{
	int ret = 1;

	/* Some end as they start, and may fail to be stored then. */
	while (ret == 1 && s->running < s->jobs && !s->e->interrupts && !s->failed->text)
		ret = start_one(s);
	return ret < 0 || s->failed->text ? -1 : 0;
}

/* ---- ending ---- */

static void drop_layout(struct schedule *s, struct group *g)
{
	s->used -= g->bytes;
	g->bytes = 0;
	layout_template_free(g->layout);
	g->layout = NULL;
	g->state = GROUP_NONE;
}

static char *summary_of(const struct run *r, char *const *metric)
{
	struct strbuf sb = STRBUF_INIT;
	int shown = 0;

	for (; metric && *metric && shown < 3; metric++) {
		const double *v = run_metric(r, *metric);

		if (!v)
			continue;
		strbuf_addf(&sb, *v == (double)(long long)*v ? "%s%s %.0f" : "%s%s %.2f",
			    shown++ ? ", " : "", *metric, *v);
	}
	return strbuf_steal(&sb);
}

/* The run stays, whatever it is. One that says nothing is made again, a few times. */
static void keep(struct schedule *s, struct slot *slot, struct run *run,
		 enum attempt_again again)
{
	struct runset *set = s->e->set;
	cleanup_free char *summary = summary_of(run, set->metric);

	progress_run_end(s->e->progress, slot->number + 1, run->verdict, run->why,
			 *summary ? summary : NULL);
	set->run = xreallocarray(set->run, set->nruns + 1, sizeof(*run));
	set->run[set->nruns++] = *run;
	free(run);
	if (again != AGAIN_NO && ++slot->tries - slot->before < TRIES_MAX) {
		slot->state = SLOT_TODO;
		return;
	}
	slot->state = SLOT_DONE;
	s->group[slot->group].todo--;
}

static void on_done(void *arg, const struct attempt_spec *spec, struct run *run,
		    enum attempt_again again, struct error *failed)
{
	struct schedule *s = arg;
	struct slot *slot = &s->slot[spec->k - 1];
	struct group *g = &s->group[slot->group];

	give_room(s, slot);
	if (failed && !s->failed->text)
		error_move(s->failed, failed);
	if (!run) { /* the template is ready; its slot is still to be run */
		g->state = GROUP_READY;
		g->bytes = vm_template_bytes(g->layout->memory);
		s->used += g->bytes;
		slot->state = SLOT_TODO;
		return;
	}
	if (spec->kind == ATTEMPT_FORK && run->dirty_bytes > g->layout->dirty_bytes)
		g->layout->dirty_bytes = run->dirty_bytes;
	keep(s, slot, run, again);
	if (again == AGAIN_UNFORKED) {
		g->unforked = true;
		progress_note(s->e->progress, "this VM cannot be saved; its runs are made without --fork");
	}
	if (spec->kind == ATTEMPT_TEMPLATE)
		drop_layout(s, g); /* it failed; the next slot of the group tries again */
	else if (g->state == GROUP_READY && !g->todo)
		drop_layout(s, g);
}

static void on_tick(uv_timer_t *t)
{
	struct engine *e = t->data;

	progress_tick(e->progress);
	for (struct attempt *a = e->attempts, *next; a; a = next) {
		next = attempt_next(a);
		attempt_tick(a);
	}
}

static int loop(struct schedule *s)
{
	int ret = pump(s);

	while (s->running) {
		uv_run(&s->e->loop, UV_RUN_ONCE);
		if (ret == 0)
			ret = pump(s);
	}
	return ret;
}

static int by_id(const void *a, const void *b)
{
	const struct run *x = a, *y = b;
	unsigned long sx = strtoul(x->id, NULL, 10), sy = strtoul(y->id, NULL, 10);

	return sx != sy ? (sx < sy ? -1 : 1) : strcmp(x->id, y->id);
}

/* In the order of the plan: with several at once they come in the order of their ends. */
static void sort_runs(struct runset *set)
{
	if (set->nruns)
		qsort(set->run, set->nruns, sizeof(*set->run), by_id);
}

int engine_schedule(struct engine *e, const struct engine_options *o, struct error *err)
{
	cleanup_error struct error failed = ERROR_INIT;
	struct schedule s = { .e = e, .o = o, .failed = &failed, .budget = host_memory_available() };
	uv_timer_t tick;
	int ret;

	s.budget -= s.budget > 256 * MIB ? 256 * MIB : s.budget; /* for the host */
	plan_slots(&s);
	plan_lanes(&s);
	uv_timer_init(&e->loop, &tick);
	tick.data = e;
	uv_timer_start(&tick, on_tick, TICK_MS, TICK_MS);
	ret = loop(&s);
	uv_close((uv_handle_t *)&tick, NULL);
	uv_run(&e->loop, UV_RUN_NOWAIT); /* the timer stands on our stack */
	for (size_t g = 0; g < s.ngroups; g++)
		layout_template_free(s.group[g].layout);
	free(s.group);
	free(s.slot);
	free(s.lane);
	sort_runs(e->set);
	if (failed.text)
		error_move(err, &failed);
	return ret;
}
