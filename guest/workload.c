// SPDX-License-Identifier: GPL-2.0-only
#include "guest/workload.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PAUSE_NS 50000

static void tell(struct workload_run *w, int type, const char *metrics, const char *extra)
{
	task_send(w->child, type, "{\"metrics\":{%s}%s%s}", metrics, extra ? "," : "",
		  extra ? extra : "");
}

void workload_result(struct workload_run *w, const char *metrics, const char *extra)
{
	tell(w, WIRE_RESULT, metrics, extra);
}

void workload_partial(struct workload_run *w, const char *metrics, const char *extra)
{
	tell(w, WIRE_PARTIAL, metrics, extra);
}

void *workload_room(struct workload_run *w, size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED) {
		task_fail(w->child, "infra", "no address space for the workload: %s", strerror(errno));
		return NULL;
	}
	madvise(at, bytes, MADV_NOHUGEPAGE); /* not known where there are no huge pages */
	return at;
}

/* splitmix64 (Vigna 2015). */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

void workload_pause(uint64_t *random)
{
	struct timespec pause = { 0, (long)(next_random(random) % PAUSE_NS) };

	nanosleep(&pause, NULL);
}
