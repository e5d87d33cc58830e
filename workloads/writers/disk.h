/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_WRITERS_DISK_H
#define MMRIG_WRITERS_DISK_H
/*
 * A file system that is written back, in a guest without a disk: ext4 on a zram device of its own,
 * beside one for swap. What is written there should be pages of one word repeated: zram keeps
 * such a page as its word, so that the device takes no memory but 16 bytes a page.
 */
#include <stddef.h>
#include <stdint.h>

/* Mounted at path, bytes rounded up to whole groups. 0, or -1 with the reason. */
int disk_mount(const char *path, uint64_t bytes, char *why, size_t room);

#endif
