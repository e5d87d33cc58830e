// SPDX-License-Identifier: GPL-2.0-only
/* Unmovable blocks as rings of AF_PACKET sockets, one block each. */
#include <errno.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "guest/procfs.h"
#include "workloads/alloc-order/method.h"

/* The kernel walks the list of all packet sockets to add one: 16,000 take some 10 s under TCG. */
#define SOCKETS_MAX 20000

#define EXPEDITED "/sys/kernel/rcu_expedited"

static int64_t expedited_before;

static int packet_prepare(struct alloc_state *s)
{
	if (s->hold && s->count > SOCKETS_MAX)
		return task_fail(
			s->child, "unsupported",
			"packet holds %d blocks at the most: take pipe, or hold: false",
			SOCKETS_MAX);
	if (alloc_open_maps(s) < 0 || alloc_reserve_files(s, s->hold ? s->count : 1) < 0)
		return -1;
	for (size_t i = 0; i < s->nfd; i++) {
		s->fd[i] = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
		if (s->fd[i] < 0 && errno == EAFNOSUPPORT)
			return task_fail(s->child, "unsupported",
					 "this kernel lacks AF_PACKET (CONFIG_PACKET)");
		if (s->fd[i] < 0)
			return task_fail(s->child, "infra", "socket %zu: %s", i + 1,
					 strerror(errno));
		task_progress(s->child, i + 1, s->nfd);
	}
	return 0;
}

/* Every change of a ring waits for a grace period of RCU; it shall be a short one. */
static int packet_begin(struct alloc_state *s)
{
	expedited_before = file_number(EXPEDITED, -1);
	if (expedited_before >= 0)
		file_put(EXPEDITED, "1");
	return 0;
}

static void packet_end(struct alloc_state *s)
{
	if (expedited_before == 0)
		file_put(EXPEDITED, "0");
}

/* A ring for sending: one for receiving brings a bitmap besides. No blocks: no ring. */
static int set_ring(const struct alloc_state *s, int fd, unsigned int blocks)
{
	unsigned int bytes = 4096u << s->order;
	struct tpacket_req ring = {
		.tp_block_size = blocks ? bytes : 0,
		.tp_block_nr = blocks,
		.tp_frame_size = blocks ? bytes : 0,
		.tp_frame_nr = blocks,
	};

	return setsockopt(fd, SOL_PACKET, PACKET_TX_RING, &ring, sizeof(ring));
}

static int fd_of(const struct alloc_state *s, uint64_t i)
{
	return s->fd[s->hold ? i : 0];
}

static enum alloc_outcome judge(const struct alloc_state *s, int fd)
{
	size_t bytes = (size_t)4096 << s->order;
	void *at = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	int whole;

	if (at == MAP_FAILED)
		return (enum alloc_outcome)task_fail(s->child, "workload-failed",
						     "cannot map a ring: %s",
						     strerror(errno));
	whole = alloc_check_block(s, at);
	munmap(at, bytes);
	if (whole < 0)
		return (enum alloc_outcome)task_fail(s->child, "workload-failed",
						     "pages of a ring: %s",
						     strerror(errno));
	return whole ? ALLOC_MET : ALLOC_FALLBACK;
}

/* Not wall time: the wait for RCU took 0.1 ms to 2 s on a busy host, the request 0.05 ms. */
static uint64_t thread_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static enum alloc_outcome packet_take(struct alloc_state *s, uint64_t i)
{
	int fd = fd_of(s, i);
	uint64_t start = thread_ns();
	int ret = set_ring(s, fd, 1);

	s->ns = thread_ns() - start;
	if (ret == 0)
		return judge(s, fd);
	if (errno == ENOMEM)
		return ALLOC_FAILED;
	return (enum alloc_outcome)task_fail(s->child, "workload-failed",
					     "ring %zu: %s", (size_t)i + 1,
					     strerror(errno));
}

static int packet_give(struct alloc_state *s, uint64_t i)
{
	if (set_ring(s, fd_of(s, i), 0) == 0)
		return 0;
	return task_fail(s->child, "workload-failed", "giving back a ring: %s",
			 strerror(errno));
}

static const char *packet_how(unsigned int order)
{
	return "ring of a packet socket: GFP_KERNEL|__GFP_NORETRY, then vmalloc; latency is CPU time";
}

const struct alloc_method alloc_packet = {
	.name = "packet",
	.orders = 0x7ff,
	.how = packet_how,
	.prepare = packet_prepare,
	.begin = packet_begin,
	.end = packet_end,
	.take = packet_take,
	.give = packet_give,
};
