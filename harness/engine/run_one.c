// SPDX-License-Identifier: GPL-2.0-only
/*
 * One run in one VM: a small state machine on the loop. The verdict is worked out at the end from
 * everything that was seen, most precise witness first: the user, the kernel's own splat, the
 * agent's word, the deadline that passed, and last QEMU's exit (which alone says nothing: a panic
 * with -no-reboot exits with 0).
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "harness/engine/console.h"
#include "harness/engine/engine.h"
#include "harness/engine/guest_state.h"
#include "harness/image/image.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

#define TICK_MS 100
/* A panicking kernel gets this long to print its trace to the end. */
#define POST_MORTEM_S 3.0
/* The agent has a heartbeat every 0.5 s of its own time; unscaled, and scaled like the others. */
#define HEARTBEAT_S 15.0

struct attempt {
	struct engine *e;
	unsigned int k;
	struct vm *vm;
	struct console *console;
	struct guest_state guest;
	struct store_run *record;
	uv_timer_t tick;
	double start, boot_s, phase_start, last_frame, last_progress, panic_at;
	uint64_t last_done, last_frames;
	enum wire_phase phase;
	const char *deadline; /* which one passed; NULL: none */
	double deadline_s;
	bool stopping, exited, interrupted;
	int exit_status;
	struct error store_error; /* the first write that failed */
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double wall_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void stop(struct attempt *a, unsigned int grace_ms)
{
	if (a->stopping || !a->vm)
		return;
	a->stopping = true;
	vm_stop(a->vm, grace_ms);
}

static void keep_console(void *arg, const void *data, size_t len)
{
	struct attempt *a = arg;

	if (!a->store_error.text && store_console(a->record, data, len, &a->store_error) < 0)
		stop(a, 100);
}

static void keep_sample(void *arg, const void *payload, uint32_t len)
{
	struct attempt *a = arg;

	if (!a->store_error.text && store_sample(a->record, payload, len, &a->store_error) < 0)
		stop(a, 100);
}

static void on_console(void *arg, const uint8_t *data, size_t len)
{
	struct attempt *a = arg;

	console_feed(a->console, data, len);
	if (console_panicked(a->console) && !a->panic_at)
		a->panic_at = now_s();
	if (console_rebooted(a->console))
		stop(a, 100);
}

static void on_wire(void *arg, const uint8_t *data, size_t len)
{
	struct attempt *a = arg;
	double now = now_s();
	bool said_hello = a->guest.hello;

	guest_state_feed(&a->guest, data, len);
	if (a->guest.frames != a->last_frames) {
		a->last_frames = a->guest.frames;
		a->last_frame = now;
	}
	if (!said_hello && a->guest.hello) {
		a->boot_s = now - a->start;
		a->phase_start = a->last_progress = now;
	}
	if (a->guest.phase != a->phase) {
		a->phase = a->guest.phase;
		a->phase_start = a->last_progress = now;
		a->last_done = 0;
	}
	if (a->guest.done != a->last_done) {
		a->last_done = a->guest.done;
		a->last_progress = now;
	}
	progress_phase(a->e->progress, a->k, a->phase, a->guest.done, a->guest.total);
	if (a->guest.ended)
		stop(a, 0);
}

static void on_tick_closed(uv_handle_t *h)
{
}

static void on_exited(void *arg, int status)
{
	struct attempt *a = arg;

	a->exited = true;
	a->exit_status = status;
	uv_close((uv_handle_t *)&a->tick, on_tick_closed);
}

static double phase_limit(const struct attempt *a)
{
	const struct scenario_limits *l = &a->e->plan->limits;
	const double limits[PHASE_COUNT] = {
		[PHASE_BOOT] = l->boot,	      [PHASE_LAYOUT] = l->layout,   [PHASE_SETTLE] = l->settle,
		[PHASE_WORKLOAD] = l->workload, [PHASE_COLLECT] = l->collect,
	};

	return limits[a->phase] * a->e->scale;
}

static void expire(struct attempt *a, const char *which, double limit)
{
	a->deadline = which;
	a->deadline_s = limit;
	stop(a, 100);
}

static void on_tick(uv_timer_t *t)
{
	struct attempt *a = t->data;
	double now = now_s(), scale = a->e->scale, silence = a->e->plan->limits.silence * scale;

	progress_tick(a->e->progress);
	if (a->stopping)
		return;
	if (a->panic_at) {
		if (now - a->panic_at > POST_MORTEM_S)
			stop(a, 100);
		return;
	}
	if (!a->guest.hello) {
		if (now - a->start > a->e->plan->limits.boot * scale)
			expire(a, "boot", a->e->plan->limits.boot * scale);
	} else if (now - a->phase_start > phase_limit(a)) {
		expire(a, "phase", phase_limit(a));
	} else if (now - a->last_frame > HEARTBEAT_S * scale) {
		expire(a, "heartbeat", HEARTBEAT_S * scale);
	} else if ((a->phase == PHASE_LAYOUT || a->phase == PHASE_WORKLOAD) &&
		   now - a->last_progress > silence) {
		expire(a, "progress", silence);
	}
}

static void on_interrupt(void *arg)
{
	struct attempt *a = arg;

	a->interrupted = true;
	stop(a, 200);
}

static char *job_text(struct engine *e, const struct engine_cell *cell, const struct run *r)
{
	struct job head = { 0 };
	cleanup_free char *seed = str_printf("%llu", (unsigned long long)r->seed);
	cleanup_free char *top = NULL, *body = NULL;
	char *text;

	job_add(&head, "mmrig-job", "version", "1", "id", r->id, "seed", seed, NULL);
	job_add(&head, "option", "name", "seed", "value", seed, NULL);
	top = job_format(&head);
	body = job_format(&e->plan->variant[cell->variant].job);
	text = str_printf("%s%s", top ? top : "", body ? body : "");
	job_free(&head);
	return text;
}

static void set_verdict(struct run *r, enum verdict v, char *why)
{
	r->verdict = v;
	free(r->why);
	r->why = why;
}

static const char *phase_name(const struct attempt *a)
{
	return wire_phase_names[a->guest.hello ? a->phase : PHASE_BOOT];
}

/*
 * TCG with several vCPUs can run a breakpoint that the kernel has patched away already: a known race
 * of QEMU before 8.1, seen here in 2 of 85 boots. Nothing is said of the kernel by it.
 */
static bool is_race_of_tcg(const struct attempt *a, const struct run *r)
{
	return a->e->accel == VM_ACCEL_TCG && a->e->plan->variant[r->variant].cpus > 1 &&
	       console_splat(a->console) == SPLAT_OOPS &&
	       str_starts(console_splat_title(a->console), "Oops: int3: ");
}

static void verdict_of_splat(const struct attempt *a, struct run *r)
{
	if (is_race_of_tcg(a, r))
		set_verdict(r, VERDICT_INFRA,
			    str_printf("a known race of QEMU's TCG with several CPUs, before QEMU 8.1, in %s: %s; "
				       "run it again",
				       phase_name(a), console_splat_title(a->console)));
	else
		set_verdict(r, VERDICT_SPLAT,
			    str_printf("%s in %s: %s", splat_class_name(console_splat(a->console)),
				       phase_name(a), console_splat_title(a->console)));
	free(r->detail);
	r->detail = xstrdup(console_splat_lines(a->console));
}

static void verdict_of_deadline(const struct attempt *a, struct run *r)
{
	if (strcmp(a->deadline, "boot") == 0)
		set_verdict(r, VERDICT_BOOT_TIMEOUT,
			    str_printf("no hello from the agent within %.0f s%s", a->deadline_s,
				       console_bytes(a->console) ? "" : "; the console stayed empty"));
	else if (strcmp(a->deadline, "phase") == 0)
		set_verdict(r, VERDICT_STALL,
			    str_printf("%s not done within %.0f s (%llu of %llu)", phase_name(a),
				       a->deadline_s, (unsigned long long)a->guest.done,
				       (unsigned long long)a->guest.total));
	else if (strcmp(a->deadline, "heartbeat") == 0)
		set_verdict(r, VERDICT_STALL,
			    str_printf("%s: the agent's heartbeat was lost for %.0f s", phase_name(a),
				       a->deadline_s));
	else
		set_verdict(r, VERDICT_STALL,
			    str_printf("%s: no progress for %.0f s (%llu of %llu)", phase_name(a),
				       a->deadline_s, (unsigned long long)a->guest.done,
				       (unsigned long long)a->guest.total));
}

static void verdict_of_fail(const struct attempt *a, struct run *r)
{
	enum verdict v = VERDICT_INFRA;

	if (a->guest.fail_verdict)
		verdict_parse(a->guest.fail_verdict, &v);
	if (v == VERDICT_OK)
		v = VERDICT_INFRA;
	set_verdict(r, v, xstrdup(a->guest.fail_what ? a->guest.fail_what : "the agent gave no reason"));
}

static void verdict_of_exit(const struct attempt *a, struct run *r)
{
	const char *said = vm_stderr(a->vm);
	cleanup_free char *first = xstrndup(said, strcspn(said, "\n"));

	if (*first)
		set_verdict(r, VERDICT_GUEST_LOST, str_printf("QEMU ended in %s: %s", phase_name(a), first));
	else if (WIFSIGNALED(a->exit_status))
		set_verdict(r, VERDICT_GUEST_LOST,
			    str_printf("QEMU was killed by signal %d in %s", WTERMSIG(a->exit_status),
				       phase_name(a)));
	else
		set_verdict(r, VERDICT_GUEST_LOST,
			    str_printf("the VM ended in %s (QEMU's status %d) without the agent's end record%s",
				       phase_name(a), WEXITSTATUS(a->exit_status),
				       console_bytes(a->console) ? "" : "; the console stayed empty"));
}

static void decide(const struct attempt *a, struct run *r)
{
	bool lacking = a->guest.failed && a->guest.fail_verdict &&
		       strcmp(a->guest.fail_verdict, "unsupported") == 0;

	if (a->interrupted)
		set_verdict(r, VERDICT_INTERRUPTED, xstrdup("ended by the user"));
	else if (a->store_error.text)
		set_verdict(r, VERDICT_INFRA, xstrdup(a->store_error.text));
	else if (lacking)
		verdict_of_fail(a, r);
	else if (console_splat(a->console) != SPLAT_NONE)
		verdict_of_splat(a, r);
	else if (console_rebooted(a->console))
		set_verdict(r, VERDICT_GUEST_LOST,
			    str_printf("the guest rebooted in %s: a second \"Linux version\" on its console",
				       phase_name(a)));
	else if (a->guest.failed)
		verdict_of_fail(a, r);
	else if (a->deadline)
		verdict_of_deadline(a, r);
	else if (a->guest.ended && a->guest.reader.lost == 0 && a->guest.reader.bad_crc == 0)
		set_verdict(r, VERDICT_OK, NULL);
	else if (a->guest.ended)
		set_verdict(r, VERDICT_INFRA,
			    str_printf("the wire lost %llu frames",
				       (unsigned long long)(a->guest.reader.lost + a->guest.reader.bad_crc)));
	else
		verdict_of_exit(a, r);
	if (r->verdict != VERDICT_OK && r->verdict != VERDICT_SPLAT && !r->detail)
		r->detail = console_last_lines(a->console, 40);
}

/* Runs the loop until QEMU is gone. */
static int drive(struct attempt *a, const struct vm_config *config, struct error *err)
{
	const struct vm_handlers handlers = {
		.arg = a, .console = on_console, .wire = on_wire, .exited = on_exited,
	};

	uv_timer_init(&a->e->loop, &a->tick);
	a->tick.data = a;
	a->start = a->phase_start = a->last_frame = a->last_progress = now_s();
	if (vm_start(&a->e->loop, config, &handlers, &a->vm, err) < 0) {
		uv_close((uv_handle_t *)&a->tick, on_tick_closed);
		uv_run(&a->e->loop, UV_RUN_NOWAIT);
		return -1;
	}
	uv_timer_start(&a->tick, on_tick, TICK_MS, TICK_MS);
	a->e->interrupt_arg = a;
	a->e->interrupt = on_interrupt;
	if (a->e->interrupts)
		on_interrupt(a);
	while (!a->exited)
		uv_run(&a->e->loop, UV_RUN_ONCE);
	a->e->interrupt = NULL;
	uv_run(&a->e->loop, UV_RUN_NOWAIT); /* lets the timer's close finish: it lives on our stack */
	return 0;
}

static int boot_and_run(struct attempt *a, const struct engine_cell *cell, struct run *r,
			struct error *err)
{
	struct engine *e = a->e;
	const struct variant *v = &e->plan->variant[cell->variant];
	const struct engine_kernel *k = &e->kernel[cell->kernel];
	cleanup_free char *scratch = path_join(store_run_dir(a->record), "scratch");
	cleanup_free char *initrd = path_join(scratch, "initrd"), *job = job_text(e, cell, r);
	cleanup_free char *cmdline = vm_default_cmdline(e->accel);
	struct vm_config config = {
		.qemu = e->qemu,
		.kernel = k->kernel.image,
		.initrd = initrd,
		.cmdline = cmdline,
		.memory_bytes = v->memory_bytes,
		.cpus = v->cpus,
		.accel = e->accel,
		.channel = k->channel,
	};

	if (dir_make(scratch, 0700, err) < 0 || image_with_job(k->initrd, job, initrd, err) < 0)
		return -1;
	if (drive(a, &config, err) < 0)
		return -1;
	free(r->qemu_command);
	r->qemu_command = xstrdup(vm_command_line(a->vm));
	r->host_cpu = vm_cpu_seconds(a->vm);
	console_end(a->console);
	if (a->guest.hello)
		r->phase[PHASE_BOOT] = a->boot_s;
	guest_state_to_run(&a->guest, e->plan->moves, r);
	decide(a, r);
	return 0;
}

int engine_run_one(struct engine *e, unsigned int k, const struct engine_cell *cell, struct run *r,
		   struct error *err)
{
	struct attempt a = { .e = e, .k = k };
	cleanup_error struct error failed = ERROR_INIT;
	int ret;

	r->verdict = VERDICT_GUEST_LOST;
	r->started = wall_s();
	for (int p = 0; p < PHASE_COUNT; p++)
		r->phase[p] = -1;
	if (store_begin_run(e->store, e->set, r, &a.record, err) < 0)
		return -1;
	a.console = console_new(keep_console, &a);
	a.guest.sample = keep_sample;
	a.guest.arg = &a;
	if (e->kernel[cell->kernel].lacks)
		set_verdict(r, VERDICT_UNSUPPORTED,
			    str_printf("this kernel lacks the module %s", e->kernel[cell->kernel].lacks));
	else if (boot_and_run(&a, cell, r, &failed) < 0)
		set_verdict(r, VERDICT_INFRA, xstrdup(failed.text ? failed.text : "could not start"));
	r->ended = wall_s();
	if (a.vm)
		vm_free(a.vm);
	console_free(a.console);
	guest_state_free(&a.guest);
	error_clear(&a.store_error);
	ret = store_finish_run(a.record, e->set, r, err);
	return ret;
}
