// SPDX-License-Identifier: GPL-2.0-only
#include "guest/release.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PIDFD_SELF
#define PIDFD_SELF -10000
#endif

/*
 * Of the pieces from i on so many bytes are done: the first that is not, cut to its rest. One call
 * takes 2 GiB less a page at the most, and may end within a piece.
 */
static size_t done(struct release *b, size_t i, size_t bytes)
{
	for (; i < b->n && bytes >= b->iov[i].iov_len; i++)
		bytes -= b->iov[i].iov_len;
	if (i < b->n) {
		b->iov[i].iov_base = (uint8_t *)b->iov[i].iov_base + bytes;
		b->iov[i].iov_len -= bytes;
	}
	return i;
}

int release_flush(struct release *b)
{
	size_t i = 0;

	while (!b->single && i < b->n) {
		long bytes = syscall(__NR_process_madvise, PIDFD_SELF, b->iov + i, b->n - i,
				     MADV_DONTNEED, 0);

		if (bytes <= 0) {
			b->single = true;
			break;
		}
		i = done(b, i, (size_t)bytes);
	}
	for (; i < b->n; i++)
		if (madvise(b->iov[i].iov_base, b->iov[i].iov_len, MADV_DONTNEED) < 0)
			return -1;
	b->n = 0;
	return 0;
}

int release_add(struct release *b, uint8_t *page)
{
	struct iovec *last = b->n ? &b->iov[b->n - 1] : NULL;

	if (last && (uint8_t *)last->iov_base + last->iov_len == page) {
		last->iov_len += 4096;
		return 0;
	}
	if (b->n == RELEASE_BATCH && release_flush(b) < 0)
		return -1;
	b->iov[b->n++] = (struct iovec){ page, 4096 };
	return 0;
}
