// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "guest/fill.h"
#include "guest/zero_file.h"

#define MOUNT_POINT "/fill-file"
#define READ_PAGES (ZERO_FILE_READ_MAX / 4096)
#define AHEAD_PAGES 512 /* so many requests at once, not one after the other */

static int device = -1;

/* A thread will do: the OOM killer does not come for the layout's process. */
static void *server(void *unused)
{
	zero_file_serve(device);
	return NULL;
}

static int mount_file(void)
{
	pthread_t thread;

	device = zero_file_mount(MOUNT_POINT);
	if (device < 0)
		return -1;
	errno = pthread_create(&thread, NULL, server, NULL);
	if (errno)
		return -1;
	return zero_file_open(MOUNT_POINT);
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

		for (uint64_t i = 0; i < n; i += READ_PAGES) /* a call reads no more than that */
			readahead(fd, (off64_t)(at + i) * 4096,
				  (n - i < READ_PAGES ? n - i : READ_PAGES) * 4096);
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
