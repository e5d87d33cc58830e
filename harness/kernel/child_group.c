// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with all its descendants. PR_SET_PDEATHSIG reaches the child alone, and a compiler that
 * outlives its make would write into the next build's objects. So a process of ours stands between: it
 * leads the group, and kills all of it when we are gone. It holds what we hold until then, locks too.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>

#include "harness/kernel/child_impl.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

/* From the interruption until the rest is killed: make removes half-made files and waits for its jobs. */
#define GRACE_MS 5000
#define REST_MS 2000 /* for what outlives an interrupted program */
/* timeout(1) sends its signal twice: to us, and to our process group. */
#define SAME_MS 20

struct group {
	const char *program;
	const char *const *argv, *const *env;
	sigset_t before; /* our signal mask, for the program */
	pid_t us, leader;
	int out; /* write end */
};

static void kill_group(int sig)
{
	kill(0, SIGKILL);
}

/* In the program's process: only async-signal-safe calls from here on. */
static void exec_program(const struct group *g, pid_t leader)
{
	int null = open("/dev/null", O_RDONLY);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_DFL); /* ignored in a background job of a shell, and then by make too */
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &g->before, NULL);
	if (getppid() != leader || null < 0 || dup2(null, 0) < 0 || dup2(g->out, 1) < 0 ||
	    dup2(g->out, 2) < 0)
		_exit(127);
	execve(g->program, (char *const *)g->argv, (char *const *)g->env);
	_exit(127);
}

/* SIGINT, by which we end the group, stays blocked here. */
static void lead(const struct group *g)
{
	sigset_t term;
	pid_t leader, pid;
	int status;

	setpgid(0, 0);
	signal(SIGTERM, kill_group);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_UNBLOCK, &term, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	leader = getpid();
	if (getppid() != g->us)
		_exit(127);
	pid = fork();
	if (pid == 0)
		exec_program(g, leader);
	close(g->out);
	if (pid < 0)
		_exit(127);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			_exit(127);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* Blocks the signals that end us, but for those that are ignored, and gives a descriptor of them. */
static int watch_signals(sigset_t *before)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction now;
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			sigaddset(&set, ends[i]);
	if (pthread_sigmask(SIG_BLOCK, &set, before) != 0)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* false at the end of the output. */
static bool read_output(int fd, struct strbuf *text, void (*line)(void *, const char *), void *arg)
{
	char chunk[4096];
	ssize_t n = read(fd, chunk, sizeof(chunk));

	if (n < 0 && errno == EINTR)
		return true;
	if (n > 0)
		strbuf_add(text, chunk, (size_t)n);
	child_deliver_lines(text, line, arg, n <= 0);
	return n > 0;
}

/*
 * Until the output ends, or the group was killed. What the program leaves behind would hold the output
 * open, so it is killed at the program's end; the leader's number is its own until it is reaped.
 * Returns how many signals came.
 */
static int follow(pid_t leader, int out, int signals, void (*line)(void *, const char *), void *arg,
		  bool *killed)
{
	cleanup_close int ended = pidfd_open(leader, 0);
	struct pollfd p[3] = { { out, POLLIN, 0 }, { signals, POLLIN, 0 }, { ended, POLLIN, 0 } };
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct signalfd_siginfo info;
	int64_t deadline = 0;
	int came = 0;

	for (;;) {
		int64_t left = came ? deadline - now_ms() : -1;

		if (came > 1 || (came && left <= 0)) {
			kill(-leader, SIGKILL);
			*killed = p[2].fd >= 0; /* what its program left behind wrote nothing that it means to keep */
			return came;
		}
		if (poll(p, 3, (int)left) < 0 && errno != EINTR)
			return came;
		if (p[1].revents && read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info) &&
		    (!came || now_ms() > deadline - GRACE_MS + SAME_MS)) {
			kill(-leader, SIGINT);
			deadline = came++ ? deadline : now_ms() + GRACE_MS;
		}
		if (p[2].revents) {
			if (!came)
				kill(-leader, SIGKILL);
			else if (deadline > now_ms() + REST_MS) /* each has its signal, and cleans up */
				deadline = now_ms() + REST_MS;
			p[2].fd = -1;
		}
		if (p[0].revents && !read_output(out, &text, line, arg))
			return came;
	}
}

/* What came after the first is told with it. */
static void drain(int signals)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		;
}

static int reap(pid_t leader)
{
	int status;

	while (waitpid(leader, &status, 0) < 0)
		if (errno != EINTR)
			return 127;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_group(struct group *g, int out, int signals,
		     void (*line)(void *, const char *), void *arg, bool *clean, struct error *err)
{
	bool killed = false;
	int came, status;

	g->us = getpid();
	g->leader = fork();
	if (g->leader == 0)
		lead(g);
	close(g->out);
	if (g->leader < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot start", g->argv[0]);
	setpgid(g->leader, g->leader); /* whoever is first: it must be so before we signal it */
	came = follow(g->leader, out, signals, line, arg, &killed);
	status = reap(g->leader);
	*clean = !killed && status < 128 + SIGKILL;
	if (came) {
		drain(signals);
		return error_set(err, EXIT_INTERRUPTED, "interrupted");
	}
	return status;
}

int child_run_group(const char *const *argv, const char *const *env,
		    void (*line)(void *arg, const char *text), void *arg, bool *clean,
		    struct error *err)
{
	cleanup_free char *program = child_find_program(argv[0], err);
	struct group g = { .program = program, .argv = argv, .env = env };
	cleanup_close int out = -1, signals = -1;
	int pipes[2], ret;

	*clean = true;
	if (!program)
		return -1;
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: pipe", argv[0]);
	out = pipes[0];
	g.out = pipes[1];
	signals = watch_signals(&g.before);
	if (signals < 0) {
		close(g.out);
		return error_errno(err, EXIT_NO_VERDICT, "%s: signals", argv[0]);
	}
	ret = run_group(&g, out, signals, line, arg, clean, err);
	pthread_sigmask(SIG_SETMASK, &g.before, NULL);
	return ret;
}
