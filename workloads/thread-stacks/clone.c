// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/thread-stacks/clone.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/procfs.h"

#define USER_STACK 1024
#define PROBE_THREADS 128
#define STACK_KB 16
#define FLAGS (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)

static int sleep_for_ever(void *unused)
{
	for (;;)
		pause();
	return 0;
}

static uint8_t *map_user_stacks(uint64_t threads)
{
	void *at = mmap(NULL, threads * USER_STACK, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static int start_thread(uint8_t *stacks, uint64_t i)
{
	return clone(sleep_for_ever, stacks + (i + 1) * USER_STACK, FLAGS, NULL);
}

/* ---- which way the kernel takes ---- */

int64_t meminfo_kb(const char *text, const char *key)
{
	size_t n = strlen(key);

	while (*text) {
		if (strncmp(text, key, n) == 0 && text[n] == ':')
			return strtoll(text + n + 1, NULL, 10);
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return -1;
}

static int64_t read_meminfo(const char *key)
{
	static char text[16384];

	return file_slurp("/proc/meminfo", text, sizeof(text)) < 0 ? -1 : meminfo_kb(text, key);
}

static void probe_child(int fd)
{
	uint8_t *stacks = map_user_stacks(PROBE_THREADS);
	char done = stacks != NULL;

	for (uint64_t i = 0; done && i < PROBE_THREADS; i++)
		done = start_thread(stacks, i) >= 0;
	if (write(fd, &done, 1) == 1)
		pause();
	_exit(1);
}

int stacks_are_vmapped(void)
{
	int64_t before = read_meminfo("VmallocUsed"), after = -1;
	int fd[2];
	char done = 0;
	pid_t pid;

	if (before < 0 || pipe(fd) < 0)
		return -1;
	pid = fork();
	if (pid == 0)
		probe_child(fd[1]);
	close(fd[1]);
	errno = EAGAIN;
	if (pid > 0 && read(fd[0], &done, 1) == 1 && done)
		after = read_meminfo("VmallocUsed");
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	close(fd[0]);
	if (after < 0)
		return -1;
	/* Half of it: the count lags behind by some pages a CPU. */
	return after - before >= PROBE_THREADS * STACK_KB / 2;
}

/* ---- the method ---- */

static int clone_prepare(struct alloc_state *s)
{
	char text[32];

	/* The kernel's own limit is an eighth of memory in stacks. */
	snprintf(text, sizeof(text), "%llu", (unsigned long long)s->count + 4096);
	if (file_put("/proc/sys/kernel/threads-max", text) < 0 ||
	    file_put("/proc/sys/kernel/pid_max", "4194304") < 0)
		return task_fail(s->child, "infra", "thread-stacks: threads-max, pid_max: %s",
				 strerror(errno));
	s->region = map_user_stacks(s->count);
	if (!s->region)
		return task_fail(s->child, "infra", "thread-stacks: no memory for user stacks: %s",
				 strerror(errno));
	return 0;
}

static enum alloc_outcome clone_take(struct alloc_state *s, uint64_t i)
{
	uint64_t start = mono_ns();
	int tid = start_thread(s->region, i);

	s->ns = mono_ns() - start;
	if (tid >= 0)
		return ALLOC_MET;
	if (errno == ENOMEM)
		return ALLOC_FAILED;
	return (enum alloc_outcome)task_fail(s->child, "workload-failed", "clone %llu: %s",
					     (unsigned long long)i + 1, strerror(errno));
}

static const char *clone_how(unsigned int order)
{
	return "a thread and what it needs besides: GFP_KERNEL|__GFP_ZERO";
}

const struct alloc_method alloc_clone = {
	.name = "clone",
	.orders = 1 << THREAD_STACK_ORDER,
	.how = clone_how,
	.prepare = clone_prepare,
	.take = clone_take,
};
