// SPDX-License-Identifier: GPL-2.0-only
#include "guest/sampler.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "guest/channel.h"
#include "guest/task.h"

#define SIZES_MAX 24
#define STATS_MAX 32

struct file {
	const char *name, *path;
	bool series;
	int fd;
};

static struct file files[] = {
	{ "vmstat", "/proc/vmstat", true, -1 },
	{ "buddyinfo", "/proc/buddyinfo", true, -1 },
	{ "pressure/memory", "/proc/pressure/memory", true, -1 },
	{ "pressure/io", "/proc/pressure/io", true, -1 },
	{ "pressure/cpu", "/proc/pressure/cpu", true, -1 },
	{ "zoneinfo", "/proc/zoneinfo", false, -1 },
	{ "meminfo", "/proc/meminfo", false, -1 },
	{ "pagetypeinfo", "/proc/pagetypeinfo", false, -1 },
	{ "slabinfo", "/proc/slabinfo", false, -1 },
	{ "extfrag/unusable_index", "/sys/kernel/debug/extfrag/unusable_index", false, -1 },
	{ "extfrag/extfrag_index", "/sys/kernel/debug/extfrag/extfrag_index", false, -1 },
};
#define FILES (sizeof(files) / sizeof(files[0]))

/* One folder hugepages-<size>/stats: many one-number files, sent as one sample of "key value" lines. */
struct mthp {
	char name[40];
	struct {
		char key[48];
		int fd;
	} stat[STATS_MAX];
	int nstats;
};

static struct mthp mthp[SIZES_MAX];
static int nmthp;
static uint8_t *arena;
static size_t arena_room, arena_len;
static uint64_t spent_ns;

/* The arena holds records of u32 length and payload. */
static uint8_t *record_begin(const char *name, enum wire_phase phase, enum wire_edge edge,
			     size_t *room)
{
	size_t head = WIRE_SAMPLE_HEAD + strlen(name);
	uint64_t now = mono_ns();
	uint8_t *p;

	/* Room for the largest of them: slabinfo and zoneinfo of a big machine take some 100 KiB. */
	if (arena_room - arena_len < 4 + head + (512u << 10))
		sampler_flush();
	p = arena + arena_len + 4;
	wire_sample_head(p, now, edge, phase, name);
	*room = arena_room - arena_len - 4 - head;
	if (*room > WIRE_PAYLOAD_MAX - head)
		*room = WIRE_PAYLOAD_MAX - head;
	return p + head;
}

static void record_end(const uint8_t *end)
{
	uint8_t *p = arena + arena_len;
	size_t len = (size_t)(end - p) - 4;

	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(len >> 8 * i);
	arena_len += 4 + len;
}

static size_t read_at_start(int fd, uint8_t *buf, size_t room)
{
	size_t len = 0;
	ssize_t n;

	while (len < room && (n = pread(fd, buf + len, room - len, (off_t)len)) > 0)
		len += (size_t)n;
	return len;
}

static void take_file(const struct file *f, enum wire_phase phase, enum wire_edge edge)
{
	size_t room;
	uint8_t *p;

	if (f->fd < 0)
		return;
	p = record_begin(f->name, phase, edge, &room);
	record_end(p + read_at_start(f->fd, p, room));
}

static void take_mthp(const struct mthp *m, enum wire_phase phase, enum wire_edge edge)
{
	size_t room;
	uint8_t *p = record_begin(m->name, phase, edge, &room), *q = p;

	for (int i = 0; i < m->nstats && room - (size_t)(q - p) > 128; i++) {
		q += sprintf((char *)q, "%s ", m->stat[i].key);
		q += read_at_start(m->stat[i].fd, q, 32);
	}
	record_end(q);
}

static void open_mthp(const char *folder)
{
	struct mthp *m = &mthp[nmthp];
	char path[512];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/sys/kernel/mm/transparent_hugepage/%s/stats", folder);
	d = opendir(path);
	if (!d)
		return;
	snprintf(m->name, sizeof(m->name), "mthp/%.30s", folder + strlen("hugepages-"));
	while ((e = readdir(d)) && m->nstats < STATS_MAX) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(m->stat[m->nstats].key, sizeof(m->stat[0].key), "%.47s", e->d_name);
		m->stat[m->nstats].fd = openat(dirfd(d), e->d_name, O_RDONLY | O_CLOEXEC);
		if (m->stat[m->nstats].fd >= 0)
			m->nstats++;
	}
	closedir(d);
	nmthp++;
}

static void open_all_mthp(void)
{
	DIR *d = opendir("/sys/kernel/mm/transparent_hugepage");
	struct dirent *e;

	while (d && nmthp < SIZES_MAX && (e = readdir(d)))
		if (strncmp(e->d_name, "hugepages-", 10) == 0)
			open_mthp(e->d_name);
	if (d)
		closedir(d);
}

int sampler_init(size_t arena_bytes)
{
	struct rlimit nofile = { 4096, 4096 };

	setrlimit(RLIMIT_NOFILE, &nofile);
	arena = mmap(NULL, arena_bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (arena == MAP_FAILED)
		return -1;
	/* The children write no samples; with a copy of theirs it would take twice its room. */
	madvise(arena, arena_bytes, MADV_DONTFORK);
	arena_room = arena_bytes;
	for (size_t i = 0; i < FILES; i++)
		files[i].fd = open(files[i].path, O_RDONLY | O_CLOEXEC);
	open_all_mthp();
	sampler_snapshot(PHASE_BOOT, EDGE_END); /* warms every file's buffer */
	arena_len = 0;
	spent_ns = 0;
	return 0;
}

void sampler_snapshot(enum wire_phase phase, enum wire_edge edge)
{
	uint64_t start = mono_ns();

	/* vmstat first at the end and last at the beginning: nearest to the workload. */
	for (size_t i = FILES; edge == EDGE_BEGIN && i-- > 0;)
		take_file(&files[i], phase, edge);
	for (size_t i = 0; edge != EDGE_BEGIN && i < FILES; i++)
		take_file(&files[i], phase, edge);
	for (int i = 0; i < nmthp; i++)
		take_mthp(&mthp[i], phase, edge);
	spent_ns += mono_ns() - start;
}

void sampler_series(enum wire_phase phase)
{
	uint64_t start = mono_ns();

	for (size_t i = 0; i < FILES; i++)
		if (files[i].series)
			take_file(&files[i], phase, EDGE_NONE);
	spent_ns += mono_ns() - start;
	if (arena_len > arena_room / 4 * 3)
		sampler_flush();
}

void sampler_flush(void)
{
	size_t at = 0;

	while (at < arena_len) {
		const uint8_t *p = arena + at;
		uint32_t len = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
			       (uint32_t)p[3] << 24;

		channel_send(WIRE_SAMPLE, p + 4, len);
		at += 4 + len;
	}
	arena_len = 0;
}

double sampler_seconds(void)
{
	return (double)spent_ns / 1e9;
}

const char *sampler_vmstat(void)
{
	static char text[65536];
	size_t n = files[0].fd < 0 ? 0 : read_at_start(files[0].fd, (uint8_t *)text, sizeof(text) - 1);

	text[n] = '\0';
	return n ? text : NULL;
}
