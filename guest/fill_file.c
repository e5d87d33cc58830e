// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page cache without a disk. Page cache of ramfs and tmpfs cannot be dropped, a loop device on tmpfs
 * holds every page twice, and that of a block device is not movable. A file system in user space has
 * none of this: its only file is the mount's root, reads as zeros, and a thread serves it. The
 * protocol is that of include/uapi/linux/fuse.h; what is not known is answered with ENOSYS.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guest/fill.h"

#define MOUNT_POINT "/fill-file"
#define FILE_BYTES (1ULL << 40)
#define READ_MAX (128u << 10)
#define AHEAD_PAGES 512 /* so many requests of READ_MAX at once, not one after the other */
#define FOREVER_S (1u << 30)

static int device = -1;
static const uint8_t zeros[READ_MAX]; /* never written: the zero page, many times */

static void reply(uint64_t unique, int error, const void *body, size_t len)
{
	struct fuse_out_header head = { .len = (uint32_t)(sizeof(head) + len), .error = error,
					.unique = unique };
	struct iovec iov[2] = { { &head, sizeof(head) }, { (void *)(uintptr_t)body, len } };

	/* A request that was taken back meanwhile has no reader: nothing is lost. */
	if (writev(device, iov, len ? 2 : 1) < 0)
		return;
}

static void reply_init(const struct fuse_in_header *in, const struct fuse_init_in *arg)
{
	struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION,
				     .minor = FUSE_KERNEL_MINOR_VERSION,
				     .max_readahead = READ_MAX,
				     .flags = arg->flags & FUSE_ASYNC_READ,
				     .max_background = 64,
				     .congestion_threshold = 64,
				     .max_write = 4096 };

	if (arg->minor < out.minor)
		out.minor = arg->minor;
	reply(in->unique, 0, &out, sizeof(out));
}

static void reply_attr(const struct fuse_in_header *in)
{
	struct fuse_attr_out out = { .attr_valid = FOREVER_S,
				     .attr = { .ino = FUSE_ROOT_ID, .size = FILE_BYTES,
					       .mode = S_IFREG | 0444, .nlink = 1, .blksize = 4096 } };

	reply(in->unique, 0, &out, sizeof(out));
}

static void serve(const struct fuse_in_header *in)
{
	const void *arg = in + 1;
	struct fuse_open_out opened = { .fh = 1, .open_flags = FOPEN_KEEP_CACHE };
	uint32_t size;

	switch (in->opcode) {
	case FUSE_INIT:
		reply_init(in, arg);
		return;
	case FUSE_GETATTR:
		reply_attr(in);
		return;
	case FUSE_OPEN:
		reply(in->unique, 0, &opened, sizeof(opened));
		return;
	case FUSE_READ:
		size = ((const struct fuse_read_in *)arg)->size;
		reply(in->unique, size > READ_MAX ? -EIO : 0, zeros, size > READ_MAX ? 0 : size);
		return;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	default:
		reply(in->unique, -ENOSYS, NULL, 0);
	}
}

static void *server(void *unused)
{
	static uint8_t request[FUSE_MIN_READ_BUFFER + 4096] __attribute__((aligned(8)));

	for (;;) {
		ssize_t n = read(device, request, sizeof(request));

		if (n < 0 && errno != EINTR && errno != EAGAIN && errno != ENOENT)
			return NULL; /* unmounted */
		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			serve((const struct fuse_in_header *)request);
	}
}

static int mount_file(void)
{
	pthread_t thread;
	char options[96];
	int fd = open(MOUNT_POINT, O_CREAT | O_WRONLY | O_CLOEXEC, 0444);

	if (fd >= 0)
		close(fd);
	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (device < 0)
		return -1;
	snprintf(options, sizeof(options), "fd=%d,rootmode=100444,user_id=0,group_id=0", device);
	if (mount("fill", MOUNT_POINT, "fuse", MS_NOSUID | MS_NODEV, options) < 0)
		return -1;
	errno = pthread_create(&thread, NULL, server, NULL);
	if (errno)
		return -1;
	return open(MOUNT_POINT, O_RDONLY | O_CLOEXEC);
}

/* Reading ahead makes the pages; the byte that is read at the end waits for them. */
static int64_t take_file(struct layout *l, uint64_t pages)
{
	static int fd = -1;
	static uint64_t at;
	char byte;

	if (fd < 0)
		fd = mount_file();
	if (fd < 0)
		return -1;
	for (uint64_t left = pages; left;) {
		uint64_t n = left < AHEAD_PAGES ? left : AHEAD_PAGES;

		for (uint64_t i = 0; i < n; i += READ_MAX / 4096) /* a call reads no more than that */
			readahead(fd, (off64_t)(at + i) * 4096,
				  n - i < READ_MAX / 4096 ? (n - i) * 4096 : READ_MAX);
		at += n;
		if (pread(fd, &byte, 1, (off_t)at * 4096 - 1) != 1)
			return -1;
		left -= n;
	}
	task_progress(l->child, at, at + 1);
	return (int64_t)pages;
}

const struct fill_kind fill_file = { .name = "file",
				     .how = "page cache of a file served by the agent (FUSE)",
				     .take = take_file };
