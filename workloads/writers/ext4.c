// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/writers/ext4.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define BLOCK 4096u
#define GROUP_BLOCKS 32768u
#define GROUP_INODES 128u
#define INODE 256u
#define TABLE_BLOCKS (GROUP_INODES * INODE / BLOCK)
#define ROOT_INODE 2u
#define LOST_INODE 11u /* the first that is not reserved: lost+found */
#define DIRECTORY 2	/* file type of an entry */

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, v);
	put16(p + 2, v >> 16);
}

static int write_block(int fd, uint64_t block, const uint8_t *data)
{
	ssize_t n = pwrite(fd, data, BLOCK, (off_t)(block * BLOCK));

	if (n >= 0 && n != BLOCK)
		errno = ENOSPC;
	return n == BLOCK ? 0 : -1;
}

/* Superblock and descriptors stand before the rest of group 0. */
static uint32_t head_of(uint32_t group)
{
	return group ? 0 : 2;
}

/* Blocks in use: two bit maps and the inodes; in group 0 the head, and the two directories. */
static uint32_t used_of(uint32_t group)
{
	return head_of(group) + 2 + TABLE_BLOCKS + (group ? 0 : 2);
}

static uint32_t dir_block(uint32_t nth)
{
	return head_of(0) + 2 + TABLE_BLOCKS + nth;
}

static uint32_t inodes_of(uint32_t group)
{
	return group ? 0 : LOST_INODE;
}

static int write_super(int fd, uint32_t groups)
{
	uint8_t block[BLOCK] = { 0 }, *s = block + 1024;
	uint32_t used = 0;

	for (uint32_t g = 0; g < groups; g++)
		used += used_of(g);
	put32(s, groups * GROUP_INODES);
	put32(s + 0x4, groups * GROUP_BLOCKS);
	put32(s + 0xc, groups * GROUP_BLOCKS - used);
	put32(s + 0x10, groups * GROUP_INODES - LOST_INODE);
	put32(s + 0x18, 2); /* 1024 << 2 bytes a block, and a cluster */
	put32(s + 0x1c, 2);
	put32(s + 0x20, GROUP_BLOCKS);
	put32(s + 0x24, GROUP_BLOCKS);
	put32(s + 0x28, GROUP_INODES);
	put16(s + 0x36, 0xffff); /* no check after so many mounts */
	put16(s + 0x38, 0xef53);
	put16(s + 0x3a, 1); /* clean */
	put16(s + 0x3c, 1); /* on errors: go on */
	put32(s + 0x4c, 1); /* revision with features */
	put32(s + 0x54, LOST_INODE);
	put16(s + 0x58, INODE);
	put32(s + 0x5c, 0x200);	     /* sparse_super2 */
	put32(s + 0x60, 0x2 | 0x40); /* filetype, extents */
	put32(s + 0x64, 0x1 | 0x2);  /* sparse_super, large_file */
	memset(s + 0x68, 0x4d, 16);  /* UUID */
	return write_block(fd, 0, block);
}

static int write_descriptors(int fd, uint32_t groups)
{
	uint8_t block[BLOCK] = { 0 };

	for (uint32_t g = 0; g < groups; g++) {
		uint8_t *d = block + 32 * g;
		uint32_t first = g * GROUP_BLOCKS + head_of(g);

		put32(d, first);
		put32(d + 0x4, first + 1);
		put32(d + 0x8, first + 2);
		put16(d + 0xc, GROUP_BLOCKS - used_of(g));
		put16(d + 0xe, GROUP_INODES - inodes_of(g));
		put16(d + 0x10, g ? 0 : 2); /* directories */
	}
	return write_block(fd, 1, block);
}

static void set_bits(uint8_t *map, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		map[i / 8] |= (uint8_t)(1u << i % 8);
}

static int write_maps(int fd, uint32_t group)
{
	uint64_t at = (uint64_t)group * GROUP_BLOCKS + head_of(group);
	uint8_t blocks[BLOCK] = { 0 }, inodes[BLOCK] = { 0 };

	set_bits(blocks, 0, used_of(group));
	set_bits(inodes, 0, inodes_of(group));
	set_bits(inodes, GROUP_INODES, 8 * BLOCK);
	return write_block(fd, at, blocks) < 0 || write_block(fd, at + 1, inodes) < 0 ? -1 : 0;
}

static void put_inode(uint8_t *table, uint32_t number, uint32_t mode, uint32_t links, uint32_t block)
{
	uint8_t *i = table + (number - 1) * INODE;

	put16(i, mode);
	put32(i + 0x4, BLOCK);
	put16(i + 0x1a, links);
	put32(i + 0x1c, BLOCK / 512);
	put32(i + 0x28, block);
}

static int write_inodes(int fd)
{
	uint8_t block[BLOCK] = { 0 };

	put_inode(block, ROOT_INODE, 040755, 3, dir_block(0));
	put_inode(block, LOST_INODE, 040700, 2, dir_block(1));
	return write_block(fd, head_of(0) + 2, block);
}

/* The last entry takes the rest of the block. */
static uint8_t *put_entry(uint8_t *at, uint32_t inode, const char *name, uint32_t length)
{
	put32(at, inode);
	put16(at + 4, length);
	at[6] = (uint8_t)strlen(name);
	at[7] = DIRECTORY;
	memcpy(at + 8, name, strlen(name));
	return at + length;
}

static int write_directories(int fd)
{
	uint8_t root[BLOCK] = { 0 }, lost[BLOCK] = { 0 }, *p;

	p = put_entry(root, ROOT_INODE, ".", 12);
	p = put_entry(p, ROOT_INODE, "..", 12);
	put_entry(p, LOST_INODE, "lost+found", BLOCK - 24);
	p = put_entry(lost, LOST_INODE, ".", 12);
	put_entry(p, ROOT_INODE, "..", BLOCK - 12);
	return write_block(fd, dir_block(0), root) < 0 || write_block(fd, dir_block(1), lost) < 0 ?
		       -1 :
		       0;
}

int ext4_format(int fd, uint64_t bytes)
{
	uint32_t groups = (uint32_t)(bytes / EXT4_GROUP_BYTES);

	if (bytes % EXT4_GROUP_BYTES || !groups || bytes / EXT4_GROUP_BYTES > EXT4_GROUPS_MAX) {
		errno = EINVAL;
		return -1;
	}
	for (uint32_t g = 0; g < groups; g++)
		if (write_maps(fd, g) < 0)
			return -1;
	if (write_inodes(fd) < 0 || write_directories(fd) < 0 || write_descriptors(fd, groups) < 0)
		return -1;
	return write_super(fd, groups);
}
