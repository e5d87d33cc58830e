// SPDX-License-Identifier: GPL-2.0-only
#include "guest/program.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/procfs.h"
#include "guest/program_cgroup.h"
#include "guest/step_check.h"
#include "guest/toolbox.h"

#define LOOK_NS 1000000000ull
/* 10 % of a CPU: fio alone, waiting for jobs that hang, was seen to use 4 % under TCG. */
#define BUSY_SHARE 10
#define RUN_POLL_MS 500
#define STOP_GRACE_NS 3000000000ull
/* Of output in one go, so that a program that never stops writing is looked at as well. */
#define CHUNKS_MAX 16
#define ENV_MAX 32
#define SHIELDED "-999"

/* ---- the start ---- */

static void fill_env(const char *const *more, const char **env)
{
	static const char *const always[] = { "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin",
					      "HOME=" TOOLBOX_TMP, "TMPDIR=" TOOLBOX_TMP,
					      "LC_ALL=C" };
	size_t n = 0;

	for (; n < sizeof(always) / sizeof(always[0]); n++)
		env[n] = always[n];
	for (; more && *more && n < ENV_MAX; more++)
		env[n++] = *more;
	env[n] = NULL;
}

/* What the agent has set up for itself does not go on to the program. */
static void reset_self(void)
{
	struct rlimit none = { 0, 0 };

	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	setrlimit(RLIMIT_CORE, &none);
	setsid();
	umask(022);
	file_put("/proc/self/oom_score_adj", "0");
}

/* In the child. The error's number goes up the pipe, which a successful exec closes. */
static void exec_program(const struct program *p, int output, int trouble)
{
	const struct program_spec *s = p->spec;
	const char *env[ENV_MAX + 1];
	int in, why;

	fill_env(s->env, env);
	reset_self();
	in = open("/dev/null", O_RDONLY);
	if (in >= 0 && dup2(in, 0) >= 0 && dup2(output, 1) >= 0 && dup2(output, 2) >= 0 &&
	    program_cgroup_join(p) == 0 && chroot(TOOLBOX_ROOT) == 0 &&
	    chdir(s->dir ? s->dir : TOOLBOX_WORK) == 0) {
		syscall(__NR_close_range, 3u, ~0u, 1u << 2); /* CLOSE_RANGE_CLOEXEC */
		execve(s->argv[0], (char *const *)s->argv, (char *const *)env);
	}
	why = errno;
	(void)!write(trouble, &why, sizeof(why));
	_exit(127);
}

static int launch(struct program *p, int output[2], int trouble[2])
{
	p->start_ns = p->look_ns = mono_ns();
	p->pid = fork();
	if (p->pid == 0)
		exec_program(p, output[1], trouble[1]);
	close(output[1]);
	close(trouble[1]);
	p->output_fd = output[0];
	fcntl(p->output_fd, F_SETFL, O_NONBLOCK);
	if (p->pid > 0) {
		while (read(trouble[0], &p->exec_errno, sizeof(p->exec_errno)) < 0 && errno == EINTR)
			;
		p->pid_fd = (int)syscall(__NR_pidfd_open, p->pid, 0);
	}
	close(trouble[0]);
	return p->pid > 0 && p->pid_fd >= 0 ? 0 : -1;
}

int program_start(struct program *p, const struct program_spec *spec, struct task_child *child)
{
	int output[2], trouble[2];

	memset(p, 0, sizeof(*p));
	p->spec = spec;
	p->child = child;
	p->pid_fd = p->output_fd = -1;
	if (program_cgroup_make(p) < 0)
		return -1;
	/* What its children leave behind comes to us, and a zombie counts in pids.max until it is waited for. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (pipe2(output, O_CLOEXEC) < 0 || pipe2(trouble, O_CLOEXEC) < 0 ||
	    launch(p, output, trouble) < 0)
		return task_fail(child, "infra", "%s: cannot be started: %s", spec->argv[0],
				 strerror(errno));
	return 0;
}

/* ---- while it runs ---- */

static void take_output(struct program *p)
{
	static char chunk[65536];

	for (int i = 0; p->output_fd >= 0 && i < CHUNKS_MAX; i++) {
		ssize_t n = read(p->output_fd, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			close(p->output_fd);
			p->output_fd = -1;
			return;
		}
		program_output_add(&p->output, chunk, (size_t)n);
		if (p->spec->take)
			p->spec->take(p->spec->take_arg, chunk, (size_t)n);
	}
}

static void look(struct program *p)
{
	static const char *const disk[] = { "pgpgin", "pgpgout" };
	uint64_t now = mono_ns(), usec, kib;

	if (now - p->look_ns < LOOK_NS)
		return;
	usec = program_cgroup_usec(p, "usage_usec");
	kib = vmstat_sum(disk, 2);
	if ((usec - p->look_usec) * 1000 * BUSY_SHARE >= now - p->look_ns ||
	    p->output.total != p->look_output || kib != p->look_kib)
		task_progress(p->child, ++p->progress, 0);
	p->look_ns = now;
	p->look_usec = usec;
	p->look_kib = kib;
	p->look_output = p->output.total;
	p->pids_hit = program_cgroup_pids_hit(p) > 0;
	if (p->pids_hit || p->output.total > PROGRAM_OUTPUT_MAX)
		program_cgroup_kill(p);
}

static void heed_stop(struct program *p)
{
	if (!atomic_load(&p->child->shared->stop))
		return;
	if (!p->stopped) {
		p->stopped = true;
		p->stop_ns = mono_ns();
		kill(p->pid, SIGINT);
	} else if (mono_ns() - p->stop_ns > STOP_GRACE_NS) {
		program_cgroup_kill(p);
	}
}

static void note_status(struct program *p, int status, const struct rusage *ru)
{
	p->real_s = (double)(mono_ns() - p->start_ns) / 1e9;
	p->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	p->exit_status = p->signal ? 128 + p->signal : WEXITSTATUS(status);
	p->max_rss_bytes = (uint64_t)ru->ru_maxrss * 1024;
	p->pid = 0;
}

/* Whatever has died, orphans too. */
static void reap(struct program *p)
{
	struct rusage ru;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &ru)) > 0)
		if (pid == p->pid)
			note_status(p, status, &ru);
}

/* One that cannot die holds us here, without progress: the host will ask the guest what it does. */
static void finish(struct program *p)
{
	program_cgroup_kill(p);
	while (!program_cgroup_is_empty(p)) {
		poll(NULL, 0, 2);
		reap(p);
	}
	reap(p);
	while (p->output_fd >= 0) {
		uint64_t before = p->output.total;

		take_output(p);
		if (p->output.total == before)
			break;
	}
	p->user_s = (double)program_cgroup_usec(p, "user_usec") / 1e6;
	p->system_s = (double)program_cgroup_usec(p, "system_usec") / 1e6;
	p->pids_hit = program_cgroup_pids_hit(p) > 0;
	p->oom_kills = program_cgroup_oom_kills(p);
	program_cgroup_remove(p);
	close(p->pid_fd);
	if (p->output_fd >= 0)
		close(p->output_fd);
	p->pid_fd = p->output_fd = -1;
}

bool program_poll(struct program *p, int timeout_ms)
{
	struct pollfd pfd[2] = { { p->output_fd, POLLIN, 0 }, { p->pid_fd, POLLIN, 0 } };

	if (p->pid <= 0)
		return false;
	poll(pfd, 2, timeout_ms);
	take_output(p);
	look(p);
	heed_stop(p);
	reap(p);
	if (p->pid <= 0)
		finish(p);
	return p->pid > 0;
}

void program_kill(struct program *p)
{
	if (p->pid <= 0)
		return;
	program_cgroup_kill(p);
	while (program_poll(p, RUN_POLL_MS))
		;
}

int program_run(struct program *p, const struct program_spec *spec, struct task_child *child)
{
	file_put("/proc/self/oom_score_adj", SHIELDED);
	if (program_start(p, spec, child) < 0)
		return -1;
	while (program_poll(p, RUN_POLL_MS))
		;
	return 0;
}

/* ---- afterwards ---- */

int program_check(const struct program *p, struct task_child *child, const char *name)
{
	if (p->exec_errno)
		return task_fail(child, "infra", "%s: %s cannot be run: %s", name, p->spec->argv[0],
				 strerror(p->exec_errno));
	if (p->pids_hit)
		return task_fail(child, "workload-failed",
				 "%s had more than %" PRIu64 " processes and threads, its limit, and was ended",
				 name, p->pids_max);
	if (p->output.total > PROGRAM_OUTPUT_MAX)
		return task_fail(child, "workload-failed",
				 "%s wrote more than %s of output, its limit, and was ended", name,
				 size_text(PROGRAM_OUTPUT_MAX).text);
	if (p->oom_kills)
		return task_fail(child, "workload-failed",
				 "%s ran out of the %s of memory that its cgroup may have: the OOM killer took "
				 "%" PRIu64 " of its processes",
				 name, size_text(p->spec->memory_max_bytes).text, p->oom_kills);
	if (p->signal == SIGKILL)
		return task_fail(child, "workload-failed",
				 "%s was killed (by the OOM killer, most likely: see the console)", name);
	if (p->signal)
		return task_fail(child, "workload-failed", "%s was killed by signal %d (%s)", name,
				 p->signal, strsignal(p->signal));
	return 0;
}

long program_file(const char *path, char *text, size_t room)
{
	char full[300];
	size_t n = 0;
	ssize_t got;
	int fd;

	snprintf(full, sizeof(full), TOOLBOX_ROOT "%s", path);
	fd = open(full, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -1;
	while (n < room && (got = read(fd, text + n, room - n)) > 0)
		n += (size_t)got;
	close(fd);
	if (n == room)
		return -1;
	text[n] = '\0';
	return (long)n;
}
