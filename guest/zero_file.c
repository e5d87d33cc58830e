// SPDX-License-Identifier: GPL-2.0-only
/*
 * The protocol is that of include/uapi/linux/fuse.h; what is not known is answered with ENOSYS.
 */
#include "guest/zero_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guest/procfs.h"

#define FOREVER_S (1u << 30)

static const uint8_t zeros[ZERO_FILE_READ_MAX]; /* never written: the zero page, many times */

static void reply(int device, uint64_t unique, int error, const void *body, size_t len)
{
	struct fuse_out_header head = { .len = (uint32_t)(sizeof(head) + len), .error = error,
					.unique = unique };
	struct iovec iov[2] = { { &head, sizeof(head) }, { (void *)(uintptr_t)body, len } };

	/* A request that was taken back meanwhile has no reader: nothing is lost. */
	if (writev(device, iov, len ? 2 : 1) < 0)
		return;
}

static void reply_init(int device, const struct fuse_in_header *in, const struct fuse_init_in *arg)
{
	struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION,
				     .minor = FUSE_KERNEL_MINOR_VERSION,
				     .max_readahead = ZERO_FILE_READ_MAX,
				     .flags = arg->flags & FUSE_ASYNC_READ,
				     .max_background = 64,
				     .congestion_threshold = 64,
				     .max_write = 4096 };

	if (arg->minor < out.minor)
		out.minor = arg->minor;
	reply(device, in->unique, 0, &out, sizeof(out));
}

static void reply_attr(int device, const struct fuse_in_header *in)
{
	struct fuse_attr_out out = { .attr_valid = FOREVER_S,
				     .attr = { .ino = FUSE_ROOT_ID, .size = ZERO_FILE_BYTES,
					       .mode = S_IFREG | 0444, .nlink = 1, .blksize = 4096 } };

	reply(device, in->unique, 0, &out, sizeof(out));
}

static void serve(int device, const struct fuse_in_header *in)
{
	const void *arg = in + 1;
	struct fuse_open_out opened = { .fh = 1, .open_flags = FOPEN_KEEP_CACHE };
	uint32_t size;

	switch (in->opcode) {
	case FUSE_INIT:
		reply_init(device, in, arg);
		return;
	case FUSE_GETATTR:
		reply_attr(device, in);
		return;
	case FUSE_OPEN:
		reply(device, in->unique, 0, &opened, sizeof(opened));
		return;
	case FUSE_READ:
		size = ((const struct fuse_read_in *)arg)->size;
		reply(device, in->unique, size > ZERO_FILE_READ_MAX ? -EIO : 0, zeros, size > ZERO_FILE_READ_MAX ? 0 : size);
		return;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	default:
		reply(device, in->unique, -ENOSYS, NULL, 0);
	}
}

void zero_file_serve(int device)
{
	static uint8_t request[FUSE_MIN_READ_BUFFER + 4096] __attribute__((aligned(8)));

	for (;;) {
		ssize_t n = read(device, request, sizeof(request));

		if (n < 0 && errno != EINTR && errno != EAGAIN && errno != ENOENT)
			return; /* unmounted */
		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			serve(device, (const struct fuse_in_header *)request);
	}
}

int zero_file_mount(const char *path)
{
	char options[96];
	int device, fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0444);

	if (fd >= 0)
		close(fd);
	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (device < 0)
		return -1;
	snprintf(options, sizeof(options), "fd=%d,rootmode=100444,user_id=0,group_id=0", device);
	if (mount("zeros", path, "fuse", MS_NOSUID | MS_NODEV, options) == 0)
		return device;
	close(device);
	return -1;
}

int zero_file_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static void serve_alone(int device)
{
	file_put("/proc/self/oom_score_adj", "-999");
	/* A pipe that it held open would hide the end of the caller. */
	if (dup2(device, 0) < 0 || close_range(1, ~0u, 0) < 0)
		_exit(1);
	zero_file_serve(0);
	_exit(0);
}

int zero_file_start(const char *path)
{
	int device = zero_file_mount(path);
	pid_t pid;

	if (device < 0)
		return -1;
	pid = fork();
	if (pid == 0)
		serve_alone(device);
	close(device);
	return pid < 0 ? -1 : zero_file_open(path);
}
