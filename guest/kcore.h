/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_KCORE_H
#define MMRIG_KCORE_H
/*
 * What stands in a page frame, by its pfn: /proc/kcore shows all RAM as one ELF core. Whole pages of
 * 4 KiB; only for root, and not in kernels that are locked down or built without it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define KCORE_RANGES_MAX 128

struct kcore {
	int fd;
	size_t n;
	struct kcore_range {
		uint64_t first, end; /* pfns */
		off_t at;	     /* of the first, in the file */
	} range[KCORE_RANGES_MAX];
};

/*
 * Reads where RAM stands in the file. 0, or -1 with errno (ENOEXEC: not a core of 64 bits, or one that
 * says of no segment where in memory it stands). The file stays open; kcore_close() is the caller's.
 */
int kcore_open(struct kcore *k, const char *path);
void kcore_close(struct kcore *k);
/* The first n bytes of a page frame; false: it is not RAM, or cannot be read. */
bool kcore_read(const struct kcore *k, uint64_t pfn, void *buf, size_t n);

/* One segment of the file. */
struct kcore_segment {
	bool load, note;
	uint64_t vaddr, paddr, bytes, at; /* paddr: UINT64_MAX but of RAM and of the kernel's image */
};
/* For whoever looks for more than RAM: how many there are (-1: not a core of 64 bits), and one of them. */
int kcore_segments(int fd);
int kcore_segment(int fd, int i, struct kcore_segment *s); /* 0, or -1: cut off */

#endif
