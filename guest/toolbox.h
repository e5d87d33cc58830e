/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_TOOLBOX_H
#define MMRIG_TOOLBOX_H
/*
 * Programs of Debian in the guest. A workload that wants them names packages in its struct workload;
 * the host makes a read-only disk image of those and what they depend on (harness/image/toolbox.h),
 * and only guests of such a workload get the disk. PID 1 mounts it before the layout. Nothing of it
 * is read then but what the mount needs: programs come page by page, when they run.
 *
 * To a program of the toolbox (guest/program.h) the image is /. It can write to /tmp, a tmpfs that
 * may take a quarter of memory, and to /work: a tmpfs too (half of memory), or an ext4 filesystem on
 * a disk of its own where the workload asks for a scratch disk. That disk is there, and is mounted,
 * from the settle phase on: before, a template that forks share must not have written to it. /proc,
 * /sys and /dev are the guest's. The agent sees all this below TOOLBOX_ROOT.
 */
#include <stdbool.h>
#include <stddef.h>

#define TOOLBOX_ROOT "/toolbox"
#define TOOLBOX_TMP "/tmp"
#define TOOLBOX_WORK "/work"
/* By these serial numbers the guest knows its disks. */
#define TOOLBOX_SERIAL "toolbox"
#define TOOLBOX_SCRATCH_SERIAL "scratch"

/* What an image is made of: a const struct beside the workload. Lists are NULL-terminated. */
struct toolbox_spec {
	/*
	 * Debian packages of stable. What they depend on comes along, what they recommend does not; none of
	 * their scripts is run, so links that those would make (alternatives) stand in links[]. No package is
	 * there of itself: who wants a shell names dash, coreutils and so on.
	 */
	const char *const *packages;
	/* Symbolic links, "PATH TARGET": "usr/bin/awk mawk". May be NULL. */
	const char *const *links;
	/*
	 * tar archives in the packages ("usr/src/linux-source-6.12.tar.xz") that are unpacked in the folder
	 * in which they lie, and dropped. May be NULL.
	 */
	const char *const *unpack;
	/*
	 * Programs that the host builds instead, packages NULL then: the mm selftests that the workload's
	 * parameter `tests` names, of the kernel tree `source`, in SELFTESTS_DIR of workloads/kselftest-mm.
	 */
	bool selftests;
};

struct job;

/*
 * The job has the line `toolbox` where the guest has the disk, with scratch=BYTES where it has the second.
 *
 * Guest, PID 1: mounts the image where the job has a `toolbox` line. 0, or -1 with a verdict
 * ("unsupported", "infra") and why.
 */
int toolbox_mount(const struct job *job, const char **verdict, char *why, size_t room);
/* The same for the scratch disk; at the start of the settle phase. */
int toolbox_mount_scratch(const struct job *job, const char **verdict, char *why, size_t room);

#endif
