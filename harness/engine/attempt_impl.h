/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_ATTEMPT_IMPL_H
#define MMRIG_ATTEMPT_IMPL_H
/* Between attempt.c (the life), attempt_profile.c and attempt_verdict.c (what it came to). */
#include "harness/engine/attempt.h"
#include "harness/engine/clock.h"
#include "harness/engine/console.h"
#include "harness/engine/guest_state.h"
#include "harness/engine/host.h"
#include "harness/engine/profile.h"

enum deadline { DEADLINE_NONE, DEADLINE_BOOT, DEADLINE_PHASE, DEADLINE_HEARTBEAT, DEADLINE_PROGRESS };

struct attempt {
	struct engine *e;
	struct attempt_spec spec;
	attempt_done_fn done;
	void *arg;
	struct attempt *next; /* in the engine's list */

	struct vm *vm;
	struct console *console;
	struct guest_state guest;
	struct store_run *record;
	struct run run;
	struct host_sample host_begin, host_end;
	struct clock_watch clock;
	struct profile *profile; /* NULL: not asked for */
	bool profile_waits;	 /* for an answer */

	double start, boot_s, phase_start, last_frame, last_progress, panic_at, asked_at, ended_at;
	double last_tick, last_console, key_at;
	double slept_s;	      /* that the driver itself did not run */
	const char *next_key; /* SysRq keys still to be sent */
	uint64_t last_done, last_frames;
	enum wire_phase phase;
	enum deadline deadline;
	enum wire_phase deadline_phase; /* when it passed */
	uint64_t deadline_done;
	double deadline_s;
	bool stopping, interrupted, saving, saved, refused, resumed;
	int exit_status;
	char *trouble;		  /* a save or restore that failed */
	char *registers;	  /* of a guest that was asked before its end */
	bool answered;		  /* QEMU, when it was asked last */
	bool disk_failed;	  /* QEMU has stopped it, since the host did not take what it wrote to its disk */
	struct error store_error; /* the first write that failed */
};

/*
 * Asks QEMU where the vCPUs are, while the workload runs. One question at a time: a slow QEMU is
 * asked less often, and the shares stay right.
 */
void attempt_ask_profile(struct attempt *a);
void attempt_keep_symbols(void *arg, const void *text, uint32_t len);
/* The run says nothing, and another try may. */
bool attempt_hit_tcg_race(const struct attempt *a);
/* verdict, why and detail of a run whose VM is gone. */
void attempt_decide(const struct attempt *a, struct run *r);

#endif
