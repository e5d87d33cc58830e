// SPDX-License-Identifier: GPL-2.0-only
#include "harness/kernel/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "harness/kernel/child_impl.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

#define ERRORS_MAX 65536

static char *find_in(const char *dirs, const char *name)
{
	while (*dirs) {
		size_t len = strcspn(dirs, ":");
		char *path = str_printf("%.*s/%s", (int)len, dirs, name);

		if (len && access(path, X_OK) == 0)
			return path;
		free(path);
		dirs += len;
		dirs += *dirs == ':';
	}
	return NULL;
}

char *child_find_program(const char *name, struct error *err)
{
	const char *path = getenv("PATH");
	char *found;

	if (strchr(name, '/'))
		return xstrdup(name);
	found = path ? find_in(path, name) : NULL;
	if (!found)
		found = find_in("/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin", name);
	if (!found)
		error_set(err, EXIT_NO_VERDICT, "%s: program not found; install it", name);
	return found;
}

/* The environment with LC_ALL=C: the output is parsed. The strings still belong to environ. */
static char **environment(void)
{
	size_t n = 0, k = 0;
	char **env;

	while (environ && environ[n])
		n++;
	env = xcalloc(n + 2, sizeof(*env));
	for (size_t i = 0; i < n; i++)
		if (!str_starts(environ[i], "LC_ALL=") && !str_starts(environ[i], "LANGUAGE="))
			env[k++] = environ[i];
	env[k] = (char *)"LC_ALL=C";
	return env;
}

/* In the child: only async-signal-safe calls, since the driver may have threads. */
static void exec_child(const char *program, const char *const *argv, const char *const *env,
		       const struct child_setup *setup, int out, int errors, pid_t parent)
{
	int in = open(setup->input ? setup->input : "/dev/null", O_RDONLY);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 ||
	    dup2(errors, 2) < 0 || (setup->dir && chdir(setup->dir) < 0))
		_exit(127);
	execve(program, (char *const *)argv, (char *const *)env);
	_exit(127);
}

void child_deliver_lines(struct strbuf *sb, void (*line)(void *, const char *), void *arg,
			 bool last)
{
	char *start = sb->data, *nl;

	if (!sb->len)
		return;
	while ((nl = memchr(start, '\n', (size_t)(sb->data + sb->len - start)))) {
		*nl = '\0';
		if (line)
			line(arg, start);
		start = nl + 1;
	}
	if (last && *start && line)
		line(arg, start);
	sb->len = last ? 0 : (size_t)(sb->data + sb->len - start);
	memmove(sb->data, start, sb->len);
	sb->data[sb->len] = '\0';
}

static bool read_some(struct pollfd *p, struct strbuf *sb, size_t limit)
{
	char chunk[4096];
	ssize_t n = read(p->fd, chunk, sizeof(chunk));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n <= 0) {
		p->fd = -1;
		return false;
	}
	if (sb && sb->len < limit)
		strbuf_add(sb, chunk, (size_t)n);
	return true;
}

static void read_both(int out, int err_fd, const struct child_setup *setup,
		      void (*line)(void *, const char *), void *arg, struct strbuf *errors)
{
	struct pollfd p[2] = { { out, POLLIN, 0 }, { err_fd, POLLIN, 0 } };
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct strbuf *to = setup->output ? setup->output : &text;

	while (p[0].fd >= 0 || p[1].fd >= 0) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			break;
		if (p[0].fd >= 0 && p[0].revents) {
			bool more = read_some(&p[0], to, SIZE_MAX);

			child_deliver_lines(&text, line, arg, !more);
		}
		if (p[1].fd >= 0 && p[1].revents)
			read_some(&p[1], errors, ERRORS_MAX);
	}
}

int child_run(const char *const *argv, const char *dir, void (*line)(void *arg, const char *text),
	      void *arg, struct strbuf *errors, struct error *err)
{
	const struct child_setup setup = { .dir = dir };

	return child_run_with(&setup, argv, line, arg, errors, err);
}

int child_run_with(const struct child_setup *setup, const char *const *argv,
		   void (*line)(void *arg, const char *text), void *arg, struct strbuf *errors,
		   struct error *err)
{
	cleanup_free char *program = child_find_program(argv[0], err);
	cleanup_free char **ours = environment();
	const char *const *env = setup->env ? setup->env : (const char *const *)ours;
	cleanup_close int out_r = -1, err_r = -1;
	int out[2], errs[2], status;
	pid_t parent = getpid(), pid;

	if (!program)
		return -1;
	if (pipe2(out, O_CLOEXEC) < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: pipe", argv[0]);
	out_r = out[0];
	if (pipe2(errs, O_CLOEXEC) < 0) {
		close(out[1]);
		return error_errno(err, EXIT_NO_VERDICT, "%s: pipe", argv[0]);
	}
	err_r = errs[0];
	pid = fork();
	if (pid == 0)
		exec_child(program, argv, env, setup, out[1], errs[1], parent);
	close(out[1]);
	close(errs[1]);
	if (pid < 0)
		return error_errno(err, EXIT_NO_VERDICT, "%s: cannot start", argv[0]);
	read_both(out_r, err_r, setup, line, arg, errors);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_errno(err, EXIT_NO_VERDICT, "%s: wait", argv[0]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
