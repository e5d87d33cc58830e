/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_ATTEMPT_H
#define MMRIG_ATTEMPT_H
/*
 * One VM's life, driven by the engine's loop: a whole run, the making of a template, or a fork of
 * one. Several may be in the air at once.
 */
#include "harness/engine/engine.h"

enum attempt_kind {
	ATTEMPT_WHOLE,	  /* boot, layout, workload */
	ATTEMPT_TEMPLATE, /* boot, layout; then the VM is saved */
	ATTEMPT_FORK,	  /* from a template: workload */
};

/*
 * A laid-out VM, and all that it said until then: a fork's record begins with these bytes, so that
 * it is as complete as that of a whole run.
 */
struct layout_template {
	char *id; /* "L1": the set's first layout */
	struct vm_template *memory;
	struct strbuf wire, console;
	double boot_s;
	uint64_t dirty_bytes; /* the most that a fork has dirtied so far; 0: none has run */
};

struct layout_template *layout_template_new(const char *id, const struct variant *v, struct error *err);
void layout_template_free(struct layout_template *t);

struct attempt_spec {
	enum attempt_kind kind;
	unsigned int k; /* for the progress line */
	struct engine_cell cell;
	struct layout_template *layout; /* TEMPLATE fills it, FORK reads it; outlives the attempt */
	struct run run;			/* id, seed, identity; the attempt takes it over */
	int cpu_first, cpu_count;	/* host CPUs of the VM; count 0: any */
};

/*
 * The end. For a TEMPLATE that came about, run is NULL and nothing was recorded. Otherwise run is
 * stored and the callback's to keep. failed: it could not be stored, with the reason.
 */
enum attempt_again {
	AGAIN_NO,
	AGAIN_SAME,	/* it says nothing, and another try may say more */
	AGAIN_UNFORKED, /* this VM cannot be saved: without a template */
};
typedef void (*attempt_done_fn)(void *arg, const struct attempt_spec *spec, struct run *run,
				enum attempt_again again,
				struct error *failed);

struct attempt;
int attempt_start(struct engine *e, const struct attempt_spec *spec, attempt_done_fn done, void *arg,
		  struct error *err);
/* The next in the engine's list. */
struct attempt *attempt_next(const struct attempt *a);
/* Takes its half-made record away; for who is about to exit. */
void attempt_abandon(struct attempt *a);
/* The user wants it to end: the verdict will be `interrupted`. */
void attempt_interrupt(struct attempt *a);
/* To be called about every 100 ms: deadlines. */
void attempt_tick(struct attempt *a);

#endif
