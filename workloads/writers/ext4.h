/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_WRITERS_EXT4_H
#define MMRIG_WRITERS_EXT4_H
/*
 * A small ext4: what the kernel needs to mount it and e2fsck to be content, nothing else. There is
 * no mke2fs in the guest. No journal, extents, blocks of 4 KiB, inodes of 256 bytes, 128 a group, no
 * copies of the superblock (sparse_super2). Formats of Documentation/filesystems/ext4/.
 */
#include <stdint.h>

#define EXT4_GROUP_BYTES (128ull << 20)
#define EXT4_GROUPS_MAX 128 /* whose descriptors fill one block */

/* Whole groups of zeros; bytes is a multiple of EXT4_GROUP_BYTES. 0, or -1 with errno. */
int ext4_format(int fd, uint64_t bytes);

#endif
