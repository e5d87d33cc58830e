// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/writers/stream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define SEND_BYTES (256u << 10)

static int bring_up_loopback(void)
{
	struct ifreq r = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret;

	if (fd < 0)
		return -1;
	r.ifr_flags = IFF_UP | IFF_RUNNING;
	ret = ioctl(fd, SIOCSIFFLAGS, &r);
	close(fd);
	return ret;
}

int stream_listen(struct stream_config *c, char *why, size_t room)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);

	c->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->listener < 0 || bring_up_loopback() < 0) {
		snprintf(why, room, "this kernel lacks TCP or a loopback device (CONFIG_INET): %s",
			 strerror(errno));
		return -1;
	}
	if (bind(c->listener, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(c->listener, 16) < 0 ||
	    getsockname(c->listener, (struct sockaddr *)&at, &len) < 0) {
		snprintf(why, room, "cannot listen on loopback: %s", strerror(errno));
		return -1;
	}
	c->port = at.sin_port;
	return 0;
}

static void stream_fail(struct stream_shared *s, const char *what)
{
	int none = 0;

	if (!atomic_load(&s->stop) && atomic_compare_exchange_strong(&s->failed, &none, 1)) {
		snprintf(s->why, sizeof(s->why), "%s: %s", what, strerror(errno));
		atomic_store(&s->failed, 2);
	}
	_exit(1);
}

static void wait_for_go(const struct stream_config *c)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(c->go_fd, &byte, 1) < 0 && errno == EINTR)
		;
}

/* ---- the one end ---- */

static void send_all(const struct stream_config *c, int fd)
{
	static uint8_t data[SEND_BYTES];

	memset(data, 0x5a, sizeof(data));
	wait_for_go(c);
	while (!atomic_load_explicit(&c->shared->stop, memory_order_relaxed))
		if (send(fd, data, sizeof(data), MSG_NOSIGNAL) < 0 && errno != EINTR)
			stream_fail(c->shared, "send");
	_exit(0);
}

/* ---- the other ---- */

static uint8_t *fresh_buffer(const struct stream_config *c, uint8_t **map)
{
	*map = mmap(NULL, c->buffer + STREAM_BUFFER_ALIGN, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (*map == MAP_FAILED)
		stream_fail(c->shared, "mmap");
	madvise(*map, c->buffer + STREAM_BUFFER_ALIGN, MADV_HUGEPAGE);
	return (uint8_t *)(((uintptr_t)*map + STREAM_BUFFER_ALIGN - 1) &
			   ~(uintptr_t)(STREAM_BUFFER_ALIGN - 1));
}

static void receive(const struct stream_config *c, int fd, uint8_t *to)
{
	for (size_t got = 0; got < c->buffer;) {
		ssize_t n = recv(fd, to + got, c->buffer - got, 0);

		if (n == 0 || atomic_load_explicit(&c->shared->stop, memory_order_relaxed))
			_exit(0);
		if (n < 0 && errno != EINTR)
			stream_fail(c->shared, "recv");
		if (n > 0) {
			got += (size_t)n;
			atomic_fetch_add_explicit(&c->shared->received, (uint64_t)n,
						  memory_order_relaxed);
		}
	}
}

static void store(const struct stream_config *c, int file, const uint8_t *from, uint64_t at)
{
	for (size_t put = 0; put < c->buffer;) {
		ssize_t n = pwrite(file, from + put, c->buffer - put, (off_t)(at + put));

		if (atomic_load_explicit(&c->shared->stop, memory_order_relaxed))
			_exit(0);
		if (n < 0 && errno != EINTR)
			stream_fail(c->shared, "write");
		if (n > 0) {
			put += (size_t)n;
			atomic_fetch_add_explicit(&c->shared->written, (uint64_t)n,
						  memory_order_relaxed);
		}
	}
}

static void receive_all(const struct stream_config *c, int fd, unsigned int i)
{
	char path[96];
	int file;
	uint64_t at = 0;

	snprintf(path, sizeof(path), "%s/stream%u", c->folder, i);
	file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (file < 0)
		stream_fail(c->shared, path);
	wait_for_go(c);
	for (;;) {
		uint8_t *map, *buffer = fresh_buffer(c, &map);

		receive(c, fd, buffer);
		store(c, file, buffer, at);
		munmap(map, c->buffer + STREAM_BUFFER_ALIGN);
		at = at + 2 * c->buffer <= c->span ? at + c->buffer : 0;
	}
}

static int connect_pair(const struct stream_config *c, int fd[2])
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = c->port,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	fd[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd[0] < 0 || connect(fd[0], (struct sockaddr *)&to, sizeof(to)) < 0)
		return -1;
	fd[1] = accept(c->listener, NULL, NULL);
	return fd[1] < 0 ? -1 : 0;
}

int stream_start(const struct stream_config *c, unsigned int i)
{
	int fd[2];

	if (connect_pair(c, fd) < 0)
		return -1;
	for (int end = 0; end < 2; end++) {
		pid_t pid = fork();

		if (pid < 0)
			return -1;
		if (pid)
			continue;
		close(fd[!end]);
		if (end == 0)
			send_all(c, fd[0]);
		else
			receive_all(c, fd[1], i);
	}
	close(fd[0]);
	close(fd[1]);
	return 0;
}
