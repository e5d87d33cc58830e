// SPDX-License-Identifier: GPL-2.0-only
/* Blocks of order 9 as pages of the hugetlb pool, which grows one by one. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guest/procfs.h"
#include "workloads/alloc-order/method.h"

#define POOL "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"

static int set_pool(struct alloc_state *s, int64_t pages)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64, pages);
	if (file_put(POOL, text) == 0)
		return 0;
	return task_fail(s->child, "workload-failed", "%s: %s", POOL, strerror(errno));
}

static int hugetlb_prepare(struct alloc_state *s)
{
	if (access(POOL, W_OK) == 0)
		return 0;
	return task_fail(s->child, "unsupported", "this kernel lacks %s (CONFIG_HUGETLBFS)", POOL);
}

static enum alloc_outcome hugetlb_take(struct alloc_state *s, uint64_t i)
{
	int64_t before = file_number(POOL, 0);
	uint64_t start = mono_ns();
	int ret = set_pool(s, before + 1);

	s->ns = mono_ns() - start;
	if (ret < 0)
		return ALLOC_BROKEN;
	return file_number(POOL, 0) > before ? ALLOC_MET : ALLOC_FAILED;
}

static int hugetlb_give(struct alloc_state *s, uint64_t i)
{
	return set_pool(s, file_number(POOL, 1) - 1);
}

static const char *hugetlb_how(unsigned int order)
{
	return "hugetlb pool, one up: GFP_HIGHUSER_MOVABLE|__GFP_RETRY_MAYFAIL";
}

const struct alloc_method alloc_hugetlb = {
	.name = "hugetlb",
	.movable = true,
	.orders = 1 << 9,
	.how = hugetlb_how,
	.prepare = hugetlb_prepare,
	.take = hugetlb_take,
	.give = hugetlb_give,
};
