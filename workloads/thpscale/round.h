/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_THPSCALE_ROUND_H
#define MMRIG_THPSCALE_ROUND_H
/*
 * One number of threads. With S = map / threads, in whole huge pages, each thread
 *	maps S of anonymous memory and writes to every page of it;
 *	gives back the first half of each huge page's range;
 *	maps S / 4 of a file and reads every page of it;
 *	waits for the others;
 *	faults S / 2 of new memory, a huge page's range at a time: the first write is timed, then what the
 *	kernel gave is looked up, then the rest of the range is written and timed too.
 * All of it is held until the last thread is done.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/task.h"

#define THREADS_MAX 32
#define THREAD_COUNTS_MAX 9
#define THREAD_STACK (32u << 10)
/* x86; other sizes are refused when the workload starts. */
#define HUGE_PAGES 512u
#define HUGE_BYTES (HUGE_PAGES * 4096u)
/* Of which a thread faults one huge page. */
#define THREAD_MAP_LEAST (2 * HUGE_BYTES)

/*
 * mmtests' "large stride": 1, 3, 5, 7 and `most` up to 8 threads; 1, 3, 5, 7, then 12, 18, 24, 30
 * and `most` above. How many.
 */
size_t thread_counts(unsigned int most, unsigned int counts[THREAD_COUNTS_MAX]);

enum fault_class {
	FAULT_BASE,
	FAULT_MTHP, /* more than one page, less than a huge page */
	FAULT_HUGE,
	FAULT_UNSEEN, /* the page was gone before it could be looked up */
	FAULT_CLASSES,
};

struct fault {
	uint64_t first_ns; /* the first write */
	uint64_t whole_ns; /* and those to the rest of the range */
	uint8_t class;
	bool local; /* of the node of the CPU; known where there are nodes */
};

/*
 * What one fault gave, by what pagemap says of the range right after it, and kpageflags of the
 * pages from the first on that lie side by side: the order of the largest block, -1 for unseen.
 */
int fault_order(const uint64_t pagemap[HUGE_PAGES], const uint64_t flags[HUGE_PAGES]);
enum fault_class fault_class_of(int order);

struct round;

struct round_thread {
	struct round *round;
	unsigned int index;
	pthread_t id;
	void *stack;
	uint8_t *anon, *target; /* aligned, within what is mapped */
	void *map[3];
	size_t mapped[3];
	uint64_t random;
	uint64_t anon_ns, file_ns;
	struct fault *fault; /* slots(round) of them */
	uint64_t pagemap[HUGE_PAGES], flags[HUGE_PAGES];
};

struct round {
	/* The same for all rounds. */
	struct task_child *child;
	struct round_thread *thread; /* THREADS_MAX */
	int file_fd, pagemap_fd, kpageflags_fd;
	bool advise;	 /* MADV_HUGEPAGE for what is faulted */
	int fill_advice; /* madvise() of the first mapping */
	bool nodes;		  /* more than one */
	uint64_t seed;
	/* Of this one. */
	unsigned int threads;
	size_t slice; /* bytes */
	pthread_barrier_t barrier;
	/* The first failure: what, and errno. */
	_Atomic(const char *) failed;
	_Atomic int error;
};

size_t round_slice(uint64_t map, unsigned int threads);
/* Faults of a thread. */
size_t round_slots(const struct round *r);
/* What task_progress() counts of a round with these many threads. */
uint64_t round_steps(uint64_t map, unsigned int threads);
/*
 * Runs one; threads, slice and each thread's stack and fault are set. 0, or -1 after
 * task_fail(). Gives back all that was mapped.
 */
int round_run(struct round *r);

#endif
