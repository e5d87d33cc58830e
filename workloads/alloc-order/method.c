// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/alloc-order/method.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define PAGEMAP_PRESENT (1ULL << 63)
#define PAGEMAP_PFN ((1ULL << 55) - 1)
#define KPF_COMPOUND_HEAD (1ULL << 15)
#define KPF_COMPOUND_TAIL (1ULL << 16)

static const struct alloc_method *const methods[] = { &alloc_packet, &alloc_pipe, &alloc_thp,
						      &alloc_hugetlb };
#define METHODS (sizeof(methods) / sizeof(methods[0]))

static const struct alloc_method *method_find(const char *name)
{
	for (size_t i = 0; i < METHODS; i++)
		if (strcmp(methods[i]->name, name) == 0)
			return methods[i];
	return NULL;
}

const struct alloc_method *alloc_method_choose(const char *via, bool movable, unsigned int order,
					       char *why, size_t room)
{
	const struct alloc_method *m;

	if (strcmp(via, "auto") == 0)
		via = movable ? "thp" : order <= ALLOC_COSTLY_ORDER ? "packet" : "pipe";
	m = method_find(via);
	if (!m) {
		snprintf(why, room, "there is no way \"%s\"", via);
		return NULL;
	}
	if (m->movable == movable && order <= ALLOC_ORDER_MAX && m->orders >> order & 1)
		return m;
	if (m->movable != movable)
		snprintf(why, room, "%s makes %smovable requests", via, m->movable ? "" : "un");
	else
		snprintf(why, room, "%s makes no requests of order %u", via, order);
	return NULL;
}

int alloc_reserve_files(struct alloc_state *s, size_t n)
{
	/* The sampler's files, some 300, are open in this process too. */
	struct rlimit files = { n + 1024, n + 1024 };

	s->fd = malloc(n * sizeof(*s->fd));
	if (!s->fd)
		return task_fail(s->child, "infra", "no memory for %zu files", n);
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		return task_fail(s->child, "infra", "%zu open files: %s", n,
				 strerror(errno));
	s->nfd = n;
	return 0;
}

static uint64_t pagemap_words[1 << ALLOC_ORDER_MAX], flags_words[1 << ALLOC_ORDER_MAX];

int alloc_open_maps(struct alloc_state *s)
{
	s->pagemap_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	s->kpageflags_fd = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	if (s->pagemap_fd < 0 || s->kpageflags_fd < 0)
		return task_fail(s->child, "unsupported",
				 "this kernel lacks /proc/kpageflags (CONFIG_PROC_PAGE_MONITOR)");
	/* Faulted in now: once huge pages are on, such a fault would be counted with ours. */
	memset(pagemap_words, 0xff, sizeof(pagemap_words));
	memset(flags_words, 0xff, sizeof(flags_words));
	return 0;
}

bool alloc_is_block(const uint64_t *pagemap, const uint64_t *flags, unsigned int order)
{
	uint64_t first = pagemap[0] & PAGEMAP_PFN, pages = 1ULL << order;

	if (first % pages)
		return false;
	for (uint64_t i = 0; i < pages; i++) {
		uint64_t want = i ? KPF_COMPOUND_TAIL : KPF_COMPOUND_HEAD;

		if (!(pagemap[i] & PAGEMAP_PRESENT) || (pagemap[i] & PAGEMAP_PFN) != first + i)
			return false;
		if (order && !(flags[i] & want))
			return false;
	}
	return true;
}

/* A short read sets no errno. */
static int read_words(int fd, uint64_t *to, size_t n, uint64_t from)
{
	ssize_t got = pread(fd, to, n * 8, (off_t)(from * 8));

	if (got >= 0 && (size_t)got != n * 8)
		errno = ENODATA;
	return got >= 0 && (size_t)got == n * 8 ? 0 : -1;
}

int alloc_check_block(const struct alloc_state *s, const void *at)
{
	uint64_t *pagemap = pagemap_words, *flags = flags_words;
	size_t pages = (size_t)1 << s->order;

	if (read_words(s->pagemap_fd, pagemap, pages, (uintptr_t)at / 4096) < 0)
		return -1;
	if (!(pagemap[0] & PAGEMAP_PRESENT) || (pagemap[0] & PAGEMAP_PFN) == 0) {
		errno = ENODATA; /* no page, or one whose number we are not told */
		return -1;
	}
	/* The flags behind scattered pages are not worth a read: the last of them may be past RAM. */
	for (size_t i = 1; i < pages; i++)
		if ((pagemap[i] & PAGEMAP_PFN) != (pagemap[0] & PAGEMAP_PFN) + i)
			return 0;
	if (read_words(s->kpageflags_fd, flags, pages, pagemap[0] & PAGEMAP_PFN) < 0)
		return -1;
	return alloc_is_block(pagemap, flags, s->order);
}
