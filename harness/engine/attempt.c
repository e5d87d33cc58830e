// SPDX-License-Identifier: GPL-2.0-only
#include "harness/engine/attempt.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <time.h>

#include "harness/engine/attempt_impl.h"
#include "harness/engine/steps_left.h"
#include "harness/image/image.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

/* A panicking kernel gets this long to print its trace to the end. */
#define POST_MORTEM_S 3.0
/* A guest that has said its last word in the middle of a report gets this long to print the rest. */
#define LAST_REPORT_S 1.0
/* A silent guest gets this long to answer what it is asked before its end. */
#define LAST_WORDS_S 6.0
/* A key goes out when the answer to the one before has ended (quiet), or does not seem to end. */
#define KEY_QUIET_S 0.3
#define KEY_PATIENCE_S 1.5
/* Ticks come every 0.1 s; with a gap this long it was the driver that did not run. */
#define SLEPT_S 2.0
/* The agent has a heartbeat every 0.5 s of its own time; unscaled, and scaled like the others. */
#define HEARTBEAT_S 15.0
/* What a template may say: console and samples of boot and layout are some 200 KiB. */
#define TEMPLATE_SAID_MAX (32u << 20)

struct layout_template *layout_template_new(const char *id, const struct variant *v, struct error *err)
{
	struct layout_template *t = xcalloc(1, sizeof(*t));

	t->memory = vm_template_new(v->memory_bytes, v->node, v->nnodes, err);
	if (!t->memory) {
		free(t);
		return NULL;
	}
	t->id = xstrdup(id);
	return t;
}

void layout_template_free(struct layout_template *t)
{
	if (!t)
		return;
	vm_template_free(t->memory);
	strbuf_free(&t->wire);
	strbuf_free(&t->console);
	free(t->id);
	free(t);
}

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
	/* While its threads can still be asked. */
	host_sample(&a->host_end, vm_pid(a->vm));
	if (a->spec.kind == ATTEMPT_FORK)
		a->run.dirty_bytes = host_private_bytes(vm_pid(a->vm));
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

/* ---- what comes from the guest ---- */

/* A template's words are kept for its forks. */
static void remember(struct attempt *a, struct strbuf *said, const uint8_t *data, size_t len)
{
	if (a->spec.kind != ATTEMPT_TEMPLATE || a->saved)
		return;
	if (said->len + len <= TEMPLATE_SAID_MAX) {
		strbuf_add(said, data, len);
	} else if (!a->trouble) {
		a->trouble = xstrdup("template: the guest said more than 32 MiB while it was made");
		stop(a, 100);
	}
}

static void take_console(struct attempt *a, const uint8_t *data, size_t len)
{
	a->last_console = now_s();
	if (a->asked_at) /* the answers to our own questions are no splat */
		console_feed_quietly(a->console, data, len);
	else
		console_feed(a->console, data, len);
	if (console_panicked(a->console) && !a->panic_at)
		a->panic_at = now_s();
	if (console_rebooted(a->console))
		stop(a, 100);
}

static void on_console(void *arg, const uint8_t *data, size_t len)
{
	struct attempt *a = arg;

	if (a->spec.layout)
		remember(a, &a->spec.layout->console, data, len);
	take_console(a, data, len);
}

static void follow_phase(struct attempt *a, double now)
{
	if (a->guest.frames != a->last_frames) {
		a->last_frames = a->guest.frames;
		a->last_frame = now;
	}
	if (a->guest.phase != a->phase) {
		a->phase = a->guest.phase;
		console_phase(a->console, a->phase);
		a->phase_start = a->last_progress = now;
		a->last_done = 0;
	}
	if (a->guest.done != a->last_done) {
		a->last_done = a->guest.done;
		a->last_progress = now;
	}
}

static void on_saved(void *arg, const char *why)
{
	struct attempt *a = arg;

	a->refused = why && strcmp(why, VM_WENT_AWAY) != 0;
	if (why)
		a->trouble = str_printf("template: cannot be saved: %s", why);
	else
		a->saved = true;
	stop(a, 0);
}

static void on_wire(void *arg, const uint8_t *data, size_t len)
{
	struct attempt *a = arg;
	double now = now_s();
	bool said_hello = a->guest.hello;

	if (a->spec.layout)
		remember(a, &a->spec.layout->wire, data, len);
	guest_state_feed(&a->guest, data, len);
	clock_watch_note(&a->clock, now, a->guest.last_ns);
	if (!said_hello && a->guest.hello) {
		a->boot_s = now - a->start;
		a->phase_start = a->last_progress = now;
	}
	if (a->resumed && a->run.restore_s <= 0)
		a->run.restore_s = now - a->start;
	follow_phase(a, now);
	progress_phase(a->e->progress, a->spec.k, a->phase, a->guest.done, a->guest.total);
	if (a->guest.ready && a->spec.kind == ATTEMPT_TEMPLATE && !a->saving && !a->stopping) {
		a->saving = true;
		vm_save(a->vm, a->spec.layout->memory, on_saved, a);
	}
	/* A deterministic guest powers itself off: its last bytes come without our doing. */
	if (a->guest.ended && !a->e->deterministic && !a->ended_at) {
		a->ended_at = now;
		if (splat_log_open(console_splats(a->console)))
			host_sample(&a->host_end, vm_pid(a->vm)); /* it may power itself off */
		else
			stop(a, 0);
	}
}

/* ---- deadlines ---- */

static double phase_limit(const struct attempt *a)
{
	const struct scenario_limits *l = &a->e->plan->limits;
	const double limits[PHASE_COUNT] = {
		[PHASE_BOOT] = l->boot,	      [PHASE_LAYOUT] = l->layout,   [PHASE_SETTLE] = l->settle,
		[PHASE_WORKLOAD] = l->workload, [PHASE_COLLECT] = l->collect,
	};

	return limits[a->phase] * a->e->scale;
}

static void on_registers(void *arg, const char *json)
{
	struct attempt *a = arg;
	json_t *o = json ? json_loads(json, JSON_DECODE_ANY, NULL) : NULL;

	if (json_is_string(o) && !a->registers)
		a->registers = xstrndup(json_string_value(o), 16384);
	json_decref(o);
}

static void on_status(void *arg, const char *json)
{
	struct attempt *a = arg;
	json_t *o = json ? json_loads(json, 0, NULL) : NULL;
	const char *status = json_string_value(json_object_get(o, "status"));

	a->answered = json != NULL;
	if (status && strcmp(status, "io-error") == 0) {
		a->disk_failed = true;
		stop(a, 100);
	}
	json_decref(o);
}

/*
 * A guest that has gone silent is asked what it is doing before it is ended: memory, blocked tasks,
 * then all tasks, by SysRq over its console (a break and a key), and its registers from QEMU, which
 * answer even where interrupts are off.
 */
static void ask_last_words(struct attempt *a)
{
	a->asked_at = a->last_console = now_s();
	a->next_key = "mwlt";
	vm_qmp(a->vm, "query-status", NULL, on_status, a, NULL);
	vm_qmp(a->vm, "human-monitor-command", "{\"command-line\":\"info registers -a\"}", on_registers, a,
	       NULL);
}

/*
 * One key at a time. The UART has one flag for a break and not one for each byte, and the kernel
 * takes a second break for the end of the first: keys sent at once were lost, now these, now those.
 */
static void go_on_asking(struct attempt *a, double now)
{
	bool quiet = now - a->last_console > KEY_QUIET_S && now - a->key_at > KEY_QUIET_S;

	if (now - a->asked_at > LAST_WORDS_S) {
		stop(a, 100);
	} else if (*a->next_key && (!a->key_at || quiet || now - a->key_at > KEY_PATIENCE_S)) {
		vm_sysrq(a->vm, *a->next_key++);
		a->key_at = now;
	} else if (!*a->next_key && quiet && now - a->key_at > KEY_PATIENCE_S) {
		stop(a, 100);
	}
}

static void expire(struct attempt *a, enum deadline which, double limit)
{
	a->deadline = which;
	a->deadline_phase = a->guest.hello ? a->phase : PHASE_BOOT;
	a->deadline_done = a->guest.done;
	a->deadline_s = limit;
	ask_last_words(a);
}

static void check_deadlines(struct attempt *a, double now)
{
	const struct scenario_limits *l = &a->e->plan->limits;
	double scale = a->e->scale;

	if (!a->guest.hello) {
		if (now - a->start - a->slept_s > l->boot * scale)
			expire(a, DEADLINE_BOOT, l->boot * scale);
	} else if (now - a->phase_start > phase_limit(a)) {
		expire(a, DEADLINE_PHASE, phase_limit(a));
	} else if (now - a->last_frame > HEARTBEAT_S * scale) {
		expire(a, DEADLINE_HEARTBEAT, HEARTBEAT_S * scale);
	} else if ((a->phase == PHASE_LAYOUT || a->phase == PHASE_WORKLOAD) &&
		   now - a->last_progress > l->silence * scale) {
		expire(a, DEADLINE_PROGRESS, l->silence * scale);
	}
}

/* What the guest said while the driver was stopped (SIGSTOP, a suspended host) is still to be read. */
static void forgive_sleep(struct attempt *a, double now)
{
	double slept = a->last_tick ? now - a->last_tick : 0;

	a->last_tick = now;
	if (slept < SLEPT_S)
		return;
	a->slept_s += slept;
	a->phase_start += slept;
	a->last_frame += slept;
	a->last_progress += slept;
	if (a->asked_at)
		a->asked_at += slept;
}

void attempt_tick(struct attempt *a)
{
	double now = now_s();

	forgive_sleep(a, now);
	if (a->stopping)
		return;
	attempt_ask_profile(a);
	if (a->ended_at) {
		if (now - a->ended_at > LAST_REPORT_S || !splat_log_open(console_splats(a->console)))
			stop(a, 0);
		return;
	}
	if (a->panic_at && now - a->panic_at > POST_MORTEM_S)
		stop(a, 100);
	else if (a->asked_at)
		go_on_asking(a, now);
	else if (!a->panic_at)
		check_deadlines(a, now);
}

struct attempt *attempt_next(const struct attempt *a)
{
	return a->next;
}

void attempt_abandon(struct attempt *a)
{
	store_abandon_run(a->record);
}

void attempt_interrupt(struct attempt *a)
{
	a->interrupted = true;
	stop(a, 200);
}

/* ---- the end ---- */

static void unlist(struct attempt *a)
{
	for (struct attempt **p = &a->e->attempts; *p; p = &(*p)->next) {
		if (*p == a) {
			*p = a->next;
			return;
		}
	}
}

static void attempt_free(struct attempt *a)
{
	vm_free(a->vm);
	console_free(a->console);
	guest_state_free(&a->guest);
	error_clear(&a->store_error);
	free(a->trouble);
	free(a->registers);
	profile_free(a->profile);
	free(a);
}

static enum attempt_again again_of(const struct attempt *a)
{
	if (a->interrupted || !a->vm)
		return AGAIN_NO;
	if (a->refused)
		return AGAIN_UNFORKED;
	return attempt_hit_tcg_race(a) ? AGAIN_SAME : AGAIN_NO;
}

/* The record is closed, one way or the other, and the engine told. */
static void conclude(struct attempt *a)
{
	cleanup_error struct error failed = ERROR_INIT;
	struct run *kept = xmalloc(sizeof(*kept));

	*kept = a->run;
	unlist(a);
	if (a->saved && !a->interrupted) {
		a->spec.layout->boot_s = a->boot_s;
		store_abandon_run(a->record);
		run_free(kept);
		free(kept);
		kept = NULL;
	} else {
		kept->ended = wall_s();
		store_finish_run(a->record, a->e->set, kept, &failed);
	}
	a->done(a->arg, &a->spec, kept, again_of(a), failed.text ? &failed : NULL);
	attempt_free(a);
}

/* A workload's own reservation about what it has measured. */
static void tell_note(struct attempt *a)
{
	const char *note = json_string_value(json_object_get(a->guest.result, "note"));
	cleanup_free char *text = note ? str_printf("run %s: %s", a->run.id, note) : NULL;

	if (text)
		progress_note(a->e->progress, text);
}

static void on_exited(void *arg, int status)
{
	struct attempt *a = arg;
	struct run *r = &a->run;

	a->exit_status = status;
	free(r->qemu_command);
	r->qemu_command = xstrdup(vm_command_line(a->vm));
	r->host_cpu = vm_cpu_seconds(a->vm);
	host_to_run(&a->host_begin, &a->host_end, r);
	console_end(a->console);
	if (a->guest.hello)
		r->phase[PHASE_BOOT] = a->e->deterministic ? (double)a->guest.hello_ns / 1e9 : a->boot_s;
	guest_state_to_run(&a->guest, a->e->plan->moves, r);
	steps_left_to_run(&a->e->plan->variant[a->spec.cell.variant].job, a->guest.begun, r);
	if (a->profile)
		r->profile_json = profile_json(a->profile);
	attempt_decide(a, r);
	if (r->verdict == VERDICT_OK)
		tell_note(a);
	conclude(a);
}

/* ---- the start ---- */

static char *job_text(struct attempt *a)
{
	struct job head = { 0 };
	cleanup_free char *seed = str_printf("%" PRIu64, a->run.seed);
	cleanup_free char *top = NULL, *body = NULL;
	char *text;

	/* A deterministic guest must not see which run it is: the job is part of its memory. */
	job_add(&head, "mmrig-job", "version", "1", "id", a->e->deterministic ? "-" : a->run.id, "seed", seed,
		NULL);
	job_add(&head, "option", "name", "seed", "value", seed, NULL);
	if (a->spec.kind == ATTEMPT_TEMPLATE)
		job_add(&head, "option", "name", "template", "value", "1", NULL);
	top = job_format(&head);
	body = job_format(&a->e->plan->variant[a->spec.cell.variant].job);
	text = str_printf("%s%s", top ? top : "", body ? body : "");
	job_free(&head);
	return text;
}

static void on_resumed(void *arg, const char *why)
{
	struct attempt *a = arg;
	cleanup_free char *go = str_printf("{\"seed\":%" PRIu64 "}", a->run.seed);
	uint8_t header[WIRE_HEADER];
	cleanup_error struct error err = ERROR_INIT;

	if (why) {
		a->trouble = str_printf("fork: cannot be restored: %s", why);
		stop(a, 100);
		return;
	}
	a->resumed = true;
	wire_header(header, WIRE_GO, 0, 0, go, (uint32_t)strlen(go));
	if (vm_wire_send(a->vm, header, sizeof(header), &err) < 0 ||
	    vm_wire_send(a->vm, go, strlen(go), &err) < 0) {
		a->trouble = xstrdup(err.text);
		stop(a, 100);
	}
}

/* A fork's record begins with what its template said. */
static void inherit(struct attempt *a)
{
	const struct layout_template *t = a->spec.layout;

	take_console(a, (const uint8_t *)t->console.data, t->console.len);
	guest_state_feed(&a->guest, (const uint8_t *)t->wire.data, t->wire.len);
	a->phase = a->guest.phase;
	console_phase(a->console, a->phase);
	a->boot_s = t->boot_s;
	a->run.forked_from = xstrdup(t->id);
	a->phase_start = a->last_progress = a->last_frame = now_s();
}

static enum vm_role role_of(enum attempt_kind kind)
{
	return kind == ATTEMPT_TEMPLATE ? VM_MAKES_TEMPLATE : kind == ATTEMPT_FORK ? VM_FORKS : VM_ALONE;
}

static int boot(struct attempt *a, struct error *err)
{
	struct engine *e = a->e;
	const struct variant *v = &e->plan->variant[a->spec.cell.variant];
	const struct engine_kernel *k = &e->kernel[a->spec.cell.kernel];
	cleanup_free char *scratch = path_join(store_run_dir(a->record), "scratch");
	cleanup_free char *initrd = path_join(scratch, "initrd"), *job = job_text(a);
	cleanup_free char *scratch_disk = path_join(scratch, "disk");
	/* Each VM has a second disk of its own, a fork too: what its template saw of it is an empty one. */
	const struct vm_disk disk[] = {
		{ e->toolbox.image, TOOLBOX_SERIAL, false },
		{ scratch_disk, TOOLBOX_SCRATCH_SERIAL, true },
	};
	cleanup_free char *base = vm_default_cmdline(e->accel, e->deterministic);
	cleanup_free char *cmdline = str_printf("%s%s", base, v->cmdline);
	const struct vm_handlers handlers = {
		.arg = a, .console = on_console, .wire = on_wire, .exited = on_exited,
	};
	const struct vm_config config = {
		.role = role_of(a->spec.kind),
		.template = a->spec.layout ? a->spec.layout->memory : NULL,
		.qemu = e->qemu,
		.kernel = k->kernel.image,
		.initrd = initrd,
		.cmdline = cmdline,
		.memory_bytes = v->memory_bytes,
		.cpus = v->cpus,
		.node = v->node,
		.nnodes = v->nnodes,
		.distance = v->distance,
		.accel = e->accel,
		.channel = e->deterministic ? VM_CHANNEL_FILES : k->channel,
		.deterministic = e->deterministic,
		.seed = a->run.seed,
		.disk = disk,
		.ndisks = v->scratch_bytes ? 2 : e->toolbox.image ? 1 : 0,
		.cpu_first = a->spec.cpu_first,
		.cpu_count = a->spec.cpu_count,
	};

	/* A fork's QEMU wants the same files, though the guest has read them long ago. */
	if (dir_make(scratch, 0700, err) < 0 || image_with_job(k->initrd, job, initrd, err) < 0)
		return -1;
	if (v->scratch_bytes && scratch_make(scratch_disk, v->scratch_bytes, err) < 0)
		return -1;
	if (a->spec.kind == ATTEMPT_FORK)
		inherit(a);
	host_sample(&a->host_begin, 0);
	a->host_end = a->host_begin;
	a->start = now_s();
	if (vm_start(&e->loop, &config, &handlers, &a->vm, err) < 0)
		return -1;
	if (a->spec.kind == ATTEMPT_FORK)
		vm_resume(a->vm, on_resumed, a);
	else
		a->phase_start = a->last_frame = a->last_progress = a->start;
	return 0;
}

static int never_booted(struct attempt *a, enum verdict v, char *why)
{
	a->run.verdict = v;
	a->run.why = why;
	conclude(a);
	return 0;
}

int attempt_start(struct engine *e, const struct attempt_spec *spec, attempt_done_fn done, void *arg,
		  struct error *err)
{
	struct attempt *a = xcalloc(1, sizeof(*a));
	cleanup_error struct error failed = ERROR_INIT;
	const char *lacks = e->kernel[spec->cell.kernel].lacks;

	a->e = e;
	a->spec = *spec;
	a->run = spec->run;
	a->done = done;
	a->arg = arg;
	a->run.verdict = VERDICT_GUEST_LOST;
	a->run.started = wall_s();
	for (int p = 0; p < PHASE_COUNT; p++)
		a->run.phase[p] = -1;
	if (store_begin_run(e->store, e->set, &a->run, &a->record, err) < 0) {
		run_free(&a->run);
		free(a);
		return -1;
	}
	a->console = console_new(keep_console, a);
	a->guest.sample = keep_sample;
	a->guest.symbols = attempt_keep_symbols;
	a->guest.arg = a;
	a->profile = e->plan->profile ? profile_new() : NULL;
	a->next = e->attempts;
	e->attempts = a;
	if (lacks)
		return never_booted(a, VERDICT_UNSUPPORTED,
				    str_printf("this kernel lacks the module %s", lacks));
	if (boot(a, &failed) < 0)
		return never_booted(a, VERDICT_INFRA,
				    xstrdup(failed.text ? failed.text : "could not start"));
	return 0;
}
