// SPDX-License-Identifier: GPL-2.0-only
/* Unmovable blocks as a pipe's array of slots; single pages as the data in the slots. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/procfs.h"
#include "workloads/alloc-order/method.h"

#define SLOTS 16 /* of a pipe that nobody resized; a slot takes a page */

static int open_pipe(struct alloc_state *s, size_t pipe)
{
	if (pipe2(s->fd + 2 * pipe, O_CLOEXEC | O_NONBLOCK) == 0)
		return 0;
	return task_fail(s->child, "infra", "pipe %zu: %s", pipe + 1, strerror(errno));
}

static size_t pipe_of(const struct alloc_state *s, uint64_t i)
{
	if (!s->hold)
		return 0;
	return s->order ? i : i / SLOTS;
}

/* 64 << order slots of sizeof(struct pipe_buffer), 40: more than half of the block. */
static int resize(const struct alloc_state *s, size_t pipe)
{
	return fcntl(s->fd[2 * pipe], F_SETPIPE_SZ, (64 << s->order) * 4096);
}

static int64_t vmalloc_kib(void)
{
	static char text[16384];
	const char *at;

	if (file_slurp("/proc/meminfo", text, sizeof(text)) < 0)
		return 0;
	at = strstr(text, "\nVmallocUsed:");
	return at ? strtoll(at + strlen("\nVmallocUsed:"), NULL, 10) : 0;
}

/* A kernel that takes the array from vmalloc() would never fail; all that are known do not. */
static int check_array(struct alloc_state *s)
{
	int64_t before = vmalloc_kib();

	if (resize(s, 0) < 0)
		return task_fail(s->child, "unsupported", "a pipe of %d slots: %s",
				 64 << s->order, strerror(errno));
	if (vmalloc_kib() - before >= 4 << s->order)
		return task_fail(s->child, "unsupported",
				 "this kernel takes a pipe's slots from vmalloc()");
	close(s->fd[0]);
	close(s->fd[1]);
	return open_pipe(s, 0);
}

static int pipe_prepare(struct alloc_state *s)
{
	size_t pipes = pipe_of(s, s->count - 1) + 1;

	if (alloc_reserve_files(s, 2 * pipes) < 0)
		return -1;
	for (size_t i = 0; i < pipes; i++)
		if (open_pipe(s, i) < 0)
			return -1;
	return s->order ? check_array(s) : 0;
}

static enum alloc_outcome pipe_take(struct alloc_state *s, uint64_t i)
{
	static const char page[4096];
	size_t pipe = pipe_of(s, i);
	uint64_t start = mono_ns();
	ssize_t got = s->order ? resize(s, pipe) : write(s->fd[2 * pipe + 1], page, sizeof(page));

	s->ns = mono_ns() - start;
	if (got >= 0)
		return ALLOC_MET;
	if (errno == ENOMEM)
		return ALLOC_FAILED;
	return (enum alloc_outcome)task_fail(s->child, "workload-failed",
					     "pipe %zu: %s", pipe + 1,
					     strerror(errno));
}

/* Emptied, a pipe would keep the page for the next write. */
static int pipe_give(struct alloc_state *s, uint64_t i)
{
	size_t pipe = pipe_of(s, i);

	close(s->fd[2 * pipe]);
	close(s->fd[2 * pipe + 1]);
	return open_pipe(s, pipe);
}

static const char *pipe_how(unsigned int order)
{
	return order ? "slots of a pipe: GFP_KERNEL" : "page in a pipe: GFP_HIGHUSER";
}

const struct alloc_method alloc_pipe = {
	.name = "pipe",
	.orders = 0x7fd,
	.how = pipe_how,
	.prepare = pipe_prepare,
	.take = pipe_take,
	.give = pipe_give,
};
