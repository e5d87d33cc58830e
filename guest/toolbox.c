// SPDX-License-Identifier: GPL-2.0-only
#include "guest/toolbox.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/job.h"
#include "guest/procfs.h"

struct place {
	const char *what, *where, *type, *options;
};

/* In this order: /dev/shm lies in /dev. */
static const struct place places[] = {
	{ "proc", TOOLBOX_ROOT "/proc", "proc", NULL },
	{ "sysfs", TOOLBOX_ROOT "/sys", "sysfs", NULL },
	{ "devtmpfs", TOOLBOX_ROOT "/dev", "devtmpfs", NULL },
	{ "tmpfs", TOOLBOX_ROOT "/dev/shm", "tmpfs", "mode=1777" },
	{ "tmpfs", TOOLBOX_ROOT TOOLBOX_TMP, "tmpfs", "mode=1777,size=25%" },
};
static const struct place work = { "tmpfs", TOOLBOX_ROOT TOOLBOX_WORK, "tmpfs",
				   "mode=1777,size=50%" };

static int failed(const char *what, const char *path, const char **verdict, char *why, size_t room)
{
	*verdict = errno == ENODEV ? "unsupported" : "infra";
	snprintf(why, room, "toolbox: cannot mount %s on %s: %s", what, path, strerror(errno));
	return -1;
}

static int mount_place(const struct place *p, const char **verdict, char *why, size_t room)
{
	mkdir(p->where, 0755);
	if (mount(p->what, p->where, p->type, 0, p->options) < 0)
		return failed(p->type, p->where, verdict, why, room);
	return 0;
}

static int has_serial(const char *disk, const char *serial)
{
	char path[300], text[64];

	snprintf(path, sizeof(path), "/sys/block/%.32s/serial", disk);
	if (file_slurp(path, text, sizeof(text)) < 0)
		return 0;
	text[strcspn(text, "\n")] = '\0';
	return strcmp(text, serial) == 0;
}

/* "/dev/vda"; 0 or -1. */
static int find_disk(const char *serial, char *path, size_t room)
{
	DIR *d = opendir("/sys/block");
	struct dirent *e;
	int ret = -1;

	while (d && ret < 0 && (e = readdir(d))) {
		if (strncmp(e->d_name, "vd", 2) != 0 || !has_serial(e->d_name, serial))
			continue;
		snprintf(path, room, "/dev/%.32s", e->d_name);
		ret = 0;
	}
	if (d)
		closedir(d);
	return ret;
}

static int mount_disk(const char *serial, const char *where, const char *type, unsigned long flags,
		      const char **verdict, char *why, size_t room)
{
	char disk[64];

	if (find_disk(serial, disk, sizeof(disk)) < 0) {
		*verdict = "unsupported";
		snprintf(why, room, "this kernel lacks the module virtio_blk: it has no disk \"%s\"",
			 serial);
		return -1;
	}
	if (mount(disk, where, type, flags, NULL) < 0)
		return failed(type, where, verdict, why, room);
	return 0;
}

/* What programs expect in /dev beside devices. */
static void link_descriptors(void)
{
	static const char *const links[][2] = {
		{ "/proc/self/fd", TOOLBOX_ROOT "/dev/fd" },
		{ "/proc/self/fd/0", TOOLBOX_ROOT "/dev/stdin" },
		{ "/proc/self/fd/1", TOOLBOX_ROOT "/dev/stdout" },
		{ "/proc/self/fd/2", TOOLBOX_ROOT "/dev/stderr" },
	};

	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (symlink(links[i][0], links[i][1]) < 0 && errno != EEXIST)
			return; /* few programs look there */
}

int toolbox_mount(const struct job *job, const char **verdict, char *why, size_t room)
{
	static const struct place cgroups = { "cgroup2", "/sys/fs/cgroup", "cgroup2", NULL };
	const struct job_line *line = job_next(job, NULL, "toolbox");

	if (!line)
		return 0;
	mkdir(TOOLBOX_ROOT, 0755);
	if (mount_disk(TOOLBOX_SERIAL, TOOLBOX_ROOT, "erofs", MS_RDONLY, verdict, why, room) < 0 ||
	    mount_place(&cgroups, verdict, why, room) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (mount_place(&places[i], verdict, why, room) < 0)
			return -1;
	link_descriptors();
	return job_get(line, "scratch") ? 0 : mount_place(&work, verdict, why, room);
}

int toolbox_mount_scratch(const struct job *job, const char **verdict, char *why, size_t room)
{
	const struct job_line *line = job_next(job, NULL, "toolbox");

	if (!line || !job_get(line, "scratch"))
		return 0;
	return mount_disk(TOOLBOX_SCRATCH_SERIAL, work.where, "ext4", MS_NOATIME, verdict, why, room);
}
