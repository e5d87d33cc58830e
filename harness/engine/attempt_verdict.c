// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verdict, from everything that was seen, the most precise witness first: the user, the
 * kernel's own splat, the agent's word, the deadline that passed, and last QEMU's exit (which alone
 * says nothing: a panic with -no-reboot exits with 0).
 */
#include <string.h>
#include <sys/wait.h>

#include "harness/engine/attempt_impl.h"
#include "results/run_json.h"
#include "results/util/cleanup.h"

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
 * TCG with several vCPUs can run a breakpoint that the kernel has patched away already: seen with
 * QEMU 7.2 in 4 of some 170 boots on a loaded host. Nothing is said of the kernel by it.
 */
bool attempt_hit_tcg_race(const struct attempt *a)
{
	const struct splat_report *worst = splat_log_worst(console_splats(a->console));

	return a->e->accel == VM_ACCEL_TCG && a->e->plan->variant[a->spec.cell.variant].cpus > 1 && worst &&
	       worst->class == SPLAT_OOPS && str_starts(worst->title, "Oops: int3: ");
}

static void of_splat(const struct attempt *a, const struct splat_report *s, struct run *r)
{
	const char *phase = wire_phase_names[s->context];

	if (attempt_hit_tcg_race(a))
		set_verdict(r, VERDICT_INFRA,
			    str_printf("a known race of QEMU's TCG with several CPUs in %s: %s",
				       phase, s->title));
	else
		set_verdict(r, VERDICT_SPLAT,
			    str_printf("%s in %s: %s", splat_class_name(s->class), phase, s->title));
	free(r->detail);
	r->detail = xstrdup(s->lines);
}

static void add_detail(struct run *r, char *text)
{
	if (r->detail) {
		char *both = str_printf("%s\n%s", r->detail, text);

		free(r->detail);
		free(text);
		text = both;
	}
	r->detail = text;
}

/* Every report, whatever the verdict. */
static void record_splats(const struct splat_log *log, struct run *r)
{
	json_t *list;

	if (!splat_log_count(log))
		return;
	list = json_array();
	for (size_t i = 0; i < splat_log_count(log); i++) {
		const struct splat_report *s = splat_log_get(log, i);
		json_t *o = json_object();

		json_object_set_new(o, "class", json_string(splat_class_name(s->class)));
		json_object_set_new(o, "severity", json_string(splat_severity_name(s->severity)));
		json_object_set_new(o, "title", run_json_text(s->title));
		json_object_set_new(o, "fingerprint", run_json_text(s->fingerprint));
		json_object_set_new(o, "corrupted", json_boolean(s->corrupted));
		json_object_set_new(o, "phase", json_string(wire_phase_names[s->context]));
		json_array_append_new(list, o);
	}
	free(r->splats_json);
	r->splats_json = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	if (splat_log_dropped(log))
		add_detail(r, str_printf("%zu more reports of the kernel were not kept",
					 splat_log_dropped(log)));
}

/* A kernel that took a fault and said nothing of it on its console. */
static void note_taint(const struct attempt *a, struct run *r)
{
	uint64_t fresh = r->taint_after & ~r->taint_before;
	cleanup_free char *letters = NULL;

	if (!r->taint_before_known || !r->taint_after_known || !fresh ||
	    splat_log_worst(console_splats(a->console)))
		return;
	letters = run_taint_letters(fresh);
	add_detail(r, str_printf("the kernel became tainted during the run (%s) without a report on its console",
				 letters));
}

/* "4 s", or "4 s (1 s, x4 under TCG)". */
static char *limit_text(const struct attempt *a)
{
	if (a->e->scale == 1)
		return str_printf("%.0f s", a->deadline_s);
	return str_printf("%.0f s (%.4g s, x%.0f under TCG)", a->deadline_s, a->deadline_s / a->e->scale,
			  a->e->scale);
}

static void of_deadline(const struct attempt *a, struct run *r)
{
	const char *phase = wire_phase_names[a->deadline_phase];
	cleanup_free char *limit = limit_text(a);
	unsigned long long done = a->deadline_done, total = a->guest.total;

	/* QEMU answers whatever its guest does: who is frozen here is not the guest. */
	if (!a->answered) {
		set_verdict(r, VERDICT_INFRA,
			    str_printf("QEMU did not answer in %s when it was asked why the limit of %s had passed: "
				       "stopped, or kept from the CPU by the host",
				       phase, limit));
		return;
	}
	switch (a->deadline) {
	case DEADLINE_BOOT:
		set_verdict(r, VERDICT_BOOT_TIMEOUT,
			    a->guest.hello ?
				    str_printf("the agent's hello came after %.1f s; the limit is %s", a->boot_s,
					       limit) :
				    str_printf("no hello from the agent within %s%s", limit,
					       console_bytes(a->console) ? "" : "; the console stayed empty"));
		break;
	case DEADLINE_PHASE:
		set_verdict(r, VERDICT_STALL, str_printf("%s not done within %s (%llu of %llu)", phase, limit,
							 done, total));
		break;
	case DEADLINE_HEARTBEAT:
		set_verdict(r, VERDICT_STALL,
			    str_printf("%s: the agent's heartbeat was lost for %s", phase, limit));
		break;
	default:
		set_verdict(r, VERDICT_STALL, str_printf("%s: no progress for %s (%llu of %llu)", phase, limit,
							 done, total));
	}
}

static void of_fail(const struct attempt *a, struct run *r)
{
	enum verdict v = VERDICT_INFRA;

	if (a->guest.fail_verdict)
		verdict_parse(a->guest.fail_verdict, &v);
	/* A guest may blame the host, its workload or its kernel; the other verdicts are not its to give. */
	if (v != VERDICT_WORKLOAD_FAILED && v != VERDICT_UNSUPPORTED)
		v = VERDICT_INFRA;
	set_verdict(r, v, xstrdup(a->guest.fail_what ? a->guest.fail_what : "the agent gave no reason"));
}

static void of_exit(const struct attempt *a, struct run *r)
{
	const char *said = vm_stderr(a->vm);
	cleanup_free char *first = xstrndup(said, strcspn(said, "\n"));

	if (*first)
		set_verdict(r, VERDICT_GUEST_LOST, str_printf("QEMU ended in %s: %s", phase_name(a), first));
	else if (WIFSIGNALED(a->exit_status))
		set_verdict(r, VERDICT_GUEST_LOST, str_printf("QEMU was killed by signal %d in %s",
							      WTERMSIG(a->exit_status), phase_name(a)));
	else
		set_verdict(r, VERDICT_GUEST_LOST,
			    str_printf("the VM ended in %s (QEMU's status %d) without the agent's end record%s",
				       phase_name(a), WEXITSTATUS(a->exit_status),
				       console_bytes(a->console) ? "" : "; the console stayed empty"));
}

/* A save or restore that failed since QEMU went away: what became of it is the reason. */
static void of_trouble(const struct attempt *a, struct run *r)
{
	const char *said = vm_stderr(a->vm);

	if (!str_ends(a->trouble, VM_WENT_AWAY))
		set_verdict(r, VERDICT_INFRA, xstrdup(a->trouble));
	else if (*said)
		set_verdict(r, VERDICT_INFRA, str_printf("%s: %.*s", a->trouble, (int)strcspn(said, "\n"), said));
	else if (a->deadline)
		set_verdict(r, VERDICT_INFRA, str_printf("%s: it did not answer within %.0f s and was ended",
							 a->trouble, a->deadline_s));
	else if (WIFSIGNALED(a->exit_status))
		set_verdict(r, VERDICT_INFRA,
			    str_printf("%s: killed by signal %d", a->trouble, WTERMSIG(a->exit_status)));
	else
		set_verdict(r, VERDICT_INFRA,
			    str_printf("%s: it ended with status %d", a->trouble, WEXITSTATUS(a->exit_status)));
}

/* A layout that is only checked has none. */
static bool has_workload(const struct attempt *a)
{
	return job_next(&a->e->plan->variant[a->spec.cell.variant].job, NULL, "workload") != NULL;
}

static void of_end(const struct attempt *a, struct run *r)
{
	unsigned long long lost = a->guest.reader.lost + a->guest.reader.bad_crc;
	/* A deterministic guest's time does not depend on how the host treats it. */
	char *starved = a->e->deterministic || a->e->allow_starved ? NULL : host_starved(&a->host_begin, &a->host_end);
	/* Who slept through a part of the run saw frames late. */
	char *wrong = a->e->deterministic ? NULL : clock_watch_wrong(&a->clock, a->slept_s);

	if (lost)
		set_verdict(r, VERDICT_INFRA, str_printf("the wire lost %llu frame%s", lost, lost == 1 ? "" : "s"));
	else if (!a->guest.end_ns[PHASE_WORKLOAD] && has_workload(a))
		set_verdict(r, VERDICT_INFRA, xstrdup("the agent's end record came before the end of the workload"));
	else if (wrong)
		set_verdict(r, VERDICT_INFRA, xstrdup(wrong));
	else
		set_verdict(r, starved ? VERDICT_INFRA : VERDICT_OK, starved ? xstrdup(starved) : NULL);
	free(wrong);
	free(starved);
}

/* The kernel came up and found our init unusable: that is our fault, not the kernel's. */
static bool never_started(const struct attempt *a, const struct splat_report *splat)
{
	return !a->guest.hello && splat && strstr(splat->title, "No working init found");
}

void attempt_decide(const struct attempt *a, struct run *r)
{
	bool lacking = a->guest.failed && a->guest.fail_verdict &&
		       strcmp(a->guest.fail_verdict, "unsupported") == 0;
	const struct splat_report *splat = splat_log_worst(console_splats(a->console));

	if (a->interrupted)
		set_verdict(r, VERDICT_INTERRUPTED, xstrdup("ended by the user"));
	else if (a->store_error.text)
		set_verdict(r, VERDICT_INFRA, xstrdup(a->store_error.text));
	else if (a->trouble)
		of_trouble(a, r);
	else if (a->disk_failed)
		set_verdict(r, VERDICT_INFRA,
			    xstrdup("the host could not write what the guest wrote to its scratch disk; its own disk is "
				    "full, most likely"));
	else if (lacking)
		of_fail(a, r);
	else if (never_started(a, splat))
		set_verdict(r, VERDICT_INFRA,
			    xstrdup("the kernel could not run the agent: no working init found; is it the one that "
				    "make built?"));
	else if (splat)
		of_splat(a, splat, r);
	else if (console_rebooted(a->console))
		set_verdict(r, VERDICT_GUEST_LOST,
			    str_printf("the guest rebooted in %s: a second \"Linux version\" on its console",
				       phase_name(a)));
	else if (a->guest.failed)
		of_fail(a, r);
	else if (a->deadline)
		of_deadline(a, r);
	else if (a->guest.ended)
		of_end(a, r);
	else
		of_exit(a, r);
	if (r->verdict != VERDICT_OK && r->verdict != VERDICT_SPLAT && !r->detail)
		r->detail = console_last_lines(a->console, 40);
	if (a->registers && r->detail)
		add_detail(r, xstrdup(a->registers));
	record_splats(console_splats(a->console), r);
	note_taint(a, r);
}
