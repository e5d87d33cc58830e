// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of pipe buffers. They have no flag in /proc/kpageflags, and nothing maps them. So each is given
 * a number that stands nowhere else, and /proc/kcore shows which page frame holds it. Copies cannot be
 * taken for it: the buffer that is written from has flags, and is wiped at once; a page of a pipe is
 * never given back, so no free one has its number.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "guest/kcore.h"
#include "guest/pollute.h"

#define PAGE 4096u

static struct {
	struct kcore ram;
	uint64_t mark, made; /* of this step; the numbers are mark:0 ... mark:made - 1 */
	int in;		     /* of the last pipe, which has room for so many pages more */
	unsigned int room;
} pipes;

static int pipes_start(unsigned int *order, char *why, size_t why_room)
{
	struct rlimit files = { 65536, 65536 };

	*order = 0;
	pipes.made = 0;
	setrlimit(RLIMIT_NOFILE, &files);
	if (!pipes.ram.n && kcore_open(&pipes.ram, "/proc/kcore") < 0) {
		snprintf(why, why_room, "pages of pipes cannot be told: /proc/kcore: %s", strerror(errno));
		return -1;
	}
	if (getrandom(&pipes.mark, sizeof(pipes.mark), 0) != sizeof(pipes.mark)) {
		snprintf(why, why_room, "getrandom: %s", strerror(errno));
		return -1;
	}
	return 0;
}

/* Of the default size: a larger one wants its table in one piece, when memory is in pieces. */
static int next_pipe(void)
{
	int fd[2], bytes;

	if (pipe2(fd, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	bytes = fcntl(fd[1], F_GETPIPE_SZ);
	if (bytes < (int)PAGE)
		return -1;
	pipes.in = fd[1];
	pipes.room = (unsigned int)bytes / PAGE;
	return 0; /* fd[0] stays open: it is what holds the pages */
}

static int write_page(void)
{
	static uint64_t page[PAGE / 8];
	ssize_t n;

	page[0] = pipes.mark;
	page[1] = pipes.made;
	n = write(pipes.in, page, sizeof(page));
	page[0] = 0;
	return n == sizeof(page) ? 0 : -1;
}

static int pipes_more(struct layout *l, unsigned int order, unsigned int n, char *why, size_t why_room)
{
	for (; n; n--) {
		if ((!pipes.room && next_pipe() < 0) || write_page() < 0) {
			snprintf(why, why_room, "page %llu of pipes: %s",
				 (unsigned long long)pipes.made, strerror(errno));
			return -1;
		}
		pipes.made++;
		if (!--pipes.room)
			close(pipes.in);
	}
	return 0;
}

static bool pipes_holds(uint32_t pfn)
{
	uint64_t number[2];

	return kcore_read(&pipes.ram, pfn, number, sizeof(number)) && number[0] == pipes.mark &&
	       number[1] < pipes.made;
}

static uint64_t pipes_made(void)
{
	return pipes.made;
}

const struct pollute pollute_pipes = {
	.name = "pipes",
	.how = "pages of pipes, each found by what was written into it (/proc/kcore)",
	.migratetype = "unmovable",
	.start = pipes_start,
	.more = pipes_more,
	.holds = pipes_holds,
	.made = pipes_made,
};
