// SPDX-License-Identifier: GPL-2.0-only
#include "results/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "results/util/cleanup.h"
#include "results/verdict.h"

#define OUTPUT_MAX (256U << 20)

/*
 * Files in memory for all three of the child's descriptors: nothing blocks on a full pipe, so that
 * waiting is all there is to do.
 */
struct pipes {
	int in, out, err;
};

static int fail_errno(struct error *err)
{
	return error_errno(err, EXIT_NO_VERDICT, "gnuplot: cannot be prepared");
}

static int pipes_open(struct pipes *p, const char *script, size_t len, struct error *err)
{
	p->in = memfd_create("gnuplot-script", MFD_CLOEXEC);
	p->out = memfd_create("gnuplot-output", MFD_CLOEXEC);
	p->err = memfd_create("gnuplot-errors", MFD_CLOEXEC);
	if (p->in < 0 || p->out < 0 || p->err < 0)
		return fail_errno(err);
	while (len) {
		ssize_t n = write(p->in, script, len);

		if (n < 0 && errno != EINTR)
			return fail_errno(err);
		if (n > 0) {
			script += n;
			len -= (size_t)n;
		}
	}
	return lseek(p->in, 0, SEEK_SET) < 0 ? fail_errno(err) : 0;
}

static void pipes_close(struct pipes *p)
{
	cleanup_close_p(&p->in);
	cleanup_close_p(&p->out);
	cleanup_close_p(&p->err);
}

/* In the child: does not return. fault: a pipe that a good exec closes, and else gets errno. */
static void child_exec(const char *program, const struct pipes *p, pid_t parent, int fault)
{
	const struct rlimit most = { OUTPUT_MAX, OUTPUT_MAX };
	const char *path = getenv("PATH");
	char path_text[4096], locale[] = "LC_ALL=C", home[] = "HOME=/nonexistent";
	char *env[] = { path_text, locale, home, NULL };
	char name[] = "gnuplot", defaults[] = "-d", input[] = "-";
	char *argv[] = { name, defaults, input, NULL };
	int error;

	snprintf(path_text, sizeof(path_text), "PATH=%s", path ? path : "/usr/bin:/bin");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	setrlimit(RLIMIT_FSIZE, &most);
	if (dup2(p->in, 0) == 0 && dup2(p->out, 1) == 1 && dup2(p->err, 2) == 2)
		execvpe(program, argv, env);
	error = errno;
	if (write(fault, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

/* Returns 0 once the program runs. */
static int child_start(const char *program, const struct pipes *p, pid_t *pid, struct error *err)
{
	cleanup_close int told = -1, fault = -1;
	pid_t parent = getpid();
	int fd[2], error = 0;
	ssize_t n;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return fail_errno(err);
	told = fd[0];
	fault = fd[1];
	*pid = fork();
	if (*pid < 0)
		return fail_errno(err);
	if (*pid == 0)
		child_exec(program, p, parent, fault);
	close(STEAL_FD(fault));
	do {
		n = read(told, &error, sizeof(error));
	} while (n < 0 && errno == EINTR);
	if (n == 0)
		return 0;
	waitpid(*pid, NULL, 0);
	errno = error;
	error_errno(err, EXIT_NO_VERDICT, "%s: cannot be started", program);
	return error == ENOENT ? error_hint(err, "install gnuplot-nox (make deps)") : -1;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The status of waitpid(); -1 with the child killed when the time is up. */
static int child_wait(pid_t pid, unsigned int seconds, int *status)
{
	cleanup_close int fd = pidfd_open(pid, 0);
	int64_t end = now_ms() + (int64_t)seconds * 1000, left;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int ready = 0;

	while ((left = end - now_ms()) > 0) {
		ready = poll(&p, 1, (int)left);
		if (ready > 0 || (ready < 0 && errno != EINTR))
			break;
	}
	if (ready <= 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
	return ready > 0 ? 0 : -1;
}

static int read_back(int fd, struct strbuf *sb, struct error *err)
{
	char chunk[65536];
	ssize_t n;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return fail_errno(err);
	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_errno(err);
		strbuf_add(sb, chunk, (size_t)n);
	}
	return 0;
}

/* The last line that is not blank: gnuplot shows the script first, then says what is wrong. */
static char *last_words(int fd)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	size_t start;

	if (read_back(fd, &sb, NULL) < 0 || !sb.len)
		return xstrdup("it said nothing");
	while (sb.len && strchr(" \n\r\t", sb.data[sb.len - 1]))
		sb.data[--sb.len] = '\0';
	for (start = sb.len; start && sb.data[start - 1] != '\n';)
		start--;
	return xstrndup(sb.data + start, 300);
}

static int say_failed(int status, int errors, struct error *err)
{
	cleanup_free char *words = last_words(errors);

	if (WIFSIGNALED(status))
		return error_set(err, EXIT_NO_VERDICT, "gnuplot: ended by signal %d: %s",
				 WTERMSIG(status), words);
	return error_set(err, EXIT_NO_VERDICT, "gnuplot: exit status %d: %s", WEXITSTATUS(status),
			 words);
}

static int run(const char *program, const struct pipes *p, unsigned int seconds,
	       struct strbuf *out, struct error *err)
{
	int status;
	pid_t pid = -1;

	if (child_start(program, p, &pid, err) < 0)
		return -1;
	if (child_wait(pid, seconds, &status) < 0)
		return error_set(err, EXIT_NO_VERDICT, "gnuplot: not done after %u s, killed", seconds);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return say_failed(status, p->err, err);
	return read_back(p->out, out, err);
}

int gnuplot_run(const char *program, const char *script, size_t len, unsigned int seconds,
		struct strbuf *out, struct error *err)
{
	struct pipes p = { -1, -1, -1 };
	int ret = pipes_open(&p, script, len, err);

	if (ret == 0)
		ret = run(program ? program : "gnuplot", &p, seconds, out, err);
	pipes_close(&p);
	return ret;
}
