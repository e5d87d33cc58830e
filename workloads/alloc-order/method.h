/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_ALLOC_METHOD_H
#define MMRIG_ALLOC_METHOD_H
/*
 * Ways in which a program makes the kernel allocate one block of a given order, and how it tells
 * whether the kernel did. What the kernel asks of its page allocator (fs/pipe.c, net/packet/
 * af_packet.c, mm/memory.c, mm/huge_memory.c, mm/hugetlb.c):
 *
 * pipe		unmovable, orders 0 and 2 to 10. A pipe of 64 << order slots: an array of 40 bytes a
 *		slot, GFP_KERNEL|__GFP_NOWARN|__GFP_COMP|__GFP_ZERO, which has no second way: ENOMEM
 *		is the failure. Up to order 3 such a request does not fail: the allocator tries
 *		until the OOM killer ends somebody. Order 0: a page written into a pipe, GFP_HIGHUSER.
 *		Order 1 would come out of a slab of order 3.
 * packet	unmovable, orders 0 to 10. A ring of one block of an AF_PACKET socket:
 *		GFP_KERNEL|__GFP_NORETRY|__GFP_NOWARN|__GFP_COMP|__GFP_ZERO, then vzalloc(). The call
 *		also waits for RCU, which is expedited meanwhile; so the latency is the thread's CPU
 *		time, and what reclaim sleeps is not in it. No more than 20,000 are held at once.
 * thp		movable, orders 0 and 2 to 9. A page fault where only this size of huge page is
 *		enabled (2 to 8: since 6.8): GFP_TRANSHUGE, which compacts, then a base page. Advised
 *		by MADV_HUGEPAGE with defrag=madvise, but up to order 3, where that ends in the OOM
 *		killer too, unasked with defrag=always, which adds __GFP_NORETRY.
 * hugetlb	movable, order 9. nr_hugepages one up: __GFP_RETRY_MAYFAIL; failure is a pool that
 *		did not grow.
 *
 * Whether the order was met is read from pagemap and kpageflags where there is a second way: one
 * compound page, and not pages side by side, which vmalloc() may get by chance.
 *
 * Atomic requests are not here: those that a program can cause (packets on the loopback device) are
 * of one order only, come with others, and do not tell how they fared.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/task.h"

#define ALLOC_ORDER_MAX 10
/* Up to this order the kernel tries on and on, unless it is told not to. */
#define ALLOC_COSTLY_ORDER 3

enum alloc_outcome {
	ALLOC_BROKEN = -1, /* for another reason than memory, after task_fail() */
	ALLOC_MET,
	ALLOC_FALLBACK, /* the caller got its memory in smaller pieces */
	ALLOC_FAILED,
};

struct alloc_state {
	struct task_child *child;
	const char *who; /* the workload, for messages */
	unsigned int order;
	uint64_t count; /* of attempts */
	bool hold;	/* what was met is kept */

	uint64_t ns;  /* that the last attempt took */
	uint64_t pfn; /* what it got, where it was met and this can be told; else 0 */
	int *fd;     /* nfd pipes or sockets, opened by prepare() */
	size_t nfd;
	uint8_t *region; /* address space */
	int pagemap_fd, kpageflags_fd;
};

struct alloc_method {
	const char *name; /* as in `via` */
	bool movable;
	uint16_t orders; /* one bit each */
	/* What is asked of the page allocator, one line, for the result. */
	const char *(*how)(unsigned int order);
	/* All before the layout, so that attempts need little else. 0, or -1 after task_fail(). */
	int (*prepare)(struct alloc_state *s);
	/* Right before the first attempt and after the last; either may be NULL. */
	int (*begin)(struct alloc_state *s);
	void (*end)(struct alloc_state *s);
	/* Attempt i (below count); sets ns to what the request alone took. */
	enum alloc_outcome (*take)(struct alloc_state *s, uint64_t i);
	/* Gives back what attempt i got. 0, or -1 after task_fail(). */
	int (*give)(struct alloc_state *s, uint64_t i);
};

extern const struct alloc_method alloc_packet, alloc_pipe, alloc_thp, alloc_hugetlb;

/*
 * via "auto": of the unmovable ones the one whose failure is seen, and no OOM kill, so packet up to
 * order 3 and pipe above; thp of the movable ones. NULL where there is none, with the reason.
 */
const struct alloc_method *alloc_method_choose(const char *via, bool movable, unsigned int order,
					       char *why, size_t room);

/* ---- for the methods ---- */

/* Allocates s->fd for n files and allows the process so many. 0, or -1 after task_fail(). */
int alloc_reserve_files(struct alloc_state *s, size_t n);
/* Opens pagemap and kpageflags. 0, or -1 after task_fail(). */
int alloc_open_maps(struct alloc_state *s);

/* Of 1 << order entries of pagemap and of kpageflags: one compound page of this order? */
bool alloc_is_block(const uint64_t *pagemap, const uint64_t *flags, unsigned int order);
/* The same of what is mapped at this address, with all pages present: 1, 0, or -1 with errno. Sets pfn. */
int alloc_check_block(struct alloc_state *s, const void *at);

#endif
