// SPDX-License-Identifier: GPL-2.0-only
/* Fills that live in the kernel: shmem, slab, hugetlb. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/fill.h"

/* ---- shmem ---- */

static int64_t take_shmem(struct layout *l, uint64_t pages)
{
	static int fd = -1;
	static uint64_t size;

	if (fd < 0)
		fd = memfd_create("fill", MFD_CLOEXEC);
	if (fd < 0 || fallocate(fd, 0, (off_t)size * 4096, (off_t)pages * 4096) < 0)
		return -1;
	size += pages;
	return (int64_t)pages;
}

const struct fill_kind fill_shmem = { .name = "shmem", .how = "fallocate on a memfd",
				      .take = take_shmem };

/* ---- slab ---- */

#define SLAB_FOLDER "/fill-slab"
#define FILES_A_PAGE 4 /* an inode of tmpfs is some 700 bytes, a dentry 192 */
#define FILES_A_FOLDER 10000

static int open_folder(unsigned long number)
{
	char path[64];

	if (!number && (mkdir(SLAB_FOLDER, 0755) < 0 ||
			mount("tmpfs", SLAB_FOLDER, "tmpfs", 0, "size=0,nr_inodes=0") < 0))
		return -1;
	snprintf(path, sizeof(path), SLAB_FOLDER "/%lu", number);
	if (mkdir(path, 0755) < 0)
		return -1;
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int64_t take_slab(struct layout *l, uint64_t pages)
{
	static unsigned long files;
	static int folder = -1;
	char name[32];

	for (uint64_t i = 0; i < pages * FILES_A_PAGE; i++, files++) {
		if (files % FILES_A_FOLDER == 0) {
			if (folder >= 0)
				close(folder);
			folder = open_folder(files / FILES_A_FOLDER);
		}
		snprintf(name, sizeof(name), "f%lu", files);
		if (folder < 0 || mknodat(folder, name, S_IFREG | 0644, 0) < 0)
			return -1;
		if (files % 256 == 0) /* slow enough to be taken for a stall */
			task_progress(l->child, files, files + 1);
	}
	return (int64_t)pages;
}

const struct fill_kind fill_slab = { .name = "slab", .how = "empty files on tmpfs", .take = take_slab };

/* ---- hugetlb ---- */

#define POOL "/proc/sys/vm/nr_hugepages"

/* The kernel adds what it can get, and compacts for the rest: hence one at a time. */
static int64_t take_hugetlb(struct layout *l, uint64_t pages)
{
	int64_t had = file_number(POOL, -1);
	char text[32];

	if (had < 0) {
		errno = ENOSYS;
		return -1;
	}
	snprintf(text, sizeof(text), "%lld", (long long)had + 1);
	if (file_put(POOL, text) < 0)
		return -1;
	return (file_number(POOL, had) - had) * l->block_pages;
}

const struct fill_kind fill_hugetlb = { .name = "hugetlb",
					.how = "vm.nr_hugepages",
					.blocks = true,
					.take = take_hugetlb };
