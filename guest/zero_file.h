/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_ZERO_FILE_H
#define MMRIG_ZERO_FILE_H
/*
 * Page cache without a disk. Page cache of ramfs and tmpfs cannot be dropped, a loop device on tmpfs
 * holds every page twice, and that of a block device is not movable. A file system in user space has
 * none of this: its only file is the mount's root, reads as zeros, and a thread or process serves it.
 *
 * Who reads and who serves should not die together: a read that waits for an answer cannot be
 * killed before the last descriptor of the device is closed, and it holds one itself where they
 * are one process. Either that process is not for the OOM killer, or another one serves.
 */
#include <stdint.h>

#define ZERO_FILE_BYTES (1ULL << 40)
#define ZERO_FILE_READ_MAX (128u << 10) /* a request asks for no more than that */

/* Mounts it on a file, which is made. The device, for zero_file_serve(), or -1 with errno. */
int zero_file_mount(const char *path);
/*
 * Opens it for reading, while it is served. Its size must have been asked for once: a mapping alone
 * does not ask, and of a file of 0 bytes every page is SIGBUS. -1 with errno.
 */
int zero_file_open(const char *path);
/* Answers until the file is unmounted. Once a process. */
void zero_file_serve(int device);

/*
 * All of it with a process that serves, which the OOM killer spares and which has none of the
 * caller's files: an open file, or -1 with errno.
 */
int zero_file_start(const char *path);

#endif
