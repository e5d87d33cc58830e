// SPDX-License-Identifier: GPL-2.0-only
#include "guest/background.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "guest/channel.h"
#include "guest/json_walk.h"
#include "guest/program_cgroup.h"

#define BEAT_NS 500000000ull
/* A program has 3 s to report what it has (guest/program.h), and then is read and judged. */
#define STOP_GRACE_NS 6000000000ull
#define MS 1000000ull

static struct {
	struct task task;
	const struct job *job;
	const struct job_line *line;
	const struct workload *workload;
	bool ended, gone;
	uint64_t start_ns, end_ns;
	/* Not static arrays: PID 1 locks what is static in memory. */
	char *result, *failure, *payload;
} bg;

bool background_is_there(void)
{
	return bg.workload != NULL;
}

int background_fd(void)
{
	return bg.workload && !bg.ended ? bg.task.report_fd : -1;
}

void background_seed(uint64_t seed)
{
	if (bg.workload)
		atomic_store(&bg.task.shared->seed, seed);
}

/* ---- its process ---- */

void workload_main(struct task_child *c, const struct job *job, const struct job_line *line,
		   const struct workload *workload)
{
	struct workload_run w = { .child = c, .job = job, .line = line };
	workload_fn prepare = (workload_fn)workload->prepare, setup = (workload_fn)workload->setup;

	if (prepare && prepare(&w) < 0)
		return;
	task_wait_go(c);
	w.seed = atomic_load(&c->shared->seed);
	if (setup && setup(&w) < 0)
		return;
	if (setup) {
		task_send_bytes(c, TASK_DONE, NULL, 0);
		task_wait_go(c);
	}
	((workload_fn)workload->run)(&w);
}

static void background_main(struct task_child *c, void *arg)
{
	workload_main(c, bg.job, bg.line, bg.workload);
}

int background_prepare(const struct job *job, uint64_t seed)
{
	const char *name;

	bg.job = job;
	bg.line = job_next(job, NULL, "background");
	if (!bg.line)
		return 0;
	name = job_get(bg.line, "do");
	bg.workload = name ? workload_find(name) : NULL;
	bg.result = malloc(TASK_MESSAGE_MAX);
	bg.failure = malloc(TASK_MESSAGE_MAX);
	bg.payload = malloc(TASK_MESSAGE_MAX);
	if (!bg.workload || !bg.result || !bg.failure || !bg.payload ||
	    task_start(&bg.task, background_main, NULL, 0) < 0)
		return -1;
	bg.result[0] = bg.failure[0] = '\0';
	background_seed(seed);
	return 0;
}

/* ---- what it says ---- */

/* What json_escape() makes of a text, back again. */
static void unescape(const char *from, size_t len, char *out, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n + 1 < room; i++) {
		char digits[5] = "";

		if (from[i] != '\\' || i + 1 == len) {
			out[n++] = from[i];
			continue;
		}
		if (from[++i] != 'u' || len - i < 5) {
			out[n++] = from[i];
			continue;
		}
		memcpy(digits, from + i + 1, 4);
		out[n++] = (char)strtoul(digits, NULL, 16);
		i += 4;
	}
	out[n] = '\0';
}

struct failure {
	char verdict[32], *what;
	size_t room;
};

static void take_failure(void *arg, const char *path, const char *value, size_t len, int is_string)
{
	struct failure *f = arg;

	if (is_string && strcmp(path, "verdict") == 0)
		unescape(value, len, f->verdict, sizeof(f->verdict));
	if (is_string && strcmp(path, "what") == 0)
		unescape(value, len, f->what, f->room);
}

const char *background_failure(const char *payload, char *what, size_t room)
{
	static struct failure f;

	f = (struct failure){ "infra", what, room };
	snprintf(what, room, "failed, and did not say why");
	json_walk(payload, take_failure, &f);
	return f.verdict;
}

static int fail(struct background_end *end, const char *payload)
{
	size_t n = (size_t)snprintf(end->why, sizeof(end->why), "background %s: ", bg.workload->name);

	end->verdict = background_failure(payload, end->why + n, sizeof(end->why) - n);
	return -1;
}

static int gone(struct background_end *end)
{
	int status = 0;

	waitpid(bg.task.pid, &status, 0);
	bg.ended = bg.gone = true;
	end->verdict = "workload-failed";
	snprintf(end->why, sizeof(end->why), "background %s: its process was killed by signal %d%s",
		 bg.workload->name, WTERMSIG(status),
		 WTERMSIG(status) == SIGKILL ? " (the OOM killer, most likely: see the console)" : "");
	return -1;
}

static void keep(char *where, const char *payload, uint32_t len)
{
	memcpy(where, payload, len);
	where[len] = '\0';
}

/* 1: it is done with what it was doing; 0: not yet; -1: it failed. Samples and other word are dropped. */
static int listen(struct background_end *end)
{
	uint32_t len;
	int type;

	while (!bg.ended && (type = task_read(&bg.task, bg.payload, &len)) != 0) {
		if (type < 0)
			return gone(end);
		if (type == TASK_DONE)
			return 1;
		if (type == WIRE_RESULT || type == WIRE_PARTIAL)
			keep(bg.result, bg.payload, len);
		if (type == WIRE_FAIL)
			keep(bg.failure, bg.payload, len);
		if (type == WIRE_RESULT || type == WIRE_FAIL) {
			bg.ended = true;
			bg.end_ns = mono_ns();
		}
		if (type == WIRE_FAIL)
			return fail(end, bg.failure);
	}
	return bg.ended;
}

/* Until it is done, or until deadline_ns (0: none). */
static int wait_for(uint64_t deadline_ns, void (*beat)(const struct task *t), struct background_end *end)
{
	for (;;) {
		struct pollfd pfd = { background_fd(), POLLIN, 0 };
		uint64_t now = mono_ns(), until = now + BEAT_NS;
		int ret = listen(end);

		if (ret < 0 || (ret > 0 && !deadline_ns))
			return ret < 0 ? -1 : 0;
		if (deadline_ns && now >= deadline_ns)
			return 0;
		if (deadline_ns && until > deadline_ns)
			until = deadline_ns;
		poll(&pfd, 1, (int)((until - now) / MS) + 1);
		if (beat)
			beat(&bg.task);
	}
}

int background_setup(void (*beat)(const struct task *t), struct background_end *end)
{
	if (!bg.workload || !bg.workload->setup)
		return 0;
	task_go(&bg.task);
	return wait_for(0, beat, end);
}

int background_start(void (*beat)(const struct task *t), struct background_end *end)
{
	if (!bg.workload)
		return 0;
	task_go(&bg.task);
	bg.start_ns = mono_ns();
	return wait_for(bg.start_ns + (uint64_t)job_get_i64(bg.line, "warm_up_ms", 0) * MS + 1, beat, end);
}

int background_poll(struct background_end *end)
{
	return bg.workload && listen(end) < 0 ? -1 : 0;
}

/* ---- its end ---- */

/* What is no program does not heed the word. Nothing else runs programs by now. */
static void kill_it(void)
{
	kill(bg.task.pid, SIGKILL);
	waitpid(bg.task.pid, NULL, 0);
	program_cgroup_kill_all();
	bg.ended = true;
	bg.end_ns = mono_ns();
}

static void send(bool stopped)
{
	size_t room = strlen(bg.result) + strlen(bg.failure) + 512;
	char *text = malloc(room);
	int n;

	if (!text)
		return;
	n = snprintf(text, room,
		     "{\"background\":{\"workload\":\"%s\",\"seconds\":%.6f,\"stopped\":%s%s%s%s%s}}",
		     bg.workload->name, (double)(bg.end_ns - bg.start_ns) / 1e9, stopped ? "true" : "false",
		     bg.result[0] ? ",\"result\":" : "", bg.result, bg.failure[0] ? ",\"failed\":" : "",
		     bg.failure);
	channel_send(WIRE_PARTIAL, text, (uint32_t)n);
	free(text);
}

void background_stop(void)
{
	struct background_end ignored;
	uint64_t deadline = mono_ns() + STOP_GRACE_NS;
	bool stopped;

	if (!bg.workload || bg.gone)
		return;
	listen(&ignored);
	stopped = !bg.ended;
	atomic_store(&bg.task.shared->stop, true);
	while (!bg.ended && mono_ns() < deadline) {
		struct pollfd pfd = { bg.task.report_fd, POLLIN, 0 };

		poll(&pfd, 1, 100);
		listen(&ignored);
	}
	if (!bg.ended)
		kill_it();
	send(stopped);
}
