// SPDX-License-Identifier: GPL-2.0-only
#include "workloads/thpscale/round.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/workload.h"

#define FAULTS_A_PAUSE 16
#define PAGEMAP_PFN ((1ULL << 55) - 1)

size_t round_slice(uint64_t map, unsigned int threads)
{
	return map / threads / HUGE_BYTES * HUGE_BYTES;
}

size_t round_slots(const struct round *r)
{
	return r->slice / HUGE_BYTES / 2;
}

static size_t file_bytes(size_t slice)
{
	return slice / 4 / 4096 * 4096;
}

uint64_t round_steps(uint64_t map, unsigned int threads)
{
	size_t slice = round_slice(map, threads);

	return threads * (slice / HUGE_BYTES + (file_bytes(slice) + HUGE_BYTES - 1) / HUGE_BYTES +
			  slice / HUGE_BYTES / 2);
}

static int fail(struct round_thread *t, const char *what)
{
	const char *none = NULL;

	if (atomic_compare_exchange_strong(&t->round->failed, &none, what))
		atomic_store(&t->round->error, errno);
	return -1;
}

static void advance(struct round_thread *t)
{
	atomic_fetch_add_explicit(&t->round->child->shared->done, 1, memory_order_relaxed);
}

/* NULL on failure. */
static void *map(struct round_thread *t, int which, size_t bytes, int fd, off_t at)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
	void *p = mmap(NULL, bytes, fd < 0 ? PROT_READ | PROT_WRITE : PROT_READ, flags, fd, at);

	if (p == MAP_FAILED)
		return NULL;
	t->map[which] = p;
	t->mapped[which] = bytes;
	return p;
}

/* The first huge page's range within. */
static uint8_t *align(void *p)
{
	return (uint8_t *)(((uintptr_t)p + HUGE_BYTES - 1) & ~((uintptr_t)HUGE_BYTES - 1));
}

static int fill_anon(struct round_thread *t)
{
	size_t slice = t->round->slice;
	void *p = map(t, 0, slice + HUGE_BYTES, -1, 0);
	uint64_t start = mono_ns();

	if (!p)
		return fail(t, "cannot map anonymous memory");
	t->anon = align(p);
	if (madvise(t->anon, slice, t->round->fill_advice) < 0)
		return fail(t, "madvise() of anonymous memory");
	for (size_t at = 0; at < slice; at += 4096) {
		*(volatile uint64_t *)(t->anon + at) = at + 1;
		if (at % HUGE_BYTES == 0)
			advance(t);
	}
	t->anon_ns = mono_ns() - start;
	return 0;
}

static int punch_holes(struct round_thread *t)
{
	for (size_t at = 0; at < t->round->slice; at += HUGE_BYTES)
		if (munmap(t->anon + at, HUGE_BYTES / 2) < 0)
			return fail(t, "cannot give memory back");
	return 0;
}

static int read_file(struct round_thread *t)
{
	size_t bytes = file_bytes(t->round->slice);
	const volatile uint8_t *p = map(t, 1, bytes, t->round->file_fd, (off_t)(bytes * t->index));
	uint64_t start = mono_ns();

	if (!p)
		return fail(t, "cannot map the file");
	for (size_t at = 0; at < bytes; at += 4096) {
		(void)p[at];
		if (at % HUGE_BYTES == 0)
			advance(t);
	}
	t->file_ns = mono_ns() - start;
	return 0;
}

static int map_target(struct round_thread *t)
{
	size_t bytes = round_slots(t->round) * HUGE_BYTES;
	void *p = map(t, 2, bytes + HUGE_BYTES, -1, 0);

	if (!p)
		return fail(t, "cannot map anonymous memory");
	t->target = align(p);
	if (t->round->advise && madvise(t->target, bytes, MADV_HUGEPAGE) < 0)
		return fail(t, "MADV_HUGEPAGE");
	return 0;
}

/* The flags of the pages that lie side by side: those of scattered ones are not worth a read. */
static int look_up(struct round_thread *t, const uint8_t *at)
{
	const struct round *r = t->round;
	ssize_t want = sizeof(t->pagemap);
	size_t run = 0;

	if (pread(r->pagemap_fd, t->pagemap, sizeof(t->pagemap), (off_t)((uintptr_t)at / 4096 * 8)) !=
	    want)
		return -1;
	while (run < HUGE_PAGES && t->pagemap[run] >> 63 &&
	       (t->pagemap[run] & PAGEMAP_PFN) == (t->pagemap[0] & PAGEMAP_PFN) + run)
		run++;
	memset(t->flags, 0, sizeof(t->flags));
	want = (ssize_t)(run * 8);
	if (run > 1 && pread(r->kpageflags_fd, t->flags, run * 8,
			     (off_t)((t->pagemap[0] & PAGEMAP_PFN) * 8)) != want)
		return -1;
	return 0;
}

static bool is_local(const uint8_t *at, unsigned int cpu_node)
{
	int node = -1;

	return syscall(__NR_get_mempolicy, &node, NULL, 0ul, at, MPOL_F_NODE | MPOL_F_ADDR) == 0 &&
	       node == (int)cpu_node;
}

static int fault_one(struct round_thread *t, size_t i)
{
	uint8_t *at = t->target + i * HUGE_BYTES;
	struct fault *f = &t->fault[i];
	unsigned int cpu, node = 0;
	uint64_t start;

	getcpu(&cpu, &node);
	start = mono_ns();
	*(volatile uint8_t *)at = 1;
	f->first_ns = mono_ns() - start;
	if (look_up(t, at) < 0)
		return fail(t, "pages of a fault cannot be looked up");
	f->class = (uint8_t)fault_class_of(fault_order(t->pagemap, t->flags));
	f->local = t->round->nodes && is_local(at, node);
	start = mono_ns();
	memset(at, 1, HUGE_BYTES);
	f->whole_ns = f->first_ns + (mono_ns() - start);
	advance(t);
	return 0;
}

static void *thread_main(void *arg)
{
	struct round_thread *t = arg;
	struct round *r = t->round;

	if (fill_anon(t) == 0 && punch_holes(t) == 0 && map_target(t) == 0)
		read_file(t);
	pthread_barrier_wait(&r->barrier);
	for (size_t i = 0; i < round_slots(r) && !atomic_load(&r->failed); i++) {
		if (i % FAULTS_A_PAUSE == 0)
			workload_pause(&t->random);
		if (fault_one(t, i) < 0)
			break;
	}
	return NULL;
}

static int start_thread(struct round *r, unsigned int i)
{
	struct round_thread *t = &r->thread[i];
	pthread_attr_t attr;
	int ret;

	t->round = r;
	t->index = i;
	t->random = r->seed + ((uint64_t)r->threads << 32) + i;
	memset(t->map, 0, sizeof(t->map));
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, t->stack, THREAD_STACK);
	ret = pthread_create(&t->id, &attr, thread_main, t);
	pthread_attr_destroy(&attr);
	return ret;
}

static void give_back(struct round *r)
{
	for (unsigned int i = 0; i < r->threads; i++)
		for (int k = 0; k < 3; k++)
			if (r->thread[i].map[k])
				munmap(r->thread[i].map[k], r->thread[i].mapped[k]);
}

int round_run(struct round *r)
{
	int error;

	atomic_store(&r->failed, NULL);
	pthread_barrier_init(&r->barrier, NULL, r->threads);
	for (unsigned int i = 0; i < r->threads; i++) {
		/* Those that were started wait for this one at the barrier, for ever. */
		error = start_thread(r, i);
		if (error)
			return task_fail(r->child, "workload-failed", "thpscale: thread %u of %u: %s", i + 1,
					 r->threads, strerror(error));
	}
	for (unsigned int i = 0; i < r->threads; i++)
		pthread_join(r->thread[i].id, NULL);
	pthread_barrier_destroy(&r->barrier);
	give_back(r);
	if (!atomic_load(&r->failed))
		return 0;
	return task_fail(r->child, "workload-failed", "thpscale: %u thread%s: %s: %s", r->threads,
			 r->threads == 1 ? "" : "s", atomic_load(&r->failed),
			 strerror(atomic_load(&r->error)));
}
