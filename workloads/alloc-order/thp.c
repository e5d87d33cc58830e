// SPDX-License-Identifier: GPL-2.0-only
/* Movable blocks as anonymous page faults with one size of huge page enabled. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest/procfs.h"
#include "workloads/alloc-order/method.h"

#define THP "/sys/kernel/mm/transparent_hugepage"
#define REGION_ALIGN (2u << 20)
#define TRIES 10

static size_t slot_bytes(const struct alloc_state *s)
{
	return (size_t)4096 << s->order;
}

static bool is_advised(unsigned int order)
{
	return order > ALLOC_COSTLY_ORDER;
}

static void size_file(const struct alloc_state *s, char *path, size_t room)
{
	snprintf(path, room, THP "/hugepages-%zukB/enabled", slot_bytes(s) >> 10);
}

static int check_kernel(const struct alloc_state *s)
{
	char path[128];

	size_file(s, path, sizeof(path));
	if (s->order == 0 || access(path, W_OK) == 0 ||
	    (s->order == 9 && access(THP "/enabled", W_OK) == 0))
		return 0;
	return task_fail(s->child, "unsupported", "this kernel lacks huge pages of %zu kB (%s)",
			 slot_bytes(s) >> 10, path);
}

/* Maps slots anew: nothing is left there, not even a page table, which would bar a huge page. */
static int map_slots(struct alloc_state *s, uint8_t *at, size_t bytes)
{
	if (mmap(at, bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		return task_fail(s->child, "workload-failed", "%s: cannot map: %s", s->who,
				 strerror(errno));
	if (s->order == 0)
		madvise(at, bytes, MADV_NOHUGEPAGE); /* not known where there are no huge pages */
	else if (is_advised(s->order) && madvise(at, bytes, MADV_HUGEPAGE) < 0)
		return task_fail(s->child, "unsupported", "MADV_HUGEPAGE: %s", strerror(errno));
	return 0;
}

static int thp_prepare(struct alloc_state *s)
{
	size_t bytes = (s->hold ? s->count : 1) * slot_bytes(s);
	uint8_t *at;

	if (check_kernel(s) < 0 || alloc_open_maps(s) < 0)
		return -1;
	at = mmap(NULL, bytes + REGION_ALIGN, PROT_NONE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return task_fail(s->child, "infra", "%s: address space: %s", s->who,
				 strerror(errno));
	s->region =
		(uint8_t *)(((uintptr_t)at + REGION_ALIGN - 1) & ~((uintptr_t)REGION_ALIGN - 1));
	return map_slots(s, s->region, bytes);
}

/* This size and no other: a fallback is to a base page. */
static int enable_only(const struct alloc_state *s, const char *when)
{
	char path[320], mine[128];
	DIR *d = opendir(THP);
	struct dirent *e;

	size_file(s, mine, sizeof(mine));
	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, "hugepages-", strlen("hugepages-")) != 0)
			continue;
		snprintf(path, sizeof(path), THP "/%s/enabled", e->d_name);
		if (access(path, W_OK) == 0)
			file_put(path, strcmp(path, mine) == 0 ? when : "never");
	}
	if (d)
		closedir(d);
	if (access(mine, F_OK) < 0 && file_put(THP "/enabled", when) < 0)
		return task_fail(s->child, "unsupported", THP "/enabled: %s", strerror(errno));
	return 0;
}

/* Where the kernel counts less than 512 MiB, defrag is "never" until somebody says otherwise. */
static int thp_begin(struct alloc_state *s)
{
	const char *when = is_advised(s->order) ? "madvise" : "always";

	if (s->order == 0)
		return 0;
	if (file_put(THP "/defrag", when) < 0)
		return task_fail(s->child, "unsupported", THP "/defrag: %s", strerror(errno));
	return enable_only(s, when);
}

static void thp_end(struct alloc_state *s)
{
	if (s->order)
		enable_only(s, "never");
}

static uint8_t *slot_of(const struct alloc_state *s, uint64_t i)
{
	return s->region + (s->hold ? i : 0) * slot_bytes(s);
}

static enum alloc_outcome thp_take(struct alloc_state *s, uint64_t i)
{
	uint8_t *at = slot_of(s, i);
	int whole = -1;

	/* One that was swapped out before it was looked at tells nothing: it is asked for again. */
	for (int tries = 0; whole < 0 && tries < TRIES; tries++) {
		uint64_t start;

		if (tries && map_slots(s, at, slot_bytes(s)) < 0)
			return ALLOC_BROKEN;
		start = mono_ns();
		*(volatile uint8_t *)at = 1;
		s->ns = mono_ns() - start;
		whole = alloc_check_block(s, at);
		if (whole < 0 && errno != ENODATA)
			break;
	}
	if (whole < 0)
		return (enum alloc_outcome)task_fail(s->child, "workload-failed",
						     "%s: pages of a fault: %s", s->who,
						     strerror(errno));
	return whole ? ALLOC_MET : ALLOC_FALLBACK;
}

static int thp_give(struct alloc_state *s, uint64_t i)
{
	return map_slots(s, slot_of(s, i), slot_bytes(s));
}

static const char *thp_how(unsigned int order)
{
	if (order == 0)
		return "page fault: GFP_HIGHUSER_MOVABLE";
	return is_advised(order) ? "page fault, advised: GFP_TRANSHUGE, then a base page" :
				   "page fault: GFP_TRANSHUGE|__GFP_NORETRY, then a base page";
}

const struct alloc_method alloc_thp = {
	.name = "thp",
	.movable = true,
	.orders = 0x3fd,
	.how = thp_how,
	.prepare = thp_prepare,
	.begin = thp_begin,
	.end = thp_end,
	.take = thp_take,
	.give = thp_give,
};
