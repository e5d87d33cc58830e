// SPDX-License-Identifier: GPL-2.0-only
#include "guest/swap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "guest/procfs.h"

/* union swap_header of include/linux/swap.h: 1 KiB for a boot loader, the facts, the magic at the end. */
#define SWAP_MAGIC "SWAPSPACE2"
#define SWAP_INFO 1024
struct swap_info {
	uint32_t version, last_page, nr_badpages;
};

struct device {
	const char *kind, *name,
		*option; /* as the scenario says; in /dev and /sys/block; of the kernel */
};

static const struct device devices[] = {
	{ "zram", "zram0", "CONFIG_ZRAM" },
	{ "ramdisk", "ram0", "CONFIG_BLK_DEV_RAM" },
};

int swap_header(void *page, size_t page_size, uint64_t bytes)
{
	const size_t magic = sizeof(SWAP_MAGIC) - 1;
	struct swap_info info = { .version = 1 };

	/* The header's own page, and at least one to swap to. */
	if (bytes / page_size < 2 || bytes / page_size - 1 > UINT32_MAX)
		return -1;
	info.last_page = (uint32_t)(bytes / page_size - 1);
	memset(page, 0, page_size);
	memcpy((char *)page + SWAP_INFO, &info, sizeof(info));
	memcpy((char *)page + page_size - magic, SWAP_MAGIC, magic);
	return 0;
}

static int unsupported(const struct device *d, const char **verdict, char *why, size_t room)
{
	*verdict = "unsupported";
	snprintf(why, room, "this kernel lacks swap on %s (%s): no /sys/block/%s", d->kind,
		 d->option, d->name);
	return -1;
}

static int failed(const char *what, const char *path, char *why, size_t room)
{
	snprintf(why, room, "swap: %s %s: %s", what, path, strerror(errno));
	return -1;
}

/* devtmpfs has it already, where the kernel has devtmpfs. */
static void make_node(const struct device *d, const char *path)
{
	char sys[64], text[32];
	unsigned int major, minor;

	snprintf(sys, sizeof(sys), "/sys/block/%s/dev", d->name);
	if (access(path, F_OK) < 0 && file_slurp(sys, text, sizeof(text)) > 0 &&
	    sscanf(text, "%u:%u", &major, &minor) == 2)
		mknod(path, S_IFBLK | 0600, makedev(major, minor));
}

static int write_header(const char *path, uint64_t bytes, char *why, size_t room)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *page = malloc(page_size);
	uint64_t has = 0;
	int ret = -1;

	if (fd < 0 || !page || ioctl(fd, BLKGETSIZE64, &has) < 0) {
		failed("cannot open", path, why, room);
	} else if (has != bytes) {
		snprintf(why, room, "swap: %s: asked %" PRIu64 " bytes, got %" PRIu64, path, bytes,
			 has);
	} else if (swap_header(page, page_size, bytes) < 0) {
		snprintf(why, room, "swap: %" PRIu64 " bytes cannot be a swap device", bytes);
	} else if (pwrite(fd, page, page_size, 0) != (ssize_t)page_size || fsync(fd) < 0) {
		failed("cannot write to", path, why, room);
	} else {
		ret = 0;
	}
	free(page);
	if (fd >= 0)
		close(fd);
	return ret;
}

/* All but the header's page. */
static int check_total(uint64_t bytes, char *why, size_t room)
{
	uint64_t want = bytes - (uint64_t)sysconf(_SC_PAGESIZE), got;
	struct sysinfo s;

	if (sysinfo(&s) < 0)
		return failed("sysinfo", "", why, room);
	got = (uint64_t)s.totalswap * s.mem_unit;
	if (got == want)
		return 0;
	snprintf(why, room, "swap: asked %" PRIu64 " bytes, got %" PRIu64, want, got);
	return -1;
}

static int set_up(const struct device *d, uint64_t bytes, char *why, size_t room)
{
	char path[64], size[32];

	if (strcmp(d->kind, "zram") == 0) {
		snprintf(path, sizeof(path), "/sys/block/%s/disksize", d->name);
		snprintf(size, sizeof(size), "%" PRIu64, bytes);
		if (file_put(path, size) < 0)
			return failed("cannot write to", path, why, room);
	}
	snprintf(path, sizeof(path), "/dev/%s", d->name);
	make_node(d, path);
	if (write_header(path, bytes, why, room) < 0)
		return -1;
	if (swapon(path, 0) < 0)
		return failed("swapon", path, why, room);
	return check_total(bytes, why, room);
}

int swap_setup(const struct job *job, const char **verdict, char *why, size_t room)
{
	const struct job_line *line = job_next(job, NULL, "swap");
	const char *kind = line ? job_get(line, "kind") : NULL;
	const struct device *d = NULL;
	char path[64];

	if (!line)
		return 0;
	*verdict = "infra";
	for (size_t i = 0; kind && i < sizeof(devices) / sizeof(devices[0]); i++)
		if (strcmp(devices[i].kind, kind) == 0)
			d = &devices[i];
	if (!d) {
		snprintf(why, room, "swap: unknown kind \"%.60s\"", kind ? kind : "");
		return -1;
	}
	snprintf(path, sizeof(path), "/sys/block/%s", d->name);
	if (access(path, F_OK) < 0)
		return unsupported(d, verdict, why, room);
	return set_up(d, (uint64_t)job_get_i64(line, "size", 0), why, room);
}
