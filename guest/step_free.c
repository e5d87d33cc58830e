// SPDX-License-Identifier: GPL-2.0-only
/* free: gives back the pages of the fill that a predicate selects. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guest/layout.h"

#define CHUNK 8192
#define BATCH 1024 /* UIO_MAXIOV */

#ifndef PIDFD_SELF
#define PIDFD_SELF -10000
#endif

struct batch {
	struct iovec iov[BATCH];
	size_t n;
	bool single; /* the kernel takes no DONTNEED through process_madvise (before 6.13) */
};

/*
 * Of the pieces from i on so many bytes are done: the first that is not, cut to its rest. One call
 * takes 2 GiB less a page at the most, and may end within a piece.
 */
static size_t done(struct batch *b, size_t i, size_t bytes)
{
	for (; i < b->n && bytes >= b->iov[i].iov_len; i++)
		bytes -= b->iov[i].iov_len;
	if (i < b->n) {
		b->iov[i].iov_base = (uint8_t *)b->iov[i].iov_base + bytes;
		b->iov[i].iov_len -= bytes;
	}
	return i;
}

static int flush(struct batch *b)
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

static int add(struct batch *b, uint8_t *page)
{
	struct iovec *last = b->n ? &b->iov[b->n - 1] : NULL;

	if (last && (uint8_t *)last->iov_base + last->iov_len == page) {
		last->iov_len += 4096;
		return 0;
	}
	if (b->n == BATCH && flush(b) < 0)
		return -1;
	b->iov[b->n++] = (struct iovec){ page, 4096 };
	return 0;
}

/* Reads the pagemap again: how many pages are gone since, each marked as freed. */
static uint64_t reread(struct layout *l)
{
	static uint32_t before[CHUNK];
	uint64_t n = 0;

	for (size_t i = 0; i < l->filled_pages; i += CHUNK) {
		size_t m = l->filled_pages - i < CHUNK ? l->filled_pages - i : CHUNK;

		memcpy(before, l->pfn + i, m * sizeof(*before));
		if (layout_read_pfns(l, i, m) < 0)
			return 0;
		for (size_t k = 0; k < m; k++) {
			uint32_t pfn = LAYOUT_PFN(before[k]);

			if (pfn == LAYOUT_GONE || LAYOUT_PFN(l->pfn[i + k]) != LAYOUT_GONE)
				continue;
			l->freed[pfn / 8] |= (uint8_t)(1 << pfn % 8);
			n++;
		}
	}
	l->nfreed += n;
	return n;
}

/* How many pages were given back, by our own count; the caller reads pagemap again to prove it. */
static int64_t release(struct layout *l, const struct expr *where, struct step_report *r)
{
	static struct batch b;
	static uint8_t picked[CHUNK];
	int64_t n = 0;

	memset(&b, 0, sizeof(b));
	for (size_t i = 0; i < l->filled_pages; i += CHUNK) {
		size_t m = l->filled_pages - i < CHUNK ? l->filled_pages - i : CHUNK;

		if (layout_select(l, where, i, m, picked) < 0) {
			snprintf(r->why, sizeof(r->why), "where: division by zero");
			return -1;
		}
		for (size_t k = 0; k < m; k++) {
			if (!picked[k] || l->pfn[i + k] & LAYOUT_PINNED)
				continue;
			if (add(&b, l->region + (i + k) * 4096) < 0)
				goto failed;
			n++;
		}
		if (i % (64 * CHUNK) == 0)
			task_progress(l->child, i, l->filled_pages);
	}
	if (flush(&b) < 0)
		goto failed;
	snprintf(r->how, sizeof(r->how), "%s", b.single ? "madvise" : "process_madvise");
	return n;
failed:
	snprintf(r->why, sizeof(r->why), "MADV_DONTNEED: %s", strerror(errno));
	return -1;
}

static int free_run(struct layout *l, const struct job_line *line, struct step_report *r)
{
	struct expr *where = layout_where(l, line, r);
	uint64_t before, after, gone;
	int64_t asked;

	if (!where)
		return -1;
	zones_read(&l->zones, l->block_order);
	before = zones_free(&l->zones) + zones_pcp(&l->zones);
	asked = release(l, where, r);
	expr_free(where);
	if (asked < 0)
		return -1;
	if (asked == 0) {
		snprintf(r->why, sizeof(r->why), "where selects no page of the fill");
		return -1;
	}
	gone = reread(l);
	zones_read(&l->zones, l->block_order);
	after = zones_free(&l->zones) + zones_pcp(&l->zones);
	snprintf(r->asked, sizeof(r->asked), "\"pages\":%" PRId64, asked);
	snprintf(r->got, sizeof(r->got),
		 "\"pages\":%" PRIu64 ",\"free_pages_gained\":%" PRId64 ",\"pcp_pages\":%" PRIu64,
		 gone, (int64_t)(after - before), zones_pcp(&l->zones));
	r->ok = layout_within(l, (uint64_t)asked, gone);
	return 0;
}

static const struct param_spec free_params[] = {
	{ "where", PARAM_PREDICATE, NULL, "pages of the fill to free; pinned ones stay", 0, 0, NULL, NULL },
};
static const char *const free_moves[] = { "pgfree", NULL };

const struct layout_step step_free = {
	.name = "free",
	.summary = "give back the pages of the fill that a predicate selects",
	.params = free_params,
	.nparams = sizeof(free_params) / sizeof(free_params[0]),
	.moves = free_moves,
	.run = (void *)free_run,
};
