/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_RELEASE_H
#define MMRIG_RELEASE_H
/*
 * Gives single pages back to the kernel in the order in which they are added, many with one system
 * call where the kernel can (process_madvise since 6.13), one with each where it cannot. What a call
 * did is not believed: the caller reads pagemap again (region_reread()).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/*
 * The kernel copies them to one allocation: 1024 (UIO_MAXIOV) made it ask for a block of order 2 in
 * memory filled to the brim, which ended in an OOM kill. 128 fit in a slab of single pages.
 */
#define RELEASE_BATCH 128

struct release {
	struct iovec iov[RELEASE_BATCH];
	size_t n;
	bool single; /* the kernel takes no DONTNEED through process_madvise */
};

/* Both 0 or -1 with errno. What was added is given back by the time release_flush() returns. */
int release_add(struct release *b, uint8_t *page);
int release_flush(struct release *b);

#endif
