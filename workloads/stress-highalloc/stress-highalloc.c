// SPDX-License-Identifier: GPL-2.0-only
/*
 * stress-highalloc: what share of memory can be had in blocks of one order, one request after the other at
 * a steady rate; under load, under load once more, and when the load is gone. The experiment is that
 * of mmtests' benchmark of this name; what is done otherwise is in README.md.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "guest/histogram.h"
#include "guest/procfs.h"
#include "guest/workload.h"
#include "guest/zero_file.h"
#include "workloads/alloc-order/method.h"
#include "workloads/stress-highalloc/load.h"

#define FILE_PATH "/stress-highalloc-file"
#define DROP_CACHES "/proc/sys/vm/drop_caches"
#define MIN_FREE "/proc/sys/vm/min_free_kbytes"
#define REST_MIN_FREE "1024"
/* Inodes and dentries of the load's files: some 1 KiB each, 2 % of memory in all. */
#define FILES_SHARE 50
#define FILE_COST 1024

struct pass {
	const char *name;
	uint64_t met, missed;
	uint64_t met_ns, missed_ns; /* sums */
	uint64_t met_max_ns, missed_max_ns;
	uint64_t in_zone[ZONES_MAX], in_no_zone;
	struct histogram took; /* of those that were met */
};

struct bench {
	struct alloc_state state;
	const struct alloc_method *method;
	struct load load;
	struct zones zones;
	uint64_t memory, slot_ns;
	uint8_t *is_met; /* by attempt */
	struct pass pass;
	struct histogram all;
};

static const char *const kinds[] = { "movable", "unmovable", NULL };
static const char *const ways[] = { "auto", "packet", "pipe", "thp", "hugetlb", NULL };

static const struct alloc_method *choose(const struct job_line *line, char *why, size_t room)
{
	const char *kind = job_get(line, "kind"), *via = job_get(line, "via");

	return alloc_method_choose(via ? via : "auto", !kind || strcmp(kind, "movable") == 0,
				   (unsigned int)job_get_i64(line, "order", 9), why, room);
}

/* Of a whole, in millionths. */
static uint64_t share(const struct job_line *line, const char *name, uint64_t whole)
{
	return (uint64_t)((unsigned __int128)whole * (uint64_t)job_get_i64(line, name, 0) / 1000000);
}

/* ---- before the layout ---- */

static int prepare_load(struct workload_run *w, struct bench *b)
{
	struct load *l = &b->load;

	l->child = w->child;
	l->n = (unsigned int)job_get_i64(w->line, "load", 2);
	l->anon_bytes = share(w->line, "load_anon", b->memory);
	l->file_bytes = share(w->line, "load_file", b->memory);
	l->files = b->memory / FILES_SHARE / FILE_COST;
	l->file_fd = zero_file_start(FILE_PATH);
	if (l->file_fd < 0)
		return task_fail(w->child, "unsupported", "stress-highalloc: page cache by FUSE: %s",
				 strerror(errno));
	return load_prepare(l);
}

static int prepare(struct workload_run *w)
{
	struct bench *b = malloc(sizeof(*b));
	struct sysinfo info;
	uint64_t block;
	char why[128];

	if (!b || sysinfo(&info) < 0)
		return task_fail(w->child, "infra", "stress-highalloc: no memory for the histograms");
	memset(b, 0, sizeof(*b)); /* faulted in now, not while it runs */
	w->data = b;
	b->memory = info.totalram * info.mem_unit;
	b->state.child = w->child;
	b->state.who = "stress-highalloc";
	b->state.order = (unsigned int)job_get_i64(w->line, "order", 9);
	b->state.hold = true;
	block = 4096ull << b->state.order;
	b->state.count = share(w->line, "share", b->memory) / block;
	b->slot_ns = block * 1000000000 / (uint64_t)job_get_i64(w->line, "rate", 16 << 20);
	b->method = choose(w->line, why, sizeof(why));
	if (!b->method)
		return task_fail(w->child, "unsupported", "stress-highalloc: %s", why);
	b->is_met = malloc(b->state.count + 1);
	if (!b->is_met)
		return task_fail(w->child, "infra", "stress-highalloc: no memory for the attempts");
	memset(b->is_met, 0, b->state.count + 1);
	/* The load first: it shall not have the method's files and mappings. */
	return prepare_load(w, b) < 0 || b->method->prepare(&b->state) < 0 ? -1 : 0;
}

/* ---- a pass ---- */

static void add_met(struct bench *b)
{
	const struct zone *z = b->state.pfn ? zones_of_pfn(&b->zones, b->state.pfn) : NULL;
	struct pass *p = &b->pass;

	p->met++;
	p->met_ns += b->state.ns;
	if (b->state.ns > p->met_max_ns)
		p->met_max_ns = b->state.ns;
	histogram_add(&p->took, b->state.ns);
	histogram_add(&b->all, b->state.ns);
	if (z)
		p->in_zone[z - b->zones.zone]++;
	else
		p->in_no_zone++;
}

static int attempt(struct bench *b, uint64_t i)
{
	struct pass *p = &b->pass;
	enum alloc_outcome outcome;

	b->state.pfn = 0;
	outcome = b->method->take(&b->state, i);
	if (outcome == ALLOC_BROKEN)
		return -1;
	b->is_met[i] = outcome == ALLOC_MET;
	if (outcome == ALLOC_MET) {
		add_met(b);
		return 0;
	}
	p->missed++;
	p->missed_ns += b->state.ns;
	if (b->state.ns > p->missed_max_ns)
		p->missed_max_ns = b->state.ns;
	return outcome == ALLOC_FALLBACK ? b->method->give(&b->state, i) : 0;
}

/* An attempt that took longer than its slot does not make the next ones come faster. */
static void wait_for_slot(const struct bench *b, uint64_t started)
{
	uint64_t now = mono_ns(), due = started + b->slot_ns;

	if (now < due)
		nanosleep(&(struct timespec){ (time_t)((due - now) / 1000000000),
					      (long)((due - now) % 1000000000) },
			  NULL);
}

static void advance(struct bench *b)
{
	atomic_fetch_add(&b->state.child->shared->done, 1);
}

static int take_all(struct bench *b)
{
	for (uint64_t i = 0; i < b->state.count; i++) {
		uint64_t started = mono_ns();

		if (attempt(b, i) < 0)
			return -1;
		advance(b);
		wait_for_slot(b, started);
	}
	return 0;
}

static int give_all(struct bench *b)
{
	for (uint64_t i = 0; i < b->state.count; i++)
		if (b->is_met[i] && b->method->give(&b->state, i) < 0)
			return -1;
	return 0;
}

static void __attribute__((format(printf, 4, 5)))
put(char *out, size_t room, size_t *n, const char *fmt, ...)
{
	va_list ap;

	if (*n >= room)
		return;
	va_start(ap, fmt);
	*n += (size_t)vsnprintf(out + *n, room - *n, fmt, ap);
	va_end(ap);
}

static void put_metrics(const struct bench *b, char *out, size_t room)
{
	const struct pass *p = &b->pass;
	size_t n = 0;

	put(out, room, &n, "\"highalloc_%s\":%.6g", p->name, 100.0 * (double)p->met / (double)b->state.count);
	if (p->met)
		put(out, room, &n, ",\"highalloc_%s_mean\":%.6g,\"highalloc_%s_max\":%" PRIu64, p->name,
		    (double)p->met_ns / (double)p->met, p->name, p->met_max_ns);
	if (p->missed)
		put(out, room, &n, ",\"highalloc_%s_missed_mean\":%.6g,\"highalloc_%s_missed_max\":%" PRIu64,
		    p->name, (double)p->missed_ns / (double)p->missed, p->name, p->missed_max_ns);
}

static void put_extra(const struct bench *b, char *out, size_t room)
{
	const struct pass *p = &b->pass;
	const char *comma = "";
	size_t n = 0;

	put(out, room, &n, "\"%s\":{\"attempts\":%" PRIu64 ",\"met\":%" PRIu64 ",\"zones\":{", p->name,
	    b->state.count, p->met);
	for (size_t z = 0; z < b->zones.n; z++) {
		if (!p->in_zone[z])
			continue;
		put(out, room, &n, "%s\"node%d_%s\":%" PRIu64, comma, b->zones.zone[z].node, b->zones.zone[z].name,
		    p->in_zone[z]);
		comma = ",";
	}
	put(out, room, &n, "},\"zone_unknown\":%" PRIu64 ",\"histogram\":", p->in_no_zone);
	n += histogram_json(&p->took, out + n, room - n - 2);
	put(out, room, &n, "}");
}

/* min_free: NULL leaves it; a method that switches huge pages on makes the kernel set it anew. */
static int run_pass(struct workload_run *w, struct bench *b, const char *name, const char *min_free)
{
	static char metrics[1024], extra[28000];

	memset(&b->pass, 0, sizeof(b->pass));
	b->pass.name = name;
	zones_read(&b->zones, 9);
	if (b->method->begin && b->method->begin(&b->state) < 0)
		return -1;
	if (min_free && file_put(MIN_FREE, min_free) < 0)
		return task_fail(w->child, "workload-failed", "stress-highalloc: " MIN_FREE ": %s",
				 strerror(errno));
	if (take_all(b) < 0 || give_all(b) < 0)
		return -1;
	if (b->method->end)
		b->method->end(&b->state);
	put_metrics(b, metrics, sizeof(metrics));
	put_extra(b, extra, sizeof(extra));
	workload_partial(w, metrics, extra);
	return 0;
}

/* ---- between the passes ---- */

static void rest_for(struct bench *b, int64_t seconds)
{
	for (; seconds > 0; seconds--) {
		poll(NULL, 0, 1000);
		advance(b);
	}
}

/* Until all that the load reads has been read once. */
static void warm_up(struct bench *b)
{
	while (atomic_load(&b->load.shared->read_bytes) < b->load.file_bytes) {
		poll(NULL, 0, 100);
		atomic_store(&b->state.child->shared->done,
			     atomic_load(&b->load.shared->read_bytes) >> 20);
	}
}

/* A file as large as memory is read, and then goes with all that can be dropped. */
static int clear_memory(struct workload_run *w, struct bench *b)
{
	static char buf[65536];

	for (uint64_t at = 0; at < b->memory; at += sizeof(buf)) {
		if (pread(b->load.file_fd, buf, sizeof(buf), (off_t)at) <= 0)
			return task_fail(w->child, "workload-failed", "stress-highalloc: reading: %s",
					 strerror(errno));
		if (at % (1 << 20) == 0)
			advance(b);
	}
	sync();
	if (file_put(DROP_CACHES, "4") < 0 || /* no line on the console */
	    file_put(DROP_CACHES, "3") < 0)
		return task_fail(w->child, "workload-failed", "stress-highalloc: " DROP_CACHES ": %s",
				 strerror(errno));
	return 0;
}

static int rested_pass(struct workload_run *w, struct bench *b)
{
	int64_t min_free = file_number(MIN_FREE, -1);
	char text[32];
	int ret = clear_memory(w, b);

	if (ret == 0)
		ret = run_pass(w, b, "rested", REST_MIN_FREE);
	snprintf(text, sizeof(text), "%" PRId64, min_free);
	file_put(MIN_FREE, text);
	return ret;
}

static void report(struct workload_run *w, const struct bench *b, double seconds)
{
	static char metrics[256], extra[24000];
	size_t n = 0;

	snprintf(metrics, sizeof(metrics), "\"time\":%.6f,\"highalloc_attempts\":%" PRIu64, seconds,
		 b->state.count);
	put(extra, sizeof(extra), &n,
	    "\"via\":\"%s\",\"method\":\"%s\",\"load\":{\"processes\":%u,\"read_bytes\":%" PRIu64
	    ",\"anon_bytes\":%" PRIu64 ",\"files\":%" PRIu64 "},\"histogram\":",
	    b->method->name, b->method->how(b->state.order), b->load.n,
	    atomic_load(&b->load.shared->read_bytes), atomic_load(&b->load.shared->anon_bytes),
	    atomic_load(&b->load.shared->files));
	histogram_json(&b->all, extra + n, sizeof(extra) - n);
	workload_result(w, metrics, extra);
}

static int run(struct workload_run *w)
{
	struct bench *b = w->data;
	uint64_t start = mono_ns(), mib = b->load.file_bytes >> 20;
	int64_t pause = job_get_i64(w->line, "pause", 5), rest = job_get_i64(w->line, "rest", 5);
	unsigned int ended;

	task_progress(w->child, 0, mib + 3 * b->state.count + (uint64_t)(pause + rest) + (b->memory >> 20));
	load_start(&b->load, w->seed);
	warm_up(b);
	if (run_pass(w, b, "pass1", NULL) < 0)
		return -1;
	rest_for(b, pause);
	if (run_pass(w, b, "pass2", NULL) < 0)
		return -1;
	ended = load_stop(&b->load);
	if (ended)
		return task_fail(w->child, "workload-failed",
				 "stress-highalloc: %u of %u processes of the load ended by themselves", ended,
				 b->load.n);
	rest_for(b, rest);
	if (rested_pass(w, b) < 0)
		return -1;
	report(w, b, (double)(mono_ns() - start) / 1e9);
	return 0;
}

/* ---- on the host ---- */

static int check(const struct job_line *line, const struct step_context *c, struct step_fault *f)
{
	uint64_t block = 4096ull << job_get_i64(line, "order", 9);
	char why[128];

	if (!choose(line, why, sizeof(why)))
		return step_fault(f, "order", "%s", why);
	if (job_get_i64(line, "load_anon", 0) >= 1000000)
		return step_fault(f, "load_anon", "load_anon is all of memory; nothing else would have room");
	if (share(line, "share", c->memory_bytes) < block)
		return step_fault_of_memory(f, "share", "share comes to less than one block of %s",
					    size_text(block).text);
	return 0;
}

static const struct param_spec params[] = {
	{ "order", PARAM_NUMBER, NULL, "order of the blocks, 1 << order pages each", 0, ALLOC_ORDER_MAX, "9",
	  NULL },
	{ "kind", PARAM_CHOICE, NULL, "whether compaction may move what was allocated", 0, 0, "movable", kinds },
	{ "via", PARAM_CHOICE, NULL, "what asks the kernel, as in alloc-order", 0, 0, "auto", ways },
	{ "share", PARAM_SHARE, NULL, "of memory, that is asked for in a pass", 0, 0, "95%", NULL },
	{ "rate", PARAM_BYTES, "bytes", "asked for in a second, at the most", 4096, 0, "16M", NULL },
	{ "load", PARAM_NUMBER, "processes", "of the load", 1, LOAD_MAX, "min(cpus * 2, 64)", NULL },
	{ "load_anon", PARAM_SHARE, NULL, "of memory, that the load holds as anonymous pages", 0, 0, "30%", NULL },
	{ "load_file", PARAM_SHARE, NULL, "of memory, that the load reads again and again", 0, 0, "100%", NULL },
	{ "pause", PARAM_NUMBER, "seconds", "between the passes under load", 0, 3600, "5", NULL },
	{ "rest", PARAM_NUMBER, "seconds", "between the end of the load and the last pass", 0, 3600, "5", NULL },
};
static const char *const needs[] = { "fs:tmpfs", "fs:fuse", NULL };
static const char *const moves[] = { "pgalloc_normal|pgalloc_dma32|pgalloc_dma|pgalloc_movable", NULL };

const struct workload workload_stress_highalloc = {
	.name = "stress-highalloc",
	.summary = "how much of memory can be had in large blocks: under load, again, and at rest",
	.params = params,
	.nparams = sizeof(params) / sizeof(params[0]),
	.needs = needs,
	.moves = moves,
	.check = check,
	.prepare = (void *)prepare,
	.run = (void *)run,
};
