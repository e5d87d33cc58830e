// SPDX-License-Identifier: GPL-2.0-only
#include "guest/program_params.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/words.h"

/* ext4 with a journal makes no sense on less. */
#define SCRATCH_BYTES_MIN (32u << 20)
#define MEMORY_BYTES_MIN (4u << 20)

static const char *given(const struct job_line *line, const char *key)
{
	const char *text = job_get(line, key);

	return text ? text : "";
}

void program_params_add(struct program_params *p, const char *word)
{
	if (p->argc < PROGRAM_ARGS_MAX)
		p->argv[p->argc++] = word;
	p->argv[p->argc] = NULL;
}

int program_params_take(struct program_params *p, const struct workload_run *w, const char *program)
{
	char *copy = strdup(given(w->line, "args"));
	char *word[PROGRAM_ARGS_MAX + 1];
	int n = copy ? words_split(copy, word, PROGRAM_ARGS_MAX) : -1;

	if (n < 0)
		return task_fail(w->child, "infra", "%s: cannot read its arguments", program);
	p->spec = (struct program_spec){
		.argv = p->argv,
		.memory_max_bytes = (uint64_t)job_get_i64(w->line, "memory", 0),
		.pids_max = (uint64_t)job_get_i64(w->line, "processes", 0),
	};
	for (int i = 0; i < n; i++)
		program_params_add(p, word[i]);
	return 0;
}

static int put(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

int program_params_put_job(const struct workload_run *w, const char *path)
{
	const char *text = given(w->line, "job");
	char full[300];
	int fd, ret;

	if (!*text)
		return 0;
	snprintf(full, sizeof(full), TOOLBOX_ROOT "%s", path);
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	ret = fd < 0 ? -1 : put(fd, text, strlen(text));
	if (fd >= 0)
		close(fd);
	if (ret < 0)
		return task_fail(w->child, "infra", "%s: %s", full, strerror(errno));
	return 1;
}

/* ---- on the host ---- */

uint64_t program_params_scratch(const struct job_line *line)
{
	return (uint64_t)job_get_i64(line, "scratch", 0);
}

static int check_size(const struct job_line *line, const char *key, uint64_t min,
		      struct step_fault *f)
{
	uint64_t bytes = (uint64_t)job_get_i64(line, key, 0);

	if (!bytes || bytes >= min)
		return 0;
	return step_fault(f, key, "%s must be 0 or at least %s", key, size_text(min).text);
}

/* A limit that can never be met is none: the kernel's own OOM killer would come first. */
static int check_fits(const struct job_line *line, const struct step_context *c, struct step_fault *f)
{
	uint64_t bytes = (uint64_t)job_get_i64(line, "memory", 0);

	if (bytes <= c->memory_bytes)
		return 0;
	return step_fault_of_memory(f, "memory", "memory is %s, and the guest has %s; allow the program less, or "
				    "give the guest more", size_text(bytes).text, size_text(c->memory_bytes).text);
}

int program_params_check(const struct job_line *line, const struct step_context *c,
			 struct step_fault *f)
{
	const char *args = given(line, "args");
	char *copy = strdup(args);
	char *word[PROGRAM_ARGS_MAX + 1];
	int n = copy ? words_split(copy, word, PROGRAM_ARGS_MAX) : -1;

	free(copy);
	if (n < 0)
		return step_fault(f, "args",
				  "args has a quote that is not closed, or more than %d words",
				  PROGRAM_ARGS_MAX);
	if (!n && !*given(line, "job"))
		return step_fault(f, NULL, "nothing to do: give args, or job");
	if (check_size(line, "scratch", SCRATCH_BYTES_MIN, f) < 0 ||
	    check_size(line, "memory", MEMORY_BYTES_MIN, f) < 0)
		return -1;
	return check_fits(line, c, f);
}

/* ---- what it came to ---- */

static int is_lacking(const char *complaint)
{
	return strstr(complaint, strerror(ENOSYS)) || strstr(complaint, strerror(EOPNOTSUPP));
}

int program_params_status(const struct program *p, const struct workload_run *w, const char *name,
			  const char *const *skip)
{
	const char *complaint;

	if (!p->exit_status || p->stopped)
		return 0;
	complaint = program_complaint(p, skip);
	return task_fail(w->child, is_lacking(complaint) ? "unsupported" : "workload-failed",
			 "%s ended with status %d: %s", name, p->exit_status, complaint);
}

size_t program_params_metrics(const struct program *p, char *out, size_t room)
{
	return (size_t)snprintf(out, room,
				",\"program_user\":%.6f,\"program_system\":%.6f,\"program_rss\":%.0f",
				p->user_s, p->system_s, (double)p->max_rss_bytes / 1024);
}
