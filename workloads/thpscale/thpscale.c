// SPDX-License-Identifier: GPL-2.0-only
/*
 * thpscale: how long a fault of a huge page takes, and how often it gets one, where so many threads
 * fault at once in memory that is full and full of holes. The experiment is that of mmtests' program
 * of this name; what is done otherwise is in README.md.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "guest/histogram.h"
#include "guest/procfs.h"
#include "guest/thp.h"
#include "guest/workload.h"
#include "guest/zero_file.h"
#include "workloads/thpscale/report.h"

#define FILE_PATH "/thpscale-file"
#define DROP_CACHES "/proc/sys/vm/drop_caches"
#define MAP_COUNT "/proc/sys/vm/max_map_count"
/* Of what is available: with holes and the file it comes to all of it. */
#define MAP_SHARE_PERCENT 80

struct bench {
	struct round round;
	uint64_t map;
	struct fault *fault;
	size_t nfaults;
	struct histogram all; /* of every round: the whole range, ns */
};

/* ---- before the layout ---- */

static int open_maps(struct workload_run *w, struct round *r)
{
	r->pagemap_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	r->kpageflags_fd = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	if (r->pagemap_fd >= 0 && r->kpageflags_fd >= 0)
		return 0;
	return task_fail(w->child, "unsupported",
			 "this kernel lacks /proc/kpageflags (CONFIG_PROC_PAGE_MONITOR)");
}

/* Faulted in now, not while it runs. */
static void *make(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static struct bench *make_bench(unsigned int most)
{
	struct bench *b = make(sizeof(*b));
	struct sysinfo info;

	if (!b || sysinfo(&info) < 0)
		return NULL;
	b->nfaults = info.totalram * info.mem_unit / THREAD_MAP_LEAST;
	b->fault = make(b->nfaults * sizeof(*b->fault));
	b->round.thread = make(most * sizeof(*b->round.thread));
	if (!b->fault || !b->round.thread)
		return NULL;
	for (unsigned int i = 0; i < most; i++) {
		b->round.thread[i].stack = make(THREAD_STACK);
		if (!b->round.thread[i].stack)
			return NULL;
	}
	return b;
}

static unsigned int most_threads(const struct job_line *line)
{
	return (unsigned int)job_get_i64(line, "max_threads", THREADS_MAX);
}

static int prepare(struct workload_run *w)
{
	int64_t huge = file_number(THP_DIR "/hpage_pmd_size", 0);
	struct bench *b = make_bench(most_threads(w->line));
	const char *fill = job_get(w->line, "fill");

	if (!b)
		return task_fail(w->child, "infra", "thpscale: no memory for the faults");
	if (huge != HUGE_BYTES)
		return task_fail(w->child, "unsupported",
				 "thpscale: huge pages of 2 MiB are needed, and this kernel's have %" PRId64
				 " bytes",
				 huge);
	w->data = b;
	b->round.child = w->child;
	b->round.advise = job_get_i64(w->line, "advise", 1) != 0;
	b->round.fill_advice = !fill || strcmp(fill, "base") == 0 ? MADV_NOHUGEPAGE :
			       strcmp(fill, "huge") == 0	  ? MADV_HUGEPAGE :
								    MADV_NORMAL;
	b->round.nodes = access("/sys/devices/system/node/node1", F_OK) == 0;
	if (open_maps(w, &b->round) < 0)
		return -1;
	b->round.file_fd = zero_file_start(FILE_PATH);
	if (b->round.file_fd >= 0)
		return 0;
	return task_fail(w->child, "unsupported", "thpscale: page cache by FUSE: %s", strerror(errno));
}

/* ---- the run ---- */

static uint64_t available_bytes(void)
{
	static char text[8192];
	const char *p;

	if (file_slurp("/proc/meminfo", text, sizeof(text)) < 0)
		return 0;
	p = strstr(text, "\nMemAvailable:");
	return p ? strtoull(p + strlen("\nMemAvailable:"), NULL, 10) * 1024 : 0;
}

static int choose_size(struct workload_run *w, struct bench *b)
{
	uint64_t available = available_bytes(), least = (uint64_t)most_threads(w->line) * THREAD_MAP_LEAST;

	b->map = (uint64_t)job_get_i64(w->line, "map", (int64_t)(available / 100 * MAP_SHARE_PERCENT));
	if (b->map >= least && b->map / THREAD_MAP_LEAST <= b->nfaults)
		return 0;
	if (b->map < least)
		return task_fail(w->child, "workload-failed",
				 "thpscale: %u threads need %" PRIu64 " MiB, 4 MiB each, and %" PRIu64
				 " MiB of %" PRIu64
				 " MiB available are theirs; give fewer max_threads, more memory, or a layout "
				 "that leaves more",
				 most_threads(w->line), least >> 20, b->map >> 20, available >> 20);
	return task_fail(w->child, "workload-failed",
			 "thpscale: map is %" PRIu64 " MiB, and this kernel counts %zu MiB of memory",
			 b->map >> 20, b->nfaults * (THREAD_MAP_LEAST >> 20));
}

/* All sizes below that of a huge page, as `enabled` says; without it they stay as they are. */
static int inherit_sizes(struct workload_run *w)
{
	bool any = false;

	if (!job_get_i64(w->line, "mthp", 0))
		return 0;
	for (unsigned int kb = 8; kb < HUGE_BYTES >> 10; kb *= 2) {
		char path[96];

		snprintf(path, sizeof(path), THP_DIR "/hugepages-%ukB/enabled", kb);
		any = file_put(path, "inherit") == 0 || any;
	}
	if (any)
		return 0;
	return task_fail(w->child, "unsupported", "thpscale: mthp: this kernel lacks " THP_DIR
						  "/hugepages-64kB (Linux 6.8)");
}

static int set_kernel(struct workload_run *w, const struct bench *b)
{
	const char *enabled = job_get(w->line, "enabled"), *defrag = job_get(w->line, "defrag");
	uint64_t maps = b->map / HUGE_BYTES * 2 + 4096;
	char text[32];

	if (thp_enable(enabled) < 0)
		return task_fail(w->child, "unsupported", THP_DIR "/enabled: %s", strerror(errno));
	if (file_put(THP_DIR "/defrag", defrag) < 0)
		return task_fail(w->child, "unsupported", THP_DIR "/defrag: %s", strerror(errno));
	if (inherit_sizes(w) < 0)
		return -1;
	snprintf(text, sizeof(text), "%" PRIu64, maps);
	if (file_number(MAP_COUNT, 0) < (int64_t)maps && file_put(MAP_COUNT, text) < 0)
		return task_fail(w->child, "workload-failed", MAP_COUNT ": %s", strerror(errno));
	return 0;
}

static void tell(struct workload_run *w, const struct round *r)
{
	static char metrics[4096], extra[28000];

	round_metrics(r, metrics, sizeof(metrics));
	round_extra(r, extra, sizeof(extra));
	workload_partial(w, metrics, extra);
}

static int run_round(struct workload_run *w, struct bench *b, unsigned int threads)
{
	struct round *r = &b->round;

	r->threads = threads;
	r->slice = round_slice(b->map, threads);
	for (unsigned int i = 0; i < threads; i++)
		r->thread[i].fault = b->fault + i * round_slots(r);
	sync();
	if (file_put(DROP_CACHES, "4") < 0 || /* no line on the console */
	    file_put(DROP_CACHES, "3") < 0)
		return task_fail(w->child, "workload-failed", DROP_CACHES ": %s", strerror(errno));
	if (round_run(r) < 0)
		return -1;
	for (size_t i = 0; i < threads * round_slots(r); i++)
		histogram_add(&b->all, b->fault[i].whole_ns);
	tell(w, r);
	return 0;
}

static void report(struct workload_run *w, const struct bench *b, double seconds)
{
	static char metrics[64], extra[24000];
	size_t n = (size_t)snprintf(extra, sizeof(extra),
				    "\"map_bytes\":%" PRIu64 ",\"histogram\":", b->map);

	histogram_json(&b->all, extra + n, sizeof(extra) - n);
	snprintf(metrics, sizeof(metrics), "\"time\":%.6f", seconds);
	workload_result(w, metrics, extra);
}

static int run(struct workload_run *w)
{
	struct bench *b = w->data;
	unsigned int counts[THREAD_COUNTS_MAX], least = (unsigned int)job_get_i64(w->line, "min_threads", 1);
	size_t n = thread_counts(most_threads(w->line), counts);
	uint64_t start = mono_ns(), total = 0;

	b->round.seed = w->seed;
	if (choose_size(w, b) < 0 || set_kernel(w, b) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		total += counts[i] >= least ? round_steps(b->map, counts[i]) : 0;
	task_progress(w->child, 0, total);
	for (size_t i = 0; i < n; i++)
		if (counts[i] >= least && run_round(w, b, counts[i]) < 0)
			return -1;
	report(w, b, (double)(mono_ns() - start) / 1e9);
	return 0;
}

/* ---- on the host ---- */

static int check(const struct job_line *line, const struct step_context *c, struct step_fault *f)
{
	int64_t most = job_get_i64(line, "max_threads", THREADS_MAX);
	uint64_t map = (uint64_t)job_get_i64(line, "map", 0), room = map ? map : c->memory_bytes;

	if (job_get_i64(line, "min_threads", 1) > most)
		return step_fault(f, "min_threads",
				  "min_threads is %" PRId64 ", and max_threads %" PRId64,
				  job_get_i64(line, "min_threads", 1), most);
	if (map > c->memory_bytes)
		return step_fault_of_memory(f, "map",
					    "map is %s, and the guest has %s; map less, or give it more memory",
					    size_text(map).text, size_text(c->memory_bytes).text);
	if (room / THREAD_MAP_LEAST >= (uint64_t)most)
		return 0;
	return (map ? step_fault : step_fault_of_memory)(
		f, map ? "map" : "max_threads", "%" PRId64 " threads need 4M each, and %s %s; give fewer max_threads",
		most, map ? "map is" : "the guest has", size_text(room).text);
}

static const char *const enabled_words[] = { "always", "madvise", "never", NULL };
static const char *const defrag_words[] = { "always", "defer", "defer+madvise", "madvise", "never", NULL };
static const char *const fills[] = { "base", "plain", "huge", NULL };

static const struct param_spec params[] = {
	{ "max_threads", PARAM_NUMBER, "threads",
	  "1, 3, 5, 7, 12, 18, 24, 30 threads as far as below this, then so many", 1, THREADS_MAX,
	  "min(cpus * 4, 32)", NULL },
	{ "min_threads", PARAM_NUMBER, "threads", "leave smaller numbers of threads out", 1, THREADS_MAX, "1",
	  NULL },
	{ "map", PARAM_BYTES, "bytes",
	  "anonymous memory of all threads at first; absent: 80 % of what is available then", THREAD_MAP_LEAST,
	  0, "", NULL },
	{ "fill", PARAM_CHOICE, NULL, "pages of that memory: base, huge where they can be had, or as the kernel has it", 0, 0, "base", fills },
	{ "advise", PARAM_BOOL, NULL, "MADV_HUGEPAGE for the memory that is faulted and timed", 0, 0, "true",
	  NULL },
	{ "mthp", PARAM_BOOL, NULL, "smaller huge pages too (hugepages-*kB/enabled: inherit)", 0, 0, "false", NULL },
	{ "enabled", PARAM_CHOICE, NULL, "transparent_hugepage/enabled", 0, 0, "always", enabled_words },
	{ "defrag", PARAM_CHOICE, NULL, "transparent_hugepage/defrag", 0, 0, "madvise", defrag_words },
};
static const char *const needs[] = { "file:" THP_DIR "/hpage_pmd_size", "file:/proc/kpageflags", "fs:fuse",
				     NULL };
static const char *const moves[] = { "thp_fault_alloc|thp_fault_fallback", NULL };

const struct workload workload_thpscale = {
	.name = "thpscale",
	.summary = "threads that fault huge pages at once, in memory full of holes and page cache",
	.params = params,
	.nparams = sizeof(params) / sizeof(params[0]),
	.needs = needs,
	.moves = moves,
	.check = check,
	.prepare = (void *)prepare,
	.run = (void *)run,
};
