// SPDX-License-Identifier: GPL-2.0-only
/*
 * The agent: PID 1 of the guest. Reads its job from /job, builds the layout in one child, runs the
 * workload in another, takes snapshots at the edges of the phases, and tells the host everything
 * over the wire. It needs nothing but a kernel: no distribution, no shell, no library.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/background.h"
#include "guest/boot.h"
#include "guest/channel.h"
#include "guest/layout.h"
#include "guest/pin_check.h"
#include "guest/sampler.h"
#include "guest/settle.h"
#include "guest/swap.h"
#include "guest/symbols.h"
#include "guest/task.h"
#include "guest/toolbox.h"
#include "guest/workload.h"

/* The series of some 30 s at 10 a second, or the snapshots of every file at both edges. */
#define ARENA_BYTES (2u << 20)
#define JOB_BYTES (1u << 20)
#define HEARTBEAT_NS 500000000ull
#define SETTLE_MS 5000
#define COLLECT_MS 10000

struct agent {
	struct job job;
	struct task holder, worker;
	const struct workload *workload;
	const struct job_line *workload_line;
	uint64_t sample_ns;
	struct layout layout;
};

static struct agent agent;
static struct background_end background_end;
/* Guest seconds that the snapshots and the series took within the workload phase. */
static double sampling_s;

static void power_off(void)
{
	channel_drain();
	sync();
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

/* The kernel's own mark that it has met a fault; -1 when it does not say. */
static int64_t tainted(void)
{
	return file_number("/proc/sys/kernel/tainted", -1);
}

static void end_run(void)
{
	sampler_flush();
	channel_sendf(WIRE_END,
		      "{\"mono_ns\":%" PRIu64 ",\"frames\":%" PRIu32 ",\"sampling\":%.6f,\"tainted\":%" PRId64 "}",
		      mono_ns(), channel_frames() + 1, sampling_s, tainted());
	power_off();
}

static void fail(const char *verdict, const char *fmt, ...) __attribute__((format(printf, 2, 3), noreturn));
static void fail(const char *verdict, const char *fmt, ...)
{
	char what[512], escaped[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	json_escape(escaped, sizeof(escaped), what);
	channel_sendf(WIRE_FAIL, "{\"verdict\":\"%s\",\"what\":\"%s\"}", verdict, escaped);
	end_run();
	for (;;)
		pause();
}

static void phase_edge(enum wire_phase phase, const char *edge)
{
	channel_sendf(WIRE_PHASE, "{\"phase\":\"%s\",\"edge\":\"%s\",\"mono_ns\":%" PRIu64 "}",
		      wire_phase_names[phase], edge, mono_ns());
}

static void heartbeat(enum wire_phase phase, const struct task *t)
{
	channel_sendf(WIRE_PROGRESS,
		      "{\"phase\":\"%s\",\"done\":%" PRIu64 ",\"total\":%" PRIu64 ",\"mono_ns\":%" PRIu64 "}",
		      wire_phase_names[phase], atomic_load(&t->shared->done),
		      atomic_load(&t->shared->total), mono_ns());
}

/* A child that is gone is the end of the run: nothing that it held is there any more. */
static void child_gone(struct task *t, const char *what)
{
	int status = 0;

	waitpid(t->pid, &status, 0);
	if (WIFSIGNALED(status))
		fail("workload-failed", "%s was killed by signal %d%s", what, WTERMSIG(status),
		     WTERMSIG(status) == SIGKILL ? " (the OOM killer, most likely: see the console)" : "");
	fail("infra", "%s ended with status %d", what, WEXITSTATUS(status));
}

/*
 * Lets a child run and passes on what it says, until it says that it is done. end_ns gets the
 * time at which its last word arrived. A failure of the child ends the run.
 */
static void follow(struct task *t, enum wire_phase phase, const char *what, uint64_t sample_ns)
{
	static char payload[TASK_MESSAGE_MAX];
	uint64_t next_beat = mono_ns() + HEARTBEAT_NS, next_sample = mono_ns() + sample_ns;

	for (;;) {
		bool beside = phase == PHASE_WORKLOAD;
		struct pollfd pfd[2] = { { t->report_fd, POLLIN, 0 },
					 { beside ? background_fd() : -1, POLLIN, 0 } };
		uint64_t now = mono_ns(), next = next_beat;
		uint32_t len;
		int type;

		if (sample_ns && next_sample < next)
			next = next_sample;
		poll(pfd, 2, next > now ? (int)((next - now) / 1000000) + 1 : 0);
		if (beside && background_poll(&background_end) < 0)
			fail(background_end.verdict, "%s", background_end.why);
		while ((type = task_read(t, payload, &len)) > 0) {
			if (type == WIRE_RESULT || type == TASK_DONE || type == WIRE_FAIL) {
				if (phase == PHASE_WORKLOAD)
					sampler_snapshot(phase, EDGE_END);
				if (type != TASK_DONE)
					channel_send((enum wire_type)type, payload, len);
				if (type == WIRE_FAIL)
					end_run();
				return;
			}
			if (type == WIRE_SAMPLE)
				sampler_flush(); /* samples are in order of time */
			channel_send((enum wire_type)type, payload, len);
		}
		if (type < 0)
			child_gone(t, what);
		now = mono_ns();
		if (sample_ns && now >= next_sample) {
			sampler_series(phase);
			next_sample += (now - next_sample) / sample_ns * sample_ns + sample_ns;
			/* One that would be due before the next sample goes now: PID 1 wakes up once, not twice. */
			if (next_beat < next_sample)
				next_beat = now;
		}
		if (now >= next_beat) {
			heartbeat(phase, t);
			next_beat = now + HEARTBEAT_NS;
		}
	}
}

static void holder_main(struct task_child *c, void *arg)
{
	task_wait_go(c);
	if (layout_init(&agent.layout, c, &agent.job) < 0 || layout_run(&agent.layout) < 0)
		return;
	task_wait_go(c);
	if (!job_next(&agent.job, NULL, "step") || pin_check_report(&agent.layout) == 0)
		layout_map(&agent.layout, PHASE_COLLECT);
}

static void worker_main(struct task_child *c, void *arg)
{
	workload_main(c, &agent.job, agent.workload_line, agent.workload);
}

static void load_job(void)
{
	char *text = malloc(JOB_BYTES); /* not static: what the agent has is locked in memory */
	int bad = 0;

	if (!text || file_slurp("/job", text, JOB_BYTES) < 0)
		fail("infra", "/job: not in the initramfs");
	if (job_parse(&agent.job, text, &bad) < 0)
		fail("infra", "/job:%d: cannot be read", bad);
	free(text);
	agent.workload_line = job_next(&agent.job, NULL, "workload");
	if (agent.workload_line) {
		const char *name = job_get(agent.workload_line, "do");

		agent.workload = name ? workload_find(name) : NULL;
		if (!agent.workload)
			fail("infra", "/job: unknown workload \"%s\"", name ? name : "");
	}
	agent.sample_ns = (uint64_t)job_option(&agent.job, "sample_ms", 100) * 1000000u;
}

static void hello(const char *channel)
{
	struct utsname u;
	struct zones z = { .n = 0 };
	char release[160];

	uname(&u);
	json_escape(release, sizeof(release), u.release);
	zones_read(&z, 9);
	channel_sendf(WIRE_HELLO,
		      "{\"release\":\"%s\",\"agent\":\"%s\",\"mono_ns\":%" PRIu64
		      ",\"page_size\":%ld,\"pageblock_pages\":%u,\"cpus\":%ld,\"mem_bytes\":%" PRIu64
		      ",\"channel\":\"%s\",\"tainted\":%" PRId64 "}",
		      release, MMRIG_VERSION, mono_ns(), sysconf(_SC_PAGESIZE), 1u << pageblock_order(),
		      sysconf(_SC_NPROCESSORS_ONLN), zones_managed(&z) * 4096, channel, tainted());
}

static void run_layout(void)
{
	bool steps = job_next(&agent.job, NULL, "step");

	if (steps) {
		phase_edge(PHASE_LAYOUT, "begin");
		sampler_snapshot(PHASE_LAYOUT, EDGE_BEGIN);
	}
	task_go(&agent.holder);
	follow(&agent.holder, PHASE_LAYOUT, "the layout's process", 0);
	if (!steps)
		return;
	sampler_snapshot(PHASE_LAYOUT, EDGE_END);
	sampler_flush();
	phase_edge(PHASE_LAYOUT, "end");
}

/*
 * A template: says that the layout stands, and waits. The VM is saved meanwhile; in each fork the
 * wait ends with the seed of that fork.
 */
static void wait_for_go(void)
{
	char text[128];
	const char *seed;

	if (!job_option(&agent.job, "template", 0))
		return;
	channel_send(WIRE_READY, "{}", 2);
	if (channel_wait(WIRE_GO, text, sizeof(text)) < 0)
		fail("infra", "the host closed the channel before the fork");
	seed = strstr(text, "\"seed\":");
	if (seed && agent.workload) {
		uint64_t value = strtoull(seed + strlen("\"seed\":"), NULL, 10);

		atomic_store(&agent.worker.shared->seed, value);
		background_seed(value);
	}
}

static void settle_beat(const struct task *t)
{
	heartbeat(PHASE_SETTLE, t);
}

/* What the workload and its background do before anything is measured. */
static void set_up_workload(void)
{
	if (agent.workload && agent.workload->setup) {
		task_go(&agent.worker);
		follow(&agent.worker, PHASE_SETTLE, "the workload's set-up", 0);
	}
	if (background_setup(settle_beat, &background_end) < 0)
		fail(background_end.verdict, "%s", background_end.why);
}

static void run_workload(void)
{
	double before = sampler_seconds();

	if (!agent.workload)
		return;
	phase_edge(PHASE_WORKLOAD, "begin");
	sampler_snapshot(PHASE_WORKLOAD, EDGE_BEGIN);
	task_go(&agent.worker);
	follow(&agent.worker, PHASE_WORKLOAD, "the workload", agent.sample_ns);
	phase_edge(PHASE_WORKLOAD, "end");
	sampling_s = sampler_seconds() - before;
}

int main(void)
{
	const char *channel, *verdict;
	char why[256];

	boot_mounts();
	boot_modules();
	boot_find_daemons();
	if (channel_open(&channel) < 0) {
		boot_say("no channel to the host: neither virtio-serial nor ttyS1");
		power_off();
	}
	hello(channel);
	load_job();
	if (boot_needs(&agent.job, why, sizeof(why)) < 0)
		fail("unsupported", "%s", why);
	if (boot_sysctls(&agent.job, "boot", why, sizeof(why)) < 0)
		fail("infra", "%s", why);
	if (swap_setup(&agent.job, &verdict, why, sizeof(why)) < 0)
		fail(verdict, "%s", why);
	if (toolbox_mount(&agent.job, &verdict, why, sizeof(why)) < 0)
		fail(verdict, "%s", why);
	if (sampler_init(ARENA_BYTES) < 0)
		fail("infra", "no memory for the sampler");
	if (task_start(&agent.holder, holder_main, NULL, -999) < 0)
		fail("infra", "cannot fork");
	if (agent.workload && task_start(&agent.worker, worker_main, NULL, 0) < 0)
		fail("infra", "cannot fork");
	if (agent.workload)
		atomic_store(&agent.worker.shared->seed, (uint64_t)job_option(&agent.job, "seed", 1));
	if (background_prepare(&agent.job, (uint64_t)job_option(&agent.job, "seed", 1)) < 0)
		fail("infra", "cannot start the background");
	mlockall(MCL_CURRENT | MCL_ONFAULT); /* what it uses it has used by now: a snapshot of every file */
	run_layout();
	wait_for_go();
	phase_edge(PHASE_SETTLE, "begin");
	if (toolbox_mount_scratch(&agent.job, &verdict, why, sizeof(why)) < 0)
		fail(verdict, "%s", why);
	set_up_workload();
	if (boot_sysctls(&agent.job, "workload", why, sizeof(why)) < 0)
		fail("infra", "%s", why);
	settle(SETTLE_MS);
	if (background_start(settle_beat, &background_end) < 0)
		fail(background_end.verdict, "%s", background_end.why);
	phase_edge(PHASE_SETTLE, "end");
	run_workload();
	phase_edge(PHASE_COLLECT, "begin");
	background_stop();
	/*
	 * The kernel adds up a pass of kcompactd when the pass ends. Those that the workload set off
	 * are waited for, so that the snapshot here has them.
	 */
	if (agent.workload) {
		settle(COLLECT_MS);
		sampler_snapshot(PHASE_COLLECT, EDGE_END);
		/* The pins, and the map: nothing is counted any more, so they cost no measurement. */
		task_go(&agent.holder);
		follow(&agent.holder, PHASE_COLLECT, "the layout's process", 0);
	}
	sampler_flush();
	if (agent.workload && job_option(&agent.job, "profile", 0))
		symbols_send(PHASE_COLLECT);
	phase_edge(PHASE_COLLECT, "end");
	end_run();
	return 0;
}
