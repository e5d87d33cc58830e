// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/writers/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/procfs.h"
#include "workloads/writers/ext4.h"

#define CONTROL "/sys/class/zram-control/hot_add"

static int failed(const char *what, const char *path, char *why, size_t room)
{
	snprintf(why, room, "%s %s: %s", what, path, strerror(errno));
	return -1;
}

/* Reading the file makes a device and says its number. */
static int add_device(uint64_t bytes, char device[32], char *why, size_t room)
{
	int64_t number = file_number(CONTROL, -1);
	char path[64], size[32];

	if (number < 0) {
		snprintf(why, room, "this kernel lacks %s (CONFIG_ZRAM)", CONTROL);
		return -1;
	}
	snprintf(device, 32, "/dev/zram%d", (int)number);
	snprintf(path, sizeof(path), "/sys/block/zram%d/disksize", (int)number);
	snprintf(size, sizeof(size), "%" PRIu64, bytes);
	return file_put(path, size) < 0 ? failed("cannot write to", path, why, room) : 0;
}

static int format(const char *device, uint64_t bytes, char *why, size_t room)
{
	int fd = open(device, O_RDWR | O_CLOEXEC), ret;

	if (fd < 0)
		return failed("cannot open", device, why, room);
	ret = ext4_format(fd, bytes) < 0 || fsync(fd) < 0 ? -1 : 0;
	if (ret < 0)
		failed("cannot format", device, why, room);
	close(fd);
	return ret;
}

int disk_mount(const char *path, uint64_t bytes, char *why, size_t room)
{
	uint64_t whole = (bytes + EXT4_GROUP_BYTES - 1) / EXT4_GROUP_BYTES * EXT4_GROUP_BYTES;
	char device[32];

	if (add_device(whole, device, why, room) < 0 || format(device, whole, why, room) < 0)
		return -1;
	mkdir("/tmp", 0755);
	mkdir(path, 0755);
	if (mount(device, path, "ext4", MS_NOATIME, NULL) < 0)
		return failed("cannot mount ext4 on", path, why, room);
	return 0;
}
