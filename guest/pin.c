// SPDX-License-Identifier: GPL-2.0-only
/*
 * Long-term pins through io_uring's registered buffers (FOLL_LONGTERM in the kernel), and through
 * pipes (vmsplice keeps a reference on each page) where io_uring is off.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guest/layout.h"

#define RING_BUFFERS 16384 /* IORING_MAX_REG_BUFFERS since 5.13; 1024 before (then we halve) */

static int register_some(struct iovec *iov, size_t n)
{
	struct io_uring_params p = { 0 };
	int ring = (int)syscall(__NR_io_uring_setup, 1, &p);
	int ret;

	if (ring < 0)
		return -1;
	ret = (int)syscall(__NR_io_uring_register, ring, IORING_REGISTER_BUFFERS, iov, n);
	if (ret < 0) {
		int saved = errno;

		close(ring);
		errno = saved;
	}
	return ret; /* the ring stays open: it is what holds the pages */
}

static int pin_io_uring(void *const *page, size_t n)
{
	struct iovec *iov = malloc(sizeof(*iov) * (n < RING_BUFFERS ? n : RING_BUFFERS));
	size_t most = RING_BUFFERS;

	if (!iov)
		return -1;
	for (size_t i = 0; i < n;) {
		size_t m = n - i < most ? n - i : most;

		for (size_t k = 0; k < m; k++)
			iov[k] = (struct iovec){ page[i + k], 4096 };
		if (register_some(iov, m) < 0) {
			if (errno == EINVAL && most > 64) {
				most /= 4;
				continue;
			}
			free(iov);
			return -1;
		}
		i += m;
	}
	free(iov);
	return 0;
}

static int pin_vmsplice(void *const *page, size_t n)
{
	struct rlimit files = { n / 16 + 1024, n / 16 + 1024 };
	size_t i = 0;

	setrlimit(RLIMIT_NOFILE, &files);
	file_put("/proc/sys/fs/pipe-user-pages-soft", "0");
	while (i < n) {
		int fd[2], size;

		if (pipe2(fd, O_CLOEXEC) < 0)
			return -1;
		size = fcntl(fd[1], F_SETPIPE_SZ, 1 << 20);
		for (int slots = (size < 0 ? 65536 : size) / 4096; slots && i < n; slots--, i++) {
			struct iovec iov = { page[i], 4096 };

			if (vmsplice(fd[1], &iov, 1, SPLICE_F_NONBLOCK) != 4096)
				return -1;
		}
	}
	return 0;
}

int pin_pages(void *const *page, size_t n, const char **how, char *why, size_t why_room)
{
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	int first;

	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	if (pin_io_uring(page, n) == 0) {
		*how = "io_uring registered buffers";
		return 0;
	}
	first = errno;
	if (pin_vmsplice(page, n) == 0) {
		*how = "vmsplice";
		return 0;
	}
	snprintf(why, why_room, "io_uring: %s; vmsplice: %s", strerror(first), strerror(errno));
	return -1;
}
