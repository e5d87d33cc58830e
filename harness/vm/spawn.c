// SPDX-License-Identifier: GPL-2.0-only
#include "harness/vm/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "results/util/cleanup.h"
#include "results/verdict.h"

/* Above every number that dup2() writes to: no descriptor is overwritten before its turn. */
#define FD_PARK 64

static void default_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Moves *report behind the others, where it stays until the exec. */
static int arrange_fds(int output, const int *fds, size_t n, int *report)
{
	int parked[SPAWN_FDS_MAX];
	int null = open("/dev/null", O_RDONLY);

	null = fcntl(null, F_DUPFD_CLOEXEC, FD_PARK);
	output = fcntl(output, F_DUPFD_CLOEXEC, FD_PARK);
	*report = fcntl(*report, F_DUPFD_CLOEXEC, FD_PARK);
	for (size_t i = 0; i < n; i++)
		parked[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, FD_PARK);
	if (dup2(null, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (dup2(parked[i], 3 + (int)i) < 0)
			return -1;
	*report = dup3(*report, 3 + (int)n, O_CLOEXEC);
	return *report < 0 ? -1 : close_range((unsigned int)*report + 1, ~0U, 0);
}

/* In the child: async-signal-safe calls only, since the driver has libuv's threads. */
static void exec_child(char *const *argv, int output, const int *fds, size_t n, int report,
		       pid_t parent)
{
	const struct rlimit no_core = { 0, 0 };
	int failed;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it died before the prctl() */
		_exit(127);
	setsid();
	default_signals();
	/* A QEMU that aborts (KVM does on an unknown MSR) would leave the guest's memory behind. */
	setrlimit(RLIMIT_CORE, &no_core);
	if (arrange_fds(output, fds, n, &report) == 0)
		execv(argv[0], argv);
	failed = errno;
	if (write(report, &failed, sizeof(failed)) < 0)
		_exit(126);
	_exit(127);
}

/* 0 once the program runs, else the errno of what went wrong. */
static int wait_for_exec(int report)
{
	int failed = 0;
	ssize_t n;

	do
		n = read(report, &failed, sizeof(failed));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(failed) ? failed : 0;
}

int spawn_child(char *const *argv, int output, const int *fds, size_t n, pid_t *pid, int *pidfd,
		struct error *err)
{
	cleanup_close int report_read = -1, report_write = -1;
	pid_t self = getpid();
	int report[2], failed;

	if (pipe2(report, O_CLOEXEC) < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot start: pipe", argv[0]);
	report_read = report[0];
	report_write = report[1];
	*pid = fork();
	if (*pid < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot start: fork", argv[0]);
	if (*pid == 0)
		exec_child(argv, output, fds, n, report_write, self);
	close(STEAL_FD(report_write));
	failed = wait_for_exec(report_read);
	*pidfd = failed ? -1 : (int)syscall(SYS_pidfd_open, *pid, 0);
	if (*pidfd >= 0) {
		fcntl(*pidfd, F_SETFD, FD_CLOEXEC);
		return 0;
	}
	if (!failed)
		failed = errno;
	kill(*pid, SIGKILL);
	waitpid(*pid, NULL, 0);
	errno = failed;
	return error_errno(err, EXIT_NO_VERDICT, "%s: cannot start", argv[0]);
}
