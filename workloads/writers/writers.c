// SPDX-License-Identifier: GPL-2.0-only
/* writers: many streams from the network into huge pages and from there to a file system. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guest/procfs.h"
#include "guest/workload.h"
#include "workloads/writers/disk.h"
#include "workloads/writers/seconds.h"
#include "workloads/writers/stream.h"

#define FOLDER "/tmp/writers"
#define THP "/sys/kernel/mm/transparent_hugepage"
#define SECOND_NS 1000000000ull

struct bench {
	struct stream_config stream;
	unsigned int nstreams;
	int go[2];
	struct seconds seconds;
};

static int start_streams(struct workload_run *w, struct bench *b)
{
	if (pipe(b->go) < 0)
		return task_fail(w->child, "infra", "writers: pipe: %s", strerror(errno));
	b->stream.go_fd = b->go[0];
	for (unsigned int i = 0; i < b->nstreams; i++)
		if (stream_start(&b->stream, i) < 0)
			return task_fail(w->child, "infra", "writers: stream %u: %s", i + 1,
					 strerror(errno));
	return 0;
}

static int prepare(struct workload_run *w)
{
	uint64_t size = (uint64_t)job_get_i64(w->line, "size", 0);
	struct bench *b = calloc(1, sizeof(*b));
	char why[256];

	if (!b)
		return task_fail(w->child, "infra", "no memory for the series");
	memset(&b->seconds, 0xff, sizeof(b->seconds)); /* faulted in now, not while it runs */
	memset(&b->seconds, 0, sizeof(b->seconds));
	w->data = b;
	b->nstreams = (unsigned int)job_get_i64(w->line, "streams", 1);
	b->stream = (struct stream_config){
		.folder = FOLDER,
		.buffer = (size_t)job_get_i64(w->line, "buffer", 0),
		.span = size / 10 * 9 / b->nstreams,
		.shared = mmap(NULL, sizeof(struct stream_shared), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0),
	};
	if (b->stream.shared == MAP_FAILED)
		return task_fail(w->child, "infra", "no memory for the streams");
	if (disk_mount(FOLDER, size, why, sizeof(why)) < 0 ||
	    stream_listen(&b->stream, why, sizeof(why)) < 0)
		return task_fail(w->child, "unsupported", "writers: %s", why);
	return start_streams(w, b);
}

/* A stream that has gone before it was told to is the end of the run. */
static int check_streams(struct workload_run *w, struct bench *b)
{
	struct stream_shared *s = b->stream.shared;
	int status;

	if (atomic_load(&s->failed) == 2)
		return task_fail(w->child, "workload-failed", "writers: %s", s->why);
	if (waitpid(-1, &status, WNOHANG) > 0 && WIFSIGNALED(status))
		return task_fail(w->child, "workload-failed",
				 "writers: a stream was killed by signal %d%s", WTERMSIG(status),
				 WTERMSIG(status) == SIGKILL ?
					 " (the OOM killer, most likely: see the console)" :
					 "");
	return 0;
}

static void take_second(struct bench *b)
{
	struct seconds_raw raw;

	seconds_read(&raw);
	raw.received = atomic_load(&b->stream.shared->received);
	raw.written = atomic_load(&b->stream.shared->written);
	seconds_add(&b->seconds, &raw);
}

static void sleep_until(uint64_t ns)
{
	struct timespec at = { (time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

static void report(struct workload_run *w, const struct bench *b)
{
	static char metrics[1024], extra[TASK_MESSAGE_MAX - 4096];
	size_t n;

	n = (size_t)snprintf(metrics, sizeof(metrics), "\"time\":%.6f",
			     (double)(b->seconds.last.ns - b->seconds.first.ns) / 1e9);
	seconds_metrics(&b->seconds, metrics + n, sizeof(metrics) - n);
	n = (size_t)snprintf(extra, sizeof(extra),
			     "\"disk\":\"ext4 without a journal on zram, same-filled pages\",");
	seconds_json(&b->seconds, extra + n, sizeof(extra) - n);
	workload_result(w, metrics, extra);
}

/* What a fault in a receive call may do for a huge page: reclaim and compact, as in the post's days. */
static int allow_huge_pages(struct workload_run *w)
{
	if (file_put(THP "/enabled", "madvise") == 0 && file_put(THP "/defrag", "madvise") == 0)
		return 0;
	return task_fail(w->child, "unsupported", "writers: " THP ": %s", strerror(errno));
}

static int run(struct workload_run *w)
{
	uint64_t seconds = (uint64_t)job_get_i64(w->line, "seconds", 1), start;
	struct bench *b = w->data;
	uint64_t random = w->seed;

	if (allow_huge_pages(w) < 0)
		return -1;
	workload_pause(&random);
	start = mono_ns();
	take_second(b);
	for (unsigned int i = 0; i < 2 * b->nstreams; i++)
		if (write(b->go[1], "g", 1) != 1)
			return task_fail(w->child, "infra", "writers: go: %s", strerror(errno));
	for (uint64_t i = 1; i <= seconds; i++) {
		sleep_until(start + i * SECOND_NS);
		take_second(b);
		if (check_streams(w, b) < 0)
			return -1;
		/* Seconds pass even where no stream gets on. */
		task_progress(w->child, atomic_load(&b->stream.shared->written), 0);
	}
	report(w, b);
	atomic_store(&b->stream.shared->stop, 1);
	return 0;
}

static int check(const struct job_line *line, const struct step_context *c, struct step_fault *f)
{
	uint64_t streams = (uint64_t)job_get_i64(line, "streams", 1);
	uint64_t buffer = (uint64_t)job_get_i64(line, "buffer", 0);
	uint64_t size = (uint64_t)job_get_i64(line, "size", 0);

	if (buffer % STREAM_BUFFER_ALIGN)
		return step_fault(f, "buffer", "buffer is %s: it must be whole huge pages of 2M",
				  size_text(buffer).text);
	if (streams * buffer > c->memory_bytes / 2)
		return step_fault_of_memory(f, "buffer",
					    "%" PRIu64 " streams with buffers of %s are more than half of"
					    " the guest's %s",
					    streams, size_text(buffer).text,
					    size_text(c->memory_bytes).text);
	if (size / 10 * 9 / streams < buffer)
		return step_fault(f, "size", "size is %s: no room for a file of %s for each of %" PRIu64
				  " streams", size_text(size).text, size_text(buffer).text, streams);
	return 0;
}

static const struct param_spec params[] = {
	{ "streams", PARAM_NUMBER, "streams", "streams at once, of two processes each", 1, 500,
	  "cpus * 8", NULL },
	{ "seconds", PARAM_NUMBER, "seconds", "how long", 1, SECONDS_MAX, "20", NULL },
	{ "buffer", PARAM_BYTES, "bytes", "memory that a stream receives into and writes from", 2 << 20,
	  1 << 30, "4M", NULL },
	{ "size", PARAM_BYTES, "bytes", "of the file system; files are written over when it is full",
	  128 << 20, 16ll << 30, "max(memory, 128M)", NULL },
};
static const char *const needs[] = { "fs:ext4", "file:" THP "/enabled", NULL };
static const char *const modules[] = { "zram", NULL };
static const char *const moves[] = { "nr_written", "thp_fault_alloc|thp_fault_fallback", NULL };

const struct workload workload_writers = {
	.name = "writers",
	.summary = "receive over TCP into huge pages, and write that to a file system",
	.params = params,
	.nparams = sizeof(params) / sizeof(params[0]),
	.needs = needs,
	.modules = modules,
	.moves = moves,
	.prepare = (void *)prepare,
	.run = (void *)run,
	.check = check,
};
